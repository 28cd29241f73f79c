//! Gates in the real world: the request from git's facts, the report back. A gate judges the commits that it names, or
//! gives no verdict.

use super::private_checkout::{CacheFolder, PrivateCheckout, SourcePackage, Sources, no_verdict};
use super::{Outside, artifacts, private_folder};
use crate::config::{self, GateSettings};
use crate::engine::{Fault, Judged};
use crate::gate::{self, GatePackage, GatePorts, GateRequest, NoCheckouts};
use crate::machine::effect::GateOrder;
use crate::machine::facts::{Accumulated, FileChange, Oid, Snapshot, full_path};
use crate::mutation::{GateReport, Verdict};
use crate::source::text::names;
use crate::source::{ChangedLines, RepoPath};
use crate::sys::Spawn;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Uncommitted files that a remark names.
const NAMED: usize = 5;

/// A gate with everything that it needs.
struct Prepared {
    request: GateRequest,
    settings: GateSettings,
    /// What a clean checkout is made from.
    sources: Sources,
    /// The commits that it judges.
    heads: BTreeMap<String, Oid>,
    /// The changes that it judges.
    changes: Vec<FileChange>,
}

impl Prepared {
    /// Runs the gate to its report.
    fn run(&self, spawn: &dyn Spawn, progress: &(dyn Fn(&str) + Sync)) -> GateReport {
        let ports = GatePorts { spawn, progress, checkouts: &NoCheckouts };
        if self.settings.run.is_some() {
            return gate::run(&self.request, &self.settings, &ports);
        }
        self.measure(&ports).unwrap_or_else(|fault| GateReport::from(no_verdict(fault)))
    }

    /// Runs a mutation gate in its own folder, and brings home what it leaves.
    fn measure(&self, ports: &GatePorts<'_>) -> Result<GateReport, Fault> {
        let (cache, workspace) = (&self.request.cache, &self.sources.workspace);
        let clean = self.settings.place == config::Place::Clean;
        let folder =
            if clean { CacheFolder::take(cache, workspace)? } else { CacheFolder::temporary(cache)? };
        let run = folder.run()?;
        let mut report = if clean {
            (ports.progress)("Checking out the commits");
            let checkout = PrivateCheckout::enter(&folder, &self.sources)?;
            let mut request = checkout.request(&self.request)?;
            run.path().clone_into(&mut request.folder);
            let mut report =
                gate::run(&request, &self.settings, &GatePorts { checkouts: &checkout, ..*ports });
            checkout.leave(&mut report);
            report.remarks.extend(self.not_counted());
            report
        } else {
            let request = GateRequest { folder: run.path().to_owned(), ..self.request.clone() };
            gate::run(&request, &self.settings, ports)
        };
        artifacts::copy_out(
            &mut report,
            run.path(),
            &self.request.folder,
            &self.shown(&self.request.folder),
        )?;
        Ok(report)
    }

    /// A remark about what is not committed.
    fn not_counted(&self) -> Option<String> {
        let dirt = |package: &GatePackage| -> Vec<String> {
            package.dirt.iter().map(|path| full_path(&package.name, path)).collect()
        };
        let all: Vec<String> = self.request.packages.iter().flat_map(dirt).collect();
        let named = names(all.iter().map(String::as_str), NAMED);
        (!all.is_empty()).then(|| format!("What is not committed does not count: {named}."))
    }

    /// A path as a person in the workspace writes it.
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.sources.workspace).unwrap_or(path).display().to_string()
    }
}

impl Outside {
    pub(super) fn run_gate(&mut self, order: &GateOrder) -> Result<Option<Judged>, Fault> {
        let prepared = match self.prepare(order)? {
            Ok(prepared) => prepared,
            Err(known) => return Ok(Some(known)),
        };
        let mut report = prepared.run(&self.parts.supervisor, &*self.parts.progress);
        if self.parts.interrupts.first().is_some() {
            return Ok(None);
        }
        let Prepared { heads, changes, .. } = prepared;
        if self.parts.repositories.snapshot()?.heads() != heads {
            report.verdict = Verdict::Error {
                why: "HEAD moved while the gate ran.".to_owned(),
                hint: "make sure that nothing commits while gates run, then run the gate again".to_owned(),
                transient: true,
            };
        }
        Ok(Some(Judged { report, heads, changes }))
    }

    /// Makes ready what a gate's order asks for; the verdict at once if there is nothing to run it on.
    fn prepare(&mut self, order: &GateOrder) -> Result<Result<Prepared, Judged>, Fault> {
        let heads = order.snapshot.heads();
        let known = |heads, changes| {
            let report = no_changes_known(&order.key.to_string());
            Ok(Err(Judged { report, heads, changes }))
        };
        let given = order.changes.is_some();
        if !given && order.accumulated.is_empty() {
            return known(heads, Vec::new());
        }
        let changes = match &order.changes {
            Some(changes) => changes.clone(),
            None => self.parts.repositories.changes(&order.accumulated)?,
        };
        if changes.is_empty() && (given || order.accumulated.everything) {
            return known(heads, changes);
        }
        let folder = self.iteration_folder(order.iteration)?.join("gate");
        private_folder(&folder)?;
        let bases = &order.accumulated.bases;
        let mut request = self.request(&order.name, &changes, bases, &order.snapshot, folder)?;
        request.family.clone_from(&order.key.family);
        request.former_targets.clone_from(&order.former_targets);
        request.changed_since_fail.clone_from(&order.changed_since_fail);
        request.no_tests_written = order.no_tests_written;
        request.tag = self.tag(order.iteration);
        self.prepared(request, heads, changes, bases).map(Ok)
    }

