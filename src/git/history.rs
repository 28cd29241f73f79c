//! Ancestry of commits, and the line of commits to HEAD for an audit.
//!
//! It is read from the commits themselves.
//!
//! Promises: if a shallow clone or a missing object hides the answer, an error, never a guess. The line has first
//! parents only, the newest last.

use super::error::{DescribeFailure as _, GitError, clean_text};
use super::{Repositories, revision, tree};
use crate::machine::facts;
use git2::{Commit, Oid, Repository};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Maximum number of commits read for one query.
const MAX_COMMITS: usize = 2_000_000;
/// Maximum number of remote-tracking references in the search for a clone's base.
const MAX_REMOTE_REFS: usize = 2_000;

/// True if `old` is `new` or an ancestor of it.
pub(super) fn is_descendant(repo: &Repository, new: Oid, old: Oid) -> Result<bool, GitError> {
    if new == old {
        return Ok(true);
    }
    let mut seen = HashSet::from([new]);
    let mut todo = BinaryHeap::from([(
        read_commit(repo, new)?.time().seconds(),
        new.as_bytes().to_vec(),
    )]);
    while let Some((_, id)) = todo.pop() {
        let id = Oid::from_bytes(&id).with_action("read an object id")?;
        for parent in read_commit(repo, id)?.parent_ids() {
            if parent == old {
                return Ok(true);
            }
            if seen.insert(parent) {
                let seconds = read_commit(repo, parent)?.time().seconds();
                todo.push((seconds, parent.as_bytes().to_vec()));
            }
        }
        if seen.len() > MAX_COMMITS {
            return Err(GitError::refused_error(
                format!("More than {MAX_COMMITS} commits lie between {old} and {new}."),
                "Put HEAD on a commit that descends from the one before.",
            ));
        }
    }
    if repo.is_shallow() {
        return Err(GitError::damaged_error(
            format!(
                "The clone is shallow, so ralph cannot determine if {new} descends from {old}."
            ),
            "Fetch the whole history: `git fetch --unshallow`.",
        ));
    }
    Ok(false)
}

pub(super) fn read_commit(repo: &Repository, id: Oid) -> Result<Commit<'_>, GitError> {
    repo.find_commit(id)
        .with_action(format_args!("read the commit {id}"))
}

