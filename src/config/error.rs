//! What is wrong with a configuration, with its place and what to do about it.

use crate::source::text;
use serde::de::{Expected, Unexpected};
use serde::{Deserialize, Serialize};
use serde_yaml::Value;
use std::fmt;

/// How the file is named in messages.
const FILE: &str = "config.yaml";

/// One thing that is wrong with the file, or with an override.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// 1-based line in the file, if there is one.
    pub line: Option<u64>,
    /// The key, dotted from the root (`gates.PITEST.threshold`); empty for the file as a whole.
    pub key: String,
    /// What is wrong, a whole sentence that starts with the place (`config.yaml:12: …`), or with the name of
    /// the variable or flag.
    pub message: String,
    /// What to do about it, a whole sentence.
    pub hint: String,
}

impl ConfigError {
    /// An error at a line of the file.
    pub(super) fn new(line: Option<u64>, key: &str, what: &str, hint: &str) -> Self {
        let place = line.map(|line| format!(":{line}")).unwrap_or_default();
        Self::of_override(&format!("{FILE}{place}"), key, what, hint).with_line(line)
    }

    /// An error of the file as a whole, or of a line whose key is not known.
    pub fn of_file(line: Option<u64>, what: &str, hint: &str) -> Self {
        Self::new(line, "", &text::line(what, 1_000), hint)
    }

    /// An error in the value of a variable or flag.
    pub(super) fn of_override(name: &str, key: &str, what: &str, hint: &str) -> Self {
        Self { line: None, key: key.to_owned(), message: format!("{name}: {what}"), hint: hint.to_owned() }
    }

    fn with_line(self, line: Option<u64>) -> Self {
        Self { line, ..self }
    }

    /// The message with the file's folder, as a person finds it from the workspace.
    pub fn shown(&self) -> String {
        if self.is_in_file() { format!(".ralph/{}", self.message) } else { self.message.clone() }
    }

    /// False for the value of a variable or flag.
    pub fn is_in_file(&self) -> bool {
        self.message.starts_with(FILE)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConfigError {}

/// One thing that is wrong with the tree of values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mistake {
    /// The keys from the root.
    pub(super) path: Vec<String>,
    /// What follows the key's name in the sentence.
    pub(super) what: String,
    /// What to do about it, a whole sentence.
    pub(super) hint: String,
}

impl Mistake {
    pub(super) fn new(what: &str, hint: &str) -> Self {
        Self { path: Vec::new(), what: what.to_owned(), hint: hint.to_owned() }
    }

    /// The same below a key.
    pub(super) fn at(mut self, key: &str) -> Self {
        self.path.insert(0, key.to_owned());
        self
    }

    /// A key that is not one of these.
    pub(super) fn unknown_key(key: &str, known: &[&str]) -> Self {
        let hint = match nearest(key, known) {
            Some(near) => format!("Did you mean `{near}`?"),
            None => format!("Known here: {}.", listed(known, ", ")),
        };
        Self::new("is not a known key", &hint)
    }

    /// A value that is none of these words.
    pub(super) fn not_a_word(value: &Value, words: &[&str]) -> Self {
        let hint = match nearest(value.as_str().unwrap_or_default(), words) {
            Some(near) => format!("Did you mean `{near}`?"),
            None => "Write one of these words, or leave the key out for its default.".to_owned(),
        };
        Self::new(&format!("must be {}, not {}", either(words), described(value)), &hint)
    }

    /// What is wrong, as a sentence.
    pub(super) fn sentence(&self) -> String {
        if self.path.is_empty() {
            return format!("The file {}.", self.what);
        }
        format!("`{}` {}.", dotted(&self.path), self.what)
    }
}

/// As JSON: this is how a mistake passes through serde's errors, which are text.
impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).unwrap_or_default())
    }
}

impl std::error::Error for Mistake {}

impl serde::de::Error for Mistake {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let message = message.to_string();
        serde_json::from_str(&message).unwrap_or_else(|_| {
            let what = text::line(&message, 1_000);
            Self::new(&format!("cannot be read: {what}"), "`ralph schema` shows what may be written there.")
        })
    }

    fn invalid_type(found: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        let what = format!(
            "must be {}, not {}",
            wanted.to_string().replace("sequence", "list"),
            text::line(&found.to_string(), 100)
        );
        Self::new(&what, "`ralph schema` shows what may be written there.")
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown_key(field, expected)
    }
}

/// A path as people write it, fit for a message.
pub(super) fn dotted(path: &[String]) -> String {
    let names: Vec<String> = path.iter().map(|name| quoted(name).trim_matches('"').to_owned()).collect();
    names.join(".")
}

/// The text in quotes, escaped and cut to 60 characters: fit for a message.
pub(super) fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// A value in words, for messages.
pub(super) fn described(value: &Value) -> String {
    match value {
        Value::Null | Value::Tagged(_) => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::String(text) => quoted(text),
        Value::Sequence(_) => "a list".to_owned(),
        Value::Mapping(_) => "keys with values".to_owned(),
    }
}

/// `a`, `b` or `c`; control characters escaped.
pub(super) fn either(words: &[&str]) -> String {
    listed(words, " or ")
}

fn listed(words: &[&str], last: &str) -> String {
    let mut ticked: Vec<String> = words.iter().map(|word| format!("`{}`", word.escape_debug())).collect();
    let end = ticked.pop().unwrap_or_default();
    if ticked.is_empty() { end } else { format!("{}{last}{end}", ticked.join(", ")) }
}

/// The known word that is nearest to `word`, if it is near enough to be a slip.
pub(super) fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let folded = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let word = folded(word);
    if word.len() > 40 {
        return None;
    }
    let near = known.iter().map(|&key| (distance(&word, &folded(key)), key)).min()?;
    (near.0 <= 2.min(near.1.len() / 2).max(1)).then_some(near.1)
}

/// Levenshtein distance.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, &b) in right.iter().enumerate() {
            let change = corner + usize::from(a != b);
            corner = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(corner + 1);
        }
    }
    row[right.len()]
}
