//! What a tool said of its failure, as one short line.

use crate::source::text::line;
use serde_json::Value;

/// Characters of a preview.
pub const PREVIEW: usize = 180;

/// The error in a result: the field `error` (or its `message`) of a JSON object, else the text itself.
pub fn preview(output: &str) -> String {
    let text = output.trim();
    let inner = text.strip_prefix("<tool_use_error>").unwrap_or(text);
    let inner = inner.strip_suffix("</tool_use_error>").unwrap_or(inner);
    let object = inner.starts_with('{').then(|| serde_json::from_str::<Value>(inner).ok()).flatten();
    let error = object.as_ref().and_then(|object| object.get("error"));
    let error = error.and_then(|error| error.as_str().or_else(|| error.get("message")?.as_str()));
    line(error.unwrap_or(inner), PREVIEW)
}
