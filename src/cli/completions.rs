//! Completions: a shell script that gets tasks, gates and agents from ralph.
//!
//! Promise: an invalid workspace leads to no messages, only to fewer candidates.

use super::args::build_command;
use super::output::Format;
use super::settings::GlobalFlags;
use super::{Exit, Invocation, Workspace, ui};
use crate::source::text::line;
use clap::{Arg, Command};
use clap_complete::env::Shells;
use clap_complete::{ArgValueCandidates, CompleteEnv, CompletionCandidate, Shell};
use std::io;

/// The variable by which the script asks; its value is the shell.
const VARIABLE: &str = "RALPH_COMPLETE";
/// Characters of a task's text next to its id.
const CHARS: usize = 60;

/// Answers a shell that asks for candidates; false if none does.
pub(super) fn answer_shell() -> clap::error::Result<bool> {
    let folder = std::env::current_dir().ok();
    CompleteEnv::with_factory(with_candidates)
        .var(VARIABLE)
        .try_complete(std::env::args_os(), folder.as_deref())
}

/// `ralph generate completions`.
pub(super) fn print_script(shell: Shell) -> io::Result<Exit> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let shell = shells
        .completer(&shell.to_string())
        .ok_or_else(|| io::Error::other("an unknown shell"))?;
    shell.write_registration(VARIABLE, "ralph", "ralph", "ralph", &mut script)?;
    ui::print_line(String::from_utf8_lossy(&script).trim_end());
    Ok(Exit::Done)
}

fn with_candidates() -> Command {
    build_command()
        .mut_args(known)
        .mut_subcommands(|verb| verb.mut_args(known))
}

/// The argument with its candidates, if they are those of the workspace.
fn known(argument: Arg) -> Arg {
    let candidates = match argument.get_id().as_str() {
        "id" | "ids" | "retry" => task_candidates,
        "gate" => gates_and_tasks,
        "agent" => agent_candidates,
        _ => return argument,
    };
    argument.add(ArgValueCandidates::new(candidates))
}

fn find_workspace() -> Option<Workspace> {
    Invocation::of_flags(&GlobalFlags::default(), Format::Human)
        .and_then(|call| call.open_workspace())
        .ok()
}

fn task_candidates() -> Vec<CompletionCandidate> {
    let Some(state) = find_workspace().and_then(|workspace| workspace.read_boxes().ok()) else {
        return Vec::new();
    };
    state
        .spec_state()
        .rows
        .iter()
        .map(|row| {
            let text = line(&row.text, CHARS);
            CompletionCandidate::new(state.spec_state().written_name(&row.key))
                .help(Some(text.into()))
        })
        .collect()
}

fn gates_and_tasks() -> Vec<CompletionCandidate> {
    let gates = find_workspace()
        .into_iter()
        .flat_map(|workspace| workspace.settings.gates.into_keys());
    gates
        .map(CompletionCandidate::new)
        .chain(task_candidates())
        .collect()
}

fn agent_candidates() -> Vec<CompletionCandidate> {
    let names = find_workspace()
        .into_iter()
        .flat_map(|workspace| workspace.settings.agents.into_keys());
    names.map(CompletionCandidate::new).collect()
}
