//! The machine: `step(State, Event) -> (State, Vec<Effect>)` decides everything and touches nothing.
//!
//! The same events give the same state and effects on any machine. The effects that are due after a restart are a function of
//! the phase ([`owed`]); there is no separate recovery.
//!
//! The phases, and the events that lead from one to the next (in parentheses: only when needed):
//!
//! ```text
//! idle ─ Surveyed ─┬─► (clearing) ─ LeftoversKept ─► idle
//!                  ├─► (looking) ─ LaneSeen ─┬─► attempting
//!                  │                         └─► (playing) ─ AgentEnded ─► observing
//!                  ├─► attempting ─ AgentEnded ─► (committing) ─ LeftCommitted ─► observing ─ Observed ─►
//!                  │       (restoring) ─ TasksRestored, WorkPutBack ─► (checking) ─ Checked ─► applying
//!                  └─► judging ─ GateEnded ─► (restoring-tasks) ─ TasksRestored ─► applying
//! applying ─ BoxesFlipped, ProgressAppended ─┬─► idle
//!                                            ├─► waiting ─ Waited ─► idle
//!                                            └─► stopped
//! idle ─ Surveyed ─► over-budget ─ BudgetAllowed ─► idle
//! ```
//!
//! Only these functions tick a box. They call `Flips::tick` (in `boxes`, private); `Flips` also unticks boxes:
//!
//! | function | evidence |
//! |---|---|
//! | `accept::accept` | [`decide::decide`] accepted the attempt: commits, checks, a reviewer's verdict |
//! | `accept::final_gate` | the validation report was written and no other required box is open |
//! | `gate::ended` | the gate's verdict is PASS or SKIP |
//! | `boxes::flip_parents` | the last required child of a parent was ticked |
//! | `people::accepted` | a person accepted it: `ralph accept` |
//!
//! A box that was ticked in tasks.md itself between two attempts is a person's: `boxes::take_over` remembers it. If a
//! process may have outlived its supervisor, its author is unknown, and `between_iterations` restores the file.

mod accept;
mod agent_end;
pub mod asked;
mod attempt;
mod begin;
mod between_iterations;
mod boxes;
pub mod budget;
pub mod choice;
pub mod commit_only;
mod conclusion;
mod consequences;
pub mod decide;
pub mod effect;
pub mod event;
pub mod facts;
pub mod fallback;
mod gate;
pub mod hierarchy;
pub mod invalidation;
pub mod lanes;
mod people;
pub mod policy;
mod process_end;
mod progress;
mod rework;
mod run_counters;
pub mod state;
pub mod stop;
pub mod used;
mod waits;

pub use begin::{agent_order, gate_order};
pub use gate::survivor_details;

use effect::Effect;
use event::Event;
use state::{Findings, Phase, State, TickedBy};

/// An event that cannot follow on the state: the journal is not one of ralph's, or ralph has a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impossible(pub String);

/// Takes one fact: the state after it, and what is to be done now.
pub fn step(mut state: State, event: &Event) -> Result<(State, Vec<Effect>), Impossible> {
    let effects = match event {
        Event::RunStarted {
            spec,
            policy,
            mode,
            retry,
            ..
        } => {
            state.spec.clone_from(spec);
            state.policy = policy.clone();
            state.mode = *mode;
            begin_run(&mut state, retry);
            Vec::new()
        }
        Event::Resumed => resumed(&mut state),
        Event::StopRequested { why } => {
            state.stopping = Some(*why);
            Vec::new()
        }
        Event::RunStopped { stop } => {
            state.spec_state_mut().last_stop = Some(stop.clone());
            state.phase = Phase::Stopped(stop.clone());
            state.run.out_of_quota.clear();
            Vec::new()
        }
        Event::Paused { .. } => Vec::new(),
        Event::FamilyPinned { family, snapshot } => people::pinned(&mut state, family, snapshot),
        Event::GateRequested {
            key,
            snapshot,
            changes,
        } => begin::begin_gate(&mut state, key, snapshot, changes.clone()),
        Event::BoxAccepted {
            key,
            reason,
            snapshot,
        } => people::accepted(&mut state, key, reason, snapshot),
        Event::BoxReopened { key, reason } => people::reopened(&mut state, key, reason),
        _ => in_phase(&mut state, event)?,
    };
    Ok((state, effects))
}

