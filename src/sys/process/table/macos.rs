//! The process table of macOS, by sysctl(3) and libproc.
//!
//! The start time of a process is the time of day in microseconds since 1970.

use super::Process;
use super::darwin_layout::{
    Birth, InitialStrings, ROW, TableRow, parse_birth, parse_rows, parse_strings, parse_time,
};
use crate::sys::darwin::{sysctl, sysctl_size, unique_identifiers};
use nix::libc::{
    CTL_KERN, ENOMEM, ESRCH, KERN_BOOTTIME, KERN_PROC, KERN_PROC_ALL, KERN_PROC_PID, KERN_PROCARGS2,
};
use std::io;

/// Maximum number of reads of a table that grows meanwhile.
const TRIES: u32 = 10;

/// Number of processes that may begin between the question for the size and the reading.
const SPARE_ROWS: usize = 64;

/// Size of `struct timeval` on 64 bits.
const TIME: usize = 16;

/// Maximum size of the initial strings, in bytes: `ARG_MAX`, above which the kernel refuses to answer.
const STRINGS: usize = 1 << 20;

/// Returns the row of one process; `None` without one.
pub(in crate::sys::process) fn find(pid: i32) -> io::Result<Option<Process>> {
    let bytes = sysctl(&mut [CTL_KERN, KERN_PROC, KERN_PROC_PID, pid], ROW)?;
    // The kernel answers with nothing for a process that does not exist.
    Ok(read_rows(&bytes)?
        .into_iter()
        .map(|row| row.process)
        .find(|process| process.id.pid == pid))
}

/// Returns all processes, of all users.
pub(in crate::sys::process) fn all() -> io::Result<Vec<Process>> {
    Ok(rows()?.into_iter().map(|row| row.process).collect())
}

/// Returns all processes, of all users, with their owners.
pub(in crate::sys::process) fn rows() -> io::Result<Vec<TableRow>> {
    let mut name = [CTL_KERN, KERN_PROC, KERN_PROC_ALL, 0];
    for _ in 0..TRIES {
        let size = sysctl_size(&mut name)? + SPARE_ROWS * ROW;
        match sysctl(&mut name, size) {
            Err(error) if error.raw_os_error() == Some(ENOMEM) => {}
            read => return read_rows(&read?),
        }
    }
    Err(io::Error::other(
        "The process table grows faster than it can be read.",
    ))
}

fn read_rows(bytes: &[u8]) -> io::Result<Vec<TableRow>> {
    parse_rows(bytes).ok_or_else(|| io::Error::other("The process table has an unknown layout."))
}

/// Returns the time at which the machine started, in microseconds since 1970.
pub(in crate::sys::process) fn boot_time() -> io::Result<u64> {
    let bytes = sysctl(&mut [CTL_KERN, KERN_BOOTTIME], TIME)?;
    parse_time(&bytes).ok_or_else(|| io::Error::other("The start of the machine is unknown."))
}

/// Returns a name of the machine's boot: no other boot has it.
pub(in crate::sys::process) fn boot_id() -> io::Result<String> {
    Ok(boot_time()?.to_string())
}

/// Returns the number of a process and that of its origin; `None` without one.
pub(in crate::sys::process) fn birth(pid: i32) -> io::Result<Option<Birth>> {
    match unique_identifiers(pid) {
        Ok(bytes) => Ok(parse_birth(&bytes)),
        Err(error) if error.raw_os_error() == Some(ESRCH) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the initial arguments of a process, each with NUL at its end; empty if they cannot be read.
pub(in crate::sys::process) fn arguments(pid: i32) -> Vec<u8> {
    initial_strings(pid).arguments
}

/// Returns the initial environment of a process, each entry with NUL at its end.
///
/// `None` if it cannot be read. The kernel hides it for most programs below `/bin` and `/usr/bin`.
pub(in crate::sys::process) fn environment(pid: i32) -> Option<Vec<u8>> {
    initial_strings(pid).environment
}

fn initial_strings(pid: i32) -> InitialStrings {
    sysctl(&mut [CTL_KERN, KERN_PROCARGS2, pid], STRINGS)
        .ok()
        .and_then(|bytes| parse_strings(&bytes))
        .unwrap_or_default()
}
