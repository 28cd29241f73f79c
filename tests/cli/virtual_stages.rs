//! `stages: virtual`: the stages of a task file that stays unchanged.

use super::project::Project;

const VIRTUAL: &str = "stages: virtual\nplacement: {LINT: each, PITEST: none}\n";
const LINT: &str = "gates:\n  LINT: {run: [sh, -c, 'exit 0']}\n";

/// As Kiro writes it.
const KIRO: &str = "\
# Implementation Plan

- [ ] 1. Set up the parser
  - [ ] 1.1 Read lines
    - Keep the bytes
    - _Requirements: 1.1, 2.3_
  - [ ]* 1.2 Write property tests
- [ ] 2. Checkpoint - all tests pass
";

fn project(tasks: &str) -> Project {
    let project = Project::new(tasks);
    project.config(&format!("{VIRTUAL}{LINT}"));
    project
}

fn stories(project: &Project) -> Vec<String> {
    project.story().iter().map(ToString::to_string).collect()
}

#[test]
fn each_required_leaf_goes_through_all_stages_and_the_file_differs_in_ticks_alone() {
    let project = project(KIRO);
    project.ralph(&["run"]).code(0);
    assert_eq!(
        stories(&project),
        [
            "1.1.TEST-FIRST=ACCEPTED",
            "1.1.=ACCEPTED",
            "1.1.REQ-CHECK=REQ-CHECK PASS",
            "1.1.LINT=LINT PASS",
            "1.1.PRE-CR=PRE-CR PASS",
            "2.=ACCEPTED",
            "FINAL=COMPLETE",
        ]
    );
    let ticked = KIRO.replace("- [ ] ", "- [x] ");
    assert_eq!(
        project.read("tasks.md"),
        ticked,
        "the optional `[ ]*` stays"
    );
    project.ralph(&["run"]).code(0);
    assert_eq!(stories(&project).len(), 7, "a second run has nothing to do");
}

#[test]
fn a_task_whose_children_are_all_optional_goes_through_all_stages_and_has_its_gate() {
    let kiro = "- [ ] 1. Build the parser\n  - [ ]* 1.1 Property tests\n";
    let project = project(kiro);
    project.ralph(&["run"]).code(0);
    assert_eq!(
        stories(&project),
        [
            "1.TEST-FIRST=ACCEPTED",
            "1.=ACCEPTED",
            "1.REQ-CHECK=REQ-CHECK PASS",
            "1.LINT=LINT PASS",
            "1.PRE-CR=PRE-CR PASS",
            "FINAL=COMPLETE",
        ]
    );
    assert_eq!(
        project.read("tasks.md"),
        kiro.replace("- [ ] ", "- [x] "),
        "the optional one stays open"
    );
}

