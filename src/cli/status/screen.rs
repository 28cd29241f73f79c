//! The terminal while the live view is on it.
//!
//! Owns: raw mode, the alternate screen, the cursor.
//!
//! Promises: however the view ends (a key, a signal that asks for an end, a fault, a panic), the terminal is
//! afterwards as it was.
//!
//! Refuses to know: what is drawn.

use ratatui::DefaultTerminal;
use ratatui::Frame;
use ratatui::crossterm::event::{Event, poll, read};
use std::io;
use std::time::Duration;

/// A terminal that is drawn on. Dropped, it is restored; a panic restores it before it is told.
pub(super) struct Screen {
    terminal: DefaultTerminal,
}

impl Screen {
    /// Takes the terminal over.
    pub(super) fn open() -> io::Result<Self> {
        let opened = ratatui::try_init();
        if opened.is_err() {
            // It may have failed half-way.
            let _ = ratatui::try_restore();
        }
        Ok(Self { terminal: opened? })
    }

    /// Draws a frame; only what differs from the last one is written.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(drop)
    }

    /// Forgets what is on the screen, so that the next frame is written as a whole.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.terminal.clear()
    }

    /// The next key, or the like; `None` when none comes in this time.
    pub(super) fn event(patience: Duration) -> io::Result<Option<Event>> {
        if poll(patience)? { read().map(Some) } else { Ok(None) }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The terminal may be gone: then there is nothing to restore.
        let _ = ratatui::try_restore();
    }
}
