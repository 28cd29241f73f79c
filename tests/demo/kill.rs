//! Kills of the real binary during a gate with real PIT.
//!
//! They hit the workspace and its cache, up to four in a row.
//!
//! Each following run uses the remaining cache. `RALPH_PIT_KILLS=200` sets their number (benches/kills.sh).

use super::{Demo, entries, ralph};
use crate::cli::kill_matrix::{asked, library};
use crate::support::needs::tests;
use assert_cmd::Command;
use std::path::Path;
use tempfile::TempDir;

/// Maximum number of successive kills before a run may end.
const ROW: usize = 4;

/// Returns a finished demo whose last gate is open again, with the run that judges it.
fn opened(folder: &Path) {
    let copied = Command::new("cp")
        .arg("-a")
        .arg(Demo::get().path())
        .arg(folder.join("ws"))
        .output()
        .unwrap();
    assert!(copied.status.success(), "{copied:?}");
    let reopened = in_copy(folder)
        .args(["reopen", "2.PITEST", "--reason", "once more"])
        .output()
        .unwrap();
    assert!(reopened.status.success(), "{reopened:?}");
}

fn in_copy(folder: &Path) -> Command {
    let mut command = ralph();
    command
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .current_dir(folder.join("ws"));
    command
}

/// Runs until the n-th write, or to the end if that is 0. Returns the exit code (`None` if killed) and the number of
/// writes.
fn life(folder: &Path, at: u64, how: u64) -> (Option<i32>, u64) {
    let count = folder.join("count");
    let mut command = in_copy(folder);
    command
        .arg("run")
        .env("LD_PRELOAD", library())
        .env("KILL_BELOW", folder)
        .env("KILL_COUNT", &count);
    command
        .env("KILL_AT", at.to_string())
        .env("KILL_HOW", how.to_string());
    let code = command.output().unwrap().status.code();
    let writes = fs_err::read_to_string(count)
        .ok()
        .and_then(|text| text.parse().ok());
    (code, writes.unwrap_or_default())
}

fn killed_while_pit_judges_the_verdict_is_that_of_an_undisturbed_run() {
    let kept = TempDir::new().unwrap();
    let folder = fs_err::canonicalize(kept.path()).unwrap();
    opened(&folder);
    let (code, writes) = life(&folder, 0, 0);
    assert!(code == Some(0) && writes > 50, "{code:?}, {writes} writes");
    // Returns the verdict after interrupted work.
    let verdict = |what: &str| {
        let progress = fs_err::read_to_string(folder.join("ws/progress.txt")).unwrap();
        let entries = entries(&progress);
        let reopened = entries
            .iter()
            .rposition(|entry| entry.headline == "REOPENED BY A PERSON")
            .unwrap();
        let headlines: Vec<_> = entries[reopened + 1..]
            .iter()
            .map(|entry| entry.headline.clone())
            .collect();
        let (last, before) = headlines.split_last().unwrap();
        assert!(
            before.len() <= ROW && before.iter().all(|one| one == "INTERRUPTED"),
            "{what}: {headlines:?}"
        );
        last.clone()
    };
    let undisturbed = verdict("undisturbed");
    let wanted = asked("RALPH_PIT_KILLS", 2);
    let (mut made, mut tried) = (0, 0);
    while made < wanted {
        fs_err::remove_dir_all(folder.join("ws")).unwrap();
        opened(&folder);
        let mut what = format!("of {writes} writes, killed at");
        for _ in 0..ROW {
            // Spread over all writes, an early one next to a late one.
            let (at, how) = (1 + tried * 7 % wanted * writes / wanted, tried % 3);
            what = format!("{what} {at} ({how})");
            tried += 1;
            match life(&folder, at, how).0 {
                None => made += 1,
                code => {
                    assert_eq!(code, Some(0), "{what}");
                    break;
                }
            }
            if made == wanted {
                break;
            }
        }
        let run = in_copy(&folder).arg("run").output().unwrap();
        assert_eq!(run.status.code(), Some(0), "{what}: {run:?}");
        assert_eq!(verdict(&what), undisturbed);
        let replayed = in_copy(&folder).arg("replay").output().unwrap();
        assert_eq!(replayed.status.code(), Some(0), "{what}: {replayed:?}");
    }
}

tests! {
    maven deep: [
        killed_while_pit_judges_the_verdict_is_that_of_an_undisturbed_run,
    ]
}
