//! `ralph status --watch`: the board, live. Looks at most four times a second; ends by a key, by a signal or with its
//! terminal. What cannot be read is named and tried again.

use super::frame::{FilmFrame, KeyAction, View, draw_view, read_action};
use super::screen::Screen;
use super::{Board, Exit, Fault, Invocation, ViewedWorkspace, Workspace, lane_line, ui};
use crate::engine::Film;
use crate::report::board::Beside;
use crate::report::film::Frame;
use crate::source::text::line;
use crate::sys::clock::{self, Stopwatch};
use crate::sys::disk::RealDisk;
use crate::sys::signals::Interrupts;
use crate::task::typed_id;
use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers};
use std::io::IsTerminal as _;
use std::time::Duration;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(250);

const KEYS: &str =
    "n/→ next · b/← back · ]/[ iteration · / jump to a task · g/G first/last · q quit";
/// Characters of a task's name that is typed.
const TYPED: usize = 60;

/// The number of SIGHUP.
const HANGUP: i32 = 1;

/// Shows the board until a key or a signal ends it.
pub(super) fn watch_board(call: &Invocation, mut source: ViewedWorkspace) -> Result<Exit, Fault> {
    let interrupts = Interrupts::install()?;
    let color = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut view = View::new(source.read_board()?, color);
    look_for_news(&mut view, &mut source, call);
    let mut screen = Screen::open_screen()?;
    let (mut drawn, mut looked) = (None, Stopwatch::start());
    let mut shown = || loop {
        if let Some(signal) = interrupts.first() {
            return Ok(Exit::Signal(signal));
        }
        if drawn.as_ref() != Some(&view) {
            screen.draw_frame(|frame| draw_view(&view, frame))?;
            drawn = Some(view.clone());
        }
        let event = screen.wait_for_event(PAUSE.saturating_sub(looked.elapsed()))?;
        match event.as_ref().and_then(read_action) {
            Some(KeyAction::Quit) => return Ok(Exit::Done),
            Some(KeyAction::Redraw) => {
                screen.clear_screen()?;
                drawn = None;
            }
            Some(act) => view.take_action(act),
            None => {}
        }
        if looked.elapsed() >= PAUSE {
            look_for_news(&mut view, &mut source, call);
            looked = Stopwatch::start();
        }
    };
    match shown() {
        // No error can be shown any more. The signal for a lost terminal may be on its way, or be
        // ignored.
        Err(_) if Screen::is_gone() => Ok(Exit::Signal(interrupts.first().unwrap_or(HANGUP))),
        ended => ended,
    }
}

/// Takes what is new. What cannot be read leaves what was seen before, and is named.
fn look_for_news(view: &mut View, source: &mut ViewedWorkspace, call: &Invocation) {
    let seen = source
        .renew_settings(call)
        .and_then(|()| source.board_after(view.board.clone()));
    match seen {
        Ok(board) => {
            view.trouble = source.find_trouble(&board);
            view.board = board;
        }
        Err(fault) => view.trouble = Some(fault.to_string()),
    }
    match source.lanes() {
        Ok(lanes) => view.lanes = lanes.iter().map(lane_line).collect(),
        Err(fault) => view.trouble = Some(fault.to_string()),
    }
    view.log = source.newest_log(view.log_iteration());
    view.now = clock::now().as_second();
}

/// Position of the viewer: one frame, and the text that is being typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct WatchView {
    /// Index of the frame.
    at: usize,
    /// The name of a task, while it is typed.
    typed: Option<String>,
    /// The name that was not found.
    missed: Option<String>,
}

/// `ralph replay --step`: the journal record by record in the live view, or as text where there is no terminal.
pub(in crate::cli) fn show_film(workspace: &Workspace, json: bool) -> Result<Exit, Fault> {
    let film = Film::read_film(&RealDisk::new(), &workspace.places)?;
    if json {
        for frame in &film.frames {
            ui::print_json(&serde_json::to_value(frame).map_err(std::io::Error::from)?);
        }
        return Ok(Exit::Done);
    }
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        for frame in &film.frames {
            ui::print_line(&frame.frame_title(film.frames.len()));
            frame
                .frame_lines()
                .iter()
                .for_each(|text| ui::print_line(&format!("  {text}")));
        }
        return Ok(Exit::Done);
    }
    let interrupts = Interrupts::install()?;
    let mut screen = Screen::open_screen()?;
    let (mut place, mut drawn) = (WatchView::default(), None);
    loop {
        if let Some(signal) = interrupts.first() {
            return Ok(Exit::Signal(signal));
        }
        if drawn.as_ref() != Some(&place) {
            let view = frame_of(&film, &place)?;
            screen.draw_frame(|frame| draw_view(&view, frame))?;
            drawn = Some(place.clone());
        }
        match screen.wait_for_event(PAUSE)? {
            Some(Event::Resize(..)) => {
                screen.clear_screen()?;
                drawn = None;
            }
            Some(Event::Key(key)) if key.kind != KeyEventKind::Release => {
                let is_left =
                    key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
                if is_left || !place.take_key(key.code, &film.frames) {
                    return Ok(Exit::Done);
                }
            }
            _ => {}
        }
    }
}

