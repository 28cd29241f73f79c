//! Unfinished operations and locks in a package's repository. Removes the locks of a dead git process.
//!
//! Promises: only regular files with git's own lock names are removed. Links are not followed. If several work trees
//! share a repository, only git's locks for this one are removed: a running git may hold another lock.

use super::Repositories;
use super::backup_refs::pin_folder;
use super::error::{DescribeFailure as _, GitError, clean_text};
use crate::sys::disk::if_there;
use crate::sys::walk::walk;
use git2::{Repository, RepositoryState};
use std::io;
use std::path::{Path, PathBuf};

/// Maximum number of scanned entries of `refs/`.
const MAX_REFS: usize = 2_000_000;

/// Files of a work tree that git locks.
const OF_WORK_TREE: [&str; 5] = [
    "index",
    "HEAD",
    "ORIG_HEAD",
    "MERGE_HEAD",
    "config.worktree",
];
/// Files that all work trees of a repository share.
const SHARED: [&str; 3] = ["packed-refs", "config", "shallow"];

/// Removes stale locks and returns their names relative to the git directory, sorted.
pub(super) fn remove_stale(repo: &Repository) -> Result<Vec<String>, GitError> {
    let (own, common) = (repo.path(), repo.commondir());
    let mut locks: Vec<(&Path, String)> = Vec::new();
    locks.extend(OF_WORK_TREE.map(|name| (own, format!("{name}.lock"))));
    if shares_references(repo) {
        // Git lets no two work trees have the same branch, and each ralph writes only its own pins.
        let branch = head_branch(repo).map(|branch| (common, format!("{branch}.lock")));
        let pins = locks_below(common, &pin_folder(repo))?;
        locks.extend(branch.into_iter().chain(pins));
        if own != common {
            locks.extend(locks_below(own, "refs")?);
        }
    } else {
        locks.extend(SHARED.map(|name| (common, format!("{name}.lock"))));
        locks.extend(locks_below(common, "refs")?);
    }
    let mut removed = Vec::new();
    for (folder, name) in &locks {
        remove_lock(&folder.join(name), name, &mut removed)?;
    }
    removed.sort();
    removed.dedup();
    Ok(removed)
}

/// True if other work trees have, or had, the references of this one.
pub(super) fn shares_references(repo: &Repository) -> bool {
    let linked = repo.commondir().join("worktrees");
    repo.is_worktree() || fs_err::read_dir(linked).is_ok_and(|mut found| found.next().is_some())
}

/// Returns HEAD's branch, with or without commits.
fn head_branch(repo: &Repository) -> Option<String> {
    let head = repo.find_reference("HEAD").ok()?;
    let target = head.symbolic_target().ok().flatten()?;
    target.starts_with("refs/heads/").then(|| target.to_owned())
}

/// Returns the locks of references in a directory below a git directory.
///
/// Each is the git directory and the name in it.
fn locks_below<'a>(base: &'a Path, folder: &str) -> Result<Vec<(&'a Path, String)>, GitError> {
    let mut found = Vec::new();
    for entry in walk(&base.join(folder), usize::MAX, MAX_REFS, |_| true) {
        let entry = match entry {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entry => entry.with_action("list the references")?,
        };
        let path = entry.path().strip_prefix(base).unwrap_or(entry.path());
        let name = path.to_string_lossy();
        // No reference may be called `*.lock` (git-check-ref-format(1)): such a file is a lock.
        if name.ends_with(".lock") {
            found.push((base, name.into_owned()));
        }
    }
    Ok(found)
}

fn remove_lock(path: &Path, name: &str, removed: &mut Vec<String>) -> Result<(), GitError> {
    if !fs_err::symlink_metadata(path).is_ok_and(|meta| meta.is_file()) {
        return Ok(());
    }
    let gone = if_there(fs_err::remove_file(path))
        .with_action("remove a git lock that a dead process left")?;
    removed.extend(gone.map(|()| clean_text(name)));
    Ok(())
}

/// An unfinished operation or a lock in a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Underway {
    /// The directory of the repository, which several packages may share.
    pub repository: PathBuf,
    /// An operation that was begun and not ended, by git's name (`rebase`).
    pub operation: Option<&'static str>,
    /// True if the index is locked: a git is running, or one died.
    pub is_locked: bool,
}

impl Repositories {
    /// Returns the unfinished operation and the lock in the repository of a package.
    #[tracing::instrument(target = "git", skip_all, fields(package = package), err(level = "info"))]
    pub fn find_underway(&mut self, package: &str) -> Result<Underway, GitError> {
        self.in_package(package, |folder, open, _| {
            Ok(Underway {
                repository: folder.repo.clone(),
                operation: operation_name(open.repo.state()),
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

fn operation_name(state: RepositoryState) -> Option<&'static str> {
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
