//! What is odd about a task file, though a run takes it.
//!
//! Owns: everything that a person might take for a task and ralph
//! does not, or the other way round.
//!
//! Promises: a pure reading, linear in the bytes; a remark never changes what is a task.
//!
//! Refuses to know: what makes a run refuse the file (see `diagnose`).

mod below;
mod lines;
mod stages;
mod unlisted;

use super::exclude::{Kind, bom};
use super::grammar::{Head, head};
use super::{Mark, TaskFile};
use serde::Serialize;
use std::collections::HashMap;

/// What is odd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemarkKind {
    /// There is no box at all.
    NoTasks,
    /// The file begins with a byte-order mark.
    ByteOrderMark,
    /// Lines end in different ways.
    MixedLineEnds,
    /// A fence is open to the end of the file and hides what follows.
    UnclosedFence,
    /// A comment has no end and hides what follows.
    UnclosedComment,
    /// A box stands in front matter and is no task.
    BoxInFrontMatter,
    /// A mark other than space and `x`: kept, and not done.
    UnknownMark,
    /// `- \[ ] …`: a formatter escaped the box, so it is no task any more.
    EscapedBox,
    /// `- [x ]`, `- [ ]Foo`, `-[ ] foo`: almost a box, and no task.
    MalformedBox,
    /// `- [P] T001 …`: a task without its box.
    MissingBox,
    /// A task that `CommonMark` does not read as a list item: it is indented like code, or stands in HTML.
    UnlistedBox,
    /// A box in a table cell is no task.
    BoxInTable,
    /// A box in a heading is no task.
    BoxInHeading,
    /// A box without a bullet is no task.
    BoxWithoutBullet,
    /// A second box on one line is part of the text.
    TwoBoxes,
    /// Two tasks show the same id; they are told apart by their text.
    DuplicateId,
    /// `2.REVIEW`: no stage word, so the line is a task without an id.
    UnknownStage,
    /// A parent is ticked and a required child is not done.
    TickedParent,
    /// Boxes stand in a code fence and are no tasks.
    BoxInFence,
    /// A stage stands on the other side of its task than its turn is.
    StageOrder,
    /// A gate covers no task that could change anything.
    GateWithoutWork,
    /// A parent stands below its children, under another heading.
    ParentBelow,
}

/// Something odd in a task file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// 1-based line in the task file.
    pub line: u32,
    /// What is odd.
    pub kind: RemarkKind,
    /// What stands there, a whole sentence.
    pub message: String,
    /// What to do about it, a whole sentence.
    pub hint: String,
}

impl Remark {
    fn new(line: u32, kind: RemarkKind, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { line, kind, message: message.into(), hint: hint.into() }
    }
}

/// The encoding that a byte-order mark names, when it is not UTF-8.
fn wide(bytes: &[u8]) -> Option<&'static str> {
    let starts = |mark: &[u8]| bytes.starts_with(mark);
    match () {
        () if starts(b"\xff\xfe\0\0") || starts(b"\0\0\xfe\xff") => Some("UTF-32"),
        () if starts(b"\xff\xfe") || starts(b"\xfe\xff") => Some("UTF-16"),
        () => None,
    }
}

impl TaskFile {
    /// What is odd about this file, by line.
    pub fn remarks(&self) -> Vec<Remark> {
        let mut remarks = self.whole_file();
        remarks.extend(self.hidden_parts());
        remarks.extend(lines::remarks(self));
        remarks.extend(self.tasks_alone());
        remarks.extend(self.duplicate_ids());
        remarks.extend(self.ticked_parents());
        remarks.extend(unlisted::remarks(self));
        remarks.extend(stages::remarks(self));
        remarks.extend(below::remarks(self));
        remarks.sort_by_key(|remark| (remark.line, remark.kind));
        remarks
    }

