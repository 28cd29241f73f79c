//! A gate from request to report: by a command, or by mutation of what was changed. And what it would judge, without judging
//! it: then no process is started, nothing is written.

use super::assertions;
use super::commands::Commands;
use super::engine::MutationEngine;
use super::scope::{GateScope, MutationExtent, TargetClass};
use super::verdict::{EngineResult, ModuleResult};
use super::{GateAbort, GatePorts, GateRequest, command_gate, standard_report};
use crate::config::GateSettings;
use crate::machine::facts::FileChange;
use crate::mutation::{ExcludedFile, GateReport, Verdict};
use crate::report::standard::title;
use crate::source::{Kind, text};
use serde::Serialize;
use std::time::Duration;

/// The next step if the work that a gate failed on is gone.
const RESTORE: &str = "Do the work again, so that the gate can judge it. Only a person can decide that it is not needed.";

/// Runs a gate. Never panics, never fails: every problem becomes a verdict.
#[tracing::instrument(target = "gate", skip_all, fields(gate = request.name))]
pub fn run_gate(
    request: &GateRequest,
    settings: &GateSettings,
    ports: &GatePorts<'_>,
) -> GateReport {
    let mut report = if let Some(argv) = &settings.run {
        run_command(request, settings, argv, ports)
    } else {
        match MutationEngine::of_gate(&request.name)[..] {
            [engine] => measure_engine(engine, request, settings, ports),
            ref several => measure_each(several, request, settings, ports),
        }
    };
    // An agent could undo its work to get out of a FAIL.
    if request.changed_since_fail.is_some()
        && let Verdict::Skip { why } = &report.verdict
    {
        let reason = format!("This gate failed, and now it has nothing to judge: {why}");
        report.verdict = Verdict::Fail {
            reasons: vec![reason, RESTORE.to_owned()],
        };
    }
    tracing::info!(target: "gate", verdict = report.verdict.word(), "judged");
    report
}

/// Runs the engine of each language that the family changed, one after the other, within one limit.
fn measure_each(
    engines: &[MutationEngine],
    request: &GateRequest,
    settings: &GateSettings,
    ports: &GatePorts<'_>,
) -> GateReport {
    let changes = request.packages.iter().flat_map(|package| &package.changes);
    let paths: Vec<String> = changes.map(|change| change.path.to_text()).collect();
    let mut joined: Option<GateReport> = None;
    for engine in engines
        .iter()
        .filter(|engine| paths.iter().any(|path| engine.judges_file(path)))
    {
        let used = Duration::from_millis(joined.as_ref().map_or(0, |report| report.millis));
        let settings = GateSettings {
            limit: settings.limit.saturating_sub(used),
            ..settings.clone()
        };
        let mut request = request.clone();
        request
            .folder
            .extend(engine.of_files().map(|files| files.file_language().name));
        let report = measure_engine(*engine, &request, &settings, ports);
        match &mut joined {
            Some(whole) => whole.join(report),
            none => *none = Some(report),
        }
    }
    let nothing = "No file of a language that has a mutation engine was changed.".to_owned();
    joined.unwrap_or_else(|| GateReport::from(Verdict::Skip { why: nothing }))
}

/// Returns the report of one engine, and writes the report for viewers next to it.
///
/// A FAIL names the page.
fn measure_engine(
    engine: MutationEngine,
    request: &GateRequest,
    settings: &GateSettings,
    ports: &GatePorts<'_>,
) -> GateReport {
    let mut judging = engine.judge_changes(request, settings, ports);
    let files = standard_report::files_of(&mut judging.results);
    let without_assertion = assertions::assertion_remark(request, &judging.scope);
    let mut report = judging.into_report(settings);
    if report.verdict == Verdict::Pass {
        report.remarks.extend(without_assertion);
    }
    let name = if request.task.is_empty() {
        &request.name
    } else {
        &request.task
    };
    let fails = matches!(report.verdict, Verdict::Fail { .. });
    let threshold = settings.threshold;
    let title = fails.then(|| title(name, &report, threshold));
    match standard_report::write_report(&request.folder, &files, threshold, title.as_deref()) {
        Ok(page) => drop(
            report
                .reports
                .splice(..0, page.map(|page| page.display().to_string())),
        ),
        Err(error) => {
            let why = text::line(&error.to_string(), 300);
            report.remarks.push(format!(
                "The report for viewers of mutation tests was not written: {why}."
            ));
        }
    }
    report
}

