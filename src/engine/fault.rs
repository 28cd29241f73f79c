//! Errors that stop ralph, with the next step for the user.
//!
//! An agent's failure and a verdict are not errors.

use crate::journal::{JournalError, Unread};
use crate::source::Problem;
use crate::sys::process::UnknownOwner;
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
    /// Another run holds the workspace, or a process of an earlier one lives or may live.
    Busy,
}

/// A fault: what happened, and what to do.
pub type Fault = Problem<FaultKind>;

impl Fault {
    /// Wrong usage or configuration.
    pub fn setup_fault(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(FaultKind::Setup, what, hint)
    }

    /// tasks.md, git or the journal were changed under the run.
    pub(super) fn changed_fault(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(FaultKind::Changed, what, hint)
    }

    /// A fault of ralph's own.
    pub(super) fn internal_fault(what: impl Into<String>) -> Self {
        Self::new(
            FaultKind::Internal,
            what,
            "please report this with the journal",
        )
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        if UnknownOwner::is_cause_of(&error) {
            let hint = "end that process, or type the command in another terminal";
            return Self::new(FaultKind::Busy, error.to_string(), hint).caused_by(error);
        }
        // Without a number of the system's it is the disk adapter's own refusal.
        let hint = match (error.kind(), error.raw_os_error()) {
            (io::ErrorKind::InvalidInput, None) => {
                "look at what is there: ralph reads regular files only"
            }
            _ => {
                "check the disk (space, permissions), then run ralph again: it continues where it stopped"
            }
        };
        Self::new(
            FaultKind::Io,
            format!(
                "A file could not be read or written: {}.",
                error.to_string().trim_end_matches('.')
            ),
            hint,
        )
        .caused_by(error)
    }
}

impl From<JournalError> for Fault {
    fn from(error: JournalError) -> Self {
        let (what, file) = (error.to_string(), "journal.jsonl");
        let advice = "find out who wrote to it; without the journal (move it away) the boxes in tasks.md count as they are";
        match error {
            JournalError::Io(inner) => inner.into(),
            JournalError::Changed => Self::changed_fault(what, advice),
            JournalError::Corrupt { line, .. } => {
                Self::changed_fault(what, advice).at(file, line.try_into().ok())
            }
            JournalError::Unread { line, why } => {
                let hint = match why {
                    Unread::Newer(_) => "use the newer ralph",
                    Unread::OtherBuild(_) => {
                        "use the build that wrote it (`RunStarted` records in the journal name it)"
                    }
                };
                Self::setup_fault(what, hint).at(file, line.try_into().ok())
            }
        }
    }
}

impl From<crate::machine::Impossible> for Fault {
    fn from(error: crate::machine::Impossible) -> Self {
        Self::internal_fault(error.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, FaultKind, UnknownOwner};
    use std::io;

    #[test]
    fn a_process_of_an_unknown_owner_is_no_fault_of_the_disk() {
        let unknown = io::Error::other(UnknownOwner("Whose is 7?".to_owned()));
        let fault = Fault::from(unknown);
        assert_eq!((fault.kind, &*fault.what), (FaultKind::Busy, "Whose is 7?"));
        assert_eq!(
            Fault::from(io::Error::other("Whose is 7?")).kind,
            FaultKind::Io
        );
    }
}
