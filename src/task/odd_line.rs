//! Finds lines that look like tasks to a reader but are not parsed as tasks.

use super::grammar::{Grammar, leading_id};
use super::remark_kind::RemarkKind;
use super::scan::{first_char, is_blank, measure_indent, read_checkbox, read_heading, read_item};

/// Maximum length of a text between brackets that may be a mark, in bytes.
const MAX_BRACKET: usize = 40;
/// Maximum length of a number or letter before a box, in bytes.
const MAX_LABEL: usize = 16;

/// Symbols that authors write for an open box.
const OPEN_SYMBOLS: [char; 7] = ['☐', '⬜', '□', '▢', '◻', '🔲', '🔳'];
/// Symbols that authors write for a ticked box.
const TICKED_SYMBOLS: [char; 6] = ['☑', '☒', '✅', '✔', '✓', '🗹'];
/// Marks that Markdown or an author puts before the text of a line.
const MARKS: [&str; 13] = [
    "**", "__", "~~", "*", "_", "~", "-", "+", "•", "–", "—", "‣", "·",
];

/// A line that looks like a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OddLine {
    pub(super) kind: RemarkKind,
    /// True if it looks like a task that is not done.
    pub(super) is_open: bool,
    /// The symbol that replaces a box.
    pub(super) symbol: Option<char>,
}

/// Returns the reason why a line that is not a task looks like one.
pub(super) fn odd_line(text: &[u8], grammar: &Grammar) -> Option<OddLine> {
    let (gap, _) = measure_indent(text, 0);
    let rest = text.get(gap..).unwrap_or_default();
    if rest.starts_with(b"|") {
        let mut cells = rest.split(|b| *b == b'|').map(<[u8]>::trim_ascii);
        // A table of boxes is a legend as often as a list of tasks: it is reported, and stops no run.
        let table = OddLine {
            kind: RemarkKind::BoxWithoutBullet,
            is_open: false,
            symbol: None,
        };
        return cells.any(is_box).then_some(table);
    }
    let kind = match read_item(text) {
        Some(item) => odd_item(text.get(item.content..).unwrap_or_default(), grammar),
        None => odd_text(text, rest),
    };
    if let Some(kind) = kind {
        let is_open = kind == RemarkKind::MissingBox || has_empty_bracket(rest);
        return Some(OddLine {
            kind,
            is_open,
            symbol: None,
        });
    }
    // `## ✅ Completed` describes the section.
    behind_label(rest).filter(|found| found.is_open || read_heading(text).is_none())
}

/// Checks a line that begins no list item.
fn odd_text(text: &[u8], rest: &[u8]) -> Option<RemarkKind> {
    if let Some((_, title)) = read_heading(text) {
        let inner =
            read_item(title).map_or(title, |item| title.get(item.content..).unwrap_or_default());
        return read_checkbox(inner).map(|_| RemarkKind::BoxWithoutBullet);
    }
    let after_bullet = rest
        .get(1..)
        .filter(|_| matches!(rest.first(), Some(b'-' | b'*' | b'+')));
    if after_bullet.is_some_and(is_box) {
        return Some(RemarkKind::MalformedBox);
    }
    let shown = rest
        .strip_prefix("•".as_bytes())
        .map_or(rest, |rest| rest.trim_ascii_start());
    is_box(shown).then_some(RemarkKind::BoxWithoutBullet)
}

