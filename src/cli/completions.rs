//! Completions: a shell script that gets tasks, gates and agents from ralph.
//!
//! Promise: an invalid workspace leads to no messages, only to fewer candidates.

use super::args::command;
use super::output::Format;
use super::settings::GlobalFlags;
use super::{Exit, Invocation, Workspace, ui};
use crate::source::text::line;
use crate::task::Row;
use clap::{Arg, Command};
use clap_complete::env::Shells;
use clap_complete::{ArgValueCandidates, CompleteEnv, CompletionCandidate, Shell};
use std::io;

/// The variable by which the script asks; its value is the shell.
const VARIABLE: &str = "RALPH_COMPLETE";
/// Characters of a task's text next to its id.
const CHARS: usize = 60;

/// Answers a shell that asks for candidates; false if none does.
pub(super) fn asked() -> clap::error::Result<bool> {
    let folder = std::env::current_dir().ok();
    CompleteEnv::with_factory(with_candidates)
        .var(VARIABLE)
        .try_complete(std::env::args_os(), folder.as_deref())
}

/// `ralph generate completions`.
pub(super) fn script(shell: Shell) -> io::Result<Exit> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let shell = shells
        .completer(&shell.to_string())
        .ok_or_else(|| io::Error::other("an unknown shell"))?;
    shell.write_registration(VARIABLE, "ralph", "ralph", "ralph", &mut script)?;
    ui::line(String::from_utf8_lossy(&script).trim_end());
    Ok(Exit::Done)
}

fn with_candidates() -> Command {
    command()
        .mut_args(known)
        .mut_subcommands(|verb| verb.mut_args(known))
}

/// The argument with its candidates, if they are those of the workspace.
fn known(argument: Arg) -> Arg {
    let candidates = match argument.get_id().as_str() {
        "id" | "ids" | "retry" => tasks,
        "gate" => gates_and_tasks,
        "agent" => agents,
        _ => return argument,
    };
    argument.add(ArgValueCandidates::new(candidates))
}

fn workspace() -> Option<Workspace> {
    Invocation::of(&GlobalFlags::default(), Format::Human)
        .and_then(|call| call.open())
        .ok()
}

fn tasks() -> Vec<CompletionCandidate> {
    let Some(state) = workspace().and_then(|workspace| workspace.read_boxes().ok()) else {
        return Vec::new();
    };
    let candidate = |row: &Row| {
        let text = line(&row.text, CHARS);
        CompletionCandidate::new(state.spec_state().name(&row.key)).help(Some(text.into()))
    };
    state.spec_state().rows.iter().map(candidate).collect()
}

fn gates_and_tasks() -> Vec<CompletionCandidate> {
    let gates = workspace()
        .into_iter()
        .flat_map(|workspace| workspace.settings.gates.into_keys());
    gates.map(CompletionCandidate::new).chain(tasks()).collect()
}

fn agents() -> Vec<CompletionCandidate> {
    let names = workspace()
        .into_iter()
        .flat_map(|workspace| workspace.settings.agents.into_keys());
    names.map(CompletionCandidate::new).collect()
}
