//! The command line: one verb, one function, one exit code.

mod args;
mod ask;
mod audit;
mod bundle;
mod check;
mod completions;
mod deliver;
mod demo;
mod doctor;
mod edit_tasks;
mod environment;
mod exit;
mod gate;
mod gate_parts;
mod init;
mod inspect;
mod lanes;
mod manual;
mod manual_verbs;
mod mcp;
mod mutation_test;
mod output;
mod own_files;
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
mod workspace;

pub use args::Cli;
pub use exit::Exit;

use crate::engine::{Fault, FaultKind};
use crate::machine::state::State;
use crate::source::Secrets;
use crate::sys::disk::RealDisk;
use crate::sys::log;
use args::Verb;
use ask::Unanswered;
use clap::{ArgMatches, FromArgMatches as _};
use environment::{CONFIG, base_environment, cache_folder};
use std::io;
use workspace::{Invocation, Opened, Workspace};

/// Does what was typed; the exit code of the process.
pub fn run_cli() -> u8 {
    match completions::answer_shell() {
        Ok(true) => return report_exit(Exit::Done),
        Ok(false) => {}
        Err(error) => {
            ui::remember_failure(&error.print());
            return report_exit(Exit::Usage);
        }
    }
    let typed = args::build_command()
        .try_get_matches()
        .and_then(|typed| Cli::from_arg_matches(&typed).map(|cli| (cli, typed)));
    let (cli, typed) = match typed {
        Ok(typed) => typed,
        Err(mut error) => {
            usage::add_tip(&mut error);
            if error.use_stderr() && mutation_test::is_asked_for_json() {
                mutation_test::print_usage_error(&error.to_string());
            }
            ui::remember_failure(&error.print());
            return report_exit(if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Done
            });
        }
    };
    dispatch_verb(&cli, &typed).map_or_else(report_failure, report_exit)
}

/// The exit code of a verb that ended with this one: nothing is done whose answer was lost.
fn report_exit(exit: Exit) -> u8 {
    ui::lost_output()
        .filter(|_| exit == Exit::Done)
        .map_or(exit.exit_code(), |fault| report_failure(fault.into()))
}

fn report_failure(error: anyhow::Error) -> u8 {
    if let Some(Unanswered(exit)) = error.downcast_ref() {
        ui::print_note(&error.to_string());
        return exit.exit_code();
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
    let secrets = Secrets::of(base_environment());
    ui::print_error(
        &secrets.redact(&fault.to_string()),
        &secrets.redact(&fault.hint),
    );
    Exit::from(fault.kind).exit_code()
}

/// Returns an error with a hint if a condition for the verb does not hold.
fn ensure_that(holds: bool, what: impl Into<String>, hint: impl Into<String>) -> Result<(), Fault> {
    if holds {
        Ok(())
    } else {
        Err(Fault::setup_fault(what, hint))
    }
}

/// Starts the log that `-v` and `RALPH_LOG` request, and those of iterations.
fn start_log(verbose: u8, has_iterations: bool) -> Result<(), Fault> {
    let directives = settings::variable_value(log::VARIABLE)?;
    let filter = log::terminal_filter(verbose, directives.as_deref()).map_err(|directive| {
        Fault::setup_fault(
            format!("{}: `{directive}` is not a level.", log::VARIABLE),
            "write `info`, `debug` or `trace`, or targets with levels: `git=debug,process=info,gate=info,disk=trace`",
        )
    })?;
    if filter.is_some() || has_iterations {
        let secrets = Secrets::of(base_environment());
        log::start(filter, has_iterations, secrets, ui::print_foreign);
    }
    Ok(())
}

fn dispatch_verb(cli: &Cli, typed: &ArgMatches) -> anyhow::Result<Exit> {
    // Only these begin iterations, which have a log of their own.
    let has_iterations = matches!(cli.verb, Verb::Run(_) | Verb::Demo { .. });
    let call = start_log(cli.flags.verbose, has_iterations)
        .and_then(|()| output::chosen(typed, cli.flags.json))
        .and_then(|format| Invocation::of_flags(&cli.flags, format))
        .and_then(|call| own_files::open_output(&call, typed).map(|()| call));
    if let Verb::Gate(args) = &cli.verb
        && args.stop_hook
    {
        return Ok(stop_hook::answer_hook(call, args));
    }
    let call = call?;
    let exit = match &cli.verb {
        Verb::Run(args) => run::run_loop(&call, args)?,
        Verb::Next { optional } => show::next(&call, *optional)?,
        Verb::Status(args) => status::run_status(&call, args)?,
        Verb::Report(args) => report::run_report(&call, args)?,
        Verb::Prompt(args) => prompt::print_prompt(&call, args)?,
        Verb::Diff { id } => show::show_diff(&call, id.as_deref())?,
        Verb::Accept(by_hand) => manual_verbs::flip_box(&call, by_hand, true)?,
        Verb::Pause => manual_verbs::pause_runs(&call, true)?,
        Verb::Resume(args) => manual_verbs::resume_runs(&call, args)?,
        Verb::Reopen(by_hand) => manual_verbs::flip_box(&call, by_hand, false)?,
        Verb::Replay(args) => replay::run_replay(&call, args)?,
        Verb::Audit(args) => audit::run_audit(&call, args)?,
        Verb::Bundle { file } => bundle::write_bundle(&call, file)?,
        Verb::Deliver(args) => deliver::run_deliver(&call, args)?,
        Verb::Snapshot(args) => manual_verbs::run_snapshot(&call, args)?,
        Verb::Lanes(args) => lanes::run_lanes(&call, args)?,
        Verb::Gate(args) if args.push => push_gate::judge_push(&call, args)?,
        Verb::Gate(args) => gate::run_gate(&call, args)?,
        Verb::MutationTest(args) => mutation_test::mutation_test(&call, args)?,
        Verb::Mcp => mcp::serve_mcp(&call)?,
        Verb::Verify(args) => verify::run_verify(&call, args)?,
        Verb::Place(args) => place::run_place(&call, args)?,
        Verb::Stage(args) => stage::run_stage(&call, args)?,
        Verb::Check(args) => check::run_check(&call, args)?,
        Verb::Init(args) => init::run_init(&call, args)?,
        Verb::Doctor => doctor::run_doctor(&call)?,
        Verb::Generate(what) => manual::generate(what, cli.flags.json)?,
        Verb::Demo { into } => demo::run_demo(&call, into.as_deref())?,
    };
    ui::name_answers();
    Ok(exit)
}
