//! The stat data of a file, which shows if it must be read again.
//!
//! Promises: it includes the change time, which no program can set back. It is trusted only if that time is far
//! enough in the past for the clock of the file system to have advanced.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Device, inode, mode, size and times of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStat {
    dev: u64,
    ino: u64,
    mode: u32,
    size: u64,
    mtime: (i64, i64),
    ctime: (i64, i64),
}

impl FileStat {
    /// Returns the stamp of this metadata.
    pub fn of(meta: &Metadata) -> Self {
        Self {
            dev: meta.dev(),
            ino: meta.ino(),
            mode: meta.mode(),
            size: meta.size(),
            mtime: (meta.mtime(), meta.mtime_nsec()),
            ctime: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// Returns the stamp of the path; `None` if it is missing.
    pub fn at(path: &Path) -> Option<Self> {
        std::fs::symlink_metadata(path)
            .ok()
            .map(|meta| Self::of(&meta))
    }

    /// Returns only the part that stays the same as long as a directory is the same directory.
    pub fn identity(self) -> (u64, u64) {
        (self.dev, self.ino)
    }

    /// True if a change after `now` cannot leave the same stamp.
    ///
    /// Clocks of file systems tick every few milliseconds, coarse ones (with zero fractions) every two seconds.
    pub fn is_settled(self, now: SystemTime) -> bool {
        let (seconds, nanos) = self.ctime;
        let tick = if nanos == 0 {
            Duration::from_secs(2)
        } else {
            Duration::from_millis(50)
        };
        let (Ok(seconds), Ok(nanos)) = (u64::try_from(seconds), u32::try_from(nanos)) else {
            return false;
        };
        UNIX_EPOCH
            .checked_add(Duration::new(seconds, nanos) + tick)
            .is_some_and(|settled| settled < now)
    }
}

/// Returns the time for comparisons with stamps. It only decides if a file is read again, never a result.
#[expect(
    clippy::disallowed_methods,
    reason = "compared with times of files only; no answer depends on it"
)]
pub fn now() -> SystemTime {
    SystemTime::now()
}
