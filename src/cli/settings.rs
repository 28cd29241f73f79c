//! Settings beside the file: flags > environment > `.ralph/config.yaml`; and `ralph check --config`.
//!
//! Owns: the reading of flags and of the environment into the table of [`crate::config::SETTINGS`]; the list
//! of all settings with their origin.
//!
//! Promises: only the variables of that table and `RALPH_ROOT` are read; an empty one counts as absent. What
//! ralph tells an agent (`RALPH_WORKSPACE`, `RALPH_TASK`, `RALPH_STAGE` …) is never read back. What was given
//! to this ralph is not handed on to what it starts. Refused inside the process tree of an agent, a gate or a
//! check, from variable and flag alike: every setting that decides how work is done or judged (agent,
//! threshold, limits, who commits, what a block does); where the workspace and the spec are may be said there.
//!
//! Refuses to know: which values are sound (the reader of the file says so, with the variable's name).

use super::args::Cli;
use super::environment::read_config;
use super::exit::Exit;
use super::ui;
use super::workspace::Place;
use crate::config::{self, Explained, Given, ROOT_VARIABLE, SETTINGS, Setting, Source};
use crate::engine::{Fault, FaultKind};
use crate::sys::process::{TAG, is_inside_agent};
use serde_json::{Value, json};
use std::path::PathBuf;

/// What ralph tells an agent, and marks its processes with: set by ralph, never settings of ralph.
const FACTS: [&str; 9] = [
    "RALPH_WORKSPACE",
    "RALPH_TASK",
    "RALPH_TASK_TEXT",
    "RALPH_STAGE",
    "RALPH_ROLE",
    "RALPH_ITERATION",
    "RALPH_ATTEMPT",
    "RALPH_PROMPT_FILE",
    TAG,
];

/// What was given beside the file.
pub(super) struct Typed {
    /// The workspace.
    pub(super) root: Option<PathBuf>,
    /// Who named it: `--root` or `RALPH_ROOT`.
    pub(super) root_by: &'static str,
    /// Settings; flags stand last.
    pub(super) given: Vec<Given>,
}

impl Typed {
    /// Reads flags and environment.
    pub(super) fn read(cli: &Cli) -> Result<Self, Fault> {
        let mut given = Vec::new();
        for setting in SETTINGS {
            if let Some(value) = variable(setting.variable)? {
                given.push(Given::variable(setting, value));
            }
        }
        for (key, value) in [("spec", &cli.spec), ("roles", &cli.agent)] {
            if let (Some(setting), Some(value)) = (Setting::of(key), value) {
                given.push(Given::flag(setting, value.clone()));
            }
        }
        for pair in &cli.set {
            given.push(set(pair)?);
        }
        let (root, root_by) = match (&cli.root, variable(ROOT_VARIABLE)?) {
            (None, Some(root)) => (Some(PathBuf::from(root)), ROOT_VARIABLE),
            (root, _) => (root.clone(), "--root"),
        };
        Ok(Self { root, root_by, given })
    }
}

/// Refuses, inside the process tree of an agent, what only a person may decide.
pub(super) fn may_be_given(given: &[Given]) -> Result<(), Fault> {
    let Some(judging) = given.iter().find(|given| given.setting.judges) else { return Ok(()) };
    if !is_inside_agent()? {
        return Ok(());
    }
    let what = format!(
        "{} is set inside an agent's process tree; it decides how work is done or judged.",
        judging.name()
    );
    Err(Fault::new(FaultKind::Setup, what, "leave it to the person who started the loop"))
}

/// A variable's value; an empty one is absent.
fn variable(name: &str) -> Result<Option<String>, Fault> {
    let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) else { return Ok(None) };
    value.into_string().map(Some).map_err(|_| {
        Fault::new(
            FaultKind::Setup,
            format!("{name} is not UTF-8 text."),
            format!("set {name} anew, or unset it"),
        )
    })
}

