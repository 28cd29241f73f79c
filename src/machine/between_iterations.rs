//! Between iterations: people's edits and leftovers, then the next iteration or the end of the run.
//!
//! A person's edit is obeyed and recorded; nothing begins on a work tree that a person left dirty.

use super::begin::begin;
use super::boxes::{edited, take_over};
use super::budget;
use super::choice::{NextStep, all_done, approval, next, stuck};
use super::effect::Effect;
use super::event::{Mode, StopRequest, TasksSeen};
use super::facts::{Dirt, InputDigests, PackageState, Snapshot, dirt_names, full_path};
use super::lanes;
use super::state::{Leftovers, Phase, SpecState, State, TickedBy};
use super::stop::StopReason;
use crate::source::text::names;
use crate::task::TaskKey;
use std::collections::BTreeMap;

/// Remembers the time, the packages and the inputs of a survey.
pub(super) fn note_survey(
    state: &mut State,
    snapshot: &Snapshot,
    now: u64,
    inputs: Option<&InputDigests>,
    shared_limits: &BTreeMap<String, u64>,
) {
    state.run.now = state.run.now.max(now);
    state.heads = snapshot.heads();
    state.unstarted = false;
    super::waits::learn_limits(state, shared_limits);
    if let Some(inputs) = inputs {
        state.inputs = Some(inputs.clone());
    }
}

/// tasks.md and the packages were read.
pub(super) fn surveyed(state: &mut State, tasks: &TasksSeen, snapshot: &Snapshot) -> Vec<Effect> {
    // An agent of a lane can write the file as well as a person, and nothing shows who did.
    if state.run.working_lanes > 0 && is_edited(state.spec_state(), tasks) {
        state.run.idle += 1;
        // The end of the run restores the file too, so an agent that edits it in a loop keeps no run from its end.
        if let Some(stop) = no_progress(state) {
            return finish(stop);
        }
        state.begin_iteration();
        state.phase = Phase::RestoringTasks {
            then: Box::new(Phase::Idle),
        };
        return super::owed(state);
    }
    if !tasks.problems.is_empty() {
        return finish(StopReason::Refused {
            problems: tasks.problems.clone(),
        });
    }
    if let Some(iteration) = state.unwatched
        && let Some(reason) =
            edited_unwatched(state.spec_state(), tasks, iteration, state.iteration + 1)
    {
        state.begin_iteration();
        let stop = Phase::Stopped(StopReason::Blocked {
            reasons: vec![reason],
        });
        let then = if state.mode == Mode::Verb {
            Phase::Idle
        } else {
            stop
        };
        state.phase = Phase::RestoringTasks {
            then: Box::new(then),
        };
        return super::owed(state);
    }
    take_over(state, tasks, TickedBy::Person, &snapshot.heads());
    if state.mode == Mode::Verb {
        return Vec::new();
    }
    let foreign = foreign_dirt(state, snapshot);
    if !foreign.is_empty() {
        return finish(StopReason::Dirty { files: foreign });
    }
    let stop = match next(state.spec_state(), &state.policy) {
        NextStep::Take(key) => match reason_to_stop(state, &key) {
            None => return begin_or_clear(state, &key, snapshot),
            Some(StopReason::Budget { what }) if state.policy.budget_asks => {
                return ask_for_budget(state, key, &what);
            }
            Some(stop) => stop,
        },
        NextStep::Stuck(reasons) => stuck(state.spec_state(), reasons),
        NextStep::Approve(key) => approval(state.spec_state(), &key),
        NextStep::AllDone => all_done(state.spec_state(), &state.policy),
    };
    finish(stop)
}

/// Pauses the run until a person allows more.
fn ask_for_budget(state: &mut State, key: TaskKey, what: &str) -> Vec<Effect> {
    let why = budget::question(what);
    let notify = Effect::Notify {
        event: "waiting",
        task: state.spec_state().written_name(&key),
        why: why.clone(),
    };
    state.phase = Phase::OverBudget { key, why };
    std::iter::once(notify).chain(super::owed(state)).collect()
}

/// True if tasks.md is not as ralph left it. Before the first reading nothing is known of it.
fn is_edited(spec: &SpecState, tasks: &TasksSeen) -> bool {
    let is_known = !spec.skeleton.is_empty();
    is_known && (tasks.skeleton != spec.skeleton || !edited(spec, tasks).is_empty())
}

