//! pi `--mode json`. `agent_end` comes once per retry: the end is the last `turn_end` without a tool call.

use super::line::{TranscriptLine, outcome, used};
use crate::turn::event::{Span, TurnEvent};

/// Lines without events: pieces of messages that come whole later.
const SILENT: &str = "agent_start agent_end turn_start message_start message_update message_end tool_execution_update auto_retry_end";

pub(super) fn read(line: TranscriptLine<'_>) -> Option<Vec<TurnEvent>> {
    let message = line.at("/message");
    Some(match line.text("/type") {
        "session" => vec![line.session("/id")],
        "message_end" if message.text("/role") == "assistant" => {
            let used = used(
                message.number("/usage/totalTokens"),
                message.dollars("/usage/cost/total"),
                Span::Step,
            );
            message
                .each("/content")
                .flat_map(|part| TranscriptLine::said(part.text("/text")))
                .chain([used])
                .collect()
        }
        "tool_execution_start" => {
            vec![line.started("/toolCallId", line.text("/toolName"), "/args")]
        }
        "tool_execution_end" => {
            let outcome = outcome(false, line.is_true("/isError"));
            vec![line.ended(
                "/toolCallId",
                outcome,
                &line.content("/result/content"),
                Vec::new(),
            )]
        }
        "auto_retry_start" => vec![line.retrying(&["/errorMessage"], "/status")],
        "auto_retry_end" if line.has("/finalError") => {
            vec![line.failed(&["/finalError"], "/status")]
        }
        "turn_end" => match message.text("/stopReason") {
            "toolUse" => Vec::new(),
            "stop" => vec![TranscriptLine::finished(true)],
            _ => vec![
                message.failed(&["/errorMessage", "/stopReason"], "/status"),
                TranscriptLine::finished(false),
            ],
        },
        silent if SILENT.split(' ').any(|known| known == silent) => Vec::new(),
        _ => return None,
    })
}
