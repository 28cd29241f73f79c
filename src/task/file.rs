//! A parsed task file: its bytes, and the boxes found in them.
//!
//! Any bytes can be parsed, and each is kept; keys, parents and order do not depend on what is ticked.

use super::exclude::{Excluded, bom};
use super::family::{Task, tasks, text_digest};
use super::grammar::Grammar;
use super::outline::{Heading, Outline, outline, title};
use super::row::{Mark, Row};
use super::scan::lines;
use super::sections::{LeftOut, Title};
use super::stage::TaskKey;
use super::text::clean;
use crate::source::hex;
use std::fmt;

/// The content of a `tasks.md`, read once.
#[derive(Clone, Debug)]
pub struct TaskFile {
    pub(super) bytes: Vec<u8>,
    pub(super) grammar: Grammar,
    /// The parts without tasks, ascending.
    pub(super) excluded: Vec<Excluded>,
    /// The headings in document order.
    pub(super) headings: Vec<Heading>,
    /// The lines with a box in a section that holds no tasks, and why.
    pub(super) left_out: Vec<(u32, LeftOut)>,
    pub(super) tasks: Vec<Task>,
}

impl TaskFile {
    /// Reads a task file. Any bytes are one; what is wrong with them is in [`TaskFile::problems`]
    /// and [`TaskFile::remarks`].
    pub fn parse(bytes: impl Into<Vec<u8>>, grammar: &Grammar) -> Self {
        let bytes = bytes.into();
        let Outline { excluded, boxes, headings, left_out } = outline(&bytes, grammar);
        let tasks = tasks(&bytes, boxes, &headings, grammar);
        let grammar = grammar.clone();
        Self { bytes, grammar, excluded, headings, left_out, tasks }
    }

    /// The bytes, as they were given.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The lines, without their line ends and without a byte-order mark.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        lines(&self.bytes, bom(&self.bytes)).filter_map(|line| self.bytes.get(line.start..line.end))
    }

    /// How many boxes there are.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// True when there is no box: a normal answer for files of tables and prose.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// The words of a heading, by its index as in [`super::ReadAs::Heading`], with its level (1 to 6).
    pub fn heading(&self, at: usize) -> Option<(u8, String)> {
        let heading = self.headings.get(at)?;
        Some((heading.level, clean("", self.bytes.get(heading.title.clone())?)))
    }

    /// Why a box is not a task, by its index as in [`super::ReadAs::LeftOut`].
    pub fn left_out(&self, at: usize) -> Option<&LeftOut> {
        self.left_out.get(at).map(|(_, why)| why)
    }

    /// The id that a task's line shows, and whether other tasks show it too; `None` for a line without an id.
    pub fn shown_id(&self, at: usize) -> Option<(&str, bool)> {
        let task = self.tasks.get(at)?;
        task.id().map(|id| (id, task.doubled.is_some()))
    }

    /// Index of a task's parent.
    pub fn parent_of(&self, at: usize) -> Option<usize> {
        self.tasks.get(at)?.parent.map(|parent| parent as usize)
    }

    /// The patterns of `tasks.sections` that match no heading of this file: the key (`include` or
    /// `exclude`) and the pattern as it was written.
    pub fn unused_sections(&self) -> Vec<(&'static str, String)> {
        let titles: Vec<Title> =
            self.headings.iter().map(|heading| title(&self.bytes, heading, &self.grammar)).collect();
        self.grammar.sections.unused(&titles)
    }

    /// The byte offsets of the marks, in document order.
    pub fn mark_offsets(&self) -> impl Iterator<Item = usize> {
        self.tasks.iter().map(|task| task.found.at)
    }

    /// The boxes in document order, as the machine and the journal see them.
    pub fn rows(&self) -> Vec<Row> {
        self.tasks.iter().map(|task| self.row(task)).collect()
    }

    fn row(&self, task: &Task) -> Row {
        let whole = || self.bytes.get(task.found.text.clone()).unwrap_or_default();
        let text = clean(task.prefix, task.words(&self.bytes));
        Row {
            key: task.key.clone(),
            line: task.found.line,
            mark: Mark(task.found.mark),
            optional: task.optional,
            parent: self.parent(task).map(|parent| parent.key.family.clone()),
            group: task.found.group,
            digest: hex(&task.digest.unwrap_or_else(|| text_digest(whole()))),
            checkpoint: self.grammar.is_checkpoint(&text),
            text,
            is_virtual: false,
        }
    }

    pub(super) fn parent(&self, task: &Task) -> Option<&Task> {
        self.tasks.get(task.parent? as usize)
    }

    /// The text of the parts without tasks, and of the headings.
    pub(super) fn parts(&self) -> Vec<&[u8]> {
        let excluded = self.excluded.iter().map(|part| &part.range);
        let ranges = excluded.chain(self.headings.iter().map(|heading| &heading.title));
        ranges.map(|range| self.bytes.get(range.clone()).unwrap_or_default()).collect()
    }

    /// The one box of a key.
    pub(super) fn find(&self, key: &TaskKey) -> Result<&Task, FlipError> {
        let mut found = self.tasks.iter().filter(|task| task.key == *key);
        let task = found.next().ok_or_else(|| FlipError::NoSuchTask(key.clone()))?;
        if found.next().is_some() { Err(FlipError::Ambiguous(key.clone())) } else { Ok(task) }
    }

    /// True if the file ticks only with `X`.
    pub(super) fn ticks_upper(&self) -> bool {
        let has = |mark| self.tasks.iter().any(|task| task.found.mark == mark);
        has('X') && !has('x')
    }
}

/// Why no edit brings a box into a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlipError {
    /// No box has that key.
    NoSuchTask(TaskKey),
    /// Several boxes have it.
    Ambiguous(TaskKey),
    /// The mark in the box takes more than one byte (`[✅]`), and an edit changes one.
    WideMark(TaskKey, Mark),
    /// What was asked for is not a mark of one byte.
    NotAMark(Mark),
}

impl fmt::Display for FlipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchTask(key) => write!(f, "The task file has no box `{key}`."),
            Self::Ambiguous(key) => write!(f, "The task file has more than one box `{key}`."),
            Self::WideMark(key, mark) => write!(
                f,
                "The box of `{key}` holds `{}`, which takes more than one byte, and ralph changes single bytes only.",
                mark.0.escape_debug()
            ),
            Self::NotAMark(mark) => write!(f, "`{}` cannot stand in a box.", mark.0.escape_debug()),
        }
    }
}

impl std::error::Error for FlipError {}
