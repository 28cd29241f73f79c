//! The one pass over the lines of a task file that finds boxes, headings and nesting.
//!
//! Linear; the boxes found do not depend on their marks.

use super::exclude::{Excluded, bom, excluded};
use super::grammar::{Grammar, Head, head};
use super::scan::{Item, Line, checkbox, heading, indent, is_underline, item, lines};
use super::sections::{Above as HeadingsAbove, LeftOut, Title};
use std::ops::Range;

/// A box as the lines show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// 1-based.
    pub(super) line: u32,
    /// Offset of the mark.
    pub(super) at: usize,
    /// The mark.
    pub(super) mark: char,
    /// `[ ]*`.
    pub(super) starred: bool,
    /// Headings above.
    pub(super) group: u32,
    /// The text behind box and white space, up to the end of the line.
    pub(super) text: Range<usize>,
    /// Index of the box whose list item holds this one.
    pub(super) enclosing: Option<u32>,
}

/// A heading as the lines show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    /// 1-based; of an underlined heading the line of its text.
    pub(super) line: u32,
    /// 1 to 6.
    pub(super) level: u8,
    /// The text, behind the hashes.
    pub(super) title: Range<usize>,
}

/// What one pass over the lines finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    /// The parts without tasks, ascending.
    pub(super) excluded: Vec<Excluded>,
    /// The boxes in document order.
    pub(super) boxes: Vec<Found>,
    /// The headings in document order.
    pub(super) headings: Vec<Heading>,
    /// The lines with a box in a section that holds no tasks, and why.
    pub(super) left_out: Vec<(u32, LeftOut)>,
}

/// Reads the lines of a file; boxes in sections that hold no tasks are left out.
pub(super) fn outline(bytes: &[u8], grammar: &Grammar) -> Outline {
    let out = Outline { excluded: excluded(bytes), ..Outline::default() };
    let mut pass =
        Pass { grammar, out, open: Vec::new(), above: Above::Blank, sections: HeadingsAbove::default() };
    let mut skipped = 0;
    for (number, line) in lines(bytes, bom(bytes)).enumerate() {
        while pass.out.excluded.get(skipped).is_some_and(|part| part.range.end <= line.start) {
            skipped += 1;
        }
        if pass.out.excluded.get(skipped).is_some_and(|part| part.range.start <= line.start) {
            pass.above = Above::Blank;
            continue;
        }
        let text = bytes.get(line.start..line.end).unwrap_or_default();
        pass.line(bytes, u32::try_from(number + 1).unwrap_or(u32::MAX), line, text);
    }
    pass.out
}

/// The words of a heading, with and without its id.
pub(super) fn title(bytes: &[u8], heading: &Heading, grammar: &Grammar) -> Title {
    let text = bytes.get(heading.title.clone()).unwrap_or_default();
    let rest = match head(text, grammar) {
        Head::Named(name) => text.get(name.rest..),
        Head::UnknownStage | Head::Plain => None,
    };
    Title::new(text, rest)
}

/// What is directly above a line.
enum Above {
    /// Nothing that goes on.
    Blank,
    /// A paragraph outside lists: an underline makes it a heading.
    Paragraph(u32, Range<usize>),
    /// A list item or something else that a line of text may continue.
    Other,
}

struct Pass<'g> {
    grammar: &'g Grammar,
    out: Outline,
    sections: HeadingsAbove,
    /// Open list items: the column of the bullet, and the box of the nearest item that has one.
    open: Vec<(u32, Option<u32>)>,
    above: Above,
}

impl Pass<'_> {
    fn line(&mut self, bytes: &[u8], number: u32, line: Line, text: &[u8]) {
        let (gap, column) = indent(text, 0);
        if gap == text.len() {
            self.above = Above::Blank;
        } else if let Some(title) = heading(text) {
            let level = u8::try_from(text.trim_ascii_start().iter().take_while(|b| **b == b'#').count());
            let title = line.end - title.len()..line.end;
            self.heading(bytes, Heading { line: number, level: level.unwrap_or(6), title });
        } else if let Some(item) = item(text) {
            self.item(number, line, text, item);
        } else if let (Above::Paragraph(line, title), true) = (&self.above, is_underline(text)) {
            let level = if text.trim_ascii_start().starts_with(b"=") { 1 } else { 2 };
            let heading = Heading { line: *line, level, title: title.clone() };
            self.heading(bytes, heading);
        } else {
            self.text(number, line, column);
        }
    }

    fn heading(&mut self, bytes: &[u8], heading: Heading) {
        if !self.grammar.sections.is_everything() {
            let title = title(bytes, &heading, self.grammar);
            self.sections.heading(heading.level, &title, &self.grammar.sections);
        }
        self.out.headings.push(heading);
        self.open.clear();
        self.above = Above::Blank;
    }

    fn item(&mut self, number: u32, line: Line, text: &[u8], item: Item) {
        self.close(item.column);
        let enclosing = self.open.last().and_then(|(_, holder)| *holder);
        let content = text.get(item.content..).unwrap_or_default();
        let mut found = checkbox(content);
        if let (Some(_), Some(why)) = (&found, self.sections.left_out(&self.grammar.sections)) {
            self.out.left_out.push((number, why));
            found = None;
        }
        let found = found.map(|found| {
            let start = line.start + item.content;
            self.out.boxes.push(Found {
                line: number,
                at: start + 1,
                mark: found.mark,
                starred: found.starred,
                group: u32::try_from(self.out.headings.len()).unwrap_or(u32::MAX),
                text: start + found.text..line.end,
                enclosing,
            });
            u32::try_from(self.out.boxes.len() - 1).unwrap_or(u32::MAX)
        });
        self.open.push((item.column, found.or(enclosing)));
        self.above = Above::Other;
    }

    /// Text after a blank line ends the items that do not reach around it; without one it continues them.
    fn text(&mut self, number: u32, line: Line, column: u32) {
        if matches!(self.above, Above::Blank) {
            self.close(column);
            let outside = self.open.is_empty() && column == 0;
            self.above = if outside { Above::Paragraph(number, line.start..line.end) } else { Above::Other };
        }
    }

    fn close(&mut self, column: u32) {
        while self.open.last().is_some_and(|(at, _)| *at >= column) {
            self.open.pop();
        }
    }
}
