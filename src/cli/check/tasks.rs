//! What is wrong with the task file itself.
//!
//! Owns: its problems and remarks as findings.
//!
//! Promises: what makes a run refuse the file is an error, all else a warning; each is said once.
//!
//! Refuses to know: the grammar.

use super::Read;
use super::finding::{Finding, Level};
use crate::cli::workspace::{CONFIG, Opened};
use crate::report::plain;
use crate::sys::Disk as _;
use crate::sys::disk::RealDisk;
use crate::task::{ProblemKind, Remark, RemarkKind, TaskFile};
use std::path::Path;

/// Reads the workspace's task file, or says why that cannot be.
pub(super) fn read(opened: &Opened) -> Result<Read, Box<Finding>> {
    let path = opened.workspace.places.tasks();
    let shown = opened.workspace.places.shown(&path);
    read_at(&path, &shown, opened)
}

/// Reads a task file.
pub(super) fn read_at(path: &Path, shown: &str, opened: &Opened) -> Result<Read, Box<Finding>> {
    let shown = plain::line(shown, 400);
    let missing = |what: &str, hint: &str| {
        Box::new(Finding::new(Level::Error, "no-task-file", shown.clone(), what, hint))
    };
    match RealDisk::new().read(path) {
        Ok(Some(bytes)) => {
            let file = TaskFile::parse(bytes, &opened.workspace.grammar);
            Ok(Read { shown, path: path.to_owned(), file })
        }
        Ok(None) => {
            let hint = "write one, or set `spec:` in .ralph/config.yaml to its folder";
            Err(missing("There is no such file.", hint))
        }
        Err(error) => Err(missing(
            &format!("It cannot be read: {}.", error.to_string().trim_end_matches('.')),
            "see to its rights and what it is: ralph reads regular files only",
        )),
    }
}

/// What is wrong with the file.
pub(super) fn findings(read: &Read) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (none, remarks): (Vec<Remark>, Vec<Remark>) =
        read.file.remarks().into_iter().partition(|remark| remark.kind == RemarkKind::NoTasks);
    // A file without boxes is an error here, and said once.
    if read.file.is_empty() {
        let what = none.into_iter().next();
        let (what, hint) = what.map_or_else(Default::default, |remark| (remark.message, remark.hint));
        findings.push(Finding::new(Level::Error, "no-tasks", read.shown.clone(), what, hint));
    }
    let lines: Vec<&[u8]> = read.file.lines().collect();
    let on_line = |level, rule, line: u32, what: String, hint: String| {
        let at = (line as usize).saturating_sub(1);
        let text = lines.get(at).copied().unwrap_or_default();
        let source = plain::line(&String::from_utf8_lossy(text), 400);
        Finding { source, ..Finding::new(level, rule, read.shown.clone(), what, hint).at(line.into()) }
    };
    for problem in read.file.problems() {
        let rule = match problem.kind {
            ProblemKind::DoubledStage => "doubled-stage",
            ProblemKind::StageWithoutTask => "orphan-stage",
            ProblemKind::StageOfDoubledTask => "stage-of-doubled-task",
            ProblemKind::PlacedAfterNoTask => "placed-after-no-task",
        };
        // The file is as it should be: the fault stands in the configuration.
        if problem.kind == ProblemKind::PlacedAfterNoTask {
            let found = Finding::new(Level::Error, rule, CONFIG, problem.message, problem.hint);
            findings.push(Finding { key: Some("placement".to_owned()), ..found });
            continue;
        }
        findings.push(on_line(Level::Error, rule, problem.line, problem.message, problem.hint));
    }
    for remark in remarks {
        findings.push(on_line(Level::Warning, rule(remark.kind), remark.line, remark.message, remark.hint));
    }
    findings.sort_by_key(|finding| (finding.line, finding.level == Level::Warning));
    findings
}

/// Patterns of `tasks.sections` that no heading fits.
pub(super) fn unused_sections(file: &TaskFile, opened: &Opened) -> Vec<Finding> {
    if !opened.is_sound("tasks") {
        return Vec::new();
    }
    let finding = |(key, pattern): (&str, String)| {
        let key = format!("tasks.sections.{key}");
        let pattern = plain::line(&pattern, 100);
        let found = Finding::new(
            Level::Warning,
            "unknown-section",
            CONFIG,
            format!("`{key}` names the section `{pattern}`, and no heading of the task file is called so."),
            "Write the heading's words (`*` stands for any), or take the pattern out; `ralph check --explain` shows the headings.",
        );
        Finding { key: Some(key), ..found }
    };
    file.unused_sections().into_iter().map(finding).collect()
}

fn rule(kind: RemarkKind) -> &'static str {
    match kind {
        RemarkKind::NoTasks => "no-tasks",
        RemarkKind::ByteOrderMark => "byte-order-mark",
        RemarkKind::MixedLineEnds => "mixed-line-ends",
        RemarkKind::UnclosedFence => "unclosed-fence",
        RemarkKind::UnclosedComment => "unclosed-comment",
        RemarkKind::BoxInFrontMatter => "box-in-front-matter",
        RemarkKind::UnknownMark => "unknown-mark",
        RemarkKind::EscapedBox => "escaped-box",
        RemarkKind::MalformedBox => "malformed-box",
        RemarkKind::MissingBox => "missing-box",
        RemarkKind::UnlistedBox => "unlisted-box",
        RemarkKind::BoxInTable => "box-in-table",
        RemarkKind::BoxInHeading => "box-in-heading",
        RemarkKind::BoxWithoutBullet => "box-without-bullet",
        RemarkKind::TwoBoxes => "two-boxes",
        RemarkKind::DuplicateId => "duplicate-id",
        RemarkKind::UnknownStage => "unknown-stage",
        RemarkKind::TickedParent => "ticked-parent",
        RemarkKind::BoxInFence => "box-in-fence",
        RemarkKind::StageOrder => "stage-order",
        RemarkKind::GateWithoutWork => "gate-without-work",
        RemarkKind::ParentBelow => "parent-below",
    }
}
