//! Manual commands: accept, reopen.

use super::project::Project;

const TWO: &str = "- [ ] 1. One\n- [ ] 1.LINT Judge\n- [ ] 2. Two\n";
const LINT: &str = "gates:\n  LINT: {run: ['true']}\n";

#[test]
fn accept_ticks_the_box_and_says_that_a_person_did() {
    let project = Project::new(TWO);
    project.config(LINT);
    let done = project
        .ralph(&["accept", "2.", "--reason", "done elsewhere"])
        .code(0);
    assert!(done.out.contains("task 2"), "{}", done.out);
    assert_eq!(project.read("tasks.md"), TWO.replace("[ ] 2.", "[x] 2."));
    let entry = project.entry(1);
    assert_eq!(
        (entry.task.as_str(), entry.headline.as_str()),
        ("2.", "ACCEPTED BY A PERSON")
    );
    assert_eq!(entry.lines, "- done elsewhere\n- boxes: ticked 2.\n");
    let status = project.ralph(&["status"]).out;
    let two = status.lines().find(|line| line.starts_with("2 ")).unwrap();
    assert!(two.contains("Two") && two.contains("person"), "{status}");
    assert!(
        project.ralph(&["status", "--json"]).json()[0]
            .to_string()
            .contains(r#""by":"person""#)
    );
    let tag = &entry.tag;
    assert!(
        project
            .journal()
            .iter()
            .any(|line| line.starts_with(&format!("{{\"h\":\"{tag}"))),
        "{tag}"
    );
}

#[test]
fn accepting_what_is_ticked_changes_nothing() {
    let project = Project::new(TWO);
    project.config(LINT);
    project.ralph(&["accept", "2", "--reason", "x"]).code(0);
    let progress = project.read("progress.txt");
    let done = project
        .ralph(&["accept", "2.", "--reason", "again"])
        .code(0);
    assert_eq!(done.out, "task 2 is ticked already.\n");
    assert_eq!(project.read("progress.txt"), progress);
}

#[test]
fn accepting_a_gate_ticks_the_work_that_its_fail_opened() {
    let project = Project::new(TWO);
    project.config("gates:\n  LINT: {run: [sh, -c, 'exit 1']}\nlimits: {rework: 0}\n");
    project.ralph(&["run"]).code(1);
    assert_eq!(project.read("tasks.md"), TWO);
    project
        .ralph(&[
            "accept",
            "1.LINT",
            "--reason",
            "the last mutant is equivalent",
        ])
        .code(0);
    assert_eq!(project.read("tasks.md"), TWO.replace("[ ] 1.", "[x] 1."));
    let status = project.ralph(&["status"]).out;
    assert!(
        status.contains("\n1     One   person     person"),
        "{status}"
    );
    assert!(!status.contains("blocked"), "{status}");
    project.ralph(&["run"]).code(0);
}

#[test]
fn reopen_opens_the_box_and_the_reason_reaches_the_next_prompt() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n");
    project.ralph(&["run"]).code(0);
    project
        .ralph(&["reopen", "1.", "--reason", "the rounding is wrong"])
        .code(0);
    assert_eq!(project.read("tasks.md"), "- [ ] 1. One\n- [x] 2. Two\n");
    assert_eq!(project.entry(3).headline, "REOPENED BY A PERSON");
    project.ralph(&["run"]).code(0);
    assert!(
        project
            .read(".ralph/state/iter-4/prompt.md")
            .contains("the rounding is wrong")
    );
    assert_eq!(project.entry(4).task, "1.");
}

#[test]
fn reopening_final_and_a_child_opens_what_depends_on_it() {
    let project = Project::new("- [ ] 1. P\n  - [ ] 1.1 A\n  - [ ] 1.2 B\n- [ ] FINAL V\n");
    project.ralph(&["run"]).code(0);
    project
        .ralph(&["reopen", "1.2", "--reason", "wrong"])
        .code(0);
    assert_eq!(
        project.read("tasks.md"),
        "- [ ] 1. P\n  - [x] 1.1 A\n  - [ ] 1.2 B\n- [x] FINAL V\n"
    );
    project.ralph(&["run"]).code(0);
    let story = project.story();
    assert_eq!(
        story[story.len() - 2..],
        ["1.2.=ACCEPTED", "FINAL=COMPLETE"],
        "other content: FINAL again"
    );
}

