//! Hermes Agent. It prints its agent's words, and at the end a footer about failed edits.
//!
//! Tool calls are only in its session, which `hermes sessions export --format jsonl` prints as one line.

use super::line::{TranscriptLine, outcome, used};
use crate::turn::event::{Span, ToolOutcome, TurnEvent};
use serde_json::{Deserializer, Value, json};

/// The beginning of the footer, common to all its wordings.
const FOOTER: &str = "⚠️ File-mutation verifier:";
/// Tools whose failures the footer names.
const EDITORS: [&str; 2] = ["write_file", "patch"];

/// Reads an exported session.
pub(super) fn read(line: TranscriptLine<'_>) -> Option<Vec<TurnEvent>> {
    line.at("/messages").0.as_array()?;
    line.at("/id").0.as_str()?;
    let mut events = vec![line.session("/id")];
    // Messages that a compression or a rewind removed are not part of the latest work.
    events.extend(line.each("/messages").flat_map(of_message));
    let tokens = line.sum(&[
        "/input_tokens",
        "/output_tokens",
        "/cache_read_tokens",
        "/cache_write_tokens",
    ]);
    let dollars = line
        .dollars("/actual_cost_usd")
        .or_else(|| line.dollars("/estimated_cost_usd"));
    events.push(used(
        tokens,
        dollars.filter(|dollars| *dollars > 0.0),
        Span::Session,
    ));
    Some(events)
}

fn of_message(message: TranscriptLine<'_>) -> Vec<TurnEvent> {
    match message.text("/role") {
        "assistant" => {
            let mut events = TranscriptLine::said(&message.content("/content"));
            events.extend(
                message
                    .each("/tool_calls")
                    .map(|call| TurnEvent::ToolStarted {
                        call: call.text("/id").to_owned(),
                        tool: call.text("/function/name").to_owned(),
                        input: serde_json::from_str(call.text("/function/arguments"))
                            .unwrap_or_default(),
                    }),
            );
            events
        }
        "tool" => {
            let output = message.content("/content");
            let ended = outcome_of(message.text("/tool_name"), &output);
            vec![message.ended("/tool_call_id", ended, &output, Vec::new())]
        }
        _ => Vec::new(),
    }
}

/// Reads a result: JSON, which advice of Hermes may follow, or plain text. No field reports a failure.
fn outcome_of(tool: &str, output: &str) -> ToolOutcome {
    let first = Deserializer::from_str(output).into_iter::<Value>().next();
    let Some(Ok(result @ Value::Object(_))) = first else {
        let has_failed = ["Error", "Tool '", "[Tool execution"]
            .iter()
            .any(|begin| output.starts_with(begin));
        return outcome(output.starts_with("BLOCKED"), has_failed);
    };
    let result = TranscriptLine(&result);
    let has_error = result.has("/error") && *result.at("/error").0 != json!("");
    let has_failed = match tool {
        "write_file" => has_error || !result.has("/bytes_written"),
        "patch" => has_error || !result.is_true("/success"),
        _ => {
            has_error
                || *result.at("/success").0 == json!(false)
                || *result.at("/exit_code").0 != json!(0) && result.has("/exit_code")
        }
    };
    let why = result.first(&["/error", "/message"]);
    let is_denied = why.starts_with("BLOCKED")
        || matches!(
            result.text("/status"),
            "approval_required" | "pending_approval" | "blocked"
        );
    outcome(has_failed && is_denied, has_failed)
}

/// The plain lines of an output: words, and the footer at its end.
#[derive(Debug, Default)]
pub(in crate::turn) struct Plain {
    said: String,
    /// The entries of a footer that no text has followed so far.
    footer: Option<Vec<(String, String, String)>>,
    /// True between the heading and the end of a diff that Hermes shows.
    in_difference: bool,
}

impl Plain {
    /// Adds a line. Keeps words up to `most` bytes.
    pub(in crate::turn) fn line(&mut self, line: &str, most: usize) {
        if line.starts_with(FOOTER) {
            self.footer = Some(Vec::new());
            return;
        }
        if let Some(entries) = &mut self.footer {
            match entry(line) {
                Some(entry) => entries.push(entry),
                None if line.starts_with("  • …") => {}
                None => self.footer = None,
            }
            return;
        }
        self.in_difference = line.trim_start().starts_with('┊')
            || (self.in_difference && line.starts_with(['+', '-', '@', ' ', '\\', '…']))
            || (self.in_difference && line.starts_with("a/") && line.contains(" → b/"));
        if !self.in_difference && self.said.len() + line.len() < most {
            self.said.push_str(line);
            self.said.push('\n');
        }
    }

