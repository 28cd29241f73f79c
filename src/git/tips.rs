//! References other than the checked-out branch: branches, tags, stashes. Deleting one loses no commits.
//!
//! Promises: before an attempt one reference keeps all their commits, with their names. References that an attempt
//! removed or moved back are reported, and their commits stay kept. Branches of remotes are excluded: the remotes
//! have them.

use super::backup_refs::{self, pin_name};
use super::error::{DescribeFailure as _, GitError};
use super::open::OpenRepo;
use super::{Repositories, history};
use crate::machine::facts::{LostTips, PackageChange};
use git2::{Oid, Signature, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of kept references and stashes.
const MAX_TIPS: usize = 5_000;
/// Maximum number of listed lost references.
const MAX_NAMED: usize = 20;
const STASH: &str = "refs/stash";

/// The commit of each reference by its name, of stashes by their commit, because their numbers change.
type Tips = BTreeMap<String, Oid>;

impl OpenRepo {
    fn read_tips(&self) -> Result<Tips, GitError> {
        let (doing, mut tips) = ("list the references", Tips::new());
        for found in self.repo.references().with_action(doing)? {
            // An unreadable reference names nothing that could be kept.
            let Ok(found) = found else { continue };
            let Ok(name) = found.name() else { continue };
            if name == STASH || name.starts_with("refs/ralph") || name.starts_with("refs/remotes/")
            {
                continue;
            }
            if let Some(commit) = found.target().filter(|_| tips.len() < MAX_TIPS) {
                let commit = self
                    .repo
                    .find_commit(commit)
                    .or_else(|_| found.peel_to_commit());
                tips.extend(commit.ok().map(|commit| (name.to_owned(), commit.id())));
            }
        }
        if self.find_reference(STASH)?.is_some()
            && let Ok(log) = self.repo.reflog(STASH)
        {
            for entry in log.iter().take(MAX_TIPS) {
                let commit = self.repo.find_commit(entry.id_new());
                tips.extend(
                    commit
                        .ok()
                        .map(|commit| (format!("stash {}", commit.id()), commit.id())),
                );
            }
        }
        Ok(tips)
    }

    /// Keeps the commits of all other references under this one, until the next call.
    pub(super) fn pin_tips(&mut self, name: &str) -> Result<(), GitError> {
        let branch = self.read_head()?.branch;
        let mut tips = self.read_tips()?;
        tips.retain(|name, _| Some(name) != branch.as_ref());
        self.tips_before = Some(tips.clone());
        if tips.is_empty() {
            return Ok(());
        }
        let commit = self
            .commit_of_tips(&tips)
            .with_action("keep the commits of other branches")?;
        backup_refs::pin_commit(self, name, commit)
    }

    /// Creates a commit with these parents. The same parents give the same commit.
    fn commit_of_tips(&self, tips: &Tips) -> Result<Oid, git2::Error> {
        let parents: BTreeSet<Oid> = tips.values().copied().collect();
        let parents = parents
            .into_iter()
            .map(|id| self.repo.find_commit(id))
            .collect::<Result<Vec<_>, _>>()?;
        let tree = self.repo.find_tree(self.repo.treebuilder(None)?.write()?)?;
        let by = Signature::new("ralph", "ralph@localhost", &Time::new(0, 0))?;
        let lines = tips
            .iter()
            .map(|(name, commit)| format!("{commit} {name}\n"));
        let message = format!("ralph: before an attempt\n\n{}", lines.collect::<String>());
        self.repo.commit(
            None,
            &by,
            &by,
            &message,
            &tree,
            &parents.iter().collect::<Vec<_>>(),
        )
    }

    /// Returns the references of the last [`OpenRepo::pin_tips`], after a restart those in its commit.
    fn known_tips(&self, name: &str) -> (Tips, Option<Oid>) {
        let pinned = self
            .find_reference(name)
            .ok()
            .flatten()
            .and_then(|found| found.target());
        if let Some(tips) = &self.tips_before {
            return (tips.clone(), self.commit_of_tips(tips).ok());
        }
        let commit = pinned.and_then(|id| self.repo.find_commit(id).ok());
        let message = commit
            .as_ref()
            .map(|commit| String::from_utf8_lossy(commit.message_bytes()).into_owned());
        (
            message
                .iter()
                .flat_map(|text| {
                    text.lines().filter_map(|line| {
                        let (commit, name) = line.split_once(' ')?;
                        Some((name.to_owned(), Oid::from_str(commit).ok()?))
                    })
                })
                .collect(),
            pinned,
        )
    }

    /// Returns the references before the attempt whose commits neither they nor HEAD have now.
    fn lost_tips(&self, package: &str, iteration: u64) -> Result<Option<LostTips>, GitError> {
        let (before, pinned) = self.known_tips(&pin_name(&self.repo, "before-others", package));
        if before.is_empty() {
            return Ok(None);
        }
        let (now, head) = (self.read_tips()?, self.read_head()?.commit);
        let mut names = Vec::new();
        for (name, was) in &before {
            let is = now.get(name).copied();
            let is_kept = is == Some(*was)
                || history::is_in_one_of(&self.repo, [is, head], *was).unwrap_or(false);
            if !is_kept {
                let short: String = was.to_string().chars().take(10).collect();
                let bare = ["refs/heads/", "refs/tags/"]
                    .iter()
                    .find_map(|prefix| name.strip_prefix(prefix));
                let bare = if name.starts_with("stash ") {
                    "stash"
                } else {
                    bare.unwrap_or(name)
                };
                names.push(format!("{} {short}", crate::source::text::line(bare, 200)));
            }
        }
        if names.is_empty() {
            return Ok(None);
        }
        names.truncate(MAX_NAMED);
        let kept = pinned.filter(|commit| self.repo.find_commit(*commit).is_ok());
        let kept = match kept {
            None => String::new(),
            Some(commit) => {
                let (items, message) = (
                    backup_refs::Items::new(),
                    "ralph: references that an attempt took away",
                );
                let load = backup_refs::Load {
                    head: Some(commit),
                    safe: None,
                    items: &items,
                    staged: &[],
                    message,
                };
                let backup =
                    backup_refs::back_up(self, &load, &format!("refs/ralph/lost/{iteration}"))?;
                backup.map(|backup| backup.reference).unwrap_or_default()
            }
        };
        Ok(Some(LostTips { names, kept }))
    }
}

impl Repositories {
    /// Records lost references other than the checked-out branches, at the first package of each repository.
    pub(super) fn note_lost(
        &mut self,
        packages: &mut [PackageChange],
        iteration: u64,
    ) -> Result<(), GitError> {
        for names in self.by_repository().into_values() {
            let Some(first) = names.first() else { continue };
            let Some(change) = packages.iter_mut().find(|change| change.name == *first) else {
                continue;
            };
            change.lost = self.in_package(first, |_, open, _| open.lost_tips(first, iteration))?;
        }
        Ok(())
    }
}