impl WatchView {
    /// Does what a key asks for; false if it ends the film.
    fn take_key(&mut self, key: KeyCode, frames: &[Frame]) -> bool {
        self.missed = None;
        if let Some(typed) = &mut self.typed {
            match key {
                KeyCode::Char(letter) if typed.chars().count() < TYPED => typed.push(letter),
                KeyCode::Backspace => drop(typed.pop()),
                KeyCode::Esc => self.typed = None,
                KeyCode::Enter => self.jump_to_task(frames),
                _ => {}
            }
            return true;
        }
        let last = frames.len().saturating_sub(1);
        match key {
            KeyCode::Char('q') | KeyCode::Esc => return false,
            KeyCode::Char('n' | ' ' | 'j') | KeyCode::Right | KeyCode::Down | KeyCode::Enter => {
                self.at += 1;
            }
            KeyCode::Char('b' | 'k') | KeyCode::Left | KeyCode::Up | KeyCode::Backspace => {
                self.at = self.at.saturating_sub(1);
            }
            KeyCode::Char(']') | KeyCode::PageDown => {
                self.at = iteration_starts(frames)
                    .find(|start| *start > self.at)
                    .unwrap_or(self.at);
            }
            KeyCode::Char('[') | KeyCode::PageUp => {
                self.at = iteration_starts(frames)
                    .rfind(|start| *start < self.at)
                    .unwrap_or(0);
            }
            KeyCode::Char('g') | KeyCode::Home => self.at = 0,
            KeyCode::Char('G') | KeyCode::End => self.at = last,
            KeyCode::Char('/') => self.typed = Some(String::new()),
            _ => {}
        }
        self.at = self.at.min(last);
        true
    }

    /// The next frame of the task that was typed, from the beginning again after the last.
    fn jump_to_task(&mut self, frames: &[Frame]) {
        let Some(typed) = self.typed.take() else {
            return;
        };
        let wanted = typed.trim();
        let count = frames.len();
        let places = (1..=count).map(|step| (self.at + step) % count);
        let found = places
            .clone()
            .find(|at| typed_id(&frames[*at].task) == typed_id(wanted))
            .or_else(|| {
                places
                    .clone()
                    .find(|at| frames[*at].task.starts_with(wanted))
            });
        match found.filter(|_| !wanted.is_empty()) {
            Some(at) => self.at = at,
            None => self.missed = Some(format!("No record is at a task {}.", line(wanted, TYPED))),
        }
    }
}

/// The first frame of each iteration.
fn iteration_starts(frames: &[Frame]) -> impl DoubleEndedIterator<Item = usize> {
    (0..frames.len()).filter(|&at| at == 0 || frames[at - 1].iteration != frames[at].iteration)
}

fn frame_of(film: &Film, place: &WatchView) -> Result<View, Fault> {
    let frame = &film.frames[place.at];
    let (state, spent) = film.state_after(frame.record)?;
    let now = frame
        .at
        .parse::<jiff::Timestamp>()
        .map_or(0, jiff::Timestamp::as_second);
    let beside = Beside {
        holder: Some("the run".to_owned()),
        now,
        ..Beside::default()
    };
    let color = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut view = View::new(Board::new(&state, &spent, beside), color);
    view.now = now;
    view.trouble.clone_from(&place.missed);
    let keys = place
        .typed
        .as_ref()
        .map_or_else(|| KEYS.to_owned(), |typed| format!("task: {typed}_"));
    view.film = Some(FilmFrame {
        title: frame.frame_title(film.frames.len()),
        lines: frame.frame_lines(),
        keys,
    });
    Ok(view)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames() -> Vec<Frame> {
        let frame = |(iteration, task): &(u64, &str)| Frame {
            iteration: *iteration,
            task: (*task).to_owned(),
            ..Frame::default()
        };
        [
            (0, ""),
            (1, "1."),
            (1, "1."),
            (2, "1.PITEST"),
            (2, ""),
            (3, "12."),
            (3, "2."),
        ]
        .iter()
        .map(frame)
        .collect()
    }

    #[test]
    fn each_key_leads_to_its_frame_and_never_beyond_the_ends() {
        for (keys, at) in [
            ("", 0),
            ("n", 1),
            ("nnb", 1),
            ("b", 0),
            ("nnnnnnnnnn", 6),
            ("G", 6),
            ("Gg", 0),
            ("]", 1),
            ("]]", 3),
            ("]]n[", 3),
            ("]][", 1),
            ("[", 0),
            ("G]", 6),
            ("/1.PITEST\n", 3),
            ("/2.\n", 6),
            ("/1.P\n", 3),
            ("/1.\n/1.\n/1.\n", 1),
            ("n/q\n", 1),
            ("n/\n", 1),
        ] {
            let (frames, mut place) = (frames(), WatchView::default());
            for key in keys.chars() {
                let key = if key == '\n' {
                    KeyCode::Enter
                } else {
                    KeyCode::Char(key)
                };
                assert!(place.take_key(key, &frames), "{keys:?}");
            }
            assert_eq!(place.at, at, "{keys:?}");
            assert_eq!(
                place.missed.is_some(),
                keys.contains("/q") || keys.contains("/\n"),
                "{keys:?}"
            );
        }
        for key in [KeyCode::Char('q'), KeyCode::Esc] {
            assert!(!WatchView::default().take_key(key, &frames()), "{key:?}");
        }
    }

    #[test]
    fn what_is_typed_can_be_changed_and_left() {
        let (frames, mut place) = (frames(), WatchView::default());
        for key in [
            KeyCode::Char('/'),
            KeyCode::Char('q'),
            KeyCode::Backspace,
            KeyCode::Char('2'),
        ] {
            assert!(place.take_key(key, &frames));
        }
        assert_eq!(place.typed.as_deref(), Some("2"));
        assert!(place.take_key(KeyCode::Esc, &frames));
        assert_eq!(place, WatchView::default());
    }
}
