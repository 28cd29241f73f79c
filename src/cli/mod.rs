//! The command line: one verb, one function, one exit code.

mod args;
mod ask;
mod audit;
mod bundle;
mod check;
mod completions;
mod demo;
mod doctor;
mod edit_tasks;
mod environment;
mod exit;
mod gate;
mod init;
mod inspect;
mod manual;
mod manual_verbs;
mod mcp;
mod mutation_test;
mod output;
mod place;
mod prompt;
mod push_gate;
mod replay;
mod replay_gates;
mod report;
mod run;
mod run_output;
mod settings;
mod show;
mod stage;
mod status;
mod stop_hook;
mod task_ids;
mod ui;
mod usage;
mod verify;
mod weeks;
mod workspace;

pub use args::Cli;
pub use exit::Exit;

use crate::engine::{Fault, FaultKind};
use crate::machine::state::State;
use crate::source::Secrets;
use crate::sys::disk::RealDisk;
use args::Verb;
use ask::Left;
use clap::{ArgMatches, FromArgMatches as _};
use environment::{CONFIG, cache_folder, environment};
use std::io;
use workspace::{Invocation, Opened, Workspace};

/// Does what was typed; the exit code of the process.
pub fn run() -> u8 {
    match completions::asked() {
        Ok(true) => return answered(Exit::Done),
        Ok(false) => {}
        Err(error) => {
            ui::written(&error.print());
            return answered(Exit::Usage);
        }
    }
    let typed = args::command()
        .try_get_matches()
        .and_then(|typed| Cli::from_arg_matches(&typed).map(|cli| (cli, typed)));
    let (cli, typed) = match typed {
        Ok(typed) => typed,
        Err(mut error) => {
            usage::add_tip(&mut error);
            if error.use_stderr() && mutation_test::is_asked_for_json() {
                mutation_test::print_usage_error(&error.to_string());
            }
            ui::written(&error.print());
            return answered(if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Done
            });
        }
    };
    dispatch(&cli, &typed).map_or_else(failed, answered)
}

/// The exit code of a verb that ended with this one: nothing is done whose answer was lost.
fn answered(exit: Exit) -> u8 {
    ui::lost()
        .filter(|_| exit == Exit::Done)
        .map_or(exit.code(), |fault| failed(fault.into()))
}

fn failed(error: anyhow::Error) -> u8 {
    if let Some(Left(exit)) = error.downcast_ref() {
        ui::note(&error.to_string());
        return exit.code();
    }
    let fault = error
        .downcast::<Fault>()
        .or_else(|error| error.downcast::<io::Error>().map(Fault::from));
    let fault = fault.unwrap_or_else(|error| {
        Fault::new(
            FaultKind::Internal,
            format!("{error:#}"),
            "please report this",
        )
    });
    let secrets = Secrets::of(environment());
    ui::error(
        &secrets.redact(&fault.to_string()),
        &secrets.redact(&fault.hint),
    );
    Exit::from(fault.kind).code()
}

/// Returns an error with a hint if a condition for the verb does not hold.
fn ensure(holds: bool, what: impl Into<String>, hint: impl Into<String>) -> Result<(), Fault> {
    if holds {
        Ok(())
    } else {
        Err(Fault::setup(what, hint))
    }
}

fn dispatch(cli: &Cli, typed: &ArgMatches) -> anyhow::Result<Exit> {
    let call =
        output::chosen(typed, cli.flags.json).and_then(|format| Invocation::of(&cli.flags, format));
    if let Verb::Gate(args) = &cli.verb
        && args.stop_hook
    {
        return Ok(stop_hook::answer_hook(call, args));
    }
    let call = call?;
    let exit = match &cli.verb {
        Verb::Run(args) => run::run(&call, args)?,
        Verb::Next { optional } => show::next(&call, *optional)?,
        Verb::Status(args) => status::status(&call, args)?,
        Verb::Report(args) => report::report(&call, args)?,
        Verb::Prompt(args) => prompt::prompt(&call, args)?,
        Verb::Diff { id } => show::diff(&call, id.as_deref())?,
        Verb::Accept(by_hand) => manual_verbs::flip(&call, by_hand, true)?,
        Verb::Pause => manual_verbs::pause(&call, true)?,
        Verb::Resume(args) => manual_verbs::resume(&call, args)?,
        Verb::Reopen(by_hand) => manual_verbs::flip(&call, by_hand, false)?,
        Verb::Replay(args) => replay::replay(&call, args)?,
        Verb::Audit(args) => audit::audit(&call, args)?,
        Verb::Bundle { file, thin } => bundle::bundle(&call, file, *thin)?,
        Verb::Snapshot(args) => manual_verbs::snapshot(&call, args)?,
        Verb::Gate(args) if args.push => push_gate::judge_push(&call, args)?,
        Verb::Gate(args) => gate::gate(&call, args)?,
        Verb::MutationTest(args) => mutation_test::mutation_test(&call, args)?,
        Verb::Mcp => mcp::mcp(&call)?,
        Verb::Verify(args) => verify::verify(&call, args)?,
        Verb::Place(args) => place::place(&call, args)?,
        Verb::Stage(args) => stage::stage(&call, args)?,
        Verb::Check(args) => check::check(&call, args)?,
        Verb::Init(args) => init::init(&call, args)?,
        Verb::Doctor => doctor::doctor(&call)?,
        Verb::Generate(what) => manual::generate(what, cli.flags.json)?,
        Verb::Demo { into } => demo::demo(&call, into.as_deref())?,
    };
    ui::name_answers();
    Ok(exit)
}
