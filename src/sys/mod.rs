//! The operating system behind ports ([`Disk`], [`Spawn`]) that crash tests replace.
//!
//! It covers disk, processes, lock, clock, signals and terminal.

pub mod cache_file;
pub mod clock;
#[cfg(target_os = "macos")]
mod darwin;
pub mod disk;
pub mod file_stat;
pub mod itself;
pub mod lock;
pub mod log;
pub mod memory;
pub mod poison;
mod poll;
pub mod process;
pub mod programs;
pub mod signals;
pub mod terminal;
pub mod walk;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("ralph supervises processes on Linux and macOS only.");

use crate::machine::budget::Most;
use crate::machine::facts::ProcessEnd;
use crate::source::digest;
use crate::turn::TranscriptFormat;
use std::ffi::OsString;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The outcome of a compare-and-swap of a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swap {
    /// The file held the expected bytes and now holds the new ones.
    Done,
    /// The file has other content. Nothing was lost or changed.
    Changed,
}

/// Returns the result of [`Disk::tail`] for a file with these bytes, for disks in memory.
#[cfg(test)]
pub(crate) fn end_of(mut bytes: Vec<u8>, cap: u64) -> (Vec<u8>, u64) {
    let before = (bytes.len() as u64).saturating_sub(cap);
    bytes.drain(..usize::try_from(before).unwrap());
    (bytes, before)
}

/// The disk for ralph's own state. Paths are absolute.
pub trait Disk {
    /// Reads the whole file; `None` if it does not exist. Refuses anything but a regular file.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;
    /// Opens the file, to be read in parts; `None` if it does not exist. Refuses anything but a regular file.
    fn open(&self, path: &Path) -> io::Result<Option<Box<dyn BufRead>>> {
        let bytes = self.read(path)?;
        Ok(bytes.map(|bytes| Box::new(io::Cursor::new(bytes)) as Box<dyn BufRead>))
    }
    /// True if the path exists and is not a regular file: a link, a directory, a pipe.
    fn is_odd(&self, path: &Path) -> io::Result<bool>;
    /// Returns the last `cap` bytes of the file and the number of bytes before them; `None` if it does not exist.
    fn tail(&self, path: &Path, cap: u64) -> io::Result<Option<(Vec<u8>, u64)>>;
    /// Returns the file's length in bytes; `None` if it does not exist.
    fn len(&self, path: &Path) -> io::Result<Option<u64>>;
    /// Returns the SHA-256 of the file's first `most` bytes and their number; `None` if it does not exist.
    fn digest(&self, path: &Path, most: u64) -> io::Result<Option<(String, u64)>> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let bytes = self.read(path)?;
        Ok(bytes.map(|bytes| {
            let first = &bytes[..most.min(bytes.len())];
            (digest(first), first.len() as u64)
        }))
    }
    /// Copies a regular file. The copy is private.
    fn copy(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let bytes = self.read(from)?.unwrap_or_default();
        self.write(to, &bytes)
    }
    /// Appends bytes with one write, and creates the file (mode 0600) if missing. Durable only after [`Disk::sync`].
    fn append(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Returns the bytes of a file that this process appends to, even if it was removed; `None` if it is not open.
    fn appended(&mut self, _: &Path) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }
    /// Creates an empty file durably, if it is missing.
    ///
    /// It has the usual mode (0666 less the umask).
    ///
    /// For files that users share.
    fn create_shared(&mut self, path: &Path) -> io::Result<()>;
    /// Waits until the appended bytes are on the disk (fdatasync). A failure is final and never retried.
    fn sync(&mut self, path: &Path) -> io::Result<()>;
    /// Truncates the file to `len` bytes, durably.
    fn truncate(&mut self, path: &Path, len: u64) -> io::Result<()>;
    /// Replaces (or creates, mode 0600) the file. Readers see the old bytes or the new ones, never half.
    ///
    /// Durable when it returns. Creates missing parent directories (mode 0700).
    fn replace(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Writes as [`Disk::replace`] does, but without waiting for the disk: for views that can be rebuilt.
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Replaces the file, mode kept, links resolved, only if it holds `expected`.
    ///
    /// A save by a user meanwhile is never lost. Durable when it returns.
    fn swap(&mut self, path: &Path, expected: &[u8], new: &[u8]) -> io::Result<Swap>;
    /// Swaps as [`Disk::swap`] does, but without waiting for the disk: for content that can be made again.
    fn swap_unsynced(&mut self, path: &Path, expected: &[u8], new: &[u8]) -> io::Result<Swap>;
    /// Returns the time of the file's last change, in seconds since 1970; `None` if it does not exist or is unknown.
    fn changed_at(&self, path: &Path) -> io::Result<Option<i64>>;
    /// Moves a file, and creates missing parent directories. Does nothing if `from` is missing.
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;
}

