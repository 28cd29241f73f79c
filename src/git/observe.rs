//! Observes an attempt's changes as git shows them.

use super::error::GitError;
use super::tree::{self, GITLINK};
use super::{Repositories, content, index, locks};
use crate::machine::facts::{
    Dirt, FileChange, Observation, ObserveRequest, Oid, PackageChange, PackageState, Snapshot,
};
use crate::source::{Kind, RepoPath, digest};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of listed stray files.
const MAX_STRAYS: usize = 20;

impl Repositories {
    /// Observes the changes of an attempt.
    ///
    /// The caller has made sure that none of the attempt's processes is alive: remaining git locks are stale and
    /// removed.
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn observe_attempt(&mut self, request: &ObserveRequest) -> Result<Observation, GitError> {
        self.refresh_packages()?;
        let mut removed = self.remove_locks()?;
        let (after, others) = self.look_at_all()?;
        self.check_new_objects(&request.before, &after)?;
        let mut packages = self.compare_packages(&request.before, &after)?;
        for change in &mut packages {
            let name = &change.name;
            change.locks_removed = removed.remove(name).unwrap_or_default();
            let Some(now) = others.get(name) else {
                continue;
            };
            let strays = self.find_strays(request, name, now);
            if request.others.is_some() {
                change.appeared_others = strays.iter().map(|path| digest(path)).collect();
            }
            let named = strays.into_iter().take(MAX_STRAYS);
            change.strays = named.map(|path| RepoPath::from_bytes(path)).collect();
            if let Some(before) = self.others.get(name) {
                change.gone = self.gone_files(request.before.package(name), before);
            }
        }
        self.note_lost(&mut packages, request.iteration)?;
        self.build_observation(request, after, packages)
    }

