//! The work of a lane in the repositories of main: its commits are merged in memory, and HEAD moves to the result.
//!
//! Promises: nothing in the other repository is run or believed. A merge writes objects only. HEAD moves from the
//! commit that was surveyed, and a second call after a crash ends the same.

use super::backup_refs::{self, Items};
use super::error::{DescribeFailure as _, GitError};
use super::open::OpenRepo;
use super::tree::{self, Delta, GITLINK};
use super::{Repositories, history, locks};
use crate::machine::facts::{self, Snapshot};
use crate::source::RepoPath;
use git2::{AttrCheckFlags, AttrValue, ErrorCode, MergeOptions, Oid, Repository, Signature, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// Paths that a conflict names.
const MAX_NAMED: usize = 20;
/// Names of merge drivers that are part of git.
const BUILT_IN: [&str; 3] = ["text", "binary", "union"];
/// The action that [`merge`] reports.
const MERGING: &str = "merge the work of a lane";

/// The result of a merge in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    /// HEAD has the content already.
    Contained,
    /// HEAD can move to this commit: the lane's own, or a merge with it.
    Commit(facts::Oid),
    /// Both sides changed these paths, at most 20 of them.
    Conflicts(Vec<RepoPath>),
    /// No merge is made, for this reason (a sentence).
    Refused(String),
}

impl Repositories {
    /// Merges a commit with HEAD `ours` of a package. Files of ralph's own (`tasks.md`, `.ralph/` …) stay as in `ours`.
    ///
    /// Errors: a repository that cannot be read (`Unreadable`, `Refused`).
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn merge(
        &mut self,
        package: &str,
        [ours, theirs]: [&facts::Oid; 2],
        message: &str,
    ) -> Result<Merge, GitError> {
        self.in_package(package, |_, open, _| {
            let (Some(ours), Some(theirs)) = (tree::oid_of(ours)?, tree::oid_of(theirs)?) else {
                return Ok(Merge::Refused(
                    "A package without a commit has nothing to merge with.".to_owned(),
                ));
            };
            merge(open, [ours, theirs], message)
        })
    }

    /// The paths that differ between two commits of a package's repository.
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn paths_between(
        &mut self,
        package: &str,
        [old, new]: [&facts::Oid; 2],
    ) -> Result<Vec<RepoPath>, GitError> {
        self.in_package(package, |_, open, _| {
            let [old, new] = [tree::oid_of(old)?, tree::oid_of(new)?];
            let old = tree::tree_of(&open.repo, old, b"")?;
            let new = tree::tree_of(&open.repo, new, b"")?;
            let changes = tree::diff_trees(&open.repo, old.as_ref(), new.as_ref())?;
            let paths = changes.iter().map(|change| &change.path);
            Ok(paths.map(|path| RepoPath::from_bytes(path)).collect())
        })
    }

    /// Removes the locks that a killed ralph left in these packages while it moved them.
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn unlock(&mut self, packages: &BTreeMap<String, facts::Oid>) -> Result<(), GitError> {
        self.refresh_packages()?;
        for name in packages.keys() {
            self.in_package(name, |_, open, _| locks::remove_stale(&open.repo))?;
        }
        Ok(())
    }

    /// Moves HEAD, index and work tree of these packages from `before` to `heads`. Uncommitted files stay. The commit that
    /// HEAD leaves is kept under `reference`. False if a package is at neither commit, and nothing is moved.
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn advance(
        &mut self,
        before: &Snapshot,
        heads: &BTreeMap<String, facts::Oid>,
        reference: &str,
    ) -> Result<bool, GitError> {
        backup_refs::check_name(reference)?;
        self.refresh_packages()?;
        let mut after = before.clone();
        for package in &mut after.packages {
            let Some(wanted) = heads.get(&package.name) else {
                continue;
            };
            let now = self.in_package(&package.name, |_, open, _| open.read_head())?;
            let commit = now.commit.map(tree::fact_of);
            let is_there = [&package.head, wanted].map(|head| commit.as_ref() == Some(head));
            if !is_there.contains(&true) || now.branch != package.branch {
                return Ok(false);
            }
            package.head.clone_from(wanted);
        }
        for names in self.by_repository().into_values() {
            let is_moved = names.iter().any(|name| heads.contains_key(name));
            if is_moved && let Some(wanted) = self.wanted_state(&after, &names)? {
                self.restore_packages(&names, &wanted, "ralph: before a lane's work", reference)?;
            }
        }
        Ok(true)
    }
}

