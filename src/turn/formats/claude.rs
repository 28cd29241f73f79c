//! Claude Code `--output-format stream-json --verbose` and its session files; Qwen Code and Amp print the same.

use super::line::{TranscriptLine, outcome, used};
use crate::turn::event::{CliError, QuotaWindow, Span, TurnEvent};
use crate::turn::limit_text::limit_text;
use crate::turn::quota::window_of;

/// Lines without events: parts of messages that come whole later, and metadata of session files.
const SILENT: &str =
    "stream_event attachment file-history-snapshot last-prompt mode queue-operation summary system";

pub(super) fn read(line: TranscriptLine<'_>) -> Option<Vec<TurnEvent>> {
    let subtype = line.text("/subtype");
    Some(match line.text("/type") {
        "assistant" if line.has("/error") => {
            vec![line.failed(&["/message/content/0/text", "/error"], "/api_error_status")]
        }
        "assistant" => {
            let is_sub_agent = line.has("/parent_tool_use_id") || line.is_true("/isSidechain");
            line.each("/message/content")
                .flat_map(|part| of_assistant(part, is_sub_agent))
                .chain(end_of_session(line).filter(|_| !is_sub_agent))
                .collect()
        }
        "user" => line
            .each("/message/content")
            .filter_map(|part| of_user(line, part))
            .collect(),
        "system" if subtype == "init" => vec![line.session("/session_id")],
        "system" if subtype == "api_retry" => vec![line.retrying(&["/error"], "/error_status")],
        "system" if subtype == "retry" => vec![line.retrying(&["/data/reason"], "/data/status")],
        "system" if is_limit_notice(line, subtype) => vec![line.failed(&NOTICE, "/status")],
        "rate_limit_event" if line.text("/rate_limit_info/status") == "rejected" => {
            let resets_at = line
                .number("/rate_limit_info/resetsAt")
                .and_then(|at| i64::try_from(at).ok());
            let message = "usage limit reached".to_owned();
            vec![TurnEvent::Trouble(CliError {
                message,
                resets_at,
                is_limit: true,
                ..CliError::default()
            })]
        }
        "rate_limit_event" => quota_windows(line.at("/rate_limit_info")),
        "result" if RESULT.iter().any(|field| line.has(field)) => result(line),
        silent if SILENT.split(' ').any(|known| known == silent) => Vec::new(),
        _ => return None,
    })
}

/// Returns the end of a turn in a session file, which has no `result`.
///
/// In printed transcripts it is no end, because hooks and background tasks run between it and the `result`.
fn end_of_session(line: TranscriptLine<'_>) -> Option<TurnEvent> {
    let is_session_file = line.has("/sessionId");
    (is_session_file && line.text("/message/stop_reason") == "end_turn")
        .then(|| TranscriptLine::finished(true))
}

/// Returns the used share of each window. Older builds print one, without `unifiedWindows`.
fn quota_windows(info: TranscriptLine<'_>) -> Vec<TurnEvent> {
    let windows: Vec<_> = match info.at("/unifiedWindows").0.as_object() {
        Some(windows) => windows
            .iter()
            .filter_map(|(name, window)| quota_window(name, TranscriptLine(window)))
            .collect(),
        None => quota_window(info.text("/rateLimitType"), info)
            .into_iter()
            .collect(),
    };
    windows.into_iter().map(TurnEvent::Quota).collect()
}

fn quota_window(name: &str, window: TranscriptLine<'_>) -> Option<QuotaWindow> {
    let share = window.at("/utilization").0.as_f64()?;
    let name = if name.is_empty() { "usage" } else { name };
    let resets_at = window
        .number("/resetsAt")
        .and_then(|at| i64::try_from(at).ok());
    window_of(name, share, resets_at)
}

/// Fields of which Claude's `result` has at least one, and the `result` of other CLIs none.
const RESULT: [&str; 3] = ["/subtype", "/is_error", "/total_cost_usd"];
/// The fields with the words of a notice.
const NOTICE: [&str; 3] = ["/content", "/message", "/text"];

/// Returns true for a notice of a usage limit.
///
/// Output of hooks, and the names of tasks that the model chose, are not the CLI's words.
fn is_limit_notice(line: TranscriptLine<'_>, subtype: &str) -> bool {
    let is_own = !subtype.starts_with("hook") && !subtype.starts_with("task");
    is_own && (line.text("/error") == "rate_limit" || limit_text(line.first(&NOTICE)).is_some())
}

fn of_assistant(part: TranscriptLine<'_>, is_sub_agent: bool) -> Vec<TurnEvent> {
    match part.text("/type") {
        "text" if !is_sub_agent => TranscriptLine::said(part.text("/text")),
        "tool_use" => vec![part.started("/id", part.text("/name"), "/input")],
        _ => Vec::new(),
    }
}

fn of_user(line: TranscriptLine<'_>, part: TranscriptLine<'_>) -> Option<TurnEvent> {
    let id = Some(part.text("/tool_use_id")).filter(|_| part.text("/type") == "tool_result")?;
    let output = part.content("/content");
    let is_denied = line
        .each("/tool_result_meta")
        .any(|meta| meta.text("/id") == id && meta.has("/non_execution_kind"))
        || output.starts_with("Claude requested permissions");
    let is_error = part.is_true("/is_error");
    let changed = line.texts("/tool_use_result/bashEditDiff/files", "/filePath");
    Some(part.ended(
        "/tool_use_id",
        outcome(is_error && is_denied, is_error),
        &output,
        changed,
    ))
}

/// `subtype` is "success" for errors too.
fn result(line: TranscriptLine<'_>) -> Vec<TurnEvent> {
    let usage = line.at("/usage");
    let kinds = [
        "/input_tokens",
        "/cache_creation_input_tokens",
        "/cache_read_input_tokens",
        "/output_tokens",
    ];
    // Qwen's sum counts cached tokens once.
    let tokens = usage.number("/total_tokens").or_else(|| usage.sum(&kinds));
    let ok = !line.is_true("/is_error");
    let spent = used(None, line.dollars("/total_cost_usd"), Span::Session);
    let messages = ["/error/message", "/result", "/errors/0", "/subtype"];
    let failed = (!ok).then(|| line.failed(&messages, "/api_error_status"));
    let text = line
        .at("/result")
        .0
        .as_str()
        .filter(|_| ok)
        .map(str::to_owned);
    let end = [
        line.session("/session_id"),
        TurnEvent::Finished { ok, text },
    ];
    [used(tokens, None, Span::Run), spent]
        .into_iter()
        .chain(failed)
        .chain(end)
        .collect()
}
