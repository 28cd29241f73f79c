//! The YAML text as a tree, and the line on which a piece of it stands.
//!
//! Owns: the only contact with the YAML library.
//!
//! Promises: nothing of the text is lost (keys keep their order, doubled keys stay doubled); the line of
//! any key or value can be asked for, however it was written (block, flow, quoted).
//!
//! Refuses to know: which keys exist, what a value means.

use serde::Deserialize;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// One value of the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// Nothing, `~` or `null`.
    Null,
    /// `true` or `false` (no other words).
    Bool(bool),
    /// A whole number.
    Whole(i128),
    /// A number with a point or an exponent.
    Real(f64),
    /// Text.
    Text(String),
    /// `[a, b]` or lines with `-`.
    List(Vec<Node>),
    /// `{a: b}` or lines with `a: b`, in their order, doubled keys included.
    Map(Vec<(String, Node)>),
}

/// Why a text is no YAML that the configuration can be read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unreadable {
    /// 1-based line, where the library names one.
    pub(super) line: Option<u64>,
    /// The library's words, without the position.
    pub(super) why: String,
}

/// Reads the text. A text without a value (empty, comments only) is [`Node::Null`].
pub(super) fn parse(text: &str) -> Result<Node, Unreadable> {
    match serde_yaml::from_str::<Option<Node>>(without_mark(text)) {
        Ok(node) => Ok(node.unwrap_or(Node::Null)),
        Err(error) => Err(unreadable(&error, text)),
    }
}

/// The part of an entry whose line is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The key (of an item of a list: the item).
    Key,
    /// The value.
    Value,
}

/// The line of the entry that `steps` leads to: at each level the ordinal of the entry or item, from 0.
///
/// The library tells positions only with errors, so the text is read once more and the reading is ended
/// with an error at that very place.
pub(super) fn line_of(text: &str, steps: &[usize], part: Part) -> Option<u64> {
    let walk = Walk { steps, part };
    let error = walk.deserialize(serde_yaml::Deserializer::from_str(without_mark(text))).err()?;
    error.location().and_then(|place| u64::try_from(place.line()).ok())
}

/// The library takes a byte-order mark before a key for a document of its own; editors on Windows write one.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn unreadable(error: &serde_yaml::Error, text: &str) -> Unreadable {
    let line = error.location().and_then(|place| u64::try_from(place.line()).ok());
    let told = error.to_string();
    let why = crate::source::text::line(told.split(" at line ").next().unwrap_or(&told), 1_000);
    // For these two the library names no line, or the first one.
    let line = if why.contains("more than one document") {
        second_document(text)
    } else if why.contains("control characters") {
        unprintable(text).or(line)
    } else {
        line
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

/// The line of a key, dotted from the root; `None` where it is not written. A name may hold dots itself.
pub(super) fn line_of_key(text: &str, key: &str) -> Option<u64> {
    let tree = parse(text).ok()?;
    let (mut node, mut rest, mut steps) = (&tree, key, Vec::new());
    while !rest.is_empty() {
        let Node::Map(entries) = node else { return None };
        let below =
            |name: &str| rest.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('.'));
        let (at, (name, child)) = entries.iter().enumerate().find(|(_, (name, _))| below(name).is_some())?;
        (node, rest) = (child, below(name)?.trim_start_matches('.'));
        steps.push(at);
    }
    line_of(text, &steps, Part::Key)
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text, a number, true, false, null, a list or keys with values")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Whole(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Whole(value.into()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Node, E> {
        Ok(Node::Whole(value))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Node, E> {
        Ok(Node::Whole(i128::try_from(value).unwrap_or(i128::MAX)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Real(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(Key(key)) = map.next_key()? {
            entries.push((key, map.next_value()?));
        }
        Ok(Node::Map(entries))
    }
}

/// A key, as text whatever it looks like (`on`, `1`).
struct Key(String);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(KeyVisitor).map(Key)
    }
}

struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key that is plain text")
    }

    fn visit_str<E>(self, key: &str) -> Result<String, E> {
        Ok(key.to_owned())
    }
}

/// A reading that ends with an error at the place that `steps` leads to.
#[derive(Clone, Copy)]
struct Walk<'s> {
    steps: &'s [usize],
    part: Part,
}

/// Fails wherever it is asked to read.
struct Stop;

impl<'de> DeserializeSeed<'de> for Stop {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

macro_rules! stops {
    ($($visit:ident($($value:ty)?)),*) => {
        $(fn $visit<E: serde::de::Error>(self $(, _: $value)?) -> Result<(), E> {
            Err(E::custom("here"))
        })*
    };
}

impl<'de> Visitor<'de> for Stop {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing")
    }

    stops!(visit_unit(), visit_none(), visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64));
    stops!(visit_str(&str), visit_i128(i128), visit_u128(u128));

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(A::Error::custom("here"))
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(A::Error::custom("here"))
    }
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        if self.steps.is_empty() { Stop.deserialize(from) } else { from.deserialize_any(self) }
    }
}

impl<'s> Walk<'s> {
    /// The step at this level and the walk below it.
    fn down(self) -> Option<(usize, Walk<'s>)> {
        let (first, rest) = self.steps.split_first()?;
        Some((*first, Walk { steps: rest, part: self.part }))
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list or keys with values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Some((wanted, below)) = self.down() else { return Ok(()) };
        for _ in 0..wanted {
            list.next_element::<IgnoredAny>()?;
        }
        list.next_element_seed(below)?;
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((wanted, below)) = self.down() else { return Ok(()) };
        for _ in 0..wanted {
            map.next_entry::<IgnoredAny, IgnoredAny>()?;
        }
        if below.steps.is_empty() && self.part == Part::Key {
            map.next_key_seed(Stop)?;
            return Ok(());
        }
        map.next_key::<IgnoredAny>()?;
        map.next_value_seed(below)
    }
}

#[cfg(test)]
mod tests {
    use super::{line_of_key, parse};

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