fn merge(open: &OpenRepo, [ours, theirs]: [Oid; 2], message: &str) -> Result<Merge, GitError> {
    let repo = &open.repo;
    if history::is_descendant(repo, ours, theirs)? {
        return Ok(Merge::Contained);
    }
    let bases = match repo.merge_bases(ours, theirs) {
        Ok(bases) => bases.iter().copied().collect(),
        Err(error) if error.code() == ErrorCode::NotFound => Vec::new(),
        Err(error) => return Err(GitError::library_error(MERGING, error)),
    };
    let [base] = bases[..] else {
        return Ok(Merge::Refused(format!(
            "The lane's commit and HEAD have {} common ancestors in place of one.",
            bases.len()
        )));
    };
    let (base_tree, our_tree) = (read_tree(repo, base)?, read_tree(repo, ours)?);
    let changes = tree::diff_trees(repo, Some(&base_tree), Some(&read_tree(repo, theirs)?))?;
    let (own, changes): (Vec<Delta>, Vec<Delta>) = changes
        .into_iter()
        .partition(|change| open.is_state(&change.path));
    if changes.is_empty() {
        return Ok(Merge::Contained);
    }
    let our_changes = tree::diff_trees(repo, Some(&base_tree), Some(&our_tree))?;
    if let Some(why) = refusal(open, &changes, &our_changes)? {
        return Ok(Merge::Refused(why));
    }
    if base == ours && own.is_empty() {
        return Ok(in_way(open, &changes).unwrap_or(Merge::Commit(tree::fact_of(theirs))));
    }
    let own: Items = own
        .into_iter()
        .map(|change| (change.path, change.old))
        .collect();
    let their_tree = backup_refs::tree_with(open, Some(theirs), &own)
        .and_then(|tree| repo.find_tree(tree))
        .with_action(MERGING)?;
    let mut options = MergeOptions::new();
    options.find_renames(true);
    let mut merged = repo
        .merge_trees(&base_tree, &our_tree, &their_tree, Some(&options))
        .with_action(MERGING)?;
    if merged.has_conflicts() {
        return conflicts(&merged).with_action(MERGING);
    }
    let tree = merged
        .write_tree_to(repo)
        .and_then(|tree| repo.find_tree(tree))
        .with_action(MERGING)?;
    let moves = tree::diff_trees(repo, Some(&our_tree), Some(&tree))?;
    if let Some(refused) = in_way(open, &moves) {
        return Ok(refused);
    }
    let commit = commit(repo, [ours, theirs], &tree, message).with_action(MERGING)?;
    Ok(Merge::Commit(tree::fact_of(commit)))
}

fn read_tree(repo: &Repository, commit: Oid) -> Result<Tree<'_>, GitError> {
    repo.find_commit(commit)
        .and_then(|found| found.tree())
        .with_action(MERGING)
}

/// Both parents under one message, at the later of their times: a second try makes the same commit.
fn commit(
    repo: &Repository,
    parents: [Oid; 2],
    tree: &Tree<'_>,
    message: &str,
) -> Result<Oid, git2::Error> {
    let [ours, theirs] = parents.map(|id| repo.find_commit(id));
    let (ours, theirs) = (ours?, theirs?);
    let time = ours.time().max(theirs.time());
    let who = repo
        .signature()
        .or_else(|_| backup_refs::ralph_signature())?;
    let (name, email) = (
        who.name().unwrap_or("ralph"),
        who.email().unwrap_or("ralph"),
    );
    let by = Signature::new(name, email, &time)?;
    repo.commit(None, &by, &by, message, tree, &[&ours, &theirs])
}

