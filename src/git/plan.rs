//! Decides the action for each path that restores a repository.
//!
//! Promises: files that were uncommitted before, and untracked files of other kinds, are left alone.

use super::backup_refs::Items;
use super::error::GitError;
use super::open::{HeadPosition, OpenRepo};
use super::package_folders::PackageFolder;
use super::tree::{self, Leaf};
use super::walk::WorkTreeStatus;
use crate::source::{Classifier, Kind};
use git2::Oid;
use std::collections::{BTreeMap, BTreeSet};

/// The action for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathAction {
    /// Sets disk and index to the wanted HEAD.
    Head,
    /// Sets this content on disk (`None`: no file), and the index to HEAD.
    Content(Option<Oid>),
    /// Sets the index to HEAD. The disk stays.
    Index,
}

/// Paths and their wanted content.
pub(super) type WantedContents = Vec<(Vec<u8>, Option<Oid>)>;
/// The actions by path in the repository.
pub(super) type RestorePlan = BTreeMap<Vec<u8>, PathAction>;

/// The wanted state. Paths are relative to the repository.
pub(super) struct Wanted {
    pub(super) head: HeadPosition,
    /// Tracked files that differed from HEAD and untracked ones of a kind, with their content on disk.
    pub(super) uncommitted: BTreeMap<Vec<u8>, Option<Oid>>,
    /// Those of them that git did not track.
    pub(super) untracked: BTreeSet<Vec<u8>>,
    /// Untracked files of no kind that existed; `None` if unknown.
    pub(super) others: Option<BTreeSet<Vec<u8>>>,
}

impl Wanted {
    /// Returns the state of that commit without changes.
    pub(super) fn at_head(head: HeadPosition) -> Self {
        let (uncommitted, untracked) = (BTreeMap::new(), BTreeSet::new());
        Self {
            head,
            uncommitted,
            untracked,
            others: Some(BTreeSet::new()),
        }
    }
}

/// The wanted state and the current one.
pub(super) struct PlanView<'a> {
    pub(super) folders: &'a [(String, PackageFolder)],
    pub(super) classifier: &'a Classifier,
    pub(super) wanted: &'a Wanted,
}

impl PlanView<'_> {
    /// Returns content on disk that may not stay, and that must be kept.
    pub(super) fn restorable_items(
        &self,
        open: &mut OpenRepo,
        status: &WorkTreeStatus,
    ) -> Result<Items, GitError> {
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
            if let Some(leaf) = open.read_leaf(path)?
                && self.wanted.uncommitted.get(path) != Some(&Some(leaf.0))
            {
                items.insert(path.clone(), Some(leaf));
            }
        }
        Ok(items)
    }

    /// Returns earlier uncommitted content that is missing or changed now.
    pub(super) fn lost_contents(&self, open: &mut OpenRepo) -> Result<WantedContents, GitError> {
        let mut lost = Vec::new();
        for (path, blob) in &self.wanted.uncommitted {
            let is_module = self
                .in_head(open, path)?
                .is_some_and(|(_, mode)| mode == tree::GITLINK);
            if !is_module && open.read_leaf(path)?.map(|(id, _)| id) != *blob {
                lost.push((path.clone(), *blob));
            }
        }
        Ok(lost)
    }

    /// Returns the content of the wanted HEAD at a path.
    pub(super) fn in_head(&self, open: &OpenRepo, path: &[u8]) -> Result<Option<Leaf>, GitError> {
        tree::leaf_in(&open.repo, self.wanted.head.commit, path)
    }

    /// Returns the action for each path, after HEAD was set. `moved`: HEAD was at another commit.
    pub(super) fn make_plan(
        &self,
        open: &mut OpenRepo,
        status: &WorkTreeStatus,
        moved: bool,
    ) -> Result<RestorePlan, GitError> {
        let mut plan = RestorePlan::new();
        for (path, leaf) in &status.dirty {
            let act = self.for_dirty(open, path, leaf.map(|(id, _)| id), moved)?;
            plan.extend(act.map(|act| (path.clone(), act)));
        }
        for path in &status.untracked {
            if !self.wanted.uncommitted.contains_key(path)
                && (self.has_kind(path) || in_the_way(status, path))
            {
                plan.insert(path.clone(), PathAction::Head);
            }
        }
        plan.extend(
            self.lost_contents(open)?
                .into_iter()
                .map(|(path, blob)| (path, PathAction::Content(blob))),
        );
        Ok(plan)
    }

    /// Returns the action for a tracked path that differs from the wanted HEAD. `here` is the content on disk.
    fn for_dirty(
        &self,
        open: &OpenRepo,
        path: &[u8],
        here: Option<Oid>,
        moved: bool,
    ) -> Result<Option<PathAction>, GitError> {
        if open.is_state(path) {
            return Ok(moved.then_some(PathAction::Index));
        }
        if let Some(want) = self.wanted.uncommitted.get(path) {
            if *want != here {
                return Ok(Some(PathAction::Content(*want)));
            }
            if self.wanted.untracked.contains(path) {
                return Ok(Some(PathAction::Index));
            }
            // The record does not include staging. A file that HEAD lacks was staged. Others are assumed unstaged.
            return Ok((moved && self.in_head(open, path)?.is_some()).then_some(PathAction::Index));
        }
        Ok(Some(
            if self.in_head(open, path)?.is_some() || self.may_go(path) {
                PathAction::Head
            } else {
                PathAction::Index
            },
        ))
    }

    /// True if a file that the wanted HEAD lacks may be removed.
    ///
    /// It cannot be a user's.
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
            .filter_map(|(_, folder)| folder.path_inside(path));
        inside
            .into_iter()
            .any(|path| self.classifier.kind_of(path) != Kind::Other)
    }
}

/// True for an untracked file where a tracked file or its directory belongs.
fn in_the_way(status: &WorkTreeStatus, path: &[u8]) -> bool {
    let below = [path, b"/"].concat();
    tree::folders_above(path).any(|folder| status.dirty.contains_key(folder))
        || status
            .dirty
            .range(below.clone()..)
            .next()
            .is_some_and(|(found, _)| found.starts_with(&below))
}
