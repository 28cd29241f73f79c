//! Changes of agents to tasks.md, and their results.

use super::project::Project;

const TWO: &str = "# Plan\n\n- [ ] 1. One\n- [ ] 2. Two\n";

#[test]
fn an_agent_that_only_ticks_boxes_gets_none_ticked() {
    let project = Project::new(TWO);
    project.agent("*) tick_all; echo 'all done'; exit 0 ;;");
    let done = project.ralph(&["run"]).code(1);
    assert_eq!(project.read("tasks.md"), TWO);
    let headlines: Vec<_> = (1..=3)
        .map(|n| format!("1.=REJECTED (attempt {n} of 3)"))
        .collect();
    assert_eq!(project.story(), headlines);
    assert!(
        project
            .entry(1)
            .lines
            .contains("- Nothing was committed.\n")
    );
    assert!(done.out.contains("tasks.md was restored"), "{}", done.out);
    assert!(
        done.err.contains("task 1 was rejected 3 times in a row") && done.err.contains("hint:"),
        "{}",
        done.err
    );
    let kept = project.read(".ralph/state/iter-1/tasks-of-the-agent.md");
    assert_eq!(kept, TWO.replace("[ ]", "[x]"));
}

#[test]
fn what_an_agent_ticks_beside_good_work_is_named_and_put_back() {
    let project = Project::new(TWO);
    project.agent("1./1) tick_all; as_usual ;;");
    project.ralph(&["run", "--once"]).code(5);
    assert_eq!(project.read("tasks.md"), TWO.replace("[ ] 1.", "[x] 1."));
    assert!(
        project
            .entry(1)
            .lines
            .contains("The agent wrote `[x]` for task 2; it was restored.")
    );
}

#[test]
fn a_task_that_is_added_beside_an_attempt_stays_whole_and_is_taken() {
    let project = Project::new(TWO);
    let added = "- [x] 3. Three\n  - the way of it\n  - [x] 3.1 Part\n";
    project.write("added.md", added);
    project.agent(
        "1./1) sed 's/# Plan/# Skip/' tasks.md > t && cat t added.md > tasks.md; as_usual ;;",
    );
    let done = project.ralph(&["run", "--once"]).code(5);
    let whole = TWO.replace("[ ] 1.", "[x] 1.") + &added.replace("[x]", "[ ]");
    assert_eq!(project.read("tasks.md"), whole);
    assert!(
        done.out
            .contains("restored, except for the tasks that were added; the other"),
        "{}",
        done.out
    );
    project.ralph(&["run"]).code(0);
    assert_eq!(project.read("tasks.md"), whole.replace("[ ]", "[x]"));
}

#[test]
fn a_deleted_or_truncated_tasks_md_is_put_back() {
    for deed in [
        "rm tasks.md",
        ": > tasks.md",
        "mv tasks.md gone.md",
        "printf '\\0\\377' > tasks.md",
    ] {
        let project = Project::new(TWO);
        project.agent(&format!("1./1) {deed}; as_usual ;;"));
        project.ralph(&["run"]).code(0);
        assert_eq!(
            project.read("tasks.md"),
            TWO.replace("[ ]", "[x]"),
            "{deed}"
        );
    }
}

#[test]
fn a_symbolic_link_in_place_of_tasks_md_leads_nobody_elsewhere() {
    let project = Project::new(TWO);
    project.write("elsewhere.md", "- [ ] 1. Not ralph's\n");
    project.agent("1./1) ln -sf elsewhere.md tasks.md; as_usual ;;");
    let done = project.ralph(&["run"]);
    assert_eq!(
        project.read("elsewhere.md"),
        "- [ ] 1. Not ralph's\n",
        "{}",
        done.err
    );
    assert_eq!(
        project.read("tasks.md"),
        TWO.replace("[ ]", "[x]"),
        "{}{}",
        done.out,
        done.err
    );
}

#[test]
fn a_folder_in_place_of_tasks_md_is_put_aside() {
    let project = Project::new(TWO);
    project.agent("1./1) rm tasks.md; mkdir tasks.md; as_usual ;;");
    let done = project.ralph(&["run"]);
    assert_eq!(
        (done.code, project.path("tasks.md").is_file()),
        (0, true),
        "{}",
        done.err
    );
}

