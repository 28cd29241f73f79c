//! The real binary, killed at its own writes: before, during and after each of them.
//!
//! Kills also follow each other, hit a recovery, or hit while an agent commits. The final state is that of an
//! undisturbed run.
//!
//! `RALPH_KILLS=10000` sets the number of kills in each of the two ways (benches/kills.sh).

use super::project::Project;
use crate::support::needs::tests;
use assert_cmd::Command;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

tests! {
    compiler: [
        killed_at_writes_spread_over_all_the_end_is_the_same,
    ]
    compiler deep: [
        killed_a_hundred_times_at_random_writes_the_end_is_the_same,
        killed_at_any_write_and_again_in_the_recovery_the_end_is_the_same,
        killed_at_random_writes_in_a_row_the_end_is_the_same,
    ]
}

const TASKS: &str =
    "- [ ] 1.TEST-FIRST t\n- [ ] 1. One\n- [ ] 1.REQ-CHECK r\n- [ ] 1.LINT g\n- [ ] 2. Two\n";

/// Returns the library that kills, built from `kill_at.c`.
pub(crate) fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/kill_at.c");
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kill_at.so");
        let flags = [
            "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o",
        ];
        Command::new("cc")
            .args(flags)
            .arg(&library)
            .arg(&source)
            .arg("-ldl")
            .assert()
            .success();
        library
    })
}

/// Returns a workspace without a run, in memory if the machine has a memory disk: a kill needs no durable disk.
fn project() -> Project {
    static FIRST: OnceLock<Project> = OnceLock::new();
    let first = FIRST.get_or_init(|| {
        let project = Project::new(TASKS);
        project
            .config("gates:\n  LINT: {run: [sh, -c, 'test $(grep -c . src/main/1.txt) -gt 1']}\n");
        project.agent("*/*) tick_all; as_usual ;;"); // none of these ticks may ever count
        project
    });
    let project = Project::empty();
    Command::new("cp")
        .arg("-a")
        .arg(first.path("."))
        .arg(project.path(""))
        .assert()
        .success();
    project
}

/// The write at which a process is killed, and the moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kill {
    /// Its n-th write below the workspace; never if 0.
    pub(crate) at: u64,
    /// 0 before, 1 during, 2 after it.
    pub(crate) how: u64,
}

/// Runs until the kill; `true` if the run ended before it. The file then has the number of its writes.
fn life(project: &Project, kill: Kill) -> bool {
    life_of(project, &["run"], kill)
}

/// The same for a run with these arguments.
pub(crate) fn life_of(project: &Project, arguments: &[&str], kill: Kill) -> bool {
    let mut command = project.command(arguments);
    command
        .env("LD_PRELOAD", library())
        .env("KILL_BELOW", project.path("").canonicalize().unwrap());
    command
        .env("KILL_AT", kill.at.to_string())
        .env("KILL_HOW", kill.how.to_string());
    command.env("KILL_COUNT", project.path("../count"));
    let done = Project::finish(command);
    assert!(
        [-1, 0].contains(&done.code),
        "{kill:?}: {}\n{}",
        done.out,
        done.err
    );
    done.code == 0
}

/// Checks the final state, which is the same for any earlier kills.
fn assert_complete(project: &Project, what: &str) {
    project.ralph(&["run"]).code(0);
    assert_eq!(
        project.read("tasks.md"),
        TASKS.replace("[ ]", "[x]"),
        "{what}"
    );
    let numbers: Vec<u64> = project
        .entries()
        .iter()
        .map(|entry| entry.iteration)
        .collect();
    assert!(
        numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]),
        "{what}: {numbers:?}"
    );
    let ended = |line: &str| project.story().iter().filter(|told| *told == line).count();
    for once in ["1.TEST-FIRST=ACCEPTED", "1.LINT=LINT PASS", "2.=ACCEPTED"] {
        assert_eq!(ended(once), 1, "{what}: {once} in {:?}", project.story());
    }
    assert_eq!(project.processes(), [0; 0], "{what}");
    assert_eq!(
        project.git("src/app", &["status", "--porcelain"]),
        "",
        "{what}"
    );
    let replayed = project.ralph(&["replay"]);
    assert_eq!(
        replayed.code, 0,
        "{what}: {}\n{}",
        replayed.out, replayed.err
    );
}

/// Returns the number of kills that this variable sets.
pub(crate) fn asked(variable: &str, usual: u64) -> u64 {
    std::env::var_os(variable).map_or(usual, |asked| asked.to_str().unwrap().parse().unwrap())
}

fn killed_at_writes_spread_over_all_the_end_is_the_same() {
    kill_everywhere(120);
}

fn killed_at_any_write_and_again_in_the_recovery_the_end_is_the_same() {
    kill_everywhere(asked("RALPH_KILLS", 60));
}

/// Kills runs and their recovery `wanted` times, spread over all writes.
fn kill_everywhere(wanted: u64) {
    let undisturbed = project();
    assert!(life(&undisturbed, Kill { at: 0, how: 0 }));
    let writes: u64 = undisturbed.read("../count").parse().unwrap();
    assert!(writes > 200, "{writes} writes");
    assert_complete(&undisturbed, "undisturbed");
    let (mut made, mut row) = (0, 0);
    // Spread over all writes and all three moments. A larger number repeats all of them.
    let points = writes * 3;
    let rows = (wanted / 4).max(1);
    while made < wanted {
        let point = if rows < points {
            row * points / rows % points
        } else {
            row % points
        };
        let kill = Kill {
            at: 1 + point / 3,
            how: point % 3,
        };
        let recovery = (0..3).map(|at| row * 3 + at);
        let again: Vec<Kill> = recovery
            .map(|at| Kill {
                at: 1 + at % 40,
                how: (at + at / 3) % 3,
            })
            .collect();
        let project = project();
        assert!(!life(&project, kill), "{kill:?} of {writes} writes");
        made += 1 + again
            .iter()
            .take_while(|kill| !life(&project, **kill))
            .count() as u64;
        assert_complete(&project, &format!("{kill:?}, {again:?}"));
        row += 1;
    }
}

fn killed_a_hundred_times_at_random_writes_the_end_is_the_same() {
    kill_at_random(100);
}

fn killed_at_random_writes_in_a_row_the_end_is_the_same() {
    kill_at_random(asked("RALPH_KILLS", 60));
}

/// Kills runs at random writes `wanted` times.
fn kill_at_random(wanted: u64) {
    let mut seed: u64 = 0x5DEE_CE66;
    let mut random = |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let mut made = 0;
    while made < wanted {
        let project = project();
        let mut lived = Vec::new();
        loop {
            let kill = Kill {
                at: 1 + random(120),
                how: random(3),
            };
            lived.push(kill);
            if life(&project, kill) {
                break;
            }
            made += 1;
        }
        assert_complete(&project, &format!("{lived:?}"));
    }
}
