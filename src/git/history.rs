//! Which commit descends from which, read from the commits themselves.
//!
//! Promises: if a shallow clone or a missing object hides the answer, an error, never a guess.

use super::error::GitError;
use git2::{Oid, Repository};
use std::collections::{BTreeSet, BinaryHeap, HashSet};

/// Commits that one question reads at most.
const MAX_COMMITS: usize = 2_000_000;
/// Remote-tracking references that the search for a clone's base looks at.
const MAX_REMOTE_REFS: usize = 2_000;

/// True when `old` is `new` or an ancestor of it.
pub(super) fn descends(repo: &Repository, new: Oid, old: Oid) -> Result<bool, GitError> {
    if new == old {
        return Ok(true);
    }
    let read = |id: Oid| {
        repo.find_commit(id).map_err(|error| GitError::unreadable(format!("read the commit {id}"), &error))
    };
    let mut seen = HashSet::from([new]);
    let mut todo = BinaryHeap::from([(read(new)?.time().seconds(), new.as_bytes().to_vec())]);
    while let Some((_, id)) = todo.pop() {
        let id = Oid::from_bytes(&id).map_err(|error| GitError::unreadable("read an object id", &error))?;
        for parent in read(id)?.parent_ids() {
            if parent == old {
                return Ok(true);
            }
            if seen.insert(parent) {
                todo.push((read(parent)?.time().seconds(), parent.as_bytes().to_vec()));
            }
        }
        if seen.len() > MAX_COMMITS {
            return Err(GitError::refused(
                format!("More than {MAX_COMMITS} commits lie between {old} and {new}."),
                "Put HEAD on a commit that descends from the one before.",
            ));
        }
    }
    if repo.is_shallow() {
        return Err(GitError::damaged(
            format!("Whether {new} descends from {old} cannot be told: the clone is shallow."),
            "Fetch the whole history: `git fetch --unshallow`.",
        ));
    }
    Ok(false)
}

/// True when one of these commits is `old` or descends from it.
pub(super) fn is_in_one_of(repo: &Repository, heads: [Option<Oid>; 2], old: Oid) -> Result<bool, GitError> {
    for head in heads.into_iter().flatten() {
        if descends(repo, head, old)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// For a repository that had no commit of its own before: the newest ancestor of HEAD that a remote had
/// before anything was pushed there, so that a clone's commits are not taken for an agent's. `None`: the
/// empty tree.
pub(super) fn clone_base(repo: &Repository, head: Oid) -> Result<Option<Oid>, GitError> {
    let failed = |error: git2::Error| GitError::unreadable("read the remote-tracking branches", &error);
    let mut tips = BTreeSet::new();
    for reference in repo.references_glob("refs/remotes/*").map_err(failed)?.take(MAX_REMOTE_REFS) {
        let reference = reference.map_err(failed)?;
        let Some(target) = reference.target() else { continue };
        tips.extend(first_value(repo, &reference, target));
    }
    let mut base: Option<Oid> = None;
    for tip in tips {
        if repo.find_commit(tip).is_err() {
            continue;
        }
        let Ok(common) = repo.merge_base(head, tip) else { continue };
        base = match base {
            Some(known) if descends(repo, known, common)? => Some(known),
            _ => Some(common),
        };
    }
    Ok(base)
}

/// What a remote-tracking branch named first; `None` when a push from here made it.
fn first_value(repo: &Repository, reference: &git2::Reference<'_>, target: Oid) -> Option<Oid> {
    let log = reference.name().ok().and_then(|name| repo.reflog(name).ok());
    let Some(oldest) = log.as_ref().and_then(|log| log.get(log.len().checked_sub(1)?)) else {
        return Some(target);
    };
    if !oldest.id_old().is_zero() {
        return Some(oldest.id_old());
    }
    let pushed = oldest.message_bytes().is_some_and(|text| text.starts_with(b"update by push"));
    (!pushed).then(|| oldest.id_new())
}
