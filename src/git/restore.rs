//! Restores repositories to an earlier state, after keeping the current content.
//!
//! Promises: nothing is removed from the disk that is not in a kept commit, in the restored commit, or in its place
//! already. A second call after a crash ends in the same state. Ignored files and untracked files of other kinds are
//! never touched.

use super::backup_refs::{self, Backup, Items, Load};
use super::error::{DescribeFailure as _, GitError};
use super::open::{HeadPosition, OpenRepo};
use super::package_folders::PackageFolder;
use super::plan::{PlanView, Wanted};
use super::tree::{self, Leaf};
use super::walk::WorkTreeStatus;
use super::{Repositories, apply, history};
use crate::machine::event::KeptWork;
use crate::machine::facts::{Dirt, Observation, PackageChange, Snapshot};
use crate::source::RepoPath;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The packages of an observation to restore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoreExtent {
    /// Those whose history was rewritten or whose branch was switched.
    Breaches,
    /// Those of `Breaches`, and those whose HEAD is another commit.
    Moved,
    /// All whose state differs from that before the attempt (reviewers, FINAL).
    All,
}

impl Repositories {
    /// Restores packages to `before`.
    ///
    /// First keeps HEAD and uncommitted content under `reference` (`refs/ralph/rejected/7`, or `<ref>-2` … if that
    /// keeps something else), then moves the branch and HEAD, and restores index and work tree. Uncommitted content
    /// of before stays unchanged. A path is `unrestored` if an attempt changed such content and its bytes are
    /// nowhere. Packages that appeared or vanished are left alone. A second call after a crash ends in the same
    /// state.
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn put_back(
        &mut self,
        before: &Snapshot,
        observation: &Observation,
        extent: RestoreExtent,
        iteration: u64,
        reference: &str,
    ) -> Result<Vec<KeptWork>, GitError> {
        backup_refs::check_name(reference)?;
        self.refresh_packages()?;
        let chosen: BTreeSet<PathBuf> = before
            .packages
            .iter()
            .filter(|was| {
                let mut seen = observation
                    .packages
                    .iter()
                    .filter(|seen| seen.name == was.name);
                match extent {
                    RestoreExtent::Breaches => seen.any(PackageChange::is_breach),
                    RestoreExtent::Moved => seen.any(|seen| seen.is_breach() || seen.head_moved),
                    RestoreExtent::All => observation.after.package(&was.name) != Some(was),
                }
            })
            .filter_map(|was| self.folders.get(&was.name))
            .map(|folder| folder.repo.clone())
            .collect();
        let mut done = Vec::new();
        for (repo, names) in self.by_repository() {
            if !chosen.contains(&repo) {
                continue;
            }
            let Some(wanted) = self.wanted_state(before, &names)? else {
                continue;
            };
            let message = format!("ralph: what iteration {iteration} left");
            done.extend(self.restore_packages(&names, &wanted, &message, reference)?);
        }
        Ok(done)
    }

    /// Keeps these leftovers under `reference` and restores HEAD's state of them.
    ///
    /// Tracked files are checked out, untracked ones are removed from the work tree. Paths that are clean now are
    /// skipped.
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn keep_aside(
        &mut self,
        leftovers: &BTreeMap<String, Vec<Dirt>>,
        reference: &str,
    ) -> Result<Vec<KeptWork>, GitError> {
        backup_refs::check_name(reference)?;
        self.refresh_packages()?;
        let mut done = Vec::new();
        for names in self.by_repository().into_values() {
            let mut aside = BTreeSet::new();
            for (name, dirt) in leftovers.iter().filter(|(name, _)| names.contains(*name)) {
                let Some(folder) = self.folders.get(name) else {
                    continue;
                };
                aside.extend(
                    dirt.iter()
                        .map(|dirt| folder.in_repo(&dirt.path.to_bytes())),
                );
            }
            let Some(first) = names.first().filter(|_| !aside.is_empty()) else {
                continue;
            };
            let wanted = self.in_package(first, |_, open, _| {
                let (head, status) = open.read_status()?;
                let mut wanted = Wanted::at_head(head);
                for (path, leaf) in status
                    .dirty
                    .iter()
                    .filter(|(path, _)| !aside.contains(*path))
                {
                    wanted
                        .uncommitted
                        .insert(path.clone(), leaf.map(|(id, _)| id));
                }
                for path in status
                    .untracked
                    .iter()
                    .filter(|path| !aside.contains(*path))
                {
                    if let Some((id, _)) = open.read_leaf(path)? {
                        wanted.uncommitted.insert(path.clone(), Some(id));
                        wanted.untracked.insert(path.clone());
                    }
                }
                Ok(wanted)
            })?;
            done.extend(self.restore_packages(
                &names,
                &wanted,
                "ralph: leftovers of an attempt",
                reference,
            )?);
        }
        Ok(done)
    }

