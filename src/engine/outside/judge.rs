//! Gates in the real world: the request from git's facts, the report back. A gate judges the commits that it names, or
//! gives no verdict.

use super::gate_log::GateLog;
use super::guard::weigh_trespass;
use super::private_checkout::{
    CacheFolder, CheckoutSources, InPlace, PrivateCheckout, SourcePackage, no_verdict,
};
use super::{Outside, artifacts};
use crate::config::{self, GateSettings};
use crate::engine::{Fault, FaultKind};
use crate::gate::{self, GatePackage, GatePorts, GateRequest, NoCheckouts, Preview};
use crate::machine::effect::GateOrder;
use crate::machine::event::{Event, Trespass};
use crate::machine::facts::{Accumulated, FileChange, Oid, Snapshot, full_path};
use crate::mutation::{GateReport, Verdict};
use crate::source::Shard;
use crate::source::text::{count, names};
use crate::sys::Spawn;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Uncommitted files that a remark names.
const NAMED: usize = 5;
/// Uncommitted files that a remark names of those that a command could see.
const SEEN: usize = 3;

/// Choices for a gate that runs alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct AloneChoice {
    /// Makes an outdated map of tests and classes again.
    pub makes_map: bool,
    /// Judges only this part of the target classes.
    pub shard: Option<Shard>,
}

/// A gate with everything that it needs.
pub(super) struct Prepared {
    request: GateRequest,
    pub(super) settings: GateSettings,
    /// The sources of a clean checkout.
    sources: CheckoutSources,
    /// Files in the packages' own folders that no commit holds, `<package>/<path>`.
    ///
    /// A command can see them.
    beside: Vec<String>,
}

impl Prepared {
    /// Runs the gate to its report.
    fn run_gate(&self, spawn: &dyn Spawn, progress: &(dyn Fn(&str) + Sync)) -> GateReport {
        let ports = GatePorts {
            spawn,
            progress,
            checkouts: &NoCheckouts,
        };
        if is_command_in_place(&self.settings) {
            let mut report = gate::run_gate(&self.request, &self.settings, &ports);
            report.remarks.extend(self.seen_beside());
            return report;
        }
        self.measure_gate(&ports)
            .unwrap_or_else(|fault| GateReport::from(no_verdict(fault)))
    }

    /// Runs a gate in its own folder, and copies its outputs back.
    fn measure_gate(&self, ports: &GatePorts<'_>) -> Result<GateReport, Fault> {
        let (cache, workspace) = (&self.request.cache, &self.sources.workspace);
        let clean = self.settings.folder == config::GateFolder::Clean;
        // Only engines can verify that outputs of an earlier gate belong to these sources.
        let kept = clean && self.settings.run.is_none();
        let folder = if kept {
            CacheFolder::take_folder(cache, workspace)?
        } else {
            CacheFolder::temporary_folder(cache)?
        };
        let run = folder.run_folder()?;
        let mut report = if clean {
            (ports.progress)("Checking out the commits");
            let checkout = PrivateCheckout::enter_checkout(&folder, &self.sources)?;
            let mut request = checkout.checked_out_request(&self.request)?;
            run.path().clone_into(&mut request.folder);
            let mut report = gate::run_gate(
                &request,
                &self.settings,
                &GatePorts {
                    checkouts: &checkout,
                    ..*ports
                },
            );
            checkout.leave_checkout(&mut report);
            report.remarks.extend(self.not_counted());
            report
        } else {
            let request = GateRequest {
                folder: run.path().to_owned(),
                ..self.request.clone()
            };
            gate::run_gate(
                &request,
                &self.settings,
                &GatePorts {
                    checkouts: &InPlace(&self.sources),
                    ..*ports
                },
            )
        };
        let to = &self.request.folder;
        let shown = to
            .strip_prefix(workspace)
            .unwrap_or(to)
            .display()
            .to_string();
        artifacts::copy_out(&mut report, run.path(), to, &shown)?;
        Ok(report)
    }