/// Starts a run and resets the families of `--retry`.
fn begin_run(state: &mut State, retry: &[String]) {
    // The work of a lane that the last run took may still be judged.
    let lane =
        Some(std::mem::take(&mut state.run.agent)).filter(|agent| lanes::number(agent).is_some());
    state.run = state::RunCounters {
        agent: lane.unwrap_or_default(),
        ..state::RunCounters::default()
    };
    state.stopping = None;
    match &mut state.phase {
        Phase::Stopped(_) => state.phase = Phase::Idle,
        Phase::RestoringTasks { then } if matches!(**then, Phase::Stopped(_)) => {
            **then = Phase::Idle;
        }
        _ => {}
    }
    for family in retry {
        let known = state.spec_state_mut().family_mut(family);
        known.blocked = None;
        known.reworks = 0;
        known.used_before = known.used;
        known.allowed = budget::Allowance::default();
        for stage in known.stages.values_mut() {
            stage.attempts = 0;
            stage.listed.fruitless.clear();
        }
    }
}

/// The state was folded from the journal: closes what ralph's own end cut short, and owes the rest.
fn resumed(state: &mut State) -> Vec<Effect> {
    if let Phase::Judging { order } = &state.phase {
        let order = order.clone();
        let lines = vec!["The gate was interrupted by the end of ralph; it runs again.".to_owned()];
        let body = conclusion::text("INTERRUPTED", lines);
        let effects = conclusion::conclude(
            state,
            &order.key,
            conclusion::IterationOutcome::default(),
            body,
            true,
        );
        return restore_tasks_first(state, effects);
    }
    if matches!(
        state.phase,
        Phase::Waiting { .. } | Phase::OverBudget { .. } | Phase::Looking { .. }
    ) {
        state.phase = Phase::Idle;
    }
    owed(state)
}

/// Restores tasks.md before the effects of the phase, which are due again afterwards.
fn restore_tasks_first(state: &mut State, mut effects: Vec<Effect>) -> Vec<Effect> {
    let later = owed(state);
    effects.retain(|effect| !later.contains(effect));
    state.phase = Phase::RestoringTasks {
        then: Box::new(std::mem::take(&mut state.phase)),
    };
    effects.extend(owed(state));
    effects
}

/// Takes what the phase waits for: an iteration from its beginning to its end.
fn in_phase(state: &mut State, event: &Event) -> Result<Vec<Effect>, Impossible> {
    match (event, std::mem::take(&mut state.phase)) {
        (
            Event::Surveyed {
                tasks,
                snapshot,
                now,
                inputs,
                others,
                shared_limits,
            },
            Phase::Idle,
        ) => {
            state.take_files(tasks);
            if others.is_some() {
                state.others.clone_from(others);
            }
            between_iterations::note_survey(state, snapshot, *now, inputs.as_ref(), shared_limits);
            return Ok(between_iterations::surveyed(state, tasks, snapshot));
        }
        (Event::LeftoversKept { snapshot, .. }, Phase::Clearing { .. }) => {
            state.leftovers = None;
            state.last_after = Some(snapshot.clone());
        }
        (Event::TasksRestored { tasks, .. }, Phase::RestoringTasks { then }) => {
            let heads = state.last_heads();
            boxes::take_over(state, tasks, TickedBy::Ralph, &heads);
            state.phase = *then;
        }
        (
            Event::GateEnded {
                report,
                heads,
                changes,
                tasks_changed,
                ..
            },
            Phase::Judging { order },
        ) => {
            let effects = gate::ended(state, &order, report, heads, changes);
            return Ok(if *tasks_changed {
                restore_tasks_first(state, effects)
            } else {
                effects
            });
        }
        (Event::BoxesFlipped { flips }, phase @ Phase::Applying { .. }) => {
            boxes::set_marks(state.spec_state_mut(), flips);
            state.phase = flipped(phase);
        }
        (Event::ProgressAppended, Phase::Applying { notify, then, .. }) => {
            state.phase = *then;
            return Ok(notify.into_iter().chain(after(state)).collect());
        }
        (Event::Waited, Phase::Waiting { seconds, .. }) => state.run.now += seconds,
        (Event::BudgetAllowed { more }, Phase::OverBudget { key, .. }) => {
            budget::allow(state, &key, *more);
        }
        (event, phase) => return in_attempt(state, event, phase),
    }
    Ok(after(state))
}

