//! The lines of a task file, each with what it is read as.

use super::exclude::{Kind, bom};
use super::file::TaskFile;
use super::scan::{Line, lines};
use serde::Serialize;

/// What a line is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadAs {
    /// The task of this index.
    Task(usize),
    /// The heading of this index.
    Heading(usize),
    /// A box in a section without tasks, by its index among those.
    LeftOut(usize),
    /// Front matter.
    FrontMatter,
    /// A code fence.
    Fence,
    /// An HTML comment.
    Comment,
    /// Text.
    Text,
    /// Nothing.
    Blank,
}

/// A line of a task file.
#[derive(Clone, Copy, Debug)]
pub struct ReadLine<'a> {
    /// 1-based.
    pub number: u32,
    /// Its bytes, the line end apart.
    pub text: &'a [u8],
    /// What it is read as.
    pub read: ReadAs,
    pub(super) line: Line,
}

impl TaskFile {
    /// The lines in document order, each with what it is read as.
    pub fn read_lines(&self) -> impl Iterator<Item = ReadLine<'_>> {
        let mut parts = self.excluded.iter().peekable();
        let mut tasks = self.tasks.iter().enumerate().peekable();
        let mut left_out = self.left_out.iter().enumerate().peekable();
        let mut headings = self.headings.iter().enumerate().peekable();
        (1_u32..).zip(lines(&self.bytes, bom(&self.bytes))).map(move |(number, line)| {
            while parts.next_if(|part| part.range.end <= line.start).is_some() {}
            let hidden = parts.peek().filter(|part| part.range.start <= line.start).map(|part| part.kind);
            let task = tasks.next_if(|(_, task)| task.found.line == number);
            let heading = headings.next_if(|(_, heading)| heading.line == number);
            let out = left_out.next_if(|(_, (line, _))| *line == number);
            let text = self.bytes.get(line.start..line.end).unwrap_or_default();
            let read = match (hidden, task, heading, out) {
                (Some(Kind::FrontMatter), ..) => ReadAs::FrontMatter,
                (Some(Kind::Fence), ..) => ReadAs::Fence,
                (Some(Kind::Comment), ..) => ReadAs::Comment,
                (None, Some((at, _)), ..) => ReadAs::Task(at),
                (None, None, Some((at, _)), _) => ReadAs::Heading(at),
                (None, None, None, Some((at, _))) => ReadAs::LeftOut(at),
                (None, None, None, None) if text.trim_ascii().is_empty() => ReadAs::Blank,
                (None, None, None, None) => ReadAs::Text,
            };
            ReadLine { number, text, read, line }
        })
    }
}
