//! The events of a transcript, the same for every CLI.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One event of a transcript, in the order of the transcript. All of it is the agent's word: bounded, and never
/// trusted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnEvent {
    /// A tool was called. Some CLIs print a call only with its end: then both events come at once.
    ToolStarted {
        /// Pairs it with its end.
        call: String,
        /// The tool's name in the CLI's spelling.
        tool: String,
        input: Value,
    },
    /// A tool's result arrived.
    ToolEnded {
        /// The call that it ends.
        call: String,
        outcome: ToolOutcome,
        /// The result or the error, bounded.
        output: String,
        /// The paths that this call changed according to the CLI. Most CLIs report none.
        changed: Vec<String>,
    },
    /// A whole message of the agent. The words of sub-agents are tool results, not messages.
    Said { text: String },
    /// Tokens and money.
    Used {
        /// Tokens of every kind, including cached ones.
        tokens: Option<u64>,
        /// Cost in US dollars.
        dollars: Option<f64>,
        /// The scope of the figures.
        span: Span,
    },
    /// The share of a usage limit that is used.
    Quota(QuotaWindow),
    /// An error of the CLI itself: of the provider, of the login, of its limits.
    Trouble(CliError),
    /// The id of the session, which a later run may continue.
    Session { id: String },
    /// The turn is complete. A run that was killed or cut off has no such event.
    Finished {
        /// True if the CLI reports success.
        ok: bool,
        /// The last message, if the end repeats it.
        text: Option<String>,
    },
    /// A line that is too long to be read, even with its texts cut. Its content is lost.
    Lost,
    /// A line that is unknown or malformed, bounded.
    Unread {
        /// Its beginning.
        line: String,
    },
}

impl TurnEvent {
    /// True if the agent wrote a message or used a tool, so its model answers.
    pub fn is_work(&self) -> bool {
        matches!(
            self,
            Self::Said { .. } | Self::ToolStarted { .. } | Self::ToolEnded { .. }
        )
    }
}

/// An error of the CLI itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CliError {
    /// The HTTP status, if named.
    pub status: Option<u64>,
    /// The end of a usage limit, in seconds since 1970.
    pub resets_at: Option<i64>,
    /// True if the CLI reports a usage limit.
    pub is_limit: bool,
    /// True if the CLI retries by itself. It is an error only if the CLI was stopped during the retry.
    pub is_retry: bool,
    pub message: String,
}

/// The share of one window of a usage limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QuotaWindow {
    /// The window's name in the program's words: `five_hour`, `seven_day`.
    pub name: String,
    /// The used share in per cent, rounded down, at most 100.
    pub percent: u8,
    /// The end of the window, seconds since 1970.
    pub resets_at: Option<i64>,
}

/// The result of a tool call as the CLI reports it. `Done` proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolOutcome {
    /// No error was reported.
    Done,
    /// The call failed, or a command exited with a code other than 0.
    Failed,
    /// A permission or a policy refused the call.
    Denied,
}

/// The scope of token and money figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Span {
    /// One step, to be added to the sum.
    Step,
    /// This run so far, which replaces earlier figures.
    Run,
    /// The session so far, including the earlier runs that it continues.
    Session,
}

/// The format of a transcript.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TranscriptFormat {
    /// No events: the output is the agent's words.
    #[default]
    Text,
    /// Claude Code `--output-format stream-json --verbose`, also of Qwen Code, Amp and Claude's session files.
    Claude,
    /// Codex `exec --json`.
    Codex,
    /// Gemini CLI `--output-format stream-json`.
    Gemini,
    /// opencode `run --format json`.
    Opencode,
    /// Copilot CLI `--output-format json`.
    Copilot,
    /// Cursor `--output-format stream-json`.
    Cursor,
    /// Goose `--output-format stream-json`.
    Goose,
    /// pi `--mode json`.
    Pi,
    /// Hermes Agent: plain text, with a session that is exported after its end.
    Hermes,
}

impl TranscriptFormat {
    /// The names, as in `format:` and serde.
    pub const NAMES: [&'static str; 10] = [
        "text", "claude", "codex", "gemini", "opencode", "copilot", "cursor", "goose", "pi",
        "hermes",
    ];

    /// True if standard output is a transcript with one event per line. Otherwise it is the agent's words.
    pub fn prints_events(self) -> bool {
        !matches!(self, Self::Text | Self::Hermes)
    }

    /// True if the CLI prints the start of a tool call and not only its end.
    pub fn tells_starts(self) -> bool {
        self != Self::Opencode
    }

    /// True if the CLI prints no end record after an error that ends its run.
    pub fn ends_with_error(self) -> bool {
        self == Self::Opencode
    }

    /// Returns the format of that name.
    pub fn named(name: &str) -> Option<Self> {
        serde_json::from_value(name.into()).ok()
    }
}
