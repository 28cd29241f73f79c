//! The command line: one verb, one function, one exit code.

mod args;
mod ask;
mod check;
mod demo;
mod diff;
mod doctor;
mod edit_tasks;
mod environment;
mod exit;
mod gate;
mod init;
mod inspect;
mod manual;
mod manual_verbs;
mod place;
mod run;
mod run_output;
mod settings;
mod show;
mod stage;
mod status;
mod task_ids;
mod ui;
mod workspace;

pub use args::Cli;
pub use exit::Exit;

use crate::engine::Fault;
use args::Verb;
use clap::Parser as _;

/// Does what was typed; the exit code of the process.
pub fn run() -> u8 {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            ui::written(&error.print());
            return u8::try_from(error.exit_code()).map_or(2, answered);
        }
    };
    match dispatch(&cli) {
        Ok(exit) => answered(exit.code()),
        Err(fault) => {
            ui::fault(&fault);
            Exit::from(fault.kind).code()
        }
    }
}

/// The exit code of a verb that ended with this one: nothing is done whose answer was lost.
fn answered(code: u8) -> u8 {
    match ui::lost() {
        Some(fault) if code == 0 => {
            ui::fault(&fault);
            Exit::from(fault.kind).code()
        }
        _ => code,
    }
}

fn dispatch(cli: &Cli) -> Result<Exit, Fault> {
    let typed = settings::Typed::read(&cli.flags)?;
    let place = workspace::Place {
        root: typed.root.as_deref(),
        root_by: typed.root_by,
        given: &typed.given,
        json: cli.flags.json,
    };
    match &cli.verb {
        Verb::Run(args) => run::run(&place, args),
        Verb::Next { optional } => show::next(&place, *optional),
        Verb::Status(args) => status::status(&place, args),
        Verb::Diff { id } => show::diff(&place, id.as_deref()),
        Verb::Accept(by_hand) => manual_verbs::accept(&place, by_hand),
        Verb::Reopen(by_hand) => manual_verbs::reopen(&place, by_hand),
        Verb::Snapshot { id } => manual_verbs::snapshot(&place, id),
        Verb::Gate(args) => gate::gate(&place, args),
        Verb::Place(args) => place::place(&place, args),
        Verb::Stage(args) => stage::stage(&place, args),
        Verb::Check(args) => check::check(&place, args),
        Verb::Init(args) => init::init(&place, args),
        Verb::Doctor => doctor::doctor(&place),
        Verb::Schema => Ok(manual::schema(cli.flags.json)),
        Verb::Completions { shell } => Ok(manual::completions(*shell)),
        Verb::Man { into } => manual::man(into.as_deref()),
        Verb::Demo { into } => demo::demo(&place, into.as_deref()),
    }
}
