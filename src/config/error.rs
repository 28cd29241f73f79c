//! What is wrong with a configuration, said so that a person can mend it.
//!
//! Owns: the error type and the search for the key that was probably meant.
//!
//! Promises: no control character of the file reaches a message.
//!
//! Refuses to know: which keys exist.

use std::fmt;

/// How the file is named in messages.
const FILE: &str = "config.yaml";

/// One thing that is wrong with the file, or with what was given beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// 1-based line in the file, where there is one.
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
    /// An error; `what` is the sentence without the place.
    pub(super) fn new(line: Option<u64>, key: &str, what: &str, hint: impl Into<String>) -> Self {
        let place = line.map(|line| format!(":{line}")).unwrap_or_default();
        Self { line, key: key.to_owned(), message: format!("{FILE}{place}: {what}"), hint: hint.into() }
    }

    /// An error of the file as a whole, or of a line that no key is known of.
    pub fn of_file(line: Option<u64>, what: &str, hint: &str) -> Self {
        Self::new(line, "", &crate::source::text::line(what, 1_000), hint)
    }

    /// An error in what a variable or flag of that name said.
    pub(super) fn given(name: &str, key: &str, what: &str, hint: impl Into<String>) -> Self {
        Self { line: None, key: key.to_owned(), message: format!("{name}: {what}"), hint: hint.into() }
    }

    /// The message with the file's folder, as a person finds it from the workspace.
    pub fn shown(&self) -> String {
        if self.is_in_file() { format!(".ralph/{}", self.message) } else { self.message.clone() }
    }

    /// False for what a variable or flag said.
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

/// The text in quotes, escaped and cut to 60 characters: fit for a message.
pub(super) fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// `a`, `b` or `c`; control characters escaped.
pub(super) fn either(words: &[&str]) -> String {
    let mut ticked: Vec<String> = words.iter().map(|word| format!("`{}`", word.escape_debug())).collect();
    match ticked.pop() {
        Some(last) if !ticked.is_empty() => format!("{} or {last}", ticked.join(", ")),
        Some(last) => last,
        None => String::new(),
    }
}

/// The known word that is nearest to `word`, when it is near enough to be a slip.
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