#[test]
fn the_box_is_ticked_with_the_last_stage_and_not_before() {
    let project = project("- [ ] 1. One\n");
    for done in 1..=4 {
        project.ralph(&["run", "--once"]).code(5);
        assert_eq!(
            project.read("tasks.md"),
            "- [ ] 1. One\n",
            "after {done} stages"
        );
    }
    project.ralph(&["run", "--once"]);
    assert_eq!(project.read("tasks.md"), "- [x] 1. One\n");
    let status = project.ralph(&["status", "--json"]).code(0);
    let boxes = status.json()[0]["boxes"].as_array().unwrap().clone();
    let shown: Vec<String> = boxes
        .iter()
        .map(|row| {
            format!(
                "{}{}",
                row["task"].as_str().unwrap(),
                row["mark"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            "1.TEST-FIRSTx",
            "1.x",
            "1.REQ-CHECKx",
            "1.LINTx",
            "1.PRE-CRx",
            "FINAL "
        ]
    );
}

#[test]
fn what_an_agent_ticks_is_put_back_while_stages_are_open() {
    let project = project("- [ ] 1. One\n");
    project.agent("1.TEST-FIRST/1|1./1) tick_all; as_usual ;;");
    project.ralph(&["run", "--max-iterations", "2"]).code(5);
    assert_eq!(project.read("tasks.md"), "- [ ] 1. One\n");
    assert!(
        project
            .read("progress.txt")
            .contains("The agent wrote `[x]` for task 1; it was restored.")
    );
    project.ralph(&["run"]).code(0);
    assert_eq!(stories(&project).len(), 6);
}

#[test]
fn a_reviewer_that_fails_brings_rework_and_the_box_stays_open() {
    let project = project("- [ ] 1. One\n");
    project
        .agent("1.REQ-CHECK/1) [ -e said ] && as_usual || { touch said; verdict FAIL not so; } ;;");
    project.ralph(&["run"]).code(0);
    assert_eq!(
        stories(&project),
        [
            "1.TEST-FIRST=ACCEPTED",
            "1.=ACCEPTED",
            "1.REQ-CHECK=REQ-CHECK FAIL",
            "1.=ACCEPTED",
            "1.REQ-CHECK=REQ-CHECK PASS",
            "1.LINT=LINT PASS",
            "1.PRE-CR=PRE-CR PASS",
            "FINAL=COMPLETE",
        ]
    );
    assert_eq!(project.read("tasks.md"), "- [x] 1. One\n");
}

#[test]
fn a_persons_tick_stands_for_all_stages_and_a_persons_open_box_opens_them() {
    let project = project("- [x] 1. One\n- [ ] 2. Two\n");
    project.ralph(&["run", "--once"]).code(5);
    assert_eq!(stories(&project), ["2.TEST-FIRST=ACCEPTED"]);
    project.write("tasks.md", "- [x] 1. One\n- [x] 2. Two\n");
    let next = project.ralph(&["run", "--once"]).code(0);
    assert!(
        next.err.is_empty() || !next.out.contains("2.REQ-CHECK"),
        "{}",
        next.out
    );
    assert_eq!(stories(&project).last().unwrap(), "FINAL=COMPLETE");
    project.write("tasks.md", "- [ ] 1. One\n- [x] 2. Two\n");
    project.ralph(&["run", "--once"]).code(5);
    assert_eq!(stories(&project).last().unwrap(), "1.TEST-FIRST=ACCEPTED");
}

#[test]
fn stages_may_be_switched_on_and_off_between_runs() {
    let project = project("- [ ] 1. One\n- [ ] 2. Two\n");
    project.ralph(&["run", "--max-iterations", "6"]).code(5);
    assert_eq!(project.read("tasks.md"), "- [x] 1. One\n- [ ] 2. Two\n");
    project.config("");
    project.ralph(&["run"]).code(0);
    assert_eq!(stories(&project).last().unwrap(), "2.=ACCEPTED");
    assert_eq!(project.read("tasks.md"), "- [x] 1. One\n- [x] 2. Two\n");
    project.config(&format!("{VIRTUAL}{LINT}"));
    project.ralph(&["run"]).code(0);
    assert_eq!(project.read("tasks.md"), "- [x] 1. One\n- [x] 2. Two\n");
}

const NEVER: &str = "gates:\n  LINT: {run: [sh, -c, 'exit 1']}\nlimits: {attempts: 1, rework: 1}\n";

#[test]
fn a_gate_that_is_placed_after_a_parent_judges_and_nothing_is_ticked_past_it() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Parent\n  - [ ] 2.1 Child\n");
    project.config(&format!(
        "stages: virtual\nplacement: {{LINT: {{after: [\"2\"]}}, PITEST: none}}\n{NEVER}"
    ));
    project.ralph(&["run"]).code(1);
    assert!(
        stories(&project)
            .iter()
            .any(|story| story.starts_with("2.LINT=LINT FAIL")),
        "{:?}",
        stories(&project)
    );
    assert!(
        project.read("tasks.md").contains("- [ ] 2. Parent"),
        "{}",
        project.read("tasks.md")
    );
}

#[test]
fn a_mark_that_is_not_ralphs_holds_for_all_stages_and_the_hint_says_what_to_write() {
    let project = project("- [~] 1. Deferred\n- [ ] 2. Two\n");
    let run = project.ralph(&["run"]).code(1);
    assert!(
        stories(&project)
            .iter()
            .all(|story| !story.starts_with("1.")),
        "{:?}",
        stories(&project)
    );
    assert!(
        run.err.contains("tasks.md:1: 1.TEST-FIRST holds `[~]`"),
        "{}",
        run.err
    );
    assert!(
        run.err.contains("hint: write `- [ ] …` for what is open"),
        "{}",
        run.err
    );
    assert!(!run.err.contains("--retry"), "{}", run.err);
}

#[test]
fn a_blocked_task_without_an_id_is_named_by_its_line() {
    let project = Project::new("- [ ] plain one\n");
    project.config(&format!("{VIRTUAL}{NEVER}"));
    let run = project.ralph(&["run"]).code(1);
    assert!(
        run.err.contains(
            "tasks.md:1 “plain one” is blocked: tasks.md:1.LINT “plain one” failed after 1 rework."
        ),
        "{}",
        run.err
    );
    project
        .ralph(&["accept", "tasks.md:1.LINT", "--reason", "a false alarm"])
        .code(0);
    project.ralph(&["run"]).code(0);
    assert_eq!(project.read("tasks.md"), "- [x] plain one\n");
}

#[test]
fn a_placement_after_a_task_that_is_not_there_is_refused_before_it_is_remembered() {
    let project = Project::new("- [ ] 1. One\n");
    project.config("stages: virtual\n");
    let before = project.read(".ralph/config.yaml");
    let place = project.ralph(&["place", "after", "99"]).code(2);
    assert!(place.err.contains("`99`"), "{}", place.err);
    assert_eq!(project.read(".ralph/config.yaml"), before);
}