    /// Returns the state of a repository in a snapshot; `None` if none of its packages existed.
    pub(super) fn wanted_state(
        &self,
        before: &Snapshot,
        names: &[String],
    ) -> Result<Option<Wanted>, GitError> {
        let mut wanted: Option<Wanted> = None;
        for name in names {
            let (Some(state), Some(folder)) = (before.package(name), self.folders.get(name)) else {
                continue;
            };
            let commit = tree::oid_of(&state.head).map_err(|error| error.in_package(name))?;
            let head = HeadPosition {
                commit,
                branch: state.branch.clone(),
            };
            let wanted = wanted.get_or_insert_with(|| Wanted::at_head(head));
            for dirt in state.dirt.iter().chain(&state.untracked) {
                let blob = dirt.blob.as_ref().map(tree::oid_of).transpose();
                let blob = blob.map_err(|error| error.in_package(name))?.flatten();
                let path = folder.in_repo(&dirt.path.to_bytes());
                if dirt.untracked {
                    wanted.untracked.insert(path.clone());
                }
                wanted.uncommitted.insert(path, blob);
            }
            let others = self.others.get(name);
            wanted.others = wanted.others.take().zip(others).map(|(mut all, others)| {
                all.extend(others.iter().map(|path| folder.in_repo(path)));
                all
            });
        }
        Ok(wanted)
    }

    pub(super) fn restore_packages(
        &mut self,
        names: &[String],
        wanted: &Wanted,
        message: &str,
        reference: &str,
    ) -> Result<Vec<KeptWork>, GitError> {
        let Some(first) = names.first() else {
            return Ok(Vec::new());
        };
        let folders: Vec<(String, PackageFolder)> = names
            .iter()
            .filter_map(|name| Some((name.clone(), self.folders.get(name)?.clone())))
            .collect();
        self.in_package(first, |_, open, classifier| {
            restore_one(
                open,
                &PlanView {
                    folders: &folders,
                    classifier,
                    wanted,
                },
                message,
                reference,
            )
        })
    }
}

fn restore_one(
    open: &mut OpenRepo,
    view: &PlanView<'_>,
    message: &str,
    reference: &str,
) -> Result<Vec<KeptWork>, GitError> {
    let wanted = &view.wanted.head;
    let (from, status) = open.read_status()?;
    let moved = from != *wanted;
    let items = view.restorable_items(open, &status)?;
    let staged = staged_content(open, &status, &items, from.commit)?;
    let lost = view.lost_contents(open)?;
    if !moved && items.is_empty() && staged.is_empty() && lost.is_empty() {
        // An earlier call was complete, so only its reference is reported.
        let kept = open
            .find_reference(reference)?
            .and_then(|found| found.target());
        let kept = kept.filter(|commit| Some(*commit) != from.commit);
        let backup = kept.map(|commit| Backup {
            reference: reference.to_owned(),
            commit,
        });
        return Ok(view
            .folders
            .iter()
            .filter_map(|(name, _)| Some(backup.as_ref()?.kept_of(name, Vec::new())))
            .collect());
    }
    let load = Load {
        head: from.commit,
        safe: wanted.commit,
        items: &items,
        staged: &staged,
        message,
    };
    let Some(backup) = backup_refs::back_up(open, &load, reference)? else {
        return Ok(Vec::new());
    };
    if moved {
        keep_branch(open, wanted, &backup, reference, message)?;
    }
    apply::sync_objects(open)?;
    if moved {
        clear_way(open, wanted, reference, message)?;
        apply::move_head(open, wanted)?;
    }
    apply::end_half_done(open)?;
    open.index.forget_stamps();
    let (_, status) = open.read_status()?;
    let plan = view.make_plan(open, &status, moved)?;
    let mut done = apply::apply_plan(open, wanted, &plan, backup.commit)?;
    open.index.forget_stamps();
    let (_, status) = open.read_status()?;
    for path in status
        .dirty
        .keys()
        .filter(|path| !view.wanted.uncommitted.contains_key(*path))
    {
        if restore_module(open, view, path, message, reference)? {
            done.unrestored.remove(path);
            done.restored.insert(path.clone());
        }
    }
    Ok(view
        .folders
        .iter()
        .filter_map(|(name, folder)| {
            let unrestored: Vec<RepoPath> = done
                .unrestored
                .iter()
                .filter_map(|path| folder.path_inside(path))
                .map(RepoPath::from_bytes)
                .collect();
            let mut restored = done
                .restored
                .iter()
                .filter_map(|path| folder.path_inside(path));
            let is_touched = moved || !unrestored.is_empty() || restored.next().is_some();
            is_touched.then(|| backup.kept_of(name, unrestored))
        })
        .collect())
}

