//! What somebody left half-done in a package's repository: an operation of several steps, a locked index. Locks that a
//! dead git process left behind are removed.
//!
//! Promises: only regular files with git's own lock names are removed; links are not followed.

use super::Repositories;
use super::error::{Doing as _, GitError, clean};
use crate::sys::disk::if_there;
use crate::sys::walk::walk;
use git2::{Repository, RepositoryState};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Entries of `refs/` that are looked at.
const MAX_REFS: usize = 2_000_000;

/// Removes stale locks; their names relative to the git folder, sorted.
pub(super) fn remove_stale(repo: &Repository) -> Result<Vec<String>, GitError> {
    let mut removed = Vec::new();
    for name in [
        "index.lock",
        "HEAD.lock",
        "ORIG_HEAD.lock",
        "MERGE_HEAD.lock",
        "config.worktree.lock",
    ] {
        remove(&repo.path().join(name), name, &mut removed)?;
    }
    for name in ["packed-refs.lock", "config.lock", "shallow.lock"] {
        remove(&repo.commondir().join(name), name, &mut removed)?;
    }
    let bases: BTreeSet<&Path> = [repo.commondir(), repo.path()].into();
    for base in bases {
        for entry in walk(&base.join("refs"), usize::MAX, MAX_REFS, |_| true) {
            let entry = match entry {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entry => entry.doing("list the references")?,
            };
            let name = entry
                .path()
                .strip_prefix(base)
                .unwrap_or(entry.path())
                .to_string_lossy();
            // No reference may be called `*.lock` (git-check-ref-format(1)): such a file is a lock.
            if name.ends_with(".lock") {
                remove(entry.path(), &name, &mut removed)?;
            }
        }
    }
    removed.sort();
    removed.dedup();
    Ok(removed)
}

fn remove(path: &Path, name: &str, removed: &mut Vec<String>) -> Result<(), GitError> {
    if !fs_err::symlink_metadata(path).is_ok_and(|meta| meta.is_file()) {
        return Ok(());
    }
    let gone =
        if_there(fs_err::remove_file(path)).doing("remove a git lock that a dead process left")?;
    removed.extend(gone.map(|()| clean(name)));
    Ok(())
}

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
                is_locked: open
                    .repo
                    .path()
                    .join("index.lock")
                    .symlink_metadata()
                    .is_ok(),
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
        RepositoryState::Rebase
        | RepositoryState::RebaseInteractive
        | RepositoryState::RebaseMerge => Some("rebase"),
        RepositoryState::ApplyMailbox | RepositoryState::ApplyMailboxOrRebase => Some("am"),
    }
}
