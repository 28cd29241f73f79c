//! `gates.<NAME>.run`: any command as a judge.
//!
//! Run in each changed package, no shell; the end of its output is the reason.

use crate::gate::commands::{Commands, file_name};
use crate::gate::{GateAbort, GatePackage};
use crate::machine::facts::{FileStatus, Oid, ProcessEnd};
use crate::source::text;
use crate::sys::Disk as _;
use crate::sys::disk::RealDisk;

/// Lines of output that become reasons.
const TAIL: usize = 10;

/// Runs the command in a package. With exit code 77 the answer is where, and the last line of its output or that it
/// gave no reason.
pub(super) fn run_in_package(
    commands: &Commands<'_>,
    name: &str,
    argv: &[String],
    package: &GatePackage,
) -> Result<Option<String>, GateAbort> {
    let log = format!("{}-{}", file_name(name), file_name(&package.name));
    // Not a log: `ralph status --watch` shows the newest one.
    let list = commands.next_log("changed-files")?.with_extension("txt");
    // The file is replaced: it may be a link that a task left, which must not be followed.
    RealDisk::new().write(&list, changed_files(package).as_bytes())?;
    let told = [
        ("RALPH_CHANGED_FILES", &*list.display().to_string()),
        ("RALPH_BASE", &commit_text(package.base.as_ref())),
        ("RALPH_HEAD", &commit_text(package.head.as_ref())),
    ];
    let call = commands.run_program(&log, argv.to_vec(), &package.root, &told)?;
    let tail = last_lines(&call.output);
    let last = tail.last().cloned();
    match &call.end {
        ProcessEnd::Exited { code: 0 } => Ok(None),
        ProcessEnd::Exited { code: 77 } => {
            let silent = "its command ended with 77, there is nothing to judge, and gave no reason";
            let why = last.unwrap_or_else(|| silent.to_owned());
            Ok(Some(if package.name == "." {
                why
            } else {
                format!("In package {}: {why}", package.name)
            }))
        }
        ProcessEnd::Exited { code: 1 } => {
            let mut reasons = vec![format!(
                "The gate {name} fails{}.",
                text::in_package(&package.name)
            )];
            reasons.extend(tail);
            Err(GateAbort::Fail { reasons })
        }
        other => Err(GateAbort::setup(
            format!(
                "The command of gate {name} {}{}: {}.",
                text::line(&other.to_string(), 300),
                text::in_package(&package.name),
                last.unwrap_or_else(|| "it printed nothing".to_owned())
            ),
            "Run the command by hand; it must end with 0 (pass), 1 (fail) or 77 (skip).",
        )),
    }
}

/// The changed files that are still there, a path in the package a line.
fn changed_files(package: &GatePackage) -> String {
    let there = package
        .changes
        .iter()
        .filter(|change| change.status != FileStatus::Deleted);
    there
        .flat_map(|change| [change.path.as_str(), "\n"])
        .collect()
}

fn last_lines(output: &str) -> Vec<String> {
    let lines: Vec<String> = output
        .lines()
        .map(|line| text::line(line, 300))
        .filter(|line| !line.is_empty())
        .collect();
    lines[lines.len().saturating_sub(TAIL)..].to_vec()
}

/// Returns the id of a commit; empty without one.
fn commit_text(commit: Option<&Oid>) -> String {
    commit.map(Oid::to_string).unwrap_or_default()
}
