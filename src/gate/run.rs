//! A gate from request to report: by a command, or by mutation of what was changed.

use super::commands::Commands;
use super::files::{self, FileEngine};
use super::java::judge_modules;
use super::verdict::{Judging, ModuleResult};
use super::{FILE_ENGINES, GateAbort, GatePorts, GateRequest, command_gate, standard_report};
use crate::config::GateSettings;
use crate::machine::facts::FileChange;
use crate::mutation::{GateReport, Verdict};
use crate::source::{Kind, text};
use std::time::Duration;

/// Runs a gate. Never panics, never fails: every problem becomes a verdict.
pub fn run(request: &GateRequest, settings: &GateSettings, ports: &GatePorts<'_>) -> GateReport {
    if let Some(argv) = &settings.run {
        return run_command(request, settings, argv, ports);
    }
    match request.name.as_str() {
        "MUTATION" => run_each(request, settings, ports),
        name => match FILE_ENGINES.iter().find(|engine| engine.gate() == Some(name)) {
            Some(engine) => reported(files::judge(request, settings, ports, *engine), request, settings),
            None => reported(judge_modules(request, settings, ports), request, settings),
        },
    }
}

/// Runs the engine of each language that the family changed, one after the other, within one limit.
fn run_each(request: &GateRequest, settings: &GateSettings, ports: &GatePorts<'_>) -> GateReport {
    let changes = request.packages.iter().flat_map(|package| &package.changes);
    let paths: Vec<String> = changes.map(|change| change.path.to_text()).collect();
    let has_java = paths.iter().any(|path| path.rsplit('.').next() == Some("java"));
    let is_changed = |engine: &&&dyn FileEngine| paths.iter().any(|path| engine.language().is_source(path));
    let mut reports = Vec::new();
    if has_java {
        reports.push(reported(judge_modules(request, settings, ports), request, settings));
    }
    for engine in FILE_ENGINES.iter().filter(is_changed) {
        let used = Duration::from_millis(reports.iter().map(|report: &GateReport| report.millis).sum());
        let settings = GateSettings { limit: settings.limit.saturating_sub(used), ..settings.clone() };
        let folder = request.folder.join(engine.language().name);
        let request = GateRequest { folder, ..request.clone() };
        reports.push(reported(files::judge(&request, &settings, ports, *engine), &request, &settings));
    }
    let joined = reports.into_iter().reduce(|mut whole, report| {
        whole.join(report);
        whole
    });
    let nothing = "No file of a language that has a mutation engine was changed.".to_owned();
    joined.unwrap_or_else(|| GateReport::from(Verdict::Skip { why: nothing }))
}

/// The gate's report, with that for viewers beside it; a FAIL names its page.
fn reported(mut judging: Judging, request: &GateRequest, settings: &GateSettings) -> GateReport {
    let files = standard_report::files_of(&mut judging.results);
    let mut report = judging.report(settings);
    let fails = matches!(report.verdict, Verdict::Fail { .. });
    match standard_report::write(&request.folder, &files, settings.threshold, fails) {
        Ok(page) => {
            let page = page.map(|page| page.display().to_string());
            report.reports.splice(..0, page);
        }
        Err(error) => {
            let why = text::line(&error.to_string(), 300);
            report.remarks.push(format!("The report for viewers of mutation tests was not written: {why}."));
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
    for package in request.packages.iter().filter(|package| !package.changes.is_empty()) {
        (ports.progress)(&format!("Running {} in {}", text::line(&request.name, 100), package.name));
        match command_gate::run(&commands, &request.name, argv, package) {
            Ok(None) => passed = true,
            Ok(Some(why)) => skipped.push(why),
            Err(abort) => {
                if matches!(abort, GateAbort::Fail { .. }) {
                    let production = package.changes.iter().filter(|c| c.kind == Kind::Production);
                    result.failing.extend(production.map(FileChange::full_path));
                }
                result.aborts.push(abort);
            }
        }
    }
    let judging = Judging { results: vec![result], used: commands.used(), ..Judging::default() };
    let mut report = judging.report(settings);
    if matches!(report.verdict, Verdict::Skip { .. }) {
        let reasons = text::names(&skipped, 5);
        report.verdict = match reasons.trim_end_matches('.') {
            _ if passed => Verdict::Pass,
            "" => Verdict::Skip { why: "No package was changed.".to_owned() },
            reasons => Verdict::Skip { why: format!("{reasons}.") },
        };
    }
    report
}
