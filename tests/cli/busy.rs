//! Two processes at once: a second run, and queries during a run.

use super::project::{Project, wait_for};

#[test]
fn a_second_run_ends_at_once_names_the_holder_and_changes_nothing() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n");
    fs_err::create_dir(project.path("tmp")).unwrap();
    project.agent("2./1) touch started; exec sleep 1000 ;;");
    let mut run = project.start(&["run"]);
    wait_for("the agent started", || project.has("started"));
    let journal = || project.journal().len();
    let settled = journal();
    wait_for("the spawn is recorded", || {
        project
            .journal()
            .last()
            .is_some_and(|line| line.contains("agent-spawned"))
    });
    let before = project.files();
    for verb in [
        &["run"][..],
        &["accept", "2.", "--reason", "x"],
        &["reopen", "1.", "--reason", "x"],
        &["snapshot", "1."],
    ] {
        let done = project.ralph(verb).code(75);
        assert!(
            done.err.contains(&format!("process {}", run.id())),
            "{}",
            done.err
        );
        assert!(done.err.contains("hint: "), "{}", done.err);
    }
    assert!(
        project
            .ralph(&["status"])
            .code(0)
            .out
            .contains("1 of 2 boxes ticked")
    );
    assert!(project.ralph(&["next"]).code(0).out.starts_with("task 2 "));
    assert_eq!(project.ralph(&["diff"]).code(0).out, "app/src/main/1.txt\n");
    assert_eq!(
        project.ralph(&["diff", "1."]).code(0).out,
        "app/src/main/1.txt\n"
    );
    project.ralph(&["check"]).code(0);
    project.ralph(&["run", "--dry-run"]).code(0);
    assert!(project.files() == before, "nothing changes");
    assert!(
        journal() >= settled && run.try_wait().unwrap().is_none(),
        "the first run continues"
    );
    run.kill().unwrap();
    run.wait().unwrap();
}