/// Takes the next event of an attempt: the agent's end, the commit, the observation, restored files, a check.
fn in_attempt(state: &mut State, event: &Event, phase: Phase) -> Result<Vec<Effect>, Impossible> {
    match (event, phase) {
        (
            Event::LaneSeen {
                offer,
                why_not,
                working,
            },
            Phase::Looking { key, snapshot },
        ) => {
            state.run.working_lanes = *working;
            return Ok(lanes::seen(
                state,
                key,
                snapshot,
                offer.as_ref(),
                why_not.as_deref(),
            ));
        }
        (Event::Waited, Phase::Looking { .. }) => {}
        (Event::AgentEnded(agent), Phase::Playing { key, before, .. }) => {
            attempt::agent_ended(state, key, before, true, agent);
        }
        (Event::AgentSpawned { pid, started, .. }, Phase::Attempting { key, before, .. }) => {
            state.phase = Phase::Attempting {
                key,
                before,
                process: Some((*pid, *started)),
            };
            return Ok(vec![Effect::AwaitAgent]);
        }
        (
            Event::AgentEnded(agent),
            Phase::Attempting {
                key,
                before,
                process,
            },
        ) => {
            attempt::agent_ended(state, key, before, process.is_some(), agent);
        }
        (Event::LeftCommitted { .. }, Phase::Committing(attempt)) => {
            state.phase = Phase::Observing(attempt);
        }
        (
            Event::Observed {
                observation,
                claims,
                tasks_changed,
                validation,
            },
            Phase::Observing(attempt),
        ) => {
            let (observation, validation) = ((**observation).clone(), validation.clone());
            state.take_report(&attempt.key, validation.as_ref());
            let seen = Findings {
                observation,
                claims: claims.clone(),
                validation,
                ..Findings::default()
            };
            return Ok(attempt::observed(state, attempt, seen, *tasks_changed));
        }
        (
            Event::TasksRestored {
                tasks, reworded, ..
            },
            Phase::Restoring {
                attempt,
                mut seen,
                tasks: true,
                work,
            },
        ) => {
            let heads = state.last_heads();
            boxes::take_over(state, tasks, TickedBy::Ralph, &heads);
            seen.reworded = reworded.clone().or(seen.reworded);
            return Ok(attempt::restore_or_evaluate(
                state, attempt, seen, false, work,
            ));
        }
        (
            Event::WorkPutBack { kept, snapshot },
            Phase::Restoring {
                attempt,
                seen,
                tasks,
                work: true,
            },
        ) => {
            return Ok(attempt::work_put_back(
                state,
                attempt,
                seen,
                tasks,
                (kept, snapshot),
            ));
        }
        (
            Event::Checked {
                check,
                results,
                tasks_changed,
                trespass,
            },
            Phase::Checking {
                attempt, mut seen, ..
            },
        ) => {
            state.note_ends(results.iter().map(|result| &result.end));
            (seen.check, seen.trespass) = (Some((*check, results.clone())), trespass.clone());
            return Ok(attempt::restore_or_evaluate(
                state,
                attempt,
                seen,
                *tasks_changed,
                false,
            ));
        }
        (_, phase) => {
            let (event, phase) = (event.name(), phase.name());
            return Err(Impossible(format!(
                "The event {event} cannot follow in the phase {phase}."
            )));
        }
    }
    Ok(after(state))
}

