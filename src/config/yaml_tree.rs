//! Parses YAML text into a tree of values, and finds the line of each key.

use super::error::{ConfigError, FILE};
use crate::source::{Problem, text};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_yaml::{Mapping, Value};
use std::fmt;

/// Maximum size of a text, in bytes.
pub const LONGEST_TEXT: usize = 1024 * 1024;

/// Maximum number of lists and maps in brackets. The library's time is quadratic in their nesting.
const MOST_BRACKETS: usize = 2_000;

/// Parses the text. Every key is text. A duplicate key and a tag are refused.
pub(super) fn parse(text: &str) -> Result<Value, ConfigError> {
    let anew = "Start again from the file that `ralph init` writes.";
    if text.len() > LONGEST_TEXT {
        let what = format!("The file is longer than {LONGEST_TEXT} bytes.");
        return Err(Problem::new(String::new(), what, anew).at(FILE, None));
    }
    if let Some((at, _)) = text.match_indices(['[', '{']).nth(MOST_BRACKETS) {
        let what = format!("The file opens more than {MOST_BRACKETS} brackets.");
        return Err(Problem::new(String::new(), what, anew).at(FILE, Some(line_at(text, at))));
    }
    let text = without_mark(text);
    match (KeySearch { wanted: None }).deserialize(serde_yaml::Deserializer::from_str(text)) {
        Ok(tree) => Ok(tree),
        Err(_)
            if text
                .lines()
                .all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) =>
        {
            Ok(Value::Null)
        }
        Err(error) => Err(unreadable(&error, text)),
    }
}

/// Returns the line of a key, dotted from the root; `None` if it is not written.
///
/// The empty key is the root, whose line is that of the first value. A name may itself hold dots. The library gives
/// positions only with errors, so this parse ends with an error at the key.
pub(super) fn line_of(text: &str, key: &str) -> Option<usize> {
    let tree = KeySearch { wanted: Some(key) };
    let error = tree
        .deserialize(serde_yaml::Deserializer::from_str(without_mark(text)))
        .err()?;
    Some(error.location()?.line())
}

/// Returns the value at a path.
pub(super) fn get<'t>(tree: &'t Value, path: &[String]) -> Option<&'t Value> {
    path.iter()
        .try_fold(tree, |value, key| value.as_mapping()?.get(key.as_str()))
}

/// Sets the value at a path. Sets nothing if the path crosses a value without keys.
pub(super) fn set(tree: &mut Value, path: &[&str], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        *tree = value;
        return;
    };
    if tree.is_null() {
        *tree = Value::Mapping(Mapping::new());
    }
    if let Some(map) = tree.as_mapping_mut() {
        set(
            map.entry(Value::from(*first)).or_insert(Value::Null),
            rest,
            value,
        );
    }
}

/// Applies written values over the defaults. Null leaves the default.
pub(super) fn lay_over(default: &mut Value, written: &Value) {
    match (default, written) {
        (Value::Mapping(default), Value::Mapping(written)) => {
            for (key, value) in written {
                lay_over(default.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (_, Value::Null) => {}
        (default, written) => default.clone_from(written),
    }
}

/// Removes a byte-order mark, which editors on Windows write.
///
/// The library treats a byte-order mark before a key as a document of its own.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn line_at(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().split('\n').count()
}

fn unreadable(error: &serde_yaml::Error, text: &str) -> ConfigError {
    let message = error.to_string();
    let why = text::line(message.split(" at line ").next().unwrap_or(&message), 1_000);
    // For these two the library reports no line, or the first one (YAML 1.2, production `c-printable`).
    let at = if why.contains("more than one document") {
        text.rfind("\n---").map(|before| before + 1)
    } else {
        text.find(|c: char| {
            (c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')) || c == '\u{fffe}'
        })
        .filter(|_| why.contains("control characters"))
    };
    let line = at
        .map(|at| line_at(text, at))
        .or(error.location().map(|place| place.line()));
    let what = format!(
        "The file cannot be read as YAML: {}.",
        why.trim_end_matches('.')
    );
    let hint = "Fix the line; docs/configuration.md and `ralph generate schema` list all keys.";
    Problem::new(String::new(), what, hint).at(FILE, line)
}

/// A reading of the text as a tree that ends with an error at the wanted key.
#[derive(Clone, Copy)]
struct KeySearch<'k> {
    wanted: Option<&'k str>,
}

impl<'k> KeySearch<'k> {
    /// Returns the wanted path below a key; empty if this is the wanted key.
    fn below(self, key: &str) -> Option<&'k str> {
        let rest = self.wanted?.strip_prefix(key)?;
        if rest.is_empty() {
            Some(rest)
        } else {
            rest.strip_prefix('.')
        }
    }
}

impl<'de> DeserializeSeed<'de> for KeySearch<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for KeySearch<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, a number, true, false, null, a list or keys with values")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        if self.wanted == Some("") {
            return Err(A::Error::custom("here"));
        }
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(KeySearch { wanted: None })? {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        if self.wanted == Some("") {
            return Err(A::Error::custom("here"));
        }
        let mut map = Mapping::new();
        while let Some(key) = entries.next_key_seed(TextKey(|key: &str| match self.below(key) {
            Some("") => Err("here".to_owned()),
            _ if map.contains_key(key) => Err(format!("the key {key:?} is written twice")),
            _ => Ok(()),
        }))? {
            let value = entries.next_value_seed(KeySearch {
                wanted: self.below(&key),
            })?;
            map.insert(Value::String(key), value);
        }
        Ok(map.into())
    }
}

/// A key, always read as text (`on`, `1`). An error of the function has its line.
struct TextKey<F>(F);

impl<'de, F: FnMut(&str) -> Result<(), String>> DeserializeSeed<'de> for TextKey<F> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<String, D::Error> {
        from.deserialize_str(self)
    }
}

impl<F: FnMut(&str) -> Result<(), String>> Visitor<'_> for TextKey<F> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key that is plain text")
    }

    fn visit_str<E: serde::de::Error>(mut self, key: &str) -> Result<String, E> {
        (self.0)(key).map_err(E::custom).map(|()| key.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::config::key_line as line_of_key;

    #[test]
    fn what_the_library_tells_no_line_of_has_one() {
        let line = |text: &str| parse(text).expect_err(text).line;
        assert_eq!(line("---\na: 1\n---\nb: 1"), Some(3));
        assert_eq!(line("# words\n\na: 1\n--- # more\nb: 1"), Some(4));
        assert_eq!(line("a: ---x\n---\n"), Some(2));
        assert_eq!(line("a: 1\nb: \u{1b}[31m\n"), Some(2));
        assert_eq!(line("a: 1\n\nb: \"\u{7f}\"\n"), Some(3));
        assert_eq!(line("\u{0}"), Some(1));
        assert_eq!(
            line("a: 1\nb: [\n"),
            parse("a: 1\nb: [\n").expect_err("broken").line
        );
    }

    #[test]
    fn a_key_is_found_whatever_its_name_holds() {
        let text = "a.b:\n  c:\n    d: 1\n  c.d: 2\na: {b: 1,\n  x: 2}\n";
        for (key, line) in [
            ("a.b", Some(1)),
            ("a.b.c", Some(2)),
            ("a.b.c.d", Some(3)),
            ("a", Some(5)),
            ("a.x", Some(6)),
            ("a.b.e", None),
            ("", None),
            ("a.b.c.d.e", None),
        ] {
            assert_eq!(
                if key.is_empty() {
                    None
                } else {
                    line_of_key(text, key)
                },
                line,
                "{key}"
            );
        }
        assert_eq!(line_of_key("a: [", "a"), None);
    }
}