fn conflicts(merged: &git2::Index) -> Result<Merge, git2::Error> {
    let mut paths = BTreeSet::new();
    for conflict in merged.conflicts()? {
        let conflict = conflict?;
        let sides = [conflict.our, conflict.their, conflict.ancestor];
        paths.extend(sides.into_iter().flatten().map(|entry| entry.path));
    }
    let named = paths.iter().take(MAX_NAMED);
    Ok(Merge::Conflicts(
        named.map(|path| RepoPath::from_bytes(path)).collect(),
    ))
}

/// The reason why only a worker with git itself may merge these changes of a lane.
fn refusal(open: &OpenRepo, changes: &[Delta], ours: &[Delta]) -> Result<Option<String>, GitError> {
    let ours: BTreeSet<&[u8]> = ours.iter().map(|change| change.path.as_slice()).collect();
    for change in changes {
        let path = &change.path;
        let shown = String::from_utf8_lossy(path);
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let is_module = [change.old, change.new]
            .into_iter()
            .flatten()
            .any(|(_, mode)| mode == GITLINK);
        let what = if path.split(|byte| *byte == b'/').any(is_reserved) {
            "git reserves its name"
        } else if is_module || name == b".gitmodules" {
            "it is a submodule"
        } else if name == b".gitattributes" {
            "it tells git how to read files"
        } else if runs_program(open, path, "filter", &["clean", "smudge", "process"], &[])? {
            "a program filters it"
        } else if ours.contains(path.as_slice())
            && runs_program(open, path, "merge", &["driver"], &BUILT_IN)?
        {
            "a program merges it"
        } else {
            continue;
        };
        return Ok(Some(format!(
            "The lane changed {}, and {what}.",
            super::error::clean_text(&shown)
        )));
    }
    Ok(None)
}

/// True for a part of a path that means something to git on some file system.
fn is_reserved(part: &[u8]) -> bool {
    [&b""[..], b".", b"..", b".git", b"git~1"]
        .iter()
        .any(|name| part.eq_ignore_ascii_case(name))
}

/// True if an attribute of the path names a program of the repository's settings.
fn runs_program(
    open: &OpenRepo,
    path: &[u8],
    attribute: &str,
    keys: &[&str],
    built_in: &[&str],
) -> Result<bool, GitError> {
    let doing = "read the attributes";
    let flags = AttrCheckFlags::default();
    let value = open
        .repo
        .get_attr_bytes(&tree::relative_path(path), attribute, flags)
        .with_action(doing)?;
    let AttrValue::Bytes(name) = AttrValue::always_bytes(value) else {
        return Ok(false);
    };
    let name = String::from_utf8_lossy(name);
    let config = open.repo.config().with_action(doing)?;
    Ok(!built_in.contains(&&*name)
        && keys.iter().any(|key| {
            config
                .get_entry(&format!("{attribute}.{name}.{key}"))
                .is_ok()
        }))
}

/// Refuses to add a file where an untracked one is.
fn in_way(open: &OpenRepo, moves: &[Delta]) -> Option<Merge> {
    let gone: BTreeSet<&[u8]> = moves
        .iter()
        .filter(|change| change.new.is_none())
        .map(|change| change.path.as_slice())
        .collect();
    for change in moves.iter().filter(|change| change.old.is_none()) {
        let above = tree::folders_above(&change.path).filter(|folder| !gone.contains(folder));
        let mut files =
            above.filter(|folder| open.lstat_path(folder).is_some_and(|found| !found.is_dir()));
        let is_taken = open
            .lstat_path(&change.path)
            .is_some_and(|found| !found.is_dir());
        if is_taken || files.next().is_some() {
            let path = String::from_utf8_lossy(&change.path);
            return Some(Merge::Refused(format!(
                "An untracked file is where the lane adds {}.",
                super::error::clean_text(&path)
            )));
        }
    }
    None
}
