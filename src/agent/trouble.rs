//! What kept an agent's CLI from working: usage limits, logins, outages, unknown models, refusals. They are known by the
//! texts of the presets and by the HTTP status that a message names, plain and in JSON lines.
//!
//! Promises: an agent that exited with 0 had no trouble, unless its preset says that 0 means nothing; prose about status
//! codes is no trouble.

use super::reset::seconds_until;
use crate::config::{PRESETS, Preset, Trouble};
use crate::machine::facts::ProcessEnd;
use crate::source::text;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use regex_lite::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// Lines at the end of a stream that are searched; after a time-out, or for an outage, only [`LAST_LINES`].
const LINES: usize = 40;

/// The same for an agent that was killed: what it said long before is not why it hung.
const LAST_LINES: usize = 5;

/// A longer plain line is not an error message.
const LONGEST_LINE: usize = 4_000;

/// Characters that are shown of it.
const SHOWN: usize = 300;

/// What an error of a JSON line says when the network is out, whatever the CLI.
const NETWORK: [&str; 9] = [
    "connection refused",
    "connection error",
    "connection reset",
    "fetch failed",
    "econnrefused",
    "econnreset",
    "enotfound",
    "etimedout",
    "eai_again",
];

/// Statuses in the forms that are no prose: at the start of a line, with the words that stand there.
static STATUS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = "unauthorized|forbidden|too many requests|internal server error|bad gateway|service unavailable|gateway timeout|overloaded";
    let status = r"(40[123]|429|50[0-4]|529)";
    Regex::new(&format!(r"^\W*(?:api error[: ]+{status}\b|(?:(?:api )?error[: ]+)*(?:api call failed after \d+ retries: )?(?:(?:http|error|unexpected status|exceeded retry limit, last status:|status:|code:)[ :]*{status}\b(?:,|:|\W*$| (?:{words}))|{status} (?:{words}|incorrect api key|the usage limit|the server had an error)))")).ok()
});

/// The ends of what an agent printed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Printed<'a> {
    /// Of standard output.
    pub stdout: &'a [u8],
    /// Of standard error.
    pub stderr: &'a [u8],
}

/// The end of an agent whose CLI could not work; `None` if it could. `now` is the time of its end; `zone` as in the
/// machine's clock, if known: CLIs print times of day in it.
pub fn trouble(
    end: &ProcessEnd,
    preset: Option<&Preset>,
    printed: Printed<'_>,
    now: Timestamp,
    zone: Option<&TimeZone>,
) -> Option<ProcessEnd> {
    let lines = match end {
        _ if end.is_success() && preset.is_some_and(|preset| preset.fails_with_zero) => LAST_LINES,
        _ if end.is_success() => return None,
        ProcessEnd::Exited { .. } | ProcessEnd::Signalled { .. } => LINES,
        ProcessEnd::TimedOut { .. } | ProcessEnd::Idle { .. } => LAST_LINES,
        _ => return None,
    };
    let mut said: Vec<Said> = Vec::new();
    for tail in [printed.stdout, printed.stderr] {
        let text = String::from_utf8_lossy(tail);
        let last: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).rev().take(lines).collect();
        let known = last.into_iter().enumerate().filter_map(|(at, line)| {
            let said = Said::of(line)?;
            let is_late = matches!(said.trouble, Trouble::Limit | Trouble::Login) || at < LAST_LINES;
            is_late.then_some(said)
        });
        said.extend(known);
    }
    let last = said.first()?;
    // A message says more than the status below it.
    let same = |said: &&Said| said.trouble == last.trouble && said.by.is_some();
    let best = said.iter().find(same).unwrap_or(last);
    let why = text::line(&best.text, SHOWN);
    Some(match best.trouble {
        Trouble::Limit => {
            let reset = said.iter().find_map(|said| seconds_until(&said.raw, now, zone));
            ProcessEnd::Limited { why, reset }
        }
        Trouble::Outage => ProcessEnd::Outage { why },
        Trouble::Refused => ProcessEnd::Refused { why },
        Trouble::Login | Trouble::Model | Trouble::Setup => {
            ProcessEnd::NotSetUp { why, hint: hint(best.trouble, preset.or(best.by)) }
        }
    })
}