    /// Returns the failed edits of the footer, then the words.
    pub(in crate::turn) fn events(self) -> Vec<TurnEvent> {
        let entries = self.footer.into_iter().flatten().enumerate();
        let failed = entries.flat_map(|(at, (path, tool, error))| {
            let call = format!("footer {at}");
            let started = TurnEvent::ToolStarted {
                call: call.clone(),
                tool,
                input: json!({ "path": path }),
            };
            let outcome = ToolOutcome::Failed;
            [
                started,
                TurnEvent::ToolEnded {
                    call,
                    outcome,
                    output: error,
                    changed: Vec::new(),
                },
            ]
        });
        failed.chain(TranscriptLine::said(&self.said)).collect()
    }
}

/// Returns the path, the tool and the error of ``  • `f1.md` — [patch] Could not find …``.
fn entry(line: &str) -> Option<(String, String, String)> {
    let (path, rest) = line.strip_prefix("  • `")?.split_once("` — [")?;
    let (tool, error) = rest.split_once("] ")?;
    let is_known = EDITORS.contains(&tool);
    is_known.then(|| (path.to_owned(), tool.to_owned(), error.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_told_apart_as_hermes_does() {
        for (tool, output, expected) in [
            (
                "patch",
                r#"{"success": true, "diff": "x"}"#,
                ToolOutcome::Done,
            ),
            (
                "patch",
                r#"{"success": true, "lsp_diagnostics": "ERROR"}"#,
                ToolOutcome::Done,
            ),
            ("patch", r#"{"success": "true"}"#, ToolOutcome::Failed),
            (
                "patch",
                r#"{"success": true, "error": "partial"}"#,
                ToolOutcome::Failed,
            ),
            (
                "patch",
                "{\"success\": false, \"error\": \"no\"}\n\n[Tool loop warning: x]",
                ToolOutcome::Failed,
            ),
            (
                "patch",
                r#"{"error": "path required"}"#,
                ToolOutcome::Failed,
            ),
            (
                "write_file",
                r#"{"bytes_written": 0, "lint": {"status": "error"}}"#,
                ToolOutcome::Done,
            ),
            (
                "write_file",
                r#"{"bytes_written": 5, "error": "x"}"#,
                ToolOutcome::Failed,
            ),
            (
                "write_file",
                r#"{"error": "BLOCKED: x"}"#,
                ToolOutcome::Denied,
            ),
            (
                "terminal",
                r#"{"output": "", "exit_code": 3, "error": null}"#,
                ToolOutcome::Failed,
            ),
            (
                "terminal",
                r#"{"output": "", "exit_code": 0, "error": null}"#,
                ToolOutcome::Done,
            ),
            ("", "Tool 'nosuch' does not exist.", ToolOutcome::Failed),
            (
                "patch",
                "[Tool execution skipped — patch was not started. User sent a new message]",
                ToolOutcome::Failed,
            ),
            ("read_file", "text with an error in it", ToolOutcome::Done),
        ] {
            assert_eq!(outcome_of(tool, output), expected, "{tool}: {output}");
        }
    }

    #[test]
    fn only_a_footer_at_the_end_counts() {
        let footer = "⚠️ File-mutation verifier: 12 file(s) were NOT modified this turn …\n  • `f2.md` — [patch] Could not find\n  • … and 2 more\n";
        let told = |text: &str| {
            let mut plain = Plain::default();
            text.lines().for_each(|line| plain.line(line, 1 << 20));
            plain.events()
        };
        let failed = |events: &[TurnEvent]| {
            events
                .iter()
                .filter(|event| matches!(event, TurnEvent::ToolEnded { .. }))
                .count()
        };
        let events = told(&format!(
            "  ┊ review diff\na/x → b/x\n@@ -1 +1 @@\n-I edited `y.md`.\n+z\nDone.\n\n{footer}"
        ));
        assert_eq!(failed(&events), 1);
        assert_eq!(
            events.last(),
            Some(&TurnEvent::Said {
                text: "Done.\n\n".to_owned()
            })
        );
        assert_eq!(
            failed(&told(&format!("It said:\n{footer}That was before."))),
            0
        );
        assert_eq!(failed(&told(&footer.replace("[patch]", "[terminal]"))), 0);
    }
}
