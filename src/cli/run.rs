//! `ralph run`.
//!
//! Owns: what is checked before the first iteration, and how the end is told.
//!
//! Promises: a second run in the workspace ends at once with 75; a missing agent and a template that cannot
//! be filled are said before anything begins.
//!
//! Refuses to know: the loop.

use super::args::RunArgs;
use super::exit::Exit;
use super::naming::key_of;
use super::surroundings::environment;
use super::templates;
use super::ui;
use super::workspace::{Place, Workspace, show_problems};
use crate::agent::{AgentCall, CallFacts, agent_call, detect};
use crate::config::{AgentSettings, Role, role_of};
use crate::engine::{Engine, Fault, FaultKind};
use crate::machine::choice::is_required_open;
use crate::machine::event::{Event, Mode};
use crate::machine::policy::Policy;
use crate::machine::state::{Phase, State};
use crate::machine::step;
use crate::machine::stop::Stop;
use crate::report::plain::line;
use crate::sys::disk::RealDisk;
use crate::sys::programs::is_program;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

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

/// Each role that an open box needs has an agent, its program is there, and a prompt can be made for it.
fn needs_agents(workspace: &Workspace, state: &State) -> Result<(), Fault> {
    let roles = needed_roles(state);
    if let Some(missing) = missing_agents(workspace, &roles).into_iter().next() {
        return Err(missing.fault);
    }
    Ok(roles.into_iter().try_for_each(|role| templates::trouble(workspace, role))?)
}

/// The roles of required open boxes.
pub(super) fn needed_roles(state: &State) -> BTreeSet<Role> {
    let open = state.book().rows.iter().filter(|row| is_required_open(row));
    open.filter_map(|row| role_of(&row.key.stage)).collect()
}

/// An agent that could not be started.
pub(super) struct Missing {
    /// What is wrong.
    pub(super) fault: Fault,
    /// The key of the configuration that names it, or should.
    pub(super) key: String,
}

/// The roles without an agent that could be started, each agent once.
pub(super) fn missing_agents(workspace: &Workspace, roles: &BTreeSet<Role>) -> Vec<Missing> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let environment = environment();
    let mut said = BTreeSet::new();
    let mut faults = Vec::new();
    for role in roles {
        let (what, key) = match workspace.settings.agent_for(*role) {
            None => {
                let what = format!("No agent is configured for the role {}.", role.word());
                (what, format!("roles.{}", role.word()))
            }
            Some((name, agent)) => {
                let call = call(workspace, agent, *role, &environment);
                let program = call.argv.first().map(String::as_str).unwrap_or_default();
                match lacks(program, &call.env, &workspace.places.workspace) {
                    None => continue,
                    Some(why) => {
                        let what =
                            format!("The program `{}` of the agent `{name}` {why}.", line(program, 400));
                        let way = if agent.preset.is_some() { "preset" } else { "command" };
                        (what, format!("agents.{name}.{way}"))
                    }
                }
            }
        };
        if said.insert(what.clone()) {
            faults.push(Missing { fault: missing(what, &path.to_string_lossy()), key });
        }
    }
    faults
}

/// The call of an agent as far as it is known before an attempt.
fn call(
    workspace: &Workspace,
    agent: &AgentSettings,
    role: Role,
    environment: &[(String, String)],
) -> AgentCall {
    let facts = CallFacts {
        prompt_file: "",
        task: "",
        task_text: "",
        stage: "",
        role,
        workspace: &workspace.places.workspace.to_string_lossy(),
        iteration: 1,
        attempt: 1,
    };
    agent_call(agent, &facts, environment)
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

/// Why a program cannot be started in the workspace with this environment; `None` when it can. What is
/// relative, in its path or in `PATH`, is meant from there.
fn lacks(program: &str, environment: &[(String, String)], workspace: &Path) -> Option<&'static str> {
    let files: Vec<PathBuf> = if program.contains('/') {
        vec![workspace.join(program)]
    } else {
        let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_str());
        let folders = std::env::split_paths(path.unwrap_or_default());
        folders.map(|folder| workspace.join(folder).join(program)).collect()
    };
    if program.is_empty() {
        return Some("is not named");
    }
    if files.iter().any(|file| is_program(file)) {
        return None;
    }
    let is_there = files.iter().any(|file| file.exists());
    Some(if is_there { "is no file that may be executed" } else { "was not found" })
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
