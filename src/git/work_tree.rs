//! Commits of work trees as they are now, for gates that judge uncommitted work.
//!
//! Promises: no reference, no index and no file of the work tree changes. git removes the objects later, as any that
//! nothing names.

use super::Repositories;
use super::backup_refs::{self, Items};
use super::error::GitError;
use super::open::OpenRepo;
use super::tree;
use super::walk::WorkTreeStatus;
use crate::machine::facts::Oid;
use crate::source::{Classifier, Kind, is_output};
use std::collections::BTreeMap;

/// Two ids of a package's work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkTree {
    /// A commit of it on top of HEAD; zeros without a commit and without files.
    pub commit: Oid,
    /// The id of its files. It is the same for the same content.
    pub files: Oid,
}

impl Repositories {
    /// Writes a commit of each package's tracked and untracked files. Left out: ignored files, output folders, and
    /// ralph's own files. Packages of one repository share its commit.
    ///
    /// Errors: a work tree that cannot be read, or that has too many changed files (`Refused`).
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn commit_work_trees(&mut self) -> Result<BTreeMap<String, WorkTree>, GitError> {
        self.refresh_packages()?;
        let mut all = BTreeMap::new();
        for names in self.by_repository().into_values() {
            let Some(first) = names.first() else { continue };
            let work_tree = self.in_package(first, |_, open, classifier| {
                commit_work_tree(open, classifier)
            })?;
            all.extend(names.into_iter().map(|name| (name, work_tree.clone())));
        }
        Ok(all)
    }
}

fn commit_work_tree(open: &mut OpenRepo, classifier: &Classifier) -> Result<WorkTree, GitError> {
    let (head, status) = open.read_status()?;
    let items = uncommitted(open, &status, classifier)?;
    let commit = backup_refs::commit_items(open, head.commit, &items)?;
    let files = match commit {
        Some(commit) => tree::tree_of(&open.repo, Some(commit), b"")?.map(|tree| tree.id()),
        None => None,
    };
    let [commit, files] = [commit, files].map(|id| id.map_or_else(Oid::zero, tree::fact_of));
    Ok(WorkTree { commit, files })
}

/// Returns each path that differs from HEAD, and its content on the disk.
fn uncommitted(
    open: &mut OpenRepo,
    status: &WorkTreeStatus,
    classifier: &Classifier,
) -> Result<Items, GitError> {
    let tracked = status.dirty.iter().filter(|(path, _)| !open.is_state(path));
    let mut items: Items = tracked.map(|(path, leaf)| (path.clone(), *leaf)).collect();
    for path in &status.untracked {
        // A rule that no commit holds does not take a source away from the gate.
        let is_ignored = status.hidden.contains(path) && classifier.kind_of(path) == Kind::Other;
        let is_in_output = tree::folders_above(path).last().is_some_and(is_output);
        if is_ignored || is_in_output || open.is_state(path) {
            continue;
        }
        if let Some(leaf) = open.read_leaf(path)? {
            items.insert(path.clone(), Some(leaf));
        }
    }
    Ok(items)
}
