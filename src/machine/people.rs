//! Requests of people and other loops: `ralph accept`, `reopen`, `snapshot`.
//!
//! Boxes change as in a run, but the journal names a person.

use super::boxes::Flips;
use super::conclusion::{IterationOutcome, conclude, text};
use super::effect::Effect;
use super::facts::Snapshot;
use super::hierarchy;
use super::invalidation;
use super::state::{JudgedContent, Phase, State, TickedBy};
use crate::task::TaskKey;

/// `ralph accept`.
pub(super) fn accepted(
    state: &mut State,
    key: &TaskKey,
    reason: &str,
    snapshot: &Snapshot,
) -> Vec<Effect> {
    state.iteration += 1;
    if key.stage.is_work() {
        // Accepting the work accepts its number of tests too.
        let touched = hierarchy::covered_changes(state.spec_state(), key).touched;
        state
            .passed_tests
            .retain(|package, _| !touched.contains_key(package));
        state
            .spec_state_mut()
            .family_mut(&key.family)
            .reported
            .clear();
    }
    let content = JudgedContent::commits(snapshot.heads());
    let spec = state.spec_state_mut();
    let mut flips = Flips::default();
    spec.family_mut(&key.family).blocked = None;
    flips.tick(spec, key, TickedBy::Person, content.clone());
    for family in hierarchy::covered(spec, key) {
        let was_opened = spec
            .family(&family)
            .is_some_and(|known| known.opened_by.as_ref() == Some(key));
        let Some(work) = hierarchy::work_box(spec, &family).filter(|_| was_opened) else {
            continue;
        };
        spec.family_mut(&family).opened_by = None;
        spec.family_mut(&family).blocked = None;
        flips.tick(spec, &work, TickedBy::Person, content.clone());
    }
    by_person(state, key, "ACCEPTED BY A PERSON", reason, flips)
}

/// `ralph reopen`.
pub(super) fn reopened(state: &mut State, key: &TaskKey, reason: &str) -> Vec<Effect> {
    state.iteration += 1;
    let spec = state.spec_state_mut();
    spec.family_mut(&key.family).blocked = None;
    let mut flips = Flips::default();
    flips.open(spec, key);
    spec.stage_mut(key).reasons = vec![reason.to_owned()];
    by_person(state, key, "REOPENED BY A PERSON", reason, flips)
}

fn by_person(
    state: &mut State,
    key: &TaskKey,
    headline: &str,
    reason: &str,
    flips: Flips,
) -> Vec<Effect> {
    state.unwatched = None;
    let outcome = IterationOutcome {
        flips,
        ..IterationOutcome::default()
    };
    conclude(
        state,
        key,
        outcome,
        text(headline, vec![reason.to_owned()]),
        true,
    )
}

/// `ralph snapshot`: the first call pins the base; each opens the gates that judged another commit.
pub(super) fn pinned(state: &mut State, family: &str, snapshot: &Snapshot) -> Vec<Effect> {
    state.iteration += 1;
    let iteration = state.iteration;
    let heads = snapshot.heads();
    let spec = state.spec_state_mut();
    let known = spec.family_mut(family);
    known.changes.everything = true;
    if known.first_iteration == 0 {
        known.first_iteration = iteration;
    }
    known.changes.add(snapshot, []);
    let mut flips = Flips::default();
    for gate in invalidation::gates_of_other_commits(spec, family, &heads) {
        flips.open(spec, &gate);
    }
    let heads_after = state.last_heads();
    let flips = flips.with_parents(state.spec_state_mut(), &heads_after);
    let mut effects = vec![Effect::WriteBefore {
        iteration,
        snapshot: snapshot.clone(),
    }];
    if !flips.is_empty() {
        state.phase = Phase::Applying {
            flips,
            entry: None,
            notify: None,
            then: Box::default(),
        };
        effects.extend(super::owed(state));
    }
    effects
}
