//! `ralph status --watch`: the board, live. Looks at most four times a second; ends by a key, by a signal or with its
//! terminal. What cannot be read is named and tried again.

use super::frame::{View, draw};
use super::keys::{Act, act};
use super::screen::Screen;
use super::source::Source;
use crate::cli::{Exit, Fault, Invocation};
use crate::sys::clock::{self, Stopwatch};
use crate::sys::signals::Interrupts;
use std::time::Duration;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(250);

/// The number of SIGHUP.
const HANGUP: i32 = 1;

/// Shows the board until somebody ends it.
pub(super) fn watch(call: &Invocation, mut source: Source) -> Result<Exit, Fault> {
    let interrupts = Interrupts::install()?;
    let color = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut view = View::new(source.board()?, color);
    look(&mut view, &mut source, call);
    let mut screen = Screen::open()?;
    match shown(&mut screen, &mut view, &mut source, call, &interrupts) {
        // Whatever failed, it can no longer be shown. The signal that says so may be on its way, or be ignored.
        Err(_) if Screen::is_gone() => Ok(Exit::Signal(interrupts.first().unwrap_or(HANGUP))),
        ended => ended,
    }
}

fn shown(
    screen: &mut Screen,
    view: &mut View,
    source: &mut Source,
    call: &Invocation,
    interrupts: &Interrupts,
) -> Result<Exit, Fault> {
    let mut drawn = None;
    let mut looked = Stopwatch::start();
    loop {
        if let Some(signal) = interrupts.first() {
            return Ok(Exit::Signal(signal));
        }
        if drawn.as_ref() != Some(&*view) {
            screen.draw(|frame| draw(view, frame))?;
            drawn = Some(view.clone());
        }
        let event = screen.heard(PAUSE.saturating_sub(looked.elapsed()))?;
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
            look(view, source, call);
            looked = Stopwatch::start();
        }
    }
}

/// Takes what is new. What cannot be read leaves what was seen before, and is named.
fn look(view: &mut View, source: &mut Source, call: &Invocation) {
    let seen = source.renewed(call).and_then(|()| source.board_after(view.board.clone()));
    match seen {
        Ok(board) => {
            view.trouble = source.trouble(&board);
            view.board = board;
        }
        Err(fault) => view.trouble = Some(fault.to_string()),
    }
    view.log = source.log(view.log_iteration());
    view.now = clock::now().as_second();
}
