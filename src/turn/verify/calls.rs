//! The calls of one turn: the files of each, its end, and the order of results.

use super::targets::{CallPurpose, task};
use crate::source::text::line;
use crate::turn::{ToolOutcome, TranscriptFormat, TurnEvent};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Maximum length of a preview, in characters.
pub const PREVIEW: usize = 180;
/// Maximum length of a tool's name or command, in characters.
const NAME: usize = 40;
const COMMAND: usize = 80;

#[derive(Clone, Debug)]
pub(super) struct TurnCall {
    pub(super) tool: String,
    pub(super) task: CallPurpose,
    /// Its outcome, and the position of its result among all results; `None` while it runs.
    pub(super) end: Option<(ToolOutcome, usize)>,
    /// Its error message.
    pub(super) error: String,
    /// True if it was refused before it took effect: for missing arguments, or in favour of another message.
    pub(super) never_ran: bool,
}

/// Prefixes of the errors of such calls, lower-case: Claude, Gemini and Qwen, opencode, Copilot, pi, Hermes.
const NEVER_RAN: [&str; 12] = [
    "inputvalidationerror",
    "params must have required property",
    "invalid_tool_params",
    "was called with invalid arguments",
    "invalid inputs: ",
    "validation failed for tool ",
    "path required",
    "old_string and new_string required",
    "patch content required",
    "[tool execution skipped",
    "[tool execution cancelled",
    "unsupported call",
];

impl TurnCall {
    pub(super) fn is_done(&self) -> bool {
        matches!(self.end, Some((ToolOutcome::Done, _)))
    }
}

/// The calls and words of a turn so far.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    pub(super) all: Vec<TurnCall>,
    /// The last call of each id.
    open: HashMap<String, usize>,
    results: usize,
    /// The agent's last words: those after the last tool call.
    pub(super) words: String,
    /// Number of events with known content.
    understood: usize,
    /// Files that a call changed according to the CLI.
    pub(super) reported: Vec<String>,
    /// Number of lines that were too long to be read.
    pub(super) lost: u32,
    has_session: bool,
    /// True after the end record, and after an error of the CLI, unless work followed.
    has_ended: bool,
    has_failed: bool,
}

impl Calls {
    /// Adds the next event. A repeated event counts once.
    pub fn hear(&mut self, event: &TurnEvent) {
        self.understood +=
            usize::from(!matches!(event, TurnEvent::Unread { .. } | TurnEvent::Lost));
        if event.is_work() {
            (self.has_ended, self.has_failed) = (false, false);
        }
        self.has_ended |= matches!(event, TurnEvent::Finished { .. });
        self.has_failed |= matches!(event, TurnEvent::Trouble(error) if !error.is_retry);
        match event {
            TurnEvent::Lost => self.lost += 1,
            TurnEvent::Session { .. } => self.has_session = true,
            TurnEvent::ToolStarted { call, tool, input } => {
                self.started(call, tool, task(tool, input));
            }
            TurnEvent::ToolEnded {
                call,
                outcome,
                output,
                changed,
            } => {
                self.ended(call, *outcome, output);
                self.reported.extend(changed.iter().cloned());
            }
            // The end of a turn often repeats the last message.
            TurnEvent::Said { text }
            | TurnEvent::Finished {
                text: Some(text), ..
            } if self.words.trim_end() != text.trim_end() => {
                self.words.push_str(text);
                self.words.push('\n');
            }
            _ => {}
        }
    }

    fn started(&mut self, id: &str, tool: &str, task: CallPurpose) {
        self.words.clear();
        let task = match task {
            CallPurpose::Command(command) => CallPurpose::Command(line(&command, COMMAND)),
            task => task,
        };
        let tool = line(tool, NAME);
        let known = self.open.get(id).and_then(|at| self.all.get(*at));
        if known.is_none_or(|known| (&known.tool, &known.task) != (&tool, &task)) {
            self.open.insert(id.to_owned(), self.all.len());
            self.all.push(TurnCall {
                tool,
                task,
                end: None,
                error: String::new(),
                never_ran: false,
            });
        }
    }

    fn ended(&mut self, id: &str, outcome: ToolOutcome, output: &str) {
        self.words.clear();
        let Some(call) = self.open.get(id).and_then(|at| self.all.get_mut(*at)) else {
            return;
        };
        if call.end.is_none_or(|(known, _)| known != outcome) {
            self.results += 1;
            call.end = Some((outcome, self.results));
            call.error = if outcome == ToolOutcome::Done {
                String::new()
            } else {
                preview(output)
            };
            let error = call.error.to_lowercase();
            call.never_ran = NEVER_RAN.iter().any(|begin| error.starts_with(begin));
        }
    }

    /// Adds the CLI's final report about files that no call here was to edit.
    pub fn add_summary(&mut self, printed: Self) {
        let known: HashSet<String> = self.targets().map(ToOwned::to_owned).collect();
        for mut call in printed.all {
            let CallPurpose::Edit(paths) = &mut call.task else {
                continue;
            };
            paths.retain(|path| !known.contains(path));
            if !paths.is_empty() {
                self.results += 1;
                call.end = call.end.map(|(outcome, _)| (outcome, self.results));
                self.all.push(call);
            }
        }
        if self.understood == 0 {
            self.words = printed.words;
        }
        self.understood += printed.understood;
    }

    /// True for words without a session or a call, from which failed edits cannot be known.
    pub fn is_words_alone(&self) -> bool {
        self.all.is_empty() && !self.has_session
    }

    /// True if the transcript does not reach the end of the turn, so that the rest of the turn is unknown.
    pub fn is_cut(&self, format: TranscriptFormat) -> bool {
        let has_failed = self.has_failed && format.ends_with_error();
        format.prints_events() && !self.has_ended && !has_failed
    }

    /// True if no line of the transcript was known.
    pub fn is_empty(&self) -> bool {
        self.understood == 0
    }

    /// Returns the files that calls were to edit, in their spelling, each once.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        let mut seen = HashSet::new();
        let paths = self
            .edits()
            .flat_map(|(_, _, paths)| paths)
            .map(String::as_str);
        paths.filter(move |path| seen.insert(*path))
    }

    /// Returns the calls that edit, with their number.
    pub(super) fn edits(&self) -> impl Iterator<Item = (usize, &TurnCall, &[String])> {
        self.all
            .iter()
            .enumerate()
            .filter_map(|(at, call)| match &call.task {
                CallPurpose::Edit(paths) => Some((at, call, paths.as_slice())),
                _ => None,
            })
    }
}

/// Returns the error in a result: the field `error` (or its `message`) of a JSON object, otherwise the text.
pub fn preview(output: &str) -> String {
    let text = output.trim();
    let inner = text.strip_prefix("<tool_use_error>").unwrap_or(text);
    let inner = inner.strip_suffix("</tool_use_error>").unwrap_or(inner);
    let object = inner
        .starts_with('{')
        .then(|| serde_json::from_str::<Value>(inner).ok())
        .flatten();
    let error = object.as_ref().and_then(|object| object.get("error"));
    let error = error.and_then(|error| error.as_str().or_else(|| error.get("message")?.as_str()));
    line(error.unwrap_or(inner), PREVIEW)
}
