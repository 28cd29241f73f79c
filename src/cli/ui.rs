//! The only file that prints: standard output, standard error, JSON lines, the status line on a terminal. Foreign text
//! loses its control characters; a closed pipe ends no run.

use crate::engine::{Fault, FaultKind};
use crate::source::text::is_hidden;
use serde::Serialize;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

/// Why an answer did not reach standard output; the first time only.
static LOST: OnceLock<String> = OnceLock::new();

/// A line on standard output.
pub(super) fn line(text: &str) {
    written(&write(&mut io::stdout().lock(), text));
}

/// A line on standard error.
pub(super) fn note(text: &str) {
    // A failure could not be shown anywhere.
    let _ = write(&mut io::stderr().lock(), text);
}

/// Remembers an answer that was not written. A closed pipe is not a fault: the work goes on without a reader. A full
/// disk is one.
pub(super) fn written(result: &io::Result<()>) {
    if let Err(error) = result
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        LOST.get_or_init(|| error.to_string());
    }
}

/// What was to be answered and could not be written, as a fault.
pub(super) fn lost() -> Option<Fault> {
    let why = LOST.get()?;
    let what = format!("The answer could not be written to standard output: {why}.");
    Some(Fault::new(FaultKind::Io, what, "check where it goes (space, permissions), and ask again"))
}

/// One JSON object on a line of standard output.
pub(super) fn json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(text) => line(&text),
        Err(error) => note(&format!("error: This answer cannot be written as JSON: {error}.")),
    }
}

/// An error: what happened, and a `hint:` line with the next action.
pub(super) fn error(what: &str, hint: &str) {
    note(&format!("error: {what}"));
    if !hint.is_empty() {
        note(&format!("hint: {hint}"));
    }
}

fn write(to: &mut dyn Write, text: &str) -> io::Result<()> {
    let shown: String = text.chars().map(shown).collect();
    writeln!(to, "{shown}").and_then(|()| to.flush())
}

fn shown(c: char) -> char {
    if is_hidden(c) && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c }
}

/// The line that says what runs now: painted over and over on a terminal, a plain line elsewhere.
#[derive(Debug)]
pub(super) struct StatusLine {
    pub(super) status: Status,
    painter: Option<JoinHandle<()>>,
}

/// What the status line shows; it can be given away.
#[derive(Clone, Debug)]
pub(super) struct Status {
    shared: Arc<(Mutex<Shown>, Condvar)>,
    is_painted: bool,
    is_quiet: bool,
}

#[derive(Debug, Default)]
struct Shown {
    text: String,
    seconds: u64,
    over: bool,
}

impl StatusLine {
    pub(super) fn new(is_quiet: bool) -> Self {
        let shared: Arc<(Mutex<Shown>, Condvar)> = Arc::default();
        let is_painted = !is_quiet && io::stderr().is_terminal();
        let painter = is_painted.then(|| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || paint(&shared))
        });
        Self { status: Status { shared, is_painted, is_quiet }, painter }
    }
}

impl Status {
    /// Shows this text from now on, with the seconds since; nothing if it is empty.
    pub(super) fn set(&self, text: &str) {
        if let Ok(mut shown) = self.shared.0.lock() {
            text.clone_into(&mut shown.text);
            shown.seconds = 0;
        }
        if self.is_painted {
            let _ = write!(io::stderr(), "\r\x1b[K");
        } else if !self.is_quiet && !text.is_empty() {
            note(text);
        }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.status.set("");
        if let Ok(mut shown) = self.status.shared.0.lock() {
            shown.over = true;
        }
        self.status.shared.1.notify_all();
        if let Some(painter) = self.painter.take() {
            let _ = painter.join();
        }
    }
}

fn paint(shared: &(Mutex<Shown>, Condvar)) {
    const FRAMES: [char; 4] = ['|', '/', '-', '\\'];
    let mut frame = 0;
    let Ok(mut shown) = shared.0.lock() else { return };
    while !shown.over {
        if !shown.text.is_empty() {
            frame = (frame + 1) % FRAMES.len();
            let text: String = shown.text.chars().map(self::shown).take(100).collect();
            let _ = write!(io::stderr(), "\r\x1b[K{} {text} {} s", FRAMES[frame], shown.seconds);
            let _ = io::stderr().flush();
        }
        match shared.1.wait_timeout(shown, Duration::from_secs(1)) {
            Ok((next, _)) => shown = next,
            Err(_) => return,
        }
        shown.seconds += 1;
    }
}