    /// A gate alone: judges these changes, touches no box and no journal.
    pub fn judge_alone(
        &mut self,
        name: &str,
        changes: &[FileChange],
        bases: &BTreeMap<String, Oid>,
        folder: PathBuf,
    ) -> Result<GateReport, Fault> {
        let snapshot = self.parts.repositories.snapshot()?;
        let mut request = self.request(name, changes, bases, &snapshot, folder)?;
        request.tag = format!("{}-alone", self.tag);
        let prepared = self.prepared(request, snapshot.heads(), changes.to_vec(), bases)?;
        Ok(prepared.run(&self.parts.supervisor, &*self.parts.progress))
    }

    fn prepared(
        &self,
        request: GateRequest,
        heads: BTreeMap<String, Oid>,
        changes: Vec<FileChange>,
        bases: &BTreeMap<String, Oid>,
    ) -> Result<Prepared, Fault> {
        let settings = self.parts.settings.gates.get(&request.name).ok_or_else(|| {
            let what = format!("The gate {} is not configured.", request.name);
            Fault::setup(what, "name it under gates: in .ralph/config.yaml")
        })?;
        let settings = settings.clone();
        let package = |name: String| {
            let root = self.parts.repositories.root(&name)?.to_owned();
            let repository = self.parts.repositories.repository(&name)?.to_owned();
            let head = heads.get(&name).cloned().unwrap_or_else(Oid::zero);
            let base = bases.get(&name).cloned();
            Some((name, SourcePackage { root, repository, head, base }))
        };
        let sources = Sources {
            workspace: self.parts.places.workspace.clone(),
            packages: self.parts.repositories.names().into_iter().filter_map(package).collect(),
            judged: request.packages.iter().map(|package| package.name.clone()).collect(),
            keep: settings.keep.clone(),
        };
        Ok(Prepared { request, settings, sources, heads, changes })
    }

    /// A new folder for what [`Outside::judge_alone`] leaves; the last few of them are kept.
    pub fn folder_alone(&self) -> Result<PathBuf, Fault> {
        Ok(artifacts::alone(&self.parts.cache)?)
    }

    fn request(
        &mut self,
        name: &str,
        changes: &[FileChange],
        bases: &BTreeMap<String, Oid>,
        snapshot: &Snapshot,
        folder: PathBuf,
    ) -> Result<GateRequest, Fault> {
        let names: BTreeSet<&String> = changes.iter().map(|change| &change.package).collect();
        let mut packages = Vec::new();
        for name in names {
            let Some(root) = self.parts.repositories.root(name).map(ToOwned::to_owned) else { continue };
            let tests_at_base = match bases.get(name) {
                Some(base) => self.parts.repositories.test_paths_at(name, base)?,
                None => Vec::new(),
            };
            let dirt = snapshot.package(name).map(|package| {
                package.dirt.iter().chain(&package.untracked).map(|dirt| dirt.path.clone()).collect()
            });
            packages.push(GatePackage {
                name: name.clone(),
                root,
                changes: changes.iter().filter(|change| change.package == *name).cloned().collect(),
                lines: self.lines(name, changes)?,
                tests_at_base,
                dirt: dirt.unwrap_or_default(),
            });
        }
        Ok(GateRequest {
            name: name.to_owned(),
            family: String::new(),
            packages,
            former_targets: BTreeSet::new(),
            changed_since_fail: BTreeSet::new(),
            no_tests_written: false,
            folder,
            cache: self.parts.cache.clone(),
            tag: String::new(),
            env: self.parts.environment.clone(),
        })
    }

    /// Which lines of the changed files of a package changed, as far as it is known.
    fn lines(
        &mut self,
        package: &str,
        changes: &[FileChange],
    ) -> Result<BTreeMap<RepoPath, ChangedLines>, Fault> {
        let mut lines = BTreeMap::new();
        for change in changes.iter().filter(|change| change.package == package) {
            if let Some(known) = self.parts.repositories.changed_lines(change)? {
                lines.insert(change.path.clone(), known);
            }
        }
        Ok(lines)
    }

    /// These changes as they are now; for `ralph diff`.
    pub fn changes(&mut self, accumulated: &Accumulated) -> Result<Vec<FileChange>, Fault> {
        Ok(self.parts.repositories.changes(accumulated)?)
    }
}

fn no_changes_known(task: &str) -> GateReport {
    GateReport::from(Verdict::Error {
        why: format!("Nothing is known of what {task} should judge: there are no changes of its task."),
        hint:
            "name the base: `ralph gate <ID> --since REV`, or `ralph snapshot <TASK>` before the agent works"
                .to_owned(),
        transient: false,
    })
}