/// A process to start under supervision.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ProcessSpec {
    /// Program and arguments, without a shell.
    pub argv: Vec<String>,
    /// The whole environment of the process.
    pub env: Vec<(String, String)>,
    #[serde(with = "process::os_path")]
    pub cwd: PathBuf,
    /// A file that is its standard input; empty input if `None`.
    pub stdin: Option<OsString>,
    /// The file for its standard output (mode 0600, always new).
    #[serde(with = "process::os_path")]
    pub stdout: PathBuf,
    /// The file for its standard error. May be the same path as `stdout`, then in order of arrival.
    #[serde(with = "process::os_path")]
    pub stderr: PathBuf,
    /// Maximum bytes of each log: the first and the last half, with the number of omitted bytes between them.
    pub log_cap: u64,
    /// Wall limit.
    pub wall: Option<Duration>,
    /// Limit without a byte of output. Excludes the time of a running tool, if its transcript shows it.
    pub idle: Option<Duration>,
    /// Time for it to end by itself after its transcript has ended.
    ///
    /// Then it is stopped, and counts as one that exited with 0: some CLIs hang after their result.
    pub after_result: Option<Duration>,
    /// The format of its standard output. ralph stops a process whose transcript shows a loop.
    pub transcript: TranscriptFormat,
    /// Its maximum usage, as its transcript reports it.
    pub most: Most,
    /// Time between TERM and KILL.
    pub grace: Duration,
    /// Marks the whole process tree as `RALPH_TAG` in its environment, by which it is found again.
    pub tag: String,
}

/// The result of a supervised process.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FinishedProcess {
    /// The end of the process itself.
    pub end: ProcessEnd,
    /// Number of descendants that were still alive when it ended, and were killed.
    pub leftover_processes: u32,
    /// Wall time, milliseconds.
    pub millis: u64,
    /// Size of standard error at the last sign of work in the transcript; 0 without one.
    pub errors_before: u64,
}

impl FinishedProcess {
    /// Returns a result without duration and leftovers.
    pub fn at_once(end: ProcessEnd) -> Self {
        Self {
            end,
            leftover_processes: 0,
            millis: 0,
            errors_before: 0,
        }
    }
}

/// The identity of a started process, by which a later run can find it; `pid` 0 if nothing was started.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct ProcessId {
    pub pid: i32,
    /// Start time, because pids are reused. On Linux in clock ticks since boot (field 22 of `/proc/<pid>/stat`), on
    /// macOS in microseconds since 1970.
    pub started: u64,
}

/// A process that runs under supervision.
pub trait Running {
    /// Returns its identity for the journal.
    fn id(&self) -> ProcessId;
    /// Waits until it and all its descendants are gone.
    fn wait(self: Box<Self>) -> io::Result<FinishedProcess>;
}

/// The port through which every process is started.
pub trait Spawn: Sync {
    /// Starts the process.
    ///
    /// For a missing program [`Running::wait`] returns an `Ended` with `ProcessEnd::NotStarted`. An error is the
    /// supervision's own failure.
    fn start(&self, spec: &ProcessSpec) -> io::Result<Box<dyn Running>>;

    /// Starts the process and waits for it.
    fn run(&self, spec: &ProcessSpec) -> io::Result<FinishedProcess> {
        self.start(spec)?.wait()
    }
}
