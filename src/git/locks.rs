//! Removes lock files that a dead git process left behind.
//!
//! Promises: only regular files with git's own lock names; links are not followed.

use super::error::GitError;
use git2::Repository;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Entries of `refs/` that are looked at.
const MAX_REFS: usize = 200_000;

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
        for (path, name) in ref_locks(&base.join("refs"))? {
            remove(&path, &name, &mut removed)?;
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

/// No reference may be called `*.lock` (git-check-ref-format(1)): such a file is a lock.
fn ref_locks(refs: &Path) -> Result<Vec<(PathBuf, String)>, GitError> {
    let mut found = Vec::new();
    let mut todo = vec![(refs.to_owned(), "refs".to_owned())];
    let mut seen = 0;
    while let Some((folder, prefix)) = todo.pop() {
        let entries = match fs_err::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(GitError::io("list the references", &error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| GitError::io("list the references", &error))?;
            let name = format!("{prefix}/{}", entry.file_name().to_string_lossy());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            seen += 1;
            if seen > MAX_REFS {
                return Ok(found);
            }
            if is_folder {
                todo.push((entry.path(), name));
            } else if name.strip_suffix(".lock").is_some() {
                found.push((entry.path(), name));
            }
        }
    }
    Ok(found)
}
