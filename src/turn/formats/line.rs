//! A line of JSON, and the events built from its fields.

use crate::turn::event::{CliError, Span, ToolOutcome, TurnEvent};
use serde_json::Value;

/// Maximum length of a tool's output, in characters.
const OUTPUT: usize = 4_000;

/// A JSON value whose fields are read by their path (`/message/content`).
#[derive(Clone, Copy)]
pub(super) struct TranscriptLine<'a>(pub(super) &'a Value);

impl<'a> TranscriptLine<'a> {
    /// Returns the value at a path, or `null`.
    pub(super) fn at(self, path: &str) -> TranscriptLine<'a> {
        TranscriptLine(self.0.pointer(path).unwrap_or(&Value::Null))
    }

    pub(super) fn has(self, path: &str) -> bool {
        !self.at(path).0.is_null()
    }

    pub(super) fn is_true(self, path: &str) -> bool {
        *self.at(path).0 == Value::Bool(true)
    }

    /// Returns the text at a path, or an empty text.
    pub(super) fn text(self, path: &str) -> &'a str {
        self.at(path).0.as_str().unwrap_or_default()
    }

    /// Returns the first of these texts that exists.
    pub(super) fn first(self, paths: &[&str]) -> &'a str {
        paths
            .iter()
            .map(|path| self.text(path))
            .find(|text| !text.is_empty())
            .unwrap_or_default()
    }

    pub(super) fn number(self, path: &str) -> Option<u64> {
        self.at(path).0.as_u64()
    }

    pub(super) fn dollars(self, path: &str) -> Option<f64> {
        self.at(path).0.as_f64()
    }

    /// True for an exit code other than 0 at this path.
    pub(super) fn exits_badly(self, path: &str) -> bool {
        self.number(path).is_some_and(|code| code != 0)
    }

    /// Returns the sum of these numbers, if at least one exists.
    pub(super) fn sum(self, paths: &[&str]) -> Option<u64> {
        paths
            .iter()
            .filter_map(|path| self.number(path))
            .reduce(u64::saturating_add)
    }

    /// Returns the elements of the list at a path.
    pub(super) fn each(self, path: &str) -> impl Iterator<Item = TranscriptLine<'a>> {
        self.at(path)
            .0
            .as_array()
            .into_iter()
            .flatten()
            .map(TranscriptLine)
    }

    /// Returns the text at a path of each element of a list.
    pub(super) fn texts(self, list: &str, path: &str) -> Vec<String> {
        self.each(list)
            .map(|element| element.text(path).to_owned())
            .collect()
    }

    /// Returns the text of a content: a text, or a list of parts with texts.
    pub(super) fn content(self, path: &str) -> String {
        if let Some(text) = self.at(path).0.as_str() {
            return text.to_owned();
        }
        let parts = self.each(path);
        parts
            .map(|part| part.first(&["/text", "/content/text"]))
            .collect::<Vec<_>>()
            .join("\n")
    }

    pub(super) fn started(self, call: &str, tool: &str, input: &str) -> TurnEvent {
        let input = self.at(input).0.clone();
        TurnEvent::ToolStarted {
            call: self.text(call).to_owned(),
            tool: tool.to_owned(),
            input,
        }
    }

    /// Returns the end of a call. `changed` holds the paths that the CLI reports as changed.
    pub(super) fn ended(
        self,
        call: &str,
        outcome: ToolOutcome,
        output: &str,
        changed: Vec<String>,
    ) -> TurnEvent {
        let output = output.chars().take(OUTPUT).collect();
        TurnEvent::ToolEnded {
            call: self.text(call).to_owned(),
            outcome,
            output,
            changed,
        }
    }

    /// Returns a message; nothing for an empty text.
    pub(super) fn said(text: &str) -> Vec<TurnEvent> {
        (!text.trim().is_empty())
            .then(|| TurnEvent::Said {
                text: text.to_owned(),
            })
            .into_iter()
            .collect()
    }

    pub(super) fn error(self, messages: &[&str], status: &str) -> CliError {
        let (message, status) = (self.first(messages).to_owned(), self.number(status));
        CliError {
            status,
            message,
            is_limit: self.text("/error") == "rate_limit",
            ..CliError::default()
        }
    }

    pub(super) fn failed(self, messages: &[&str], status: &str) -> TurnEvent {
        TurnEvent::Trouble(self.error(messages, status))
    }

    pub(super) fn retrying(self, messages: &[&str], status: &str) -> TurnEvent {
        TurnEvent::Trouble(CliError {
            is_retry: true,
            ..self.error(messages, status)
        })
    }

    pub(super) fn session(self, path: &str) -> TurnEvent {
        TurnEvent::Session {
            id: self.text(path).to_owned(),
        }
    }

    pub(super) fn finished(ok: bool) -> TurnEvent {
        TurnEvent::Finished { ok, text: None }
    }
}

pub(super) fn used(tokens: Option<u64>, dollars: Option<f64>, span: Span) -> TurnEvent {
    TurnEvent::Used {
        tokens,
        dollars,
        span,
    }
}

pub(super) fn outcome(is_denied: bool, has_failed: bool) -> ToolOutcome {
    match (is_denied, has_failed) {
        (true, _) => ToolOutcome::Denied,
        (false, true) => ToolOutcome::Failed,
        (false, false) => ToolOutcome::Done,
    }
}
