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
        let sketch = Sketch::new(bytes, base);
        for (event, range) in Parser::new_ext(&sketch.text, Options::ENABLE_TASKLISTS).into_offset_iter() {
            if let Some((kind, closed)) = judge(&event, &sketch.text, &range) {
                let end = if range.end < sketch.text.len() { sketch.origin(range.end) } else { bytes.len() };
                found.push(Excluded { range: sketch.origin(range.start)..end, kind, closed });
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

fn judge(event: &Event<'_>, sketch: &str, range: &Range<usize>) -> Option<(Kind, bool)> {
    let text = sketch.get(range.clone()).unwrap_or_default().trim_ascii();
    match event {
        Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
            let to_the_end = sketch.get(range.end..).is_none_or(|rest| rest.trim_ascii().is_empty());
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

/// What pulldown-cmark is asked about: each line cut after its first letter, behind which nothing can begin
/// or end a block (to read the rest as inline text would cost most of the time); boxes open; bytes above
/// ASCII as letters.
///
/// A line that holds `<`, `>`, three backticks or tildes, or `]:` stays whole: it may begin or end a
/// fence, an HTML block or a link definition.
struct Sketch {
    text: String,
    /// Where each line starts: in the sketch, and in the file.
    starts: Vec<(usize, usize)>,
}

impl Sketch {
    fn new(bytes: &[u8], from: usize) -> Self {
        let mut text = Vec::with_capacity(bytes.len() / 4);
        let mut starts = Vec::new();
        for line in lines(bytes, from) {
            let start = text.len();
            starts.push((start, line.start));
            let whole = bytes.get(line.start..line.end).unwrap_or_default();
            let box_at = item(whole).and_then(|item| {
                let found = checkbox(whole.get(item.content..)?)?;
                found.mark.is_ascii().then_some(item.content + 1)
            });
            let from = box_at.map_or(0, |at| at + 1);
            let letter = whole.iter().skip(from).position(|b| b.is_ascii_alphabetic() || !b.is_ascii());
            let cut = letter.map_or(whole.len(), |letter| from + letter + 1);
            let cut = if is_kept_whole(whole) { whole.len() } else { cut };
            let kept = whole.get(..cut).unwrap_or_default();
            text.extend(kept.iter().map(|byte| if byte.is_ascii() { *byte } else { b'%' }));
            if let Some(mark) = box_at.and_then(|at| text.get_mut(start + at)) {
                *mark = b' ';
            }
            text.extend_from_slice(bytes.get(line.end..line.next).unwrap_or_default());
        }
        // Nothing but ASCII was written.
        Self { text: String::from_utf8(text).unwrap_or_default(), starts }
    }

    /// The offset in the file of an offset in the sketch: exact where lines begin, and in what is left of
    /// them.
    fn origin(&self, offset: usize) -> usize {
        let line = self.starts.partition_point(|(start, _)| *start <= offset).saturating_sub(1);
        self.starts.get(line).map_or(0, |(start, origin)| origin + (offset - start))
    }
}

fn is_kept_whole(line: &[u8]) -> bool {
    let mut before = [0_u8; 2];
    line.iter().any(|byte| {
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
