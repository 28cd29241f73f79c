//! Foreign text in a prompt: bounded, cleaned, marked as data.
//!
//! Owns: the marks between which data stands, the caps, and the rule that no line of a prompt reads like
//! a verdict.
//!
//! Promises: a mark does not occur in the data that it closes; equal data gives equal bytes, so that
//! model caches hold.
//!
//! Refuses to know: what the text is about.

use crate::source::{digest_parts, text};

/// What the line starts with that ends a reviewer's work (design §3).
const VERDICT: &str = "RALPH-VERDICT:";

/// The text between marks; nothing for nothing.
///
/// ```text
/// === DATA 3f2a9c01d4e5: requirements.md ===
/// …
/// === END 3f2a9c01d4e5 ===
/// ```
pub(super) fn marked(name: &str, text: &str) -> String {
    let text = text.trim_matches('\n');
    if text.trim().is_empty() {
        return String::new();
    }
    let mark = mark(name, text);
    format!("=== DATA {mark}: {name} ===\n{text}\n=== END {mark} ===")
}

/// Twelve hex digits that do not occur in the text: a digest of it, so nobody can write them into it.
fn mark(name: &str, text: &str) -> String {
    let mut turn = 0u64;
    loop {
        let mut mark = digest_parts([name, &turn.to_string(), text]);
        mark.truncate(12);
        if !text.contains(&mark) {
            return mark;
        }
        turn += 1;
    }
}

/// The cleaned text; of a longer one the first `cap` bytes, whole lines, and what was left out.
pub(super) fn head(text: &str, cap: usize, whole: &str) -> String {
    let text = text::block(text);
    if text.len() <= cap {
        return text;
    }
    let at = boundary((0..=cap).rev(), &text);
    let at = text[..at].rfind('\n').map_or(at, |end| end + 1);
    let left_out = text.len() - at;
    format!("{}\n[ralph left out {left_out} bytes here; {whole}]", text[..at].trim_end_matches('\n'))
}

/// The cleaned text; of a longer one the last `cap` bytes, whole lines, and what was left out, `before`
/// bytes that nobody read included.
pub(super) fn tail(text: &str, cap: usize, before: u64, whole: &str) -> String {
    let text = text::block(text);
    let at = if text.len() <= cap {
        0
    } else {
        let at = boundary(text.len() - cap..=text.len(), &text);
        text[at..].find('\n').map_or(at, |end| at + end + 1)
    };
    match before + at as u64 {
        0 => text,
        left_out => format!("[ralph left out {left_out} bytes here; {whole}]\n{}", &text[at..]),
    }
}

/// The first of these places that lies between two characters.
fn boundary(mut places: impl Iterator<Item = usize>, text: &str) -> usize {
    places.find(|&place| text.is_char_boundary(place)).unwrap_or(0)
}

/// One line per item, each at most `chars` long; of more than `most` the first and how many more.
pub(super) fn lines(items: &[String], most: usize, chars: usize, bullet: &str) -> String {
    let mut lines: Vec<String> =
        items.iter().take(most).map(|item| format!("{bullet}{}", text::line(item, chars))).collect();
    if items.len() > most {
        lines.push(format!("[and {} more]", items.len() - most));
    }
    lines.join("\n")
}

/// The prompt without unsafe characters and without a line that reads like a verdict: such a line gets a
/// bar in front, so that an echo of the prompt is no claim.
pub(super) fn disarmed(prompt: &str) -> String {
    let mut out = String::with_capacity(prompt.len() + 1);
    for line in text::block(prompt).split_inclusive('\n') {
        if line.starts_with(VERDICT) {
            out.push_str("| ");
        }
        out.push_str(line);
    }
    out
}
