//! Gates on commits that HEAD need not name: a work tree of this moment, and commits that are about to be pushed.

use super::Outside;
use crate::config::GateFolder;
use crate::engine::Fault;
use crate::git::WorkTree;
use crate::machine::effect::GateOrder;
use crate::machine::facts::{Accumulated, Oid};
use crate::mutation::GateReport;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Commits to judge, by package.
#[derive(Clone, Debug, Default)]
pub struct CommitRange {
    /// The commits before the work.
    pub bases: BTreeMap<String, Oid>,
    /// The commits with the work.
    pub heads: BTreeMap<String, Oid>,
}

impl Outside {
    /// Returns the commit that is checked out in each package.
    pub fn current_heads(&mut self) -> BTreeMap<String, Oid> {
        self.parts.repositories.current_heads()
    }

    /// Writes a commit of each package's work tree; see [`crate::git::Repositories::commit_work_trees`].
    pub fn commit_work_trees(&mut self) -> Result<BTreeMap<String, WorkTree>, Fault> {
        Ok(self.parts.repositories.commit_work_trees()?)
    }

    /// Returns the merge base of a commit and a revision in a package. Errors: the package does not know them.
    pub fn merge_base(
        &mut self,
        package: &str,
        commit: &Oid,
        revision: &str,
    ) -> Result<Oid, Fault> {
        let repositories = &mut self.parts.repositories;
        Ok(repositories.merge_base(package, commit, revision)?)
    }

    /// Returns the packages by name with the folders of their repositories.
    pub fn repositories_of_packages(&self) -> BTreeMap<String, PathBuf> {
        let repositories = &self.parts.repositories;
        let names = repositories.package_names().into_iter();
        names
            .filter_map(|name| {
                let folder = repositories.repository_folder(&name)?.to_owned();
                Some((name, folder))
            })
            .collect()
    }

    /// Runs a gate on the changes between two commits of each package. It touches no box and no journal.
    ///
    /// `always_private`: the gate runs in a checkout of the commits even where its settings say `where: in-place`.
    pub fn judge_range(
        &mut self,
        name: &str,
        range: &CommitRange,
        folder: PathBuf,
        always_private: bool,
    ) -> Result<GateReport, Fault> {
        let before = self.parts.repositories.take_snapshot()?;
        let mut judged = before.clone();
        let mut changes = Vec::new();
        for package in &mut judged.packages {
            let Some(head) = range.heads.get(&package.name) else {
                continue;
            };
            let zero = Oid::zero();
            let base = range.bases.get(&package.name).unwrap_or(&zero);
            let of_package =
                &mut self
                    .parts
                    .repositories
                    .changes_from(&package.name, base, head)?;
            changes.append(of_package);
            package.head = head.clone();
            package.dirt.clear();
            package.untracked.clear();
        }
        changes.sort();
        let accumulated = Accumulated {
            bases: range.bases.clone(),
            ..Accumulated::default()
        };
        let order = GateOrder::alone(name, judged, accumulated);
        let tag = format!("{}-turn", self.tag);
        let mut prepared = self.prepare_gate(&order, &changes, folder, tag)?;
        if always_private {
            prepared.settings.folder = GateFolder::Clean;
        }
        self.run_alone(&prepared, &before)
    }
}
