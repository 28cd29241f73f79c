//! The formats: each turns one line of a transcript into its events.

mod claude;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod goose;
mod hermes;
mod line;
mod opencode;
mod pi;

pub(super) use hermes::Plain;

use super::event::{Format, TurnEvent};
use line::Line;

/// Number of lines from which a format is guessed.
const LINES: usize = 20;

/// Returns the format that knows most of the first lines; plain text if it knows fewer than half.
pub fn guess(transcript: &[u8]) -> Format {
    let lines = || {
        transcript
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.trim_ascii().is_empty())
            .take(LINES)
    };
    let known = |format| lines().filter(|line| read(format, line).is_some()).count();
    let formats = Format::NAMES
        .iter()
        .rev()
        .filter_map(|name| Format::named(name));
    let formats = formats.filter(|format| format.prints_events());
    let best = formats
        .map(|format| (known(format), format))
        .max_by_key(|(known, _)| *known);
    best.filter(|(known, _)| known * 2 > lines().count())
        .map_or(Format::Text, |(_, format)| format)
}

/// Returns the events of a line; `None` if it is unknown or malformed.
pub(super) fn read(format: Format, line: &[u8]) -> Option<Vec<TurnEvent>> {
    let reader = match format {
        Format::Text => {
            let text =
                String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
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
        Format::Hermes => hermes::read,
    };
    reader(Line(&serde_json::from_slice(line).ok()?))
}
