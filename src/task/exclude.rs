//! The parts of a task file without tasks: front matter, fenced code, HTML comments, texts of commands.
//!
//! What is in a box has no influence on them, so a flip can never hide or reveal a task.

use super::command_text;
use super::scan::{self, ReadAs, is_blank, scan_lines};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};
use std::collections::HashSet;
use std::ops::Range;

/// Columns between two tab stops.
const TAB: usize = 4;

/// Number of searches for texts of commands: each text may hold the look of a fence around others.
const PASSES: usize = 4;

/// A part of the file that holds no tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Excluded {
    /// Byte offsets in the file.
    pub(super) range: Range<usize>,
    /// The reading of its lines.
    pub(super) read: ReadAs,
    /// True if it has an end mark. A fence that only its list item ends counts as closed.
    pub(super) closed: bool,
}

/// Length of the byte-order mark: 3 or 0.
pub(super) fn bom_length(bytes: &[u8]) -> usize {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    }
}

/// Returns the parts of `bytes` that hold no tasks.
pub(super) fn excluded_parts(bytes: &[u8]) -> Vec<Excluded> {
    let start = bom_length(bytes);
    let front = front_matter(bytes, start);
    let base = front.as_ref().map_or(start, |front| front.range.end);
    let mut commands = Vec::new();
    let mut parts = Vec::new();
    for _ in 0..PASSES {
        parts = markdown_parts(bytes, base, &commands);
        let ranges: Vec<Range<usize>> = parts.iter().map(|part| part.range.clone()).collect();
        let found = command_text::command_texts(bytes, base, &ranges);
        if found == commands {
            break;
        }
        commands = found;
    }
    let parts: Vec<Excluded> = parts
        .into_iter()
        .filter(|part| {
            let at = commands.partition_point(|command| command.end <= part.range.start);
            commands
                .get(at)
                .is_none_or(|command| part.range.start < command.start)
        })
        .collect();
    let mut found: Vec<Excluded> = front
        .into_iter()
        .chain(parts)
        .chain(commands.into_iter().map(command_part))
        .collect();
    found.sort_by_key(|part| part.range.start);
    found
}

/// Returns the part of a command's text.
fn command_part(range: Range<usize>) -> Excluded {
    Excluded {
        range,
        read: ReadAs::Command,
        closed: true,
    }
}

/// Returns the fences and comments. The texts of commands are not Markdown.
fn markdown_parts(bytes: &[u8], base: usize, commands: &[Range<usize>]) -> Vec<Excluded> {
    let mut found = Vec::new();
    if may_exclude(bytes.get(base..).unwrap_or_default()) {
        let sketch = Sketch::new(bytes, base, true, commands);
        for (event, range) in
            Parser::new_ext(&sketch.text, Options::ENABLE_TASKLISTS).into_offset_iter()
        {
            if let Some((read, closed)) = judge_event(&event, &sketch.text, &range) {
                let (start, origin) = sketch.line_at(range.start);
                let range = origin + (range.start - start)..sketch.line_after(range.end);
                found.push(Excluded {
                    range,
                    read,
                    closed,
                });
            }
        }
    }
    found
}

/// Returns the starts of the lines on which `CommonMark` begins a list item.
pub(super) fn list_items(bytes: &[u8], parts: &[Excluded]) -> HashSet<usize> {
    let start = bom_length(bytes);
    let base = front_matter(bytes, start).map_or(start, |front| front.range.end);
    let commands = parts.iter().filter(|part| part.read == ReadAs::Command);
    let commands: Vec<Range<usize>> = commands.map(|part| part.range.clone()).collect();
    let sketch = Sketch::new(bytes, base, false, &commands);
    let events = Parser::new_ext(&sketch.text, Options::ENABLE_TASKLISTS).into_offset_iter();
    let items = events.filter(|(event, _)| matches!(event, Event::Start(Tag::Item)));
    items
        .map(|(_, range)| sketch.line_at(range.start).1)
        .collect()
}

/// Returns the front matter: line 1 is exactly `---`, and a later line is `---` or `...`.
fn front_matter(bytes: &[u8], start: usize) -> Option<Excluded> {
    let mut lines = scan_lines(bytes, start);
    lines.next().filter(|line| line.text_in(bytes) == b"---")?;
    let last = lines.find(|line| matches!(line.text_in(bytes), b"---" | b"..."))?;
    Some(Excluded {
        range: start..last.next,
        read: ReadAs::FrontMatter,
        closed: true,
    })
}

/// False if nothing in the text can open a fence or a comment.
///
/// Then no parsing is needed.
fn may_exclude(body: &[u8]) -> bool {
    let mut run = (0_u8, 0_u32);
    body.iter().enumerate().any(|(at, byte)| {
        run = if *byte == run.0 {
            (run.0, run.1 + 1)
        } else {
            (*byte, 1)
        };
        match byte {
            b'`' | b'~' => run.1 == 3,
            b'<' => body.get(at..).is_some_and(|rest| rest.starts_with(b"<!--")),
            _ => false,
        }
    })
}

fn judge_event(event: &Event<'_>, sketch: &str, range: &Range<usize>) -> Option<(ReadAs, bool)> {
    let text = sketch.get(range.clone()).unwrap_or_default().trim_ascii();
    match event {
        Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
            let to_the_end = sketch
                .get(range.end..)
                .is_none_or(|rest| rest.trim_ascii().is_empty());
            Some((ReadAs::Fence, !to_the_end || is_closed_fence(text)))
        }
        Event::Start(Tag::HtmlBlock) if text.starts_with("<!--") => {
            Some((ReadAs::Comment, text.contains("-->")))
        }
        _ => None,
    }
}

