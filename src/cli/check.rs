//! `ralph check`: everything that is wrong before a run.
//!
//! Owns: which parts are asked, and the list of what they find.
//!
//! Promises: says all at once, each with its place and what to do; changes nothing.
//!
//! Refuses to know: the rules of the parts.

use super::exit::Exit;
use super::ui;
use super::workspace::{Place, Workspace};
use crate::config::{Role, role_of};
use crate::engine::Fault;
use crate::machine::choice::is_required_open;
use crate::machine::decide::count;
use crate::task::{RemarkKind, TaskFile};
use serde::Serialize;
use std::collections::BTreeSet;

/// One thing that is wrong, or worth a look.
#[derive(Debug, Serialize)]
struct Finding {
    /// `error` stops a run; `warning` does not.
    level: &'static str,
    /// File and line.
    place: String,
    /// A whole sentence.
    what: String,
    /// The next action.
    hint: String,
}

/// `ralph check`: 0 when nothing is wrong, 1 when there are errors.
pub(super) fn check(place: &Place<'_>) -> Result<Exit, Fault> {
    let workspace = place.open()?;
    let mut findings = tasks(&workspace)?;
    if let Err(fault) =
        workspace.repositories().and_then(|mut packages| packages.snapshot().map_err(Fault::from))
    {
        findings.push(Finding {
            level: "error",
            place: "packages".to_owned(),
            what: fault.what,
            hint: fault.hint,
        });
    } else {
        findings.extend(packages(&workspace)?);
    }
    findings.extend(agents(&workspace)?);
    let errors = findings.iter().filter(|finding| finding.level == "error").count();
    for finding in &findings {
        if place.json {
            ui::json(finding);
        } else {
            ui::line(&format!("{}: {}: {}", finding.level, finding.place, finding.what));
            ui::line(&format!("  hint: {}", finding.hint));
        }
    }
    if !place.json {
        let warnings = findings.len() - errors;
        ui::line(&format!("{}, {}", count(errors as u64, "error"), count(warnings as u64, "warning")));
    }
    Ok(if errors == 0 { Exit::Done } else { Exit::WorkLeft })
}

fn tasks(workspace: &Workspace) -> Result<Vec<Finding>, Fault> {
    let path = workspace.places.tasks();
    let shown = workspace.places.shown(&path);
    let error = |what: &str, hint: &str| Finding {
        level: "error",
        place: shown.clone(),
        what: what.to_owned(),
        hint: hint.to_owned(),
    };
    let bytes = match fs_err::read(&path) {
        Ok(bytes) => bytes,
        Err(error_) if error_.kind() == std::io::ErrorKind::NotFound => {
            let hint = "write one, or set `spec:` in .ralph/config.yaml to its folder";
            return Ok(vec![error("There is no such file.", hint)]);
        }
        Err(error) => return Err(error.into()),
    };
    let file = TaskFile::parse(bytes, &workspace.grammar);
    let mut findings = Vec::new();
    if file.is_empty() {
        findings.push(error("There are no boxes in it.", "a task is a line such as `- [ ] 1. Do this`"));
    }
    findings.extend(file.problems().into_iter().map(|problem| Finding {
        level: "error",
        place: format!("{shown}:{}", problem.line),
        what: problem.message,
        hint: problem.hint,
    }));
    // A file without boxes is an error here, and said once.
    let remarks = file.remarks().into_iter().filter(|remark| remark.kind != RemarkKind::NoTasks);
    findings.extend(remarks.map(|remark| Finding {
        level: "warning",
        place: format!("{shown}:{}", remark.line),
        what: remark.message,
        hint: remark.hint,
    }));
    Ok(findings)
}

fn packages(workspace: &Workspace) -> Result<Vec<Finding>, Fault> {
    let mut packages = workspace.repositories()?;
    let snapshot = packages.snapshot()?;
    let mut findings = Vec::new();
    if snapshot.packages.is_empty() {
        findings.push(Finding {
            level: "error",
            place: "packages".to_owned(),
            what: format!("No git repository matches {}.", workspace.settings.packages.join(", ")),
            hint: "make one with `git init`, or name the folders under packages: in .ralph/config.yaml"
                .to_owned(),
        });
    }
    let state = workspace.read_state()?;
    for package in &snapshot.packages {
        let known = state.last_after.as_ref().and_then(|after| after.package(&package.name));
        for dirt in package.dirt.iter().filter(|dirt| known.is_none_or(|known| !known.dirt.contains(dirt))) {
            findings.push(Finding {
                level: "error",
                place: crate::machine::facts::full_path(&package.name, &dirt.path),
                what: "There are uncommitted changes that no attempt left.".to_owned(),
                hint: "commit, stash or remove them".to_owned(),
            });
        }
    }
    Ok(findings)
}

fn agents(workspace: &Workspace) -> Result<Vec<Finding>, Fault> {
    let state = workspace.read_state()?;
    let open = state.book().rows.iter().filter(|row| is_required_open(row));
    let roles: BTreeSet<Role> = open.filter_map(|row| role_of(&row.key.stage)).collect();
    let faults = super::run::missing_agents(workspace, &roles);
    Ok(faults
        .into_iter()
        .map(|fault| Finding {
            level: "error",
            place: ".ralph/config.yaml".to_owned(),
            what: fault.what,
            hint: fault.hint,
        })
        .collect())
}