    /// A remark about what is not committed.
    fn not_counted(&self) -> Option<String> {
        let all = self.request.packages.iter();
        let all = all.flat_map(|package| {
            package
                .dirt
                .iter()
                .map(|path| full_path(&package.name, path))
        });
        let named = names(all, NAMED);
        (!named.is_empty()).then(|| format!("What is not committed does not count: {named}."))
    }

    /// A remark about what a command could see and no commit holds.
    fn seen_beside(&self) -> Option<String> {
        let named = names(&self.beside, SEEN);
        let paths = count(self.beside.len() as u64, "path");
        (!self.beside.is_empty()).then(|| {
            format!("It could see {paths} that no commit holds: {named}; `where: clean` shows it the commits alone.")
        })
    }
}

impl Outside {
    /// Runs a gate; `None` when ralph's end cut it short.
    pub(super) fn run_gate(&mut self, order: &GateOrder) -> Result<Option<Event>, Fault> {
        let ended = |report, changes, left, trespass| {
            let (report, heads) = (Box::new(report), order.snapshot.heads());
            Ok(Some(Event::GateEnded {
                report,
                heads,
                changes,
                left,
                tasks_changed: false,
                trespass,
            }))
        };
        let Some(changes) = self.changes_to_judge(order)? else {
            let report = no_changes_known(&order.key.written_name(order.line));
            return ended(report, Vec::new(), String::new(), Trespass::default());
        };
        let Some(_slot) = self.take_heavy_slot()? else {
            return Ok(None);
        };
        let folder = self.own_folder(self.iteration_folder(order.iteration)?.join("gate"))?;
        let prepared = self.prepare_gate(
            order,
            &changes,
            folder.clone(),
            self.iteration_tag(order.iteration),
        )?;
        let iteration = self.iteration_folder(order.iteration)?;
        let aside = iteration.join("inputs");
        let log = GateLog::new(iteration.join("gate.log"));
        let (report, trespass) =
            self.run_guarded(&order.snapshot, &aside, order.iteration, |world| {
                let progress = |text: &str| {
                    log.add_step(text);
                    (world.parts.progress)(text);
                };
                Ok(prepared.run_gate(&world.parts.supervisor, &progress))
            })?;
        let mut report = self.secrets.of_report(report);
        if self.parts.interrupts.first().is_some() {
            return Ok(None);
        }
        weigh_trespass(
            &mut report,
            order.name(),
            &trespass,
            &self.parts.places.display_path(&aside),
        );
        let left = artifacts::digest_of_folder(&folder).unwrap_or_default();
        ended(report, changes, left, trespass)
    }

    /// Runs a gate of which no journal tells, with its report as everybody may read it.
    pub(super) fn run_alone(
        &mut self,
        prepared: &Prepared,
        before: &Snapshot,
    ) -> Result<GateReport, Fault> {
        let aside = prepared.request.folder.with_extension("inputs");
        let (mut report, trespass) = self.run_guarded(before, &aside, 0, |world| {
            Ok(prepared.run_gate(&world.parts.supervisor, &*world.parts.progress))
        })?;
        weigh_trespass(
            &mut report,
            &prepared.request.name,
            &trespass,
            &aside.display().to_string(),
        );
        Ok(self.secrets.of_report(report))
    }

    /// Returns the changes to judge for a gate's order; `None` if none are known.
    fn changes_to_judge(&mut self, order: &GateOrder) -> Result<Option<Vec<FileChange>>, Fault> {
        let changes = match &order.changes {
            Some(changes) => changes.clone(),
            None if order.accumulated.is_empty() => return Ok(None),
            None => self.current_changes(&order.accumulated)?,
        };
        let may_be_none = order.changes.is_none() && !order.accumulated.everything;
        Ok(Some(changes).filter(|changes| may_be_none || !changes.is_empty()))
    }

