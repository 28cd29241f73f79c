//! What is odd about a task file that a run accepts: above all what a person takes for a task and ralph does
//! not, or the other way round.

mod relations;

use super::exclude::{bom, list_items};
use super::file::{ReadLine, TaskFile};
use super::grammar::{Grammar, NoName, head, leading_id};
use super::meaning::says_optional;
use super::problems::Finding;
use super::row::Mark;
use super::scan::{ReadAs, checkbox, clean, first_char, heading, indent, is_blank, item};
use crate::source::text::count;
use serde::Serialize;
use std::collections::BTreeMap;

/// Longest text between brackets that is looked at, bytes.
const MAX_BRACKET: usize = 40;

/// What is odd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RemarkKind {
    /// There is no box at all.
    NoTasks,
    /// There is no box at all, because the file is UTF-16 or UTF-32.
    NotUtf8,
    /// All boxes are in sections without tasks.
    OnlyLeftOut,
    /// The file begins with a byte-order mark.
    ByteOrderMark,
    /// Lines end in different ways.
    MixedLineEnds,
    /// A fence is open to the end of the file and hides what follows.
    UnclosedFence,
    /// A comment has no end and hides what follows.
    UnclosedComment,
    /// A box in front matter is not a task.
    BoxInFrontMatter,
    /// A mark other than space and `x`: kept, and not done.
    UnknownMark,
    /// `- \[ ] …`: a formatter escaped the box, so it is not a task any more.
    EscapedBox,
    /// `- [x ]`, `- [ ]Foo`, `-[ ] foo`: almost a box, and not a task.
    MalformedBox,
    /// `- [P] T001 …`: a task without its box.
    MissingBox,
    /// Tasks that `CommonMark` does not read as list items: indented like code, or in HTML.
    UnlistedBox,
    /// A box that does not begin a list item (in a heading or a table, without a bullet) is not a task.
    BoxWithoutBullet,
    /// A second box on one line is part of the text.
    TwoBoxes,
    /// Two tasks show the same id; they are identified by their text.
    DuplicateId,
    /// `2.REVIEW`: not a stage word, so the line is a task without an id.
    UnknownStage,
    /// A parent is ticked and a required child is not done.
    TickedParent,
    /// Boxes in a code fence are not tasks.
    BoxInFence,
    /// Boxes in the text of a command are not tasks.
    BoxInCommand,
    /// Headings name tasks, and there is no box below them.
    HeadingWithoutBox,
    /// The words say that the task is optional, its box does not.
    OptionalInWords,
    /// An open task is struck out.
    StruckOut,
    /// A stage is on the other side of its task than its turn is.
    StageOrder,
    /// A gate covers no task that could change anything.
    GateWithoutWork,
    /// A parent is below its children, under another heading.
    ParentBelow,
}

/// Something odd in a task file.
pub type Remark = Finding<RemarkKind>;

impl TaskFile {
    /// What is odd about this file, by line.
    pub fn remarks(&self) -> Vec<Remark> {
        let mut pass = Pass::default();
        self.whole_file(&mut pass.remarks);
        let items = list_items(&self.bytes, &self.excluded);
        for line in self.read_lines() {
            pass.line(self, &line, items.contains(&line.line.start));
        }
        pass.end_heading(u8::MIN);
        let mut remarks = pass.remarks;
        for ((kind, run), (first, found)) in pass.runs {
            let what = if kind == RemarkKind::HeadingWithoutBox { "heading" } else { "box" };
            let mark = u32::try_from(run).ok().and_then(char::from_u32).unwrap_or(' ').escape_debug();
            remarks.push(Remark::new(first, kind, &[&count(found.into(), what), &mark.to_string()]));
        }
        relations::remarks(self, &mut remarks);
        remarks.sort_by_key(|remark| (remark.line, remark.kind));
        remarks
    }

    fn whole_file(&self, remarks: &mut Vec<Remark>) {
        let starts = |marks: [&[u8]; 2]| marks.iter().any(|mark| self.bytes.starts_with(mark));
        if self.is_empty() {
            remarks.push(match () {
                () if starts([b"\xff\xfe\0\0", b"\0\0\xfe\xff"]) => {
                    Remark::new(1, RemarkKind::NotUtf8, &["UTF-32"])
                }
                () if starts([b"\xff\xfe", b"\xfe\xff"]) => Remark::new(1, RemarkKind::NotUtf8, &["UTF-16"]),
                () if self.left_out.is_empty() => Remark::new(1, RemarkKind::NoTasks, &[]),
                () => Remark::new(1, RemarkKind::OnlyLeftOut, &[]),
            });
        }
        if bom(&self.bytes) > 0 {
            remarks.push(Remark::new(1, RemarkKind::ByteOrderMark, &[]));
        }
        for part in self.excluded.iter().filter(|part| !part.closed) {
            let above = self.lines.partition_point(|(line, _)| line.next <= part.range.start);
            let line = u32::try_from(above + 1).unwrap_or(u32::MAX);
            let is_comment = part.read == ReadAs::Comment;
            let kind = if is_comment { RemarkKind::UnclosedComment } else { RemarkKind::UnclosedFence };
            remarks.push(Remark::new(line, kind, &[]));
        }
    }
}

