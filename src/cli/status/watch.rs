//! `ralph status --watch`: the board, live.
//!
//! Owns: when things are looked at again, and when a frame is drawn.
//!
//! Promises: looks at most four times a second and draws only what is new; ends by a key or a signal, never by
//! itself; what cannot be read for a moment is said and tried again.
//!
//! Refuses to know: what a frame looks like.

use super::super::exit::Exit;
use super::frame::{View, draw};
use super::keys::{Act, act};
use super::screen::Screen;
use super::source::Source;
use crate::engine::Fault;
use crate::sys::clock::{self, Stopwatch};
use crate::sys::signals::Interrupts;
use std::time::Duration;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(250);

/// Shows the board until somebody ends it.
pub(super) fn watch(source: &mut Source) -> Result<Exit, Fault> {
    let interrupts = Interrupts::install()?;
    let color = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut view = View::new(source.board()?, color);
    look(&mut view, source);
    let mut screen = Screen::open()?;
    let mut drawn = None;
    let mut looked = Stopwatch::start();
    loop {
        if let Some(signal) = interrupts.first() {
            return Ok(Exit::Signal(u8::try_from(signal).unwrap_or(0)));
        }
        if drawn.as_ref() != Some(&view) {
            screen.draw(|frame| draw(&view, frame))?;
            drawn = Some(view.clone());
        }
        let event = Screen::event(PAUSE.saturating_sub(looked.elapsed()))?;
        match event.as_ref().and_then(act) {
            Some(Act::Quit) => return Ok(Exit::Done),
            Some(Act::Redraw) => {
                screen.clear()?;
                drawn = None;
            }
            Some(act) => view.take(act),
            None => {}
        }
        if looked.elapsed() >= PAUSE {
            look(&mut view, source);
            looked = Stopwatch::start();
        }
    }
}

/// Takes what is new. What cannot be read leaves what was seen before, and is named.
fn look(view: &mut View, source: &mut Source) {
    match source.board_after(view.board.clone()) {
        Ok(board) => {
            view.board = board;
            view.trouble = source.trouble();
        }
        Err(fault) => view.trouble = Some(fault.what),
    }
    view.log = source.log(view.log_iteration());
    view.now = clock::now().as_second();
}
