//! Descendants on Linux: a subreaper is the parent of each orphan, and the kernel reports when no child is left.

use super::Lineage;
use crate::sys::ProcessId;
use crate::sys::process::table::{self, Process};
use crate::sys::process::tree;
use nix::sys::prctl;
use nix::sys::wait::WaitPidFlag;
use nix::unistd::getpid;
use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

/// Children whose end is announced by another signal than CHLD count too.
pub(in crate::sys::process) const CHILDREN: WaitPidFlag = WaitPidFlag::__WALL;

/// See [`Lineage`].
#[derive(Debug)]
pub(in crate::sys::process) struct Descendants {
    me: BTreeSet<i32>,
}

impl Lineage for Descendants {
    const INTERVAL: Duration = Duration::MAX;

    fn begin(_: &str) -> io::Result<Self> {
        prctl::set_child_subreaper(true)?;
        Ok(Self {
            me: BTreeSet::from([getpid().as_raw()]),
        })
    }

    fn look(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn living(&mut self) -> io::Result<Vec<Process>> {
        Ok(tree::descendants(&table::all()?, &self.me))
    }

    fn are_gone(&mut self) -> io::Result<bool> {
        Ok(true)
    }

    fn undetermined(&mut self) -> io::Result<Vec<ProcessId>> {
        Ok(Vec::new())
    }

    fn companions(_: &ProcessId, _: &[Process]) -> io::Result<Vec<i32>> {
        Ok(Vec::new())
    }

    fn possible(_: &ProcessId, _: &[Process]) -> io::Result<Vec<i32>> {
        Ok(Vec::new())
    }

    fn is_origin_hidden(_: &Process) -> io::Result<bool> {
        Ok(false)
    }
}
