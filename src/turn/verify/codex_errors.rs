//! Codex's patches that do not fit the file. Only its standard error reports them, not its transcript.

use crate::turn::{ToolOutcome, TurnEvent};
use serde_json::json;

/// The text before the message of a failed tool.
const MARK: &str = " ERROR codex_core::tools::router: error=";

/// Returns the failed calls in Codex's standard error. Their time is unknown.
pub fn codex_errors(stderr: &str) -> Vec<TurnEvent> {
    let messages = stderr
        .lines()
        .filter_map(|line| line.split_once(MARK))
        .map(|(_, message)| message);
    let failed = messages.enumerate().filter_map(|(at, message)| {
        let tool = match message.strip_prefix("unsupported call: ") {
            Some(tool) => tool,
            None if message.starts_with("apply_patch ") || message.starts_with("patch ") => {
                "apply_patch"
            }
            None => return None,
        };
        let call = format!("stderr {at}");
        let input = json!({ "path": path_in(message) });
        let outcome = if message.starts_with("patch rejected") {
            ToolOutcome::Denied
        } else {
            ToolOutcome::Failed
        };
        let started = TurnEvent::ToolStarted {
            call: call.clone(),
            tool: tool.to_owned(),
            input,
        };
        let output = message.trim_end_matches(':').to_owned();
        Some([
            started,
            TurnEvent::ToolEnded {
                call,
                outcome,
                output,
                changed: Vec::new(),
            },
        ])
    });
    failed.flatten().collect()
}

/// Returns `/r/a b.txt` for `… expected lines in /r/a b.txt:`, otherwise the first absolute path.
fn path_in(message: &str) -> Option<&str> {
    let behind = message
        .split_once(" in /")
        .map(|(head, _)| &message[head.len() + 4..]);
    let path = behind.or_else(|| {
        message
            .split_whitespace()
            .find(|word| word.starts_with('/'))
    })?;
    Some(path.trim_end_matches(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_that_do_not_fit_are_calls_that_failed() {
        let stderr = "Reading prompt from stdin...\n\
            2026-11-21T21:46:05.417982Z ERROR codex_core::tools::router: error=apply_patch verification failed: Failed \
            to find expected lines in /r/a b.txt:\nthis text is not in the file\n\
            2026-11-21T21:46:05Z ERROR codex_core::tools::router: error=Exit code: 1\n\
            2026-11-21T21:46:09Z ERROR codex_core::tools::router: error=unsupported call: Edit\n\
            2026-11-21T21:50:34Z ERROR codex_core::tools::router: error=patch rejected: writing is blocked\n";
        let events = codex_errors(stderr);
        let outcomes: Vec<ToolOutcome> = events
            .iter()
            .filter_map(|event| match event {
                TurnEvent::ToolEnded { outcome, .. } => Some(*outcome),
                _ => None,
            })
            .collect();
        assert_eq!(
            outcomes,
            [
                ToolOutcome::Failed,
                ToolOutcome::Failed,
                ToolOutcome::Denied
            ]
        );
        let mut calls = crate::turn::verify::Calls::default();
        for event in &events {
            calls.hear(event);
        }
        assert_eq!(calls.targets().collect::<Vec<_>>(), ["/r/a b.txt"]);
        assert!(codex_errors("").is_empty());
    }
}
