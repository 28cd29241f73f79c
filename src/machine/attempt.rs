//! From the end of an agent to a decision: observe, restore, check, decide.
//!
//! Nothing is judged before tasks.md and the work tree are in their required state. Work that ralph
//! restores counts for no task.

use super::between_iterations::{still_left, uncommitted};
use super::budget;
use super::consequences;
use super::decide::{Context, Decision, Evidence, decide, must_not_change};
use super::effect::Effect;
use super::event::{AgentEnd, KeptWork};
use super::facts::{Dirt, FileChange, KeptFile, Observation, ObserveRequest, Snapshot, dirt_names};
use super::hierarchy::{covered_changes, with_ancestors};
use super::state::{Attempt, Findings, Leftovers, Phase, SpecState, State};
use crate::task::{Stage, TaskKey};
use std::collections::BTreeSet;

/// Takes the end of an agent that was started, or of one that could not be.
pub(super) fn agent_ended(
    state: &mut State,
    key: TaskKey,
    before: Snapshot,
    was_started: bool,
    agent: &AgentEnd,
) {
    // Without a process, ralph restored the inputs before it looked for one.
    state.unstarted = !was_started;
    state.note_ends(std::iter::once(&agent.end));
    state.run.now += agent.millis / 1000;
    state.run.quota.clone_from(&agent.quota);
    budget::note(state, &key, agent.used.as_ref());
    let AgentEnd {
        end,
        claim,
        last_words,
        only_talked,
        ..
    } = agent.clone();
    let commits = state.policy.ralph_commits && end.is_success() && !must_not_change(&key.stage);
    let attempt = Attempt {
        key,
        before,
        end,
        claim,
        last_words,
        only_talked,
    };
    state.phase = if commits {
        Phase::Committing(attempt)
    } else {
        Phase::Observing(attempt)
    };
}

/// Requests a commit of what the agent left, and of what the stage's earlier attempts left that did not count.
///
/// What a person had in the work tree before the stage's first attempt is left alone.
pub(super) fn commit_left(state: &State, attempt: &Attempt) -> Effect {
    let mut before = attempt.before.clone();
    for package in &mut before.packages {
        let left = state
            .leftovers
            .as_ref()
            .and_then(|left| left.dirt.get(&package.name));
        for all in [&mut package.dirt, &mut package.untracked] {
            all.retain(|entry| !left.is_some_and(|left| has_path(left, entry)));
        }
    }
    let stage = state.spec_state().stage(&attempt.key);
    let mut others = state.others.clone();
    for (package, known) in others.iter_mut().flatten() {
        let strays = stage.and_then(|stage| stage.strays.get(package));
        known.retain(|path| !strays.is_some_and(|strays| strays.contains(path)));
    }
    Effect::CommitLeft {
        before,
        others,
        message: commit_message(state, &attempt.key),
    }
}

/// The message under which ralph commits for an agent.
fn commit_message(state: &State, key: &TaskKey) -> String {
    let text = state
        .spec_state()
        .row(key)
        .map(|row| row.text.as_str())
        .unwrap_or_default();
    format!("{} {text}", state.spec_state().written_name(key))
        .trim_end()
        .to_owned()
}

/// Returns the request to the git adapter after an attempt.
pub(super) fn observe_request(state: &State, attempt: &Attempt) -> ObserveRequest {
    let spec = state.spec_state();
    let key = &attempt.key;
    let is_work = key.stage.is_work();
    let frozen = spec
        .family(&key.family)
        .filter(|_| is_work)
        .map(|family| family.frozen.clone());
    ObserveRequest {
        iteration: state.iteration,
        before: attempt.before.clone(),
        others: state.others.clone().filter(|_| state.policy.ralph_commits),
        task: family_text(spec, key),
        worker: key.stage == Stage::Implementation,
        family: covered_changes(spec, key),
        stage: spec
            .stage(key)
            .map(|stage| stage.own.clone())
            .unwrap_or_default(),
        frozen: frozen.unwrap_or_default(),
        reviewed: if is_work {
            reviewed(state, &key.family)
        } else {
            Vec::new()
        },
    }
}

