//! `ralph check`: everything that is wrong before a run.
//!
//! Owns: which parts are asked, in which order, and the exit code.
//!
//! Promises: says all at once, each with its place and what to do; a part that cannot be read stops no
//! other; changes nothing.
//!
//! Refuses to know: the rules of the parts.

mod agents;
mod configuration;
mod explain;
mod finding;
mod gates;
mod packages;
mod pom;
mod prompts;
mod rules;
mod show;
mod tasks;
mod tools;
mod underway;

use super::exit::Exit;
use super::workspace::{CONFIG, Opened, Place};
use crate::engine::Fault;
use crate::task::TaskFile;
use clap::{Args, ValueEnum};
use finding::{Finding, Level};
use std::path::{Path, PathBuf};

/// Flags of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Look at this task file alone; no workspace is needed
    #[arg(long, value_name = "FILE")]
    pub tasks: Option<PathBuf>,
    /// Say for each line of the task file what it was read as
    #[arg(long, conflicts_with = "format")]
    pub explain: bool,
    /// How to show what is found; `--json` is the same as `--format json`
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<CheckFormat>,
    /// Show each setting and where it came from: default, file and line, environment, flag
    #[arg(long, conflicts_with_all = ["tasks", "explain", "format"])]
    pub config: bool,
}

/// How findings are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// Lines for people
    Human,
    /// JSON, one object a line
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

/// A task file that was read, and where it stands.
struct Read {
    /// As it was named, or from the workspace.
    shown: String,
    path: PathBuf,
    file: TaskFile,
}

/// `ralph check`: 0 when nothing is wrong, 1 when there are errors.
pub(super) fn check(place: &Place<'_>, args: &CheckArgs) -> Result<Exit, Fault> {
    let format = match args.format {
        Some(format) => format,
        None if place.json => CheckFormat::Json,
        None => CheckFormat::Human,
    };
    if let Some(path) = &args.tasks {
        return one_file(place, path, args.explain, format);
    }
    let opened = place.open_as_far_as_it_goes()?;
    let (read, mut findings) = match tasks::read(&opened) {
        Ok(read) => (Some(read), Vec::new()),
        Err(finding) => (None, vec![*finding]),
    };
    if args.explain {
        return explained(place, read.as_ref(), &findings);
    }
    if let Some(read) = &read {
        findings.extend(tasks::findings(read));
        findings.extend(tasks::unused_sections(&read.file, &opened));
    }
    let mut all = configuration::findings(&opened);
    all.append(&mut findings);
    all.extend(in_the_workspace(&opened, read.as_ref().map(|read| &read.file)));
    configuration::find_lines(&mut all, &opened.text);
    Ok(show::all(&all, format, &opened.workspace.places.workspace))
}

/// What is wrong around the task file. Where the configuration says nothing sound about a part, nothing is
/// said about it but that.
fn in_the_workspace(opened: &Opened, file: Option<&TaskFile>) -> Vec<Finding> {
    let mut findings = Vec::new();
    // What is wrong with the task file is said already, and does not keep the journal from being looked at.
    let state = match file {
        Some(_) => opened.workspace.read_state(),
        None => opened.workspace.read_journal(),
    };
    let state = match state {
        Ok(state) => Some(state),
        Err(fault) => {
            findings.push(Finding::of_journal(fault));
            None
        }
    };
    let survey = if opened.is_sound("packages") && opened.is_sound("files") {
        let (survey, found) = packages::survey(opened, state.as_ref());
        findings.extend(found);
        survey
    } else {
        None
    };
    if let (Some(state), true) = (&state, opened.is_sound("agents") && opened.is_sound("roles")) {
        findings.extend(agents::findings(&opened.workspace, state));
    }
    findings.extend(prompts::findings(&opened.workspace, state.as_ref()));
    if opened.is_sound("gates") {
        // What is known of stages that have no line is known to the state alone.
        let rows = file.map(|file| file.boxes(&[])).unwrap_or_default();
        let boxes = state.as_ref().map_or(&rows, |state| &state.book().rows);
        let shown = opened.workspace.places.shown(&opened.workspace.places.tasks());
        if let Some(file) = file {
            findings.extend(gates::findings(&opened.workspace, file, boxes, &shown));
        }
        if let Some(survey) = &survey {
            findings.extend(packages::with_nothing_to_judge(&opened.workspace, survey, boxes));
            findings.extend(tools::engines(&opened.workspace, survey, boxes));
            findings.extend(pom::findings(&opened.workspace, survey, boxes));
        }
        findings.extend(state.iter().flat_map(|state| gates::of_old_work(state, &shown)));
    }
    if let (Some(survey), true) = (&survey, opened.is_sound("checks") && opened.is_sound("on")) {
        findings.extend(tools::commands(&opened.workspace, survey));
    }
    findings
}

/// `--tasks FILE`: in a workspace its words and sections hold, elsewhere the defaults.
fn one_file(place: &Place<'_>, path: &Path, explain: bool, format: CheckFormat) -> Result<Exit, Fault> {
    let opened = place.open_anywhere_as_far_as_it_goes()?;
    let (read, mut findings) = match tasks::read_at(path, &path.display().to_string(), &opened) {
        Ok(read) => (Some(read), Vec::new()),
        Err(finding) => (None, vec![*finding]),
    };
    if explain {
        return explained(place, read.as_ref(), &findings);
    }
    if let Some(read) = &read {
        findings.extend(tasks::findings(read));
        findings.extend(tasks::unused_sections(&read.file, &opened));
        findings.extend(gates::findings(&opened.workspace, &read.file, &read.file.boxes(&[]), &read.shown));
    }
    // The file's name is from here, that of the configuration from the workspace.
    configuration::find_lines(&mut findings, &opened.text);
    let here = std::env::current_dir()?;
    let config = opened.workspace.places.workspace.join(CONFIG);
    for finding in &mut findings {
        let is_config = finding.file == CONFIG;
        finding.path = Some(if is_config { config.clone() } else { here.join(path) });
    }
    Ok(show::all(&findings, format, &show::base_of(path, &here)))
}

fn explained(place: &Place<'_>, read: Option<&Read>, findings: &[Finding]) -> Result<Exit, Fault> {
    if let Some(read) = read {
        explain::show(read, place.json);
        return Ok(Exit::Done);
    }
    let here = std::env::current_dir()?;
    let format = if place.json { CheckFormat::Json } else { CheckFormat::Human };
    Ok(show::all(findings, format, &here))
}

/// True when a finding stops a run.
fn is_error(finding: &Finding) -> bool {
    finding.level == Level::Error
}