/// True if the last line closes the fence.
///
/// It is a run of the opening line's character, and at least as long.
fn is_closed_fence(text: &str) -> bool {
    let mark = text.bytes().next().unwrap_or(b'`');
    let opening = text.bytes().take_while(|b| *b == mark).count();
    scan_lines(text.as_bytes(), 0)
        .skip(1)
        .last()
        .is_some_and(|line| {
            let last = text
                .as_bytes()
                .get(line.start..line.end)
                .unwrap_or_default()
                .trim_ascii();
            let last = strip_quotes(last);
            last.len() >= opening && last.iter().all(|b| *b == mark)
        })
}

fn strip_quotes(line: &[u8]) -> &[u8] {
    let marks = line
        .iter()
        .take_while(|b| **b == b'>' || is_blank(**b))
        .count();
    line.get(marks..).unwrap_or_default()
}

/// The shortened text that pulldown-cmark parses.
///
/// - A line ends after its first letter. Nothing behind it can begin or end a block, and reading the rest as inline
///   text
///   would cost most of the time.
/// - Bytes above ASCII become letters.
/// - A box with text becomes a letter, because it begins a paragraph with any mark.
/// - Of successive equal lines with such boxes only the first is included, because each replaces the one before.
///
/// A line that holds `<`, `>`, three backticks or tildes, or `]:` stays whole: it may begin or end a fence, an HTML
/// block or a link definition.
struct Sketch {
    text: String,
    /// The start of each line, in the sketch and in the file.
    starts: Vec<(usize, usize)>,
    /// Length of the file.
    end: usize,
}

impl Sketch {
    /// Builds the sketch without the lines of `commands`.
    ///
    /// With `merges`, equal lines with boxes become one. Otherwise tabs become blanks, so that an offset in a line
    /// depends on the sketch alone.
    fn new(bytes: &[u8], from: usize, merges: bool, commands: &[Range<usize>]) -> Self {
        let mut text = Vec::with_capacity(bytes.len() / 8);
        let mut starts = Vec::new();
        let mut last_box: &[u8] = b"";
        let mut commands = commands.iter().peekable();
        for line in scan_lines(bytes, from) {
            while commands
                .next_if(|command| command.end <= line.start)
                .is_some()
            {}
            if commands
                .peek()
                .is_some_and(|command| command.start <= line.start)
            {
                continue;
            }
            let whole = bytes.get(line.start..line.end).unwrap_or_default();
            let keep = is_kept_whole(whole);
            let (kept, letter, mark) = match read_box(whole) {
                Some((content, _, true)) if !keep => (content, b"a".as_slice(), None),
                Some((_, mark, _)) => (whole.len(), b"".as_slice(), mark),
                None if keep => (whole.len(), b"".as_slice(), None),
                None => (first_letter(whole), b"".as_slice(), None),
            };
            let kept = whole.get(..kept).unwrap_or_default();
            if merges && !letter.is_empty() && kept == last_box {
                continue;
            }
            last_box = if letter.is_empty() { b"" } else { kept };
            starts.push((text.len(), line.start));
            let begin = text.len();
            for (at, byte) in kept.iter().enumerate() {
                match byte {
                    _ if mark == Some(at) => text.push(b' '),
                    // The parser reports a wrong offset for an item that begins inside a tab.
                    b'\t' if !merges => {
                        text.resize(begin + (text.len() - begin) / TAB * TAB + TAB, b' ');
                    }
                    byte if byte.is_ascii() => text.push(*byte),
                    _ => text.push(b'%'),
                }
            }
            text.extend_from_slice(letter);
            text.extend_from_slice(bytes.get(line.end..line.next).unwrap_or_default());
        }
        // Only ASCII was written.
        Self {
            text: String::from_utf8(text).unwrap_or_default(),
            starts,
            end: bytes.len(),
        }
    }

    /// Returns the line with an offset of the sketch: its start in sketch and file.
    fn line_at(&self, offset: usize) -> (usize, usize) {
        let line = self
            .starts
            .partition_point(|(start, _)| *start <= offset)
            .saturating_sub(1);
        self.starts.get(line).copied().unwrap_or_default()
    }

    /// Returns the file offset of the first line at or after an offset of the sketch.
    fn line_after(&self, offset: usize) -> usize {
        let line = self.starts.partition_point(|(start, _)| *start < offset);
        self.starts
            .get(line)
            .map_or(self.end, |(_, origin)| *origin)
    }
}

/// Returns the box on a line: its offset, the offset of its mark if that is one byte, and true if text follows.
fn read_box(line: &[u8]) -> Option<(usize, Option<usize>, bool)> {
    let (found, content) = scan::read_box(line)?;
    let at = line.len() - content.len();
    Some((
        at,
        found.mark.is_ascii().then_some(at + 1),
        found.text < content.len(),
    ))
}

/// Returns the length of a line up to and including its first letter.
fn first_letter(line: &[u8]) -> usize {
    let letter = line
        .iter()
        .position(|b| b.is_ascii_alphabetic() || !b.is_ascii());
    letter.map_or(line.len(), |at| at + 1)
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
