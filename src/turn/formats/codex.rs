//! Codex `exec --json`, and its session files (`~/.codex/sessions/…/rollout-….jsonl`), which hooks find.
//!
//! Only the session files record a patch that does not match the file. With `exec --json`, standard error reports it.

use super::line::{TranscriptLine, outcome, used};
use crate::turn::event::{Span, ToolOutcome, TurnEvent};

pub(super) fn read(line: TranscriptLine<'_>) -> Option<Vec<TurnEvent>> {
    let kind = line.text("/type");
    let item = line.at("/item");
    Some(match kind {
        "thread.started" => vec![line.session("/thread_id")],
        "item.started" | "item.updated" | "item.completed" => {
            of_item(item, kind == "item.completed")
        }
        "turn.completed" => {
            let tokens = line.sum(&["/usage/input_tokens", "/usage/output_tokens"]);
            vec![
                used(tokens, None, Span::Session),
                TranscriptLine::finished(true),
            ]
        }
        "error" if line.text("/message").starts_with("Reconnecting") => {
            vec![line.retrying(&["/message"], "/status")]
        }
        "error" if line.has("/message") => vec![line.failed(&["/message"], "/status")],
        "turn.failed" => vec![
            line.failed(&["/error/message"], "/status"),
            TranscriptLine::finished(false),
        ],
        "response_item" => of_session(line.at("/payload")),
        "event_msg" if line.text("/payload/type") == "task_complete" => {
            vec![TranscriptLine::finished(true)]
        }
        "event_msg" if line.text("/payload/type") == "turn_aborted" => {
            vec![TranscriptLine::finished(false)]
        }
        "turn.started" | "event_msg" | "session_meta" | "turn_context" | "token_usage_record"
        | "world_state" | "compacted" => Vec::new(),
        _ => return None,
    })
}

fn of_item(item: TranscriptLine<'_>, is_completed: bool) -> Vec<TurnEvent> {
    let mcp = [item.text("/server"), item.text("/tool")].join(".");
    let tool = match item.text("/type") {
        "agent_message" if is_completed => return TranscriptLine::said(item.text("/text")),
        "command_execution" => "shell",
        "file_change" => "apply_patch",
        "mcp_tool_call" => &mcp,
        "web_search" => "web_search",
        // Thoughts, plans, warnings.
        _ => return Vec::new(),
    };
    let mut events = vec![item.started("/id", tool, "")];
    if is_completed {
        let status = item.text("/status");
        let outcome = outcome(
            status == "declined",
            status == "failed" || item.exits_badly("/exit_code"),
        );
        let mut changed = item.texts("/changes", "/path");
        changed.retain(|_| outcome == ToolOutcome::Done);
        let output = item.first(&["/aggregated_output", "/error/message"]);
        events.push(item.ended("/id", outcome, output, changed));
    }
    events
}

/// Prefixes of the results of failed tools.
const FAILED: [&str; 4] = [
    "apply_patch verification failed",
    "unsupported call",
    "execution error",
    "failed to",
];

/// Returns the events of a `response_item`'s payload.
fn of_session(item: TranscriptLine<'_>) -> Vec<TurnEvent> {
    let name = item.text("/name");
    match item.text("/type") {
        "custom_tool_call" => vec![item.started("/call_id", name, "/input")],
        "function_call" => vec![TurnEvent::ToolStarted {
            call: item.text("/call_id").to_owned(),
            tool: name.to_owned(),
            input: serde_json::from_str(item.text("/arguments")).unwrap_or_default(),
        }],
        "custom_tool_call_output" | "function_call_output" => {
            let output = item.text("/output");
            let has_failed = FAILED.iter().any(|begin| output.starts_with(begin));
            let outcome = outcome(
                output.starts_with("patch rejected"),
                has_failed || exit_code(output) > Some("0"),
            );
            vec![item.ended("/call_id", outcome, output, Vec::new())]
        }
        "message" if item.text("/role") == "assistant" => {
            TranscriptLine::said(&item.content("/content"))
        }
        _ => Vec::new(),
    }
}

/// Returns the code of `Exit code: 1`, or `Process exited with code 1`, in the first lines of a command's result.
fn exit_code(output: &str) -> Option<&str> {
    output.lines().take(4).find_map(|line| {
        ["Exit code: ", "Process exited with code "]
            .iter()
            .find_map(|begin| str::strip_prefix(line, begin))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turn::{ToolOutcome, TranscriptFormat};
    use serde_json::json;

    #[test]
    fn patches_that_failed_are_in_a_session_file() {
        let item = |payload| json!({"timestamp": "2026-11-23T17:34:00Z", "type": "response_item", "payload": payload});
        let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+y\n*** End Patch\n";
        let lines = [
            item(
                json!({"type": "custom_tool_call", "call_id": "1", "name": "apply_patch", "input": patch}),
            ),
            item(json!({"type": "custom_tool_call_output", "call_id": "1",
                "output": "apply_patch verification failed: Failed to find expected lines in /r/a.txt:\nx"})),
            item(
                json!({"type": "function_call", "call_id": "2", "name": "exec_command", "arguments": "{\"cmd\":\"ls\"}"}),
            ),
            item(json!({"type": "function_call_output", "call_id": "2",
                "output": "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\n"})),
            item(
                json!({"type": "function_call_output", "call_id": "3", "output": "Exit code: 0\nOutput:\nExit code: 1"}),
            ),
            item(
                json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}),
            ),
            json!({"type": "event_msg", "payload": {"type": "task_complete"}}),
        ];
        let text = lines.map(|line| line.to_string()).join("\n");
        let mut told = Vec::new();
        crate::turn::read(TranscriptFormat::Codex, text.as_bytes(), |event| {
            told.push(event);
        })
        .expect("memory can be read");
        let outcomes: Vec<&ToolOutcome> = told
            .iter()
            .filter_map(|event| match event {
                TurnEvent::ToolEnded { outcome, .. } => Some(outcome),
                _ => None,
            })
            .collect();
        assert_eq!(
            outcomes,
            [
                &ToolOutcome::Failed,
                &ToolOutcome::Failed,
                &ToolOutcome::Done
            ]
        );
        assert!(
            told.contains(&TurnEvent::Said {
                text: "Done.".to_owned()
            }),
            "{told:?}"
        );
        assert!(
            !told
                .iter()
                .any(|event| matches!(event, TurnEvent::Unread { .. })),
            "{told:?}"
        );
    }
}
