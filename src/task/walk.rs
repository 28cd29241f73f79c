//! The lines of a task file, each with what it was read as.
//!
//! Owns: the pairing of lines with the boxes, headings and hidden parts that were found on them.
//!
//! Promises: every line once, in order; linear time; nothing is decided here.
//!
//! Refuses to know: what a task or a heading says.

use super::TaskFile;
use super::exclude::{Kind, bom};
use super::scan::{Line, lines};

/// What a line was read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stands {
    /// The task of this index.
    Task(usize),
    /// The heading of this index.
    Heading(usize),
    /// A box in a section that holds no tasks, by its index among those.
    LeftOut(usize),
    /// Front matter, fence or comment, and its index among the parts without tasks.
    Hidden(Kind, usize),
    /// Anything else.
    Text,
}

/// A line of a task file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walked<'a> {
    /// 1-based.
    pub(super) number: u32,
    /// Where it stands.
    pub(super) line: Line,
    /// Its bytes, the line end apart.
    pub(super) text: &'a [u8],
    /// What it was read as.
    pub(super) stands: Stands,
}

/// The lines in document order.
pub(super) fn walk(file: &TaskFile) -> impl Iterator<Item = Walked<'_>> {
    let mut parts = file.excluded.iter().enumerate().peekable();
    let mut tasks = file.tasks.iter().enumerate().peekable();
    let mut left_out = file.left_out.iter().enumerate().peekable();
    let mut headings = file.headings.iter().enumerate().peekable();
    (1_u32..).zip(lines(&file.bytes, bom(&file.bytes))).map(move |(number, line)| {
        while parts.next_if(|(_, part)| part.range.end <= line.start).is_some() {}
        let hidden = parts.peek().filter(|(_, part)| part.range.start <= line.start);
        let hidden = hidden.map(|(at, part)| (part.kind, *at));
        let task = tasks.next_if(|(_, task)| task.found.line == number).map(|(at, _)| at);
        let heading = headings.next_if(|(_, heading)| heading.line == number).map(|(at, _)| at);
        let out = left_out.next_if(|(_, (line, _))| *line == number).map(|(at, _)| at);
        let stands = match (hidden, task, heading, out) {
            (Some((kind, at)), ..) => Stands::Hidden(kind, at),
            (None, Some(at), ..) => Stands::Task(at),
            (None, None, Some(at), _) => Stands::Heading(at),
            (None, None, None, Some(at)) => Stands::LeftOut(at),
            (None, None, None, None) => Stands::Text,
        };
        let text = file.bytes.get(line.start..line.end).unwrap_or_default();
        Walked { number, line, text, stands }
    })
}
