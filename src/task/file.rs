//! A task file that was read.
//!
//! Owns: the bytes together with the boxes found in them.
//!
//! Promises: [`TaskFile::parse`] accepts any bytes and keeps each of them; keys, parents and order do not
//! depend on what is ticked.
//!
//! Refuses to know: the file's name, what it looked like before.

use super::edit::FlipError;
use super::exclude::{Excluded, bom};
use super::family::{Task, tasks, text_digest};
use super::grammar::Grammar;
use super::outline::{Heading, Outline, outline};
use super::scan::lines;
use super::sections::LeftOut;
use super::{Mark, Row, TaskKey};
use crate::source::{hex, text::line};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Longest text of a row, characters.
const MAX_TEXT: usize = 500;

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
    index: OnceLock<Index>,
}

/// What is looked up often.
#[derive(Clone, Debug)]
struct Index {
    /// The box of each key; `None` for a key that stands twice.
    by_key: HashMap<TaskKey, Option<usize>>,
    ticks_upper: bool,
}

impl TaskFile {
    /// Reads a task file. Any bytes are one; what is wrong with them is told by [`TaskFile::problems`]
    /// and [`TaskFile::remarks`].
    pub fn parse(bytes: impl Into<Vec<u8>>, grammar: &Grammar) -> Self {
        let bytes = bytes.into();
        let Outline { excluded, boxes, headings, left_out } = outline(&bytes, grammar);
        let tasks = tasks(&bytes, boxes, &headings, grammar);
        let grammar = grammar.clone();
        Self { bytes, grammar, excluded, headings, left_out, tasks, index: OnceLock::new() }
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

    /// The byte offsets of the marks, in document order.
    pub fn mark_offsets(&self) -> impl Iterator<Item = usize> {
        self.tasks.iter().map(|task| task.found.at)
    }

    /// The boxes in document order, as the machine and the journal see them.
    pub fn rows(&self) -> Vec<Row> {
        self.tasks.iter().map(|task| self.row(task)).collect()
    }

    fn row(&self, task: &Task) -> Row {
        let end = task.found.text.end;
        let words = self.bytes.get(task.words..end).unwrap_or_default();
        let whole = || self.bytes.get(task.found.text.clone()).unwrap_or_default();
        let text = clean(task.prefix, words);
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
            unwritten: false,
        }
    }

    pub(super) fn parent(&self, task: &Task) -> Option<&Task> {
        self.tasks.get(task.parent? as usize)
    }

    /// What stands in the parts without tasks, and the headings.
    pub(super) fn parts(&self) -> Vec<&[u8]> {
        let excluded = self.excluded.iter().map(|part| &part.range);
        let ranges = excluded.chain(self.headings.iter().map(|heading| &heading.title));
        ranges.map(|range| self.bytes.get(range.clone()).unwrap_or_default()).collect()
    }

    /// The one box of a key.
    pub(super) fn find(&self, key: &TaskKey) -> Result<&Task, FlipError> {
        let found = self.index().by_key.get(key).ok_or_else(|| FlipError::NoSuchTask(key.clone()))?;
        found.and_then(|at| self.tasks.get(at)).ok_or_else(|| FlipError::Ambiguous(key.clone()))
    }

    /// True when the file ticks only with `X`.
    pub(super) fn ticks_upper(&self) -> bool {
        self.index().ticks_upper
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut by_key = HashMap::with_capacity(self.tasks.len());
            for (at, task) in self.tasks.iter().enumerate() {
                by_key.entry(task.key.clone()).and_modify(|found| *found = None).or_insert(Some(at));
            }
            let has = |mark| self.tasks.iter().any(|task| task.found.mark == mark);
            Index { by_key, ticks_upper: has('X') && !has('x') }
        })
    }
}

/// Text for rows and messages.
pub(super) fn clean(prefix: &str, bytes: &[u8]) -> String {
    let bound = bytes.get(..bytes.len().min(MAX_TEXT * 4)).unwrap_or_default();
    let text = String::from_utf8_lossy(bound);
    if prefix.is_empty() { line(&text, MAX_TEXT) } else { line(&format!("{prefix}{text}"), MAX_TEXT) }
}
