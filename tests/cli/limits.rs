//! Limits at which a run stops early, and the flags of `run`.

use super::project::Project;

const THREE: &str = "- [ ] 1. One\n- [ ] 2. Two\n- [ ]* 3. Three\n";

#[test]
fn once_is_one_iteration_and_0_when_that_finished_everything() {
    let project = Project::new(THREE);
    let done = project.ralph(&["run", "--once"]).code(5);
    assert!(
        done.err.contains("The limit of 1 iteration was reached.") && done.err.contains("hint:"),
        "{}",
        done.err
    );
    assert_eq!(project.story().len(), 1);
    project.ralph(&["run", "--once"]).code(0);
    project.ralph(&["run", "--once"]).code(0);
    assert_eq!(project.story().len(), 2);
}

#[test]
fn optional_boxes_are_taken_only_when_asked_for() {
    let project = Project::new(THREE);
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.ralph(&["next"]).code(1).out,
        "All required boxes are ticked.\n"
    );
    assert!(
        project
            .ralph(&["next", "--optional"])
            .code(0)
            .out
            .starts_with("task 3 ")
    );
    project.ralph(&["run", "--optional"]).code(0);
    assert_eq!(project.read("tasks.md"), THREE.replace("[ ]", "[x]"));
}

#[test]
fn limits_of_iterations_come_from_the_flag_before_the_configuration() {
    let project =
        Project::new("- [ ] 1. A\n- [ ] 2. B\n- [ ] 3. C\n- [ ] 4. D\n- [ ] 5. E\n- [ ] 6. F\n");
    project.config("limits: {iterations: 2}\n");
    project.ralph(&["run"]).code(5);
    assert_eq!(project.story().len(), 2);
    project.ralph(&["run", "--max-iterations", "3"]).code(5);
    assert_eq!(project.story().len(), 5);
    project.ralph(&["run"]).code(0);
}

#[test]
fn six_iterations_without_progress_stop_the_run() {
    let project = Project::new("- [ ] 1. One\n");
    project.config("limits: {attempts: 100}\n");
    project.agent("1./*) echo thinking ;;");
    let done = project.ralph(&["run"]).code(6);
    assert_eq!(project.story().len(), 6);
    assert!(
        done.err
            .contains("No box, HEAD or verdict changed for 6 iterations."),
        "{}",
        done.err
    );
    assert!(done.err.contains("hint: "), "{}", done.err);
}

#[test]
fn commits_are_progress() {
    let project = Project::new("- [ ] 1. One\n");
    project.config("limits: {attempts: 8}\n");
    project.agent("1./*) as_usual; exit 1 ;;");
    project.ralph(&["run"]).code(1);
    assert_eq!(project.story().len(), 8);
}

#[test]
fn a_blocked_family_stops_the_run_and_retry_clears_it() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n");
    project.agent("1./*) [ -e ready ] || exit 3; as_usual ;;");
    let done = project.ralph(&["run"]).code(1);
    assert!(
        done.err.contains("task 1 was rejected 3 times in a row") && done.err.contains("--retry"),
        "{}",
        done.err
    );
    assert_eq!(project.story().len(), 3);
    assert!(project.ralph(&["status"]).out.contains("blocked: "));
    project.write("ready", "");
    project.ralph(&["run", "--retry", "1."]).code(0);
    assert_eq!(project.entry(4).headline, "ACCEPTED");
}

#[test]
fn only_takes_the_tasks_that_are_named_and_says_what_is_left() {
    let tasks = "- [ ] 1. One\n- [ ] 2. Two\n  - [ ] 2.1 Part\n- [ ] 3. Three\n";
    let project = Project::new(tasks);
    let error = project.ralph(&["run", "--only", "9."]).code(2).err;
    assert!(error.contains("There is no box `9.`"), "{error}");
    let first = project.ralph(&["run", "--only", "2.", "--dry-run"]);
    assert!(first.code(0).out.starts_with("task 2.1 "));
    let done = project.ralph(&["run", "--only", "2.", "--only", "2.1"]);
    let words = "The required boxes of task 2, task 2.1 are ticked. Of other tasks, 2 required boxes are left.";
    assert!(done.code(0).out.contains(words));
    assert_eq!(
        project.read("tasks.md"),
        "- [ ] 1. One\n- [x] 2. Two\n  - [x] 2.1 Part\n- [ ] 3. Three\n"
    );
    let again = project.ralph(&["run", "--only", "2.", "--json"]).code(0);
    assert_eq!(again.json().last().unwrap()["stopped"]["stop"], "only-done");
    assert!(project.ralph(&["next"]).code(0).out.starts_with("task 1 "));
    project.ralph(&["replay"]).code(0);
    let rest = project.ralph(&["run"]).code(0);
    assert!(rest.out.contains("All required boxes are ticked."));
}

#[test]
fn with_on_blocked_next_the_other_families_are_done_first() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n- [ ] FINAL V\n");
    project.config("on_blocked: next\n");
    project.agent("1./*) exit 3 ;;");
    let done = project.ralph(&["run"]).code(1);
    assert_eq!(project.story()[3..], ["2.=ACCEPTED"]);
    assert_eq!(
        project.read("tasks.md"),
        "- [ ] 1. One\n- [x] 2. Two\n- [ ] FINAL V\n"
    );
    assert!(
        done.err.contains("tasks.md:1: task 1 is blocked")
            && done.err.contains("FINAL waits for task 1 "),
        "{}",
        done.err
    );
    let next = project.ralph(&["next"]).code(1).out;
    assert!(next.contains("tasks.md:1: task 1 is blocked"), "{next}");
}

#[test]
fn a_box_with_a_foreign_mark_is_nobodys_and_said_so() {
    let project = Project::new("- [-] 1. One\n- [ ] 2. Two\n");
    let done = project.ralph(&["run"]).code(1);
    assert!(done.err.contains("holds `[-]`"), "{}", done.err);
    assert_eq!(project.read("tasks.md"), "- [-] 1. One\n- [x] 2. Two\n");
    let by_hand = project.ralph(&["accept", "1.", "--reason", "x"]).code(2);
    assert!(by_hand.err.contains("[-]"), "{}", by_hand.err);
}

#[test]
fn a_dry_run_shows_the_first_box_and_changes_nothing() {
    let project = Project::new(THREE);
    let before = project.files();
    let done = project.ralph(&["run", "--dry-run"]).code(0);
    assert_eq!(done.out, "task 1  One  (tasks.md:1)\n");
    assert!(project.files() == before);
    project.ralph(&["run"]).code(0);
    let before = project.files();
    assert_eq!(
        project
            .ralph(&["run", "--dry-run", "--optional"])
            .code(0)
            .out,
        "task 3  Three  (tasks.md:3)\n"
    );
    assert!(project.files() == before);
}

#[test]
fn the_wall_limit_ends_the_run_and_its_agent() {
    let project = Project::new("- [ ] 1. One\n");
    project.config("limits: {wall: 1s}\n");
    project.agent("1./1) exec sleep 1000 ;;");
    let done = project.ralph(&["run"]).code(5);
    assert!(done.err.contains("wall limit"), "{}", done.err);
    assert_eq!(project.processes(), [0; 0]);
    assert_eq!(project.read("tasks.md"), "- [ ] 1. One\n");
}
