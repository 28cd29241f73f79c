//! The single pass over the lines of a task file: the reading of each line, boxes, headings and nesting.
//!
//! Runs in linear time. The boxes found do not depend on their marks.

use super::exclude::{Excluded, bom, excluded};
use super::grammar::{Grammar, head};
use super::scan::{
    Item, Line, ReadAs, checkbox, heading, indent, is_underline, item, lines, opens_block,
};
use super::sections::{self, Above as HeadingsAbove, LeftOut, Title};
use std::ops::Range;

/// A box found on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// 1-based.
    pub(super) line: u32,
    /// Offset of the mark.
    pub(super) at: usize,
    pub(super) mark: char,
    /// True for `[ ]*`.
    pub(super) starred: bool,
    /// Number of headings above.
    pub(super) group: u32,
    /// The text after box and white space, up to the end of the line.
    pub(super) text: Range<usize>,
    /// Index of the box whose list item holds this one.
    pub(super) enclosing: Option<u32>,
    /// The last line of its list item, without blank lines at the end, 1-based.
    pub(super) last: u32,
}

/// A heading found on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    /// 1 to 6.
    pub(super) level: u8,
    /// The text after the hashes.
    pub(super) title: Range<usize>,
}

/// The result of one pass over the lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    /// The lines in document order, each with its reading.
    pub(super) lines: Vec<(Line, ReadAs)>,
    /// The parts without tasks, ascending.
    pub(super) excluded: Vec<Excluded>,
    /// The boxes in document order.
    pub(super) boxes: Vec<Found>,
    /// The headings in document order.
    pub(super) headings: Vec<Heading>,
    /// The reason for each box in a section that holds no tasks.
    pub(super) left_out: Vec<LeftOut>,
}

/// Reads the lines of a file, and leaves out boxes in sections that hold no tasks.
pub(super) fn outline(bytes: &[u8], grammar: &Grammar) -> Outline {
    let excluded = excluded(bytes);
    let mut parts = excluded.iter().peekable();
    let mut pass = Pass {
        bytes,
        grammar,
        out: Outline::default(),
        sections: HeadingsAbove::default(),
        open: Vec::new(),
        bodies: Vec::new(),
        above: Above::Blank,
        last: 0,
        inside: 0,
    };
    for (number, line) in (1..).zip(lines(bytes, bom(bytes))) {
        while parts.next_if(|part| part.range.end <= line.start).is_some() {}
        let text = bytes.get(line.start..line.end).unwrap_or_default();
        let read = match parts.peek().filter(|part| part.range.start <= line.start) {
            Some(part) => pass.hidden(part, text),
            None => pass.line(number, line, text),
        };
        if read != ReadAs::Blank {
            pass.last = number;
        }
        if let Some(part) = parts.peek().filter(|part| part.range.start < line.next) {
            pass.inside = part.range.end;
        }
        pass.out.lines.push((line, read));
    }
    pass.end_bodies(0);
    Outline {
        excluded,
        ..pass.out
    }
}

/// Returns the words of a heading, with and without its id.
pub(super) fn title(bytes: &[u8], heading: &Heading, grammar: &Grammar) -> Title {
    let text = bytes.get(heading.title.clone()).unwrap_or_default();
    let name = head(text, grammar).ok();
    sections::title(text, name.and_then(|name| text.get(name.rest..)))
}

/// The text directly above a line.
enum Above {
    /// Nothing that the line could continue.
    Blank,
    /// A part without tasks. It cannot be continued, but text right behind it would continue an inserted line.
    Hidden,
    /// A paragraph outside lists, by the index of its line. An underline makes it a heading.
    Paragraph(usize, Range<usize>),
    /// A list item or other text that a line may continue.
    Other,
}

struct Pass<'a> {
    bytes: &'a [u8],
    grammar: &'a Grammar,
    out: Outline,
    sections: HeadingsAbove,
    /// Open list items: the column of the bullet, and the box of the nearest item with one.
    open: Vec<(u32, Option<u32>)>,
    /// The boxes whose items the next line may continue, each with the column of its bullet.
    ///
    /// They end earlier than `open` where Markdown reads a line as outside the item although deeper items are still
    /// open.
    bodies: Vec<(u32, usize)>,
    above: Above,
    /// The last line that is not blank, 1-based.
    last: u32,
    /// End of the latest part without tasks. Its lines belong together at any indentation.
    inside: usize,
}