/// True if one of these commits is `old` or descends from it.
pub(super) fn is_in_one_of(
    repo: &Repository,
    heads: [Option<Oid>; 2],
    old: Oid,
) -> Result<bool, GitError> {
    for head in heads.into_iter().flatten() {
        if is_descendant(repo, head, old)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the base of a repository that had no commit of its own before.
///
/// It is the newest ancestor of HEAD that a remote had before any push to it, so that a clone's commits do not count
/// as an agent's. `None`: the empty tree.
pub(super) fn clone_base(repo: &Repository, head: Oid) -> Result<Option<Oid>, GitError> {
    let doing = "read the remote-tracking branches";
    let mut tips = BTreeSet::new();
    for reference in repo
        .references_glob("refs/remotes/*")
        .with_action(doing)?
        .take(MAX_REMOTE_REFS)
    {
        let reference = reference.with_action(doing)?;
        let Some(target) = reference.target() else {
            continue;
        };
        tips.extend(first_value(repo, &reference, target));
    }
    let mut base: Option<Oid> = None;
    for tip in tips {
        if repo.find_commit(tip).is_err() {
            continue;
        }
        let Ok(common) = repo.merge_base(head, tip) else {
            continue;
        };
        base = match base {
            Some(known) if is_descendant(repo, known, common)? => Some(known),
            _ => Some(common),
        };
    }
    Ok(base)
}

/// Returns the first value of a remote-tracking branch; `None` if a push from here created it.
fn first_value(repo: &Repository, reference: &git2::Reference<'_>, target: Oid) -> Option<Oid> {
    let log = reference
        .name()
        .ok()
        .and_then(|name| repo.reflog(name).ok());
    let Some(oldest) = log
        .as_ref()
        .and_then(|log| log.get(log.len().checked_sub(1)?))
    else {
        return Some(target);
    };
    if !oldest.id_old().is_zero() {
        return Some(oldest.id_old());
    }
    let pushed = oldest
        .message_bytes()
        .is_some_and(|text| text.starts_with(b"update by push"));
    (!pushed).then(|| oldest.id_new())
}

/// Maximum number of commits read at once.
const MAX_LINE: usize = 200_000;

/// A commit on the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastCommit {
    pub id: facts::Oid,
    /// Seconds since 1970.
    pub at: i64,
    /// The first line of its message.
    pub subject: String,
    /// The tags on it, sorted.
    pub tags: Vec<String>,
    /// The blob of the requested file; `None` if the commit does not have it.
    pub file: Option<facts::Oid>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PastLine {
    /// The commits, oldest first. A given revision is the first.
    pub commits: Vec<PastCommit>,
    /// Tags of commits that are not on it.
    pub other_tags: Vec<String>,
}

impl Repositories {
    /// Returns the first parents of HEAD in the package's repository.
    ///
    /// Each has the blob of this file (an absolute path).
    ///
    /// The line goes back to a revision or to the beginning.
    ///
    /// Errors: a revision that is unknown or not on the line (`NotFound`), a shallow clone that hides the beginning
    /// (`Unreadable`), too many commits or a file outside the repository (`Refused`).
    #[tracing::instrument(target = "git", skip_all, fields(package = package), err(level = "info"))]
    pub fn first_parents(
        &mut self,
        package: &str,
        file: &Path,
        since: Option<&str>,
    ) -> Result<PastLine, GitError> {
        self.in_package(package, |folder, open, _| {
            let inside = file.strip_prefix(&folder.repo).map_err(|_| {
                let what = format!("{} is not in the audited repository.", file.display());
                GitError::refused_error(
                    what,
                    "Audit by commits or tags: `--by commit`, `--by tag`.",
                )
            })?;
            let until = since
                .map(|rev| revision::commit_at(open, rev))
                .transpose()?;
            let mut tags = tags_by_commit(&open.repo)?;
            let mut line = PastLine::default();
            let mut next = open.read_head()?.commit;
            while let Some(id) = next {
                let commit = open
                    .repo
                    .find_commit(id)
                    .with_action("read a commit of the history")?;
                let file = tree::leaf_in(&open.repo, Some(id), inside.as_os_str().as_bytes())?;
                line.commits.push(PastCommit {
                    id: tree::fact_of(id),
                    at: commit.time().seconds(),
                    subject: clean_text(&String::from_utf8_lossy(
                        commit.summary_bytes().unwrap_or_default(),
                    )),
                    tags: tags.remove(&id).unwrap_or_default(),
                    file: file
                        .filter(|(_, mode)| *mode & 0o170_000 == 0o100_000)
                        .map(|(id, _)| tree::fact_of(id)),
                });
                if line.commits.len() > MAX_LINE {
                    let what = format!("HEAD has more than {MAX_LINE} first parents.");
                    return Err(GitError::refused_error(
                        what,
                        "Name the commit to begin behind: `--since REV`.",
                    ));
                }
                next = if until == Some(id) {
                    None
                } else {
                    commit.parent_id(0).ok()
                };
            }
            let end = line.commits.last().map(|commit| &commit.id);
            check_end(&open.repo, end, until.map(tree::fact_of).as_ref(), since)?;
            line.commits.reverse();
            line.other_tags = tags.into_values().flatten().collect();
            line.other_tags.sort();
            Ok(line)
        })
    }
}

/// Refuses a line that does not reach the revision, or that a shallow clone cut off.
fn check_end(
    repo: &Repository,
    end: Option<&facts::Oid>,
    until: Option<&facts::Oid>,
    since: Option<&str>,
) -> Result<(), GitError> {
    match (until, since) {
        (Some(until), Some(rev)) if end != Some(until) => {
            let what = format!("`{rev}` is not among the first parents of HEAD.");
            Err(GitError::not_found(
                what,
                "Name one of `git log --first-parent`.",
            ))
        }
        (None, _) if repo.is_shallow() => Err(GitError::damaged_error(
            "The clone is shallow, so the beginning of its history is unknown.",
            "Fetch the whole history (`git fetch --unshallow`), or begin later: `--since REV`.",
        )),
        _ => Ok(()),
    }
}

/// Returns the tags by their commit, sorted. Tags of other objects are excluded.
fn tags_by_commit(repo: &Repository) -> Result<BTreeMap<Oid, Vec<String>>, GitError> {
    let doing = "list the tags";
    let mut tags: BTreeMap<Oid, Vec<String>> = BTreeMap::new();
    for reference in repo.references_glob("refs/tags/*").with_action(doing)? {
        let reference = reference.with_action(doing)?;
        let Ok(commit) = reference.peel_to_commit() else {
            continue;
        };
        tags.entry(commit.id())
            .or_default()
            .push(clean_text(&String::from_utf8_lossy(
                reference.shorthand_bytes(),
            )));
    }
    for names in tags.values_mut() {
        names.sort();
    }
    Ok(tags)
}
