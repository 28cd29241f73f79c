//! A gate from request to report: by a command, or by mutation of what was changed.

use super::commands::Commands;
use super::java::run_mutation;
use super::javascript::Stryker;
use super::python::Mutmut;
use super::scope::Scope;
use super::verdict::{ModuleResult, conclude};
use super::{GateAbort, GatePorts, GateRequest, command_gate, files};
use crate::config::GateSettings;
use crate::machine::facts::FileChange;
use crate::mutation::{GateReport, Verdict};
use crate::source::{Kind, text};

/// Runs a gate. Never panics, never fails: every problem becomes a verdict.
pub fn run(request: &GateRequest, settings: &GateSettings, ports: &GatePorts<'_>) -> GateReport {
    match (&settings.run, request.name.as_str()) {
        (Some(argv), _) => run_command(request, settings, argv, ports),
        (None, "MUTMUT") => files::run(request, settings, ports, &Mutmut),
        (None, "STRYKER") => files::run(request, settings, ports, &Stryker),
        (None, _) => run_mutation(request, settings, ports),
    }
}

fn run_command(
    request: &GateRequest,
    settings: &GateSettings,
    argv: &[String],
    ports: &GatePorts<'_>,
) -> GateReport {
    let commands =
        Commands::new(ports, &request.env, request.folder.join("logs"), &request.tag, settings.limit);
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
    let mut report = conclude(settings, &Scope::default(), vec![result], commands.used());
    if matches!(report.verdict, Verdict::Skip { .. }) {
        let reasons = text::names(skipped.iter().map(String::as_str), 5);
        report.verdict = match reasons.trim_end_matches('.') {
            _ if passed => Verdict::Pass,
            "" => Verdict::Skip { why: "No package was changed.".to_owned() },
            reasons => Verdict::Skip { why: format!("{reasons}.") },
        };
    }
    report
}
