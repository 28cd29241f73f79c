//! Removes lock files that a dead git process left behind.
//!
//! Promises: only regular files with git's own lock names; links are not followed.

use super::error::GitError;
use crate::sys::walk::walk;
use git2::Repository;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

/// Entries of `refs/` that are looked at.
const MAX_REFS: usize = 2_000_000;

/// Removes stale locks; their names relative to the git folder, sorted.
pub(super) fn remove_stale(repo: &Repository) -> Result<Vec<String>, GitError> {
    let mut removed = Vec::new();
    for name in ["index.lock", "HEAD.lock", "ORIG_HEAD.lock", "MERGE_HEAD.lock", "config.worktree.lock"] {
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
                entry => entry.map_err(|error| GitError::io("list the references", &error))?,
            };
            let name = entry.path().strip_prefix(base).unwrap_or(entry.path()).to_string_lossy();
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
    match fs_err::remove_file(path) {
        Ok(()) => removed.push(super::error::clean(name)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(GitError::io("remove a git lock that a dead process left", &error)),
    }
    Ok(())
}
