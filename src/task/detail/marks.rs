//! The marks in the words of a task or heading.
//!
//! Owns: which brackets and words are marks: `[P]`, `(P)`, `[US1]`, `FR-018`, `P0` to `P4`, `[VERIFY]`,
//! `(WP01)`.
//!
//! Promises: total over any bytes, linear in their number.
//!
//! Refuses to know: on which line the words stand.

use super::{Detail, keep};
use crate::task::scan::is_blank;

/// Letters before the number of a requirement in running text.
const PREFIXES: &[&str] = &["FR-", "NFR-", "SC-", "AC-", "REQ-", "US-"];

/// Longest mark in brackets, bytes.
const MAX_MARK: usize = 24;

/// Adds what the words of a task say. Tags are the marks before the first word and behind the last.
pub(super) fn read(words: &[u8], detail: &mut Detail) {
    let (mut at, mut leading) = (0, true);
    let mut trailing: Vec<&str> = Vec::new();
    while let Some(byte) = words.get(at) {
        let rest = words.get(at..).unwrap_or_default();
        if let Some(mark) = bracketed(rest).filter(|_| starts_word(words, at)) {
            if is_tag(mark, detail) {
                trailing.push(mark);
            }
            at += mark.len() + 2;
            continue;
        }
        if !is_blank(*byte) {
            tags(std::mem::take(&mut trailing), leading, detail);
            leading = false;
        }
        let word = if byte.is_ascii_uppercase() && starts_word(words, at) { word(rest) } else { "" };
        if PREFIXES.iter().any(|prefix| is_numbered(word, prefix)) {
            keep(&mut detail.requirements, word.to_owned());
        }
        at += word.len().max(1);
    }
    tags(trailing, true, detail);
    detail.priority = detail.priority.or_else(|| priority(words));
}

fn tags(marks: Vec<&str>, at_edge: bool, detail: &mut Detail) {
    for mark in marks.into_iter().filter(|_| at_edge) {
        keep(&mut detail.tags, mark.to_owned());
    }
}

/// What `[X]` or `(X)` at the start holds, when it is a mark: capitals and digits.
fn bracketed(rest: &[u8]) -> Option<&str> {
    let close = match rest.first()? {
        b'[' => b']',
        b'(' => b')',
        _ => return None,
    };
    let inner = rest.get(1..)?;
    let length = inner.iter().take(MAX_MARK + 1).position(|b| *b == close)?;
    let mark = std::str::from_utf8(inner.get(..length)?).ok()?;
    let after = inner.get(length + 1);
    let plain = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.');
    let is_mark = mark.starts_with(|c: char| c.is_ascii_uppercase()) && mark.bytes().all(plain);
    (is_mark && after.is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'(')).then_some(mark)
}

/// Notes a mark of a known meaning; true for any other.
fn is_tag(mark: &str, detail: &mut Detail) -> bool {
    if mark == "P" {
        detail.parallel = true;
    } else if is_numbered(mark, "US") || PREFIXES.iter().any(|prefix| is_numbered(mark, prefix)) {
        keep(&mut detail.requirements, mark.to_owned());
    } else {
        return mark.len() != 2 || priority_digit(mark.as_bytes()).is_none();
    }
    false
}

/// True when a word may begin at `at`.
fn starts_word(words: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| words.get(at));
    before
        .is_none_or(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/' | b']' | b'$')))
}

/// The run of letters, digits, `-`, and `.` that a digit follows.
fn word(rest: &[u8]) -> &str {
    let inside = |(at, byte): (usize, &u8)| {
        byte.is_ascii_alphanumeric()
            || *byte == b'-'
            || (*byte == b'.' && rest.get(at + 1).is_some_and(u8::is_ascii_digit))
    };
    let length = rest.iter().enumerate().take_while(|at| inside(*at)).count();
    std::str::from_utf8(rest.get(..length).unwrap_or_default()).unwrap_or_default()
}

/// `FR-018`, `AC-1.2`: the prefix, then a number.
fn is_numbered(word: &str, prefix: &str) -> bool {
    word.strip_prefix(prefix).is_some_and(|number| {
        number.starts_with(|c: char| c.is_ascii_digit())
            && number.len() <= MAX_MARK
            && number.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    })
}

/// `1`, `1.2`, `FR-018`, `R1.2`, `1.1-1.5`: what stands in a list of requirements.
pub(super) fn is_reference(word: &str) -> bool {
    let single = |word: &str| {
        let number = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
        let letters = word.len() - number.len();
        let number = if letters > 0 { number.strip_prefix('-').unwrap_or(number) } else { number };
        letters <= 8
            && number.starts_with(|c: char| c.is_ascii_digit())
            && number.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    };
    let ranged = |dash: char| word.rsplit_once(dash).is_some_and(|(from, to)| single(from) && single(to));
    word.len() <= 2 * MAX_MARK && (single(word) || ranged('-') || ranged('–') || ranged('~'))
}

/// `[P1]`, `(P1)`, `Priority: P1`, `P1:` at the start: 0 to 4.
pub(super) fn priority(words: &[u8]) -> Option<u8> {
    let starts = words.iter().enumerate().filter(|(_, byte)| **byte == b'P').map(|(at, _)| at);
    starts
        .filter_map(|at| {
            let digit = priority_digit(words.get(at..)?)?;
            let (before, after) = (words.get(..at)?, words.get(at + 2));
            if after.is_some_and(u8::is_ascii_alphanumeric) {
                return None;
            }
            let closes = |open: u8, close: u8| before.last() == Some(&open) && after == Some(&close);
            let first = before.is_empty() && after.is_none_or(|b| is_blank(*b) || matches!(b, b':' | b'.'));
            let named = before
                .trim_ascii_end()
                .strip_suffix(b":")
                .or_else(|| before.trim_ascii_end().strip_suffix(b":**"));
            let named = named.map(|text| text.strip_suffix(b"**").unwrap_or(text));
            let named = named.is_some_and(|text| {
                text.len() >= 8
                    && text.get(text.len() - 8..).is_some_and(|word| word.eq_ignore_ascii_case(b"priority"))
            });
            (first || named || closes(b'[', b']') || closes(b'(', b')')).then_some(digit)
        })
        .next()
}

fn priority_digit(rest: &[u8]) -> Option<u8> {
    match rest {
        [b'P', digit @ b'0'..=b'4', ..] => Some(digit - b'0'),
        _ => None,
    }
}
