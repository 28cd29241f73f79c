//! The process table of Linux, in `/proc`.

use super::Process;
use crate::sys::ProcessId;
use nix::libc::ESRCH;
use std::fs::File;
use std::io::{self, Read as _};

/// Returns the row of one process; `None` without one.
pub(in crate::sys::process) fn find(pid: i32) -> io::Result<Option<Process>> {
    match read(pid, "stat") {
        Ok(bytes) => Ok(parse(pid, &bytes)),
        // ESRCH: it ended between opening and reading.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.raw_os_error() == Some(ESRCH) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns all visible processes.
pub(in crate::sys::process) fn all() -> io::Result<Vec<Process>> {
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

/// Returns a name of the machine's boot: no other boot has it.
pub(in crate::sys::process) fn boot_id() -> io::Result<String> {
    let id = fs_err::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(id.trim().to_owned())
}

/// Returns the initial arguments of a process, each with NUL at its end; empty if they cannot be read.
pub(in crate::sys::process) fn arguments(pid: i32) -> Vec<u8> {
    read(pid, "cmdline").unwrap_or_default()
}

/// Returns the initial environment of a process, each entry with NUL at its end; `None` if it cannot be read.
pub(in crate::sys::process) fn environment(pid: i32) -> Option<Vec<u8>> {
    read(pid, "environ").ok()
}

/// Reads a file of `/proc/<pid>`.
fn read(pid: i32, file: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(format!("/proc/{pid}/{file}"))?.read_to_end(&mut bytes)?;
    Ok(bytes)
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

#[cfg(test)]
mod tests {
    use super::{Process, parse};
    use crate::sys::ProcessId;

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
}