    /// A gate alone: judges these changes, touches no box and no journal.
    pub fn judge_alone(
        &mut self,
        name: &str,
        changes: &[FileChange],
        bases: &BTreeMap<String, Oid>,
        folder: PathBuf,
        choice: AloneChoice,
    ) -> Result<GateReport, Fault> {
        let snapshot = self.parts.repositories.take_snapshot()?;
        let accumulated = Accumulated {
            bases: bases.clone(),
            ..Accumulated::default()
        };
        let order = GateOrder::alone(name, snapshot, accumulated);
        let mut prepared =
            self.prepare_gate(&order, changes, folder, format!("{}-alone", self.tag))?;
        prepared.request.makes_map = choice.makes_map;
        prepared.request.shard = choice.shard;
        self.run_alone(&prepared, &order.snapshot)
    }

    /// Returns the scope of a gate, from the files in the packages' own folders.
    pub fn preview_gate(&mut self, order: &GateOrder) -> Result<Preview, Fault> {
        let changes = self.current_changes(&order.accumulated)?;
        let prepared = self.prepare_gate(order, &changes, PathBuf::new(), String::new())?;
        Ok(gate::preview_gate(&prepared.request, &prepared.settings))
    }

    /// Runs a gate on earlier commits and changes, recorded or found in a history.
    ///
    /// Touches no box and no journal. Returns its report, and the folder with its outputs.
    ///
    /// Errors: a package that does not exist, a gate that is not configured.
    pub fn judge_again(
        &mut self,
        order: &GateOrder,
        changes: &[FileChange],
    ) -> Result<(GateReport, PathBuf), Fault> {
        if let Some(gone) = changes.iter().find(|change| {
            self.parts
                .repositories
                .package_root(&change.package)
                .is_none()
        }) {
            let what = format!("The package {} is not there.", gone.package);
            return Err(Fault::new(
                FaultKind::Unknown,
                what,
                "restore its directory, or replay a bundle",
            ));
        }
        let folder = self.folder_alone()?;
        let mut prepared = self.prepare_gate(
            order,
            changes,
            folder.clone(),
            format!("{}-again", self.tag),
        )?;
        // The packages' folders hold later commits.
        prepared.settings.folder = config::GateFolder::Clean;
        // Audits and replays also judge work trees of which no snapshot can be taken.
        let report = self.run_alone(&prepared, &Snapshot::default())?;
        (self.parts.progress)("");
        Ok((report, folder))
    }

    /// Makes a gate ready to judge these changes.
    pub(super) fn prepare_gate(
        &mut self,
        order: &GateOrder,
        changes: &[FileChange],
        folder: PathBuf,
        tag: String,
    ) -> Result<Prepared, Fault> {
        let settings = self
            .parts
            .settings
            .gates
            .get(order.name())
            .cloned()
            .ok_or_else(|| {
                let what = format!("The gate {} is not configured.", order.name());
                Fault::setup_fault(what, "name it under gates: in .ralph/config.yaml")
            })?;
        let names: BTreeSet<&String> = changes.iter().map(|change| &change.package).collect();
        let moved = self.parts.repositories.find_moved(changes)?;
        let packages = names
            .iter()
            .filter_map(|name| self.gate_package(name, order, changes, &moved).transpose());
        let packages = packages.collect::<Result<_, _>>()?;
        let mut env = self.command_environment(&settings.env);
        let mut beside = Vec::new();
        if settings.run.is_some() {
            env.extend(gate_variables(order, &names));
        }
        if is_command_in_place(&settings) {
            for name in &names {
                let paths = self.parts.repositories.beside_commits(name)?;
                beside.extend(paths.iter().map(|path| full_path(name, path)));
            }
        }
        let request = GateRequest {
            name: order.name().to_owned(),
            task: if order.key.family.is_empty() {
                String::new()
            } else {
                order.key.written_name(order.line)
            },
            packages,
            former_targets: order.former_targets.clone(),
            changed_since_fail: order.changed_since_fail.clone(),
            no_tests_written: order.no_tests_written,
            confirms: order.is_last,
            folder,
            cache: self.parts.cache.clone(),
            tag,
            env,
            ..GateRequest::default()
        };
        let repositories = &self.parts.repositories;
        let heads = order.snapshot.heads();
        let sources = CheckoutSources {
            workspace: self.parts.places.workspace.clone(),
            packages: repositories
                .package_names()
                .into_iter()
                .filter_map(|name: String| {
                    let root = repositories.package_root(&name)?.to_owned();
                    let repository = repositories.repository_folder(&name)?.to_owned();
                    let head = heads.get(&name).cloned().unwrap_or_else(Oid::zero);
                    let base = order.accumulated.bases.get(&name).cloned();
                    Some((
                        name,
                        SourcePackage {
                            root,
                            repository,
                            head,
                            base,
                        },
                    ))
                })
                .collect(),
            judged: request
                .packages
                .iter()
                .map(|package| package.name.clone())
                .collect(),
            keep: settings.keep.clone(),
        };
        Ok(Prepared {
            request,
            settings,
            sources,
            beside,
        })
    }

