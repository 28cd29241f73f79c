//! The layouts of macOS's answers about processes, read without any call, so that tests on each system check them.

use super::{Process, entries};
use crate::sys::ProcessId;

/// Size of `struct kinfo_proc` of `sys/sysctl.h` on 64 bits.
pub(super) const ROW: usize = 648;

// Offsets of fields of `struct timeval`, with which `struct kinfo_proc` begins: the start time.
const SECONDS: usize = 0;
const MICROSECONDS: usize = 8;

// Offsets of other fields of `struct kinfo_proc`, as a C compiler gives them for both processors of Macs.
const STATE: usize = 36;
const PID: usize = 40;
const REAL_USER: usize = 392;
const PARENT: usize = 560;

/// `SSTOP` and `SZOMB` of `sys/proc.h`.
const STOPPED: u8 = 4;
const ZOMBIE: u8 = 5;

// Offsets of fields of `struct proc_uniqidentifierinfo` of `bsd/sys/proc_info_private.h`.
const UNIQUE: usize = 16;
const ORIGIN: usize = 24;

/// A row of the process table, with its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::sys::process) struct TableRow {
    pub(in crate::sys::process) process: Process,
    /// The real user id.
    pub(in crate::sys::process) owner: u32,
}

/// The numbers of a process that the kernel never gives twice between two starts of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::sys::process) struct Birth {
    /// Its own number. A child's is larger than its parent's.
    pub(in crate::sys::process) unique: u64,
    /// The number of the process that forked it, also after that has ended.
    pub(in crate::sys::process) origin: u64,
}

/// Reads the answer of `KERN_PROC`: an array of `struct kinfo_proc`. `None` if it ends within a row.
pub(super) fn parse_rows(bytes: &[u8]) -> Option<Vec<TableRow>> {
    let rows = bytes.chunks_exact(ROW);
    if !rows.remainder().is_empty() {
        return None;
    }
    rows.map(parse_row).collect()
}

/// Reads a `struct timeval` as microseconds since 1970.
pub(super) fn parse_time(bytes: &[u8]) -> Option<u64> {
    let seconds = u64::try_from(i64::from_ne_bytes(field(bytes, SECONDS)?)).ok()?;
    let micros = u64::try_from(i32::from_ne_bytes(field(bytes, MICROSECONDS)?)).ok()?;
    seconds.checked_mul(1_000_000)?.checked_add(micros)
}

fn parse_row(row: &[u8]) -> Option<TableRow> {
    let state = *row.get(STATE)?;
    Some(TableRow {
        process: Process {
            id: ProcessId {
                pid: i32::from_ne_bytes(field(row, PID)?),
                started: parse_time(row)?,
            },
            parent: i32::from_ne_bytes(field(row, PARENT)?),
            zombie: state == ZOMBIE,
            stopped: state == STOPPED,
        },
        owner: u32::from_ne_bytes(field(row, REAL_USER)?),
    })
}

/// Reads a `struct proc_uniqidentifierinfo`.
pub(super) fn parse_birth(bytes: &[u8]) -> Option<Birth> {
    Some(Birth {
        unique: u64::from_ne_bytes(field(bytes, UNIQUE)?),
        origin: u64::from_ne_bytes(field(bytes, ORIGIN)?),
    })
}

fn field<const SIZE: usize>(bytes: &[u8], offset: usize) -> Option<[u8; SIZE]> {
    bytes.get(offset..offset + SIZE)?.try_into().ok()
}

/// The strings with which a program began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct InitialStrings {
    /// Its arguments, each with NUL at its end.
    pub(super) arguments: Vec<u8>,
    /// Its environment, each entry with NUL at its end; `None` if the kernel hides it.
    pub(super) environment: Option<Vec<u8>>,
}

/// Reads the answer of `KERN_PROCARGS2`.
///
/// It holds the number of arguments, the path of the program, NUL bytes up to a word, the arguments, the environment
/// and strings of the loader. `None` if it is cut before the last argument. For the programs of Apple that it
/// protects, the kernel ends the answer after the arguments and reports no error.
pub(super) fn parse_strings(bytes: &[u8]) -> Option<InitialStrings> {
    let count = usize::try_from(i32::from_ne_bytes(field(bytes, 0)?)).ok()?;
    let rest = bytes.get(size_of::<i32>()..)?;
    let path = rest.iter().position(|byte| *byte == 0)?;
    let padding = rest[path..].iter().take_while(|byte| **byte == 0).count();
    let strings = &rest[path + padding..];
    let mut end = 0;
    for _ in 0..count {
        end += strings.get(end..)?.iter().position(|byte| *byte == 0)? + 1;
    }
    let (arguments, rest) = strings.split_at(end);
    let is_hidden = entries(rest).all(<[u8]>::is_empty);
    Some(InitialStrings {
        arguments: arguments.to_vec(),
        environment: (!is_hidden).then(|| rest.to_vec()),
    })
}

