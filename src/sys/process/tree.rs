//! The process table in `/proc`, and the killing of processes that may fork quickly.
//!
//! Promises: a process is only ever signalled under the start time with which it was found. STOP goes to all before
//! KILL goes to any, so killed processes cannot be replaced meanwhile.

use super::ProcessId;
use nix::libc::ESRCH;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _};

/// Maximum number of searches for new members of a set before it is killed anyway.
const PASSES: u32 = 20;

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

/// Returns the row of one process; `None` without one.
pub(super) fn find(pid: i32) -> io::Result<Option<Process>> {
    match read(pid, "stat") {
        Ok(bytes) => Ok(parse(pid, &bytes)),
        // ESRCH: it ended between opening and reading.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.raw_os_error() == Some(ESRCH) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns all visible processes.
pub(super) fn all() -> io::Result<Vec<Process>> {
    let mut rows = Vec::new();
    for entry in fs_err::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        rows.extend(find(pid)?);
    }
    Ok(rows)
}

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

/// Reads a line of `/proc/<pid>/stat` (proc(5)). The name in brackets may hold anything, including brackets.
fn parse(pid: i32, bytes: &[u8]) -> Option<Process> {
    let after_name = bytes.iter().rposition(|byte| *byte == b')')? + 1;
    let rest = std::str::from_utf8(bytes.get(after_name..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // Field 3 of the line is the first here: state, 4 parent, 22 start time.
    let state = *fields.first()?;
    let (zombie, stopped) = (matches!(state, "Z" | "X" | "x"), state == "T");
    let parent = fields.get(1)?.parse().ok()?;
    let started = fields.get(19)?.parse().ok()?;
    Some(Process {
        id: ProcessId { pid, started },
        parent,
        zombie,
        stopped,
    })
}

/// Reads a file of `/proc/<pid>`.
///
/// `environ` and `cmdline` hold the initial environment and arguments of the process, separated by NUL bytes.
pub(super) fn read(pid: i32, file: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(format!("/proc/{pid}/{file}"))?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{Process, descendants, parse};
    use crate::sys::ProcessId;
    use std::collections::BTreeSet;

    #[test]
    fn a_process_name_that_imitates_the_fields_is_not_believed() {
        let line = b"7 (a) Z 1 (b) \xff) S 5 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4242 9 9";
        let row = parse(7, line).unwrap();
        let id = ProcessId {
            pid: 7,
            started: 4242,
        };
        assert_eq!(
            row,
            Process {
                id,
                parent: 5,
                zombie: false,
                stopped: false
            }
        );
        assert_eq!(parse(7, b"7 (cut"), None);
        assert_eq!(parse(7, b"7 (cut) S 5"), None);
    }

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