    /// A package with what changed in it; `None` if it is no longer there.
    fn gate_package(
        &mut self,
        name: &str,
        order: &GateOrder,
        all: &[FileChange],
        moved: &[(FileChange, FileChange)],
    ) -> Result<Option<GatePackage>, Fault> {
        let repositories = &mut self.parts.repositories;
        let Some(root) = repositories.package_root(name).map(ToOwned::to_owned) else {
            return Ok(None);
        };
        let changes: Vec<FileChange> = all
            .iter()
            .filter(|change| change.package == name)
            .cloned()
            .collect();
        let here = moved.iter().filter(|(now, _)| now.package == name);
        let moved: BTreeMap<_, _> = here
            .map(|(now, old)| (now.path.clone(), old.clone()))
            .collect();
        let (mut lines, mut weakened) = (BTreeMap::new(), BTreeSet::new());
        for change in &changes {
            // The lines of a class that moved are those that it did not have before.
            let old = moved
                .get(&change.path)
                .map_or(&change.old, |before| &before.old)
                .clone();
            if let Some(known) = repositories.changed_lines(&FileChange {
                old,
                ..change.clone()
            })? {
                lines.insert(change.path.clone(), known);
            }
            if repositories.is_weakened(change, all)? {
                weakened.insert(change.path.clone());
            }
        }
        let (now, base) = (
            order.snapshot.package(name),
            order.accumulated.bases.get(name),
        );
        let tests_at_base = base
            .map(|base| repositories.test_paths_at(name, base))
            .transpose()?;
        let dirt = now
            .into_iter()
            .flat_map(|package| package.dirt.iter().chain(&package.untracked));
        Ok(Some(GatePackage {
            name: name.to_owned(),
            home: root.clone(),
            root,
            changes,
            classifier: Some(repositories.file_classifier().clone()),
            lines,
            moved,
            weakened,
            tests_at_base: tests_at_base.unwrap_or_default(),
            dirt: dirt.map(|dirt| dirt.path.clone()).collect(),
            base: base.cloned(),
            head: now.map(|package| package.head.clone()),
        }))
    }

    /// A new folder for what [`Outside::judge_alone`] leaves; the last few of them are kept.
    pub fn folder_alone(&self) -> Result<PathBuf, Fault> {
        Ok(artifacts::new_report_folder(&self.parts.cache)?)
    }

    /// These changes as they are now; for `ralph diff`.
    pub fn current_changes(&mut self, accumulated: &Accumulated) -> Result<Vec<FileChange>, Fault> {
        Ok(self.parts.repositories.sum_changes(accumulated)?)
    }
}

fn is_command_in_place(settings: &GateSettings) -> bool {
    settings.run.is_some() && settings.folder == config::GateFolder::InPlace
}

/// Returns the variables that describe a gate to its command; the packages one per line.
fn gate_variables(order: &GateOrder, packages: &BTreeSet<&String>) -> [(String, String); 3] {
    let task = if order.key.family.is_empty() {
        String::new()
    } else {
        order.key.written_name(order.line)
    };
    let packages = packages
        .iter()
        .map(|name| name.as_str())
        .collect::<Vec<_>>()
        .join("\n");
    [
        ("RALPH_GATE", order.name().to_owned()),
        ("RALPH_TASK", task),
        ("RALPH_PACKAGES", packages),
    ]
    .map(|(name, value)| (name.to_owned(), value))
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
