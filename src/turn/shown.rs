//! Formats a transcript for readers: the agent's messages, its tools with their targets, and failures.
//!
//! Promise: for any transcript, the output is bounded lines of visible characters.

use super::event::{CliError, ToolOutcome, TurnEvent};
use crate::source::text::{block, line};
use serde_json::Value;
use std::collections::BTreeMap;

/// Maximum length of a line, in characters.
const LINE: usize = 300;
/// Maximum number of open calls to track.
const CALLS: usize = 1_000;

/// Arguments that may hold the target of a tool, in order of preference.
const TARGETS: &str = "file_path filePath path notebook_path absolute_path dir_path pattern query url description prompt";

#[derive(Debug, Default)]
pub struct EventRenderer {
    /// The directory from which paths are shown, with a slash at its end.
    root: String,
    calls: BTreeMap<String, String>,
    last: String,
}

impl EventRenderer {
    /// Shows paths relative to this directory.
    pub fn from(root: &str) -> Self {
        Self {
            root: format!("{}/", root.trim_end_matches('/')),
            ..Self::default()
        }
    }

    /// Returns the lines of an event. Most events have none.
    pub fn lines(&mut self, event: &TurnEvent) -> Vec<String> {
        let one = match event {
            TurnEvent::Said { text } => {
                return block(text)
                    .lines()
                    .map(line_of)
                    .filter(|row| !row.is_empty())
                    .collect();
            }
            TurnEvent::ToolStarted { call, tool, input } => {
                let shown = self.call(tool, input);
                if self.calls.len() < CALLS {
                    self.calls.insert(call.clone(), shown.clone());
                }
                shown
            }
            TurnEvent::ToolEnded {
                call,
                outcome,
                output,
                ..
            } => {
                let call = self.calls.remove(call).unwrap_or_default();
                match outcome {
                    ToolOutcome::Done => return Vec::new(),
                    ToolOutcome::Failed => format!("✗ {}: {}", line(&call, 120), failure(output)),
                    ToolOutcome::Denied => format!("✗ {} was denied: {output}", line(&call, 120)),
                }
            }
            TurnEvent::Trouble(CliError {
                message,
                status,
                is_retry,
                ..
            }) => {
                let status = status
                    .map(|status| format!("{status} "))
                    .unwrap_or_default();
                format!(
                    "{}{status}{message}",
                    if *is_retry { "tries again: " } else { "✗ " }
                )
            }
            // Noise between the lines of JSON.
            TurnEvent::Unread { line } if !line.starts_with('{') => line.clone(),
            _ => return Vec::new(),
        };
        let one = line_of(&one);
        // Many CLIs print their error twice.
        let is_again = one.starts_with('✗') && one == self.last;
        self.last.clone_from(&one);
        if is_again { Vec::new() } else { vec![one] }
    }

    /// Returns `$ mvn test` or `Edit src/a.rs`.
    fn call(&self, tool: &str, input: &Value) -> String {
        let command = ["command", "cmd"]
            .iter()
            .find_map(|key| words(&input[*key]));
        if let Some(command) = command {
            return format!("$ {}", without_shell(&command));
        }
        let changes = input["changes"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|change| words(&change["path"]));
        let patch = ["patchText", "patch", "input"]
            .iter()
            .find_map(|key| input[*key].as_str())
            .unwrap_or_default();
        let headers = patch.lines().filter_map(|row| {
            Some(
                row.strip_prefix("*** ")?
                    .split_once(" File: ")?
                    .1
                    .to_owned(),
            )
        });
        let one = TARGETS.split(' ').find_map(|key| words(&input[key]));
        let all: Vec<String> = changes.chain(headers).chain(one).collect();
        format!(
            "{tool} {}",
            all.iter()
                .map(|path| path.strip_prefix(&self.root).unwrap_or(path).to_owned())
                .collect::<Vec<_>>()
                .join(", ")
        )
    }
}

fn line_of(text: &str) -> String {
    line(text, LINE)
}

/// Returns a text, or a list of texts joined.
fn words(value: &Value) -> Option<String> {
    value
        .as_str()
        .map(str::to_owned)
        .or_else(|| {
            Some(
                value
                    .as_array()?
                    .iter()
                    .filter_map(Value::as_str)
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        })
        .filter(|text| !text.is_empty())
}

/// Returns the command inside a call of a shell.
fn without_shell(command: &str) -> &str {
    let inner = ["/bin/bash -lc ", "bash -lc "]
        .iter()
        .find_map(|shell| command.strip_prefix(shell));
    inner.map_or(command, |inner| inner.trim_matches(['\'', '"']))
}

/// Returns the reason for which a tool failed.
fn failure(output: &str) -> &str {
    let output = output
        .trim_start_matches("<tool_use_error>")
        .trim_end_matches("</tool_use_error>");
    if output.trim().is_empty() {
        "failed"
    } else {
        output
    }
}
