//! One thing that is wrong, or worth a look.
//!
//! Owns: what is told of it.
//!
//! Promises: whole sentences; a rule's name is the same for ever.
//!
//! Refuses to know: how it was found, how it is shown.

use crate::engine::Fault;
use serde::Serialize;

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
    /// The path on disk where `file` is not that, from the workspace.
    #[serde(skip)]
    pub(super) path: Option<String>,
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

    /// The same on a line.
    pub(super) fn at(self, line: u64) -> Self {
        Self { line: Some(line), ..self }
    }

    /// `tasks.md:12`.
    pub(super) fn place(&self) -> String {
        match self.line {
            Some(line) => format!("{}:{line}", self.file),
            None => self.file.clone(),
        }
    }
}
