//! The journal: the write-ahead log of facts, `.ralph/state/journal.jsonl`.
//!
//! Owns: the file's format (design §5 "Record"), its hash chain, the repair of a torn tail.
//!
//! Promises: what [`Journal::sync`] has returned for is there after any crash; any prefix of the bytes
//! opens; a record that was changed, cut out or reordered is found; a file that a newer ralph wrote is
//! read and never written.
//!
//! Refuses to know: what an event means.

mod format;

pub use format::{Line, LineError, Record};

use crate::machine::event::Event;
use crate::sys::Disk;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why a journal cannot be used.
#[derive(Debug)]
pub enum JournalError {
    /// The disk failed; final.
    Io(io::Error),
    /// A record in the middle does not fit its hash, or its order.
    Corrupt {
        /// 1-based line of the file.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// Somebody else wrote to the file while this process held it.
    Changed,
    /// A newer version of ralph wrote it.
    Newer {
        /// 1-based line of the file.
        line: u64,
        /// The unknown kind or version.
        what: String,
    },
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "The journal cannot be written or read: {error}."),
            Self::Corrupt { line, what } => {
                write!(f, "journal.jsonl:{line}: the journal was changed by another hand: {what}.")
            }
            Self::Changed => f.write_str("journal.jsonl was changed while ralph ran."),
            Self::Newer { line, what } => {
                write!(
                    f,
                    "journal.jsonl:{line}: a newer ralph wrote this ({what}); it is not written by this one."
                )
            }
        }
    }
}

impl std::error::Error for JournalError {}

impl From<io::Error> for JournalError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// An open journal: the end of the chain, and how long the file must be.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    head: String,
    len: u64,
    seq: u64,
    unsynced: bool,
}

/// What a journal file holds.
#[derive(Debug, Default)]
pub struct Reading {
    /// The records, in order.
    pub records: Vec<Record>,
    /// Bytes of whole, valid records.
    pub valid_len: u64,
    /// Bytes behind them: a record that was being written when ralph died.
    pub torn: u64,
    /// The first record of an unknown kind or version, if any; it and all after it are not in `records`.
    pub newer: Option<(u64, String)>,
}

impl Journal {
    /// Opens the journal for writing; a torn tail is kept beside it as `torn-<seq>` and cut off.
    pub fn open(disk: &mut dyn Disk, path: &Path) -> Result<(Self, Vec<Record>), JournalError> {
        let bytes = disk.read(path)?.unwrap_or_default();
        let reading = read(&bytes)?;
        if let Some((line, what)) = reading.newer {
            return Err(JournalError::Newer { line, what });
        }
        let seq = reading.records.last().map_or(0, |record| record.seq);
        if reading.torn > 0 {
            let kept = path.with_file_name(format!("torn-{}", seq + 1));
            let from = usize::try_from(reading.valid_len).unwrap_or(bytes.len());
            disk.replace(&kept, &bytes[from..])?;
            disk.truncate(path, reading.valid_len)?;
        }
        let head = reading.records.last().map_or_else(format::genesis, |record| record.hash.clone());
        let journal = Self { path: path.to_owned(), head, len: reading.valid_len, seq, unsynced: false };
        Ok((journal, reading.records))
    }

    /// Appends one fact. It is on the disk only after [`Journal::sync`].
    pub fn append(&mut self, disk: &mut dyn Disk, at: &str, event: &Event) -> Result<Record, JournalError> {
        if disk.len(&self.path)?.unwrap_or(0) != self.len {
            return Err(JournalError::Changed);
        }
        let (bytes, record) = format::encode(&self.head, self.seq + 1, at, event)?;
        disk.append(&self.path, &bytes)?;
        self.len += bytes.len() as u64;
        self.head.clone_from(&record.hash);
        self.seq = record.seq;
        self.unsynced = true;
        Ok(record)
    }

    /// Waits until everything that was appended is on the disk.
    pub fn sync(&mut self, disk: &mut dyn Disk) -> Result<(), JournalError> {
        if self.unsynced {
            disk.sync(&self.path)?;
            self.unsynced = false;
        }
        Ok(())
    }
}

/// Reads a journal's bytes without changing anything: a torn tail is reported, a broken middle refused.
pub fn read(bytes: &[u8]) -> Result<Reading, JournalError> {
    let mut reading = Reading::default();
    let mut head = format::genesis();
    let mut offset = 0usize;
    let mut number = 0u64;
    while offset < bytes.len() {
        number += 1;
        let rest = &bytes[offset..];
        let end = rest.iter().position(|b| *b == b'\n');
        let line = &rest[..end.unwrap_or(rest.len())];
        let record = match format::decode(line, &head, reading.records.len() as u64 + 1) {
            Ok(Line::Record(record)) if end.is_some() => *record,
            Ok(Line::Newer(what)) if end.is_some() => {
                reading.newer = Some((number, what));
                return Ok(reading);
            }
            Ok(_) => break,
            Err(error) => {
                if let Some(end) = end
                    && has_record(&rest[end + 1..])
                {
                    return Err(JournalError::Corrupt { line: number, what: error.to_string() });
                }
                break;
            }
        };
        head.clone_from(&record.hash);
        offset += line.len() + 1;
        reading.valid_len = offset as u64;
        reading.records.push(record);
    }
    reading.torn = bytes.len() as u64 - reading.valid_len;
    Ok(reading)
}

/// True when some later line is a record by its own hash: then a bad line before it is no torn tail.
fn has_record(rest: &[u8]) -> bool {
    rest.split(|b| *b == b'\n').any(format::is_self_consistent)
}

#[cfg(test)]
mod tests;
