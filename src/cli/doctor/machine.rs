//! ralph's own requirements: processes that can be ended with all their children, the process table, a cache.
//!
//! Each is tried, not guessed from a version.

use super::{InspectionFinding, Level, Probe, cache_folder};
use crate::sys::ProcessId;
use crate::sys::itself::SYSTEM;
use crate::sys::lock::Lock;
use nix::sys::utsname::uname;

/// A process that leaves another one behind, which needs no program and ends by itself after some seconds.
const LEAVES_ONE: &str = "(ulimit -t 5; while :; do :; done) & exit 0";

pub(super) fn check_kernel() -> InspectionFinding {
    match ProcessId::own() {
        Ok(_) => ok_finding("kernel", kernel()),
        Err(error) => {
            InspectionFinding::new_error("machine", "kernel", error.to_string(), SYSTEM.table_hint)
        }
    }
}

/// Returns the kernel's name and version, and the place of its process table.
fn kernel() -> String {
    let name = uname().map_or_else(
        |_| std::env::consts::OS.to_owned(),
        |name| format!("{} {}", name.sysname().display(), name.release().display()),
    );
    let name: String = name.chars().take(70).collect();
    format!("{name}, {} is readable", SYSTEM.table)
}

/// Starts a process that leaves another one behind: both must be gone afterwards.
pub(super) fn check_supervision(probe: &Probe) -> InspectionFinding {
    let what = match probe.run_program(&["/bin/sh", "-c", LEAVES_ONE]) {
        Ok((ended, _)) if ended.leftover_processes > 0 => {
            return ok_finding("processes", "what a program leaves behind is ended with it");
        }
        Ok((ended, _)) => format!(
            "a process that was left behind was not seen ({:?})",
            ended.end
        ),
        Err(fault) => fault.what,
    };
    InspectionFinding::new_error("machine", "processes", what, SYSTEM.supervision_hint)
}

/// Writes and locks a file in the cache folder.
pub(super) fn check_cache() -> InspectionFinding {
    let tried = cache_folder().and_then(|folder| {
        fs_err::create_dir_all(&folder)?;
        let file = tempfile::Builder::new()
            .prefix(".doctor-")
            .tempfile_in(&folder)?;
        let is_locked = Lock::try_take(file.path())?.is_some();
        Ok((folder, is_locked))
    });
    let (what, hint) = match tried {
        Ok((folder, true)) => {
            return ok_finding("cache", format!("{} can be written", folder.display()));
        }
        Ok((folder, false)) => (
            format!("{}: files cannot be locked", folder.display()),
            "name a folder on a local disk with XDG_CACHE_HOME",
        ),
        Err(fault) => (
            fault.what,
            "name a folder that can be written with XDG_CACHE_HOME",
        ),
    };
    InspectionFinding::new_error("machine", "cache", what, hint)
}

fn ok_finding(name: &str, what: impl Into<String>) -> InspectionFinding {
    InspectionFinding::new_error("machine", name, what, "").with_level(Level::Ok)
}
