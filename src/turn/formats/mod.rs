//! The formats: one line of a transcript in, its events out.

mod claude;
mod codex;
mod codex_session;
mod copilot;
mod cursor;
mod gemini;
mod goose;
mod line;
mod opencode;
mod pi;

use super::event::{Format, TurnEvent};
use line::Line;

/// What a line tells; `None` if it is unknown or malformed.
pub(super) fn read(format: Format, line: &[u8]) -> Option<Vec<TurnEvent>> {
    let reader = match format {
        Format::Text => {
            let text = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
            return Some(vec![TurnEvent::Said { text }]);
        }
        Format::Claude => claude::read,
        Format::Codex => codex::read,
        Format::Gemini => gemini::read,
        Format::Opencode => opencode::read,
        Format::Copilot => copilot::read,
        Format::Cursor => cursor::read,
        Format::Goose => goose::read,
        Format::Pi => pi::read,
    };
    reader(Line(&serde_json::from_slice(line).ok()?))
}
