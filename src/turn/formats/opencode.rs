//! opencode `run --format json`. It prints a call only with its end, and only calls of the first session.

use super::line::{TranscriptLine, outcome, used};
use crate::turn::event::{CliError, Span, TurnEvent};
use serde_json::Value;

pub(super) fn read(line: TranscriptLine<'_>) -> Option<Vec<TurnEvent>> {
    Some(match line.text("/type") {
        "step_start" => vec![line.session("/sessionID")],
        "text" => TranscriptLine::said(line.text("/part/text")),
        "tool_use" if line.has("/part") => tool(line.at("/part")),
        "step_finish" => {
            let (part, tokens) = (line.at("/part"), line.at("/part/tokens"));
            let kinds = [
                "/input",
                "/output",
                "/reasoning",
                "/cache/read",
                "/cache/write",
            ];
            let tokens = tokens.number("/total").or_else(|| tokens.sum(&kinds));
            let end = (part.text("/reason") == "stop").then(|| TranscriptLine::finished(true));
            [used(tokens, part.dollars("/cost"), Span::Step)]
                .into_iter()
                .chain(end)
                .collect()
        }
        "error" if line.has("/error/name") => vec![error(line)],
        "reasoning" | "done" => Vec::new(),
        _ => return None,
    })
}

fn tool(part: TranscriptLine<'_>) -> Vec<TurnEvent> {
    let state = part.at("/state");
    // A tool that does not exist, or wrong arguments.
    let is_invalid = part.text("/tool") == "invalid";
    let tool = if is_invalid {
        state.text("/input/tool")
    } else {
        part.text("/tool")
    };
    let has_failed =
        is_invalid || state.text("/status") == "error" || state.exits_badly("/metadata/exit");
    let outcome = outcome(
        state.text("/error").contains("rejected permission"),
        has_failed,
    );
    let mut changed = Vec::new();
    for file in state.each("/metadata/files") {
        changed.push(file.text("/filePath").to_owned());
        // For a moved file, one path is the source and the other the target.
        let target = file.first(&["/movePath", "/relativePath"]);
        changed.extend((file.text("/type") == "move").then(|| target.to_owned()));
    }
    let one = state.first(&["/metadata/filediff/file", "/metadata/filepath"]);
    changed.extend((!one.is_empty()).then(|| one.to_owned()));
    let ended = part.ended(
        "/callID",
        outcome,
        state.first(&["/error", "/output"]),
        changed,
    );
    vec![part.started("/callID", tool, "/state/input"), ended]
}

/// Returns an error. It holds the provider's answer as a text.
fn error(line: TranscriptLine<'_>) -> TurnEvent {
    let body: Value =
        serde_json::from_str(line.text("/error/data/responseBody")).unwrap_or_default();
    let resets_at = body.pointer("/error/resets_at").and_then(Value::as_i64);
    let messages = ["/error/data/message", "/error/message", "/error/name"];
    let error = line.error(&messages, "/error/data/statusCode");
    TurnEvent::Trouble(CliError {
        resets_at,
        is_limit: resets_at.is_some(),
        ..error
    })
}