    /// Returns untracked files of no kind that were not there before the attempt; none if those before are unknown.
    fn find_strays<'f>(
        &self,
        request: &ObserveRequest,
        package: &str,
        now: &'f BTreeSet<Vec<u8>>,
    ) -> Vec<&'f Vec<u8>> {
        let known = request.others.as_ref().map(|others| others.get(package));
        match (known, self.others.get(package)) {
            (Some(Some(before)), _) => now
                .iter()
                .filter(|path| !before.contains(&digest(path)))
                .collect(),
            (None, Some(before)) => now.iter().filter(|path| !before.contains(*path)).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns untracked files of a package that are no longer on the disk.
    fn gone_files(
        &self,
        before: Option<&PackageState>,
        others: &BTreeSet<Vec<u8>>,
    ) -> Vec<RepoPath> {
        let Some((before, folder)) =
            before.and_then(|before| Some((before, self.folders.get(&before.name)?)))
        else {
            return Vec::new();
        };
        let known = before.untracked.iter().map(|dirt| dirt.path.to_bytes());
        let all = known.chain(others.iter().cloned());
        all.filter(|path| {
            content::on_disk(&folder.root, path)
                .symlink_metadata()
                .is_err()
        })
        .take(MAX_STRAYS)
        .map(|path| RepoPath::from_bytes(&path))
        .collect()
    }

    /// Repeats the observation from the objects alone.
    ///
    /// Facts that only the work tree of that moment showed are copied from the record: uncommitted changes, git
    /// locks, restored files outside git, failed edits.
    ///
    /// Errors: as those of [`Repositories::observe_attempt`], and a missing package (`NotFound`).
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn observe_again(
        &mut self,
        request: &ObserveRequest,
        recorded: &Observation,
    ) -> Result<Observation, GitError> {
        let after = recorded.after.clone();
        let mut packages = self.compare_packages(&request.before, &after)?;
        for change in &mut packages {
            let Some(known) = recorded
                .packages
                .iter()
                .find(|known| known.name == change.name)
            else {
                continue;
            };
            change.locks_removed.clone_from(&known.locks_removed);
            change.strays.clone_from(&known.strays);
            change.appeared_others.clone_from(&known.appeared_others);
            change.gone.clone_from(&known.gone);
            change.lost.clone_from(&known.lost);
            change.secret.clone_from(&known.secret);
            change.protected.clone_from(&known.protected);
        }
        let (inputs, edits) = (recorded.inputs.clone(), recorded.edits.clone());
        let (withheld, git_settings) = (recorded.withheld.clone(), recorded.git_settings.clone());
        let mut observation = self.build_observation(request, after, packages)?;
        if recorded.misplaced.is_none() {
            observation.misplaced = None;
        }
        if recorded.tests_owed.is_none() {
            // A ralph that compared test code by its lines wrote this record.
            observation.tests_owed = None;
            observation.stage_tests = recorded.stage_tests;
            observation
                .lost_production
                .clone_from(&recorded.lost_production);
            observation.lost_frozen.clone_from(&recorded.lost_frozen);
            observation
                .lost_reviewed
                .clone_from(&recorded.lost_reviewed);
            observation.shadows.clone_from(&recorded.shadows);
        }
        Ok(Observation {
            inputs,
            withheld,
            git_settings,
            edits,
            ..observation
        })
    }

    /// Returns a file's blob before and its current content. `before` is the package's earlier state.
    ///
    /// `None` where git does not show it: ralph's own files, ignored ones, and previously untracked ones, of which
    /// only the name was kept.
    #[tracing::instrument(target = "git", level = "debug", skip_all, err(level = "debug"))]
    pub fn before_and_now(
        &mut self,
        before: &PackageState,
        path: &RepoPath,
    ) -> Result<Option<[Option<Oid>; 2]>, GitError> {
        let bytes = path.to_bytes();
        let was_there = self
            .others
            .get(&before.name)
            .is_some_and(|others| others.contains(&bytes));
        self.in_package(&before.name, |folder, open, _| {
            let full = folder.in_repo(&bytes);
            let committed =
                tree::leaf_in(&open.repo, tree::oid_of(&before.head)?, &full)?.map(|(id, _)| id);
            let known = before
                .dirt
                .iter()
                .chain(&before.untracked)
                .find(|known| known.path == *path);
            let was_known = committed.is_some() || known.is_some();
            let ignored = !was_known
                && open
                    .repo
                    .is_path_ignored(tree::relative_path(&full))
                    .unwrap_or(false);
            if open.is_state(&full) || ignored || (was_there && !was_known) {
                return Ok(None);
            }
            let Ok(found) = open.read_leaf(&full) else {
                return Ok(None);
            };
            let then = known.map_or(committed.map(tree::fact_of), |known| known.blob.clone());
            let now = match (found, committed) {
                // Line ends alone are no difference to git.
                (Some(leaf), Some(blob))
                    if open
                        .content
                        .is_like(&open.repo, &open.root, &full, leaf, blob, &open.index.lfs)
                        .unwrap_or(false) =>
                {
                    Some(tree::fact_of(blob))
                }
                _ => found.map(|(id, _)| tree::fact_of(id)),
            };
            Ok(Some([then, now]))
        })
    }

    /// Returns the changes of every package.
    fn compare_packages(
        &mut self,
        before: &Snapshot,
        after: &Snapshot,
    ) -> Result<Vec<PackageChange>, GitError> {
        let both = before.packages.iter().chain(&after.packages);
        let names: BTreeSet<&str> = both.map(|package| package.name.as_str()).collect();
        names
            .into_iter()
            .map(|name| {
                let change = match after.package(name) {
                    Some(now) => self.compare_package(before, now)?,
                    None => PackageChange {
                        rewritten: true,
                        vanished: true,
                        ..PackageChange::default()
                    },
                };
                Ok(PackageChange {
                    name: name.to_owned(),
                    ..change
                })
            })
            .collect()
    }

    /// Adds the sums over the task's and the stage's attempts, and the lost lines.
    fn build_observation(
        &mut self,
        request: &ObserveRequest,
        after: Snapshot,
        mut packages: Vec<PackageChange>,
    ) -> Result<Observation, GitError> {
        packages.retain(|change| {
            !change.is_untouched() || !change.strays.is_empty() || !change.locks_removed.is_empty()
        });
        let mut observation = Observation {
            after,
            packages,
            ..Observation::default()
        };
        let mut family = request.family.clone();
        let mut stage = request.stage.clone();
        for sum in [&mut family, &mut stage] {
            sum.add(
                &request.before,
                observation
                    .packages
                    .iter()
                    .flat_map(|package| &package.changes),
            );
        }
        observation.family = self.sum_of_present(&family, Some(&observation.after))?;
        observation.stage = self.sum_of_present(&stage, Some(&observation.after))?;
        for change in &observation.stage {
            match change.kind {
                Kind::Test => {
                    observation.stage_tests = observation
                        .stage_tests
                        .saturating_add(self.tests_now(change)?);
                }
                Kind::Production | Kind::Build => {
                    observation
                        .lost_production
                        .extend(self.lost_production(change)?);
                }
                Kind::Other => {}
            }
        }
        observation.embedded =
            self.embedded_repositories(&observation.stage, &observation.after)?;
        let after = &observation.after;
        observation.lost_frozen =
            self.lost_of_frozen(&request.frozen, &observation.family, after)?;
        observation.lost_reviewed = self.lost_of_reviewed(&request.reviewed, after)?;
        let (shadows, misplaced) =
            self.find_misused_tests(&observation.stage, &observation.after)?;
        (observation.shadows, observation.misplaced) = (shadows, Some(misplaced));
        observation.tests_owed = Some(self.tests_owed(&observation.stage)?);
        Ok(observation)
    }

    /// Returns changes that add a repository inside the package without an entry in `.gitmodules`.
    ///
    /// The commit holds none of its files.
    fn embedded_repositories(
        &mut self,
        changes: &[FileChange],
        after: &Snapshot,
    ) -> Result<Vec<String>, GitError> {
        let mut found = Vec::new();
        for change in changes
            .iter()
            .filter(|change| change.kind == Kind::Other && change.new.is_some())
        {
            let Some(package) = after.package(&change.package) else {
                continue;
            };
            let is_embedded = self.in_package(&package.name, |folder, open, _| {
                let (head, path) = (
                    tree::oid_of(&package.head)?,
                    folder.in_repo(&change.path.to_bytes()),
                );
                let is_link = tree::leaf_in(&open.repo, head, &path)?
                    .is_some_and(|(_, mode)| mode == GITLINK);
                let described = tree::leaf_in(&open.repo, head, b".gitmodules")?;
                Ok(is_link && !index::submodule_folders(&open.repo, described)?.contains(&path))
            })?;
            if is_embedded {
                found.push(change.full_path());
            }
        }
        Ok(found)
    }

    fn remove_locks(&mut self) -> Result<BTreeMap<String, Vec<String>>, GitError> {
        let firsts = self
            .by_repository()
            .into_values()
            .filter_map(|names| names.into_iter().next());
        firsts
            .map(|name| {
                let locks = self.in_package(&name, |_, open, _| locks::remove_stale(&open.repo))?;
                Ok((name, locks))
            })
            .collect()
    }

    /// Returns the changes of one existing package.
    fn compare_package(
        &mut self,
        all_before: &Snapshot,
        now: &PackageState,
    ) -> Result<PackageChange, GitError> {
        let before = all_before.package(&now.name);
        let base = match before {
            Some(before) => before.head.clone(),
            None => self
                .base_of_sibling(all_before, &now.name)
                .unwrap_or_else(Oid::zero),
        };
        let changes = self.changed_between(&now.name, &base, Some(&now.head))?;
        let mut change = PackageChange {
            appeared: before.is_none(),
            head_moved: before.is_some_and(|before| before.head != now.head),
            branch_switched: before.is_some_and(|before| before.branch != now.branch),
            tests_delta: self.tests_delta(&changes)?,
            changes,
            dirt: new_dirt(before, now),
            ..PackageChange::default()
        };
        if let Some(before) = before.filter(|before| !before.head.is_zero()) {
            change.rewritten = !self.is_descendant(&now.name, &now.head, &before.head)?;
        }
        Ok(change)
    }

    /// Returns the base of a directory in a repository that held other packages before: their base.
    fn base_of_sibling(&self, before: &Snapshot, name: &str) -> Option<Oid> {
        let repo = &self.folders.get(name)?.repo;
        before
            .packages
            .iter()
            .find(|package| {
                self.folders
                    .get(&package.name)
                    .is_some_and(|p| p.repo == *repo)
            })
            .map(|package| package.head.clone())
    }
}

/// Returns tracked files that differ in a new way, and untracked files that were absent before.
fn new_dirt(before: Option<&PackageState>, now: &PackageState) -> Vec<Dirt> {
    let (dirt, untracked) = before.map_or((&[][..], &[][..]), |before| {
        (&*before.dirt, &*before.untracked)
    });
    let known: BTreeSet<&RepoPath> = untracked.iter().map(|dirt| &dirt.path).collect();
    let mut all: Vec<Dirt> = now
        .dirt
        .iter()
        .filter(|now| !dirt.contains(now))
        .cloned()
        .collect();
    all.extend(
        now.untracked
            .iter()
            .filter(|now| !known.contains(&now.path))
            .cloned(),
    );
    all.sort();
    all
}
