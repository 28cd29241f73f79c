//! Finds why an agent's CLI could not work: usage limits, logins, outages, unknown models, refusals.
//!
//! It recognises the texts of the presets and the HTTP status in a message, in the errors of a transcript
//! (`turn::CliErrors`) and in plain lines. The kind comes from the structure of a message first (a status, a field),
//! and from its words second.
//!
//! Promises: an agent that exited with 0 had no trouble, unless its transcript reports failure, its preset declares
//! that 0 means nothing, or its CLI stopped it as a loop. Prose about limits and status codes is no trouble. Neither
//! is a problem from which the CLI recovered.

use super::reset::{LONGEST, seconds_until};
use crate::config::{AgentTrouble, PRESETS, Preset};
use crate::machine::facts::ProcessEnd;
use crate::source::text;
use crate::turn::{self, CliError, CliErrors, LimitText, TranscriptFormat, Usage, limit_text};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use regex_lite::Regex;
use std::sync::LazyLock;

/// Number of searched lines at the end of a stream; after a time-out, or for an outage, only [`LAST_LINES`].
const LINES: usize = 40;

/// The number for a killed agent, and for output that may be prose.
///
/// Old lines of a killed agent do not explain its hang.
const LAST_LINES: usize = 5;

/// Bytes allowed before the known text in a plain line.
///
/// A line on standard error is more often the CLI's own than prose.
const BEGINNING: usize = 20;
const BEGINNING_OF_ERROR: usize = 40;

/// Maximum length of a plain error line.
const LONGEST_LINE: usize = 4_000;

/// Maximum length of a shown line, in characters.
const SHOWN: usize = 300;

/// Texts in the error of a JSON line when the network is out, for any CLI.
const NETWORK: [&str; 10] = [
    "connection failed",
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

/// Texts of a missing login, for any CLI.
const LOGIN: [&str; 7] = [
    "not logged in",
    "please log in",
    "please login",
    "please sign in",
    "authentication required",
    "please set an auth method",
    "no authentication",
];

/// Statuses in forms that are not prose: at the start of a line, with the usual words.
static STATUS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let words = "unauthorized|forbidden|too many requests|internal server error|bad gateway|service unavailable|gateway timeout|overloaded|<unknown status code>";
    let status = r"(40[123]|429|50[0-4]|529)";
    Regex::new(&format!(r"^\W*(?:api error[: ]+{status}\b|(?:(?:api )?error[: ]+)*(?:api call failed after \d+ retries: )?(?:(?:http|error|unexpected status|exceeded retry limit, last status:|status:|code:)[ :]*{status}\b(?:,|:|\W*$| (?:{words}))|{status} (?:{words}|incorrect api key|the usage limit|the server had an error)))")).ok()
});

/// The output of an agent's CLI itself.
#[derive(Clone, Debug, Default)]
pub struct PrintedOutput<'a> {
    /// The errors of its transcript.
    pub errors: CliErrors,
    /// The end of an output that is not a transcript.
    pub plain: &'a [u8],
    /// The end of standard error. For a stopped agent, the part since its last words or action.
    pub stderr: &'a [u8],
}

impl<'a> PrintedOutput<'a> {
    /// Reads an output without a configured format, and returns its usage too.
    pub fn guessed(stdout: &'a [u8], stderr: &'a [u8]) -> (Self, Usage) {
        let (mut errors, mut used) = (CliErrors::default(), Usage::default());
        let format = turn::guess(stdout);
        if format == TranscriptFormat::Text {
            return (
                Self {
                    errors,
                    plain: stdout,
                    stderr,
                },
                used,
            );
        }
        // Reading from memory cannot fail.
        let _ = turn::read(format, stdout, |event| {
            errors.tell(&event);
            used.tell(&event);
        });
        (
            Self {
                errors,
                plain: &[],
                stderr,
            },
            used,
        )
    }
}

