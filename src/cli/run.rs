//! `ralph run`.
//!
//! Owns: what is checked before the first iteration, and how the end is told.
//!
//! Promises: a second run in the workspace ends at once with 75; a missing agent is said before anything
//! begins.
//!
//! Refuses to know: the loop.

use super::args::RunArgs;
use super::exit::Exit;
use super::naming::key_of;
use super::ui;
use super::workspace::{Place, Workspace, show_problems};
use crate::agent::detect;
use crate::config::{Role, role_of};
use crate::engine::{Engine, Fault, FaultKind};
use crate::machine::choice::is_required_open;
use crate::machine::event::{Event, Mode};
use crate::machine::policy::Policy;
use crate::machine::state::{Phase, State};
use crate::machine::step;
use crate::machine::stop::Stop;
use crate::sys::disk::RealDisk;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;

/// Runs the loop.
pub(super) fn run(place: &Place<'_>, args: &RunArgs) -> Result<Exit, Fault> {
    let workspace = place.open()?;
    if args.dry_run {
        return dry_run(place, &workspace, args);
    }
    let stop = run_in(&workspace, args)?;
    Ok(told(place, &stop))
}

/// Runs the loop in an open workspace; why it stopped.
pub(super) fn run_in(workspace: &Workspace, args: &RunArgs) -> Result<Stop, Fault> {
    let _lock = workspace.lock()?;
    let known = workspace.read_state()?;
    needs_agents(workspace, &known)?;
    let retry = families(&known, &args.retry)?;
    // The engine folds the journal anew: two states at a time would be the peak of a long run's memory.
    drop(known);
    let mut policy = workspace.policy();
    policy.optional = args.optional;
    policy.iterations = args.max_iterations.or(policy.iterations);
    if args.once {
        policy.iterations = Some(1);
    }
    let mut outside = workspace.outside()?;
    let mut disk = RealDisk::new();
    let mut engine =
        Engine::open(&mut disk, &mut outside, workspace.places.clone(), workspace.grammar.clone())?;
    engine.drive(vec![workspace.started(Mode::Loop, policy, retry), Event::Resumed])?;
    match &engine.state().phase {
        Phase::Stopped(stop) => Ok(stop.clone()),
        phase => match engine.state().stopping {
            Some(crate::machine::event::StopRequest::Signal { signal }) => Ok(Stop::Interrupted { signal }),
            _ => Err(Fault::new(
                FaultKind::Internal,
                format!("The run ended in the phase {}.", phase.name()),
                "please report this with the journal",
            )),
        },
    }
}

/// The families of these boxes.
fn families(state: &State, ids: &[String]) -> Result<Vec<String>, Fault> {
    ids.iter().map(|id| key_of(state, id).map(|key| key.family)).collect()
}

/// Shows why a run stopped; its exit code.
pub(super) fn told(place: &Place<'_>, stop: &Stop) -> Exit {
    let exit = Exit::from(stop);
    if place.json {
        ui::json(
            &json!({ "stopped": stop, "why": stop.to_string(), "hint": stop.hint(), "exit": exit.code() }),
        );
        return exit;
    }
    match stop {
        Stop::AllDone => ui::line(&stop.to_string()),
        Stop::Refused { problems } => show_problems(problems, stop.hint()),
        _ => {
            ui::note(&format!("stopped: {stop}"));
            ui::note(&format!("hint: {}", stop.hint()));
        }
    }
    exit
}

/// Each role that an open box needs has an agent, and its program is there.
fn needs_agents(workspace: &Workspace, state: &State) -> Result<(), Fault> {
    let open = state.book().rows.iter().filter(|row| is_required_open(row));
    let roles: BTreeSet<Role> = open.filter_map(|row| role_of(&row.key.stage)).collect();
    missing_agents(workspace, &roles).into_iter().next().map_or(Ok(()), Err)
}

/// The roles without an agent that could be started, one fault each.
pub(super) fn missing_agents(workspace: &Workspace, roles: &BTreeSet<Role>) -> Vec<Fault> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = path.to_string_lossy();
    let mut said = BTreeSet::new();
    let mut faults = Vec::new();
    for role in roles {
        let what = match workspace.settings.agent_for(*role) {
            None => format!("No agent is configured for the role {}.", role.word()),
            Some((name, agent)) => {
                let program = agent.command.first().map(String::as_str).unwrap_or_default();
                if is_there(program, &path, &workspace.places.workspace) {
                    continue;
                }
                format!("The program `{program}` of the agent `{name}` was not found.")
            }
        };
        if said.insert(what.clone()) {
            faults.push(missing(what, &path));
        }
    }
    faults
}

fn missing(what: String, path: &str) -> Fault {
    let found = detect(path);
    let found = if found.is_empty() {
        "no agent CLI that ralph knows is on PATH".to_owned()
    } else {
        format!("on PATH are: {}", found.join(", "))
    };
    let hint = format!("name one under agents: in .ralph/config.yaml ({found})");
    Fault::new(FaultKind::Setup, what, hint)
}

fn is_there(program: &str, path: &str, workspace: &Path) -> bool {
    if program.contains('/') {
        return workspace.join(program).is_file();
    }
    !program.is_empty() && path.split(':').any(|folder| Path::new(folder).join(program).is_file())
}

fn dry_run(place: &Place<'_>, workspace: &Workspace, args: &RunArgs) -> Result<Exit, Fault> {
    let state = workspace.read_boxes()?;
    needs_agents(workspace, &state)?;
    let retry = families(&state, &args.retry)?;
    // What the start of that run makes of the state, blocks that it clears included.
    let policy = workspace.policy();
    let policy = Policy { optional: args.optional, ..policy };
    let (state, _) = step(state, &workspace.started(Mode::Loop, policy, retry))?;
    Ok(super::show::choice(place, &state, &state.policy))
}
