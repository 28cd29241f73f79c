//! `ralph check`: everything that is wrong before a run, all at once; it changes nothing.

mod explain;
mod settings;
mod show;

use super::inspect::tasks::{self, Read};
use super::inspect::{Finding, Inspection, Level, of_task_file};
use super::{CONFIG, Exit, Fault, Invocation};
use crate::task::Sections;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

/// Flags of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Look at this task file alone; no workspace is needed
    #[arg(long, value_name = "FILE")]
    pub tasks: Option<PathBuf>,
    /// List the tasks as they are read, and what was passed over
    #[arg(long, conflicts_with = "format")]
    pub explain: bool,
    /// With --explain: every line of the task file
    #[arg(long, requires = "explain")]
    pub all_lines: bool,
    /// With --tasks: a heading whose boxes are no tasks, as in `tasks.sections.exclude`; may be given more than once
    #[arg(long, value_name = "HEADING", requires = "tasks")]
    pub exclude: Vec<String>,
    /// How to show what is found; `--json` is the same as `--format json`
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<CheckFormat>,
    /// Show each setting and where it came from: default, file and line, environment, flag
    #[arg(long, conflicts_with_all = ["tasks", "explain", "format"])]
    pub config: bool,
}

/// Format of the findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// Lines for people
    Human,
    /// JSON, one object a line
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

/// `ralph check`: 0 if nothing is wrong, 1 if there are errors.
pub(super) fn check(call: &Invocation, args: &CheckArgs) -> Result<Exit, Fault> {
    if args.config {
        return settings::show(call);
    }
    let format = args.format.unwrap_or(if call.json {
        CheckFormat::Json
    } else {
        CheckFormat::Human
    });
    if let Some(path) = &args.tasks {
        return one_file(call, path, args, format);
    }
    let opened = call.read(call.find()?)?;
    let findings = Inspection::of(&opened).findings();
    if args.explain {
        return explained(format, tasks::read(&opened), args, &findings);
    }
    Ok(show::all(
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
    format: CheckFormat,
) -> Result<Exit, Fault> {
    let mut opened = call.read(call.find_anywhere()?)?;
    if !args.exclude.is_empty() {
        let known = &opened.workspace.settings.tasks.sections;
        let exclude = [known.exclude.as_slice(), &args.exclude].concat();
        let sections = Sections::new(&known.include, &exclude).map_err(|(pattern, why)| {
            Fault::setup(
                format!("--exclude: `{pattern}` is no pattern: {why}."),
                "write the words of a heading",
            )
        })?;
        opened.workspace.rules.grammar.sections = sections;
    }
    let read = tasks::read_at(path, &path.display().to_string(), &opened);
    let mut findings = of_task_file(&read, &opened);
    if args.explain {
        return explained(format, read, args, &findings);
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
    Ok(show::all(&findings, format, &show::base_of(path, &here)))
}

/// Ends as `check` does without `--explain`.
fn explained(
    format: CheckFormat,
    read: Result<Read, Box<Finding>>,
    args: &CheckArgs,
    findings: &[Finding],
) -> Result<Exit, Fault> {
    match read {
        Ok(read) => {
            explain::show(&read, format == CheckFormat::Json, args.all_lines);
            let is_wrong = findings.iter().any(|finding| finding.level == Level::Error);
            Ok(if is_wrong { Exit::WorkLeft } else { Exit::Done })
        }
        Err(missing) => Ok(show::all(&[*missing], format, &std::env::current_dir()?)),
    }
}