/// Returns the phase of an outcome once its boxes are written: the entry is next, if there is one.
fn flipped(phase: Phase) -> Phase {
    match phase {
        Phase::Applying {
            entry: None, then, ..
        } => *then,
        Phase::Applying {
            entry,
            notify,
            then,
            ..
        } => Phase::Applying {
            flips: Vec::new(),
            entry,
            notify,
            then,
        },
        other => other,
    }
}

/// Returns the effects with which the new phase begins.
fn after(state: &State) -> Vec<Effect> {
    match &state.phase {
        Phase::Stopped(stop) => between_iterations::finish(stop.clone()),
        _ => owed(state),
    }
}

/// Returns the pending effects of a phase, which lead out of it.
///
/// Each may be requested again after a crash.
pub fn owed(state: &State) -> Vec<Effect> {
    let iteration = state.iteration;
    match &state.phase {
        Phase::Idle if state.mode == event::Mode::Verb => Vec::new(),
        Phase::Idle => vec![Effect::Survey],
        Phase::Clearing { leftovers } => vec![Effect::KeepLeftovers {
            iteration: state
                .leftovers
                .as_ref()
                .map_or(iteration, |leftovers| leftovers.iteration),
            leftovers: leftovers.clone(),
        }],
        Phase::Looking { key, snapshot } => vec![lanes::look(state, key, snapshot)],
        Phase::Playing { before, offer, .. } => vec![Effect::Play(Box::new(effect::Play {
            iteration,
            before: before.clone(),
            offer: offer.clone(),
        }))],
        Phase::Attempting { process, .. } => vec![Effect::ReapAgent {
            iteration,
            process: *process,
        }],
        Phase::Committing(attempt) => vec![attempt::commit_left(state, attempt)],
        Phase::Observing(attempt) => vec![Effect::Observe {
            request: Box::new(attempt::observe_request(state, attempt)),
            validation: attempt.key.stage == crate::task::Stage::Final,
        }],
        Phase::Restoring { tasks: true, .. } | Phase::RestoringTasks { .. } => {
            vec![Effect::RestoreTasks { iteration }]
        }
        Phase::Restoring { attempt, seen, .. } => vec![Effect::PutBack {
            iteration,
            before: attempt.before.clone(),
            observation: Box::new(seen.observation.clone()),
            everything: decide::must_not_change(&attempt.key.stage),
        }],
        Phase::Checking {
            attempt,
            check,
            packages,
            ..
        } => {
            let since = state
                .spec_state()
                .family(&attempt.key.family)
                .map_or(0, |family| family.began);
            vec![Effect::RunCheck {
                iteration,
                check: *check,
                packages: packages.clone(),
                since,
            }]
        }
        Phase::Judging { order } => vec![Effect::RunGate(order.clone())],
        Phase::Applying { flips, .. } if !flips.is_empty() => {
            vec![Effect::FlipBoxes {
                flips: flips.clone(),
            }]
        }
        Phase::Applying {
            entry: Some(entry), ..
        } => vec![Effect::AppendProgress {
            entry: entry.clone(),
        }],
        Phase::Applying { .. } => Vec::new(),
        Phase::Waiting { seconds, exact, .. } => vec![Effect::Wait {
            seconds: *seconds,
            exact: *exact,
        }],
        Phase::OverBudget { .. } => vec![Effect::AskForBudget],
        Phase::Stopped(stop) => vec![Effect::Finish(stop.clone())],
    }
}

impl Phase {
    /// One word, for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Clearing { .. } => "clearing",
            Self::Looking { .. } => "looking",
            Self::Playing { .. } => "playing",
            Self::Attempting { .. } => "attempting",
            Self::Committing(_) => "committing",
            Self::Observing(_) => "observing",
            Self::Restoring { .. } => "restoring",
            Self::Checking { .. } => "checking",
            Self::Judging { .. } => "judging",
            Self::RestoringTasks { .. } => "restoring-tasks",
            Self::Applying { .. } => "applying",
            Self::Waiting { .. } => "waiting",
            Self::OverBudget { .. } => "over-budget",
            Self::Stopped(_) => "stopped",
        }
    }
}

#[cfg(test)]
mod tests;
