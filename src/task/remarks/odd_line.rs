//! Lines on which a box is meant but none is found.

use super::RemarkKind;
use crate::task::grammar::{Grammar, leading_id};
use crate::task::scan::{checkbox, first_char, heading, indent, is_blank, item};

/// Longest text between brackets that is looked at, bytes.
const MAX_BRACKET: usize = 40;

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

/// What is odd about a line that is not a task.
pub(super) fn odd_line(text: &[u8], grammar: &Grammar) -> Option<RemarkKind> {
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
