//! ralph killed at any moment, and the recovery of the next run.

use super::journal::assert_chain;
use super::project::{Project, signal, wait_for};
use std::os::unix::process::ExitStatusExt as _;

const TASKS: &str = "\
- [ ] 1.TEST-FIRST Tests
- [ ] 1. One
- [ ] 1.REQ-CHECK Look
- [ ] 1.LINT Judge
- [ ] 2. Two
- [ ] FINAL Validate
";

fn project() -> Project {
    let project = Project::new(TASKS);
    project.config("gates:\n  LINT: {run: [sh, -c, 'exit 0']}\n");
    project.agent("*/*) tick_all; as_usual ;;"); // none of these ticks may ever count
    project
}

fn assert_complete(project: &Project) {
    assert_eq!(project.read("tasks.md"), TASKS.replace("[ ]", "[x]"));
    let numbers: Vec<u64> = project
        .entries()
        .iter()
        .map(|entry| entry.iteration)
        .collect();
    let all: Vec<u64> = (1..=u64::try_from(numbers.len()).unwrap()).collect();
    assert_eq!(
        numbers,
        all,
        "one entry an iteration: {}",
        project.read("progress.txt")
    );
    let accepted: Vec<String> = project
        .story()
        .into_iter()
        .filter(|line| !line.ends_with("=INTERRUPTED"))
        .collect();
    assert_eq!(
        accepted,
        [
            "1.TEST-FIRST=ACCEPTED",
            "1.=ACCEPTED",
            "1.REQ-CHECK=REQ-CHECK PASS",
            "1.LINT=LINT PASS",
            "2.=ACCEPTED",
            "FINAL=COMPLETE"
        ]
    );
    assert_chain(project);
    assert_eq!(project.processes(), [0; 0]);
    assert_eq!(project.git("src/app", &["status", "--porcelain"]), "");
}

#[test]
fn killed_while_the_agent_runs_the_next_run_ends_the_agent_and_goes_on() {
    let project = project();
    project.agent(
        "1./1) if ! [ -e started ]; then tick_all; touch started; setsid sleep 1000 & sleep 1000; fi; as_usual ;;",
    );
    let mut run = project.start(&["run"]);
    wait_for("the agent started", || project.has("started"));
    run.kill().unwrap();
    run.wait().unwrap();
    wait_for("all that ralph started is gone with it", || {
        project.processes().is_empty()
    });
    project.ralph(&["run"]).code(0);
    assert!(project.entry(2).headline.starts_with("INTERRUPTED"));
    assert_eq!(
        project.entry(3).headline,
        "ACCEPTED",
        "an interrupted attempt is not counted"
    );
    assert!(
        project
            .read(".ralph/state/iter-3/prompt.md")
            .contains("One")
    );
    assert_complete(&project);
}

#[test]
fn commits_of_a_killed_attempt_count() {
    let project = project();
    project
        .agent("1./1) if ! [ -e started ]; then as_usual; touch started; exec sleep 1000; fi ;;");
    let mut run = project.start(&["run"]);
    wait_for("the agent committed", || project.has("started"));
    run.kill().unwrap();
    run.wait().unwrap();
    project.ralph(&["run"]).code(0);
    assert_complete(&project);
    assert_eq!(
        project.git("src/app", &["log", "--format=%s", "--", "src/main/1.txt"]),
        "1. 2"
    );
}

#[test]
fn killed_while_a_gate_runs_the_gate_runs_again() {
    let project = project();
    project.config("gates:\n  LINT: {run: [sh, -c, 'cd ../..; [ -e started ] || { touch started; exec sleep 1000; }']}\n");
    let mut run = project.start(&["run"]);
    wait_for("the gate started", || project.has("started"));
    run.kill().unwrap();
    run.wait().unwrap();
    wait_for("the gate is gone with ralph", || {
        project.processes().is_empty()
    });
    project.ralph(&["run"]).code(0);
    assert_complete(&project);
}

/// Kills ralph again and again after this many records. A recovery alone writes about seven.
fn killed_again_and_again(strides: &[usize]) {
    let project = project();
    for stride in strides {
        let seen = project.journal().len();
        let mut run = project.start(&["run"]);
        wait_for("records, or the end", || {
            run.try_wait().unwrap().is_some() || project.journal().len() >= seen + stride
        });
        let _ = run.kill();
        let end = run.wait().unwrap();
        assert!(end.success() || end.signal() == Some(9), "{end}");
    }
    project.ralph(&["run"]).code(0);
    let runs = project
        .journal()
        .iter()
        .filter(|line| line.contains("\"kind\":\"run-started\""))
        .count();
    assert_eq!(runs, strides.len() + 1);
    assert_complete(&project);
}

#[test]
fn killed_after_any_record_the_end_is_that_of_an_undisturbed_run() {
    for first in 1..=24 {
        killed_again_and_again(&[first]);
    }
}

