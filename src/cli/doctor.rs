//! `ralph doctor`: whether the machine holds what this workspace needs.
//!
//! Owns: the parts that are looked at, and how a finding is shown.
//!
//! Promises: changes nothing in the workspace; every program is asked for its version alone, with a limit, in
//! an empty folder; nothing that the repositories hold is started. 1 only when something that this workspace
//! needs is missing or does not work.
//!
//! Refuses to know: what is wrong with tasks and repositories (`ralph check` does).

mod machine;
mod namesakes;
mod needs;
mod probe;
mod skips;
mod tools;

use super::exit::Exit;
use super::ui;
use super::workspace::{Place, Workspace};
use crate::engine::Fault;
use needs::Needs;
use probe::Probe;
use serde::Serialize;
use serde_json::json;

/// How a thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    /// There, and it answers.
    Ok,
    /// Not there, and nothing here needs it.
    Absent,
    /// Worth a look; nothing is missing.
    Warning,
    /// Would be passed over.
    Skipped,
    /// Needed, and not there or not working.
    Missing,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Absent => "absent",
            Self::Warning => "warning",
            Self::Skipped => "skipped",
            Self::Missing => "missing",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, Serialize)]
struct Finding {
    /// `machine`, `ralph`, `tool`, `agent`, `program` or `skip`.
    part: &'static str,
    /// Its name.
    name: String,
    /// How it is.
    state: State,
    /// Version, place, reason.
    what: String,
    /// The next action; empty when there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    hint: String,
}

impl Finding {
    fn new(part: &'static str, name: impl Into<String>, state: State, what: impl Into<String>) -> Self {
        Self { part, name: name.into(), state, what: what.into(), hint: String::new() }
    }

    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

/// `ralph doctor`.
pub(super) fn doctor(place: &Place<'_>) -> Result<Exit, Fault> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = path.to_string_lossy();
    let (workspace, mut findings) = workspace(place)?;
    let needs = workspace.as_ref().map(Needs::of).unwrap_or_default();
    let probe = Probe::new(&path)?;
    findings.extend(machine::machine(&probe));
    findings.extend(namesakes::namesakes(&path));
    findings.extend(tools::tools(&probe, &needs));
    if let Some(workspace) = &workspace {
        findings.extend(needs.programs(workspace, &path));
        findings.extend(skips::skips(workspace, &needs));
    }
    let missing = findings.iter().filter(|finding| finding.state == State::Missing).count();
    show(place.json, &findings, missing);
    Ok(if missing == 0 { Exit::Done } else { Exit::WorkLeft })
}

/// The workspace, where there is one that can be read; one that was named and is not there is an error.
fn workspace(place: &Place<'_>) -> Result<(Option<Workspace>, Vec<Finding>), Fault> {
    let finding = |state, what: String| Finding::new("machine", "workspace", state, what);
    match (place.find(), place.root) {
        (Err(fault), Some(_)) => Err(fault),
        (Err(_), None) => {
            let none = finding(State::Absent, "there is none here, so nothing is needed".to_owned());
            Ok((None, vec![none.hint("`ralph init` makes one")]))
        }
        (Ok(root), _) => Ok(match place.open() {
            Ok(workspace) => (Some(workspace), vec![finding(State::Ok, root.display().to_string())]),
            Err(fault) => (None, vec![finding(State::Missing, fault.what).hint(fault.hint)]),
        }),
    }
}

fn show(json: bool, findings: &[Finding], missing: usize) {
    if json {
        for finding in findings {
            ui::json(finding);
        }
        ui::json(&json!({ "healthy": missing == 0, "missing": missing }));
        return;
    }
    let width = findings.iter().map(|finding| finding.name.chars().count()).max().unwrap_or(0);
    for finding in findings {
        ui::line(&format!("{:<8} {:<width$}  {}", finding.state.word(), finding.name, finding.what));
        if !finding.hint.is_empty() {
            ui::line(&format!("{:<8} {:<width$}  hint: {}", "", "", finding.hint));
        }
    }
    ui::line(&match missing {
        0 => "healthy: nothing that is needed here is missing".to_owned(),
        1 => "1 thing that is needed here is missing".to_owned(),
        more => format!("{more} things that are needed here are missing"),
    });
}
