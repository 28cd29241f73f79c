//! The errors of a repository: a whole sentence and a next action, without control characters.

use crate::source::Problem;
use git2::ErrorClass;
use std::fmt::Display;
use std::io;

/// The kinds of errors, on which callers branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitErrorKind {
    /// Damaged, incomplete, or a missing object: no answer could be trusted.
    Unreadable,
    /// A set-up that ralph cannot read faithfully, or a refused operation.
    Refused,
    /// A missing package, revision or file.
    NotFound,
    /// The disk or its permissions.
    Io,
}

/// The next action after a fault of the disk.
const DISK_HINT: &str = "Check the permissions and the free space, then try again.";

/// A failure of the git adapter. Its location is the package that it concerns, if any.
pub type GitError = Problem<GitErrorKind>;

impl GitError {
    pub(super) fn clean_error(
        kind: GitErrorKind,
        what: impl AsRef<str>,
        hint: impl AsRef<str>,
    ) -> Self {
        Self::new(kind, clean_text(what.as_ref()), clean_text(hint.as_ref()))
    }

    pub(super) fn refused_error(what: impl AsRef<str>, hint: impl AsRef<str>) -> Self {
        Self::clean_error(GitErrorKind::Refused, what, hint)
    }

    pub(super) fn not_found(what: impl AsRef<str>, hint: impl AsRef<str>) -> Self {
        Self::clean_error(GitErrorKind::NotFound, what, hint)
    }

    pub(super) fn damaged_error(what: impl AsRef<str>, hint: impl AsRef<str>) -> Self {
        Self::clean_error(GitErrorKind::Unreadable, what, hint)
    }

    /// Returns the error of a call of the library: of the disk if a system call failed, else of data that it could not read.
    pub(super) fn library_error(doing: impl Display, error: git2::Error) -> Self {
        let what = format!(
            "Git could not {doing}: {}.",
            error.message().trim_end_matches('.')
        );
        // A missing or locked file has a code of its own, and is no fault of the disk.
        let is_of_the_disk = matches!(error.class(), ErrorClass::Os | ErrorClass::Filesystem)
            && error.code() == git2::ErrorCode::GenericError;
        if is_of_the_disk {
            return Self::clean_error(GitErrorKind::Io, what, DISK_HINT).caused_by(error);
        }
        let hint = match error.code() {
            git2::ErrorCode::Locked => {
                "Another git process works in this repository; wait until it has ended."
            }
            _ => {
                "Run `git fsck` in the repository; a damaged or incomplete one has to be cloned again."
            }
        };
        Self::damaged_error(what, hint).caused_by(error)
    }

    /// Adds the package's name.
    pub(super) fn in_package(self, name: &str) -> Self {
        self.at(format!("Package {name}"), None)
    }
}

/// A result of the library or of the disk whose failure is reported.
pub(super) trait DescribeFailure<T> {
    /// Adds the operation, which completes "git could not …".
    fn with_action(self, doing: impl Display) -> Result<T, GitError>;
}

impl<T> DescribeFailure<T> for Result<T, git2::Error> {
    fn with_action(self, doing: impl Display) -> Result<T, GitError> {
        self.map_err(|error| GitError::library_error(doing, error))
    }
}

impl<T> DescribeFailure<T> for io::Result<T> {
    fn with_action(self, doing: impl Display) -> Result<T, GitError> {
        self.map_err(|error| {
            if error.kind() == io::ErrorKind::InvalidFilename {
                let what = format!(
                    "Could not {doing}: folders are nested deeper than Linux takes a path (4,096 bytes)."
                );
                return GitError::refused_error(
                    what,
                    "Remove these folders: `rm -rf` takes them, by the uppermost of them.",
                );
            }
            let what = format!("Could not {doing}: {error}.");
            GitError::clean_error(GitErrorKind::Io, what, DISK_HINT).caused_by(error)
        })
    }
}

/// Returns `None` for an object that the repository does not have.
pub(super) fn if_found<T>(found: Result<T, git2::Error>) -> Result<Option<T>, git2::Error> {
    match found {
        Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// Returns text for a message.
pub(super) fn clean_text(text: &str) -> String {
    crate::source::text::line(text, 600)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn a_message_names_the_package_and_has_no_control_characters() {
        let error = GitError::refused_error("The file a\n\x1b[31mb is odd.", "Rename it.")
            .in_package("core");
        assert_eq!(error.to_string(), "Package core: The file a b is odd.");
        assert_eq!(error.clone().in_package("other").place, "Package core");
    }

    #[test]
    fn the_errors_of_git_and_of_the_disk_are_causes() {
        let folder = tempfile::tempdir().unwrap();
        let opened = git2::Repository::open(folder.path()).map(|_| ());
        let error = opened.with_action("open it").unwrap_err();
        let cause = error.source().unwrap().downcast_ref::<git2::Error>();
        assert_eq!(cause.unwrap().code(), git2::ErrorCode::NotFound);

        // A file has the name of the object's folder.
        let repository = git2::Repository::init(folder.path()).unwrap();
        fs_err::write(repository.path().join("objects/b6"), "").unwrap();
        let written = repository.blob(b"hello").with_action("write it");
        assert_eq!(written.unwrap_err().kind, GitErrorKind::Io);

        let failed: io::Result<()> = Err(io::Error::from_raw_os_error(nix::libc::ENOSPC));
        let error = failed.with_action("write it").unwrap_err();
        let cause = error.source().unwrap().downcast_ref::<io::Error>();
        assert_eq!(cause.unwrap().raw_os_error(), Some(nix::libc::ENOSPC));
    }
}
