//! Outside text in a prompt: bounded, cleaned, and between marks that it cannot contain.

use crate::agent::claim::{NAME, VerdictLine};
use crate::source::{digest_parts, text};

/// Returns the text between marks; empty for an empty text.
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

/// Returns twelve hex digits that do not occur in the text. They are a digest of it, so its author cannot guess them.
fn mark(name: &str, text: &str) -> String {
    let mut marks =
        (0_u64..).map(|turn| digest_parts([name, &turn.to_string(), text])[..12].to_owned());
    marks.find(|mark| !text.contains(mark)).unwrap_or_default()
}

/// Returns the cleaned text, cut to its first lines up to `cap` bytes.
///
/// It ends with the size of the rest.
pub(super) fn head(text: &str, cap: usize, whole: &str) -> String {
    let text = text::block(text);
    if text.len() <= cap {
        return text;
    }
    let at = boundary((0..=cap).rev(), &text);
    let at = text[..at].rfind('\n').map_or(at, |end| end + 1);
    let left_out = text.len() - at;
    format!(
        "{}\n[ralph left out {left_out} bytes here; {whole}]",
        text[..at].trim_end_matches('\n')
    )
}

/// Returns the cleaned text, cut to its last lines up to `cap` bytes.
///
/// It begins with the size of the omitted part.
///
/// The size includes `before` bytes that were not read.
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
        left_out => format!(
            "[ralph left out {left_out} bytes here; {whole}]\n{}",
            &text[at..]
        ),
    }
}

/// Returns the first of these offsets that lies between two characters.
fn boundary(mut places: impl Iterator<Item = usize>, text: &str) -> usize {
    places
        .find(|&place| text.is_char_boundary(place))
        .unwrap_or(0)
}

/// Returns one line per item, each at most `chars` long: at most `most` of them, then the number of the others.
pub(super) fn lines(items: &[String], most: usize, chars: usize) -> String {
    let mut lines: Vec<String> = items
        .iter()
        .take(most)
        .map(|item| text::line(item, chars))
        .collect();
    if items.len() > most {
        lines.push(format!("[and {} more]", items.len() - most));
    }
    lines.join("\n")
}

/// Removes unsafe characters from a prompt, and disarms lines that read like a verdict.
///
/// Such a line gets a bar in front, so that an echo of the prompt is not a claim.
pub(super) fn disarmed(prompt: &str, verdict: &VerdictLine) -> String {
    let mut out = String::with_capacity(prompt.len() + 1);
    for line in text::block(prompt).split_inclusive('\n') {
        if line.starts_with(NAME) || verdict.reads(line) {
            out.push_str("| ");
        }
        out.push_str(line);
    }
    out
}
