//! The machine: what ralph itself stands on.
//!
//! Owns: the features that its promises need: a process tree that can be ended as a whole, /proc, a folder
//! for what gates keep.
//!
//! Promises: each is tried, not guessed from a version.
//!
//! Refuses to know: tools and agents.

use super::probe::{Probe, short_file};
use super::{Finding, State};
use crate::cli::surroundings::cache_folder;
use crate::sys::ProcessId;
use crate::sys::lock::Lock;
use std::path::Path;

/// A process that leaves another behind, which needs no program to go on, and ends by itself after some
/// seconds of work if nobody ends it.
const LEAVES_ONE: &str = "(ulimit -t 5; while :; do :; done) & exit 0";

/// Kernel, /proc, supervision, cache.
pub(super) fn machine(probe: &Probe) -> Vec<Finding> {
    let release = short_file(Path::new("/proc/sys/kernel/osrelease")).unwrap_or_default();
    let release = release.trim().chars().take(60).collect::<String>();
    let mut findings = vec![match ProcessId::own() {
        Ok(_) => Finding::new("machine", "kernel", State::Ok, format!("Linux {release}, /proc is readable")),
        Err(error) => Finding::new("machine", "kernel", State::Missing, error.to_string())
            .hint("mount /proc so that this user sees its own processes"),
    }];
    findings.push(supervision(probe));
    findings.push(cache());
    findings
}

/// A process that leaves another behind: both must be gone when its supervisor is.
fn supervision(probe: &Probe) -> Finding {
    let hint = "ralph needs Linux with PR_SET_CHILD_SUBREAPER and signals between own processes (no seccomp filter against prctl or kill)";
    match probe.run(&["/bin/sh", "-c", LEAVES_ONE]) {
        Ok((ended, _)) if ended.leftover_processes > 0 => {
            Finding::new("machine", "processes", State::Ok, "what a program leaves behind is ended with it")
        }
        Ok((ended, _)) => {
            let what = format!("a process that was left behind was not seen ({:?})", ended.end);
            Finding::new("machine", "processes", State::Missing, what).hint(hint)
        }
        Err(fault) => Finding::new("machine", "processes", State::Missing, fault.what).hint(hint),
    }
}

/// The folder for what gates keep: a file is written there, and locked.
fn cache() -> Finding {
    let tried = cache_folder().and_then(|folder| {
        fs_err::create_dir_all(&folder)?;
        let file = tempfile::Builder::new().prefix(".doctor-").tempfile_in(&folder)?;
        let locked = Lock::try_take(file.path())?.is_some();
        Ok((folder, locked))
    });
    match tried {
        Ok((folder, true)) => {
            Finding::new("machine", "cache", State::Ok, format!("{} can be written", folder.display()))
        }
        Ok((folder, false)) => Finding::new(
            "machine",
            "cache",
            State::Missing,
            format!("{}: files cannot be locked", folder.display()),
        )
        .hint("name a folder on a local disk with XDG_CACHE_HOME"),
        Err(fault) => Finding::new("machine", "cache", State::Missing, fault.what)
            .hint("name a folder that can be written with XDG_CACHE_HOME"),
    }
}
