//! Questions on a terminal.
//!
//! Owns: how a choice is offered and read.
//!
//! Promises: an empty answer is the first choice, the end of the input is an error and no answer; foreign
//! text is shown without control characters.
//!
//! Refuses to know: what is chosen, what follows from it.

use super::super::ui;
use std::io::{BufRead as _, IsTerminal as _};

/// True when there is somebody to ask.
pub(super) fn is_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// One of the choices, by its number; the first when the answer is empty.
pub(super) fn choose(question: &str, choices: &[String]) -> std::io::Result<usize> {
    ui::note(question);
    for (at, choice) in choices.iter().enumerate() {
        ui::note(&format!("  {}  {choice}{}", at + 1, if at == 0 { "  (enter)" } else { "" }));
    }
    loop {
        let answer = line("number: ")?;
        match answer.trim() {
            "" => return Ok(0),
            word => match word.parse::<usize>() {
                Ok(number) if (1..=choices.len()).contains(&number) => return Ok(number - 1),
                _ => ui::note(&format!("Type a number from 1 to {}.", choices.len())),
            },
        }
    }
}

/// A line that was typed; an error at the end of the input.
pub(super) fn line(prompt: &str) -> std::io::Result<String> {
    ui::prompt(prompt);
    let mut answer = String::new();
    match std::io::stdin().lock().read_line(&mut answer)? {
        0 => Err(std::io::Error::other("the input ended before a question was answered")),
        _ => Ok(answer),
    }
}
