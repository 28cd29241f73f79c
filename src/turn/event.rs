//! What a transcript tells, whatever CLI printed it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One thing that a transcript tells; they come in its order. All of it is the agent's word: bounded, and never trusted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnEvent {
    /// A tool was called. Some CLIs print a call only with its end: then both events come at once.
    ToolStarted {
        /// Pairs it with its end.
        call: String,
        /// The tool's name in the CLI's words.
        tool: String,
        /// Its arguments.
        input: Value,
    },
    /// A tool's result arrived.
    ToolEnded {
        /// The call that it ends.
        call: String,
        /// How it ended.
        outcome: ToolOutcome,
        /// The result or the error, bounded.
        output: String,
        /// The paths which the CLI itself says that the call changed; most say nothing.
        changed: Vec<String>,
    },
    /// The agent's own words, a whole message. What sub-agents say is their result, not here.
    Said {
        /// The message.
        text: String,
    },
    /// Tokens and money.
    Used {
        /// Tokens of every kind, cached ones too.
        tokens: Option<u64>,
        /// US dollars.
        dollars: Option<f64>,
        /// What the figures stand for.
        span: Span,
    },
    /// The CLI's own error: of the provider, of the login, of its limits.
    Trouble(CliError),
    /// The name of the session, which a later run may continue.
    Session {
        /// It.
        id: String,
    },
    /// The turn came to its end; a run that was killed or cut has none.
    Finished {
        /// The CLI calls it a success.
        ok: bool,
        /// The last message, where the end repeats it.
        text: Option<String>,
    },
    /// A line that is too long to be read, even with its texts cut: what it told is lost.
    Lost,
    /// A line that is unknown or malformed, bounded.
    Unread {
        /// Its beginning.
        line: String,
    },
}

impl TurnEvent {
    /// The agent said or did something: its model answers.
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
    /// When a usage limit ends, seconds since 1970.
    pub resets_at: Option<i64>,
    /// The CLI calls it a usage limit.
    pub is_limit: bool,
    /// It tries again by itself: an error only where it was ended while it did.
    pub is_retry: bool,
    /// Its words.
    pub message: String,
}

/// How the call of a tool ended, in the words of the CLI. `Done` proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolOutcome {
    /// No error was reported.
    Done,
    /// It failed, or a command exited with another code than 0.
    Failed,
    /// It was not run: a permission or a policy refused it.
    Denied,
}

/// What figures of tokens and money stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Span {
    /// One step: to be added.
    Step,
    /// This run so far: replaces what it said before.
    Run,
    /// The session so far, with the earlier runs that it continues.
    Session,
}

/// The format of a transcript.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// No events: what it prints is what it says.
    #[default]
    Text,
    /// Claude Code `--output-format stream-json --verbose`; Qwen Code, Amp and Claude's session files too.
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

impl Format {
    /// Their names, as `format:` and serde have them.
    pub const NAMES: [&'static str; 10] = [
        "text", "claude", "codex", "gemini", "opencode", "copilot", "cursor", "goose", "pi",
        "hermes",
    ];

    /// Standard output is a transcript, one event a line. Of the others it is what the agent says.
    pub fn prints_events(self) -> bool {
        !matches!(self, Self::Text | Self::Hermes)
    }

    /// A tool is told when it starts, and not with its end alone.
    pub fn tells_starts(self) -> bool {
        self != Self::Opencode
    }

    /// The format of that name.
    pub fn named(name: &str) -> Option<Self> {
        serde_json::from_value(name.into()).ok()
    }
}