/// The texts of all boxes of a family.
fn family_text(spec: &SpecState, key: &TaskKey) -> String {
    spec.family_rows(&key.family)
        .map(|row| row.text.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The test files behind the ticked reviews that an implementation may outdate.
fn reviewed(state: &State, family: &str) -> Vec<KeptFile> {
    let spec = state.spec_state();
    let families = with_ancestors(spec, family);
    let stages = families
        .iter()
        .filter_map(|family| spec.family(family))
        .flat_map(|known| known.stages.values());
    let files = stages
        .filter_map(|stage| stage.stands_for.as_ref())
        .flat_map(|content| &content.tests);
    files
        .cloned()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// Git and tasks.md were read.
pub(super) fn observed(
    state: &mut State,
    attempt: Attempt,
    seen: Findings,
    tasks_changed: bool,
) -> Vec<Effect> {
    let strict = must_not_change(&attempt.key.stage);
    let observation = &seen.observation;
    let work = observation
        .packages
        .iter()
        .any(|package| package.is_breach() || (strict && !package.is_untouched()));
    remember(state, &attempt, observation, strict);
    let mut effects = Vec::new();
    if !work {
        state.diff.clone_from(&observation.family);
        effects.push(Effect::WriteDiff {
            changes: observation.family.clone(),
            bases: covered_changes(state.spec_state(), &attempt.key).bases,
            heads: observation.after.heads(),
        });
    }
    effects.extend(restore_or_evaluate(
        state,
        attempt,
        seen,
        tasks_changed,
        work,
    ));
    effects
}

/// Adds the changes of an attempt that ralph does not restore to the family's memory.
///
/// `strict`: the stage must not change anything, so ralph restores all of its changes.
fn remember(state: &mut State, attempt: &Attempt, observation: &Observation, strict: bool) {
    let iteration = state.iteration;
    note_after(state, attempt, &observation.after);
    let spec = state.spec_state_mut();
    let family = spec.family_mut(&attempt.key.family);
    if family.first_iteration == 0 {
        family.first_iteration = iteration;
    }
    family.implementation_tried |= attempt.key.stage == Stage::Implementation;
    let kept = observation
        .packages
        .iter()
        .filter(|package| !package.is_breach());
    let standing: Vec<&FileChange> = kept
        .clone()
        .filter(|_| !strict)
        .flat_map(|package| &package.changes)
        .collect();
    family
        .changes
        .add(&attempt.before, standing.iter().copied());
    family.last_touch.extend(
        standing
            .iter()
            .map(|change| (change.full_path(), iteration)),
    );
    let settings = standing.iter().filter(|change| change.is_build_setting());
    family
        .build_settings
        .extend(settings.map(|change| change.full_path()));
    let stage = spec.stage_mut(&attempt.key);
    stage.own.add(&attempt.before, standing);
    for package in &observation.packages {
        let strays = stage.strays.entry(package.name.clone()).or_default();
        strays.extend(package.appeared_others.iter().cloned());
    }
    for package in kept {
        *stage.tests_delta.entry(package.name.clone()).or_default() += package.tests_delta;
    }
}

/// Remembers the packages after an attempt, and what of it is uncommitted.
fn note_after(state: &mut State, attempt: &Attempt, after: &Snapshot) {
    let earlier = still_left(state.leftovers.as_ref(), after);
    let dirt = uncommitted(after, |package, entry| {
        let before = attempt.before.package(&package.name);
        !package.untracked.contains(entry)
            || before.is_none_or(|before| !has_path(&before.untracked, entry))
            || earlier
                .get(&package.name)
                .is_some_and(|left| has_path(left, entry))
    });
    state.leftovers = (!dirt.is_empty()).then(|| Leftovers {
        key: attempt.key.clone(),
        iteration: state.iteration,
        dirt,
    });
    state.last_after = Some(after.clone());
    state.heads = after.heads();
}

fn has_path(all: &[Dirt], entry: &Dirt) -> bool {
    all.iter().any(|dirt| dirt.path == entry.path)
}

/// Continues after the work tree was restored. `tasks`: tasks.md is still to be restored.
pub(super) fn work_put_back(
    state: &mut State,
    attempt: Attempt,
    mut seen: Findings,
    tasks: bool,
    (kept, snapshot): (&[KeptWork], &Snapshot),
) -> Vec<Effect> {
    seen.kept = kept
        .iter()
        .map(|kept| format!("{}: {}", kept.package, kept.reference))
        .collect();
    note_after(state, &attempt, snapshot);
    restore_or_evaluate(state, attempt, seen, tasks, false)
}

/// Requests the restore of tasks.md or the work tree.
///
/// Judges the attempt if neither is due.
pub(super) fn restore_or_evaluate(
    state: &mut State,
    attempt: Attempt,
    seen: Findings,
    tasks: bool,
    work: bool,
) -> Vec<Effect> {
    if tasks || work {
        state.phase = Phase::Restoring {
            attempt,
            seen,
            tasks,
            work,
        };
        return super::owed(state);
    }
    evaluate(state, attempt, seen)
}

/// Decides, or asks for the check that is still missing.
fn evaluate(state: &mut State, attempt: Attempt, seen: Findings) -> Vec<Effect> {
    let left = state
        .leftovers
        .as_ref()
        .map(|left| dirt_names(&left.dirt))
        .unwrap_or_default();
    let context = context(state, &attempt.key, &seen.observation);
    let passed_before = &state.passed_tests;
    let none = BTreeSet::new();
    let family = state.spec_state().family(&attempt.key.family);
    let reported = family.map_or(&none, |family| &family.reported);
    let decision = decide(&Evidence {
        attempt: &attempt,
        seen: &seen,
        left: &left,
        passed_before,
        reported,
        context,
    });
    if let Decision::NeedsCheck { check, everywhere } = decision {
        let changed = seen.observation.stage.iter().filter(|_| !everywhere);
        let mut packages: Vec<String> = changed.map(|change| change.package.clone()).collect();
        packages.dedup();
        state.phase = Phase::Checking {
            attempt,
            seen,
            check,
            packages,
        };
        return super::owed(state);
    }
    consequences::follow(state, &attempt, &seen, decision)
}

/// Returns the rules and the family's history that a decision depends on.
pub(super) fn context(state: &State, key: &TaskKey, observation: &Observation) -> Context {
    let spec = state.spec_state();
    let family = spec.family(&key.family);
    let stage = spec.stage(key);
    let row = spec.row(key);
    let failed_once = family.is_some_and(|family| family.failed_once);
    let on_rework = family.is_some_and(|family| family.reworks > 0);
    let owed = observation.tests_owed.map_or_else(
        || {
            let debts = stage
                .into_iter()
                .flat_map(|stage| stage.tests_delta.values());
            debts.filter(|delta| **delta < 0).map(|delta| -delta).sum()
        },
        |owed| i64::try_from(owed).unwrap_or(i64::MAX),
    );
    // On a retry a test writer may remove its own tests.
    let is_asked_again = key.stage == Stage::TestFirst;
    let own = family
        .filter(|_| is_asked_again)
        .and_then(|family| family.tests_written)
        .unwrap_or_default();
    let own = i64::try_from(own).unwrap_or(i64::MAX);
    Context {
        checkpoint: row.is_some_and(|row| row.checkpoint) && !on_rework,
        gate_follows: spec
            .family_rows(&key.family)
            .any(|other| other.key.stage.is_gate()),
        frozen: !failed_once,
        ask_red: state.policy.red && !family.is_some_and(|family| family.implementation_tried),
        ask_green: state.policy.green,
        edits_block: state.policy.edits_block,
        tests_owed: (owed - own).max(0),
    }
}
