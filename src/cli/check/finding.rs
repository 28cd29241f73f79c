//! One thing that is wrong, or worth a look.
//!
//! Owns: what is told of it.
//!
//! Promises: whole sentences; a rule's name is the same for ever.
//!
//! Refuses to know: how it was found, how it is shown.

use crate::engine::Fault;
use crate::report::plain;
use crate::source::RepoPath;
use serde::Serialize;
use std::borrow::Cow;
use std::path::PathBuf;

/// How grave it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Level {
    /// Stops a run, or the part of it that it concerns.
    Error,
    /// Does not.
    Warning,
}

impl Level {
    /// The word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// One thing that is wrong, or worth a look.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Finding {
    /// How grave it is.
    pub(super) level: Level,
    /// Which rule it breaks: one of [`super::rules::ALL`].
    pub(super) rule: &'static str,
    /// The file, from the workspace; a package's name where it concerns that; empty for none.
    pub(super) file: String,
    /// 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u64>,
    /// The key of the configuration, dotted from the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
    /// What is wrong and what it means, in whole sentences.
    pub(super) what: String,
    /// What to do.
    pub(super) hint: String,
    /// The path on disk where `file` is not that, absolute or from the workspace.
    #[serde(skip)]
    pub(super) path: Option<PathBuf>,
    /// The line itself, where it is known.
    #[serde(skip)]
    pub(super) source: String,
}

impl Finding {
    /// A finding on a file as a whole.
    pub(super) fn new(
        level: Level,
        rule: &'static str,
        file: impl Into<String>,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            level,
            rule,
            file: file.into(),
            line: None,
            key: None,
            what: what.into(),
            hint: hint.into(),
            path: None,
            source: String::new(),
        }
    }

    /// What kept a part from being looked at.
    pub(super) fn of_fault(rule: &'static str, file: &str, fault: Fault) -> Self {
        Self::new(Level::Error, rule, file, fault.what, fault.hint)
    }

    /// What is wrong with the journal; its message begins with the line where there is one.
    pub(super) fn of_journal(fault: Fault) -> Self {
        const JOURNAL: &str = ".ralph/state/journal.jsonl";
        let placed = fault.what.strip_prefix("journal.jsonl:").and_then(|rest| rest.split_once(": "));
        let placed = placed.and_then(|(line, what)| Some((line.parse().ok()?, what)));
        let Some((line, what)) = placed else { return Self::of_fault("journal", JOURNAL, fault) };
        let mut letters = what.chars();
        let what: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
        Self::new(Level::Error, "journal", JOURNAL, what, fault.hint).at(line)
    }

    /// The same on a line.
    pub(super) fn at(self, line: u64) -> Self {
        Self { line: Some(line), ..self }
    }

    /// `tasks.md:12`; a name that a terminal could not show as it is stands in quotes, as git shows it.
    pub(super) fn place(&self) -> String {
        let is_plain = plain::line(&self.file, usize::MAX) == self.file;
        let file = if is_plain { Cow::from(&self.file) } else { quoted(&self.file) };
        match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.into_owned(),
        }
    }
}

fn quoted(name: &str) -> Cow<'_, str> {
    RepoPath::from_bytes(name.as_bytes()).as_str().to_owned().into()
}

#[cfg(test)]
mod tests {
    use super::{Finding, Level};

    #[test]
    fn a_name_is_shown_as_it_is_where_a_terminal_may_have_it() {
        let place = |file: &str| Finding::new(Level::Error, "x", file, "", "").at(2).place();
        assert_eq!(place("app/Übung ä.java"), "app/Übung ä.java:2");
        assert_eq!(place("app/a\u{1b}[31m\nb"), "\"app/a\\033[31m\\nb\":2");
    }
}