/// Restores a submodule that was clean before, after keeping its content in its own repository.
///
/// False if the path holds none, or its commit is missing.
fn restore_module(
    open: &mut OpenRepo,
    view: &PlanView<'_>,
    path: &[u8],
    message: &str,
    reference: &str,
) -> Result<bool, GitError> {
    let Some((commit, tree::GITLINK)) = view.in_head(open, path)? else {
        return Ok(false);
    };
    let Some(module) = open.modules.get_mut(path).and_then(Option::as_mut) else {
        return Ok(false);
    };
    if module.repo.find_commit(commit).is_err() {
        return Ok(false);
    }
    let head = module.read_head()?;
    // A branch that was checked out meanwhile may be a user's: it is not moved.
    let branch = head.branch.filter(|_| head.commit == Some(commit));
    let wanted = Wanted::at_head(HeadPosition {
        commit: Some(commit),
        branch,
    });
    let folders = [(
        String::new(),
        PackageFolder::whole_folder(module.root.clone()),
    )];
    let view = PlanView {
        folders: &folders,
        classifier: view.classifier,
        wanted: &wanted,
    };
    restore_one(module, &view, message, reference)?;
    Ok(true)
}

/// Returns content that is only in the index.
fn staged_content(
    open: &OpenRepo,
    status: &WorkTreeStatus,
    items: &Items,
    head: Option<git2::Oid>,
) -> Result<Vec<(Vec<u8>, Leaf)>, GitError> {
    let tree = tree::tree_of(&open.repo, head, b"")?;
    let mut found = Vec::new();
    for (path, entry) in open
        .index
        .tracked
        .iter()
        .filter(|(path, _)| items.contains_key(*path))
    {
        let on_disk = status.dirty.get(path).copied().flatten().map(|(id, _)| id);
        let in_head = tree::leaf_at(tree.as_ref(), path)?.map(|(id, _)| id);
        if entry.staged
            && ![on_disk, in_head].contains(&Some(entry.leaf.0))
            && entry.leaf.1 != tree::GITLINK
        {
            found.push((path.clone(), entry.leaf));
        }
    }
    Ok(found)
}

/// Moves other references in the way of the branch to the kept ones.
///
/// For example, `main/x` is in the way of `main`.
fn clear_way(
    open: &OpenRepo,
    wanted: &HeadPosition,
    reference: &str,
    message: &str,
) -> Result<(), GitError> {
    let Some(branch) = &wanted.branch else {
        return Ok(());
    };
    let doing = "list the references";
    let (below, mut in_way) = (format!("{branch}/"), Vec::new());
    for found in open.repo.references().with_action(doing)? {
        let found = found.with_action(doing)?;
        let Ok(name) = found.name() else { continue };
        if name.starts_with(&below) || branch.starts_with(&format!("{name}/")) {
            in_way.push(found);
        }
    }
    for mut found in in_way {
        if let Some(tip) = found.peel_to_commit().ok().map(|commit| commit.id()) {
            let load = Load {
                head: Some(tip),
                safe: None,
                items: &Items::new(),
                staged: &[],
                message,
            };
            backup_refs::back_up(open, &load, reference)?;
        }
        found
            .delete()
            .with_action("move a reference out of the way")?;
    }
    Ok(())
}

/// Keeps commits of the branch to be moved that neither HEAD nor the wanted commit has.
fn keep_branch(
    open: &OpenRepo,
    wanted: &HeadPosition,
    backup: &Backup,
    reference: &str,
    message: &str,
) -> Result<(), GitError> {
    let tip = wanted
        .branch
        .as_ref()
        .and_then(|branch| open.repo.refname_to_id(branch).ok());
    if let Some(tip) = tip
        && !history::is_in_one_of(&open.repo, [Some(backup.commit), wanted.commit], tip)?
    {
        let load = Load {
            head: Some(tip),
            safe: None,
            items: &Items::new(),
            staged: &[],
            message,
        };
        backup_refs::back_up(open, &load, reference)?;
    }
    Ok(())
}
