//! `ralph run`: the loop, and how its end is shown.

use super::inspect::{can_start, needed_roles};
use super::status::end_summary;
use super::task_ids::key_of;
use super::{Exit, Fault, FaultKind, Invocation, RealDisk, Workspace, cache_folder, ui};
use crate::engine::{Engine, taken_families};
use crate::machine::choice;
use crate::machine::event::{Event, Mode, StopRequest};
use crate::machine::policy::Policy;
use crate::machine::state::{Phase, State};
use crate::machine::step;
use crate::machine::stop::StopReason;
use crate::report::estimate::Estimate;
use crate::sys::cache_file;
use clap::Args;
use serde_json::json;

/// Flags of `run`.
#[derive(Debug, Default, Args)]
pub struct RunArgs {
    /// One iteration, then stop
    #[arg(long)]
    pub once: bool,
    /// Stop after so many iterations
    #[arg(long, value_name = "N")]
    pub max_iterations: Option<u64>,
    /// Show what would be done first, change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Take optional boxes (`[ ]*`) too
    #[arg(long)]
    pub optional: bool,
    /// Take only these tasks with what is below them
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Do up to N independent tasks at once, ahead of their turn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub lanes: Option<u32>,
    /// Clear the block and the counters of a task
    #[arg(long, value_name = "ID")]
    pub retry: Vec<String>,
}

pub(super) fn run_loop(call: &Invocation, args: &RunArgs) -> Result<Exit, Fault> {
    let workspace = call.open_workspace()?;
    if args.dry_run {
        return dry_run(call, &workspace, args);
    }
    let end = run_in(&workspace, args)?;
    // The reason for the stop is printed in any case.
    let lines = if call.json {
        Vec::new()
    } else {
        end_summary(call).unwrap_or_default()
    };
    let chain = (!lines.is_empty()).then(|| format!("chain: {}", end.head));
    lines
        .iter()
        .chain(&chain)
        .for_each(|line| ui::print_note(line));
    Ok(show_stop(call, &end))
}

/// The end of a run.
pub(super) struct End {
    /// The reason for the stop.
    pub(super) stop: StopReason,
    /// The head of the journal's chain: kept elsewhere, it is an anchor for `ralph replay`.
    pub(super) head: String,
    /// `hooks.anchor` keeps it elsewhere; false without such a hook.
    pub(super) anchored: Result<bool, Fault>,
    /// The next step for a person.
    hint: String,
    /// Gates whose tick describes another commit than HEAD, a sentence each.
    older_gates: Vec<String>,
}

/// Runs the loop in an open workspace until there is a reason to stop.
pub(super) fn run_in(workspace: &Workspace, args: &RunArgs) -> Result<End, Fault> {
    let _lock = workspace.take_lock()?;
    let known = workspace.read_state()?;
    can_start(workspace, &needed_roles(&known))?;
    let retry = families_of(&known, &args.retry)?;
    let only = families_of(&known, &args.only)?;
    for line in &known.spec_state().unread {
        ui::print_note(&format!("warning: {line}"));
    }
    if let Some(estimate) = Estimate::of_state(&known) {
        let limit = workspace.run_policy().cost.run;
        ui::print_note(&estimate.estimate_line(limit));
    }
    // The engine folds the journal again: two states at a time would be the peak of a long run's
    // memory.
    drop(known);
    let mut policy = Policy {
        optional: args.optional,
        only,
        lanes: args.lanes.unwrap_or(0),
        taken: taken_families(&cache_folder()?, &workspace.places.workspace)?,
        ..workspace.run_policy()
    };
    policy.iterations = args
        .once
        .then_some(1)
        .or(args.max_iterations)
        .or(policy.iterations);
    // Attempts may write into the cache.
    cache_file::believe_own_only();
    let mut outside = workspace.open_outside()?;
    let mut disk = RealDisk::new();
    let mut engine = Engine::open_journal(
        &mut disk,
        &mut outside,
        workspace.places.clone(),
        workspace.rules.clone(),
    )?;
    let driven = engine.drive_effects(vec![
        workspace.start_event(Mode::Loop, policy, retry),
        Event::Resumed,
    ]);
    if let Err(fault) = driven {
        // The first fault is the one to report.
        let _ = engine.end_lanes();
        return Err(fault);
    }
    let stop = match (
        &engine.current_state().phase,
        &engine.current_state().stopping,
    ) {
        (Phase::Stopped(stop), _) => stop.clone(),
        (_, Some(StopRequest::Signal { signal })) => StopReason::Interrupted { signal: *signal },
        (phase, _) => {
            let what = format!("The run ended in the phase {}.", phase.name());
            return Err(Fault::new(
                FaultKind::Internal,
                what,
                "please report this with the journal",
            ));
        }
    };
    engine.end_lanes()?;
    let (head, hint) = (
        engine.chain_head().to_owned(),
        choice::hint(engine.current_state().spec_state(), &stop),
    );
    let state = engine.current_state().clone();
    drop(engine);
    outside.remove_done_lanes(&state)?;
    let older_gates = outside.older_gates(&state);
    Ok(End {
        stop,
        anchored: outside.anchor_head(&head),
        head,
        hint,
        older_gates,
    })
}

/// The families of these boxes.
fn families_of(state: &State, ids: &[String]) -> Result<Vec<String>, Fault> {
    ids.iter()
        .map(|id| key_of(state, id).map(|key| key.family))
        .collect()
}

/// Shows why a run stopped; its exit code.
pub(super) fn show_stop(
    call: &Invocation,
    End {
        stop,
        head,
        anchored,
        hint,
        older_gates,
    }: &End,
) -> Exit {
    let exit = Exit::from(stop);
    if let Err(fault) = anchored {
        ui::print_error(&fault.to_string(), &fault.hint);
    }
    let hint = &ui::with_spec(hint);
    if call.json {
        let (why, code) = (stop.to_string(), exit.exit_code());
        let anchored = matches!(anchored, Ok(true));
        ui::print_json(&json!({
            "stopped": stop, "why": why, "hint": hint, "exit": code, "head": head, "anchored": anchored,
            "older_gates": older_gates,
        }));
        return exit;
    }
    for older in older_gates {
        ui::print_note(&format!("note: {older}"));
    }
    match stop {
        StopReason::AllDone | StopReason::OnlyDone { .. } => ui::print_line(&stop.to_string()),
        StopReason::Refused { problems } => {
            for (at, problem) in problems.iter().enumerate() {
                ui::print_error(problem, if at + 1 == problems.len() { hint } else { "" });
            }
        }
        _ => {
            ui::print_note(&format!("stopped: {stop}"));
            ui::print_note(&format!("hint: {hint}"));
        }
    }
    exit
}

fn dry_run(call: &Invocation, workspace: &Workspace, args: &RunArgs) -> Result<Exit, Fault> {
    let state = workspace.read_boxes()?;
    can_start(workspace, &needed_roles(&state))?;
    let retry = families_of(&state, &args.retry)?;
    // The state that the start of that run leads to, including the blocks that it clears.
    let policy = Policy {
        optional: args.optional,
        only: families_of(&state, &args.only)?,
        ..workspace.run_policy()
    };
    if let Some(estimate) = Estimate::of_state(&state).filter(|_| !call.json) {
        ui::print_note(&estimate.estimate_line(policy.cost.run));
    }
    let (state, _) = step(state, &workspace.start_event(Mode::Loop, policy, retry))?;
    Ok(super::show::show_choice(call, &state, &state.policy))
}
