//! Turns the bytes of a transcript into events.
//!
//! Promises:
//!
//! - The events are the same for any division of the stream.
//! - Memory is bounded for any output.
//! - A line that is unknown or malformed is one `Unread` and hides nothing else.
//! - A line that is too long is read with its texts cut.

use super::event::{TranscriptFormat, TurnEvent};
use super::formats::{self, Plain};
use super::long_line::{LONGEST_LINE, LongLine};
use std::collections::BTreeSet;
use std::io::{self, Read};

/// Maximum length of a kept unread line, in characters.
const UNREAD: usize = 200;
/// Maximum number of open calls to remember. A CLI has few.
const CALLS: usize = 1_000;

/// Reads a transcript that comes in pieces.
#[derive(Debug, Default)]
pub struct TranscriptReader {
    format: TranscriptFormat,
    line: LongLine,
    /// A message that comes in pieces.
    said: String,
    plain: Plain,
    open: BTreeSet<String>,
    session: Option<String>,
    has_failed: bool,
}

impl TranscriptReader {
    /// Begins a transcript.
    pub fn new(format: TranscriptFormat) -> Self {
        Self {
            format,
            ..Self::default()
        }
    }

    /// Returns the events of the next bytes.
    pub fn read(&mut self, bytes: &[u8]) -> Vec<TurnEvent> {
        let mut events = Vec::new();
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            let text = part.strip_suffix(b"\n").unwrap_or(part);
            self.line.extend(text);
            if text.len() < part.len() {
                self.end_of_line(&mut events);
            }
        }
        events
    }

    /// Returns the remaining events at the end of the transcript. A last line without a line end may be whole.
    pub fn end(&mut self) -> Vec<TurnEvent> {
        let mut events = Vec::new();
        self.end_of_line(&mut events);
        self.say(&mut events);
        for event in std::mem::take(&mut self.plain).events() {
            self.tell(event, &mut events);
        }
        events
    }

    /// True if a tool was started and has not ended.
    pub fn is_tool_running(&self) -> bool {
        !self.open.is_empty()
    }

    fn end_of_line(&mut self, events: &mut Vec<TurnEvent>) {
        let (line, is_lost) = self.line.take();
        if line.trim_ascii().is_empty() {
            return;
        }
        if is_lost {
            self.tell(TurnEvent::Lost, events);
        }
        if self.format == TranscriptFormat::Hermes && !line.starts_with(b"{\"") {
            self.plain
                .line(&String::from_utf8_lossy(&line), LONGEST_LINE);
            return;
        }
        let read = if is_lost {
            None
        } else {
            formats::read(self.format, &line)
        };
        for event in read.unwrap_or_else(|| {
            let begin = &line[..line.len().min(UNREAD * 4)];
            vec![TurnEvent::Unread {
                line: String::from_utf8_lossy(begin)
                    .chars()
                    .take(UNREAD)
                    .collect(),
            }]
        }) {
            self.tell(event, events);
        }
    }

    fn tell(&mut self, mut event: TurnEvent, events: &mut Vec<TurnEvent>) {
        if let TurnEvent::Said { text } = &event
            && matches!(
                self.format,
                TranscriptFormat::Gemini | TranscriptFormat::Goose
            )
        {
            self.said.push_str(text);
            if self.said.len() > LONGEST_LINE {
                self.say(events);
            }
            return;
        }
        self.say(events);
        match &mut event {
            TurnEvent::Used {
                tokens: None,
                dollars: None,
                ..
            } => return,
            // The end repeats the call, for the CLIs that do not print its start.
            TurnEvent::ToolStarted { call, .. } if self.open.contains(call) => return,
            TurnEvent::ToolStarted { call, .. } if self.open.len() < CALLS => {
                self.open.insert(call.clone());
            }
            TurnEvent::ToolEnded { call, .. } => {
                self.open.remove(call);
            }
            TurnEvent::Session { id } if self.session.replace(id.clone()).as_ref() == Some(id) => {
                return;
            }
            TurnEvent::Trouble(error) => self.has_failed |= !error.is_retry && !error.is_limit,
            TurnEvent::Finished { ok, .. } => {
                // Goose prints the same end after an error.
                *ok &= self.format != TranscriptFormat::Goose || !self.has_failed;
                self.open.clear();
            }
            _ => {}
        }
        events.push(event);
    }

    /// Emits a message after its last piece.
    fn say(&mut self, events: &mut Vec<TurnEvent>) {
        if !self.said.is_empty() {
            events.push(TurnEvent::Said {
                text: std::mem::take(&mut self.said),
            });
        }
    }
}

/// Reads a whole transcript, and passes its events to `each` in order.
///
/// # Errors
/// The transcript cannot be read.
pub fn read(
    format: TranscriptFormat,
    mut transcript: impl Read,
    mut each: impl FnMut(TurnEvent),
) -> io::Result<()> {
    let mut reader = TranscriptReader::new(format);
    let mut buffer = vec![0; 64 << 10];
    loop {
        match transcript.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => reader
                .read(&buffer[..count])
                .into_iter()
                .for_each(&mut each),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    reader.end().into_iter().for_each(each);
    Ok(())
}
