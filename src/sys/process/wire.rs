//! The messages between ralph and its supervisor, one JSON object per line. Paths of any bytes are preserved.

use super::UnknownOwner;
use crate::sys::{FinishedProcess, ProcessId};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::os::fd::{AsFd, BorrowedFd};

/// The order to end the process: TERM, grace, KILL.
pub(super) const STOP: &[u8] = b"stop";
/// The order to kill the process now.
pub(super) const KILL: &[u8] = b"kill";

/// Serialises paths of any bytes in JSON.
pub(in crate::sys) mod os_path {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
    use std::ffi::OsString;
    use std::path::{Path, PathBuf};

    pub(in crate::sys) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().serialize(to)
    }

    pub(in crate::sys) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<PathBuf, D::Error> {
        OsString::deserialize(from).map(PathBuf::from)
    }
}

/// The supervisor's messages on its standard output.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SupervisorReport {
    Started(ProcessId),
    /// The process and all its descendants are gone.
    Ended(FinishedProcess),
    /// The supervision itself failed. Its processes are gone unless `why` is different.
    Failed {
        /// The reason, a whole sentence.
        why: String,
        /// The system's error number, if there is one.
        errno: Option<i32>,
        /// True for an [`UnknownOwner`].
        unknown_owner: bool,
    },
}

impl SupervisorReport {
    /// Returns the report of a failure.
    pub(super) fn failed(error: &io::Error) -> Self {
        // An error that fs_err or ralph wrapped keeps its kind but not its number.
        let errno = error.raw_os_error().or_else(|| match error.kind() {
            io::ErrorKind::StorageFull => Some(nix::libc::ENOSPC),
            io::ErrorKind::QuotaExceeded => Some(nix::libc::EDQUOT),
            io::ErrorKind::FileTooLarge => Some(nix::libc::EFBIG),
            io::ErrorKind::PermissionDenied => Some(nix::libc::EACCES),
            io::ErrorKind::NotFound => Some(nix::libc::ENOENT),
            _ => None,
        });
        Self::Failed {
            why: error.to_string(),
            errno,
            unknown_owner: UnknownOwner::is_cause_of(error),
        }
    }

    /// Returns the line, including its end.
    pub(super) fn line(&self) -> io::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(line)
    }
}

/// Returns the error that a [`SupervisorReport::Failed`] describes.
pub(super) fn failure(why: String, errno: Option<i32>, unknown_owner: bool) -> io::Error {
    match errno {
        _ if unknown_owner => io::Error::other(UnknownOwner(why)),
        Some(number) => io::Error::new(io::Error::from_raw_os_error(number).kind(), why),
        None => io::Error::other(why),
    }
}

/// The supervisor's connection to ralph, and the lifeline.
#[derive(Debug)]
pub(super) struct SupervisorLink {
    pipe: BufReader<File>,
}

impl SupervisorLink {
    pub(super) fn new(stdin: BorrowedFd<'_>) -> io::Result<Self> {
        Ok(Self {
            pipe: BufReader::new(File::from(stdin.try_clone_to_owned()?)),
        })
    }

    /// Waits for a line; `None` at the end of the input.
    ///
    /// An order of one word is written at once, so after its beginning its end needs no wait.
    pub(super) fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        self.pipe.read_until(b'\n', &mut line)?;
        Ok((line.pop() == Some(b'\n')).then_some(line))
    }

    /// True if a line, or the end, can be read without waiting.
    pub(super) fn has_news(&self) -> bool {
        let mut fds = [PollFd::new(self.as_fd(), PollFlags::POLLIN)];
        !self.pipe.buffer().is_empty()
            || poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
    }
}

impl AsFd for SupervisorLink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.get_ref().as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::{SupervisorReport, UnknownOwner, failure};
    use crate::machine::budget::Most;
    use crate::sys::ProcessSpec;
    use crate::turn::TranscriptFormat;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::PathBuf;
    use std::time::Duration;

    #[test]
    fn a_process_of_an_unknown_owner_comes_through_as_one() {
        for (error, expected) in [
            (std::io::Error::other(UnknownOwner("7?".to_owned())), true),
            (std::io::Error::other("7?"), false),
        ] {
            let line = SupervisorReport::failed(&error).line().unwrap();
            let SupervisorReport::Failed {
                why,
                errno,
                unknown_owner,
            } = serde_json::from_slice(&line).unwrap()
            else {
                panic!("a failure")
            };
            let back = failure(why, errno, unknown_owner);
            assert_eq!(UnknownOwner::is_cause_of(&back), expected);
            assert_eq!(back.to_string(), "7?");
        }
    }

    #[test]
    fn an_order_comes_through_whatever_its_paths_are() {
        let odd = PathBuf::from(OsStr::from_bytes(b"/tmp/\xff\n\""));
        let spec = ProcessSpec {
            argv: vec!["a b\n".to_owned()],
            env: vec![("K".to_owned(), "v\u{0}".to_owned())],
            cwd: odd.clone(),
            stdin: Some(odd.clone().into()),
            stdout: odd.clone(),
            stderr: odd,
            log_cap: 7,
            wall: Some(Duration::from_millis(1)),
            idle: None,
            after_result: None,
            transcript: TranscriptFormat::Text,
            most: Most::default(),
            grace: Duration::ZERO,
            tag: "t".to_owned(),
        };
        let line = serde_json::to_vec(&spec).unwrap();
        assert!(!line.contains(&b'\n'));
        let back: ProcessSpec = serde_json::from_slice(&line).unwrap();
        assert_eq!(format!("{back:?}"), format!("{spec:?}"));
    }
}
