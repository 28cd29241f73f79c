//! `ralph check`: everything that is wrong before a run, all at once; it changes nothing.

mod explain;
mod settings;
mod show;

use super::inspect::tasks::{self, Read};
use super::inspect::{Inspection, InspectionFinding, Level, of_task_file};
use super::output::Format;
use super::workspace::Opened;
use super::{CONFIG, Exit, Fault, Invocation, ensure_that};
use crate::task::Sections;
use clap::Args;
use std::path::{Path, PathBuf};

/// Flags of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Look at this task file alone; no workspace is needed
    #[arg(long, value_name = "FILE")]
    pub tasks: Option<PathBuf>,
    /// List the tasks as they are read, and what was passed over
    #[arg(long)]
    pub explain: bool,
    /// With --explain: every line of the task file
    #[arg(long, requires = "explain")]
    pub all_lines: bool,
    /// With --tasks: a heading whose boxes are no tasks, as in `tasks.sections.exclude`; may be given more than once
    #[arg(long, value_name = "HEADING", requires = "tasks")]
    pub exclude: Vec<String>,
    /// Show each setting and where it came from: default, file and line, environment, flag
    #[arg(long, conflicts_with_all = ["tasks", "explain"])]
    pub config: bool,
}

/// `ralph check`: 0 if nothing is wrong, 1 if there are errors.
pub(super) fn run_check(call: &Invocation, args: &CheckArgs) -> Result<Exit, Fault> {
    let format = call.format;
    ensure_that(
        format != Format::Sarif || !(args.config || args.explain),
        "SARIF has findings, and no lists of settings or lines.",
        "leave --explain and --config out, or take `--format json`",
    )?;
    if args.config {
        return settings::show_settings(call);
    }
    if let Some(path) = &args.tasks {
        return one_file(call, path, args, format);
    }
    let opened = call.read_settings(call.find_workspace()?)?;
    let findings = Inspection::of_opened(&opened).all_findings();
    if args.explain {
        return finish_explained(format, tasks::read_tasks(&opened), &opened, args, &findings);
    }
    Ok(show::show_findings(
        &findings,
        format,
        &opened.workspace.places.workspace,
    ))
}

/// `--tasks FILE`: with the words and sections of the workspace if there is one, else the defaults.
fn one_file(
    call: &Invocation,
    path: &Path,
    args: &CheckArgs,
    format: Format,
) -> Result<Exit, Fault> {
    let mut opened = call.read_settings(call.find_anywhere()?)?;
    if !args.exclude.is_empty() {
        let known = &opened.workspace.settings.tasks.sections;
        let exclude = [known.exclude.as_slice(), &args.exclude].concat();
        let sections = Sections::new(&known.include, &exclude).map_err(|(pattern, why)| {
            Fault::setup_fault(
                format!("--exclude: `{pattern}` is no pattern: {why}."),
                "write the words of a heading",
            )
        })?;
        opened.workspace.rules.grammar.sections = sections;
    }
    let read = tasks::read_at(path, &path.display().to_string(), &opened);
    let mut findings = of_task_file(&read, &opened);
    if args.explain {
        return finish_explained(format, read, &opened, args, &findings);
    }
    // The file's name is relative to the current folder, that of the configuration to the workspace.
    let here = std::env::current_dir()?;
    let config = opened.workspace.places.workspace.join(CONFIG);
    for finding in &mut findings {
        let is_config = finding.file == CONFIG;
        finding.path = Some(if is_config {
            config.clone()
        } else {
            here.join(path)
        });
    }
    Ok(show::show_findings(
        &findings,
        format,
        &show::base_of(path, &here),
    ))
}

/// Ends as `check` does without `--explain`.
fn finish_explained(
    format: Format,
    read: Result<Read, Box<InspectionFinding>>,
    opened: &Opened,
    args: &CheckArgs,
    findings: &[InspectionFinding],
) -> Result<Exit, Fault> {
    match read {
        Ok(read) => {
            let take = opened.workspace.settings.lanes.take;
            explain::show_lines(&read, take, format == Format::Json, args.all_lines);
            let is_wrong = findings.iter().any(|finding| finding.level == Level::Error);
            Ok(if is_wrong { Exit::WorkLeft } else { Exit::Done })
        }
        Err(missing) => Ok(show::show_findings(
            &[*missing],
            format,
            &std::env::current_dir()?,
        )),
    }
}
