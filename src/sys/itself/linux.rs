//! This process on Linux, mostly by `/proc/self`.

use super::SystemWords;
use nix::sys::prctl;
use std::io;
use std::path::{Path, PathBuf};

/// See [`SystemWords`].
pub const SYSTEM: SystemWords = SystemWords {
    table: "/proc",
    table_hint: "mount /proc so that this user sees its own processes",
    supervision_hint: "ralph needs Linux with PR_SET_CHILD_SUBREAPER and signals between own processes (no seccomp filter against prctl or kill)",
};

/// The directory with an entry for each open file of this process.
pub(in crate::sys) const OPEN_FILES: &str = "/proc/self/fd";

/// Returns a path that names the running binary, even after a new one was installed under its path.
pub fn own_program() -> PathBuf {
    PathBuf::from("/proc/self/exe")
}

/// True if the path names the program that it named when this process began. The kernel ensures it.
pub(in crate::sys) fn is_unchanged(_: &Path) -> bool {
    true
}

/// Closes this process's memory, pipes and environment in `/proc` to other processes of the same user.
///
/// They include the agent's (but not root's). After it, [`is_inside_agent`] can no longer read this process's own
/// environment: call that first.
///
/// [`is_inside_agent`]: crate::sys::process::is_inside_agent
pub fn close_to_others() -> io::Result<()> {
    Ok(prctl::set_dumpable(false)?)
}

/// True if the process was started with this signal ignored (`SigIgn` of `/proc/self/status`).
pub(in crate::sys) fn is_ignored(signal: i32) -> bool {
    let status = fs_err::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
