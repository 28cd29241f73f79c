//! Finds lines that a text lost. White space, blank lines and imports do not count.

use memchr::memmem;
use std::collections::HashMap;
use std::hash::Hash;

/// First words of a line that only imports names.
const IMPORTS: [&[u8]; 5] = [b"import", b"package", b"use", b"#include", b"using"];

/// Returns the lines of `written` that `now` lost: their number, and the first.
///
/// Only lines that `base` does not have count.
///
/// The line has at most 120 characters and no control characters. `None` if no line is missing. Without `base` all
/// lines of `written` have to stay. Without `now` no line stayed.
pub fn lost_lines(
    base: Option<&[u8]>,
    written: &[u8],
    now: Option<&[u8]>,
) -> Option<(u64, String)> {
    let mut present = counted(now.unwrap_or_default());
    let mut before = counted(base.unwrap_or_default());
    let mut lost = 0_u64;
    let mut first = None;
    for (line, key) in lines(written) {
        // A line that already existed was not written. It uses up one of the present lines only if enough remain for
        // the written ones.
        if take(&mut before, &key) {
            take(&mut present, &key);
        } else if !take(&mut present, &key) {
            lost += 1;
            first.get_or_insert_with(|| shown(line));
        }
    }
    first.map(|first| (lost, first))
}

/// Counts the lines of `before`, except blank ones, that `now` lacks. Returns `None` if it has them all.
///
/// Lines that begin like an import count too, since the text is not source code.
pub fn lost_words(before: &[u8], now: &[u8]) -> Option<u64> {
    let mut present = how_often(words(now));
    let lost = words(before)
        .filter(|line| !take(&mut present, line))
        .count() as u64;
    (lost > 0).then_some(lost)
}

/// Returns the lines of a text without surrounding blanks and without blank lines.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = text
        .split(|byte| matches!(byte, b'\n' | b'\r'))
        .map(<[u8]>::trim_ascii);
    lines.filter(|line| !line.is_empty())
}

fn counted(text: &[u8]) -> HashMap<Vec<u8>, u64> {
    how_often(lines(text).map(|(_, key)| key))
}

/// Returns the number of occurrences of each item.
pub(super) fn how_often<T: Eq + Hash>(all: impl IntoIterator<Item = T>) -> HashMap<T, u64> {
    let mut counts = HashMap::new();
    all.into_iter()
        .for_each(|one| *counts.entry(one).or_default() += 1);
    counts
}

/// Removes one occurrence, if there is one.
pub(super) fn take<T: Eq + Hash>(counts: &mut HashMap<T, u64>, one: &T) -> bool {
    counts
        .get_mut(one)
        .filter(|count| **count > 0)
        .map(|count| *count -= 1)
        .is_some()
}

