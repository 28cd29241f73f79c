//! The operating system behind ports ([`Disk`], [`Spawn`]) that crash tests replace: disk, processes, lock, clock,
//! signals, terminal.

pub mod cache_file;
pub mod clock;
pub mod disk;
pub mod file_stat;
pub mod lock;
pub mod poison;
mod poll;
pub mod process;
pub mod programs;
pub mod signals;
pub mod terminal;
pub mod walk;

use crate::machine::budget::Most;
use crate::machine::facts::ProcessEnd;
use crate::source::digest;
use crate::turn::Format;
use std::ffi::OsString;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The outcome of a compare-and-swap of a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swap {
    /// The file held the expected bytes and now holds the new ones.
    Done,
    /// The file holds something else; nothing was lost, nothing changed.
    Changed,
}

/// What [`Disk::tail`] gives of a file with these bytes, for disks in memory.
#[cfg(test)]
pub(crate) fn end_of(mut bytes: Vec<u8>, cap: u64) -> (Vec<u8>, u64) {
    let before = (bytes.len() as u64).saturating_sub(cap);
    bytes.drain(..usize::try_from(before).unwrap());
    (bytes, before)
}

/// The disk as ralph's own state needs it. Paths are absolute.
pub trait Disk {
    /// The whole file; `None` if it does not exist. Refuses anything but a regular file.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;
    /// Opens the file, to be read in parts; `None` if it does not exist. Refuses anything but a regular file.
    fn open(&self, path: &Path) -> io::Result<Option<Box<dyn BufRead>>> {
        let bytes = self.read(path)?;
        Ok(bytes.map(|bytes| Box::new(io::Cursor::new(bytes)) as Box<dyn BufRead>))
    }
    /// True if the path exists and is not a regular file: a link, a folder, a pipe.
    fn is_odd(&self, path: &Path) -> io::Result<bool>;
    /// The last `cap` bytes of the file and how many come before them; `None` if it does not exist.
    fn tail(&self, path: &Path, cap: u64) -> io::Result<Option<(Vec<u8>, u64)>>;
    /// The file's length in bytes; `None` if it does not exist.
    fn len(&self, path: &Path) -> io::Result<Option<u64>>;
    /// The SHA-256 of the file's first `most` bytes and how many these are; `None` if it does not exist.
    fn digest(&self, path: &Path, most: u64) -> io::Result<Option<(String, u64)>> {
        let first = |bytes: &[u8]| usize::try_from(most).unwrap_or(usize::MAX).min(bytes.len());
        let bytes = self.read(path)?;
        Ok(bytes.map(|bytes| (digest(&bytes[..first(&bytes)]), first(&bytes) as u64)))
    }
    /// Copies a regular file; the copy is private.
    fn copy(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let bytes = self.read(from)?.unwrap_or_default();
        self.write(to, &bytes)
    }
    /// Adds bytes at the end with one write; makes the file (mode 0600) when absent. Durable only after
    /// [`Disk::sync`].
    fn append(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Returns the bytes of a file that this process appends to, even if it was removed; `None` if it is not open.
    fn appended(&mut self, _: &Path) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }
    /// Makes an empty file if there is none, with the mode that any program gives it (0666 less the
    /// umask), durably: for files that people share.
    fn create_shared(&mut self, path: &Path) -> io::Result<()>;
    /// Waits until what was appended is on the disk (fdatasync). A failure is final: never retried.
    fn sync(&mut self, path: &Path) -> io::Result<()>;
    /// Cuts the file to `len` bytes, durably.
    fn truncate(&mut self, path: &Path, len: u64) -> io::Result<()>;
    /// Replaces (or makes, mode 0600) the file: readers see the old bytes or the new ones, never half.
    /// Durable when it returns. Makes missing parent folders (mode 0700).
    fn replace(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// As [`Disk::replace`], only without waiting for the disk: for views that are rebuilt at any time.
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Replaces the file, mode kept, links resolved, only where it holds `expected`; what somebody saved
    /// meanwhile is never lost. Durable when it returns.
    fn swap(&mut self, path: &Path, expected: &[u8], new: &[u8]) -> io::Result<Swap>;
    /// Moves a file; missing parent folders of the new place are made. Nothing happens when `from` is
    /// absent.
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;
}

/// A process to be started under supervision.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct ProcessSpec {
    /// Program and arguments; no shell.
    pub argv: Vec<String>,
    /// The whole environment of the process.
    pub env: Vec<(String, String)>,
    /// Its working directory.
    #[serde(with = "process::os_path")]
    pub cwd: PathBuf,
    /// A file that is its standard input; empty input if `None`.
    pub stdin: Option<OsString>,
    /// Where its standard output goes (mode 0600, created anew).
    #[serde(with = "process::os_path")]
    pub stdout: PathBuf,
    /// Where its standard error goes; may be the same path as `stdout`, then in order of arrival.
    #[serde(with = "process::os_path")]
    pub stderr: PathBuf,
    /// Bytes kept of each log: the first and the last half, with the number of bytes left out between them.
    pub log_cap: u64,
    /// Wall limit.
    pub wall: Option<Duration>,
    /// Limit without a byte of output; the time does not count while a tool runs, if its transcript tells.
    pub idle: Option<Duration>,
    /// Time that it has to end by itself once its transcript has ended. Then it is ended, and counts as one that exited
    /// with 0: some CLIs hang after their result.
    pub after_result: Option<Duration>,
    /// What its standard output is. Who does the same again and again in it is ended.
    pub transcript: Format,
    /// The most that it may use, as its transcript tells.
    pub most: Most,
    /// Time between TERM and KILL.
    pub grace: Duration,
    /// Marks the whole process tree: put into its environment as `RALPH_TAG`, found again by it.
    pub tag: String,
}

/// How a supervised process ended.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Ended {
    /// The end of the process itself.
    pub end: ProcessEnd,
    /// Descendants that were still alive when it ended, and were killed.
    pub leftover_processes: u32,
    /// Wall time, milliseconds.
    pub millis: u64,
    /// Bytes that standard error had when the transcript last told of work; 0 if it told of none.
    pub errors_before: u64,
}

impl Ended {
    /// Without any time, and nothing left.
    pub fn at_once(end: ProcessEnd) -> Self {
        Self {
            end,
            leftover_processes: 0,
            millis: 0,
            errors_before: 0,
        }
    }
}

/// A started process, named so that a later run can find it again; `pid` 0 when nothing was started.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct ProcessId {
    /// The process id.
    pub pid: i32,
    /// Start time in clock ticks since boot (field 22 of `/proc/<pid>/stat`), because pids are reused.
    pub started: u64,
}

/// A process that runs under supervision.
pub trait Running {
    /// Its name for the journal.
    fn id(&self) -> ProcessId;
    /// Waits until it and everything it started are gone.
    fn wait(self: Box<Self>) -> io::Result<Ended>;
}

/// The port through which every process is started.
pub trait Spawn: Sync {
    /// Starts the process. A program that is not there is an `Ended` with `ProcessEnd::NotStarted` from
    /// [`Running::wait`], not an error; an error is the supervision's own failure.
    fn start(&self, spec: &ProcessSpec) -> io::Result<Box<dyn Running>>;

    /// Starts the process and waits for it.
    fn run(&self, spec: &ProcessSpec) -> io::Result<Ended> {
        self.start(spec)?.wait()
    }
}
