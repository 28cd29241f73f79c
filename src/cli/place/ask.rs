//! The question where gates stand, on a terminal.
//!
//! Owns: its words.
//!
//! Promises: asks only when both ends are a terminal; leaving it changes nothing, and the cursor is back.
//!
//! Refuses to know: what follows from the answer.

use crate::cli::exit::Exit;
use crate::config::Placement;
use crate::engine::{Fault, FaultKind};
use crate::sys::signals::Interrupts;
use dialoguer::console::Term;
use dialoguer::{Error, Input, Select};
use std::io::IsTerminal as _;

/// True when a person can answer: standard input and standard error are a terminal.
pub(in crate::cli) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks for the placement of a gate, with the choice of now as the default. When it was left: how the
/// process ends.
pub(in crate::cli) fn ask(gate: &str, now: Option<&Placement>) -> Result<Result<Placement, Exit>, Fault> {
    // With a handler of ralph's own Ctrl-C ends the question, not the process with its cursor hidden.
    let _interrupts = Interrupts::install()?;
    match choose(gate, now) {
        Ok(Some(choice)) => Ok(Ok(choice)),
        Ok(None) => Ok(Err(Exit::WorkLeft)),
        Err(Error::IO(error)) => {
            Term::stderr().show_cursor()?;
            if error.kind() == std::io::ErrorKind::Interrupted {
                return Ok(Err(Exit::Signal(2)));
            }
            let what = format!("The question was not answered: {error}.");
            Err(Fault::new(FaultKind::Setup, what, "name the option: `ralph place each`"))
        }
    }
}

fn choose(gate: &str, now: Option<&Placement>) -> Result<Option<Placement>, Error> {
    let items = [
        "each    after every task that has tests of its own (recommended)".to_owned(),
        "after   after the tasks that I name".to_owned(),
        format!("groups  at the end of each heading: G1.{gate}, G2.{gate}, …"),
        format!("end     once, after the last task: END.{gate}"),
        "none    nowhere".to_owned(),
    ];
    let default = match now {
        None | Some(Placement::Each) => 0,
        Some(Placement::After(_)) => 1,
        Some(Placement::Groups) => 2,
        Some(Placement::End) => 3,
        Some(Placement::None) => 4,
    };
    let select = Select::new().with_prompt(format!("Where {gate} stands")).items(&items);
    Ok(match select.default(default).interact_opt()? {
        None => None,
        Some(0) => Some(Placement::Each),
        Some(1) => Some(Placement::After(ids(now)?)),
        Some(2) => Some(Placement::Groups),
        Some(3) => Some(Placement::End),
        Some(_) => Some(Placement::None),
    })
}

fn ids(now: Option<&Placement>) -> Result<Vec<String>, Error> {
    let read = |answer: &str| -> Vec<String> { answer.split([',', ' ']).filter_map(super::tidy).collect() };
    let mut input = Input::<String>::new().with_prompt("After which tasks (as in 2,5,7)");
    if let Some(Placement::After(ids)) = now {
        input = input.default(ids.join(","));
    }
    let named =
        |answer: &String| if read(answer).is_empty() { Err("name at least one task") } else { Ok(()) };
    Ok(read(&input.validate_with(named).interact_text()?))
}
