//! Cleans outside text (agents, builds, reports, file names, commits) for a message, a prompt or a terminal.

use std::iter::Peekable;
use std::str::Chars;

/// Returns one line: white space folded, at most `max` characters, the last one `…` if text was cut.
pub fn line(text: &str, max: usize) -> String {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && !(text.starts_with(' ') || text.ends_with(' ') || text.contains("  "));
    if is_plain && text.len() <= max {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut count = 0;
    for c in visible(text) {
        let c = if c.is_whitespace() { ' ' } else { c };
        if c == ' ' && (out.is_empty() || out.ends_with(' ')) {
            continue;
        }
        if count == max && c != ' ' {
            out.truncate(
                out.char_indices()
                    .nth(max.saturating_sub(1))
                    .map_or(0, |(at, _)| at),
            );
            out.truncate(out.trim_end().len());
            out.push('…');
            return out;
        }
        if count < max {
            out.push(c);
            count += 1;
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Returns the whole characters in the first bytes of a text.
pub fn beginning(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Returns several lines: line ends become `\n`, tabs and runs of spaces stay.
pub fn block(text: &str) -> String {
    let unix = text.replace("\r\n", "\n").replace('\r', "\n");
    visible(&unix)
        .map(|c| {
            if is_hidden(c) && !matches!(c, '\n' | '\t') {
                ' '
            } else {
                c
            }
        })
        .collect()
}

/// Returns the text as a terminal finally shows it: the last frame of a line that was redrawn.
pub fn last_frames(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (frames, end) = line
            .strip_suffix('\n')
            .map_or((line, ""), |line| (line, "\n"));
        shown.push_str(
            frames
                .split('\r')
                .rfind(|frame| !frame.trim().is_empty())
                .unwrap_or_default(),
        );
        shown.push_str(end);
    }
    shown
}

/// Returns `1 class`, `2 classes`, `3 families`.
pub fn count(number: u64, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if number == 1 => format!("1 {noun}"),
        Some(stem) => format!("{number} {stem}ies"),
        None if noun.ends_with(['s', 'x']) => format!("{number} {noun}es"),
        None => format!("{number} {noun}s"),
    }
}

/// Returns a duration in common form: `7 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`.
pub fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => two_units(seconds / 60, "min", seconds % 60, "s"),
        3_600..86_400 => two_units(seconds / 3_600, "h", seconds % 3_600 / 60, "min"),
        _ => two_units(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    }
}

/// Returns a duration in two units, or in one if the smaller is zero.
fn two_units(big: u64, word: &str, small: u64, less: &str) -> String {
    match small {
        0 => format!("{big} {word}"),
        _ => format!("{big} {word} {small} {less}"),
    }
}

/// Returns a module's folder in the workspace: `app/core`, `app`, or `.` if the workspace itself is the module.
pub fn module_path(package: &str, dir: &str) -> String {
    match (package, dir) {
        (package, "") => line(package, 200),
        (".", dir) => line(dir, 200),
        (package, dir) => line(&format!("{package}/{dir}"), 200),
    }
}

/// Returns the same in a sentence: `the package` for the workspace itself.
pub fn module_name(package: &str, dir: &str) -> String {
    match module_path(package, dir) {
        path if path == "." => "the package".to_owned(),
        path => path,
    }
}

/// Returns a module's name at the start of a sentence: `Module core of package app`, `Package app`, `The package`.
pub fn module_subject(package: &str, dir: &str) -> String {
    match (package, dir) {
        (".", "") => "The package".to_owned(),
        (package, "") => format!("Package {package}"),
        (package, dir) => format!("Module {}{}", line(dir, 200), of_package(package)),
    }
}

/// Returns `app a.Foo` for a line of a list; only `a.Foo` in the workspace itself.
pub fn after_folder(folder: &str, name: &str) -> String {
    match folder {
        "" | "." => name.to_owned(),
        folder => format!("{folder} {name}"),
    }
}

/// Returns ` of package app` for a sentence; empty if the workspace itself is the package.
pub fn of_package(name: &str) -> String {
    if name == "." {
        String::new()
    } else {
        format!(" of package {name}")
    }
}

/// Returns ` in package app` for a sentence; empty if the workspace itself is the package.
pub fn in_package(name: &str) -> String {
    if name == "." {
        String::new()
    } else {
        format!(" in package {name}")
    }
}

/// Joins names for a sentence: at most `max` of them, then the number of the others.
pub fn names(all: impl IntoIterator<Item: AsRef<str>>, max: usize) -> String {
    let all: Vec<_> = all.into_iter().collect();
    some_names(&all, max, all.len() as u64)
}

/// Joins names if only some of `all` are known.
pub fn some_names(known: &[impl AsRef<str>], max: usize, all: u64) -> String {
    let shown: Vec<String> = known
        .iter()
        .take(max)
        .map(|name| line(name.as_ref(), 200))
        .collect();
    match all.saturating_sub(shown.len() as u64) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// True for characters that must not be shown.
///
/// These are control characters, line separators of Unicode, characters that change the writing direction, the
/// invisible ones (Unicode's `Default_Ignorable_Code_Point`: soft hyphen, zero-width space, tags …) and those that
/// XML forbids. Joiners are not included: [`line()`] and [`block`] judge them by their position.
pub fn is_hidden(c: char) -> bool {
    c.is_ascii_control()
        || !c.is_ascii()
            && (c.is_control()
                || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'))
}

/// Returns the visible characters, including white space of every kind.
fn visible(text: &str) -> impl Iterator<Item = char> {
    let mut chars = text.chars().peekable();
    let mut last = ' ';
    std::iter::from_fn(move || {
        loop {
            let c = chars.next()?;
            if c == '\u{1b}' {
                skip_escape(&mut chars);
            } else if matches!(c, ' '..='~')
                || c.is_whitespace()
                || !is_hidden(c) && (!is_joiner(c) || joins(c, last))
            {
                last = c;
                return Some(c);
            }
        }
    })
}

/// True for zero-width (non-)joiners and variation selectors.
///
/// Persian, Indic scripts and emoji need the joiners. The selectors choose between a letter's form as text and as
/// emoji.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// True for a single joiner behind a letter that may need it. Elsewhere a joiner only hides a difference.
fn joins(c: char, last: char) -> bool {
    match c {
        '\u{fe0e}' | '\u{fe0f}' if last.is_ascii() => matches!(last, '0'..='9' | '#' | '*'),
        '\u{fe0e}' | '\u{fe0f}' => !is_joiner(last) && !last.is_whitespace(),
        _ => !(last.is_ascii() || last.is_whitespace() || matches!(last, '\u{200c}' | '\u{200d}')),
    }
}

/// Skips the rest of an escape sequence (ECMA-48: parameters, intermediate bytes, a final byte).
fn skip_escape(chars: &mut Peekable<Chars<'_>>) {
    if chars.next_if_eq(&'[').is_some() {
        while chars.next_if(|c| ('0'..='?').contains(c)).is_some() {}
    }
    while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
    chars.next_if(|c| ('0'..='~').contains(c));
}

#[cfg(test)]
mod tests {
    use super::{block, count, duration, is_hidden, line, names};
    use proptest::prelude::*;

    #[test]
    fn a_length_of_time_has_two_units_at_most() {
        let shown = [0, 59, 60, 61, 3_600, 7_500, 86_400, 100_000].map(duration);
        assert_eq!(
            shown,
            [
                "0 s",
                "59 s",
                "1 min",
                "1 min 1 s",
                "1 h",
                "2 h 5 min",
                "1 d",
                "1 d 3 h"
            ]
            .map(str::to_owned)
        );
    }

    #[test]
    fn a_line_is_one_line_of_visible_characters() {
        assert_eq!(
            line(
                "\u{1b}[1;31m[ERROR]\u{1b}[0m  a\r\n\tb \u{202e}c\u{7f} ",
                100
            ),
            "[ERROR] a b c"
        );
        assert_eq!(
            line("\u{1b}(B\u{1b}[mplain \u{1b}[ä \u{9b}x", 100),
            "plain ä x"
        );
        assert_eq!(line("ä\u{85}b\u{2028}c\u{2029}d", 9), "ä b c d");
        assert_eq!(line("abcdef", 6), "abcdef");
        assert_eq!(line("äbcdef  ", 6), "äbcdef");
        assert_eq!(line("abc defg", 5), "abc…");
        assert_eq!(line("ab", 0), "…");
    }

    /// All functions share the only list of hidden characters.
    #[test]
    fn nothing_invisible_is_left() {
        for c in "\0\u{7}\u{8}\u{7f}\u{80}\u{9f}\u{ad}\u{34f}\u{61c}\u{115f}\u{1160}\u{17b4}\u{180b}\u{180e}\u{200b}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2060}\u{2064}\u{2066}\u{2067}\u{2068}\u{2069}\u{206f}\u{3164}\u{fe00}\u{feff}\u{ffa0}\u{fff9}\u{fffb}\u{fffe}\u{ffff}\u{1d173}\u{e0001}\u{e0041}\u{e007f}\u{e0100}".chars() {
            assert!(is_hidden(c), "{c:?}");
            let text = format!("a{c}b");
            assert_eq!(line(&text, 9), "ab", "{c:?}");
            assert_eq!(block(&text), "ab", "{c:?}");
        }
        for c in ['\u{85}', '\u{2028}', '\u{2029}', '\u{b}', '\u{c}'] {
            assert!(is_hidden(c), "{c:?}");
            assert_eq!(block(&format!("a{c}b")), "a b", "{c:?}");
        }
    }

    #[test]
    fn joiners_stay_where_writing_needs_them() {
        for text in [
            "می\u{200c}خواهم",
            "क\u{94d}\u{200d}ष",
            "👩\u{200d}💻",
            "❤\u{fe0f}\u{200d}🔥",
            "1\u{fe0f}\u{20e3}",
        ] {
            assert_eq!(line(text, 99), text);
            assert_eq!(block(text), text);
        }
        for text in ["a\u{200d}b", "a\u{200c}b", "\u{200d}ab", "a\u{fe0f}b"] {
            assert_eq!(line(text, 99), "ab");
        }
        assert_eq!(
            block("é\n\u{200d}\u{200d}x é\u{200d}\u{200d}\u{fe0f}y"),
            "é\nx é\u{200d}y"
        );
    }

    #[test]
    fn a_block_keeps_its_lines_tabs_and_spaces() {
        assert_eq!(block("a\r\nb\rc\n\t  d\0\u{200b}e"), "a\nb\nc\n\t  de");
    }

    #[test]
    fn numbers_and_names_are_put_into_words() {
        assert_eq!(
            ["line", "class", "box", "family"]
                .map(|noun| count(2, noun))
                .join(" "),
            "2 lines 2 classes 2 boxes 2 families"
        );
        assert_eq!(
            (count(1, "family"), count(0, "box")),
            ("1 family".into(), "0 boxes".into())
        );
        assert_eq!(names(["a", "b", "c"], 2), "a, b and 1 more");
        assert_eq!(names(["a", "b"], 2), "a, b");
    }

    fn hostile() -> impl Strategy<Value = String> {
        let odd = prop_oneof![
            Just("\u{1b}["),
            Just("\u{1b}"),
            Just("3m"),
            Just("\u{200d}"),
            Just("\u{fe0f}"),
            Just("é"),
            Just(" "),
            Just("\r\n"),
            Just("\u{2028}"),
            Just("a"),
        ];
        let parts = prop_oneof![any::<String>(), odd.prop_map(str::to_owned)];
        prop::collection::vec(parts, 0..12).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left_the_length_holds_and_clean_text_stays(text in hostile(), max in 1usize..60) {
            let short = line(&text, max);
            prop_assert!(short.chars().count() <= max);
            prop_assert!(!short.contains(is_hidden), "{short:?}");
            prop_assert_eq!(line(&short, max), short);
            let long = block(&text);
            prop_assert!(!long.contains(|c| is_hidden(c) && !matches!(c, '\n' | '\t')), "{long:?}");
            prop_assert_eq!(block(&long), long);
        }
    }
}
