//! The single pass over the lines of a task file: the reading of each line, boxes, headings and nesting.
//!
//! Runs in linear time. The boxes found do not depend on their marks.

use super::exclude::{Excluded, bom_length, excluded_parts};
use super::grammar::{Grammar, read_head};
use super::scan::{
    FileLine, ListItem, ReadAs, is_underline, measure_indent, opens_block, read_checkbox,
    read_heading, read_item, scan_lines,
};
use super::sections::{self, HeadingsAbove, SectionExclusion, Title};
use std::ops::Range;

/// A box found on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundBox {
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
pub(super) struct OutlineHeading {
    /// 1 to 6.
    pub(super) level: u8,
    /// The text after the hashes.
    pub(super) title: Range<usize>,
}

/// The result of one pass over the lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TaskFileOutline {
    /// The lines in document order, each with its reading.
    pub(super) lines: Vec<(FileLine, ReadAs)>,
    /// The parts without tasks, ascending.
    pub(super) excluded: Vec<Excluded>,
    /// The boxes in document order.
    pub(super) boxes: Vec<FoundBox>,
    /// The headings in document order.
    pub(super) headings: Vec<OutlineHeading>,
    /// The reason for each box in a section that holds no tasks.
    pub(super) left_out: Vec<SectionExclusion>,
}

/// Reads the lines of a file, and leaves out boxes in sections that hold no tasks.
pub(super) fn read_outline(bytes: &[u8], grammar: &Grammar) -> TaskFileOutline {
    let excluded = excluded_parts(bytes);
    let mut parts = excluded.iter().peekable();
    let mut pass = OutlinePass {
        bytes,
        grammar,
        out: TaskFileOutline::default(),
        sections: HeadingsAbove::default(),
        open: Vec::new(),
        bodies: Vec::new(),
        above: LineAbove::Blank,
        last: 0,
        inside: 0,
    };
    for (number, line) in (1..).zip(scan_lines(bytes, bom_length(bytes))) {
        while parts.next_if(|part| part.range.end <= line.start).is_some() {}
        let text = bytes.get(line.start..line.end).unwrap_or_default();
        let read = match parts.peek().filter(|part| part.range.start <= line.start) {
            Some(part) => pass.read_hidden(part, text),
            None => pass.read_line(number, line, text),
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
    TaskFileOutline {
        excluded,
        ..pass.out
    }
}

/// Returns the words of a heading, with and without its id.
pub(super) fn heading_title(bytes: &[u8], heading: &OutlineHeading, grammar: &Grammar) -> Title {
    let text = bytes.get(heading.title.clone()).unwrap_or_default();
    let name = read_head(text, grammar).ok();
    sections::title_forms(text, name.and_then(|name| text.get(name.rest..)))
}

/// The text directly above a line.
enum LineAbove {
    /// Nothing that the line could continue.
    Blank,
    /// A part without tasks. It cannot be continued, but text right behind it would continue an inserted line.
    Hidden,
    /// A paragraph outside lists, by the index of its line. An underline makes it a heading.
    Paragraph(usize, Range<usize>),
    /// A list item or other text that a line may continue.
    Other,
}

struct OutlinePass<'a> {
    bytes: &'a [u8],
    grammar: &'a Grammar,
    out: TaskFileOutline,
    sections: HeadingsAbove,
    /// Open list items: the column of the bullet, and the box of the nearest item with one.
    open: Vec<(u32, Option<u32>)>,
    /// The boxes whose items the next line may continue, each with the column of its bullet.
    ///
    /// They end earlier than `open` where Markdown reads a line as outside the item although deeper items are still
    /// open.
    bodies: Vec<(u32, usize)>,
    above: LineAbove,
    /// The last line that is not blank, 1-based.
    last: u32,
    /// End of the latest part without tasks. Its lines belong together at any indentation.
    inside: usize,
}

impl OutlinePass<'_> {
    fn read_hidden(&mut self, part: &Excluded, text: &[u8]) -> ReadAs {
        let is_command = part.read == ReadAs::Command;
        if part.range.end != self.inside && !is_command {
            self.end_bodies(measure_indent(text, 0).1);
        }
        self.above = if is_command {
            LineAbove::Other
        } else {
            LineAbove::Hidden
        };
        part.read
    }

    fn read_line(&mut self, number: u32, line: FileLine, text: &[u8]) -> ReadAs {
        let (gap, column) = measure_indent(text, 0);
        if gap == text.len() {
            self.above = LineAbove::Blank;
            return ReadAs::Blank;
        }
        if let Some((level, title)) = read_heading(text) {
            let inside = self.open.iter().any(|(above, _)| *above + 1 < column);
            let heading = OutlineHeading {
                level,
                title: line.end - title.len()..line.end,
            };
            return self.enter_heading(heading, if inside { column } else { 0 });
        }
        if let Some(item) = read_item(text) {
            return self.read_item(number, line, text, item);
        }
        if let (LineAbove::Paragraph(at, title), true) = (&self.above, is_underline(text)) {
            let level = if text.trim_ascii_start().starts_with(b"=") {
                1
            } else {
                2
            };
            let (at, heading) = (
                *at,
                OutlineHeading {
                    level,
                    title: title.clone(),
                },
            );
            let read = self.enter_heading(heading, 0);
            if let Some(paragraph) = self.out.lines.get_mut(at) {
                paragraph.1 = read;
            }
            return ReadAs::Text;
        }
        let goes_on = !matches!(self.above, LineAbove::Blank)
            && !opens_block(text.get(gap..).unwrap_or_default());
        self.end_bodies(if goes_on { u32::MAX } else { column });
        // Text after a blank line closes the items that it is not indented into. Without a blank line it continues
        // them.
        if matches!(self.above, LineAbove::Blank | LineAbove::Hidden) {
            self.close_items(column);
            let outside = self.open.is_empty() && column == 0;
            self.above = if outside {
                LineAbove::Paragraph(self.out.lines.len(), line.start..line.end)
            } else {
                LineAbove::Other
            };
        }
        ReadAs::Text
    }

    /// `column` is 0 outside of list items.
    fn enter_heading(&mut self, heading: OutlineHeading, column: u32) -> ReadAs {
        if !self.grammar.sections.is_everything() {
            let title = heading_title(self.bytes, &heading, self.grammar);
            self.sections
                .enter_heading(heading.level, column, &title, &self.grammar.sections);
        }
        self.out.headings.push(heading);
        self.end_bodies(0);
        self.open.clear();
        self.above = LineAbove::Blank;
        ReadAs::Heading(self.out.headings.len() - 1)
    }

    fn read_item(&mut self, number: u32, line: FileLine, text: &[u8], item: ListItem) -> ReadAs {
        self.end_bodies(item.column);
        self.close_items(item.column);
        self.sections.leave_items(item.column);
        self.above = LineAbove::Other;
        let enclosing = self.open.last().and_then(|(_, holder)| *holder);
        let found = read_checkbox(text.get(item.content..).unwrap_or_default());
        let left_out = found.and_then(|_| self.sections.left_out(&self.grammar.sections));
        let Some(found) = found.filter(|_| left_out.is_none()) else {
            self.open.push((item.column, enclosing));
            self.out.left_out.extend(left_out.clone());
            return left_out.map_or(ReadAs::Text, |_| {
                ReadAs::LeftOut(self.out.left_out.len() - 1)
            });
        };
        let (at, start) = (self.out.boxes.len(), line.start + item.content);
        self.out.boxes.push(FoundBox {
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

    fn close_items(&mut self, column: u32) {
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
