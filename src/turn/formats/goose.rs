//! Goose `--output-format stream-json`, from captures by others. A message comes in pieces, and `complete` follows
//! errors.

use super::line::{TranscriptLine, outcome, used};
use crate::turn::event::{Span, TurnEvent};

pub(super) fn read(line: TranscriptLine<'_>) -> Option<Vec<TurnEvent>> {
    Some(match line.text("/type") {
        "message" => {
            let is_own = line.text("/message/role") == "assistant";
            line.each("/message/content")
                .flat_map(|part| of_message(part, is_own))
                .collect()
        }
        "error" if !line.text("/error").is_empty() => vec![line.failed(&["/error"], "/status")],
        "complete" => {
            let used = used(
                line.number("/total_tokens"),
                line.dollars("/cost_usd"),
                Span::Run,
            );
            vec![used, TranscriptLine::finished(true)]
        }
        "notification" => Vec::new(),
        _ => return None,
    })
}

fn of_message(part: TranscriptLine<'_>, is_own: bool) -> Vec<TurnEvent> {
    match part.text("/type") {
        // A piece may be white space.
        "text" if is_own => vec![TurnEvent::Said {
            text: part.text("/text").to_owned(),
        }],
        "toolRequest" => {
            let call = if part.has("/toolCall/value") {
                "/toolCall/value"
            } else {
                "/toolCall"
            };
            let name = part.at(call).text("/name");
            vec![part.started("/id", name, &format!("{call}/arguments"))]
        }
        "toolResponse" => {
            let result = part.at("/toolResult");
            let value = if result.0.is_array() { "" } else { "/value" };
            let value = if result.at(value).has("/content") {
                "/value/content"
            } else {
                value
            };
            let failed = result.text("/status") == "error" || result.is_true("/value/isError");
            let output = [result.text("/error").to_owned(), result.content(value)].concat();
            vec![part.ended("/id", outcome(false, failed), &output, Vec::new())]
        }
        _ => Vec::new(),
    }
}
