//! The descendants of this process, found as each system allows.
//!
//! Linux gives orphans to the supervisor (a subreaper), and reports when none is left. macOS gives them to `launchd`,
//! so the supervisor keeps a ledger of the processes that it saw.

#[cfg(any(target_os = "macos", test))]
mod ledger;
#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(target_os = "macos", path = "macos.rs")]
mod system;

use super::ProcessId;
use super::table::Process;
use std::io;
use std::time::Duration;

pub(super) use system::{CHILDREN, Descendants};

/// The port through which a supervisor sees its descendants, and [`super::reap`] those of a dead one.
pub(super) trait Lineage: Sized {
    /// Maximum time between two calls of [`Lineage::look`].
    const INTERVAL: Duration;

    /// Prepares this process to find its descendants, before it has any. They carry the tag.
    fn begin(tag: &str) -> io::Result<Self>;

    /// Notes the descendants that are there now.
    fn look(&mut self) -> io::Result<()>;

    /// Returns the living descendants.
    fn living(&mut self) -> io::Result<Vec<Process>>;

    /// True if no descendant is left, for a process that has no child left.
    fn are_gone(&mut self) -> io::Result<bool>;

    /// Returns living processes that may be descendants, which the system does not show.
    fn undetermined(&mut self) -> io::Result<Vec<ProcessId>>;

    /// Returns processes that belong to a recorded process and may not be its descendants any more.
    fn companions(id: &ProcessId, rows: &[Process]) -> io::Result<Vec<i32>>;

    /// Returns processes that may belong to a recorded process, which the system does not show.
    fn possible(id: &ProcessId, rows: &[Process]) -> io::Result<Vec<i32>>;

    /// True if the system hides who started this process.
    fn is_origin_hidden(row: &Process) -> io::Result<bool>;
}