#[test]
fn by_hand_with_json_prints_json_alone() {
    let project = Project::new(TWO);
    project.config(LINT);
    for args in [
        &["accept", "2.", "--reason", "x", "--json"][..],
        &["accept", "2.", "--reason", "x", "--json"],
        &["reopen", "2.", "--reason", "x", "--json"],
        &["snapshot", "1.", "--json"],
    ] {
        let done = project.ralph(args).code(0);
        assert!(!done.json().is_empty(), "{args:?} prints something");
    }
}

#[test]
fn what_an_interrupted_run_owes_is_done_before_the_hand() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n");
    project.agent("1./1) touch started; exec sleep 1000 ;;");
    let mut run = project.start(&["run"]);
    super::project::wait_for("the agent started", || project.has("started"));
    run.kill().unwrap();
    run.wait().unwrap();
    project
        .ralph(&["accept", "1.", "--reason", "by hand"])
        .code(0);
    assert_eq!(
        project.story(),
        ["1.=INTERRUPTED", "1.=ACCEPTED BY A PERSON"]
    );
    assert_eq!(project.read("tasks.md"), "- [x] 1. One\n- [ ] 2. Two\n");
}

#[test]
fn an_agent_of_another_loop_may_change_nothing_by_hand() {
    let project = Project::new("- [ ] 1. One\n");
    for verb in [
        ["accept", "1.", "--reason", "x"].as_slice(),
        &["reopen", "1.", "--reason", "x"],
        &["place", "each"],
    ] {
        // Also when the agent removes the variable from the environment of its processes.
        let script = format!(
            "env -u RALPH_AGENT {} {}; exit $?",
            env!("CARGO_BIN_EXE_ralph"),
            verb.join(" ")
        );
        let mut agent = project.program("sh");
        agent
            .args(["-c", &script])
            .env("RALPH_AGENT", "1")
            .current_dir(project.path(""));
        let done = Project::finish(agent).code(2);
        assert!(done.err.contains("only a person may"), "{}", done.err);
    }
    assert_eq!(project.read("tasks.md"), "- [ ] 1. One\n");
}

#[test]
fn the_agent_that_a_snapshot_becomes_may_change_nothing_by_hand_and_its_exit_code_is_the_end() {
    let project = Project::new("- [ ] 1. One\n");
    let script = format!(
        "cat; echo \"$0 $RALPH_AGENT\"; env -u RALPH_AGENT {} accept 1. --reason x; echo $?; exit 7",
        env!("CARGO_BIN_EXE_ralph")
    );
    let done = project
        .ralph(&[
            "snapshot", "1.", "--exec", "--", "sh", "-c", &script, "--json",
        ])
        .code(7);
    assert_eq!(done.out, "--json 1\n2\n", "standard output is the agent's");
    assert!(
        done.err.starts_with("[1] task 1 is pinned in 1 package.\n"),
        "{}",
        done.err
    );
    assert!(done.err.contains("only a person may"), "{}", done.err);
    assert_eq!(project.read("tasks.md"), "- [ ] 1. One\n");
    let gone = project
        .ralph(&["snapshot", "1.", "--exec", "--", "no-such-agent"])
        .code(2);
    assert!(
        gone.err.contains("`no-such-agent` cannot be started"),
        "{}",
        gone.err
    );
    for half in [
        &["snapshot", "1.", "--exec"][..],
        &["snapshot", "1.", "--", "sh"],
    ] {
        project.ralph(half).code(2);
    }
    assert_eq!(
        project
            .journal()
            .iter()
            .filter(|line| line.contains("family-pinned"))
            .count(),
        2
    );
}
