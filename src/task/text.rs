//! Text of a task file for rows and messages.

use crate::source::text::line;

/// Longest text of a row, characters.
const MAX_TEXT: usize = 500;

/// One clean line: the text after a prefix.
pub(super) fn clean(prefix: &str, bytes: &[u8]) -> String {
    let bound = bytes.get(..bytes.len().min(MAX_TEXT * 4)).unwrap_or_default();
    let text = String::from_utf8_lossy(bound);
    if prefix.is_empty() { line(&text, MAX_TEXT) } else { line(&format!("{prefix}{text}"), MAX_TEXT) }
}
