//! Descendants in a process table, and the killing of processes that may fork quickly.
//!
//! Promises: a process is only ever signalled under the start time with which it was found. STOP goes to all before
//! KILL goes to any, so killed processes cannot be replaced meanwhile.

use super::ProcessId;
use super::table::Process;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Maximum number of searches for new members of a set before it is killed anyway.
const PASSES: u32 = 20;

/// Returns the living descendants of the roots, without the roots.
pub(super) fn descendants(rows: &[Process], roots: &BTreeSet<i32>) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<&Process>> = BTreeMap::new();
    for row in rows {
        children.entry(row.parent).or_default().push(row);
    }
    let mut seen = roots.clone();
    let mut queue: Vec<i32> = roots.iter().copied().collect();
    let mut found = Vec::new();
    while let Some(parent) = queue.pop() {
        for row in children.get(&parent).into_iter().flatten() {
            if seen.insert(row.id.pid) {
                queue.push(row.id.pid);
                found.push((*row).clone());
            }
        }
    }
    found.retain(|row| !row.zombie);
    found
}

/// Stops every process that `find` returns, and repeats until there is no new one. Returns the stopped ones.
pub(super) fn stop(
    mut find: impl FnMut() -> io::Result<Vec<Process>>,
) -> io::Result<BTreeSet<ProcessId>> {
    let mut hit = BTreeSet::new();
    for _ in 0..PASSES {
        let mut new = find()?;
        new.retain(|row| hit.insert(row.id.clone()));
        if new.is_empty() {
            break;
        }
        for row in &new {
            send(&row.id, Signal::SIGSTOP);
        }
    }
    Ok(hit)
}

/// Stops processes as [`stop`] does, and kills them all. Returns the killed ones.
///
/// They may still be dying when it returns.
pub(super) fn stop_and_kill(
    find: impl FnMut() -> io::Result<Vec<Process>>,
) -> io::Result<BTreeSet<ProcessId>> {
    let hit = stop(find)?;
    for id in &hit {
        send(id, Signal::SIGKILL);
    }
    Ok(hit)
}

/// Sends a signal to the process with this id and this start time.
///
/// The next look at the table shows a process that is gone or replaced.
pub(super) fn send(id: &ProcessId, signal: Signal) {
    if id.is_alive() {
        let _ = kill(Pid::from_raw(id.pid), signal);
    }
}

#[cfg(test)]
mod tests {
    use super::{Process, descendants};
    use crate::sys::ProcessId;
    use std::collections::BTreeSet;

    #[test]
    fn descendants_are_found_at_any_depth_and_zombies_are_left_out() {
        let row = |pid, parent, zombie| Process {
            id: ProcessId { pid, started: 1 },
            parent,
            zombie,
            stopped: false,
        };
        let rows = [
            row(9, 3, false),
            row(2, 1, false),
            row(3, 2, false),
            row(4, 2, true),
            row(5, 7, false),
        ];
        let mut found: Vec<i32> = descendants(&rows, &BTreeSet::from([2]))
            .iter()
            .map(|row| row.id.pid)
            .collect();
        found.sort_unstable();
        assert_eq!(found, [3, 9]);
    }
}
