//! Cursor `--output-format stream-json`, from its documentation. Calls have lines of their own, the rest is like
//! Claude's.

use super::claude;
use super::line::{TranscriptLine, outcome};
use crate::turn::event::{ToolOutcome, TurnEvent};
use serde_json::Value;

pub(super) fn read(line: TranscriptLine<'_>) -> Option<Vec<TurnEvent>> {
    match line.text("/type") {
        "tool_call" => Some(tool(line)),
        "thinking" => Some(Vec::new()),
        _ => claude::read(line),
    }
}

/// Returns the events of a call. The key that holds the call is the name of its tool.
fn tool(line: TranscriptLine<'_>) -> Vec<TurnEvent> {
    let calls = line.at("/tool_call").0.as_object();
    let mut names = calls.into_iter().flatten().map(|(name, _)| name.as_str());
    let key = names
        .find(|name| name.ends_with("ToolCall"))
        .unwrap_or("function");
    let call = line.at(&format!("/tool_call/{key}"));
    let name = key
        .strip_suffix("ToolCall")
        .unwrap_or_else(|| call.text("/name"));
    let input = if call.has("/args") {
        call.at("/args")
    } else {
        call.at("/arguments")
    };
    let (id, tool) = (line.text("/call_id").to_owned(), name.to_owned());
    let mut events = vec![TurnEvent::ToolStarted {
        call: id,
        tool,
        input: input.0.clone(),
    }];
    if line.text("/subtype") == "completed" {
        let has_failed =
            !call.has("/result/success") || call.exits_badly("/result/success/exitCode");
        let outcome = outcome(call.has("/result/rejected"), has_failed);
        // The shape of an error is not documented.
        let output = Some(call.at("/result").0).filter(|_| outcome != ToolOutcome::Done);
        let output = output.map(Value::to_string).unwrap_or_default();
        events.push(line.ended("/call_id", outcome, &output, Vec::new()));
    }
    events
}
