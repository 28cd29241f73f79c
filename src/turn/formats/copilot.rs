//! Copilot CLI `--output-format json`.

use super::line::{TranscriptLine, outcome};
use crate::turn::event::{CliError, TurnEvent};

/// Prefixes of the kinds of lines without events. More such lines are marked as ephemeral.
const SILENT: &[&str] = &[
    "assistant.turn_",
    "user.",
    "session.",
    "model.",
    "agent.",
    "abort",
    "system.",
];

pub(super) fn read(line: TranscriptLine<'_>) -> Option<Vec<TurnEvent>> {
    let data = line.at("/data");
    Some(match line.text("/type") {
        "tool.execution_start" => {
            vec![data.started("/toolCallId", data.text("/toolName"), "/arguments")]
        }
        "tool.execution_complete" => vec![ended(data)],
        "assistant.message" if data.has("/parentToolCallId") => Vec::new(),
        "assistant.message" => TranscriptLine::said(data.text("/content")),
        "model.call_failure" => vec![data.retrying(&["/errorMessage"], "/statusCode")],
        "session.error" if data.text("/errorType") == "rate_limit" => {
            let error = data.error(&["/message"], "/statusCode");
            vec![TurnEvent::Trouble(CliError {
                is_limit: true,
                ..error
            })]
        }
        "session.error" => vec![data.failed(&["/message"], "/statusCode")],
        "result" if line.has("/exitCode") => {
            let ok = line.number("/exitCode") == Some(0);
            vec![line.session("/sessionId"), TranscriptLine::finished(ok)]
        }
        kind if line.is_true("/ephemeral")
            || SILENT.iter().any(|silent| kind.starts_with(silent)) =>
        {
            Vec::new()
        }
        _ => return None,
    })
}

/// A failed command is a "success".
fn ended(data: TranscriptLine<'_>) -> TurnEvent {
    let has_failed = !data.is_true("/success") || data.exits_badly("/shellExecution/exitCode");
    let outcome = outcome(data.text("/error/code") == "denied", has_failed);
    let output = data.first(&["/error/message", "/result/content"]);
    data.ended(
        "/toolCallId",
        outcome,
        output,
        data.texts("/fileEdits", "/path"),
    )
}