/// Returns why an agent's CLI could not work; `None` if it could.
///
/// `now` is the time of its end. `zone` is the zone of the machine's clock, if known: CLIs print times of day in it.
pub fn trouble(
    end: &ProcessEnd,
    preset: Option<&Preset>,
    printed: &PrintedOutput<'_>,
    now: Timestamp,
    zone: Option<&TimeZone>,
) -> Option<ProcessEnd> {
    let was_ended = end.is_at_time_limit();
    let lines = match end {
        _ if end.is_success() || was_ended => LAST_LINES,
        ProcessEnd::Exited { .. } | ProcessEnd::Signalled { .. } => LINES,
        _ => return None,
    };
    let has_failed = !end.is_success()
        || printed.errors.has_failed()
        || preset.is_some_and(|preset| preset.fails_with_zero);
    let told = printed
        .errors
        .last_first()
        .filter(|error| was_ended || !error.is_retry);
    let mut said: Vec<ErrorLine> = told.filter_map(ErrorLine::of_error).collect();
    said.extend(
        printed
            .errors
            .plain()
            .take(LAST_LINES)
            .filter_map(|line| ErrorLine::of_line(line, BEGINNING_OF_ERROR)),
    );
    let stderr = (printed.stderr, lines, BEGINNING_OF_ERROR);
    for (tail, lines, within) in [(printed.plain, LAST_LINES, BEGINNING), stderr] {
        let text = String::from_utf8_lossy(tail);
        let last: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().is_empty() && !line.starts_with("    at "))
            .rev()
            .take(lines)
            .collect();
        said.extend(last.into_iter().enumerate().filter_map(|(at, line)| {
            let said = ErrorLine::of_line(line, within)?;
            let is_late = matches!(
                said.trouble,
                AgentTrouble::Limit | AgentTrouble::Disabled | AgentTrouble::Login
            ) || at < LAST_LINES;
            is_late.then_some(said)
        }));
    }
    said.retain(|said| has_failed || said.trouble == AgentTrouble::Loop);
    if said.is_empty()
        && let ProcessEnd::Exited { code } = end
        && let Some(trouble) = preset.and_then(|preset| preset.exits.get(code))
    {
        let text = last_words(end, printed);
        said.push(ErrorLine {
            trouble: *trouble,
            text,
            resets_at: None,
            by: None,
        });
    }
    let Some(last) = said.first() else {
        let retry = printed
            .errors
            .last_first()
            .next()
            .filter(|last| was_ended && last.is_retry)?;
        let why = format!("its CLI asked again until it was ended: {}", retry.message);
        return Some(ProcessEnd::Outage {
            why: text::line(&why, SHOWN),
        });
    };
    // A message is more informative than the status below it.
    let best = said
        .iter()
        .find(|said| said.trouble == last.trouble && said.by.is_some())
        .unwrap_or(last);
    let why = text::line(&best.text, SHOWN);
    Some(match best.trouble {
        AgentTrouble::Limit => {
            let reset = said.iter().find_map(|said| {
                said.resets_at
                    .and_then(|at| u64::try_from(at - now.as_second()).ok())
                    .or_else(|| seconds_until(&said.text, now, zone))
            });
            ProcessEnd::Limited {
                why,
                reset: reset.filter(|reset| (1..=LONGEST).contains(reset)),
            }
        }
        AgentTrouble::Outage => ProcessEnd::Outage { why },
        AgentTrouble::Refused => ProcessEnd::Refused { why },
        AgentTrouble::Loop => ProcessEnd::Looping {
            what: format!("was halted by its own CLI: {why}"),
        },
        AgentTrouble::Login
        | AgentTrouble::Model
        | AgentTrouble::Setup
        | AgentTrouble::Disabled => ProcessEnd::NotSetUp {
            why,
            hint: hint(best.trouble, preset.or(best.by)),
        },
    })
}

/// Returns the next action for a user.
fn hint(trouble: AgentTrouble, preset: Option<&Preset>) -> String {
    match (
        trouble,
        preset.map(|preset| (preset, preset.root.as_deref())),
    ) {
        (AgentTrouble::Login, Some((preset, _))) => {
            format!("log in: {}; then `ralph run` continues", preset.login)
        }
        (AgentTrouble::Login, None) => {
            "log in with the agent's own CLI; then `ralph run` continues".to_owned()
        }
        (AgentTrouble::Setup, Some((_, Some(variable)))) => {
            format!(
                "if this machine is a sandbox, add `env: {{{variable}: \"1\"}}` to the agent's preset"
            )
        }
        (AgentTrouble::Disabled, _) => {
            "ask the administrator of the agent's account for an allowance; then `ralph run` continues".to_owned()
        }
        (AgentTrouble::Model, _) => {
            "name a model that this login may use: `model:` or `args:` of the agent".to_owned()
        }
        _ => "see what the agent's own CLI says about it".to_owned(),
    }
}

/// An error or a line that reports trouble.
struct ErrorLine {
    trouble: AgentTrouble,
    text: String,
    /// The end of a limit, in seconds since 1970.
    resets_at: Option<i64>,
    /// The preset of the text; `None` if only the status is known.
    by: Option<&'static Preset>,
}

impl ErrorLine {
    fn of_error(error: &CliError) -> Option<Self> {
        let first = error.message.lines().next().unwrap_or_default();
        let is_disabled = limit_text(first) == Some(LimitText::Disabled);
        let by_structure = error.status.and_then(by_status);
        let by_structure = by_structure.or(error.is_limit.then_some(AgentTrouble::Limit));
        let (trouble, by) = match by_structure {
            _ if is_disabled => (AgentTrouble::Disabled, None),
            Some(trouble) => {
                let by = known(&error.message, usize::MAX).filter(|(said, _)| *said == trouble);
                (trouble, by.and_then(|(_, by)| by))
            }
            None => known(&error.message, usize::MAX).or_else(|| network(&error.message))?,
        };
        Some(Self {
            trouble,
            text: error.message.clone(),
            resets_at: error.resets_at,
            by,
        })
    }

