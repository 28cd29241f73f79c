//! One thing that was found in a workspace or on the machine, and the rule that it breaks.

use super::Fault;
use crate::source::RepoPath;
use crate::source::text;
use serde::Serialize;
use std::borrow::Cow;

/// Severity of a finding.
///
/// `check` lists warnings and errors, `doctor` also what is in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Level {
    Ok,
    /// Not there, and not needed.
    Absent,
    Warning,
    /// Stops a run, or the part of it that it concerns.
    #[default]
    Error,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct InspectionFinding {
    pub(crate) level: Level,
    /// Name of its rule. A rule keeps its meaning forever, because programs compare it.
    pub(crate) rule: String,
    /// The file, relative to the workspace; or the name of a package or program.
    pub(crate) file: String,
    /// 1-based.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<usize>,
    /// The key of the configuration, dotted from the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    /// The problem and its consequence, in whole sentences.
    pub(crate) what: String,
    /// The next step.
    pub(crate) hint: String,
}

impl InspectionFinding {
    /// A finding that stops a run, about a file, a package or a program.
    pub(crate) fn new_error(
        rule: &str,
        file: impl Into<String>,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            rule: rule.to_owned(),
            file: file.into(),
            what: what.into(),
            hint: hint.into(),
            ..Self::default()
        }
    }

    /// The same as a warning.
    pub(crate) fn into_warning(self) -> Self {
        self.with_level(Level::Warning)
    }

    pub(crate) fn at_line(self, line: usize) -> Self {
        Self {
            line: Some(line),
            ..self
        }
    }

    pub(crate) fn with_key(self, key: impl Into<String>) -> Self {
        Self {
            key: Some(key.into()),
            ..self
        }
    }

    pub(crate) fn with_level(self, level: Level) -> Self {
        Self { level, ..self }
    }

    /// `tasks.md:12`; a name with characters that a terminal must not get is quoted as git quotes it.
    pub(crate) fn place_text(&self) -> String {
        let is_plain = text::line(&self.file, usize::MAX) == self.file;
        let file = if is_plain {
            Cow::from(&self.file)
        } else {
            RepoPath::from_bytes(self.file.as_bytes())
                .as_str()
                .to_owned()
                .into()
        };
        match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.into_owned(),
        }
    }

    /// The same as what keeps a run from starting.
    pub(crate) fn into_fault(self) -> Fault {
        let what = if self.key.is_some() {
            self.what
        } else {
            format!("{}: {}", self.place_text(), self.what)
        };
        Fault::setup_fault(what, self.hint)
    }
}

#[cfg(test)]
mod tests {
    use super::InspectionFinding;

    #[test]
    fn a_name_is_quoted_only_if_a_terminal_must_not_get_it() {
        let place = |file: &str| {
            InspectionFinding::new_error("x", file, "", "")
                .at_line(2)
                .place_text()
        };
        assert_eq!(place("app/Übung ä.java"), "app/Übung ä.java:2");
        assert_eq!(place("app/a\u{1b}[31m\nb"), "\"app/a\\033[31m\\nb\":2");
    }
}
