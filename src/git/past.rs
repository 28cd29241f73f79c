//! The line of commits that led to HEAD: what an audit walks.
//!
//! Promises: first parents only, the newest last; a line that a shallow clone cuts off is an error unless it ends before.

use super::changes::commit_at;
use super::error::{GitError, clean};
use super::{Repositories, tree};
use crate::machine::facts::Oid;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Commits that one look reads at most.
const MAX_COMMITS: usize = 200_000;

/// A commit on the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastCommit {
    /// Its id.
    pub id: Oid,
    /// Seconds since 1970.
    pub at: i64,
    /// The first line of its message.
    pub subject: String,
    /// The tags on it, sorted.
    pub tags: Vec<String>,
    /// The blob of the file that was asked for; `None` where it is not in the commit.
    pub file: Option<Oid>,
}

/// The line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PastLine {
    /// The commits, the oldest first. With a revision it is the first.
    pub commits: Vec<PastCommit>,
    /// Tags of commits that are not on it.
    pub other_tags: Vec<String>,
}

impl Repositories {
    /// The first parents of HEAD in the package's repository, back to a revision or to the beginning, each with the blob
    /// of this file (an absolute path).
    ///
    /// Errors: a revision that is not known or not on the line (`NotFound`); a shallow clone that hides the
    /// beginning (`Unreadable`); too many commits, a file outside of the repository (`Refused`).
    pub fn past(&mut self, package: &str, file: &Path, since: Option<&str>) -> Result<PastLine, GitError> {
        self.in_package(package, |folder, open, _| {
            let inside = file.strip_prefix(&folder.repo).map_err(|_| {
                let what = format!("{} is not in the repository that is to be audited.", file.display());
                GitError::refused(what, "Audit by commits or tags: `--by commit`, `--by tag`.")
            })?;
            let until = since.map(|rev| commit_at(open, rev)).transpose()?;
            let failed = |error: git2::Error| GitError::unreadable("read a commit of the history", &error);
            let mut tags = tags(&open.repo)?;
            let mut line = PastLine::default();
            let mut next = open.head()?.commit;
            while let Some(id) = next {
                let commit = open.repo.find_commit(id).map_err(failed)?;
                let file = tree::leaf_in(&open.repo, Some(id), inside.as_os_str().as_bytes())?;
                line.commits.push(PastCommit {
                    id: tree::fact_of(id),
                    at: commit.time().seconds(),
                    subject: clean(&String::from_utf8_lossy(commit.summary_bytes().unwrap_or_default())),
                    tags: tags.remove(&id).unwrap_or_default(),
                    file: file
                        .filter(|(_, mode)| *mode & 0o170_000 == 0o100_000)
                        .map(|(id, _)| tree::fact_of(id)),
                });
                if line.commits.len() > MAX_COMMITS {
                    let what = format!("HEAD has more than {MAX_COMMITS} first parents.");
                    return Err(GitError::refused(what, "Name the commit to begin behind: `--since REV`."));
                }
                next = if until == Some(id) { None } else { commit.parent_id(0).ok() };
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
    repo: &git2::Repository,
    end: Option<&Oid>,
    until: Option<&Oid>,
    since: Option<&str>,
) -> Result<(), GitError> {
    match (until, since) {
        (Some(until), Some(rev)) if end != Some(until) => {
            let what = format!("`{rev}` is not among the first parents of HEAD.");
            Err(GitError::not_found(what, "Name one of `git log --first-parent`."))
        }
        (None, _) if repo.is_shallow() => Err(GitError::damaged(
            "The clone is shallow: where its history begins cannot be told.",
            "Fetch the whole history (`git fetch --unshallow`), or begin later: `--since REV`.",
        )),
        _ => Ok(()),
    }
}

/// The tags by the commit that they name, sorted; those of anything else are left out.
fn tags(repo: &git2::Repository) -> Result<BTreeMap<git2::Oid, Vec<String>>, GitError> {
    let failed = |error: git2::Error| GitError::unreadable("list the tags", &error);
    let mut tags: BTreeMap<git2::Oid, Vec<String>> = BTreeMap::new();
    for reference in repo.references_glob("refs/tags/*").map_err(failed)? {
        let reference = reference.map_err(failed)?;
        let Ok(commit) = reference.peel_to_commit() else { continue };
        tags.entry(commit.id())
            .or_default()
            .push(clean(&String::from_utf8_lossy(reference.shorthand_bytes())));
    }
    for names in tags.values_mut() {
        names.sort();
    }
    Ok(tags)
}