#[test]
fn killed_again_during_each_recovery_the_end_is_the_same() {
    killed_again_and_again(&[4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    killed_again_and_again(&[9, 5, 8, 12, 1, 14, 2, 11, 3, 13]);
    killed_again_and_again(&[16, 1, 1, 1, 7, 7, 12, 12, 6, 6]);
}

#[test]
fn signals_end_the_attempt_and_the_next_run_goes_on() {
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let project = project();
        project.agent(
            "1./1) tick_all; if ! [ -e started ]; then touch started; sleep 1000; fi; as_usual ;;",
        );
        let mut run = project.start(&["run"]);
        wait_for("the agent started", || project.has("started"));
        assert!(signal(i32::try_from(run.id()).unwrap(), name));
        assert_eq!(run.wait().unwrap().code(), Some(code), "{name}");
        assert_eq!(project.processes(), [0; 0], "{name}");
        assert_eq!(
            project.story(),
            ["1.TEST-FIRST=ACCEPTED", "1.=INTERRUPTED"],
            "{name}"
        );
        project.ralph(&["run"]).code(0);
        assert_complete(&project);
    }
}

#[test]
fn a_ralph_that_is_stopped_stops_its_agent_which_goes_on_or_ends_with_it() {
    let (is_killed, goes_on) = (true, false);
    for end in [goes_on, is_killed] {
        let project = project();
        // Processes that others stopped stay stopped. The agent starts nothing while it waits: a child that is stopped between
        // vfork and exec keeps its parent in another state than stopped.
        project.agent(
            "1./1) if ! [ -e own ]; then sleep 1000 & kill -STOP $!; echo $! > other; echo $$ > own; until [ -e go ]; do :; done; kill -KILL $(cat other); fi; as_usual ;;",
        );
        let mut run = project.start(&["run"]);
        let pid = i32::try_from(run.id()).unwrap();
        wait_for("the agent started", || {
            project.has("own") && project.read("own").ends_with('\n')
        });
        let is_stopped = |pid: &str| {
            fs_err::read_to_string(format!("/proc/{}/stat", pid.trim()))
                .is_ok_and(|stat| stat.contains(") T "))
        };
        let (own, other) = (project.read("own"), project.read("other"));
        // STOP cannot be caught, unlike TSTP.
        assert!(signal(pid, "STOP"));
        wait_for("the agent is stopped", || is_stopped(&own));
        if end == is_killed {
            run.kill().unwrap();
            run.wait().unwrap();
            wait_for("all that ralph started is gone with it", || {
                project.processes().is_empty()
            });
            project.ralph(&["run"]).code(0);
        } else {
            assert!(signal(pid, "CONT"));
            wait_for("the agent continues", || !is_stopped(&own));
            assert!(is_stopped(&other));
            project.write("go", "");
            assert_eq!(run.wait().unwrap().code(), Some(0));
        }
        assert_complete(&project);
    }
}

#[test]
fn a_signal_during_a_gate_ends_the_gate() {
    let project = project();
    project.config("gates:\n  LINT: {run: [sh, -c, 'cd ../..; [ -e started ] || { touch started; exec sleep 1000; }']}\n");
    let mut run = project.start(&["run"]);
    wait_for("the gate started", || project.has("started"));
    assert!(signal(i32::try_from(run.id()).unwrap(), "INT"));
    assert_eq!(run.wait().unwrap().code(), Some(130));
    assert_eq!(project.processes(), [0; 0]);
    project.ralph(&["run"]).code(0);
    assert_complete(&project);
}

/// A gate that once kills the ralph that runs it.
const LINT: &str = r#"
cd "${0%/*}"
echo run >> lint.log
[ "$(wc -l < lint.log)" -gt 1 ] || kill -9 "$(sed 's/^process \([0-9]*\) .*/\1/' .ralph/state/lock)"
"#;

#[test]
fn a_run_that_was_killed_in_a_gate_goes_on_and_claims_no_edit_of_tasks() {
    let project = Project::new("- [ ] 1. Do it\n- [ ] 1.LINT Is it tidy?\n");
    project.write("lint.sh", LINT);
    let gate = project.path("lint.sh");
    project.config(&format!(
        "gates:\n  LINT: {{run: [sh, {}]}}\n",
        gate.display()
    ));
    project.ralph(&["run"]).code(-1);
    let second = project.ralph(&["run"]).code(0);
    assert!(
        !second.out.contains("restored"),
        "tasks.md is unchanged: {}",
        second.out
    );
    assert_eq!(
        project.read("tasks.md"),
        "- [x] 1. Do it\n- [x] 1.LINT Is it tidy?\n"
    );
    assert_eq!(project.read("lint.log"), "run\nrun\n");
    assert_eq!(
        project.story(),
        ["1.=ACCEPTED", "1.LINT=INTERRUPTED", "1.LINT=LINT PASS"]
    );
    assert_chain(&project);
}

/// The newest boxes and the last entry were in memory when the machine stopped.
#[test]
fn after_a_power_failure_boxes_and_entries_are_made_again() {
    let earlier = TASKS.replace("[ ] 1.TEST-FIRST", "[x] 1.TEST-FIRST");
    for left in [Some(earlier.as_str()), Some(&earlier[..40]), Some(""), None] {
        let project = project();
        project.agent("2./1) if ! [ -e started ]; then touch started; sleep 1000; fi; as_usual ;;");
        let mut run = project.start(&["run"]);
        wait_for("the agent started", || project.has("started"));
        run.kill().unwrap();
        run.wait().unwrap();
        assert_eq!(project.read("tasks.md").matches("[x]").count(), 4);
        project.write(".ralph/state/boot", "another boot");
        match left {
            None => fs_err::remove_file(project.path("tasks.md")).unwrap(),
            Some(left) => {
                project.write("tasks.md", left);
                let file = fs_err::File::options()
                    .write(true)
                    .open(project.path("tasks.md"));
                file.unwrap()
                    .set_modified(std::time::SystemTime::UNIX_EPOCH)
                    .unwrap();
            }
        }
        let progress = project.read("progress.txt");
        let lost = progress.rfind("iteration 4").unwrap();
        project.write("progress.txt", &progress[..lost]);
        project.ralph(&["run"]).code(0);
        assert_complete(&project);
        project.ralph(&["replay"]).code(0);
    }
}
