//! Lines on which a box is meant but none is found.
//!
//! Owns: the reading of single lines that hold no task.
//!
//! Promises: nothing here is a task; what is a task is decided in `outline`.
//!
//! Refuses to know: what the neighbours of a line say.

use super::{Remark, RemarkKind};
use crate::task::TaskFile;
use crate::task::exclude::{Kind, bom};
use crate::task::grammar::leading_id;
use crate::task::scan::{Line, checkbox, first_char, heading, indent, is_blank, item, lines};
use crate::task::walk::{Stands, Walked, walk};

/// Longest text between brackets that is looked at, bytes.
const MAX_BRACKET: usize = 40;

/// The number of the line on which a byte stands, 1-based.
pub(super) fn line_number(bytes: &[u8], offset: usize) -> u32 {
    let above = lines(bytes, bom(bytes)).take_while(|line| line.next <= offset).count();
    u32::try_from(above + 1).unwrap_or(u32::MAX)
}

/// True when the text, inline code apart, holds `[ ]`, `[x]` or `[X]` before a blank or the end.
pub(super) fn has_box(text: &[u8]) -> bool {
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

/// The remarks on lines without a task, and on line ends.
pub(super) fn remarks(file: &TaskFile) -> Vec<Remark> {
    let mut remarks = Vec::new();
    let mut ends = LineEnds::default();
    let mut in_table = false;
    let mut fences = Fences::default();
    for Walked { number, line, text, stands } in walk(file) {
        remarks.extend(ends.look(file.bytes(), line, number));
        remarks.extend(fences.look(file, stands, text, number));
        let kind = match stands {
            Stands::Hidden(Kind::FrontMatter, _) => is_box_item(text).then_some(RemarkKind::BoxInFrontMatter),
            Stands::Hidden(Kind::Fence | Kind::Comment, _) | Stands::Task(_) | Stands::LeftOut(_) => None,
            Stands::Heading(_) | Stands::Text => odd(text, file),
        };
        let told = in_table && kind == Some(RemarkKind::BoxInTable);
        in_table = kind == Some(RemarkKind::BoxInTable);
        remarks.extend(kind.filter(|_| !told).map(|kind| explain(kind, number)));
    }
    remarks.extend(fences.end());
    remarks
}

fn is_box_item(text: &[u8]) -> bool {
    item(text).and_then(|item| checkbox(text.get(item.content..)?)).is_some()
}

/// What is odd about a line that is no task.
fn odd(text: &[u8], file: &TaskFile) -> Option<RemarkKind> {
    if let Some(item) = item(text) {
        return odd_item(text.get(item.content..).unwrap_or_default(), file);
    }
    let (gap, _) = indent(text, 0);
    let rest = text.get(gap..).unwrap_or_default();
    if let Some(title) = heading(text) {
        let inner = item(title).map_or(title, |item| title.get(item.content..).unwrap_or_default());
        return checkbox(inner).map(|_| RemarkKind::BoxInHeading);
    }
    if rest.starts_with(b"|") {
        return rest.split(|b| *b == b'|').any(is_box_cell).then_some(RemarkKind::BoxInTable);
    }
    let after_bullet = rest.get(1..).filter(|_| matches!(rest.first(), Some(b'-' | b'*' | b'+')));
    if after_bullet.and_then(plain_box).is_some_and(ends_word) {
        return Some(RemarkKind::MalformedBox);
    }
    let shown = rest.strip_prefix("•".as_bytes()).map_or(rest, |rest| rest.trim_ascii_start());
    plain_box(shown).filter(|rest| ends_word(rest)).map(|_| RemarkKind::BoxWithoutBullet)
}

fn is_box_cell(cell: &[u8]) -> bool {
    plain_box(cell.trim_ascii()).is_some_and(ends_word)
}

fn odd_item(content: &[u8], file: &TaskFile) -> Option<RemarkKind> {
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
        return None;
    }
    let shown = after.strip_prefix(b"*").unwrap_or(after);
    if is_almost_a_mark(inner) {
        return Some(RemarkKind::MalformedBox);
    }
    let names_task = ends_word(shown) && leading_id(shown.trim_ascii_start(), &file.grammar).is_some();
    names_task.then_some(RemarkKind::MissingBox)
}

