//! Codex `exec --json`. A patch that does not match the file is not in it; standard error has it.

use super::codex_session;
use super::line::{Line, outcome};
use crate::turn::event::{Span, ToolOutcome, TurnEvent};

pub(super) fn read(line: Line<'_>) -> Option<Vec<TurnEvent>> {
    let kind = line.text("/type");
    let item = line.at("/item");
    Some(match kind {
        "thread.started" => vec![line.session("/thread_id")],
        "item.started" | "item.updated" | "item.completed" => of_item(item, kind == "item.completed"),
        "turn.completed" => {
            let tokens = ["/usage/input_tokens", "/usage/output_tokens"];
            vec![line.used(&tokens, "/none", Span::Session), Line::finished(true)]
        }
        "error" if line.text("/message").starts_with("Reconnecting") => {
            vec![line.retrying(&["/message"], "/status")]
        }
        "error" if line.has("/message") => vec![line.failed(&["/message"], "/status")],
        "turn.failed" => vec![line.failed(&["/error/message"], "/status"), Line::finished(false)],
        "response_item" => codex_session::read(line.at("/payload")),
        "turn.started" | "event_msg" | "session_meta" | "turn_context" | "token_usage_record"
        | "world_state" | "compacted" => Vec::new(),
        _ => return None,
    })
}

fn of_item(item: Line<'_>, is_completed: bool) -> Vec<TurnEvent> {
    let mcp = [item.text("/server"), item.text("/tool")].join(".");
    let tool = match item.text("/type") {
        "agent_message" if is_completed => return Line::said(item.text("/text")),
        "command_execution" => "shell",
        "file_change" => "apply_patch",
        "mcp_tool_call" => &mcp,
        "web_search" => "web_search",
        // Thoughts, plans, warnings.
        _ => return Vec::new(),
    };
    let mut events = vec![item.started("/id", tool, "")];
    if is_completed {
        let outcome = match item.text("/status") {
            "declined" => ToolOutcome::Denied,
            status => outcome(status == "failed" || item.number("/exit_code").is_some_and(|code| code != 0)),
        };
        let mut changed = item.texts("/changes", "/path");
        changed.retain(|_| outcome == ToolOutcome::Done);
        let output = item.first(&["/aggregated_output", "/error/message"]);
        events.push(item.ended("/id", outcome, output, changed));
    }
    events
}
