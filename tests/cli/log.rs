//! The log: on standard error with `-v` and `RALPH_LOG`, and in the directory of each iteration.

use super::project::{Done, Project};
use std::os::unix::fs::PermissionsExt as _;

const ONE: &str = "- [ ] 1. One\n";

fn with_variable(project: &Project, value: &str, args: &[&str]) -> Done {
    let mut command = project.command(args);
    command.env("RALPH_LOG", value);
    Project::finish(command)
}

#[test]
fn the_log_is_on_standard_error_and_changes_no_answer() {
    let project = Project::new(ONE);
    let quiet = project.ralph(&["check"]).code(0);
    assert!(!quiet.err.contains("git:"), "{}", quiet.err);
    let loud = project.ralph(&["check", "-v"]).code(0);
    assert_eq!(loud.out, quiet.out);
    assert!(loud.err.contains("git: close"), "{}", loud.err);
    assert!(!loud.err.contains("disk:"), "{}", loud.err);
    let louder = project.ralph(&["-vvv", "check", "--json"]).code(0);
    assert_eq!(louder.out, project.ralph(&["check", "--json"]).code(0).out);
    assert!(louder.err.contains("disk: close"), "{}", louder.err);
}

#[test]
fn the_variable_wins_over_the_flag_and_an_unknown_level_is_an_error() {
    let project = Project::new(ONE);
    let told = with_variable(&project, "disk=trace", &["check", "-v"]).code(0);
    assert!(
        told.err.contains("disk: close") && !told.err.contains("git:"),
        "{}",
        told.err
    );
    let refused = with_variable(&project, "gti=debug", &["check"]).code(2);
    assert_eq!(refused.out, "");
    insta::assert_snapshot!(refused.err.trim_end(), @r"
    error: RALPH_LOG: `gti=debug` is not a level.
    hint: write `info`, `debug` or `trace`, or targets with levels: `git=debug,process=info,gate=info,disk=trace`
    ");
}

#[test]
fn each_iteration_has_a_log_without_secrets_which_agents_do_not_inherit() {
    let project = Project::new("- [ ] 1. One\n- [ ] 2. Two\n");
    project.config("checks: {green: [echo, canary-0123456789]}\n");
    project.agent("*) echo \"log=${RALPH_LOG-}\" >>log.txt; as_usual ;;\n");
    let mut command = project.command(&["run"]);
    command.env("NEXUS_TOKEN", "canary-0123456789");
    command.env("RALPH_LOG", "off");
    let done = Project::finish(command).code(0);
    assert!(!done.err.contains("git:"), "{}", done.err);
    for iteration in 1..=2 {
        let path = format!(".ralph/state/iter-{iteration}/ralph.log");
        let log = project.read(&path);
        for expected in [
            "take_snapshot: git: close",
            "process: start",
            "disk: close",
            "[redacted: NEXUS_TOKEN]",
        ] {
            assert!(log.contains(expected), "{expected}: {log}");
        }
        assert!(!log.contains("canary-0123456789"), "{log}");
        let mode = fs_err::metadata(project.path(&path)).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }
    assert!(!project.has(".ralph/state/iter-3"));
    assert!(project.read("log.txt").lines().all(|line| line == "log="));
}

#[test]
fn a_link_in_place_of_the_log_ends_no_run_and_is_not_written() {
    let project = Project::new(ONE);
    project.write(".ralph/state/iter-1/prompt.md", "");
    project.write("mine", "mine\n");
    let log = project.path(".ralph/state/iter-1/ralph.log");
    fs_err::os::unix::fs::symlink(project.path("mine"), log).unwrap();
    let done = project.ralph(&["run"]).code(0);
    assert_eq!(project.read("mine"), "mine\n");
    assert!(
        done.err.contains("ralph.log is not written"),
        "{}",
        done.err
    );
}
