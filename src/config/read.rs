//! Typed reading of the tree, with every mistake noted and none guessed away.
//!
//! Owns: the checks that do not depend on which key is read: type, range, word, pattern, duration.
//!
//! Promises: a wrong value yields an error with its line and `None`, never a default in silence.
//!
//! Refuses to know: which keys the configuration has.

use super::document::{Node, Part, line_of};
use super::error::{ConfigError, either, nearest, quoted};
use super::given::{Source, Sources};
use super::keys::Key;
use jiff::SignedDuration;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

/// One year: longer limits are slips of the pen and would overflow clocks.
const LONGEST: u64 = 366 * 24 * 3600;

/// So many mistakes are named; each costs a reading of the text, for its line.
const MOST_MISTAKES: usize = 100;

/// A value of the tree with its name and its way from the root.
#[derive(Clone, Debug)]
pub(super) struct Field<'n> {
    /// Dotted from the root; empty for the root.
    pub(super) name: String,
    /// The ordinals that [`line_of`] follows.
    steps: Vec<usize>,
    /// The value.
    pub(super) node: &'n Node,
}

impl<'n> Field<'n> {
    /// The root of a tree.
    pub(super) fn root(node: &'n Node) -> Self {
        Self { name: String::new(), steps: Vec::new(), node }
    }

    /// True for `null` and for a key without a value.
    pub(super) fn is_null(&self) -> bool {
        *self.node == Node::Null
    }

    /// The keys of a map as they stand there; none for anything else.
    pub(super) fn keys(&self) -> Vec<&'n str> {
        match self.node {
            Node::Map(entries) => entries.iter().map(|(key, _)| key.as_str()).collect(),
            _ => Vec::new(),
        }
    }

    fn below(&self, key: &str, ordinal: usize, node: &'n Node) -> Self {
        let name = if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) };
        Self { name, steps: [self.steps.as_slice(), &[ordinal]].concat(), node }
    }

    fn item(&self, ordinal: usize, node: &'n Node) -> Self {
        let name = format!("{}[{ordinal}]", self.name);
        Self { name, steps: [self.steps.as_slice(), &[ordinal]].concat(), node }
    }
}

/// Entries of a map by their keys.
pub(super) type Fields<'n> = BTreeMap<&'n str, Field<'n>>;

/// Reads fields of one text and keeps what is wrong with it.
pub(super) struct Reader<'t> {
    text: &'t str,
    sources: &'t Sources,
    errors: Vec<ConfigError>,
    /// Mistakes that are counted only.
    more: usize,
}

impl<'t> Reader<'t> {
    /// A reader of that text, some of whose values were given elsewhere.
    pub(super) fn new(text: &'t str, sources: &'t Sources) -> Self {
        Self { text, sources, errors: Vec::new(), more: 0 }
    }

    /// What was found wrong, in the order of the lines.
    pub(super) fn into_errors(mut self) -> Vec<ConfigError> {
        self.errors.sort_by_key(|error| error.line);
        if self.more > 0 {
            let what = format!("There are {} more mistakes.", self.more);
            self.errors.push(ConfigError::new(None, "", &what, "Mend those that are named first."));
        }
        self.errors
    }

    /// Notes that the value of a field is wrong; `what` follows the key's name in the sentence.
    pub(super) fn wrong(&mut self, field: &Field, what: &str, hint: impl Into<String>) {
        self.wrong_at(field, Part::Value, what, hint.into());
    }

    /// As [`Reader::wrong`], placed at the key.
    pub(super) fn wrong_key(&mut self, field: &Field, what: &str, hint: impl Into<String>) {
        self.wrong_at(field, Part::Key, what, hint.into());
    }

    fn wrong_at(&mut self, field: &Field, part: Part, what: &str, hint: String) {
        if self.errors.len() == MOST_MISTAKES {
            self.more += 1;
            return;
        }
        let sentence = if field.name.is_empty() {
            format!("The file {what}.")
        } else {
            format!("`{}` {what}.", field.name)
        };
        self.errors.push(match self.sources.of(&field.name) {
            Some(Source::Environment { name } | Source::Flag { name }) => {
                ConfigError::given(name, &field.name, &sentence, hint)
            }
            _ => ConfigError::new(line_of(self.text, &field.steps, part), &field.name, &sentence, hint),
        });
    }

