//! Follows a journal that another process writes, without a lock.
//!
//! It reads each record once, in order, as soon as its line is complete. A journal that shrank or was replaced is
//! read from its start.

use super::{JournalEnd, JournalError, Record, Unread, replay, replay_on};
use crate::sys::Disk;
use std::path::{Path, PathBuf};

/// A change of a followed journal.
#[derive(Debug)]
pub enum JournalChange {
    /// The journal is read again from its first record: discard the earlier ones.
    Restarted,
    /// The next record.
    Record(Box<Record>),
}

/// A position in a journal.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    ending: JournalEnd,
    /// The length at which reading failed: the same file is not read again and again.
    failed: Option<u64>,
}

impl Follower {
    /// Returns a follower at the start.
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            ending: JournalEnd::of_nothing(),
            failed: None,
        }
    }

    /// Returns the reason why this build cannot read the next record, if there is such a record.
    pub fn unread(&self) -> Option<&Unread> {
        self.ending.unread.as_ref().map(|(_, why)| why)
    }

    /// Reads new records; false without new ones. After an error the journal is read from its start, once its length
    /// has changed.
    pub fn read<E: From<JournalError>>(
        &mut self,
        disk: &dyn Disk,
        mut each: impl FnMut(JournalChange) -> Result<(), E>,
    ) -> Result<bool, E> {
        let length = disk.len(&self.path).map_err(JournalError::Io)?.unwrap_or(0);
        if self.failed == Some(length) {
            return Ok(false);
        }
        let read = self.read_new(disk, length, &mut each);
        self.failed = read.is_err().then_some(length);
        if read.is_err() {
            self.ending = JournalEnd::of_nothing();
        }
        read
    }

    fn read_new<E: From<JournalError>>(
        &mut self,
        disk: &dyn Disk,
        length: u64,
        each: &mut impl FnMut(JournalChange) -> Result<(), E>,
    ) -> Result<bool, E> {
        if self.failed.is_some() || length < self.ending.valid_len {
            return self.read_all(disk, each);
        }
        if self.ending.unread.is_some() {
            return Ok(false);
        }
        let from = self.ending.last;
        let Some((bytes, before)) = disk
            .tail(&self.path, length - from)
            .map_err(JournalError::Io)?
        else {
            return Ok(false);
        };
        if before != from {
            // It grew or shrank between the two calls: the next read sees it.
            return Ok(false);
        }
        let known = usize::try_from(self.ending.valid_len - from).unwrap_or(usize::MAX);
        let Some(new) = bytes.get(known..).filter(|_| self.is_last(&bytes)) else {
            return self.read_all(disk, each);
        };
        let records = self.ending.records;
        let ending = std::mem::replace(&mut self.ending, JournalEnd::of_nothing());
        self.ending = replay_on(new, ending, |record| {
            each(JournalChange::Record(Box::new(record)))
        })?;
        Ok(self.ending.records > records)
    }

    fn read_all<E: From<JournalError>>(
        &mut self,
        disk: &dyn Disk,
        each: &mut impl FnMut(JournalChange) -> Result<(), E>,
    ) -> Result<bool, E> {
        let bytes = disk
            .read(&self.path)
            .map_err(JournalError::Io)?
            .unwrap_or_default();
        each(JournalChange::Restarted)?;
        self.ending = replay(&bytes, |record| {
            each(JournalChange::Record(Box::new(record)))
        })?;
        Ok(true)
    }

    /// True if these bytes begin with the last record read.
    fn is_last(&self, bytes: &[u8]) -> bool {
        let start = format!("{{\"h\":\"{}\"", self.ending.head);
        self.ending.records == 0 || bytes.starts_with(start.as_bytes())
    }
}
