//! Problems of a task file itself.
//!
//! Each is an error if a run refuses the file, otherwise a warning.

use super::{CONFIG, InspectionFinding, Level, Opened, find_specs};
use crate::source::text;
use crate::sys::Disk as _;
use crate::sys::disk::RealDisk;
use crate::task::{ProblemKind, RemarkKind, Row, TaskFile, TaskFileProblem};
use serde::Serialize;
use std::path::Path;

/// A task file that was read.
pub(crate) struct Read {
    /// Its name as typed, or relative to the workspace.
    pub(crate) shown: String,
    pub(crate) file: TaskFile,
    /// Its boxes and virtual stages.
    pub(crate) boxes: Vec<Row>,
    /// Reasons why a run refuses it.
    problems: Vec<TaskFileProblem>,
}

impl Read {
    /// A finding about a line of it.
    pub(super) fn on_line(
        &self,
        rule: &str,
        line: u32,
        what: String,
        hint: impl Into<String>,
    ) -> InspectionFinding {
        InspectionFinding::new_error(rule, &self.shown, what, hint).at_line(line as usize)
    }
}

/// Reads the workspace's task file.
pub(crate) fn read_tasks(opened: &Opened) -> Result<Read, Box<InspectionFinding>> {
    let places = &opened.workspace.places;
    let (path, shown) = (places.tasks_file(), places.spec_name());
    if RealDisk::new().is_odd(&path).unwrap_or(false) {
        let what = "It is a link or a folder, and a run writes regular files only.";
        let hint = "Set `spec:` in .ralph/config.yaml to the folder that holds the file itself.";
        return Err(Box::new(InspectionFinding::new_error(
            "no-task-file",
            shown,
            what,
            hint,
        )));
    }
    read_at(&path, &shown, opened)
}

/// Reads a task file.
pub(crate) fn read_at(
    path: &Path,
    shown: &str,
    opened: &Opened,
) -> Result<Read, Box<InspectionFinding>> {
    let shown = text::line(shown, 400);
    let (what, hint) = match RealDisk::new().read(path) {
        Ok(Some(bytes)) => {
            let rules = &opened.workspace.rules;
            let file = rules.parse(bytes);
            let (boxes, problems) = (rules.ordered_boxes(&file, &[]), rules.find_problems(&file));
            return Ok(Read {
                shown,
                file,
                boxes,
                problems,
            });
        }
        Ok(None) => (
            "There is no such file.".to_owned(),
            hint_for_missing(path, &shown, opened),
        ),
        Err(error) => (
            format!(
                "It cannot be read: {}.",
                error.to_string().trim_end_matches('.')
            ),
            "check its type and permissions: ralph reads regular files only".to_owned(),
        ),
    };
    let finding = InspectionFinding::new_error("no-task-file", &shown, what, hint);
    Err(Box::new(finding))
}

/// Returns what to type in place of a task file that does not exist. The file of `spec:` is named in the configuration,
/// any other on the command line.
fn hint_for_missing(path: &Path, shown: &str, opened: &Opened) -> String {
    let places = &opened.workspace.places;
    let is_of_workspace = path == places.tasks_file();
    let others = find_specs(&places.workspace, &opened.workspace.rules.grammar);
    let found = others
        .iter()
        .map(|spec| match (is_of_workspace, spec.folder.as_str()) {
            (true, folder) => folder.to_owned(),
            (false, ".") => "tasks.md".to_owned(),
            (false, folder) => format!("{folder}/tasks.md"),
        });
    let nearest = found
        .map(|name| (strsim::jaro_winkler(shown, &name), name))
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name);
    match (is_of_workspace, nearest) {
        (true, None) => {
            format!("write it, or set `spec:` in {CONFIG} to the directory of your tasks.md")
        }
        (true, Some(folder)) => {
            format!("set `spec: {folder}` in {CONFIG}, or type `--spec {folder}`")
        }
        (false, None) => {
            "name the file that has your tasks: `ralph check --tasks path/to/tasks.md`".to_owned()
        }
        (false, Some(file)) => {
            format!("check the path; `ralph check --tasks {file}` reads the one of this workspace")
        }
    }
}

/// Returns the problems of the file.
pub(crate) fn task_findings(read: &Read) -> Vec<InspectionFinding> {
    let mut findings = Vec::new();
    for problem in &read.problems {
        let rule = rule_name(problem.kind);
        let (message, hint) = (problem.message.clone(), problem.hint.clone());
        findings.push(match problem.kind {
            // The file is as it should be: the mistake is in the configuration.
            ProblemKind::PlacedAfterNoTask => {
                InspectionFinding::new_error(&rule, CONFIG, message, hint).with_key("placement")
            }
            _ => read.on_line(&rule, problem.line, message, hint),
        });
    }
    for remark in read.file.find_remarks() {
        let (message, hint) = (remark.message, remark.hint);
        match remark.kind {
            RemarkKind::NoTasks | RemarkKind::NotUtf8 | RemarkKind::OnlyLeftOut => {
                if read.file.is_empty() {
                    findings.push(InspectionFinding::new_error(
                        "no-tasks",
                        &read.shown,
                        message,
                        hint,
                    ));
                }
            }
            kind => {
                let finding = read.on_line(&rule_name(kind), remark.line, message, hint);
                findings.push(finding.into_warning());
            }
        }
    }
    findings.sort_by_key(|finding| (finding.line, finding.level == Level::Warning));
    findings
}

/// Patterns of `tasks.sections` that fit no heading.
pub(crate) fn unused_sections(file: &TaskFile) -> Vec<InspectionFinding> {
    let hint = "Write the heading's words (`*` matches any text), or remove the pattern. \
                `ralph check --explain` shows the headings.";
    let mut findings = Vec::new();
    for (key, pattern) in file.unused_sections() {
        let key = format!("tasks.sections.{key}");
        let pattern = text::line(&pattern, 100);
        let what = format!(
            "`{key}` names the section `{pattern}`, but no heading of the task file fits it."
        );
        let finding = InspectionFinding::new_error("unknown-section", CONFIG, what, hint);
        findings.push(finding.into_warning().with_key(key));
    }
    findings
}

/// A kind of mistake as a rule: its name is the rule's.
fn rule_name(kind: impl Serialize) -> String {
    let name = serde_json::to_value(kind).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}
