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

use super::event::{TranscriptFormat, TurnEvent};
use line::TranscriptLine;

/// Number of lines from which a format is guessed.
const LINES: usize = 20;

/// Returns the format that knows most of the first lines; plain text if it knows fewer than half.
pub fn guess(transcript: &[u8]) -> TranscriptFormat {
    let lines: Vec<&[u8]> = transcript
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .take(LINES)
        .collect();
    let formats = TranscriptFormat::NAMES
        .iter()
        .rev()
        .filter_map(|name| TranscriptFormat::named(name));
    let formats = formats.filter(|format| format.prints_events());
    let best = formats
        .map(|format| {
            let known = lines.iter().filter(|line| read(format, line).is_some());
            (known.count(), format)
        })
        .max_by_key(|(known, _)| *known);
    best.filter(|(known, _)| known * 2 > lines.len())
        .map_or(TranscriptFormat::Text, |(_, format)| format)
}

/// Returns the events of a line; `None` if it is unknown or malformed.
pub(super) fn read(format: TranscriptFormat, line: &[u8]) -> Option<Vec<TurnEvent>> {
    let reader = match format {
        TranscriptFormat::Text => {
            let text =
                String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned();
            return Some(vec![TurnEvent::Said { text }]);
        }
        TranscriptFormat::Claude => claude::read,
        TranscriptFormat::Codex => codex::read,
        TranscriptFormat::Gemini => gemini::read,
        TranscriptFormat::Opencode => opencode::read,
        TranscriptFormat::Copilot => copilot::read,
        TranscriptFormat::Cursor => cursor::read,
        TranscriptFormat::Goose => goose::read,
        TranscriptFormat::Pi => pi::read,
        TranscriptFormat::Hermes => hermes::read,
    };
    reader(TranscriptLine(&serde_json::from_slice(line).ok()?))
}
