//! Usage limits and refused logins, recognised by the texts that known agent CLIs print, plain and in their JSON lines.
//!
//! Promises: an agent that exited with 0 is never limited; prose about status codes is not a limit.

use super::reset::seconds_until;
use crate::machine::facts::ProcessEnd;
use crate::source::text;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use regex_lite::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// Lines at the end of a stream that are searched; after a time-out only [`LAST_LINES`].
const LINES: usize = 40;

/// The same for an agent that was killed: what it said long before is not why it hung.
const LAST_LINES: usize = 5;

/// A longer plain line is not an error message.
const LONGEST_LINE: usize = 4_000;

/// Texts that mean a limit or a refused login wherever they stand in a line (lower case, plain quotes).
const ANYWHERE: &[&str] = &[
    // Claude Code
    "hit your limit",
    "usage limit reached",
    "reached your usage limit",
    "request rejected (429)",
    "exceed your account's rate limit",
    "credit balance is too low",
    "invalid api key · ",
    "please run /login",
    "oauth token has expired",
    "oauth token revoked",
    // Codex, and other clients of the same service
    "hit your usage limit",
    "the usage limit has been reached",
    "usage_limit_reached",
    "insufficient_quota",
    "rate limit reached for",
    "incorrect api key provided",
    // Gemini
    "exhausted your daily quota",
    "exhausted your capacity on this model",
    "exceeded your current quota",
    "terminalquotaerror",
    "resource has been exhausted",
    "api key not valid. please pass",
    // Copilot
    "authentication failed with provider",
];

/// Texts that mean it only at the start of a line: elsewhere they are prose about some server.
static AT_START: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^\W*(?:(?:api )?error[: ]+)*(?:api call failed after \d+ retries: )?(?:(?:http|error|unexpected status|exceeded retry limit, last status:|status:|code:)[ :]*(?:429|401)\b(?:,|:|\W*$| unauthorized| too many requests)|(?:429|401) (?:unauthorized|too many requests|incorrect api key|the usage limit))").ok()
});

/// [`ProcessEnd::Limited`] when the agent did not exit with 0 and one of its last lines holds a known
/// text. `now` is the time of its end; `zone` as in the machine's clock, if known: CLIs print times of
/// day in it.
pub fn usage_limit(
    end: &ProcessEnd,
    stdout_tail: &[u8],
    stderr_tail: &[u8],
    now: Timestamp,
    zone: Option<&TimeZone>,
) -> Option<ProcessEnd> {
    let lines = match end {
        _ if end.is_success() => return None,
        ProcessEnd::Exited { .. } | ProcessEnd::Signalled { .. } => LINES,
        ProcessEnd::TimedOut { .. } | ProcessEnd::Idle { .. } => LAST_LINES,
        ProcessEnd::NotStarted { .. }
        | ProcessEnd::Unsupervised { .. }
        | ProcessEnd::Interrupted
        | ProcessEnd::Limited { .. } => return None,
    };
    let mut said: Vec<Said> = Vec::new();
    for tail in [stdout_tail, stderr_tail] {
        let text = String::from_utf8_lossy(tail);
        let last: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).rev().take(lines).collect();
        said.extend(last.into_iter().filter_map(Said::of));
    }
    let why = text::line(&said.first()?.text, 300);
    let reset = said.iter().find_map(|said| seconds_until(&said.raw, now, zone));
    Some(ProcessEnd::Limited { why, reset })
}

/// A line that reports a limit.
struct Said {
    /// The message in it.
    text: String,
    /// The whole line: JSON holds the reset time beside the message.
    raw: String,
}

impl Said {
    fn of(line: &str) -> Option<Self> {
        let line = line.trim();
        if line.starts_with('{') {
            let value: Value = serde_json::from_str(line).ok()?;
            let error = json_error(&value)?;
            let known = is_known(&error.text) || matches!(error.status, Some(401 | 429));
            return known.then(|| Self { text: error.text, raw: line.to_owned() });
        }
        let known = line.len() <= LONGEST_LINE && is_known(line);
        known.then(|| Self { text: line.to_owned(), raw: line.to_owned() })
    }
}

fn is_known(text: &str) -> bool {
    let text = text.to_lowercase().replace(['\u{2018}', '\u{2019}'], "'");
    ANYWHERE.iter().any(|known| text.contains(known))
        || AT_START.as_ref().is_some_and(|at_start| at_start.is_match(&text))
}

/// An error that a JSON line reports.
struct JsonError {
    text: String,
    /// The HTTP status, if named.
    status: Option<u64>,
}

/// The error that a line of a known event stream reports; lines with prompts, prose and tools' output report none.
fn json_error(line: &Value) -> Option<JsonError> {
    let status = |path: &str| line.pointer(path).and_then(Value::as_u64);
    let text = |paths: &[&str]| {
        paths.iter().find_map(|path| line.pointer(path).and_then(Value::as_str)).map(str::to_owned)
    };
    let (text, status) = match line.get("type")?.as_str()? {
        // Codex, opencode
        "error" => {
            (text(&["/message", "/error/data/message", "/error/message"])?, status("/error/data/statusCode"))
        }
        "turn.failed" => (text(&["/error/message"])?, None),
        // Claude Code, Qwen, Gemini
        "result" if line.get("is_error") == Some(&Value::Bool(true)) || line.get("error").is_some() => {
            (text(&["/error/message", "/result"])?, status("/api_error_status"))
        }
        "rate_limit_event" if line.pointer("/rate_limit_info/status")?.as_str()? == "rejected" => {
            ("usage limit reached".to_owned(), None)
        }
        // Copilot
        "session.error" => (text(&["/data/message"])?, status("/data/statusCode")),
        // pi
        "turn_end" => (text(&["/message/errorMessage"])?, None),
        "auto_retry_end" => (text(&["/finalError"])?, None),
        _ => return None,
    };
    // Codex reports every reconnect as an error, and the last one once more without the count.
    (!text.starts_with("Reconnecting")).then_some(JsonError { text, status })
}

#[cfg(test)]
mod tests;
