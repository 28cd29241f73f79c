//! `ralph doctor`: what the machine has, and what of it this workspace needs and lacks. Changes nothing in the
//! workspace; starts nothing that a repository holds.

mod machine;
mod probe;
mod tools;
mod variables;

use super::environment::unsound_settings;
use super::inspect::{Inspection, InspectionFinding, Level, Package};
use super::{
    CONFIG, Exit, Fault, FaultKind, Invocation, Opened, base_environment, cache_folder, ui,
};
use probe::Probe;
use serde_json::json;

/// `ralph doctor`: 1 only if something that this workspace needs is missing or does not work.
pub(super) fn run_doctor(call: &Invocation) -> Result<Exit, Fault> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = path.to_string_lossy();
    let (opened, workspace) = find_workspace(call)?;
    let inspection = opened.as_ref().map(Inspection::of_opened);
    let probe = Probe::new(&path)?;
    let mut lines = vec![
        workspace,
        machine::check_kernel(),
        machine::check_supervision(&probe),
        machine::check_cache(),
    ];
    lines.extend(tools::list_ralphs(&path));
    lines.extend(tools::check_tools(&probe, inspection.as_ref()));
    lines.extend(tools::check_identity(&probe, inspection.as_ref()));
    lines.extend(tools::check_agents(&probe, inspection.as_ref()));
    if let Some(inspection) = &inspection {
        lines.extend(
            inspection
                .packages
                .iter()
                .flatten()
                .flat_map(tools::check_engines),
        );
        for (part, found) in [
            ("program", inspection.agent_findings()),
            ("program", inspection.program_findings()),
            ("program", variables::not_passed(inspection)),
            ("skip", inspection.skipped_gates()),
            ("skip", skipped_parts(inspection)),
        ] {
            lines.extend(found.into_iter().map(|found| InspectionFinding {
                rule: part.to_owned(),
                ..found
            }));
        }
    }
    Ok(show_findings(call.json, &lines))
}

/// The workspace if there is one that can be used. A missing one that was named is an error.
fn find_workspace(call: &Invocation) -> Result<(Option<Opened>, InspectionFinding), Fault> {
    let found = call.find_workspace();
    if found.is_err() && call.root.is_none() {
        let what = "there is no workspace here, so nothing is needed";
        let hint = "`ralph init` makes one";
        return Ok((None, describe_workspace(Level::Absent, what, hint)));
    }
    let opened = call.read_settings(found?)?;
    let Some(error) = &opened.error else {
        let root = opened.workspace.places.workspace.display().to_string();
        return Ok((Some(opened), describe_workspace(Level::Ok, &root, "")));
    };
    let Fault { what, hint, .. } = unsound_settings(error);
    Ok((None, describe_workspace(Level::Error, &what, &hint)))
}

fn describe_workspace(level: Level, what: &str, hint: &str) -> InspectionFinding {
    InspectionFinding::new_error("machine", "workspace", what, hint).with_level(level)
}

/// Returns the checks and features that the configuration turns off.
fn skipped_parts(inspection: &Inspection<'_>) -> Vec<InspectionFinding> {
    let checks = &inspection.opened.workspace.settings.checks;
    let mut findings = Vec::new();
    if checks.red.is_none() {
        let what = "whether the tests of TEST-FIRST fail at first is not checked";
        let hint = "set checks.red to a command that fails if a test fails";
        findings.push(warn_of_skip("checks.red", what, hint));
    }
    if checks.green.is_none() {
        let what = "a checkpoint with nothing to commit waits for `ralph accept`";
        let hint = "set checks.green to the command that runs the tests";
        findings.push(warn_of_skip("checks.green", what, hint));
    }
    let optional = inspection
        .rows
        .iter()
        .filter(|row| row.optional && row.mark.is_open())
        .count();
    if optional > 0 {
        let boxes = if optional == 1 { "box is" } else { "boxes are" };
        let what = format!("{optional} optional {boxes} left open");
        let hint = "`ralph run --optional` takes them too";
        findings.push(warn_of_skip("optional", &what, hint));
    }
    findings
}

fn warn_of_skip(name: &str, what: &str, hint: &str) -> InspectionFinding {
    InspectionFinding::new_error("skip", name, what, hint).into_warning()
}

fn show_findings(json: bool, lines: &[InspectionFinding]) -> Exit {
    let missing = lines
        .iter()
        .filter(|found| found.level == Level::Error)
        .count();
    let width = lines
        .iter()
        .map(|found| shown_name(found).chars().count())
        .max()
        .unwrap_or(0);
    for found in lines {
        let state = match found.level {
            Level::Ok => "ok",
            Level::Absent => "absent",
            Level::Warning if found.rule == "skip" => "skipped",
            Level::Warning => "warning",
            Level::Error => "missing",
        };
        let (name, what, hint) = (shown_name(found), &found.what, &found.hint);
        if json {
            let mut line =
                json!({ "part": found.rule, "name": name, "state": state, "what": what });
            if !hint.is_empty() {
                line["hint"] = json!(hint);
            }
            ui::print_json(&line);
            continue;
        }
        ui::print_line(&format!("{state:<8} {name:<width$}  {what}"));
        if !hint.is_empty() {
            ui::print_line(&format!("{:<8} {:<width$}  hint: {hint}", "", ""));
        }
    }
    let words = match missing {
        0 => "healthy: nothing that is needed here is missing",
        1 => "1 thing that is needed here is missing",
        more => &format!("{more} things that are needed here are missing"),
    };
    ui::print_answer(
        json,
        &json!({ "healthy": missing == 0, "missing": missing }),
        words,
    );
    if missing == 0 {
        Exit::Done
    } else {
        Exit::WorkLeft
    }
}

fn shown_name(found: &InspectionFinding) -> &str {
    found.key.as_deref().unwrap_or(&found.file)
}