    fn whole_file(&self) -> Vec<Remark> {
        let mut remarks = Vec::new();
        if let (true, Some(encoding)) = (self.is_empty(), wide(&self.bytes)) {
            remarks.push(Remark::new(
                1,
                RemarkKind::NoTasks,
                format!("The file is encoded as {encoding}, in which no box `- [ ] …` can be found."),
                format!("Save it as UTF-8: `iconv -f {encoding} -t UTF-8`, or your editor's \"Save with encoding\"."),
            ));
        } else if self.is_empty() && self.left_out.is_empty() {
            remarks.push(Remark::new(
                1,
                RemarkKind::NoTasks,
                "The file has no box `- [ ] …`, so there is nothing to do.",
                "Write each task as a list item with a box: `- [ ] 1. …`.",
            ));
        } else if self.is_empty() {
            remarks.push(Remark::new(
                1,
                RemarkKind::NoTasks,
                "All boxes of the file stand in sections that hold no tasks, so there is nothing to do.",
                "Look at `tasks.sections` in the configuration: it leaves these sections out.",
            ));
        }
        if bom(&self.bytes) > 0 {
            remarks.push(Remark::new(
                1,
                RemarkKind::ByteOrderMark,
                "The file begins with a byte-order mark; other Markdown tools miss a task on its first line.",
                "Save it as UTF-8 without a byte-order mark; ralph keeps the mark as it is.",
            ));
        }
        remarks
    }

    fn hidden_parts(&self) -> impl Iterator<Item = Remark> {
        self.excluded.iter().filter(|part| !part.closed).map(|part| {
            let line = lines::line_number(&self.bytes, part.range.start);
            let (kind, what, end) = match part.kind {
                Kind::Comment => (RemarkKind::UnclosedComment, "comment `<!--`", "`-->`"),
                Kind::Fence | Kind::FrontMatter => {
                    (RemarkKind::UnclosedFence, "code fence", "a closing fence")
                }
            };
            Remark::new(
                line,
                kind,
                format!("The {what} that opens on line {line} is never closed; no box in it is a task."),
                format!("Close it with {end}."),
            )
        })
    }

    fn tasks_alone(&self) -> Vec<Remark> {
        let mut remarks = Vec::new();
        for task in &self.tasks {
            let (line, mark) = (task.found.line, Mark(task.found.mark));
            let text = self.bytes.get(task.found.text.clone()).unwrap_or_default();
            if !mark.is_open() && !mark.is_done() {
                remarks.push(Remark::new(
                    line,
                    RemarkKind::UnknownMark,
                    format!(
                        "The box on line {line} holds `{}`, which counts as not done.",
                        mark.0.escape_debug()
                    ),
                    "Write a space for an open task or `x` for one that is done.",
                ));
            }
            if lines::has_box(text) {
                remarks.push(Remark::new(
                    line,
                    RemarkKind::TwoBoxes,
                    format!("Line {line} has more than one box; only the first is a task."),
                    "Give each task a line of its own.",
                ));
            }
            if task.id().is_none() && head(text, &self.grammar) == Head::UnknownStage {
                remarks.push(Remark::new(
                    line,
                    RemarkKind::UnknownStage,
                    format!("Line {line} has a word right after the dot of its id that is no stage, so its id is not used."),
                    "Put a blank after the dot, or write TEST-FIRST, REQ-CHECK, PRE-CR, INTEG, FINAL or the name of a \
                     configured gate, in capitals.",
                ));
            }
        }
        remarks
    }

    fn duplicate_ids(&self) -> Vec<Remark> {
        let mut first: HashMap<&str, u32> = HashMap::new();
        let mut remarks = Vec::new();
        for task in &self.tasks {
            let (Some(id), line) = (task.doubled.as_deref(), task.found.line) else { continue };
            let before = *first.entry(id).or_insert(line);
            if before != line {
                remarks.push(Remark::new(
                    line,
                    RemarkKind::DuplicateId,
                    format!("The id `{id}` stands on line {before} and again on line {line}; both are known by their text."),
                    "Give each task an id of its own; without one it can have no stages and is not found by its id.",
                ));
            }
        }
        remarks
    }

    fn ticked_parents(&self) -> Vec<Remark> {
        let mut told = vec![false; self.tasks.len()];
        let mut remarks = Vec::new();
        for child in self.tasks.iter().filter(|task| !task.optional && !Mark(task.found.mark).is_done()) {
            let Some(parent) = self.parent(child).filter(|parent| Mark(parent.found.mark).is_done()) else {
                continue;
            };
            let Some(told) = child.parent.and_then(|at| told.get_mut(at as usize)).filter(|told| !**told)
            else {
                continue;
            };
            *told = true;
            let (line, open) = (parent.found.line, child.found.line);
            remarks.push(Remark::new(
                line,
                RemarkKind::TickedParent,
                format!(
                    "The task on line {line} is ticked, but its required child on line {open} is not done."
                ),
                "Open the parent, or tick the child, or mark the child as optional with `[ ]*`.",
            ));
        }
        remarks
    }
}