#[cfg(test)]
mod tests {
    use super::{Birth, InitialStrings, ROW, parse_birth, parse_rows, parse_strings};

    /// Returns a row as the kernel writes it, with the state at byte 36.
    fn row(pid: i32, parent: i32, state: u8) -> Vec<u8> {
        let mut bytes = vec![0xee; ROW];
        bytes[..8].copy_from_slice(&1_700_000_000_i64.to_ne_bytes());
        bytes[8..12].copy_from_slice(&42_i32.to_ne_bytes());
        bytes[36] = state;
        bytes[40..44].copy_from_slice(&pid.to_ne_bytes());
        bytes[392..396].copy_from_slice(&501_u32.to_ne_bytes());
        bytes[560..564].copy_from_slice(&parent.to_ne_bytes());
        bytes
    }

    #[test]
    fn rows_hold_parent_state_owner_and_the_start_in_microseconds() {
        let bytes = [row(7, 1, 2), row(8, 7, 4), row(9, 7, 5)].concat();
        let rows = parse_rows(&bytes).unwrap();
        let seen: Vec<_> = rows
            .iter()
            .map(|row| {
                let process = &row.process;
                (
                    process.id.pid,
                    process.parent,
                    process.stopped,
                    process.zombie,
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                (7, 1, false, false),
                (8, 7, true, false),
                (9, 7, false, true)
            ]
        );
        assert!(
            rows.iter()
                .all(|row| row.owner == 501 && row.process.id.started == 1_700_000_000_000_042)
        );
    }

    #[test]
    fn a_table_that_ends_within_a_row_or_has_an_impossible_time_is_no_table() {
        let mut bytes = row(7, 1, 2);
        assert_eq!(parse_rows(&bytes[..ROW - 1]), None);
        assert_eq!(parse_rows(&[]), Some(Vec::new()));
        bytes[..8].copy_from_slice(&(-1_i64).to_ne_bytes());
        assert_eq!(parse_rows(&bytes), None);
    }

    #[test]
    fn the_numbers_of_a_process_and_its_origin_are_read() {
        let mut bytes = vec![0xee; 56];
        bytes[16..24].copy_from_slice(&1234_u64.to_ne_bytes());
        bytes[24..32].copy_from_slice(&1_u64.to_ne_bytes());
        let birth = Birth {
            unique: 1234,
            origin: 1,
        };
        assert_eq!(parse_birth(&bytes), Some(birth));
        assert_eq!(parse_birth(&bytes[..31]), None);
    }

    fn strings(count: i32, rest: &[u8]) -> Vec<u8> {
        [&count.to_ne_bytes(), rest].concat()
    }

    #[test]
    fn arguments_and_environment_are_told_apart_by_the_number_of_arguments() {
        let bytes = strings(
            3,
            b"/bin/sh\0\0\0\0\0sh\0\0RALPH_TAG=a\0HOME=/x\0RALPH_TAG=b\0\0\0ptr_munge=\0",
        );
        let read = parse_strings(&bytes).unwrap();
        assert_eq!(read.arguments, b"sh\0\0RALPH_TAG=a\0");
        assert_eq!(
            read.environment.as_deref(),
            Some(b"HOME=/x\0RALPH_TAG=b\0\0\0ptr_munge=\0".as_slice())
        );
    }

    #[test]
    fn an_answer_that_ends_after_the_arguments_has_a_hidden_environment_not_an_empty_one() {
        for rest in [
            b"/bin/sleep\0\0\0sleep\09\0".as_slice(),
            b"/bin/sleep\0sleep\09\0\0\0",
        ] {
            let expected = InitialStrings {
                arguments: b"sleep\09\0".to_vec(),
                environment: None,
            };
            assert_eq!(parse_strings(&strings(2, rest)), Some(expected));
        }
    }

    #[test]
    fn an_answer_cut_anywhere_before_its_last_argument_ends_is_none() {
        let whole = strings(2, b"/bin/sleep\0\0\0sleep\09\0");
        for length in 0..whole.len() {
            assert_eq!(parse_strings(&whole[..length]), None, "{length}");
        }
        assert_eq!(parse_strings(&strings(-1, b"/x\0x\0")), None);
        assert_eq!(parse_strings(&strings(i32::MAX, b"/x\0x\0")), None);
    }
}
