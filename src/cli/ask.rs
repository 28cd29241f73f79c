//! Questions on a terminal: offered and read only where both ends are one; Ctrl-C changes nothing.

use super::exit::Exit;
use crate::engine::Fault;
use crate::report::width::cut;
use crate::source::text::line;
use crate::sys::signals::Interrupts;
use dialoguer::console::Term;
use dialoguer::{Error, Input, Select};
use std::io::IsTerminal as _;

/// Columns that are not a choice's own: the mark before it, one that stays free.
const MARK: usize = 4;
/// So many columns of a choice are shown in any case.
const NARROWEST: usize = 20;

/// Why there is no answer.
pub(super) enum Unanswered {
    /// The question was left; how the process ends.
    Left(Exit),
    /// It could not be asked, or what followed failed.
    Failed(Fault),
}

impl From<Fault> for Unanswered {
    fn from(fault: Fault) -> Self {
        Self::Failed(fault)
    }
}

/// An answer, or why there is none.
pub(super) type Asked<T> = Result<T, Unanswered>;

/// True when a person can answer: standard input and standard error are a terminal.
pub(super) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// One of the choices by its index, `default` offered first.
pub(super) fn one_of(question: &str, choices: &[String], default: usize) -> Asked<usize> {
    // What wraps is not taken off the screen again when the next question comes.
    let columns = usize::from(Term::stderr().size().1).saturating_sub(MARK).max(NARROWEST);
    let choices: Vec<String> = choices.iter().map(|choice| cut(&line(choice, 200), columns)).collect();
    let select = Select::new().with_prompt(cut(question, columns)).items(&choices).default(default);
    answered(|| select.interact_opt())?.ok_or(Unanswered::Left(Exit::WorkLeft))
}

/// Words of a list, divided by commas and blanks; at least one.
pub(super) fn words(question: &str, default: &[String]) -> Asked<Vec<String>> {
    let read = |answer: &str| -> Vec<String> {
        let words = answer.split([',', ' ']).map(str::trim).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    };
    let named = |answer: &String| if read(answer).is_empty() { Err("name at least one") } else { Ok(()) };
    let mut input = Input::<String>::new().with_prompt(question).validate_with(named);
    if !default.is_empty() {
        input = input.default(default.join(","));
    }
    answered(|| input.interact_text()).map(|answer| read(&answer))
}

fn answered<T>(ask: impl FnOnce() -> Result<T, Error>) -> Asked<T> {
    // With a handler of ralph's own Ctrl-C ends the question, not the process with its cursor hidden.
    let _interrupts = Interrupts::install().map_err(Fault::from)?;
    let Error::IO(error) = match ask() {
        Ok(answer) => return Ok(answer),
        Err(error) => error,
    };
    Term::stderr().show_cursor().map_err(Fault::from)?;
    if error.kind() == std::io::ErrorKind::Interrupted {
        return Err(Unanswered::Left(Exit::Signal(2)));
    }
    let what = format!("The question was not answered: {error}.");
    Err(Fault::setup(what, "say it with flags: `--help` lists them").into())
}
