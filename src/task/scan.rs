//! Reads lines, list items and boxes byte by byte. Accepts any bytes in linear time.

use crate::source::text::line;
use serde::Serialize;

/// Maximum length of a row's text, in characters.
const MAX_TEXT: usize = 500;

/// The reading of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadAs {
    /// The task of this index.
    Task(usize),
    /// The heading of this index.
    Heading(usize),
    /// A box in a section without tasks, by its index among such boxes.
    LeftOut(usize),
    FrontMatter,
    Fence,
    Comment,
    /// Text of a command that an earlier line begins.
    Command,
    Text,
    Blank,
}

/// One line of a file; lines end with `\n`, `\r\n` or a lone `\r`, as in Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileLine {
    /// Offset of its first byte.
    pub(super) start: usize,
    /// Offset after its last byte, before the line end.
    pub(super) end: usize,
    /// Offset of the next line.
    pub(super) next: usize,
}

impl FileLine {
    /// Returns its text in the bytes of the file, without the line end.
    pub(super) fn text_in(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start..self.end).unwrap_or_default()
    }
}

/// Returns the lines of `bytes` from an offset on.
pub(super) fn scan_lines(bytes: &[u8], from: usize) -> impl Iterator<Item = FileLine> {
    let mut start = from;
    std::iter::from_fn(move || {
        let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
        let length = rest.iter().position(|b| matches!(b, b'\n' | b'\r'));
        let end = start + length.unwrap_or(rest.len());
        let next = match (bytes.get(end), bytes.get(end + 1)) {
            (Some(b'\r'), Some(b'\n')) => end + 2,
            (Some(_), _) => end + 1,
            (None, _) => end,
        };
        let line = FileLine { start, end, next };
        start = next;
        Some(line)
    })
}

/// Returns the bytes with whole lines added, by offset.
///
/// Each addition has the offset of the line before which it goes, its text, and its line end if known.
pub(super) fn with_lines<'a>(
    bytes: &[u8],
    added: impl IntoIterator<Item = (usize, &'a [u8], &'a [u8])>,
) -> Vec<u8> {
    let mut ends = scan_lines(bytes, 0).filter_map(|line| bytes.get(line.end..line.next));
    let usual = ends.find(|end| !end.is_empty()).unwrap_or(b"\n");
    let mut out = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for (offset, text, end) in added {
        out.extend_from_slice(bytes.get(from..offset).unwrap_or_default());
        from = offset;
        let end = if end.is_empty() { usual } else { end };
        // After a last line without line end, the line end goes before the added line.
        let follows_open_line =
            !matches!(out.last(), None | Some(b'\n' | b'\r')) && out != b"\xef\xbb\xbf";
        let parts = if follows_open_line {
            [end, text]
        } else {
            [text, end]
        };
        out.extend_from_slice(&parts.concat());
    }
    out.extend_from_slice(bytes.get(from..).unwrap_or_default());
    out
}

/// True for white space inside a line.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | 0x0b | 0x0c)
}

/// Returns the length of the leading white space, and the column after it.
///
/// The text begins at `column`.
pub(super) fn measure_indent(line: &[u8], column: u32) -> (usize, u32) {
    let mut reached = column;
    let length = line.iter().take_while(|b| is_blank(**b)).count();
    for byte in line.iter().take(length) {
        reached = if *byte == b'\t' {
            (reached / 4 + 1).saturating_mul(4)
        } else {
            reached.saturating_add(1)
        };
    }
    (length, reached)
}

/// A list item.
///
/// Of several on one line (`- - [ ] a`) this is the innermost, at the column of the outermost: a second bullet is a
/// slip, and its task is not a child of the task above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListItem {
    /// Column of the first bullet.
    pub(super) column: u32,
    /// Offset in the line of the text after bullet and white space.
    pub(super) content: usize,
}

/// Returns the list item that the line begins.
pub(super) fn read_item(line: &[u8]) -> Option<ListItem> {
    let (mut at, first) = measure_indent(line, 0);
    let mut column = first;
    let mut found = None;
    loop {
        let rest = line.get(at..).unwrap_or_default();
        let Some(width) = bullet_width(rest) else {
            return found;
        };
        let after = rest.get(width..).unwrap_or_default();
        let (gap, next) = measure_indent(
            after,
            column.saturating_add(u32::try_from(width).unwrap_or(u32::MAX)),
        );
        if gap == 0 && !after.is_empty() {
            return found;
        }
        found = Some(ListItem {
            column: first,
            content: at + width + gap,
        });
        at += width + gap;
        column = next;
    }
}