/// Returns why the run ends on an edit of tasks.md whose author is unknown.
///
/// The text names the iteration that keeps the edit. `None` if the file is as ralph left it.
fn edited_unwatched(
    spec: &SpecState,
    tasks: &TasksSeen,
    iteration: u64,
    kept: u64,
) -> Option<String> {
    if !is_edited(spec, tasks) {
        return None;
    }
    let ticked = names(
        edited(spec, tasks)
            .iter()
            .filter(|(_, mark)| mark.is_done())
            .map(|(key, _)| key.to_string()),
        10,
    );
    let ticked = if ticked.is_empty() { "none" } else { &ticked };
    Some(format!(
        "It is unknown who edited tasks.md after iteration {iteration} (ticked: {ticked}): a process killed its \
         supervisor there and may have lived on. The file was restored; the edited one is saved as \
         .ralph/state/iter-{kept}/tasks-of-the-agent.md. Once a person has used `ralph accept` or `ralph reopen`, edits \
         count again."
    ))
}

/// Returns the effects that end a run.
///
/// Hooks are called first, except for a run that could not begin: the person who started it sees
/// the reason.
pub(super) fn finish(stop: StopReason) -> Vec<Effect> {
    let event = match stop {
        StopReason::AllDone | StopReason::Gaps { .. } => "done",
        StopReason::Blocked { .. } | StopReason::Stuck { .. } | StopReason::Approval { .. } => {
            "blocked"
        }
        StopReason::Refused { .. } | StopReason::Dirty { .. } => return vec![Effect::Finish(stop)],
        _ => "stop",
    };
    vec![
        Effect::Notify {
            event,
            task: String::new(),
            why: stop.to_string(),
        },
        Effect::Finish(stop),
    ]
}

fn reason_to_stop(state: &State, key: &TaskKey) -> Option<StopReason> {
    let run = &state.run;
    if let Some(why) = state.stopping {
        return Some(match why {
            StopRequest::Signal { signal } => StopReason::Interrupted { signal },
            StopRequest::Wall => StopReason::Wall,
        });
    }
    if let Some(limit) = state.policy.iterations
        && run.iterations >= limit
    {
        return Some(StopReason::Iterations {
            count: run.iterations,
        });
    }
    if let Some(what) = budget::used_up(state, key) {
        return Some(StopReason::Budget { what });
    }
    no_progress(state)
}

fn no_progress(state: &State) -> Option<StopReason> {
    let idle = state.run.idle;
    (idle >= state.policy.idle_iterations).then_some(StopReason::NoProgress { iterations: idle })
}

/// Tracked changes that were not there after the last attempt: a person's.
fn foreign_dirt(state: &State, snapshot: &Snapshot) -> Vec<String> {
    let mut foreign = Vec::new();
    for package in &snapshot.packages {
        let known = state
            .last_after
            .as_ref()
            .and_then(|after| after.package(&package.name));
        for dirt in &package.dirt {
            if known.is_none_or(|known| !known.dirt.contains(dirt)) {
                foreign.push(full_path(&package.name, &dirt.path));
            }
        }
    }
    foreign
}

fn begin_or_clear(state: &mut State, key: &TaskKey, snapshot: &Snapshot) -> Vec<Effect> {
    let left = still_left(state.leftovers.as_ref(), snapshot);
    if left.is_empty() {
        state.leftovers = None;
    } else if state
        .leftovers
        .as_ref()
        .is_some_and(|leftovers| leftovers.key != *key)
    {
        state.phase = Phase::Clearing { leftovers: left };
        return super::owed(state);
    }
    if left.is_empty() && lanes::is_asked(state, key) {
        state.phase = Phase::Looking {
            key: key.clone(),
            snapshot: snapshot.clone(),
        };
        return super::owed(state);
    }
    begin(state, key, snapshot, dirt_names(&left))
}

/// The leftovers that are still in the work tree, by package, as they are there now.
pub(super) fn still_left(
    leftovers: Option<&Leftovers>,
    snapshot: &Snapshot,
) -> BTreeMap<String, Vec<Dirt>> {
    uncommitted(snapshot, |package, dirt| {
        let known = leftovers.and_then(|leftovers| leftovers.dirt.get(&package.name));
        known.is_some_and(|known| known.iter().any(|old| old.path == dirt.path))
    })
}

/// The uncommitted files that are wanted, by package.
pub(super) fn uncommitted(
    snapshot: &Snapshot,
    wanted: impl Fn(&PackageState, &Dirt) -> bool,
) -> BTreeMap<String, Vec<Dirt>> {
    let mut by_package = BTreeMap::new();
    for package in &snapshot.packages {
        let all = package.dirt.iter().chain(&package.untracked);
        let found: Vec<Dirt> = all.filter(|dirt| wanted(package, dirt)).cloned().collect();
        if !found.is_empty() {
            by_package.insert(package.name.clone(), found);
        }
    }
    by_package
}
