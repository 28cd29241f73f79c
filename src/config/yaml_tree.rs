//! The YAML text as a tree of values, the line of each key in it, and its reading by serde.

use super::error::{Mistake, described};
use crate::source::text;
use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::{Mapping, Value};
use std::fmt;

/// Why a text cannot be read as YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unreadable {
    /// 1-based line, if the library names one.
    pub(super) line: Option<u64>,
    /// The library's words, without the position.
    pub(super) why: String,
}

/// Reads the text. Every key is text; a key that is written twice and a tag are refused.
pub(super) fn parse(text: &str) -> Result<Value, Unreadable> {
    let tree = Tree { wanted: None };
    match tree.deserialize(serde_yaml::Deserializer::from_str(without_mark(text))) {
        Ok(tree) => Ok(tree),
        Err(_)
            if without_mark(text)
                .lines()
                .all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) =>
        {
            Ok(Value::Null)
        }
        Err(error) => Err(unreadable(&error, text)),
    }
}

/// The line of a key, given by its path from the root; `None` if it is not written. The root's is that of the
/// first value.
///
/// The library gives positions with errors only, so this reading of the text ends with an error at the key.
pub(super) fn line_of(text: &str, path: &[String]) -> Option<u64> {
    let tree = Tree { wanted: Some(path) };
    let error = tree.deserialize(serde_yaml::Deserializer::from_str(without_mark(text))).err()?;
    line(&error)
}

/// The path of a key that is dotted from the root; `None` if it is not written. A name may hold dots itself.
pub(super) fn path_of(tree: &Value, key: &str) -> Option<Vec<String>> {
    if key.is_empty() {
        return Some(Vec::new());
    }
    tree.as_mapping()?.iter().find_map(|(name, below)| {
        let name = name.as_str()?;
        let rest = key.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('.'))?;
        let mut path = path_of(below, rest.trim_start_matches('.'))?;
        path.insert(0, name.to_owned());
        Some(path)
    })
}

/// The value at a path.
pub(super) fn get<'t>(tree: &'t Value, path: &[String]) -> Option<&'t Value> {
    path.iter().try_fold(tree, |value, key| value.as_mapping()?.get(key.as_str()))
}

/// Sets the value at a path; where the tree holds something else than keys on the way, nothing is set.
pub(super) fn set(tree: &mut Value, path: &[&str], value: Value) {
    let Some((first, rest)) = path.split_first() else {
        *tree = value;
        return;
    };
    if tree.is_null() {
        *tree = Value::Mapping(Mapping::new());
    }
    if let Some(map) = tree.as_mapping_mut() {
        set(map.entry(Value::from(*first)).or_insert(Value::Null), rest, value);
    }
}

/// Removes the key at a path; the root's value becomes null.
pub(super) fn remove(tree: &mut Value, path: &[String]) {
    match path.split_last() {
        None => *tree = Value::Null,
        Some((last, before)) => {
            let parent = before
                .iter()
                .try_fold(tree, |value, key| value.as_mapping_mut()?.get_mut(key.as_str()))
                .and_then(Value::as_mapping_mut);
            parent.map(|map| map.shift_remove(last.as_str()));
        }
    }
}

/// The library takes a byte-order mark before a key for a document of its own; editors on Windows write one.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn line(error: &serde_yaml::Error) -> Option<u64> {
    error.location().and_then(|place| u64::try_from(place.line()).ok())
}

fn unreadable(error: &serde_yaml::Error, text: &str) -> Unreadable {
    let message = error.to_string();
    let why = text::line(message.split(" at line ").next().unwrap_or(&message), 1_000);
    // For these two the library names no line, or the first one.
    let line = if why.contains("more than one document") {
        second_document(text)
    } else if why.contains("control characters") {
        unprintable(text).or(line(error))
    } else {
        line(error)
    };
    Unreadable { line, why }
}

/// The line of the mark `---` that begins a second document.
fn second_document(text: &str) -> Option<u64> {
    let is_mark = |line: &str| {
        line.strip_prefix("---").is_some_and(|rest| rest.trim_start() != rest || rest.is_empty())
    };
    let is_empty = |line: &str| line.trim().is_empty() || line.starts_with(['#', '%']);
    let mut lines = (1..).zip(text.lines()).skip_while(|(_, line)| is_empty(line));
    // The first line with something on it begins the first document, whether it is a mark or not.
    lines.next();
    lines.find(|(_, line)| is_mark(line)).map(|(number, _)| number)
}