/// The pass over the lines.
#[derive(Default)]
struct Pass {
    remarks: Vec<Remark>,
    /// How the first line ends, and whether another one that differs was reported.
    line_end: Option<(&'static str, bool)>,
    /// The line above has a box that does not begin a list item: of several in a row only the first is reported.
    has_box_above: bool,
    /// Tasks so far that other tools read as such, too.
    listed: usize,
    /// The heading of a task whose box was not found yet: its line and level, and whether text follows.
    heading: Option<(u32, u8, bool)>,
    /// Boxes that share a remark, by kind and fence (or mark, or tasks above): the first line, and how many they are.
    runs: BTreeMap<(RemarkKind, usize), (u32, u32)>,
}

impl Pass {
    fn line(&mut self, file: &TaskFile, line: &ReadLine<'_>, is_listed: bool) {
        self.line_end(file, line);
        self.heading(file, line);
        let kind = match line.read {
            ReadAs::Task(at) => {
                self.task(file, line.number, at);
                self.listed += usize::from(is_listed);
                (!is_listed).then(|| self.count(RemarkKind::UnlistedBox, self.listed, line.number));
                None
            }
            ReadAs::Fence | ReadAs::Command => {
                let kind = if line.read == ReadAs::Fence {
                    RemarkKind::BoxInFence
                } else {
                    RemarkKind::BoxInCommand
                };
                let at = file.excluded.partition_point(|part| part.range.end <= line.line.start);
                let is_closed = file.excluded.get(at).is_some_and(|part| part.closed);
                (is_closed && line.has_box()).then(|| self.count(kind, at, line.number));
                None
            }
            ReadAs::FrontMatter => line.has_box().then_some(RemarkKind::BoxInFrontMatter),
            ReadAs::Heading(_) | ReadAs::Text => odd_line(line.text, &file.grammar),
            ReadAs::Comment | ReadAs::LeftOut(_) | ReadAs::Blank => None,
        };
        let has_box = kind == Some(RemarkKind::BoxWithoutBullet);
        if let Some(kind) = kind.filter(|_| !(has_box && self.has_box_above)) {
            self.remarks.push(Remark::new(line.number, kind, &[]));
        }
        self.has_box_above = has_box;
    }

    fn count(&mut self, kind: RemarkKind, run: usize, line: u32) {
        self.runs.entry((kind, run)).or_insert((line, 0)).1 += 1;
    }

    /// A heading named like a task ends as none if no box is below it.
    fn heading(&mut self, file: &TaskFile, line: &ReadLine<'_>) {
        match line.read {
            ReadAs::Heading(at) => {
                let Some((level, title)) = file.heading(at) else { return };
                self.end_heading(level);
                let bare = title.trim_start_matches(['*', '_', '~']);
                if bare.starts_with("Task ") && leading_id(bare.as_bytes(), &file.grammar).is_some() {
                    self.heading = Some((line.number, level, false));
                }
            }
            ReadAs::Task(_) | ReadAs::LeftOut(_) => self.heading = None,
            ReadAs::Blank => {}
            _ => self.heading = self.heading.map(|(at, level, _)| (at, level, true)),
        }
    }

    fn end_heading(&mut self, level: u8) {
        if let Some((at, _, has_text)) = self.heading.take_if(|(_, own, _)| level <= *own)
            && has_text
        {
            self.count(RemarkKind::HeadingWithoutBox, 0, at);
        }
    }

    fn line_end(&mut self, file: &TaskFile, line: &ReadLine<'_>) {
        let end = match file.bytes.get(line.line.end..line.line.next) {
            Some(b"\r\n") => "CR LF",
            Some(b"\n") => "LF",
            Some(b"\r") => "CR",
            _ => return,
        };
        let (first, reported) = self.line_end.get_or_insert((end, false));
        if *first != end && !*reported {
            *reported = true;
            self.remarks.push(Remark::new(line.number, RemarkKind::MixedLineEnds, &[end, first]));
        }
    }

