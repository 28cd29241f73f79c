//! Which parts of a task file hold no tasks: front matter, fenced code, HTML comments.
//!
//! Owns: the question put to pulldown-cmark and its answer as byte ranges.
//!
//! Promises: ranges in ascending order, without overlap, in offsets of the whole file; the answer does
//! not depend on what stands in a box, so a flip can never hide or reveal a task.
//!
//! Refuses to know: what the other lines are.

use super::scan::{checkbox, is_blank, item, lines};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};
use std::ops::Range;

/// What is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    FrontMatter,
    Fence,
    Comment,
}

/// A part of the file that holds no tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Excluded {
    /// Byte offsets in the file.
    pub(super) range: Range<usize>,
    pub(super) kind: Kind,
    /// Its end mark stands there; a fence that only its list item ends counts as closed.
    pub(super) closed: bool,
}

/// Length of the byte-order mark: 3 or 0.
pub(super) fn bom(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }
}

/// The parts of `bytes` that hold no tasks.
pub(super) fn excluded(bytes: &[u8]) -> Vec<Excluded> {
    let start = bom(bytes);
    let front = front_matter(bytes, start);
    let base = front.as_ref().map_or(start, |front| front.range.end);
    let mut found: Vec<Excluded> = front.into_iter().collect();
    let body = bytes.get(base..).unwrap_or_default();
    if may_exclude(body) {
        let copy = plain_copy(body);
        let options = Options::ENABLE_TASKLISTS;
        for (event, range) in Parser::new_ext(&copy, options).into_offset_iter() {
            if let Some((kind, closed)) = judge(&event, &copy, &range) {
                found.push(Excluded { range: base + range.start..base + range.end, kind, closed });
            }
        }
    }
    found
}

/// Front matter: line 1 is exactly `---`, and a later line is `---` or `...`.
fn front_matter(bytes: &[u8], start: usize) -> Option<Excluded> {
    let mut lines = lines(bytes, start);
    let text = |line: super::scan::Line| bytes.get(line.start..line.end).unwrap_or_default();
    lines.next().filter(|line| text(*line) == b"---")?;
    let last = lines.find(|line| matches!(text(*line), b"---" | b"..."))?;
    Some(Excluded { range: start..last.next, kind: Kind::FrontMatter, closed: true })
}

/// False when nothing in the text can open a fence or a comment; then there is nothing to ask.
fn may_exclude(body: &[u8]) -> bool {
    let mut run = (0_u8, 0_u32);
    body.iter().enumerate().any(|(at, byte)| {
        run = if *byte == run.0 { (run.0, run.1 + 1) } else { (*byte, 1) };
        match byte {
            b'`' | b'~' => run.1 == 3,
            b'<' => body.get(at..).is_some_and(|rest| rest.starts_with(b"<!--")),
            _ => false,
        }
    })
}

fn judge(event: &Event<'_>, copy: &str, range: &Range<usize>) -> Option<(Kind, bool)> {
    let text = copy.get(range.clone()).unwrap_or_default().trim_ascii();
    match event {
        Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
            let to_the_end = copy.get(range.end..).is_none_or(|rest| rest.trim_ascii().is_empty());
            Some((Kind::Fence, !to_the_end || is_closed_fence(text)))
        }
        Event::Start(Tag::HtmlBlock) if text.starts_with("<!--") => {
            Some((Kind::Comment, text.contains("-->")))
        }
        _ => None,
    }
}

/// The last line is a run of the opening line's character, not shorter than there.
fn is_closed_fence(text: &str) -> bool {
    let mark = text.bytes().next().unwrap_or(b'`');
    let opening = text.bytes().take_while(|b| *b == mark).count();
    lines(text.as_bytes(), 0).skip(1).last().is_some_and(|line| {
        let last = text.as_bytes().get(line.start..line.end).unwrap_or_default().trim_ascii();
        let last = strip_quotes(last);
        last.len() >= opening && last.iter().all(|b| *b == mark)
    })
}

fn strip_quotes(line: &[u8]) -> &[u8] {
    let marks = line.iter().take_while(|b| **b == b'>' || is_blank(**b)).count();
    line.get(marks..).unwrap_or_default()
}

/// An inline mark: behind the first letter of a line it means nothing to block structure.
const fn is_inline(byte: u8) -> bool {
    matches!(byte, b'*' | b'_' | b'[' | b']' | b'(' | b')' | b'!' | b'&' | b'\\' | b'`' | b'~' | b'^' | b'$')
}

/// A copy of the same length for pulldown-cmark: boxes open, bytes above ASCII replaced (none of them
/// means anything to block structure), and inline marks behind the first letter of a line blotted out,
/// which cannot begin or end a block there and cost most of the time.
///
/// A line that holds `<`, `>`, three backticks or tildes, or `]:` keeps its marks: it may begin or end a
/// fence, an HTML block or a link definition.
fn plain_copy(body: &[u8]) -> String {
    let mut copy = String::with_capacity(body.len());
    for line in lines(body, 0) {
        let text = body.get(line.start..line.end).unwrap_or_default();
        let mark = item(text).and_then(|item| {
            let found = checkbox(text.get(item.content..)?)?;
            found.mark.is_ascii().then_some(item.content + 1)
        });
        push_plain(&mut copy, text, mark, keeps_marks(text));
        for byte in body.get(line.end..line.next).unwrap_or_default() {
            copy.push(char::from(*byte));
        }
    }
    copy
}

fn keeps_marks(text: &[u8]) -> bool {
    let mut before = [0_u8; 2];
    text.iter().any(|byte| {
        let keeps = match byte {
            b'<' | b'>' => true,
            b':' => before[1] == b']',
            b'`' | b'~' => before == [*byte, *byte],
            _ => false,
        };
        before = [before[1], *byte];
        keeps
    })
}

fn push_plain(copy: &mut String, text: &[u8], mark: Option<usize>, keep: bool) {
    let mut blot = false;
    for (at, byte) in text.iter().enumerate() {
        let shown = match *byte {
            _ if mark == Some(at) => b' ',
            byte if !byte.is_ascii() || (blot && is_inline(byte)) => b'%',
            byte => byte,
        };
        blot = !keep && (blot || (byte.is_ascii_alphabetic() && mark != Some(at)));
        copy.push(char::from(shown));
    }
}
