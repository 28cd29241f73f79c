//! Decides what has to happen to each path so that a repository is as it was.
//!
//! Promises: files that were uncommitted before, and untracked files of other kinds, are left alone.

use super::backup_refs::Items;
use super::error::GitError;
use super::open::{Head, OpenRepo};
use super::package_folders::PackageFolder;
use super::tree::{self, Leaf};
use super::walk::Status;
use crate::source::{Classifier, Kind};
use git2::Oid;
use std::collections::{BTreeMap, BTreeSet};

/// What is to happen to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Disk and index as the wanted HEAD has it.
    Head,
    /// This content on disk (`None`: no file); the index as HEAD has it.
    Content(Option<Oid>),
    /// The index as HEAD has it; the disk stays.
    Index,
}

/// Paths and what is to stand there.
pub(super) type Contents = Vec<(Vec<u8>, Option<Oid>)>;
/// What is to happen, by path in the repository.
pub(super) type Plan = BTreeMap<Vec<u8>, Act>;

/// The state that is wanted; paths are relative to the repository.
pub(super) struct Wanted {
    pub(super) head: Head,
    /// Tracked files that differed from HEAD, and untracked ones of a kind: what stood on disk.
    pub(super) uncommitted: BTreeMap<Vec<u8>, Option<Oid>>,
    /// Those of them that git did not track.
    pub(super) untracked: BTreeSet<Vec<u8>>,
    /// Untracked files of no kind that stood there; `None` when that is not known.
    pub(super) others: Option<BTreeSet<Vec<u8>>>,
}

impl Wanted {
    /// That commit and nothing else.
    pub(super) fn at(head: Head) -> Self {
        let (uncommitted, untracked) = (BTreeMap::new(), BTreeSet::new());
        Self {
            head,
            uncommitted,
            untracked,
            others: Some(BTreeSet::new()),
        }
    }
}

/// The wanted state against what is there.
pub(super) struct View<'a> {
    pub(super) folders: &'a [(String, PackageFolder)],
    pub(super) classifier: &'a Classifier,
    pub(super) wanted: &'a Wanted,
}

impl View<'_> {
    /// What is on disk and may not stay: it has to be kept.
    pub(super) fn items(&self, open: &mut OpenRepo, status: &Status) -> Result<Items, GitError> {
        let mut items = Items::new();
        for (path, leaf) in status.dirty.iter().filter(|(path, _)| !open.is_state(path)) {
            if self.wanted.uncommitted.get(path) != Some(&leaf.map(|(id, _)| id)) {
                items.insert(path.clone(), *leaf);
            }
        }
        for path in status
            .untracked
            .iter()
            .filter(|path| self.has_kind(path) || in_the_way(status, path))
        {
            if let Some(leaf) = open.leaf(path)?
                && self.wanted.uncommitted.get(path) != Some(&Some(leaf.0))
            {
                items.insert(path.clone(), Some(leaf));
            }
        }
        Ok(items)
    }

    /// What stood there before, was not committed, and is gone or another now.
    pub(super) fn lost(&self, open: &mut OpenRepo) -> Result<Contents, GitError> {
        let mut lost = Vec::new();
        for (path, blob) in &self.wanted.uncommitted {
            let is_module = self
                .in_head(open, path)?
                .is_some_and(|(_, mode)| mode == tree::GITLINK);
            if !is_module && open.leaf(path)?.map(|(id, _)| id) != *blob {
                lost.push((path.clone(), *blob));
            }
        }
        Ok(lost)
    }

    /// What the wanted HEAD has at a path.
    pub(super) fn in_head(&self, open: &OpenRepo, path: &[u8]) -> Result<Option<Leaf>, GitError> {
        tree::leaf_in(&open.repo, self.wanted.head.commit, path)
    }

    /// What is to be done, path by path, once HEAD is where it is wanted. `moved`: it was elsewhere.
    pub(super) fn plan(
        &self,
        open: &mut OpenRepo,
        status: &Status,
        moved: bool,
    ) -> Result<Plan, GitError> {
        let mut plan = Plan::new();
        for (path, leaf) in &status.dirty {
            let act = self.for_dirty(open, path, leaf.map(|(id, _)| id), moved)?;
            plan.extend(act.map(|act| (path.clone(), act)));
        }
        for path in &status.untracked {
            if !self.wanted.uncommitted.contains_key(path)
                && (self.has_kind(path) || in_the_way(status, path))
            {
                plan.insert(path.clone(), Act::Head);
            }
        }
        plan.extend(
            self.lost(open)?
                .into_iter()
                .map(|(path, blob)| (path, Act::Content(blob))),
        );
        Ok(plan)
    }

    /// For a tracked path that differs from the wanted HEAD; `here` is what is on disk.
    fn for_dirty(
        &self,
        open: &OpenRepo,
        path: &[u8],
        here: Option<Oid>,
        moved: bool,
    ) -> Result<Option<Act>, GitError> {
        if open.is_state(path) {
            return Ok(moved.then_some(Act::Index));
        }
        if let Some(want) = self.wanted.uncommitted.get(path) {
            if *want != here {
                return Ok(Some(Act::Content(*want)));
            }
            if self.wanted.untracked.contains(path) {
                return Ok(Some(Act::Index));
            }
            // Whether it was staged is not recorded: a file that HEAD lacks was, of others it is not assumed.
            return Ok((moved && self.in_head(open, path)?.is_some()).then_some(Act::Index));
        }
        Ok(Some(
            if self.in_head(open, path)?.is_some() || self.may_go(path) {
                Act::Head
            } else {
                Act::Index
            },
        ))
    }

    /// A file that the wanted HEAD does not have may leave the disk, unless it may have been a person's.
    fn may_go(&self, path: &[u8]) -> bool {
        match &self.wanted.others {
            Some(others) => !others.contains(path),
            None => self.has_kind(path),
        }
    }

    fn has_kind(&self, path: &[u8]) -> bool {
        let inside = self
            .folders
            .iter()
            .filter_map(|(_, folder)| folder.inside(path));
        inside
            .into_iter()
            .any(|path| self.classifier.kind_of(path) != Kind::Other)
    }
}

/// An untracked file that stands where a tracked file or its folder has to be.
fn in_the_way(status: &Status, path: &[u8]) -> bool {
    let below = [path, b"/"].concat();
    tree::folders_above(path).any(|folder| status.dirty.contains_key(folder))
        || status
            .dirty
            .range(below.clone()..)
            .next()
            .is_some_and(|(found, _)| found.starts_with(&below))
}
