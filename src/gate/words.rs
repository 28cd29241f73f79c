//! Foreign words made fit for a message.
//!
//! Owns: what text from Maven, PIT, reports and file names becomes before anybody reads it.
//!
//! Promises: one line, no control characters, no escape sequences, no invisible direction marks, bounded.
//!
//! Refuses to know: who reads it.

/// One line of at most `limit` characters: escape sequences and control characters are gone, white space
/// is folded.
pub(crate) fn line(text: &str, limit: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            skip_escape(&mut chars);
            continue;
        }
        let c = match c {
            c if c.is_whitespace() => ' ',
            c if is_hidden(c) => continue,
            c => c,
        };
        if c == ' ' && (out.is_empty() || out.ends_with(' ')) {
            continue;
        }
        if count == limit {
            out.push('…');
            return out;
        }
        out.push(c);
        count += 1;
    }
    out.truncate(out.trim_end().len());
    out
}

/// `1 class`, `2 classes`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    let plural = if noun.ends_with('s') { "es" } else { "s" };
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}{plural}") }
}

/// Names joined for a sentence: at most `limit` of them, then how many more.
pub(crate) fn names<'a>(all: impl IntoIterator<Item = &'a str>, limit: usize) -> String {
    let all: Vec<&str> = all.into_iter().collect();
    let shown: Vec<String> = all.iter().take(limit).map(|name| line(name, 200)).collect();
    let more = all.len().saturating_sub(limit);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Skips the rest of an escape sequence (ECMA-48: `ESC [ … final byte`, or one character).
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    if chars.next() == Some('[') {
        for c in chars.by_ref() {
            if ('@'..='~').contains(&c) {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{line, names};
    use proptest::prelude::*;

    #[test]
    fn colours_line_ends_and_direction_marks_go_and_the_rest_stays() {
        assert_eq!(line("\u{1b}[1;31m[ERROR]\u{1b}[0m  a\r\n\tb \u{202e}c ", 100), "[ERROR] a b c");
        assert_eq!(line("abcdef", 3), "abc…");
        assert_eq!(names(["a", "b", "c"], 2), "a, b and 1 more");
    }

    proptest! {
        #[test]
        fn any_text_becomes_one_bounded_line_without_control_characters(text in any::<String>()) {
            let plain = line(&text, 40);
            prop_assert!(plain.chars().count() <= 41);
            prop_assert!(!plain.chars().any(char::is_control));
        }
    }
}