/// What a person does about it.
fn hint(trouble: Trouble, preset: Option<&Preset>) -> String {
    match (trouble, preset.map(|preset| (preset, preset.root.as_deref()))) {
        (Trouble::Login, Some((preset, _))) => format!("log in: {}; then `ralph run` goes on", preset.login),
        (Trouble::Login, None) => "log in with the agent's own CLI; then `ralph run` goes on".to_owned(),
        (Trouble::Setup, Some((_, Some(variable)))) => {
            format!(
                "if this machine is a sandbox, say so: `env: {{{variable}: \"1\"}}` beside the agent's preset"
            )
        }
        (Trouble::Model, _) => {
            "name a model that this login may use: `model:` or `args:` of the agent".to_owned()
        }
        _ => "see what the agent's own CLI says about it".to_owned(),
    }
}

/// A line that tells of trouble.
struct Said {
    trouble: Trouble,
    /// The message in it.
    text: String,
    /// The whole line: JSON holds the reset time beside the message.
    raw: String,
    /// Whose text it is; `None` if the status alone tells.
    by: Option<&'static Preset>,
}

impl Said {
    fn of(line: &str) -> Option<Self> {
        let line = line.trim();
        let said =
            |(trouble, by), text: &str| Self { trouble, text: text.to_owned(), raw: line.to_owned(), by };
        if line.starts_with('{') {
            let value: Value = serde_json::from_str(line).ok()?;
            let error = json_error(&value)?;
            let by_status = || Some((error.status.and_then(by_status)?, None));
            return known(&error.text)
                .or_else(by_status)
                .or_else(|| network(&error.text))
                .map(|kind| said(kind, &error.text));
        }
        (line.len() <= LONGEST_LINE).then(|| known(line)).flatten().map(|kind| said(kind, line))
    }
}

/// What a text tells, and the preset that knows it.
fn known(text: &str) -> Option<(Trouble, Option<&'static Preset>)> {
    let text = plain(text);
    let in_preset = |preset: &'static Preset| {
        let (trouble, _) =
            preset.texts.iter().find(|(_, known)| known.iter().any(|known| text.contains(known)))?;
        Some((*trouble, Some(preset)))
    };
    PRESETS.iter().find_map(in_preset).or_else(|| {
        let found = STATUS.as_ref()?.captures(&text)?;
        let status = found.iter().skip(1).flatten().next()?;
        Some((by_status(status.as_str().parse().ok()?)?, None))
    })
}

fn network(text: &str) -> Option<(Trouble, Option<&'static Preset>)> {
    let text = plain(text);
    NETWORK.iter().any(|known| text.contains(known)).then_some((Trouble::Outage, None))
}

fn plain(text: &str) -> String {
    text.to_lowercase().replace(['\u{2018}', '\u{2019}'], "'")
}

fn by_status(status: u64) -> Option<Trouble> {
    match status {
        401 | 403 => Some(Trouble::Login),
        402 | 429 => Some(Trouble::Limit),
        500..=599 => Some(Trouble::Outage),
        _ => None,
    }
}

/// The last thing that a CLI said in plain text, one line: where it failed, the last that looks like an error.
pub fn last_words(end: &ProcessEnd, printed: Printed<'_>) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(printed.stdout), text(printed.stderr));
    let told = |text: &str| -> Vec<String> {
        let lines =
            text.lines().rev().take(LINES).filter_map(|line| match serde_json::from_str::<Value>(line) {
                Ok(value) => Some(json_error(&value)?.text),
                Err(_) => Some(line.to_owned()),
            });
        let words = |line: &String| line.contains(char::is_alphabetic) && !line.contains("RALPH-VERDICT");
        lines.map(|line| text::line(&line, SHOWN)).filter(words).collect()
    };
    let (stdout, stderr) = (told(&stdout), told(&stderr));
    if end.is_success() {
        return stdout.into_iter().next().unwrap_or_default();
    }
    let is_error =
        |line: &&String| ["error", "fatal", "cannot", "failed"].iter().any(|word| plain(line).contains(word));
    let all = || stderr.iter().chain(&stdout);
    all().find(is_error).or_else(|| all().next()).cloned().unwrap_or_default()
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