/// One `--set KEY=VALUE`.
fn set(pair: &str) -> Result<Given, Fault> {
    let known = || {
        let keys: Vec<&str> =
            SETTINGS.iter().filter(|setting| setting.flag == "--set").map(|setting| setting.key).collect();
        format!("what can be set so: {}", keys.join(", "))
    };
    let wrong = |what: String, hint: String| Err(Fault::new(FaultKind::Setup, what, hint));
    let Some((key, value)) = pair.split_once('=') else {
        return wrong(format!("--set: `{pair}` is no KEY=VALUE."), known());
    };
    match Setting::of(key) {
        Some(setting) if setting.flag == "--set" => Ok(Given::flag(setting, value.to_owned())),
        Some(setting) => {
            wrong(format!("--set: `{key}` has a flag of its own."), format!("write {} {value}", setting.flag))
        }
        None => wrong(format!("--set: `{key}` is no key that can be given here."), known()),
    }
}

/// True for the name of a variable that this process may have been given as a setting: nobody else's.
pub(super) fn is_setting(name: &str) -> bool {
    name == ROOT_VARIABLE || SETTINGS.iter().any(|setting| setting.variable == name)
}

/// `ralph check --config`: every setting, its value, its origin, what is wrong with it; 1 when something is.
pub(super) fn show(place: &Place<'_>) -> Result<Exit, Fault> {
    let root = place.find()?;
    may_be_given(place.given)?;
    let text = read_config(&root);
    let text = text.as_ref().map(String::as_str).map_err(Clone::clone);
    let settings = config::explain(text, &root, place.given);
    if place.json {
        ui::json(&json!({ "key": "workspace", "value": root, "from": workspace_from(place) }));
        for setting in &settings {
            ui::json(setting);
        }
    } else {
        let mut rows =
            vec![["workspace".to_owned(), origin(&workspace_from(place)), root.display().to_string()]];
        rows.extend(settings.iter().map(row));
        // The workspace stands first, and nothing is wrong with it.
        let mut problems = vec![None];
        problems.extend(settings.iter().map(|setting| setting.problem.as_ref().zip(setting.hint.as_ref())));
        let wide = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let (first, second) = (wide(0), wide(1));
        for ([key, origin, value], problem) in rows.iter().zip(problems) {
            // What is wrong with the file as a whole has no key.
            if !key.is_empty() {
                ui::line(format!("{key:<first$}  {origin:<second$}  {value}").trim_end());
            }
            if let Some((problem, hint)) = problem {
                let indent = if key.is_empty() { "" } else { "  " };
                ui::line(&format!("{indent}error: {problem} ({hint})"));
            }
        }
    }
    for stray in strays() {
        ui::note(&stray);
    }
    let is_wrong = settings.iter().any(|setting| setting.problem.is_some());
    Ok(if is_wrong { Exit::WorkLeft } else { Exit::Done })
}

fn workspace_from(place: &Place<'_>) -> Source {
    match (place.root, place.root_by) {
        (None, _) => Source::Default,
        (Some(_), ROOT_VARIABLE) => Source::Environment { name: ROOT_VARIABLE },
        (Some(_), name) => Source::Flag { name },
    }
}

fn row(setting: &Explained) -> [String; 3] {
    let value = match &setting.value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    [setting.key.clone(), origin(&setting.from), value]
}

fn origin(from: &Source) -> String {
    match from {
        Source::Default => "default".to_owned(),
        Source::File { line: Some(line) } => format!(".ralph/config.yaml:{line}"),
        Source::File { line: None } => ".ralph/config.yaml".to_owned(),
        Source::Environment { name } | Source::Flag { name } => (*name).to_owned(),
    }
}

/// The variables and the flags that win over them, for the help.
pub(super) fn help() -> String {
    let mut text = format!(
        "Settings from the environment, each with the flag that wins over it:\n  {ROOT_VARIABLE} (--root)"
    );
    for setting in SETTINGS {
        let key = if setting.flag == "--set" { format!(" {}", setting.key) } else { String::new() };
        text.extend([
            "
  ",
            setting.variable,
            " (",
            setting.flag,
            &key,
            ")",
        ]);
    }
    text
}

/// Variables that look like ralph's and are read by nobody here (other tools of this name have theirs).
fn strays() -> Vec<String> {
    let mut names: Vec<String> =
        std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
    names.retain(|name| name.starts_with("RALPH_") && !is_setting(name) && !FACTS.contains(&name.as_str()));
    names.sort();
    names.iter().map(|name| format!("note: {name} is set, and is no setting of this ralph.")).collect()
}
