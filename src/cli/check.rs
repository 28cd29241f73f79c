//! `ralph check`: everything that is wrong before a run, all at once; it changes nothing.

mod explain;
mod settings;
mod show;

use super::environment::CONFIG;
use super::exit::Exit;
use super::inspect::tasks::{self, Read};
use super::inspect::{Finding, Inspection, of_task_file};
use super::workspace::Invocation;
use crate::engine::Fault;
use clap::{Args, ValueEnum};
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

/// `ralph check`: 0 if nothing is wrong, 1 if there are errors.
pub(super) fn check(call: &Invocation, args: &CheckArgs) -> Result<Exit, Fault> {
    if args.config {
        return settings::show(call);
    }
    let format = args.format.unwrap_or(if call.json { CheckFormat::Json } else { CheckFormat::Human });
    if let Some(path) = &args.tasks {
        return one_file(call, path, args.explain, format);
    }
    let opened = call.read(call.find()?)?;
    if args.explain {
        return explained(format, tasks::read(&opened));
    }
    let findings = Inspection::of(&opened).findings();
    Ok(show::all(&findings, format, &opened.workspace.places.workspace))
}

/// `--tasks FILE`: with the words and sections of the workspace if there is one, else the defaults.
fn one_file(call: &Invocation, path: &Path, explain: bool, format: CheckFormat) -> Result<Exit, Fault> {
    let opened = call.read(call.find_anywhere()?)?;
    let read = tasks::read_at(path, &path.display().to_string(), &opened);
    if explain {
        return explained(format, read);
    }
    let mut findings = of_task_file(&read, &opened);
    // The file's name is relative to the current folder, that of the configuration to the workspace.
    let here = std::env::current_dir()?;
    let config = opened.workspace.places.workspace.join(CONFIG);
    for finding in &mut findings {
        let is_config = finding.file == CONFIG;
        finding.path = Some(if is_config { config.clone() } else { here.join(path) });
    }
    Ok(show::all(&findings, format, &show::base_of(path, &here)))
}

fn explained(format: CheckFormat, read: Result<Read, Box<Finding>>) -> Result<Exit, Fault> {
    match read {
        Ok(read) => {
            explain::show(&read, format == CheckFormat::Json);
            Ok(Exit::Done)
        }
        Err(missing) => Ok(show::all(&[*missing], format, &std::env::current_dir()?)),
    }
}
