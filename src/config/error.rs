//! The errors of a configuration, each with its location and a hint.

use crate::source::Problem;
use serde_yaml::Value;

/// An error of the file, or of the variable or flag in its location.
///
/// Its kind is the key, dotted from the root (`gates.PITEST.threshold`); empty for the file as a whole.
pub type ConfigError = Problem<String>;

/// The file, relative to the workspace.
pub const FILE: &str = ".ralph/config.yaml";

/// An error in the tree of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    /// The keys from the root.
    pub(super) path: Vec<String>,
    /// The end of the sentence that begins with the key's name.
    pub(super) what: String,
    /// The next action, a whole sentence.
    pub(super) hint: String,
}

impl Mistake {
    pub(super) fn new(what: &str, hint: &str) -> Self {
        Self {
            path: Vec::new(),
            what: what.to_owned(),
            hint: hint.to_owned(),
        }
    }

    /// Moves the error below a key.
    pub(super) fn at(mut self, key: &str) -> Self {
        self.path.insert(0, key.to_owned());
        self
    }

    /// Reports a key that is not one of these.
    pub(super) fn unknown_key(key: &str, known: &[&str]) -> Self {
        let hint = match nearest(key, known) {
            Some(near) => format!("Did you mean `{near}`?"),
            None => format!("Known here: {}.", listed(known, ", ")),
        };
        Self::new("is not a known key", &hint)
    }
}

/// Returns a path in dotted form, safe for a message.
pub(super) fn dotted(path: &[String]) -> String {
    let names: Vec<String> = path
        .iter()
        .map(|name| quoted(name).trim_matches('"').to_owned())
        .collect();
    names.join(".")
}

/// Returns the text in quotes, escaped and cut to 60 characters for a message.
pub(super) fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// Describes a value for messages.
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

/// Returns `a`, `b` or `c`, with control characters escaped.
pub(super) fn either(words: &[&str]) -> String {
    listed(words, " or ")
}

fn listed(words: &[&str], last: &str) -> String {
    let mut ticked: Vec<String> = words
        .iter()
        .map(|word| format!("`{}`", word.escape_debug()))
        .collect();
    let end = ticked.pop().unwrap_or_default();
    if ticked.is_empty() {
        end
    } else {
        format!("{}{last}{end}", ticked.join(", "))
    }
}

/// Returns the known word closest to `word`, if it is close enough to be a typing error.
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    if word.len() > 40 {
        return None;
    }
    let near = known
        .iter()
        .map(|&key| (strsim::levenshtein(&folded(word), &folded(key)), key))
        .min()?;
    (near.0 <= 2.min(near.1.len() / 2).max(1)).then_some(near.1)
}

/// Returns a word in the form in which words are compared.
fn folded(text: &str) -> String {
    text.to_lowercase().replace(['_', ' '], "-")
}
