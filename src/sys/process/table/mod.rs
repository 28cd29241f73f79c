//! The process table: parents, states, start times, arguments and environments.

#[cfg(any(target_os = "macos", test))]
mod darwin_layout;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(target_os = "macos", path = "macos.rs")]
mod system;

use crate::sys::ProcessId;

#[cfg(any(target_os = "macos", test))]
pub(super) use darwin_layout::{Birth, TableRow};
pub(super) use system::{all, arguments, boot_id, environment, find};
#[cfg(target_os = "macos")]
pub(super) use system::{birth, boot_time, rows};

/// One row of the process table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) id: ProcessId,
    /// The parent's process id.
    pub(super) parent: i32,
    /// True if dead but not yet reaped.
    pub(super) zombie: bool,
    /// True if stopped by a signal.
    pub(super) stopped: bool,
}

/// Splits a block of strings that end with NUL.
pub(super) fn entries(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    block.split(|byte| *byte == 0)
}
