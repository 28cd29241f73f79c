//! What differs between commits: sums of changes over attempts, and changes since a revision.

use super::error::GitError;
use super::open::OpenRepo;
use super::places::Place;
use super::tree::{self, Delta, GITLINK};
use super::{Repositories, history};
use crate::machine::facts::{Accumulated, FileChange, FileStatus, Oid, Snapshot};
use crate::source::{Classifier, Kind, RepoPath, is_state_file};
use std::collections::BTreeMap;

impl Repositories {
    /// The sum's paths that differ between its bases and HEAD now, sorted by package and path: those that
    /// the attempts touched, or all when `everything` is set.
    ///
    /// Errors: a package of the sum that is no longer there (`NotFound`); a base that the repository no
    /// longer has (`Unreadable`).
    pub fn changes(&mut self, sum: &Accumulated) -> Result<Vec<FileChange>, GitError> {
        self.refresh()?;
        if let Some(gone) = sum.touched.keys().find(|name| self.root(name).is_none()) {
            return Err(GitError::not_found(
                format!("The package {gone}, which the attempts changed, is no longer there."),
                "Put its folder back, or reopen the task.",
            ));
        }
        self.sum_of_present(sum, None)
    }

    /// As [`Repositories::changes`], leaving out packages that are not there; up to the HEADs of a look
    /// that has just been taken, else up to HEAD as it stands.
    pub(super) fn sum_of_present(
        &mut self,
        sum: &Accumulated,
        seen: Option<&Snapshot>,
    ) -> Result<Vec<FileChange>, GitError> {
        let mut all = Vec::new();
        for name in self.names() {
            let touched = sum.touched.get(&name);
            if touched.is_none() && !sum.everything {
                continue;
            }
            let base = sum.bases.get(&name).cloned().unwrap_or_else(Oid::zero);
            let mut changes = match seen.and_then(|seen| seen.package(&name)) {
                Some(now) => self.changed_between(&name, &base, &now.head)?,
                None => self.since_base(&name, &base)?,
            };
            if !sum.everything {
                changes.retain(|change| touched.is_some_and(|paths| paths.contains(&change.path)));
            }
            all.append(&mut changes);
        }
        all.sort();
        Ok(all)
    }

    /// What differs in every package between HEAD and where it left a revision, and the commits where it did; a
    /// package that does not know the revision is an error (`NotFound`).
    pub fn changes_since(&mut self, rev: &str) -> Result<(Vec<FileChange>, BTreeMap<String, Oid>), GitError> {
        let bases = self.left_at(rev)?;
        let mut all = Vec::new();
        for (name, base) in &bases {
            all.append(&mut self.since_base(name, base)?);
        }
        all.sort();
        Ok((all, bases))
    }

    /// What differs between a base (zeros: the empty tree, or what a clone began with) and HEAD.
    pub(super) fn since_base(&mut self, name: &str, base: &Oid) -> Result<Vec<FileChange>, GitError> {
        let (_, open) = self.package(name)?;
        let head = open.head().map_err(|error| error.in_package(name))?.commit;
        self.changed_between(name, base, &head.map_or_else(Oid::zero, tree::fact_of))
    }

    /// What differs between a base, as in [`Repositories::since_base`], and a commit.
    pub(super) fn changed_between(
        &mut self,
        name: &str,
        base: &Oid,
        head: &Oid,
    ) -> Result<Vec<FileChange>, GitError> {
        if base == head {
            return Ok(Vec::new());
        }
        let classifier = self.classifier.clone();
        let (place, open) = self.package(name)?;
        let found = || {
            let head = tree::oid_of(head)?;
            let base = match (tree::oid_of(base)?, head) {
                (None, Some(head)) => history::clone_base(&open.repo, head)?,
                (base, _) => base,
            };
            between(name, &place, open, &classifier, base, head)
        };
        found().map_err(|error| error.in_package(name))
    }
}

/// The changes of one package between two commits.
fn between(
    name: &str,
    place: &Place,
    open: &OpenRepo,
    classifier: &Classifier,
    old: Option<git2::Oid>,
    new: Option<git2::Oid>,
) -> Result<Vec<FileChange>, GitError> {
    let old = tree::tree_of(&open.repo, old, &place.prefix)?;
    let new = tree::tree_of(&open.repo, new, &place.prefix)?;
    let deltas = tree::diff(&open.repo, old.as_ref(), new.as_ref())?;
    Ok(deltas
        .into_iter()
        .filter(|delta| !is_state_file(&delta.path))
        .map(|delta| change_of(name, &delta, classifier))
        .collect())
}

fn change_of(name: &str, delta: &Delta, classifier: &Classifier) -> FileChange {
    let is_module = [delta.old, delta.new].iter().flatten().any(|(_, mode)| *mode == GITLINK);
    FileChange {
        package: name.to_owned(),
        path: RepoPath::from_bytes(&delta.path),
        status: match (delta.old, delta.new) {
            (None, _) => FileStatus::Added,
            (_, None) => FileStatus::Deleted,
            _ => FileStatus::Modified,
        },
        kind: if is_module { Kind::Other } else { classifier.kind_of(&delta.path) },
        old: delta.old.map(|(id, _)| tree::fact_of(id)),
        new: delta.new.map(|(id, _)| tree::fact_of(id)),
    }
}
