//! The journal: the write-ahead log of events, `.ralph/state/journal.jsonl` (docs/design.md "The journal").
//!
//! Promises: records before a return of [`Journal::sync`] survive any crash. Any prefix of the bytes opens. A record
//! that was changed, removed or reordered is found. A file that a newer ralph wrote is read and never written.

mod follow;
mod format;

pub use follow::{Follower, JournalChange};
use format::JournalLine;
pub use format::{Record, Unread};

use crate::machine::event::Event;
use crate::sys::Disk;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The errors of a journal.
#[derive(Debug)]
pub enum JournalError {
    /// The disk failed, which is final.
    Io(io::Error),
    /// A record in the middle does not fit its hash, or its order.
    Corrupt {
        /// 1-based line of the file.
        line: u64,
        /// The mismatch.
        what: &'static str,
    },
    /// Another process wrote to the file while this one held it.
    Changed,
    /// This build cannot read one of its records.
    Unread {
        /// 1-based line of the file.
        line: u64,
        why: Unread,
    },
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "The journal cannot be written or read: {error}."),
            Self::Corrupt { what, .. } => {
                write!(f, "The journal was changed by another program: {what}.")
            }
            Self::Changed => f.write_str("journal.jsonl was changed while ralph ran."),
            Self::Unread { why, .. } => write!(f, "{why}. This ralph does not write the journal."),
        }
    }
}

impl std::error::Error for JournalError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Corrupt { .. } | Self::Changed | Self::Unread { .. } => None,
        }
    }
}

impl From<io::Error> for JournalError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// An open journal: the end of the chain, and the expected length of the file.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    head: String,
    len: u64,
    seq: u64,
    unsynced: bool,
}

/// The end of a journal file.
#[derive(Clone, Debug)]
pub struct JournalEnd {
    /// Offset of the last record in bytes; 0 without records.
    pub last: u64,
    /// Number of records.
    pub records: u64,
    /// The hash of the last record, or the hash before the first one.
    pub head: String,
    /// Bytes of whole, valid records.
    pub valid_len: u64,
    /// Bytes after them: a record that was being written when ralph died.
    pub torn: u64,
    /// The first record that this build cannot read, if any. It and all later ones are not counted.
    pub unread: Option<(u64, Unread)>,
}

impl JournalEnd {
    /// Returns the state before the first record.
    pub fn of_nothing() -> Self {
        Self {
            last: 0,
            records: 0,
            head: format::genesis(),
            valid_len: 0,
            torn: 0,
            unread: None,
        }
    }
}

impl Journal {
    /// Opens the journal for writing, and passes its records to `each` one by one.
    ///
    /// A torn tail is saved next to it as `torn-<seq>` and cut off. An error of `each` ends it with that error.
    pub fn open<E: From<JournalError>>(
        disk: &mut dyn Disk,
        path: &Path,
        each: impl FnMut(Record) -> Result<(), E>,
    ) -> Result<Self, E> {
        let bytes = disk
            .read(path)
            .map_err(JournalError::Io)?
            .unwrap_or_default();
        let ending = replay(&bytes, each)?;
        if let Some((line, why)) = ending.unread {
            return Err(JournalError::Unread { line, why }.into());
        }
        if ending.torn > 0 {
            let kept = path.with_file_name(format!("torn-{}", ending.records + 1));
            let from = usize::try_from(ending.valid_len).unwrap_or(bytes.len());
            disk.replace(&kept, &bytes[from..])
                .map_err(JournalError::Io)?;
            disk.truncate(path, ending.valid_len)
                .map_err(JournalError::Io)?;
        }
        let JournalEnd {
            head,
            records: seq,
            valid_len: len,
            ..
        } = ending;
        Ok(Self {
            path: path.to_owned(),
            head,
            len,
            seq,
            unsynced: false,
        })
    }

    /// Appends one event. It is on the disk only after [`Journal::sync`].
    pub fn append(
        &mut self,
        disk: &mut dyn Disk,
        at: &str,
        event: &Event,
    ) -> Result<Record, JournalError> {
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

    /// Writes a removed journal again from the file that is still open; true if the whole chain is there.
    pub fn restore_removed(&self, disk: &mut dyn Disk) -> Result<bool, JournalError> {
        if disk.len(&self.path)?.is_some() {
            return Ok(false);
        }
        let Some(bytes) = disk.appended(&self.path)? else {
            return Ok(false);
        };
        let ending = replay::<JournalError>(&bytes, |_| Ok(()))?;
        let is_whole = ending.head == self.head && ending.torn == 0 && ending.unread.is_none();
        if is_whole {
            disk.replace(&self.path, &bytes)?;
        }
        Ok(is_whole)
    }

    /// Returns the hash of the last record.
    pub fn head(&self) -> &str {
        &self.head
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

/// Reads a journal's bytes without a change, and passes the records to `each` one by one.
///
/// A long journal is therefore never held twice. A torn tail is reported, a broken middle refused.
pub fn replay<E: From<JournalError>>(
    bytes: &[u8],
    each: impl FnMut(Record) -> Result<(), E>,
) -> Result<JournalEnd, E> {
    replay_on(bytes, JournalEnd::of_nothing(), each)
}

/// Reads the bytes after the records that `ending` describes, as [`replay`] does.
pub fn replay_on<E: From<JournalError>>(
    bytes: &[u8],
    mut ending: JournalEnd,
    mut each: impl FnMut(Record) -> Result<(), E>,
) -> Result<JournalEnd, E> {
    let mut offset = 0usize;
    while offset < bytes.len() {
        let number = ending.records + 1;
        let rest = &bytes[offset..];
        let end = rest.iter().position(|b| *b == b'\n');
        let line = &rest[..end.unwrap_or(rest.len())];
        let record = match format::decode(line, &ending.head, number) {
            Ok(JournalLine::Record(record)) if end.is_some() => *record,
            Ok(JournalLine::Unread(why)) if end.is_some() => {
                ending.unread = Some((number, why));
                return Ok(ending);
            }
            // A bad line is a torn tail only if no record comes after it.
            Err(what) if end.is_some_and(|end| has_record(&rest[end + 1..])) => {
                return Err(JournalError::Corrupt { line: number, what }.into());
            }
            _ => break,
        };
        ending.head.clone_from(&record.hash);
        offset += line.len() + 1;
        ending.last = ending.valid_len;
        ending.valid_len += line.len() as u64 + 1;
        ending.records = number;
        each(record)?;
    }
    ending.torn = (bytes.len() - offset) as u64;
    Ok(ending)
}

/// True if some line is a valid record.
fn has_record(rest: &[u8]) -> bool {
    rest.split(|b| *b == b'\n').any(format::is_self_consistent)
}

#[cfg(test)]
mod tests;