#[test]
fn edited_text_is_restored_and_the_edited_file_kept() {
    let project = Project::new(TWO);
    project.agent("1./1) sed 's/Two/Nothing much/' tasks.md > t && mv t tasks.md; as_usual ;;");
    project.ralph(&["run"]).code(0);
    assert_eq!(project.read("tasks.md"), TWO.replace("[ ]", "[x]"));
    assert!(
        project
            .read(".ralph/state/iter-1/tasks-of-the-agent.md")
            .contains("Nothing much")
    );
    let said = "Text of task 2 in tasks.md was changed during the attempt and restored, because ralph cannot tell who changed it. Edit it between attempts (`ralph pause`).\n";
    assert!(
        project.entry(1).lines.contains(said),
        "{}",
        project.entry(1).lines
    );
    assert!(
        project
            .journal()
            .iter()
            .any(|record| record.contains(r#""reworded":"task 2""#))
    );
    project.ralph(&["replay"]).code(0);
}

#[test]
fn a_task_that_an_agent_adds_stays_open_and_is_done() {
    let project = Project::new(TWO);
    project.agent("1./1) echo '- [x] 3. Three' >> tasks.md; as_usual ;;");
    project.ralph(&["run", "--once"]).code(5);
    assert_eq!(
        project.read("tasks.md"),
        format!("{}- [ ] 3. Three\n", TWO.replace("[ ] 1.", "[x] 1."))
    );
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.story(),
        ["1.=ACCEPTED", "2.=ACCEPTED", "3.=ACCEPTED"]
    );
}

#[test]
fn a_child_that_an_agent_adds_is_taken_out_again() {
    let project = Project::new(TWO);
    project.agent(
        "1./1) sed 's/^- \\[ \\] 2.*/&\\n  - [ ] 2.1 Child/' tasks.md > t && mv t tasks.md; as_usual ;;",
    );
    project.ralph(&["run"]).code(0);
    assert_eq!(project.read("tasks.md"), TWO.replace("[ ]", "[x]"));
    assert!(
        project
            .read(".ralph/state/iter-1/tasks-of-the-agent.md")
            .contains("2.1 Child")
    );
}

#[test]
fn what_a_person_edits_between_runs_is_obeyed() {
    let project = Project::new(TWO);
    project.ralph(&["run", "--once"]).code(5);
    project.write(
        "tasks.md",
        "# Plan B\n\n- [x] 1. One\n- [x] 2. Two\n- [ ] 3. Three\n",
    );
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.read("tasks.md"),
        "# Plan B\n\n- [x] 1. One\n- [x] 2. Two\n- [x] 3. Three\n"
    );
    assert_eq!(project.story(), ["1.=ACCEPTED", "3.=ACCEPTED"]);
    let status = project.ralph(&["status"]).code(0).out;
    let by_a_person: Vec<&str> = status
        .lines()
        .filter(|line| line.ends_with("person"))
        .collect();
    assert_eq!(by_a_person.len(), 1, "{status}");
    assert!(by_a_person[0].starts_with("2 "), "{status}");
}

#[test]
fn a_box_that_a_person_opens_again_is_done_again() {
    let project = Project::new(TWO);
    project.ralph(&["run"]).code(0);
    project.write("tasks.md", TWO.replace("[ ] 1.", "[x] 1."));
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.story(),
        ["1.=ACCEPTED", "2.=ACCEPTED", "2.=ACCEPTED"]
    );
}

#[test]
fn a_parent_is_ticked_with_its_last_child() {
    let text = "- [ ] 1. Parent\n  - [ ] 1.1 A\n  - [ ] 1.2 B\n- [ ]* 2. Optional\n";
    let project = Project::new(text);
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.read("tasks.md"),
        "- [x] 1. Parent\n  - [x] 1.1 A\n  - [x] 1.2 B\n- [ ]* 2. Optional\n"
    );
    assert!(
        project.entry(2).lines.contains("ticked 1."),
        "{:?}",
        project.entry(2)
    );
    assert_eq!(project.story().len(), 2);
}

#[test]
fn a_parent_is_ticked_with_its_last_required_child_in_every_dialect() {
    for (tasks, expected) in [
        (
            "- [ ] 1. Kiro\n- [ ] 1.1 a\n  - _Requirements: 1.1_\n- [ ]* 1.2 b\n",
            "- [x] 1. Kiro\n- [x] 1.1 a\n  - _Requirements: 1.1_\n- [ ]* 1.2 b\n",
        ),
        (
            "- [ ] 7. cc-sdd\n- [ ] 7.1 (P) a\n- [ ] 7.9* b\n",
            "- [x] 7. cc-sdd\n- [x] 7.1 (P) a\n- [ ] 7.9* b\n",
        ),
        (
            "## 1. OpenSpec\n- [ ] 1.1 a\n  - [ ] 1.1.1 b\n",
            "## 1. OpenSpec\n- [x] 1.1 a\n  - [x] 1.1.1 b\n",
        ),
        (
            "## Phase 1\n- [X] T001 a\n- [ ] T002 [P] [US1] b\n  - [ ] deeper\n",
            "## Phase 1\n- [X] T001 a\n- [X] T002 [P] [US1] b\n  - [X] deeper\n",
        ),
        (
            "- [ ] plain\n  - [ ] below\n    - [ ] deepest\n",
            "- [x] plain\n  - [x] below\n    - [x] deepest\n",
        ),
    ] {
        let project = Project::new(tasks);
        project.agent("");
        project.ralph(&["run"]).code(0);
        assert_eq!(project.read("tasks.md"), expected);
    }
}