    fn task(&mut self, file: &TaskFile, line: u32, at: usize) {
        let Some(task) = file.tasks.get(at) else { return };
        let mark = Mark(task.found.mark);
        let text = file.bytes.get(task.found.text.clone()).unwrap_or_default();
        if !mark.is_open() && !mark.is_done() {
            self.count(RemarkKind::UnknownMark, mark.0 as usize, line);
        }
        if has_box(text) {
            self.remarks.push(Remark::new(line, RemarkKind::TwoBoxes, &[]));
        }
        if mark.is_open() && task.is_implementation() {
            let says =
                |kind, mark: &str| Remark::new(line, kind, &[&format!("- {mark} {}", clean("", text))]);
            if task.struck {
                self.remarks.push(says(RemarkKind::StruckOut, "[x]"));
            } else if !task.optional && says_optional(&String::from_utf8_lossy(task.words(&file.bytes))) {
                self.remarks.push(says(RemarkKind::OptionalInWords, "[ ]*"));
            }
        }
        if task.id().is_none() && head(text, &file.grammar) == Err(NoName::UnknownStage) {
            self.remarks.push(Remark::new(line, RemarkKind::UnknownStage, &[]));
        }
    }
}

/// True when the text, inline code apart, holds `[ ]`, `[x]` or `[X]` before a blank or the end.
fn has_box(text: &[u8]) -> bool {
    let mut in_code = false;
    text.iter().enumerate().any(|(at, byte)| {
        in_code ^= *byte == b'`';
        *byte == b'[' && !in_code && plain_box(text.get(at..).unwrap_or_default()).is_some_and(ends_word)
    })
}

/// What follows `[ ]`, `[x]` or `[X]`.
fn plain_box(text: &[u8]) -> Option<&[u8]> {
    let rest = text.strip_prefix(b"[")?;
    let rest = [b" ".as_slice(), b"\t", b"x", b"X"].iter().find_map(|mark| rest.strip_prefix(*mark))?;
    rest.strip_prefix(b"]")
}

fn ends_word(rest: &[u8]) -> bool {
    rest.first().is_none_or(|b| is_blank(*b))
}

/// What is odd about a line that is not a task.
fn odd_line(text: &[u8], grammar: &Grammar) -> Option<RemarkKind> {
    if let Some(item) = item(text) {
        return odd_item(text.get(item.content..).unwrap_or_default(), grammar);
    }
    let (gap, _) = indent(text, 0);
    let rest = text.get(gap..).unwrap_or_default();
    if let Some((_, title)) = heading(text) {
        let inner = item(title).map_or(title, |item| title.get(item.content..).unwrap_or_default());
        return checkbox(inner).map(|_| RemarkKind::BoxWithoutBullet);
    }
    let is_box = |text: &[u8]| plain_box(text).is_some_and(ends_word);
    if rest.starts_with(b"|") {
        let mut cells = rest.split(|b| *b == b'|').map(<[u8]>::trim_ascii);
        return cells.any(is_box).then_some(RemarkKind::BoxWithoutBullet);
    }
    let after_bullet = rest.get(1..).filter(|_| matches!(rest.first(), Some(b'-' | b'*' | b'+')));
    if after_bullet.is_some_and(is_box) {
        return Some(RemarkKind::MalformedBox);
    }
    let shown = rest.strip_prefix("•".as_bytes()).map_or(rest, |rest| rest.trim_ascii_start());
    is_box(shown).then_some(RemarkKind::BoxWithoutBullet)
}

fn odd_item(content: &[u8], grammar: &Grammar) -> Option<RemarkKind> {
    if let Some(rest) = content.strip_prefix(b"\\[") {
        return is_escaped_box(rest).then_some(RemarkKind::EscapedBox);
    }
    if let Some(rest) = content.strip_prefix(b"**").or_else(|| content.strip_prefix(b"__")) {
        return plain_box(rest).filter(|rest| ends_word(rest)).map(|_| RemarkKind::MalformedBox);
    }
    let rest = content.strip_prefix(b"[")?;
    let close = rest.iter().take(MAX_BRACKET).position(|b| *b == b']')?;
    let (inner, after) = (rest.get(..close)?, rest.get(close + 1..)?);
    if matches!(after.first(), Some(b'(' | b'[' | b':')) {
        // `- [ ](1.md)` is a box, and a link without words; `- [x](…)` is a link.
        return (inner == b" ").then_some(RemarkKind::MalformedBox);
    }
    let shown = after.strip_prefix(b"*").unwrap_or(after);
    if is_almost_a_mark(inner) {
        return Some(RemarkKind::MalformedBox);
    }
    let names_task = ends_word(shown) && leading_id(shown.trim_ascii_start(), grammar).is_some();
    names_task.then_some(RemarkKind::MissingBox)
}

/// What a formatter leaves behind `\[`: a mark and a bracket, each perhaps behind a backslash.
fn is_escaped_box(rest: &[u8]) -> bool {
    let slash = |bytes: &[u8]| usize::from(bytes.starts_with(b"\\"));
    let mark = rest.get(slash(rest)..).unwrap_or_default();
    let Some(close) = first_char(mark).and_then(|c| mark.get(c.len_utf8()..)) else { return false };
    close.get(slash(close)..).is_some_and(|close| close.starts_with(b"]"))
}

/// True for text between brackets only if a box is meant: nothing, `x` with blanks, a symbol.
fn is_almost_a_mark(inner: &[u8]) -> bool {
    let inner = inner.trim_ascii();
    match first_char(inner) {
        None => inner.is_empty(),
        Some(c) if inner.len() == c.len_utf8() => matches!(c, 'x' | 'X') || !c.is_alphanumeric(),
        Some(c) => !c.is_ascii() && !c.is_alphanumeric() && inner.len() <= 16,
    }
}
