//! `ralph doctor`: what the machine has, and what of it this workspace needs and lacks. Changes nothing in the
//! workspace; starts nothing that a repository holds.

mod machine;
mod probe;
mod tools;
mod variables;

use super::environment::unsound;
use super::inspect::{Finding, Inspection, Level, Package};
use super::{CONFIG, Exit, Fault, FaultKind, Invocation, Opened, cache_folder, environment, ui};
use probe::Probe;
use serde_json::json;

/// `ralph doctor`: 1 only if something that this workspace needs is missing or does not work.
pub(super) fn doctor(call: &Invocation) -> Result<Exit, Fault> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = path.to_string_lossy();
    let (opened, workspace) = workspace(call)?;
    let inspection = opened.as_ref().map(Inspection::of);
    let probe = Probe::new(&path)?;
    let mut lines = vec![
        workspace,
        machine::kernel(),
        machine::supervision(&probe),
        machine::cache(),
    ];
    lines.extend(tools::ralphs(&path));
    lines.extend(tools::tools(&probe, inspection.as_ref()));
    lines.extend(tools::identity(&probe, inspection.as_ref()));
    lines.extend(tools::agents(&probe, inspection.as_ref()));
    if let Some(inspection) = &inspection {
        lines.extend(
            inspection
                .packages
                .iter()
                .flatten()
                .flat_map(tools::engines),
        );
        let mut add = |part: &str, found: Vec<Finding>| {
            lines.extend(found.into_iter().map(|found| Finding {
                rule: part.to_owned(),
                ..found
            }));
        };
        add("program", inspection.agents());
        add("program", inspection.programs());
        add("program", variables::not_passed(inspection));
        add("skip", inspection.skipped_gates());
        add("skip", skipped(inspection));
    }
    Ok(show(call.json, &lines))
}

/// The workspace if there is one that can be used. A missing one that was named is an error.
fn workspace(call: &Invocation) -> Result<(Option<Opened>, Finding), Fault> {
    let line = |level, what: &str, hint: &str| {
        Finding::error("machine", "workspace", what, hint).level(level)
    };
    let found = call.find();
    if found.is_err() && call.root.is_none() {
        let what = "there is none here, so nothing is needed";
        return Ok((None, line(Level::Absent, what, "`ralph init` makes one")));
    }
    let opened = call.read(found?)?;
    let Some(error) = &opened.error else {
        let root = opened.workspace.places.workspace.display().to_string();
        return Ok((Some(opened), line(Level::Ok, &root, "")));
    };
    let fault = unsound(error);
    Ok((None, line(Level::Error, &fault.what, &fault.hint)))
}

/// Returns the checks and features that the configuration turns off.
fn skipped(inspection: &Inspection<'_>) -> Vec<Finding> {
    let checks = &inspection.opened.workspace.settings.checks;
    let mut findings = Vec::new();
    let mut skip = |name: &str, what: &str, hint: &str| {
        findings.push(Finding::error("skip", name, what, hint).warning());
    };
    if checks.red.is_none() {
        let hint = "set checks.red to a command that fails if a test fails";
        skip(
            "checks.red",
            "whether the tests of TEST-FIRST fail at first is not checked",
            hint,
        );
    }
    if checks.green.is_none() {
        let hint = "set checks.green to the command that runs the tests";
        skip(
            "checks.green",
            "a checkpoint with nothing to commit waits for `ralph accept`",
            hint,
        );
    }
    let optional = inspection
        .rows
        .iter()
        .filter(|row| row.optional && row.mark.is_open())
        .count();
    if optional > 0 {
        let boxes = if optional == 1 { "box is" } else { "boxes are" };
        let what = format!("{optional} optional {boxes} left open");
        skip("optional", &what, "`ralph run --optional` takes them too");
    }
    findings
}

fn show(json: bool, lines: &[Finding]) -> Exit {
    let missing = lines
        .iter()
        .filter(|found| found.level == Level::Error)
        .count();
    let name = |found: &Finding| found.key.clone().unwrap_or_else(|| found.file.clone());
    let width = lines
        .iter()
        .map(|found| name(found).chars().count())
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
        let (name, what, hint) = (name(found), &found.what, &found.hint);
        if json {
            let mut line =
                json!({ "part": found.rule, "name": name, "state": state, "what": what });
            if !hint.is_empty() {
                line["hint"] = json!(hint);
            }
            ui::json(&line);
            continue;
        }
        ui::line(&format!("{state:<8} {name:<width$}  {what}"));
        if !hint.is_empty() {
            ui::line(&format!("{:<8} {:<width$}  hint: {hint}", "", ""));
        }
    }
    let words = match missing {
        0 => "healthy: nothing that is needed here is missing",
        1 => "1 thing that is needed here is missing",
        more => &format!("{more} things that are needed here are missing"),
    };
    ui::answer(
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
