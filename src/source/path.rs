//! Paths inside a repository in one text form without control characters: git's own with `core.quotePath=true`.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Write as _};

/// A path relative to its package, separated by `/`, as git prints it.
///
/// It is plain if all bytes are printable ASCII other than `"` and `\`, otherwise in double quotes with C escapes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RepoPath(String);

impl RepoPath {
    /// Returns the form of these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let plain = bytes
            .iter()
            .all(|b| matches!(b, 0x20..=0x7e) && !matches!(b, b'"' | b'\\'));
        if plain {
            return Self(bytes.iter().map(|&b| char::from(b)).collect());
        }
        let mut text = String::from("\"");
        for &byte in bytes {
            if let Some(at) = MEANT.iter().position(|meant| *meant == byte) {
                text.extend(['\\', char::from(LETTERS[at])]);
            } else if matches!(byte, 0x20..=0x7e) {
                text.push(char::from(byte));
            } else {
                let _ = write!(text, "\\{byte:03o}");
            }
        }
        text.push('"');
        Self(text)
    }

    /// Reads a form that git (or ralph) printed, and unescapes a line in quotes.
    pub fn parse(text: &str) -> Self {
        Self::from_bytes(&unquote(text))
    }

    /// Returns the bytes of the path on disk.
    pub fn to_bytes(&self) -> Vec<u8> {
        unquote(&self.0)
    }

    /// Returns the path as text for pattern matching. Bytes that are not UTF-8 become U+FFFD.
    pub fn to_text(&self) -> String {
        String::from_utf8_lossy(&self.to_bytes()).into_owned()
    }

    /// Returns the printed form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Letters that follow a backslash, and their meanings in the same order.
const LETTERS: &[u8; 9] = b"\"\\ntrabvf";
const MEANT: &[u8; 9] = b"\"\\\n\t\r\x07\x08\x0b\x0c";

fn unquote(text: &str) -> Vec<u8> {
    let Some(inner) = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    else {
        return text.as_bytes().to_vec();
    };
    let mut out = Vec::with_capacity(inner.len());
    let mut bytes = inner.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(first @ b'0'..=b'7') => {
                let mut value = first - b'0';
                for _ in 0..2 {
                    if let Some(digit) = bytes.next_if(|byte| matches!(byte, b'0'..=b'7')) {
                        value = value.wrapping_mul(8).wrapping_add(digit - b'0');
                    }
                }
                out.push(value);
            }
            Some(letter) => {
                let known = LETTERS.iter().position(|known| *known == letter);
                out.push(known.map_or(letter, |at| MEANT[at]));
            }
            None => out.push(b'\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::RepoPath;
    use proptest::prelude::*;

    #[test]
    fn a_plain_path_is_printed_as_it_is_and_an_odd_one_as_git_quotes_it() {
        assert_eq!(
            RepoPath::from_bytes(b"src/a b.java").as_str(),
            "src/a b.java"
        );
        assert_eq!(
            RepoPath::from_bytes("ä\n\"".as_bytes()).as_str(),
            r#""\303\244\n\"""#
        );
    }

    proptest! {
        #[test]
        fn the_bytes_of_any_path_come_back_and_the_form_has_no_control_characters(
            bytes in proptest::collection::vec(1u8.., 0..40)
        ) {
            let path = RepoPath::from_bytes(&bytes);
            prop_assert_eq!(path.to_bytes(), bytes);
            prop_assert!(path.as_str().bytes().all(|b| (0x20..0x7f).contains(&b)));
            prop_assert_eq!(RepoPath::parse(path.as_str()), path);
        }
    }
}