fn run_command(
    request: &GateRequest,
    settings: &GateSettings,
    argv: &[String],
    ports: &GatePorts<'_>,
) -> GateReport {
    let commands = Commands::new(ports, request, "logs", settings.limit);
    let mut result = ModuleResult::default();
    let mut passed = false;
    let mut skipped: Vec<String> = Vec::new();
    for package in request
        .packages
        .iter()
        .filter(|package| !package.changes.is_empty())
    {
        (ports.progress)(&format!(
            "Running {} in {}",
            text::line(&request.name, 100),
            package.name
        ));
        match command_gate::run_in_package(&commands, &request.name, argv, package) {
            Ok(None) => passed = true,
            Ok(Some(why)) => skipped.push(why),
            Err(abort) => {
                if matches!(abort, GateAbort::Fail { .. }) {
                    let production = package
                        .changes
                        .iter()
                        .filter(|c| c.kind == Kind::Production);
                    result.failing.extend(production.map(FileChange::full_path));
                }
                result.aborts.push(abort);
            }
        }
    }
    let judging = EngineResult {
        results: vec![result],
        used: commands.time_used(),
        ..EngineResult::default()
    };
    let mut report = judging.into_report(settings);
    if matches!(report.verdict, Verdict::Skip { .. }) {
        let reasons = text::names(&skipped, 5);
        report.verdict = match reasons.trim_end_matches('.') {
            _ if passed => Verdict::Pass,
            "" => Verdict::Skip {
                why: "No package was changed.".to_owned(),
            },
            reasons => Verdict::Skip {
                why: format!("{reasons}."),
            },
        };
    }
    report
}

/// Preview of a gate's scope.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Preview {
    /// Files and classes to mutate; empty for a gate that is a command.
    pub targets: Vec<PreviewTarget>,
    /// Changed files that are not judged, each with its reason.
    pub left_out: Vec<ExcludedFile>,
    /// Reasons why the verdict could only be ERROR or FAIL, whole sentences.
    pub refused: Vec<String>,
}

/// A file or class that would be mutated.
#[derive(Clone, Debug, Serialize)]
pub struct PreviewTarget {
    /// `<package>/<path>`.
    pub file: String,
    /// Test files that belong to it, paths in the package.
    pub tests: Vec<String>,
    /// Lines whose mutants count, first and last of each range; all of them if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<(u32, u32)>>,
}

/// Looks at the packages where the request has them.
pub fn preview_gate(request: &GateRequest, settings: &GateSettings) -> Preview {
    let mut preview = Preview::default();
    let engines = if settings.run.is_some() {
        Vec::new()
    } else {
        MutationEngine::of_gate(&request.name)
    };
    for engine in engines {
        let GateScope {
            modules,
            left_out,
            aborts,
        } = engine.find_scope(request, settings);
        preview.targets.extend(
            modules
                .iter()
                .flat_map(|module| &module.targets)
                .map(PreviewTarget::of_target),
        );
        preview.left_out.extend(left_out);
        for abort in aborts {
            match abort {
                GateAbort::Fail { reasons } => preview.refused.extend(reasons),
                GateAbort::Error { why, .. } => preview.refused.push(why),
            }
        }
    }
    preview
}

impl PreviewTarget {
    fn of_target(target: &TargetClass) -> Self {
        let lines = match &target.extent {
            MutationExtent::Class => None,
            MutationExtent::Lines(lines) | MutationExtent::Change(lines) => Some(lines.clone()),
        };
        Self {
            file: target.full_path(),
            tests: target.tests.iter().cloned().collect(),
            lines,
        }
    }
}
