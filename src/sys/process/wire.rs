//! What ralph and its supervisor say to each other: one JSON object a line.
//!
//! Owns: the forms of order and report.
//!
//! Promises: paths of any bytes come through unchanged.
//!
//! Refuses to know: pipes.

use crate::machine::facts::ProcessEnd;
use crate::sys::{Ended, ProcessId, ProcessSpec};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The word that asks the supervisor to end the process in order: TERM, grace, KILL.
pub(super) const STOP: &[u8] = b"stop";
/// The word that asks the supervisor to kill the process now.
pub(super) const KILL: &[u8] = b"kill";

/// A [`ProcessSpec`] that can be written as JSON whatever its paths are.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Order {
    argv: Vec<String>,
    env: Vec<(String, String)>,
    cwd: OsString,
    stdin: Option<OsString>,
    stdout: OsString,
    stderr: OsString,
    log_cap: u64,
    wall: Option<Duration>,
    idle: Option<Duration>,
    grace: Duration,
    tag: String,
}

impl From<&ProcessSpec> for Order {
    fn from(spec: &ProcessSpec) -> Self {
        Self {
            argv: spec.argv.clone(),
            env: spec.env.clone(),
            cwd: spec.cwd.clone().into(),
            stdin: spec.stdin.clone().map(Into::into),
            stdout: spec.stdout.clone().into(),
            stderr: spec.stderr.clone().into(),
            log_cap: spec.log_cap,
            wall: spec.wall,
            idle: spec.idle,
            grace: spec.grace,
            tag: spec.tag.clone(),
        }
    }
}

impl From<Order> for ProcessSpec {
    fn from(order: Order) -> Self {
        Self {
            argv: order.argv,
            env: order.env,
            cwd: order.cwd.into(),
            stdin: order.stdin.map(PathBuf::from),
            stdout: order.stdout.into(),
            stderr: order.stderr.into(),
            log_cap: order.log_cap,
            wall: order.wall,
            idle: order.idle,
            grace: order.grace,
            tag: order.tag,
        }
    }
}

/// What the supervisor says on its standard output.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Report {
    /// The process runs.
    Started(ProcessId),
    /// The process and all that it started are gone.
    Ended {
        /// The end of the process itself.
        end: ProcessEnd,
        /// Descendants that were killed after its end.
        leftover_processes: u32,
        /// Wall time.
        millis: u64,
    },
    /// The supervision itself failed; what was started is gone unless `why` says otherwise.
    Failed {
        /// A whole sentence.
        why: String,
        /// The system's error number, if there is one.
        errno: Option<i32>,
    },
}

impl Report {
    /// The report of a failure.
    pub(super) fn failed(error: &io::Error) -> Self {
        // What fs_err or ralph wrapped keeps its kind but not its number.
        let errno = error.raw_os_error().or_else(|| match error.kind() {
            io::ErrorKind::StorageFull => Some(nix::libc::ENOSPC),
            io::ErrorKind::QuotaExceeded => Some(nix::libc::EDQUOT),
            io::ErrorKind::FileTooLarge => Some(nix::libc::EFBIG),
            io::ErrorKind::PermissionDenied => Some(nix::libc::EACCES),
            io::ErrorKind::NotFound => Some(nix::libc::ENOENT),
            _ => None,
        });
        Self::Failed { why: error.to_string(), errno }
    }

    /// The line, its end included.
    pub(super) fn line(&self) -> io::Result<Vec<u8>> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        Ok(line)
    }
}

impl From<Ended> for Report {
    fn from(ended: Ended) -> Self {
        Self::Ended { end: ended.end, leftover_processes: ended.leftover_processes, millis: ended.millis }
    }
}

/// The error that a [`Report::Failed`] stands for.
pub(super) fn failure(why: String, errno: Option<i32>) -> io::Error {
    match errno {
        Some(number) => io::Error::new(io::Error::from_raw_os_error(number).kind(), why),
        None => io::Error::other(why),
    }
}

#[cfg(test)]
mod tests {
    use super::{Order, ProcessSpec};
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::PathBuf;
    use std::time::Duration;

    #[test]
    fn an_order_comes_through_whatever_its_paths_are() {
        let odd = PathBuf::from(OsStr::from_bytes(b"/tmp/\xff\n\""));
        let spec = ProcessSpec {
            argv: vec!["a b\n".to_owned()],
            env: vec![("K".to_owned(), "v\u{0}".to_owned())],
            cwd: odd.clone(),
            stdin: Some(odd.clone()),
            stdout: odd.clone(),
            stderr: odd,
            log_cap: 7,
            wall: Some(Duration::from_millis(1)),
            idle: None,
            grace: Duration::ZERO,
            tag: "t".to_owned(),
        };
        let line = serde_json::to_vec(&Order::from(&spec)).unwrap();
        assert!(!line.contains(&b'\n'));
        let back = ProcessSpec::from(serde_json::from_slice::<Order>(&line).unwrap());
        assert_eq!(format!("{back:?}"), format!("{spec:?}"));
    }
}