/// The line of the first character that YAML forbids (YAML 1.2, production `c-printable`).
fn unprintable(text: &str) -> Option<u64> {
    let forbidden =
        |c: char| (c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}')) || c == '\u{fffe}';
    let before = text.get(..text.find(forbidden)?)?;
    u64::try_from(before.matches('\n').count() + 1).ok()
}

/// A reading of the text as a tree that ends with an error at the key with the wanted path.
#[derive(Clone, Copy)]
struct Tree<'p> {
    wanted: Option<&'p [String]>,
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
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
        if self.wanted == Some(&[]) {
            return Err(A::Error::custom("here"));
        }
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(Tree { wanted: None })? {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        if self.wanted == Some(&[]) {
            return Err(A::Error::custom("here"));
        }
        let first = self.wanted.and_then(|path| path.split_first());
        let mut map = Mapping::new();
        while let Some(key) = entries.next_key_seed(Key(|key: &str| match first {
            Some((first, [])) if first == key => Err("here".to_owned()),
            _ if map.contains_key(key) => Err(format!("the key {key:?} is written twice")),
            _ => Ok(()),
        }))? {
            let wanted = first.filter(|(first, _)| **first == key).map(|(_, below)| below);
            let value = entries.next_value_seed(Tree { wanted })?;
            map.insert(Value::String(key), value);
        }
        Ok(map.into())
    }
}

/// A key, as text whatever it looks like (`on`, `1`), if the function does not object: an error has its line.
struct Key<F>(F);

impl<'de, F: FnMut(&str) -> Result<(), String>> DeserializeSeed<'de> for Key<F> {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<String, D::Error> {
        from.deserialize_str(self)
    }
}

impl<F: FnMut(&str) -> Result<(), String>> Visitor<'_> for Key<F> {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key that is plain text")
    }

    fn visit_str<E: serde::de::Error>(mut self, key: &str) -> Result<String, E> {
        (self.0)(key).map_err(E::custom).map(|()| key.to_owned())
    }
}

/// A value of the tree as serde reads it: null stands for empty keys, and a list never for keys.
#[derive(Clone, Copy)]
pub(super) struct Node<'de>(pub(super) &'de Value);

impl<'de> IntoDeserializer<'de, Mistake> for Node<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0 {
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(value), _) => visitor.visit_u64(value),
                (None, Some(value)) => visitor.visit_i64(value),
                (None, None) => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Sequence(items) => visitor.visit_seq(SeqDeserializer::new(items.iter().map(Node))),
            Value::Mapping(_) => self.deserialize_map(visitor),
            Value::Null | Value::Tagged(_) => visitor.visit_unit(),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match self.0 {
            Value::Null => visitor.visit_map(MapDeserializer::new(std::iter::empty::<(&str, Node)>())),
            Value::Mapping(map) => visitor.visit_map(Entries { rest: map.iter(), entry: None }),
            other => Err(Mistake::new(
                &format!("must be keys with values, not {}", described(other)),
                "Write `key: value` lines below it.",
            )),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        words: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        match self.0 {
            Value::String(word) if words.contains(&word.as_str()) => {
                visitor.visit_enum(IntoDeserializer::<Mistake>::into_deserializer(word.as_str()))
            }
            Value::Mapping(map) if map.len() == 1 && words.iter().any(|word| map.contains_key(*word)) => {
                visitor.visit_enum(MapAccessDeserializer::new(Entries { rest: map.iter(), entry: None }))
            }
            other => Err(Mistake::not_a_word(other, words)),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct identifier ignored_any
    }
}

/// The entries of a map; a mistake in one gets its key.
struct Entries<'de, I> {
    rest: I,
    entry: Option<(&'de str, &'de Value)>,
}

impl<'de, I: Iterator<Item = (&'de Value, &'de Value)>> MapAccess<'de> for Entries<'de, I> {
    type Error = Mistake;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Mistake> {
        self.entry = self.rest.next().map(|(key, value)| (key.as_str().unwrap_or_default(), value));
        self.entry
            .map(|(key, _)| {
                seed.deserialize(IntoDeserializer::<Mistake>::into_deserializer(key))
                    .map_err(|mistake| mistake.at(key))
            })
            .transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Mistake> {
        let (key, value) = self.entry.unwrap_or(("", &Value::Null));
        seed.deserialize(Node(value)).map_err(|mistake| mistake.at(key))
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
        assert_eq!(line("a: 1\nb: [\n"), parse("a: 1\nb: [\n").expect_err("broken").line);
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
            assert_eq!(if key.is_empty() { None } else { line_of_key(text, key) }, line, "{key}");
        }
        assert_eq!(line_of_key("a: [", "a"), None);
    }
}
