//! The only file that prints: standard output, standard error, JSON lines, the status line on a terminal. Foreign text
//! loses its control characters; a closed pipe ends no run.

use super::{Fault, FaultKind};
use crate::source::text::is_hidden;
use crate::sys::log;
use fs_err::File;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// Time between two updates of the status line.
const TICK: Duration = Duration::from_millis(500);

/// The task folder that a flag named.
static SPEC: OnceLock<String> = OnceLock::new();

/// Verbs that work on a task file.
const VERBS: [&str; 9] = [
    "accept ",
    "check",
    "gate ",
    "place ",
    "reopen ",
    "run",
    "snapshot ",
    "stage",
    "status",
];

/// The file that `--output` names: answers go there.
static ANSWERS: OnceLock<Mutex<File>> = OnceLock::new();

/// Reason why an answer was not written; the first one only.
static LOST: OnceLock<String> = OnceLock::new();

/// Writes a line of the answer: to standard output, or to the file of `--output`.
pub(super) fn print_line(text: &str) {
    let Some(file) = ANSWERS.get() else {
        return remember_failure(&write_text(&mut io::stdout().lock(), text));
    };
    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
    remember_failure(&write_text(&mut *file, text));
}

/// Sends the answer to a file. It is emptied now, so that no older answer is taken for this one.
pub(super) fn answer_into(file: &Path) -> Result<(), Fault> {
    let opened = File::create(file).map_err(|error| {
        Fault::setup_fault(
            format!("--output: The file cannot be written: {error}."),
            "name a file in an existing directory",
        )
        .caused_by(error)
    })?;
    ANSWERS.get_or_init(|| Mutex::new(opened));
    Ok(())
}

/// Returns the file of `--output`.
pub(super) fn answer_path() -> Option<PathBuf> {
    let file = ANSWERS
        .get()?
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    Some(file.path().to_owned())
}

/// Names the file of `--output`, if the answer is in it.
pub(super) fn name_answers() {
    if let Some(file) = ANSWERS.get()
        && LOST.get().is_none()
    {
        let file = file.lock().unwrap_or_else(PoisonError::into_inner);
        print_note(&format!("{} was written.", file.path().display()));
    }
}

/// A line on standard error, in ralph's own words.
pub(super) fn print_note(text: &str) {
    print_foreign(&with_spec(text));
}

/// A line on standard error as it is.
pub(super) fn print_foreign(text: &str) {
    // A failure could not be shown anywhere.
    let _ = write_text(&mut io::stderr().lock(), text);
}

/// Remembers the task folder that a flag named: the commands in hints name it, too.
pub(super) fn name_spec(spec: &str) {
    SPEC.get_or_init(|| spec.to_owned());
}

/// The text with the commands in it as they have to be typed for the task folder that a flag named.
pub(super) fn with_spec(text: &str) -> String {
    SPEC.get()
        .map_or_else(|| text.to_owned(), |spec| commands_with_spec(text, spec))
}

fn commands_with_spec(text: &str, spec: &str) -> String {
    let is_plain = spec
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"./_-".contains(&byte));
    let spec = if is_plain {
        spec.to_owned()
    } else {
        format!("'{}'", spec.replace('\'', r"'\''"))
    };
    VERBS.iter().fold(text.to_owned(), |text, verb| {
        text.replace(
            &format!("`ralph {verb}"),
            &format!("`ralph --spec {spec} {verb}"),
        )
    })
}

/// Remembers an answer that was not written.
///
/// A closed pipe is no error: the work continues without a reader. A full disk is one.
pub(super) fn remember_failure(result: &io::Result<()>) {
    if let Err(error) = result
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        LOST.get_or_init(|| error.to_string());
    }
}

/// Returns the first unwritten answer as an error.
pub(super) fn lost_output() -> Option<Fault> {
    let why = LOST.get()?;
    let what = format!("The answer could not be written: {why}.");
    Some(Fault::new(
        FaultKind::Io,
        what,
        "check where it goes (space, permissions), and ask again",
    ))
}

/// One JSON object on a line of standard output.
pub(super) fn print_json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(text) => print_line(&text),
        Err(error) => print_note(&format!(
            "error: This answer cannot be written as JSON: {error}."
        )),
    }
}

/// An answer: the facts for programs, else the words for people.
pub(super) fn print_answer(as_json: bool, facts: &impl Serialize, words: &str) {
    if as_json {
        print_json(facts);
    } else {
        print_line(words);
    }
}

/// An error: what happened, and a `hint:` line with the next action.
pub(super) fn print_error(what: &str, hint: &str) {
    print_note(&format!("error: {what}"));
    if !hint.is_empty() {
        print_note(&format!("hint: {hint}"));
    }
}

fn write_text(to: &mut dyn Write, text: &str) -> io::Result<()> {
    let shown: String = text.chars().map(display_char).collect();
    writeln!(to, "{shown}").and_then(|()| to.flush())
}

fn display_char(c: char) -> char {
    if is_hidden(c) && !matches!(c, '\n' | '\t') {
        '\u{fffd}'
    } else {
        c
    }
}

/// The status line: painted over and over on a terminal, a plain line elsewhere.
///
/// It can be shared by cloning.
#[derive(Clone, Debug)]
pub(super) struct StatusLine(Option<ProgressBar>);

impl StatusLine {
    pub(super) fn new(is_quiet: bool) -> Self {
        let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
        // Lines of a log would be mixed with a painted line.
        let bar = if log::is_printed() {
            ProgressBar::hidden()
        } else {
            ProgressBar::new_spinner()
        };
        Self((!is_quiet).then(|| bar.with_style(style)))
    }

    /// A line that stays, above the one that is painted.
    pub(super) fn say_above(&self, text: &str) {
        if let Some(bar) = &self.0 {
            bar.suspend(|| print_foreign(text));
        }
    }

    /// Shows this text from now on, with the time since; nothing if it is empty.
    pub(super) fn set_text(&self, text: &str) {
        let Some(bar) = &self.0 else { return };
        bar.finish_and_clear();
        if text.is_empty() {
            return;
        }
        if bar.is_hidden() {
            return print_foreign(text);
        }
        bar.set_message(text.chars().map(display_char).collect::<String>());
        bar.reset();
        bar.enable_steady_tick(TICK);
    }
}

#[cfg(test)]
mod tests {
    use super::commands_with_spec;

    #[test]
    fn commands_of_a_hint_name_the_spec_that_a_flag_named() {
        let named =
            |spec| commands_with_spec("see x; then `ralph run --retry 1.`, or `ralph init`", spec);
        assert_eq!(
            named("specs/b"),
            "see x; then `ralph --spec specs/b run --retry 1.`, or `ralph init`"
        );
        assert_eq!(
            named("my b"),
            "see x; then `ralph --spec 'my b' run --retry 1.`, or `ralph init`"
        );
    }
}