    /// Reads a line that may be prose: a known text is at its beginning, or after the word error.
    fn of_line(line: &str, within: usize) -> Option<Self> {
        let line = in_log(line.trim());
        let (trouble, by) = (line.len() <= LONGEST_LINE && !line.starts_with('{'))
            .then(|| known(line, within))
            .flatten()?;
        Some(Self {
            trouble,
            text: line.to_owned(),
            resets_at: None,
            by,
        })
    }
}

/// Words after a known text that make a sentence about it: `rate limit reached for the second client is …`.
static SENTENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:^|[^.:·])\s(?:is|are|was|were|be|has|have|when|whenever|if|should|must|would|and|in|as|that|which|now|means|appears|becomes|counts)\b").ok()
});

/// The word error with its colon, and at most three words after it: `[API Error: You have `.
static NAMED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:error|failed)(?: \d{3})?[:\]] ?(?:[\w']+ ){0,3}$").ok());

/// Returns true if a limit's words are an error message: in an error or after that word, and not part of a sentence.
fn is_message(text: &str, at: usize, known: &str, is_error: bool) -> bool {
    let names = NAMED.as_ref();
    let is_error = is_error || names.is_some_and(|names| names.is_match(&text[..at]));
    let rest = text[at + known.len()..].lines().next().unwrap_or_default();
    let clause = rest.split(['.', '·', ':']).next().unwrap_or_default();
    let is_sentence = SENTENCE.as_ref().is_none_or(|words| words.is_match(clause));
    is_error && !is_sentence
}

/// Returns the trouble in a text, and the preset that knows it.
///
/// The known text begins within the first `within` bytes, or after the word error.
fn known(text: &str, within: usize) -> Option<(AgentTrouble, Option<&'static Preset>)> {
    match limit_text(text.lines().next().unwrap_or_default()) {
        Some(LimitText::Passes) => return Some((AgentTrouble::Limit, None)),
        Some(LimitText::Disabled) => return Some((AgentTrouble::Disabled, None)),
        None => {}
    }
    let text = plain(text);
    let says = |trouble: AgentTrouble, known: &str| {
        text.find(known).is_some_and(|at| {
            if trouble == AgentTrouble::Limit {
                is_message(&text, at, known, within == usize::MAX)
            } else {
                at <= within || text[..at].contains("error")
            }
        })
    };
    PRESETS
        .iter()
        .find_map(|preset| {
            let (trouble, _) = preset
                .texts
                .iter()
                .find(|(trouble, texts)| texts.iter().any(|text| says(**trouble, text)))?;
            Some((*trouble, Some(preset)))
        })
        .or_else(|| {
            let found = STATUS.as_ref()?.captures(&text)?;
            let status = found.iter().skip(1).flatten().next()?;
            Some((by_status(status.as_str().parse().ok()?)?, None))
        })
        .or_else(|| {
            LOGIN
                .iter()
                .any(|words| says(AgentTrouble::Login, words))
                .then_some((AgentTrouble::Login, None))
        })
}

fn network(text: &str) -> Option<(AgentTrouble, Option<&'static Preset>)> {
    let text = plain(text);
    NETWORK
        .iter()
        .any(|known| text.contains(known))
        .then_some((AgentTrouble::Outage, None))
}

/// Returns the last value of a log line, `timestamp=… level=ERROR … error="what went wrong"`.
fn in_log(line: &str) -> &str {
    let last = line
        .strip_prefix("timestamp=")
        .and_then(|rest| rest.rsplit_once("=\""));
    last.map_or(line, |(_, value)| value.trim_end_matches('"'))
}

fn plain(text: &str) -> String {
    text.to_lowercase().replace(['\u{2018}', '\u{2019}'], "'")
}

fn by_status(status: u64) -> Option<AgentTrouble> {
    match status {
        401 | 403 => Some(AgentTrouble::Login),
        402 | 429 => Some(AgentTrouble::Limit),
        500..=599 => Some(AgentTrouble::Outage),
        _ => None,
    }
}

/// Returns the last message of a CLI as one line: the point of failure, its last error, or a similar line.
pub fn last_words(end: &ProcessEnd, printed: &PrintedOutput<'_>) -> String {
    let (stdout, stderr) = (last_lines(printed.plain), last_lines(printed.stderr));
    let own = printed
        .errors
        .last_first()
        .map(|error| text::line(&error.message, SHOWN))
        .next();
    if end.is_success() {
        return own
            .or_else(|| stdout.into_iter().next())
            .unwrap_or_default();
    }
    let lines: Vec<String> = stderr.into_iter().chain(stdout).collect();
    let error = lines.iter().find(|line| {
        ["error", "fatal", "cannot", "failed"]
            .iter()
            .any(|word| plain(line).contains(word))
    });
    own.or_else(|| error.or(lines.first()).cloned())
        .unwrap_or_default()
}

/// Returns the last lines of text, the last first.
fn last_lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text
        .lines()
        .rev()
        .take(LINES)
        .filter(|line| !line.starts_with('{'));
    lines
        .map(|line| text::line(in_log(line), SHOWN))
        .filter(|line| line.contains(char::is_alphabetic) && !line.contains("RALPH-VERDICT"))
        .collect()
}

#[cfg(test)]
mod tests;
