//! What is wrong with a task file itself: an error if a run refuses the file, otherwise a warning.

use super::finding::{Finding, Level, Rule};
use crate::cli::environment::CONFIG;
use crate::cli::workspace::Opened;
use crate::source::text;
use crate::sys::Disk as _;
use crate::sys::disk::RealDisk;
use crate::task::{Problem, ProblemKind, Remark, RemarkKind, Row, TaskFile};
use std::path::Path;

const NO_TASK_FILE: Rule = Rule::error("no-task-file", "There is no task file");
const NO_TASKS: Rule = Rule::error("no-tasks", "The task file has no tasks");
const UNKNOWN_SECTION: Rule =
    Rule::warning("unknown-section", "A section in the configuration does not exist");

/// A task file that was read.
pub(crate) struct Read {
    /// Its name as it was typed, or relative to the workspace.
    pub(crate) shown: String,
    pub(crate) file: TaskFile,
    /// Its boxes and virtual stages.
    pub(crate) boxes: Vec<Row>,
    /// What makes a run refuse it.
    problems: Vec<Problem>,
}

/// Reads the workspace's task file.
pub(crate) fn read(opened: &Opened) -> Result<Read, Box<Finding>> {
    let path = opened.workspace.places.tasks();
    let shown = opened.workspace.places.shown(&path);
    read_at(&path, &shown, opened)
}

/// Reads a task file.
pub(crate) fn read_at(path: &Path, shown: &str, opened: &Opened) -> Result<Read, Box<Finding>> {
    let shown = text::line(shown, 400);
    let missing = |what: &str, hint: &str| Err(Box::new(NO_TASK_FILE.found(&shown, what, hint)));
    match RealDisk::new().read(path) {
        Ok(Some(bytes)) => {
            let rules = &opened.workspace.rules;
            let file = rules.parse(bytes);
            Ok(Read { shown, boxes: rules.boxes(&file, &[]), problems: rules.problems(&file), file })
        }
        Ok(None) => {
            missing("There is no such file.", "write one, or set `spec:` in .ralph/config.yaml to its folder")
        }
        Err(error) => missing(
            &format!("It cannot be read: {}.", error.to_string().trim_end_matches('.')),
            "check its type and permissions: ralph reads regular files only",
        ),
    }
}

/// What is wrong with the file.
pub(crate) fn findings(read: &Read) -> Vec<Finding> {
    let lines: Vec<&[u8]> = read.file.lines().collect();
    let on_line = |rule: Rule, line: u32, what: String, hint: String| {
        let line_text = lines.get((line as usize).saturating_sub(1)).copied().unwrap_or_default();
        let source = text::line(&String::from_utf8_lossy(line_text), 400);
        Finding { source, ..rule.found(&read.shown, what, hint).at(line.into()) }
    };
    let of_problem = |Problem { kind, line, message, hint }: Problem| match kind {
        // The file is as it should be: the mistake is in the configuration.
        ProblemKind::PlacedAfterNoTask => problem_rule(kind).found(CONFIG, message, hint).key("placement"),
        _ => on_line(problem_rule(kind), line, message, hint),
    };
    let of_remark = |Remark { kind, line, message, hint }: Remark| match remark_rule(kind) {
        NO_TASKS => read.file.is_empty().then(|| NO_TASKS.found(&read.shown, message, hint)),
        rule => Some(on_line(rule, line, message, hint)),
    };
    let mut findings: Vec<Finding> = read.problems.iter().cloned().map(of_problem).collect();
    findings.extend(read.file.remarks().into_iter().filter_map(of_remark));
    findings.sort_by_key(|finding| (finding.line, finding.level == Level::Warning));
    findings
}

/// Patterns of `tasks.sections` that fit no heading.
pub(crate) fn unused_sections(file: &TaskFile) -> Vec<Finding> {
    let finding = |(key, pattern): (&str, String)| {
        let key = format!("tasks.sections.{key}");
        let pattern = text::line(&pattern, 100);
        let what = format!("`{key}` names the section `{pattern}`, but no heading of the task file fits it.");
        let hint = "Write the heading's words (`*` stands for any), or take the pattern out; `ralph check --explain` shows the headings.";
        UNKNOWN_SECTION.found(CONFIG, what, hint).key(key)
    };
    file.unused_sections().into_iter().map(finding).collect()
}

fn problem_rule(kind: ProblemKind) -> Rule {
    let (id, title) = match kind {
        ProblemKind::DoubledStage => ("doubled-stage", "A stage of a task is on two lines"),
        ProblemKind::StageWithoutTask => ("orphan-stage", "A stage has no task"),
        ProblemKind::StageOfDoubledTask => ("stage-of-doubled-task", "A stage belongs to two tasks"),
        ProblemKind::PlacedAfterNoTask => ("placed-after-no-task", "A gate is placed after a missing task"),
    };
    Rule::error(id, title)
}

fn remark_rule(kind: RemarkKind) -> Rule {
    let (id, title) = match kind {
        RemarkKind::NoTasks | RemarkKind::NotUtf8 | RemarkKind::OnlyLeftOut => return NO_TASKS,
        RemarkKind::ByteOrderMark => ("byte-order-mark", "The file begins with a byte-order mark"),
        RemarkKind::MixedLineEnds => ("mixed-line-ends", "Some lines end with CR LF and some with LF"),
        RemarkKind::UnclosedFence => ("unclosed-fence", "A code fence has no end"),
        RemarkKind::UnclosedComment => ("unclosed-comment", "A comment has no end"),
        RemarkKind::BoxInFrontMatter => ("box-in-front-matter", "A box in the front matter is not a task"),
        RemarkKind::UnknownMark => ("unknown-mark", "A box holds an unknown mark"),
        RemarkKind::EscapedBox => ("escaped-box", "A formatter damaged a box"),
        RemarkKind::MalformedBox => ("malformed-box", "Something is almost a box"),
        RemarkKind::MissingBox => ("missing-box", "A task has no box"),
        RemarkKind::UnlistedBox => ("unlisted-box", "A task is not a list item for other tools"),
        RemarkKind::BoxWithoutBullet => {
            ("box-without-bullet", "A box that begins no list item is not a task")
        }
        RemarkKind::TwoBoxes => ("two-boxes", "Only the first box of a line is a task"),
        RemarkKind::DuplicateId => ("duplicate-id", "Two tasks have the same id"),
        RemarkKind::UnknownStage => ("unknown-stage", "The word after an id is not a stage"),
        RemarkKind::TickedParent => ("ticked-parent", "A ticked task has an open part"),
        RemarkKind::BoxInFence => ("box-in-fence", "A box in a code fence is not a task"),
        RemarkKind::StageOrder => ("stage-order", "A stage is on the wrong side of its task"),
        RemarkKind::GateWithoutWork => {
            ("gate-without-work", "A gate covers no task that could change anything")
        }
        RemarkKind::ParentBelow => ("parent-below", "A parent is below its parts"),
    };
    Rule::warning(id, title)
}