fn odd_item(content: &[u8], grammar: &Grammar) -> Option<RemarkKind> {
    if let Some(rest) = content.strip_prefix(b"\\[") {
        return is_escaped_box(rest).then_some(RemarkKind::EscapedBox);
    }
    if let Some(rest) = content
        .strip_prefix(b"**")
        .or_else(|| content.strip_prefix(b"__"))
    {
        return is_box(rest).then_some(RemarkKind::MalformedBox);
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

/// Finds a box or a box symbol behind numbers, letters and marks.
///
/// Examples are `2.2 [ ] a`, `### 1.1 [ ] a` and `- ☐ a`.
fn behind_label(mut rest: &[u8]) -> Option<OddLine> {
    let mut is_labelled = false;
    loop {
        rest = rest.get(measure_indent(rest, 0).0..).unwrap_or_default();
        if is_box(rest) && is_labelled {
            let kind = RemarkKind::BoxBehindLabel;
            return Some(OddLine {
                kind,
                is_open: has_empty_bracket(rest),
                symbol: None,
            });
        }
        if let Some(symbol) = first_char(rest) {
            let is_open = OPEN_SYMBOLS.contains(&symbol);
            if is_open || TICKED_SYMBOLS.contains(&symbol) {
                return Some(OddLine {
                    kind: RemarkKind::BoxSymbol,
                    is_open,
                    symbol: Some(symbol),
                });
            }
        }
        let width = label_width(rest)?;
        is_labelled = true;
        rest = rest.get(width..)?;
    }
}

/// Returns the width of a number, letter or mark at the start: `**`, `##`, `2.2`, `(1)`, `a.`, `T012`, `Task`.
fn label_width(rest: &[u8]) -> Option<usize> {
    if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(mark.as_bytes())) {
        return Some(mark.len());
    }
    let hashes = rest.iter().take_while(|b| **b == b'#').count();
    if hashes > 0 {
        return Some(hashes);
    }
    let width = rest
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'(' | b')' | b':' | b'-'))
        .count();
    let word = rest
        .get(..width)
        .filter(|word| !word.is_empty() && word.len() <= MAX_LABEL)?;
    let letters = word.iter().filter(|b| b.is_ascii_alphabetic()).count();
    let has_digit = word.iter().any(u8::is_ascii_digit);
    let is_label = has_digit || letters == 1 || letters == 0 || matches!(word, b"Task" | b"Step");
    is_label.then_some(width)
}

/// True if the text holds a box outside inline code.
///
/// A box is `[ ]`, `[x]` or `[X]` before a blank or the end.
pub(super) fn has_box(text: &[u8]) -> bool {
    let mut in_code = false;
    text.iter().enumerate().any(|(at, byte)| {
        in_code ^= *byte == b'`';
        *byte == b'[' && !in_code && is_box(text.get(at..).unwrap_or_default())
    })
}

/// True if a text begins with a box.
///
/// A box is `[ ]`, `[x]` or `[X]` before a blank, closing emphasis or the end.
fn is_box(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"[") else {
        return false;
    };
    let Some(rest) = [b" ".as_slice(), b"\t", b"x", b"X"]
        .iter()
        .find_map(|mark| rest.strip_prefix(*mark))
    else {
        return false;
    };
    rest.strip_prefix(b"]").is_some_and(ends_word)
}

fn ends_word(rest: &[u8]) -> bool {
    rest.first().is_none_or(|b| is_blank(*b))
        || ["**", "__", "~~"]
            .iter()
            .any(|mark| rest == mark.as_bytes())
}

/// True if the first brackets of a text, escaped or not, hold nothing.
fn has_empty_bracket(text: &[u8]) -> bool {
    let mut inner = text
        .iter()
        .skip_while(|b| **b != b'[')
        .skip(1)
        .take_while(|b| **b != b']');
    inner.all(|b| is_blank(*b) || *b == b'\\')
}

/// True for the rest of a box that a formatter escaped, after its `\[`.
fn is_escaped_box(rest: &[u8]) -> bool {
    let mark = rest.get(leading_backslash(rest)..).unwrap_or_default();
    let Some(close) = first_char(mark).and_then(|c| mark.get(c.len_utf8()..)) else {
        return false;
    };
    close
        .get(leading_backslash(close)..)
        .is_some_and(|close| close.starts_with(b"]"))
}

/// Returns 1 if the text begins with a backslash, otherwise 0.
fn leading_backslash(bytes: &[u8]) -> usize {
    usize::from(bytes.starts_with(b"\\"))
}

/// True for text between brackets that looks like a mark: nothing, `x` with blanks, or a symbol.
fn is_almost_a_mark(inner: &[u8]) -> bool {
    let inner = inner.trim_ascii();
    match first_char(inner) {
        None => inner.is_empty(),
        Some(c) if inner.len() == c.len_utf8() => matches!(c, 'x' | 'X') || !c.is_alphanumeric(),
        Some(c) => !c.is_ascii() && !c.is_alphanumeric() && inner.len() <= 16,
    }
}
