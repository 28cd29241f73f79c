//! Gemini CLI `--output-format stream-json`. A command's exit code is not in it, and a cancelled call is a "success".

use super::line::{TranscriptLine, outcome, used};
use crate::turn::event::{Span, TurnEvent};

pub(super) fn read(line: TranscriptLine<'_>) -> Option<Vec<TurnEvent>> {
    Some(match line.text("/type") {
        "init" => vec![line.session("/session_id")],
        "message" if line.text("/role") == "assistant" => {
            TranscriptLine::said(line.text("/content"))
        }
        "tool_use" if line.has("/tool_id") => {
            vec![line.started("/tool_id", line.text("/tool_name"), "/parameters")]
        }
        "tool_result" => {
            let is_denied = matches!(
                line.text("/error/type"),
                "permission_denied" | "policy_violation"
            );
            let outcome = outcome(is_denied, line.text("/status") == "error");
            vec![line.ended(
                "/tool_id",
                outcome,
                line.first(&["/error/message", "/output"]),
                Vec::new(),
            )]
        }
        // Its own loop detection ends a run with a mere warning, and with a success.
        "error" if line.has("/severity") => vec![line.failed(&["/message"], "/status")],
        "result" if line.has("/status") => {
            let ok = line.text("/status") == "success";
            let failed = (!ok).then(|| line.failed(&["/error/message"], "/error/status"));
            let used = used(line.number("/stats/total_tokens"), None, Span::Run);
            [used]
                .into_iter()
                .chain(failed)
                .chain([TranscriptLine::finished(ok)])
                .collect()
        }
        "message" => Vec::new(),
        _ => return None,
    })
}
