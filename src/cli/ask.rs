//! Questions of `ralph init` on a terminal: offered and read only where both ends are one; Ctrl-C changes nothing.

use super::{Exit, Fault};
use crate::report::width::cut_text;
use crate::source::text::line;
use crate::sys::signals::Interrupts;
use anyhow::{Context as _, bail};
use dialoguer::console::Term;
use dialoguer::theme::Theme;
use dialoguer::{Error, Input, Select};
use std::fmt;
use std::io::IsTerminal as _;

/// Columns that are not a choice's own: the mark before it, one that stays free.
const MARK: usize = 4;
/// So many columns of a choice are shown in any case.
const NARROWEST: usize = 20;

/// A question that was left without an answer; how the process ends.
#[derive(Debug)]
pub(super) struct Unanswered(pub(super) Exit);

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nothing was chosen; nothing was changed.")
    }
}

/// Prompts without a colon after a question mark.
struct Prompts;

impl Theme for Prompts {
    fn format_prompt(&self, f: &mut dyn fmt::Write, prompt: &str) -> fmt::Result {
        write!(f, "{prompt}{}", colon(prompt))
    }

    fn format_input_prompt_selection(
        &self,
        f: &mut dyn fmt::Write,
        prompt: &str,
        answer: &str,
    ) -> fmt::Result {
        write!(f, "{prompt}{} {answer}", colon(prompt))
    }
}

fn colon(prompt: &str) -> &str {
    if prompt.ends_with('?') { "" } else { ":" }
}

/// True when a person can answer: standard input and standard error are a terminal.
pub(super) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// One of the choices by its index, `default` offered first.
pub(super) fn one_of(question: &str, choices: &[String], default: usize) -> anyhow::Result<usize> {
    // A line that wraps stays on the screen when the next question is drawn.
    let columns = usize::from(Term::stderr().size().1)
        .saturating_sub(MARK)
        .max(NARROWEST);
    let choices: Vec<String> = choices
        .iter()
        .map(|choice| cut_text(&line(choice, 200), columns))
        .collect();
    let select = Select::with_theme(&Prompts)
        .with_prompt(cut_text(question, columns))
        .items(&choices)
        .default(default);
    ask_question(|| select.interact_opt())?.context(Unanswered(Exit::WorkLeft))
}

/// Asks if ralph may write the shown text.
pub(super) fn ask_agreement() -> anyhow::Result<bool> {
    Ok(one_of("Write this?", &["yes".to_owned(), "no".to_owned()], 0)? == 0)
}

/// Words of a list, divided by commas and blanks; at least one.
pub(super) fn ask_words(question: &str) -> anyhow::Result<Vec<String>> {
    let input = Input::<String>::with_theme(&Prompts)
        .with_prompt(question)
        .validate_with(|answer: &String| {
            if split_words(answer).is_empty() {
                Err("name at least one")
            } else {
                Ok(())
            }
        });
    ask_question(|| input.interact_text()).map(|answer| split_words(&answer))
}

fn split_words(answer: &str) -> Vec<String> {
    let words = answer.split([',', ' ']).map(str::trim);
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

fn ask_question<T>(ask: impl FnOnce() -> Result<T, Error>) -> anyhow::Result<T> {
    // With a handler of ralph's own Ctrl-C ends the question, not the process with its cursor hidden.
    let _interrupts = Interrupts::install()?;
    let Error::IO(error) = match ask() {
        Ok(answer) => return Ok(answer),
        Err(error) => error,
    };
    Term::stderr().show_cursor()?;
    if error.kind() == std::io::ErrorKind::Interrupted {
        bail!(Unanswered(Exit::Signal(2)));
    }
    let what = format!("The question was not answered: {error}.");
    bail!(Fault::setup_fault(
        what,
        "say it with flags: `--help` lists them"
    ))
}
