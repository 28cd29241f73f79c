//! Operations of several steps, and a locked index, that somebody left in a package's repository.

use super::Repositories;
use super::error::GitError;
use git2::RepositoryState;
use std::path::PathBuf;

/// What is under way in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Underway {
    /// The folder of the repository, which several packages may share.
    pub repository: PathBuf,
    /// An operation that somebody began and has not ended: git's name of it (`rebase`).
    pub operation: Option<&'static str>,
    /// The index is locked: a git is at work, or one died.
    pub is_locked: bool,
}

impl Repositories {
    /// What is under way in the repository of a package.
    pub fn underway(&mut self, package: &str) -> Result<Underway, GitError> {
        self.in_package(package, |folder, open, _| {
            Ok(Underway {
                repository: folder.repo.clone(),
                operation: operation(open.repo.state()),
                is_locked: open.repo.path().join("index.lock").symlink_metadata().is_ok(),
            })
        })
    }
}

fn operation(state: RepositoryState) -> Option<&'static str> {
    match state {
        RepositoryState::Clean => None,
        RepositoryState::Merge => Some("merge"),
        RepositoryState::Revert | RepositoryState::RevertSequence => Some("revert"),
        RepositoryState::CherryPick | RepositoryState::CherryPickSequence => Some("cherry-pick"),
        RepositoryState::Bisect => Some("bisect"),
        RepositoryState::Rebase | RepositoryState::RebaseInteractive | RepositoryState::RebaseMerge => {
            Some("rebase")
        }
        RepositoryState::ApplyMailbox | RepositoryState::ApplyMailboxOrRebase => Some("am"),
    }
}