/// Returns the lines that count, each unchanged and without its white space.
fn lines(text: &[u8]) -> impl Iterator<Item = (&[u8], Vec<u8>)> {
    text.split(|&byte| byte == b'\n' || byte == b'\r')
        .filter_map(|line| {
            let line = line.trim_ascii();
            if is_import(line) {
                return None;
            }
            let key: Vec<u8> = line
                .iter()
                .copied()
                .filter(|byte| !is_space(*byte))
                .collect();
            (!key.is_empty()).then_some((line, key))
        })
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// Removes lines of block comments that begin a line: code that is commented out is gone.
///
/// Only for languages whose comments are known by the file's extension.
pub(in crate::source) fn without_comments(path: &[u8], text: &[u8]) -> Vec<u8> {
    let ending = path.rsplit(|&byte| byte == b'.').next().unwrap_or_default();
    let (open, close): (&[u8], &[u8]) = match ending {
        b"py" => (b"\"\"\"", b"\"\"\""),
        b"rb" => (b"=begin", b"=end"),
        _ => (b"/*", b"*/"),
    };
    let mut inside = false;
    text.split(|&byte| byte == b'\n')
        .filter(|line| {
            let line = line.trim_ascii();
            if inside {
                inside = memmem::find(line, close).is_none();
                return false;
            }
            let Some(rest) = line.strip_prefix(open) else {
                return true;
            };
            inside = memmem::find(rest, close).is_none();
            !inside && !rest.ends_with(close)
        })
        .collect::<Vec<_>>()
        .join(&b'\n')
}

/// True for an import with nothing behind it: `import a.B; assertTrue(x);` counts as a normal line.
fn is_import(line: &[u8]) -> bool {
    let end = line
        .iter()
        .position(|&byte| is_space(byte) || matches!(byte, b'<' | b'"'))
        .unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    let brings_names = IMPORTS.contains(&word)
        || (word == b"from" && rest.windows(8).any(|part| part == b" import "))
        || (word == b"pub" && rest.trim_ascii().starts_with(b"use "));
    if !brings_names {
        return false;
    }
    let behind = rest
        .iter()
        .position(|&byte| byte == b';')
        .map_or(&[][..], |at| &rest[at + 1..])
        .trim_ascii();
    behind.is_empty() || behind.starts_with(b"//")
}

/// Returns a line for a message.
fn shown(line: &[u8]) -> String {
    let bound = &line[..line.len().min(480)];
    super::text::line(&String::from_utf8_lossy(bound), 120)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn in_running_text_a_line_that_begins_like_an_import_is_a_line() {
        let before = b"use the fake clock\nimport keys first\n\nnote\n";
        assert_eq!(
            lost_words(before, b"note\r\n import keys first\nuse the fake clock\n"),
            None
        );
        assert_eq!(lost_words(before, b"note\n"), Some(2));
        assert_eq!(lost_words(b"a\na\n", b"a\nb\n"), Some(1));
    }

    #[test]
    fn white_space_blank_lines_and_imports_are_no_lines() {
        let written =
            b"package a;\nimport x.Y;\n\n  assert(a);\n#include <x>\nuse a::b;\nfrom a import b\nusing X;\n";
        assert_eq!(lost_lines(None, written, Some(b"assert( a );")), None);
        assert_eq!(
            lost_lines(None, written, None),
            Some((1, "assert(a);".into()))
        );
    }

    #[test]
    fn something_behind_an_import_is_a_line() {
        assert_eq!(
            lost_lines(None, b"import a.B; check();", None).unwrap().0,
            1
        );
        assert_eq!(lost_lines(None, b"import a.B; // why", None), None);
        assert_eq!(lost_lines(None, b"import_all();", None).unwrap().0, 1);
    }

    #[test]
    fn lines_count_as_often_as_they_were_written() {
        let (base, written) = (b"a\na\n", b"a\na\na\na\nb\n");
        assert_eq!(
            lost_lines(Some(base), written, Some(b"a\na\na\na\nb\n")),
            None
        );
        assert_eq!(
            lost_lines(Some(base), written, Some(b"a\na\na\nb\n")),
            Some((1, "a".into()))
        );
        assert_eq!(
            lost_lines(Some(base), written, Some(b"a\na\n")),
            Some((3, "a".into()))
        );
    }

    #[test]
    fn what_stood_there_before_may_go() {
        assert_eq!(
            lost_lines(Some(b"old\n"), b"old\nnew\n", Some(b"new\n")),
            None
        );
    }

    #[test]
    fn a_pure_insertion_takes_nothing_and_a_changed_line_is_lost() {
        assert_eq!(lost_lines(None, b"a\nb\n", Some(b"a\nx\nb\n")), None);
        assert_eq!(
            lost_lines(None, b"a\nb\n", Some(b"a\nbb\n")),
            Some((1, "b".into()))
        );
        assert_eq!(lost_lines(None, b"a\r\nb\r\n", Some(b"b\na\n")), None);
    }

    #[test]
    fn the_first_line_is_short_and_clean() {
        let long = [b"\x1b[31m".as_slice(), "ä".repeat(500).as_bytes()].concat();
        let (_, first) = lost_lines(None, &long, None).unwrap();
        assert!(
            first.chars().count() <= 120 && !first.chars().any(char::is_control),
            "{first}"
        );
    }

    proptest! {
        #[test]
        fn the_count_is_that_of_the_multisets(
            base in "[ab\n ]{0,30}", written in "[ab\n ]{0,30}", now in "[ab\n ]{0,30}"
        ) {
            let of = |text: &str, key: &str| {
                text.lines().filter(|l| l.replace(' ', "") == key).count() as u64
            };
            let keys: std::collections::BTreeSet<String> =
                written.lines().map(|l| l.replace(' ', "")).filter(|l| !l.is_empty()).collect();
            let expected: u64 = keys.iter().map(|k| {
                let (b, w, n) = (of(&base, k), of(&written, k), of(&now, k));
                w.saturating_sub(b).min(w.saturating_sub(n))
            }).sum();
            let got = lost_lines(Some(base.as_bytes()), written.as_bytes(), Some(now.as_bytes()));
            prop_assert_eq!(got.map_or(0, |(count, _)| count), expected);
        }
    }
}