    fn wrong_type(&mut self, field: &Field, wanted: &str, hint: impl Into<String>) {
        let what = format!("must be {wanted}, not {}", described(field.node));
        self.wrong(field, &what, hint);
    }

    /// The entries of a map whose keys anybody may choose. `null` is an empty map.
    pub(super) fn entries<'n>(&mut self, field: &Field<'n>) -> Vec<(&'n str, Field<'n>)> {
        let entries = match field.node {
            Node::Null => return Vec::new(),
            Node::Map(entries) => entries,
            _ => {
                self.wrong_type(field, "keys with values", "Write `key: value` lines below it.");
                return Vec::new();
            }
        };
        let mut seen: BTreeMap<&str, Field> = BTreeMap::new();
        let mut kept = Vec::new();
        for (ordinal, (key, node)) in entries.iter().enumerate() {
            let shown = quoted(key);
            let below = field.below(shown.trim_matches('"'), ordinal, node);
            if let Some(first) = seen.get(key.as_str()) {
                let line = line_of(self.text, &first.steps, Part::Key).unwrap_or(0);
                self.wrong_key(
                    &below,
                    &format!("stands twice, first on line {line}"),
                    "Remove one of the two.",
                );
                continue;
            }
            seen.insert(key, below.clone());
            kept.push((key.as_str(), below));
        }
        kept
    }

    /// The entries of a map with known keys; others are errors. `null` is an empty map.
    pub(super) fn fields<'n>(&mut self, field: &Field<'n>, keys: &[Key]) -> Fields<'n> {
        let known: Vec<&str> = keys.iter().map(|key| key.name).collect();
        self.fields_named(field, &known)
    }

    /// The same, for keys that stand elsewhere in the file.
    pub(super) fn fields_named<'n>(&mut self, field: &Field<'n>, known: &[&str]) -> Fields<'n> {
        let mut fields = Fields::new();
        for (key, below) in self.entries(field) {
            if known.contains(&key) {
                fields.insert(key, below);
                continue;
            }
            let hint = match nearest(key, known) {
                _ if key == "ahead" => {
                    "Remove it: a gate begins when its turn has come, no longer while reviewers work."
                        .to_owned()
                }
                Some(near) => format!("Did you mean `{near}`?"),
                None => format!("Known here: {}.", either(known).replace(" or ", ", ")),
            };
            self.wrong_key(&below, "is not a known key", hint);
        }
        fields
    }

    /// A whole number in a range.
    pub(super) fn whole(&mut self, field: &Field, range: RangeInclusive<u64>) -> Option<u64> {
        let value = match field.node {
            Node::Whole(value) => u64::try_from(*value).ok().filter(|value| range.contains(value)),
            _ => None,
        };
        if value.is_none() {
            let wanted = if *range.end() >= u64::from(u32::MAX) {
                format!("a whole number, {} or more", range.start())
            } else {
                format!("a whole number from {} to {}", range.start(), range.end())
            };
            let hint = match field.node {
                Node::Text(text) if text.ends_with('%') => "Leave the per cent sign out.",
                Node::Text(_) => "Write the number without quotes and without a unit.",
                _ => "Write such a number, or leave the key out for its default.",
            };
            self.wrong_type(field, &wanted, hint);
        }
        value
    }

    /// A whole number in a range that fits 32 bits.
    pub(super) fn small(&mut self, field: &Field, range: RangeInclusive<u32>) -> Option<u32> {
        let wide = u64::from(*range.start())..=u64::from(*range.end());
        self.whole(field, wide).and_then(|value| u32::try_from(value).ok())
    }

    /// A length of time such as `60m`, `1h 30m`, `90s`; more than nothing, at most a year.
    pub(super) fn duration(&mut self, field: &Field) -> Option<Duration> {
        let hint = "Write a number with a unit: `90s`, `60m`, `1h 30m` or `24h`.";
        let Node::Text(text) = field.node else {
            self.wrong_type(field, "a length of time", hint);
            return None;
        };
        let parsed = text.trim().parse::<SignedDuration>().ok();
        let Some(length) = parsed.and_then(|length| Duration::try_from(length).ok()) else {
            self.wrong_type(field, "a length of time", hint);
            return None;
        };
        if length.is_zero() || length.as_secs() > LONGEST {
            self.wrong_type(field, "longer than nothing and at most a year", hint);
            return None;
        }
        Some(length)
    }

    /// One of a few words.
    pub(super) fn word<T: Copy>(&mut self, field: &Field, words: &[(&str, T)]) -> Option<T> {
        let text = match field.node {
            Node::Text(text) => text.as_str(),
            _ => "",
        };
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let hint = match nearest(text, &names) {
            Some(near) => format!("Did you mean `{near}`?"),
            None => "Write one of these words, or leave the key out for its default.".to_owned(),
        };
        self.wrong_type(field, &either(&names), hint);
        None
    }

    /// A text that is not empty and holds no control characters.
    pub(super) fn text<'n>(&mut self, field: &Field<'n>) -> Option<&'n str> {
        match field.node {
            Node::Text(text) if text.is_empty() => {
                self.wrong(
                    field,
                    "must not be empty",
                    "Write a value, or leave the key out for its default.",
                );
                None
            }
            Node::Text(text) if text.contains('\0') => {
                self.wrong(field, "holds a NUL character", "Remove it.");
                None
            }
            Node::Text(text) => Some(text),
            _ => {
                self.wrong_type(field, "text", "Put the value in quotes.");
                None
            }
        }
    }

    /// A list of texts; the list may be empty.
    pub(super) fn texts(&mut self, field: &Field) -> Option<Vec<String>> {
        let Node::List(items) = field.node else {
            self.wrong_type(field, "a list of texts", "Write it as `[\"a\", \"b\"]`.");
            return None;
        };
        let mut texts = Vec::new();
        for (ordinal, node) in items.iter().enumerate() {
            texts.push(self.text(&field.item(ordinal, node)).map(str::to_owned));
        }
        texts.into_iter().collect()
    }

    /// A program with its arguments: a list of texts with at least one.
    pub(super) fn argv(&mut self, field: &Field) -> Option<Vec<String>> {
        const HINT: &str =
            "Write program and arguments as a list: `[\"sh\", \"-c\", \"…\"]`; there is no shell.";
        let Node::List(items) = field.node else {
            self.wrong_type(field, "a list of program and arguments", HINT);
            return None;
        };
        if items.is_empty() {
            self.wrong(field, "names no program", HINT);
            return None;
        }
        let mut argv = Vec::new();
        for (ordinal, node) in items.iter().enumerate() {
            // An argument may be empty, a program may not.
            let empty = ordinal > 0 && *node == Node::Text(String::new());
            let text = if empty { Some("") } else { self.text(&field.item(ordinal, node)) };
            argv.push(text.map(str::to_owned));
        }
        argv.into_iter().collect()
    }

    /// `None` for `null`, else what `read` makes of the field.
    pub(super) fn unless_null<'n, T>(
        &mut self,
        field: &Field<'n>,
        read: impl FnOnce(&mut Self, &Field<'n>) -> Option<T>,
    ) -> Option<T> {
        if field.is_null() { None } else { read(self, field) }
    }

    /// A list of patterns for paths (globset's syntax), relative to a folder.
    pub(super) fn globs(&mut self, field: &Field, may_be_empty: bool) -> Option<Vec<String>> {
        let globs = self.texts(field)?;
        if globs.is_empty() && !may_be_empty {
            self.wrong(field, "must not be empty", "Name a pattern, or leave the key out for its default.");
            return None;
        }
        let Node::List(items) = field.node else { return None };
        let before = self.errors.len();
        for (ordinal, (node, glob)) in items.iter().zip(&globs).enumerate() {
            let item = field.item(ordinal, node);
            if glob.starts_with('/') || glob.split('/').any(|part| part == "..") {
                let what = format!("{} leaves the folder that it is relative to", quoted(glob));
                self.wrong(&item, &what, "Write a path without a leading `/` and without `..`.");
            } else if let Err(error) = globset::Glob::new(glob) {
                let what = format!("{} is no pattern for paths: {}", quoted(glob), error.kind());
                self.wrong(&item, &what, "Mend the pattern; `*`, `**`, `?`, `[ab]` and `{a,b}` may be used.");
            }
        }
        (self.errors.len() == before).then_some(globs)
    }
}

/// A value in words, for messages.
fn described(node: &Node) -> String {
    match node {
        Node::Null => "null".to_owned(),
        Node::Bool(value) => value.to_string(),
        Node::Whole(value) => value.to_string(),
        Node::Real(value) => value.to_string(),
        Node::Text(text) => quoted(text),
        Node::List(_) => "a list".to_owned(),
        Node::Map(_) => "keys with values".to_owned(),
    }
}
