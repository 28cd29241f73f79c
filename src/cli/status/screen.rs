//! The terminal while the live view is on it. However the view ends (a key, a signal, a fault, a panic), the terminal
//! is restored; that the terminal itself is gone is noticed.

use crate::sys::terminal::{Input, Resizes, wait};
use ratatui::DefaultTerminal;
use ratatui::Frame;
use ratatui::crossterm::event::{Event, poll, read};
use ratatui::layout::{Rect, Size};
use std::io;
use std::mem::ManuallyDrop;
use std::time::Duration;

/// A terminal that is drawn on. It is restored when dropped, and before a panic is shown.
pub(super) struct Screen {
    /// Never dropped itself: the library's own end would tell that the terminal is gone on standard error, and
    /// panic when that is gone too.
    terminal: ManuallyDrop<DefaultTerminal>,
    /// The last known size: a process without a terminal of its own is not notified of changes.
    size: Size,
    resizes: Resizes,
    /// There may be events that were read and not returned yet.
    has_more: bool,
    /// Only part of a key was read.
    is_partial: bool,
}

impl Screen {
    /// Takes the terminal over.
    pub(super) fn open_screen() -> io::Result<Self> {
        let resizes = Resizes::noticed()?;
        let opened = ratatui::try_init();
        if opened.is_err() {
            // It may have failed half-way.
            let _ = ratatui::try_restore();
        }
        let terminal = ManuallyDrop::new(opened?);
        let mut screen = Self {
            terminal,
            size: Size::ZERO,
            resizes,
            has_more: false,
            is_partial: false,
        };
        screen.size = screen.terminal.size()?;
        Ok(screen)
    }

    /// Draws a frame; only what differs from the last one is written.
    pub(super) fn draw_frame(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(drop)
    }

    /// Forgets what is on the screen, so that the next frame is written as a whole. (`Terminal::clear` would ask
    /// the terminal where its cursor is, and wait for the answer.)
    pub(super) fn clear_screen(&mut self) -> io::Result<()> {
        let area = Rect::from(self.terminal.size()?);
        self.terminal.resize(area)
    }

    /// Returns the next event.
    ///
    /// `None` if none came in this time, an error if the terminal is gone.
    ///
    /// The library reads forever from a terminal that is gone. So ralph calls it only when there is
    /// input, and always checks the terminal first.
    pub(super) fn wait_for_event(&mut self, patience: Duration) -> io::Result<Option<Event>> {
        let patience = if self.has_more {
            Duration::ZERO
        } else {
            patience
        };
        let input = wait(patience, !self.is_partial)?;
        if input == Input::Gone {
            return Err(io::Error::other("the terminal is gone"));
        }
        let is_there = input == Input::Ready || self.has_more || self.is_partial;
        if is_there && poll(Duration::ZERO)? {
            (self.has_more, self.is_partial) = (true, false);
            return read().map(Some);
        }
        (self.has_more, self.is_partial) = (false, input == Input::Ready);
        let size = self.terminal.size()?;
        // Made small and large again between two looks, a terminal has lost part of what it showed.
        if !self.resizes.taken() && size == self.size {
            return Ok(None);
        }
        self.size = size;
        Ok(Some(Event::Resize(size.width, size.height)))
    }

    /// True if the terminal is gone.
    pub(super) fn is_gone() -> bool {
        matches!(wait(Duration::ZERO, false), Ok(Input::Gone))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The terminal may be gone: then there is nothing to restore.
        let _ = self.terminal.show_cursor();
        let _ = ratatui::try_restore();
    }
}
