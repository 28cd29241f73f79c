//! How much of the machine processes get while others want it too.
//!
//! Owns: niceness: that of a process, and that of its session where the scheduler shares by session (sched(7),
//! autogroup; niceness then counts within a session only).
//!
//! Promises: what was lowered is raised again as far as the system lets it: a session's niceness always, a
//! process's own where ralph may (it is inherited by nothing but that process's children).
//!
//! Refuses to know: who waits, and for what. No verdict rests on any of it, so a refusal of the system is none
//! of the caller's trouble.

use super::reap::carrying;
use nix::unistd::{Pid, getsid};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::time::Duration;

/// The niceness of a process of low priority, in a scale from 0 to 19.
const NICENESS: i32 = 10;
/// The kernel takes one word about sessions in a tenth of a second from those without rights of their own.
const PAUSE: Duration = Duration::from_millis(120);
const TRIES: u32 = 3;

/// Lowers this process, and what it starts from now on.
pub(super) fn lower_own() {
    let _ = rustix::process::nice(NICENESS);
}

/// Lowers the session of a process. A supervisor's own file is closed to it, its child's is not.
pub(super) fn lower_session_of(pid: u32) {
    let _ = fs_err::write(format!("/proc/{pid}/autogroup"), NICENESS.to_string());
}

/// Raises every process that carries the tag, and what these started, to what is usual.
pub fn raise(tag: &str) {
    let Ok(rows) = carrying(tag) else { return };
    let mut sessions: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for row in rows {
        let _ = rustix::process::setpriority_process(rustix::process::Pid::from_raw(row.id.pid), 0);
        if let Ok(session) = getsid(Some(Pid::from_raw(row.id.pid))) {
            sessions.entry(session.as_raw()).or_default().push(row.id.pid);
        }
    }
    for pids in sessions.values() {
        // One word is for the whole session; the supervisor, one of its members, does not take it.
        let _ = pids.iter().any(|pid| raise_session_of(*pid));
    }
}

fn raise_session_of(pid: i32) -> bool {
    for _ in 0..TRIES {
        match fs_err::write(format!("/proc/{pid}/autogroup"), "0") {
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
            said => return said.is_ok(),
        }
    }
    false
}
