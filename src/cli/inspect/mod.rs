//! One look at a workspace: its configuration, task file, journal, packages, agents and programs. `check`,
//! `doctor`, `init` and the start of a run show parts of it.

mod agents;
pub(crate) mod engines;
mod finding;
mod forecast;
mod gates;
mod packages;
mod programs;
mod repositories;
mod specs;
pub(crate) mod tasks;

use super::{CONFIG, Fault, Opened, State, Workspace, base_environment};
pub(crate) use agents::{as_root, lacks_as_root, needed_roles};
pub(crate) use finding::{InspectionFinding, Level};
pub(crate) use packages::Package;
pub(crate) use programs::needs_maven;
pub(crate) use specs::{Spec, find_packages, find_specs, read_spec, task_file};

use crate::config::{ConfigError, Role, key_line};
use crate::task::Row;
use std::collections::BTreeSet;
use tasks::Read;

/// Contents of a workspace.
///
/// A part that cannot be read does not hide the others, and holds its own error.
pub(crate) struct Inspection<'a> {
    pub(crate) opened: &'a Opened,
    pub(crate) file: Result<Read, Box<InspectionFinding>>,
    pub(crate) state: Result<State, Box<InspectionFinding>>,
    /// The boxes of the task file, and the stages that have no line in it.
    pub(crate) rows: Vec<Row>,
    /// `None` if the configuration does not determine the packages.
    pub(crate) packages: Option<Vec<Package>>,
    repositories: Vec<InspectionFinding>,
}

impl<'a> Inspection<'a> {
    pub(crate) fn of_opened(opened: &'a Opened) -> Self {
        let workspace = &opened.workspace;
        let file = tasks::read_tasks(opened);
        // Problems of the task file are reported already, and do not hide the journal.
        let state = if file.is_ok() {
            workspace.read_state()
        } else {
            workspace.read_journal()
        };
        let state = state.map_err(|fault| {
            let found = InspectionFinding::new_error(
                "journal",
                ".ralph/state/journal.jsonl",
                fault.what,
                fault.hint,
            );
            Box::new(InspectionFinding {
                line: fault.line,
                ..found
            })
        });
        let rows = match (&state, &file) {
            (Ok(state), _) => state.spec_state().rows.to_vec(),
            (Err(_), Ok(read)) => read.boxes.clone(),
            (Err(_), Err(_)) => Vec::new(),
        };
        let (packages, repositories) =
            repositories::inspect_repositories(workspace, state.as_ref().ok());
        Self {
            opened,
            file,
            state,
            rows,
            packages,
            repositories,
        }
    }

    /// Returns all problems.
    ///
    /// If the configuration has a mistake, only the problems of the task file and the journal are
    /// added: the meaning of all others depends on it.
    pub(crate) fn all_findings(&self) -> Vec<InspectionFinding> {
        let mut all: Vec<InspectionFinding> =
            self.opened.error.iter().map(of_configuration).collect();
        // Only a sound configuration names the task file.
        if self.file.is_ok() || all.is_empty() {
            all.extend(of_task_file(&self.file, self.opened));
        }
        all.extend(self.state.as_ref().err().map(|fault| (**fault).clone()));
        if self.opened.error.is_some() {
            return all;
        }
        all.extend(self.repositories.iter().cloned());
        let state = self.state.as_ref().ok();
        all.extend(self.agent_findings());
        all.extend(agents::check_templates(
            &self.opened.workspace,
            state.map(needed_roles).as_ref(),
        ));
        all.extend(self.skipped_gates());
        all.extend(self.program_findings());
        if let Some(state) = state {
            all.extend(gates::of_old_work(
                state,
                &self.opened.workspace.places.spec_name(),
            ));
        }
        find_lines(&mut all, &self.opened.text);
        all
    }

    /// Agents that open boxes need and that could not be started.
    pub(crate) fn agent_findings(&self) -> Vec<InspectionFinding> {
        let Ok(state) = &self.state else {
            return Vec::new();
        };
        let (workspace, roles) = (&self.opened.workspace, needed_roles(state));
        let mut findings = agents::missing_agents(workspace, &roles);
        findings.extend(agents::agents_without_quota(workspace, &roles));
        findings
    }

    /// Gates that will have nothing to judge.
    pub(crate) fn skipped_gates(&self) -> Vec<InspectionFinding> {
        gates::with_nothing_to_judge(self, self.packages.as_deref().unwrap_or_default())
    }

    /// Programs that gates, checks and hooks need and that are missing.
    pub(crate) fn program_findings(&self) -> Vec<InspectionFinding> {
        let Some(packages) = &self.packages else {
            return Vec::new();
        };
        let mut findings = programs::of_gates(self, packages);
        findings.extend(programs::command_findings(&self.opened.workspace, packages));
        findings
    }
}

/// Returns the problems of a task file, alone or in its workspace.
pub(crate) fn of_task_file(
    read: &Result<Read, Box<InspectionFinding>>,
    opened: &Opened,
) -> Vec<InspectionFinding> {
    let read = match read {
        Ok(read) => read,
        Err(missing) => return vec![(**missing).clone()],
    };
    let mut findings = tasks::task_findings(read);
    findings.extend(forecast::forecast_findings(read, &opened.workspace));
    findings.extend(tasks::unused_sections(&read.file));
    find_lines(&mut findings, &opened.text);
    findings
}

/// The first reason why no attempt for these roles could begin.
pub(crate) fn can_start(workspace: &Workspace, roles: &BTreeSet<Role>) -> Result<(), Fault> {
    let templates = agents::check_templates(workspace, Some(roles)).into_iter();
    let errors = templates.filter(|found| found.level == Level::Error);
    let first = agents::missing_agents(workspace, roles)
        .into_iter()
        .chain(errors)
        .next();
    first.map_or(Ok(()), |finding| Err(finding.into_fault()))
}

/// A mistake in `.ralph/config.yaml`, in a flag or in a variable.
fn of_configuration(error: &ConfigError) -> InspectionFinding {
    let key = Some(error.kind.clone()).filter(|key| !key.is_empty());
    let found =
        InspectionFinding::new_error("config-error", &error.place, &error.what, &error.hint);
    InspectionFinding {
        line: error.line,
        key,
        ..found
    }
}

/// Adds the line to findings about a key of the configuration.
fn find_lines(findings: &mut [InspectionFinding], text: &str) {
    for finding in findings
        .iter_mut()
        .filter(|finding| finding.file == CONFIG && finding.line.is_none())
    {
        finding.line = finding.key.as_deref().and_then(|key| key_line(text, key));
    }
}
