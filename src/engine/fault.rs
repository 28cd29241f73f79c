//! What keeps ralph from going on: what happened, and what to do. Neither an agent's failure nor a verdict.

use crate::journal::JournalError;
use crate::source::Problem;
use std::io;

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Usage or configuration.
    Setup,
    /// A repository or report cannot be read.
    Unknown,
    /// tasks.md, git or the journal were changed under the run.
    Changed,
    /// A fault of ralph's own.
    Internal,
    /// Disk or I/O.
    Io,
    /// Another run holds the workspace, or a process of an earlier one still lives.
    Busy,
}

/// A fault: what happened, and what to do.
pub type Fault = Problem<FaultKind>;

impl Fault {
    /// Wrong usage or configuration.
    pub fn setup(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(FaultKind::Setup, what, hint)
    }

    /// A disk or I/O fault.
    pub fn io(error: &io::Error) -> Self {
        // Without a number of the system's it is the disk adapter's own refusal.
        let hint = match (error.kind(), error.raw_os_error()) {
            (io::ErrorKind::InvalidInput, None) => "see to what stands there: ralph reads regular files only",
            _ => "see to the disk (space, rights), then run ralph again: it goes on where it stopped",
        };
        Self::new(
            FaultKind::Io,
            format!("A file could not be read or written: {}.", error.to_string().trim_end_matches('.')),
            hint,
        )
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::io(&error)
    }
}

impl From<JournalError> for Fault {
    fn from(error: JournalError) -> Self {
        match &error {
            JournalError::Io(inner) => Self::io(inner),
            JournalError::Corrupt { .. } | JournalError::Changed => Self::new(
                FaultKind::Changed,
                error.to_string(),
                "find out who wrote to it; without the journal (move it away) the boxes in tasks.md stand as they are",
            ),
            JournalError::Newer { .. } => {
                Self::new(FaultKind::Setup, error.to_string(), "use the newer ralph")
            }
        }
    }
}

impl From<crate::machine::Impossible> for Fault {
    fn from(error: crate::machine::Impossible) -> Self {
        Self::new(FaultKind::Internal, error.0, "please report this with the journal")
    }
}