impl Pass<'_> {
    fn hidden(&mut self, part: &Excluded, text: &[u8]) -> ReadAs {
        let is_command = part.read == ReadAs::Command;
        if part.range.end != self.inside && !is_command {
            self.end_bodies(indent(text, 0).1);
        }
        self.above = if is_command {
            Above::Other
        } else {
            Above::Hidden
        };
        part.read
    }

    fn line(&mut self, number: u32, line: Line, text: &[u8]) -> ReadAs {
        let (gap, column) = indent(text, 0);
        if gap == text.len() {
            self.above = Above::Blank;
            return ReadAs::Blank;
        }
        if let Some((level, title)) = heading(text) {
            let inside = self.open.iter().any(|(above, _)| *above + 1 < column);
            let heading = Heading {
                level,
                title: line.end - title.len()..line.end,
            };
            return self.heading(heading, if inside { column } else { 0 });
        }
        if let Some(item) = item(text) {
            return self.item(number, line, text, item);
        }
        if let (Above::Paragraph(at, title), true) = (&self.above, is_underline(text)) {
            let level = if text.trim_ascii_start().starts_with(b"=") {
                1
            } else {
                2
            };
            let (at, heading) = (
                *at,
                Heading {
                    level,
                    title: title.clone(),
                },
            );
            let read = self.heading(heading, 0);
            if let Some(paragraph) = self.out.lines.get_mut(at) {
                paragraph.1 = read;
            }
            return ReadAs::Text;
        }
        let goes_on = !matches!(self.above, Above::Blank)
            && !opens_block(text.get(gap..).unwrap_or_default());
        self.end_bodies(if goes_on { u32::MAX } else { column });
        // Text after a blank line closes the items that it is not indented into. Without a blank line it continues
        // them.
        if matches!(self.above, Above::Blank | Above::Hidden) {
            self.close(column);
            let outside = self.open.is_empty() && column == 0;
            self.above = if outside {
                Above::Paragraph(self.out.lines.len(), line.start..line.end)
            } else {
                Above::Other
            };
        }
        ReadAs::Text
    }

    /// `column` is 0 outside of list items.
    fn heading(&mut self, heading: Heading, column: u32) -> ReadAs {
        if !self.grammar.sections.is_everything() {
            let title = title(self.bytes, &heading, self.grammar);
            self.sections
                .heading(heading.level, column, &title, &self.grammar.sections);
        }
        self.out.headings.push(heading);
        self.end_bodies(0);
        self.open.clear();
        self.above = Above::Blank;
        ReadAs::Heading(self.out.headings.len() - 1)
    }

    fn item(&mut self, number: u32, line: Line, text: &[u8], item: Item) -> ReadAs {
        self.end_bodies(item.column);
        self.close(item.column);
        self.sections.leave(item.column);
        self.above = Above::Other;
        let enclosing = self.open.last().and_then(|(_, holder)| *holder);
        let found = checkbox(text.get(item.content..).unwrap_or_default());
        let left_out = found.and_then(|_| self.sections.left_out(&self.grammar.sections));
        let Some(found) = found.filter(|_| left_out.is_none()) else {
            self.open.push((item.column, enclosing));
            self.out.left_out.extend(left_out.clone());
            return left_out.map_or(ReadAs::Text, |_| {
                ReadAs::LeftOut(self.out.left_out.len() - 1)
            });
        };
        let (at, start) = (self.out.boxes.len(), line.start + item.content);
        self.out.boxes.push(Found {
            line: number,
            at: start + 1,
            mark: found.mark,
            starred: found.starred,
            group: u32::try_from(self.out.headings.len()).unwrap_or(u32::MAX),
            text: start + found.text..line.end,
            enclosing,
            last: number,
        });
        self.open.push((item.column, u32::try_from(at).ok()));
        self.bodies.push((item.column, at));
        ReadAs::Task(at)
    }

    fn close(&mut self, column: u32) {
        while self.open.pop_if(|(at, _)| *at >= column).is_some() {}
    }

    /// Ends the items of boxes from that column on, at the last line that was not blank.
    fn end_bodies(&mut self, column: u32) {
        while let Some((_, at)) = self.bodies.pop_if(|(at, _)| *at >= column) {
            if let Some(found) = self.out.boxes.get_mut(at) {
                found.last = self.last;
            }
        }
    }
}