/// Returns the width of `-`, `*`, `+`, `1.` or `1)` (at most nine digits) at the start.
fn bullet_width(rest: &[u8]) -> Option<usize> {
    match rest.first()? {
        b'-' | b'*' | b'+' => Some(1),
        b'0'..=b'9' => {
            let digits = rest
                .iter()
                .take(10)
                .take_while(|b| b.is_ascii_digit())
                .count();
            (digits <= 9 && matches!(rest.get(digits), Some(b'.' | b')'))).then_some(digits + 1)
        }
        _ => None,
    }
}

/// Returns the column of a line's bullet, or of its text if it has none.
pub(super) fn line_column(line: &[u8]) -> u32 {
    read_item(line).map_or_else(|| measure_indent(line, 0).1, |item| item.column)
}

/// Returns the box of the list item on a line, and the text after the bullet.
pub(super) fn read_box(line: &[u8]) -> Option<(Checkbox, &[u8])> {
    let content = line.get(read_item(line)?.content..)?;
    Some((read_checkbox(content)?, content))
}

/// A box at the start of a list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Checkbox {
    /// The character between the brackets.
    pub(super) mark: char,
    /// True if a `*` or `\*` for "optional" follows the bracket.
    pub(super) starred: bool,
    /// Offset of the text after box and white space.
    pub(super) text: usize,
}

/// Returns the box at the start of `content`.
///
/// It is `[`, one character, `]`, an optional star, then white space or the end. The character is not a bracket, a
/// backslash, a digit or a letter (except `x` and `X`).
pub(super) fn read_checkbox(content: &[u8]) -> Option<Checkbox> {
    let inner = content.strip_prefix(b"[")?;
    let mark = first_char(inner)?;
    let is_mark =
        matches!(mark, 'x' | 'X') || !(mark.is_alphanumeric() || matches!(mark, '[' | ']' | '\\'));
    let after = inner
        .get(mark.len_utf8()..)?
        .strip_prefix(b"]")
        .filter(|_| is_mark)?;
    let star = [b"\\*".as_slice(), b"*"]
        .iter()
        .find_map(|star| after.strip_prefix(*star));
    let rest = star.unwrap_or(after);
    let (gap, _) = measure_indent(rest, 0);
    if gap == 0 && !rest.is_empty() {
        return None;
    }
    Some(Checkbox {
        mark,
        starred: star.is_some(),
        text: content.len() - rest.len() + gap,
    })
}

/// Returns the first character; `None` if the text is empty or not UTF-8.
pub(super) fn first_char(bytes: &[u8]) -> Option<char> {
    let first = *bytes.first()?;
    if first.is_ascii() {
        return Some(char::from(first));
    }
    (2..=4).find_map(|length| {
        std::str::from_utf8(bytes.get(..length)?)
            .ok()?
            .chars()
            .next()
    })
}

/// Returns the level and the text of an ATX heading (`## Foo`).
///
/// The text excludes the hashes and the white space after them.
pub(super) fn read_heading(line: &[u8]) -> Option<(u8, &[u8])> {
    let (gap, column) = measure_indent(line, 0);
    let rest = line.get(gap..).filter(|_| column <= 3)?;
    let marks = rest.iter().take_while(|b| **b == b'#').count();
    let level = u8::try_from(marks)
        .ok()
        .filter(|level| (1..=6).contains(level))?;
    let text = rest.get(marks..)?;
    let (gap, _) = measure_indent(text, 0);
    (gap > 0 || text.is_empty()).then(|| (level, text.get(gap..).unwrap_or_default()))
}

/// True for a line of only `=` or only `-`: the underline of a heading, if text is above it.
pub(super) fn is_underline(line: &[u8]) -> bool {
    let (gap, column) = measure_indent(line, 0);
    let rest = line.get(gap..).unwrap_or_default().trim_ascii_end();
    let marks = [b'=', b'-'];
    column <= 3 && !rest.is_empty() && marks.iter().any(|mark| rest.iter().all(|b| b == mark))
}

/// True for text that ends a paragraph without a blank line: a quote, a fence, a table row, HTML, a rule.
pub(super) fn opens_block(text: &[u8]) -> bool {
    matches!(text.first(), Some(b'>' | b'|' | b'<'))
        || text.starts_with(b"```")
        || text.starts_with(b"~~~")
        || [b'-', b'*', b'_'].into_iter().any(|mark| {
            text.iter()
                .all(|byte| *byte == mark || byte.is_ascii_whitespace())
                && text.split(|byte| *byte == mark).count() > 3
        })
}

/// Returns the text after a prefix as one clean line.
pub(super) fn clean_line(prefix: &str, bytes: &[u8]) -> String {
    let bound = bytes
        .get(..bytes.len().min(MAX_TEXT * 4))
        .unwrap_or_default();
    let text = String::from_utf8_lossy(bound);
    if prefix.is_empty() {
        line(&text, MAX_TEXT)
    } else {
        line(&format!("{prefix}{text}"), MAX_TEXT)
    }
}