/// What a formatter leaves behind `\[`: a mark and a bracket, each perhaps behind a backslash.
fn is_escaped_box(rest: &[u8]) -> bool {
    let slash = |bytes: &[u8]| usize::from(bytes.starts_with(b"\\"));
    let mark = rest.get(slash(rest)..).unwrap_or_default();
    let Some(close) = first_char(mark).and_then(|c| mark.get(c.len_utf8()..)) else { return false };
    close.get(slash(close)..).is_some_and(|close| close.starts_with(b"]"))
}

/// True for what stands between brackets only when a box is meant: nothing, `x` with blanks, a symbol.
fn is_almost_a_mark(inner: &[u8]) -> bool {
    let inner = inner.trim_ascii();
    match first_char(inner) {
        None => inner.is_empty(),
        Some(c) if inner.len() == c.len_utf8() => matches!(c, 'x' | 'X') || !c.is_alphanumeric(),
        Some(c) => !c.is_ascii() && !c.is_alphanumeric() && inner.len() <= 16,
    }
}

fn explain(kind: RemarkKind, line: u32) -> Remark {
    let (what, hint) = match kind {
        RemarkKind::BoxInFrontMatter => (
            "stands in the front matter and is no task",
            "Begin the file with a heading instead of `---`, if this is no front matter.",
        ),
        RemarkKind::EscapedBox => (
            "has a box whose bracket a formatter has escaped, so it is no task",
            "Remove the backslashes: `- [ ] …`.",
        ),
        RemarkKind::MissingBox => {
            ("names a task but has no box, so it is no task", "Put the box first: `- [ ] T001 [P] …`.")
        }
        RemarkKind::BoxInTable => {
            ("has a box in a table, which is no task", "Make it a list item: `- [ ] …`.")
        }
        RemarkKind::BoxInHeading => {
            ("has a box in a heading, which is no task", "Make it a list item: `- [ ] …`.")
        }
        RemarkKind::BoxWithoutBullet => {
            ("has a box without a bullet, which is no task", "Write `- ` before the box.")
        }
        _ => (
            "has what is almost a box, so it is no task",
            "Write a bullet, a blank, `[ ]` or `[x]`, a blank, then the text.",
        ),
    };
    Remark::new(line, kind, format!("Line {line} {what}."), hint)
}

/// The boxes of the fence that is read.
#[derive(Default)]
struct Fences {
    /// The line of the first, and how many there are.
    open: Option<(u32, u32)>,
    /// The fence of the line above.
    fence: Option<usize>,
}

impl Fences {
    /// Behind a fence with boxes, a remark on them; a fence without an end is remarked on as such.
    fn look(&mut self, file: &TaskFile, stands: Stands, text: &[u8], number: u32) -> Option<Remark> {
        let fence = match stands {
            Stands::Hidden(Kind::Fence, at) if file.excluded.get(at).is_some_and(|part| part.closed) => {
                Some(at)
            }
            _ => None,
        };
        let ended = if fence == self.fence { None } else { self.end() };
        self.fence = fence;
        if fence.is_some() && is_box_item(text) {
            let (first, count) = self.open.unwrap_or((number, 0));
            self.open = Some((first, count + 1));
        }
        ended
    }

    fn end(&mut self) -> Option<Remark> {
        let (line, count) = self.open.take()?;
        let message = match count {
            1 => format!("The box on line {line} stands in a code fence and is no task."),
            _ => format!("Line {line} is the first of {count} boxes in a code fence, which are no tasks."),
        };
        let hint = "Take them out of the fence if they are meant to be done.";
        Some(Remark::new(line, RemarkKind::BoxInFence, message, hint))
    }
}

/// How lines end so far.
#[derive(Default)]
struct LineEnds {
    first: Option<&'static str>,
    told: bool,
}

impl LineEnds {
    /// A remark on the first line that ends otherwise than the first.
    fn look(&mut self, bytes: &[u8], line: Line, number: u32) -> Option<Remark> {
        let end = match bytes.get(line.end..line.next)? {
            b"\r\n" => "CR LF",
            b"\n" => "LF",
            b"\r" => "CR",
            _ => return None,
        };
        let first = *self.first.get_or_insert(end);
        if self.told || first == end {
            return None;
        }
        self.told = true;
        Some(Remark::new(
            number,
            RemarkKind::MixedLineEnds,
            format!("Line {number} ends with {end}, the lines before it with {first}."),
            "Choose one kind of line end (`git add --renormalize`); ralph keeps each as it is.",
        ))
    }
}
