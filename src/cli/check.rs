//! `ralph check`: everything that is wrong before a run, all at once; it changes nothing.

mod explain;
mod settings;

use super::inspect::tasks::{self, Read};
use super::inspect::{Inspection, InspectionFinding, Level, of_task_file};
use super::workspace::Opened;
use super::{Exit, Fault, Invocation, ui};
use crate::source::text::count;
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
    if args.config {
        return settings::show_settings(call);
    }
    if let Some(path) = &args.tasks {
        return one_file(call, path, args);
    }
    let opened = call.read_settings(call.find_workspace()?)?;
    let findings = Inspection::of_opened(&opened).all_findings();
    if args.explain {
        let read = tasks::read_tasks(&opened);
        return Ok(finish_explained(call, read, &opened, args, &findings));
    }
    Ok(show_findings(&findings, call.json))
}

/// `--tasks FILE`: with the words and sections of the workspace if there is one, else the defaults.
fn one_file(call: &Invocation, path: &Path, args: &CheckArgs) -> Result<Exit, Fault> {
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
    let findings = of_task_file(&read, &opened);
    if args.explain {
        return Ok(finish_explained(call, read, &opened, args, &findings));
    }
    Ok(show_findings(&findings, call.json))
}

/// Ends as `check` does without `--explain`.
fn finish_explained(
    call: &Invocation,
    read: Result<Read, Box<InspectionFinding>>,
    opened: &Opened,
    args: &CheckArgs,
    findings: &[InspectionFinding],
) -> Exit {
    match read {
        Ok(read) => {
            let take = opened.workspace.settings.lanes.take;
            explain::show_lines(&read, take, call.json, args.all_lines);
            exit_for(findings)
        }
        Err(missing) => show_findings(&[*missing], call.json),
    }
}

fn show_findings(findings: &[InspectionFinding], json: bool) -> Exit {
    if json {
        findings.iter().for_each(ui::print_json);
    } else {
        print_findings(findings);
    }
    exit_for(findings)
}

fn exit_for(findings: &[InspectionFinding]) -> Exit {
    let is_wrong = findings.iter().any(|finding| finding.level == Level::Error);
    if is_wrong { Exit::WorkLeft } else { Exit::Done }
}

fn print_findings(findings: &[InspectionFinding]) {
    let errors = findings
        .iter()
        .filter(|finding| finding.level == Level::Error)
        .count();
    for finding in findings {
        let level = if finding.level == Level::Error {
            "error"
        } else {
            "warning"
        };
        ui::print_line(&format!(
            "{level}: {}: {} [{}]",
            finding.place_text(),
            finding.what,
            finding.rule
        ));
        ui::print_line(&format!("  hint: {}", finding.hint));
    }
    let warnings = findings.len() - errors;
    ui::print_line(&format!(
        "{}, {}",
        count(errors as u64, "error"),
        count(warnings as u64, "warning")
    ));
}
