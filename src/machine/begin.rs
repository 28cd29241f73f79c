//! The beginning of an iteration: the orders for an agent and for a gate.

use super::effect::{AgentOrder, Effect, GateOrder};
use super::facts::{Accumulated, FileChange, Snapshot, full_path};
use super::fallback;
use super::hierarchy::{self, covered_changes, known_covered};
use super::state::{Phase, SpecState, State};
use super::used::Most;
use super::waits;
use crate::task::{Row, Stage, TaskKey};
use std::collections::BTreeSet;

/// Begins an iteration on a box.
pub(super) fn begin(
    state: &mut State,
    key: &TaskKey,
    snapshot: &Snapshot,
    leftovers: Vec<String>,
) -> Vec<Effect> {
    state.run.agent = match fallback::choose(state, key) {
        Ok(agent) => agent,
        Err(first) => return waits::wait_first(state, key, first),
    };
    if key.stage.is_gate() {
        return begin_gate(state, key, snapshot, None);
    }
    let mut effects = begin_attempt(state, key, snapshot);
    let iteration = state.iteration;
    if key.stage == Stage::Final {
        effects.push(Effect::SetReportAside { iteration });
        state.spec_state_mut().report = None;
    }
    let order = agent_order(state, key, iteration, leftovers);
    state.phase = Phase::Attempting {
        key: key.clone(),
        before: snapshot.clone(),
        process: None,
    };
    effects.push(Effect::StartAgent(Box::new(order)));
    effects
}

/// Begins the iteration of an attempt.
pub(super) fn begin_attempt(state: &mut State, key: &TaskKey, snapshot: &Snapshot) -> Vec<Effect> {
    let iteration = state.begin_iteration();
    let now = state.run.now;
    let family = state.spec_state_mut().family_mut(&key.family);
    family.began = if family.began == 0 { now } else { family.began };
    vec![Effect::WriteBefore {
        iteration,
        snapshot: snapshot.clone(),
    }]
}

/// Returns the order for the agent of this iteration.
pub fn agent_order(
    state: &State,
    key: &TaskKey,
    iteration: u64,
    leftovers: Vec<String>,
) -> AgentOrder {
    let spec = state.spec_state();
    let row = spec.row(key);
    let known = spec.stage(key).cloned().unwrap_or_default();
    let Accumulated {
        bases,
        touched,
        everything,
    } = covered_changes(spec, key);
    let paths = touched
        .iter()
        .flat_map(|(package, paths)| paths.iter().map(move |path| (package, path)));
    let settings =
        known_covered(spec, key).flat_map(|family| family.build_settings.iter().cloned());
    AgentOrder {
        iteration,
        key: key.clone(),
        text: row.map(|row| words(spec, row)).unwrap_or_default(),
        line: row.map_or(0, |row| row.line),
        attempt: known.attempts + 1,
        reasons: known.reasons,
        findings: known.findings,
        may_change_tests: spec
            .family(&key.family)
            .is_some_and(|family| family.failed_once),
        leftovers,
        changes: paths
            .map(|(package, path)| full_path(package, path))
            .collect(),
        bases: bases
            .into_iter()
            .filter(|(package, _)| everything || touched.contains_key(package))
            .collect(),
        build_settings: settings.collect(),
        agent: fallback::choose(state, key).unwrap_or_else(|(first, _)| first),
        most: Most::of(&state.policy, |budget| budget.attempt),
    }
}

/// Returns the task text of a box.
///
/// Without text of its own the box has that of its task's line, as stages that ralph wrote.
///
/// Stages that ralph wrote have no text of their own.
fn words(spec: &SpecState, row: &Row) -> String {
    if !row.text.is_empty() {
        return row.text.clone();
    }
    let work = hierarchy::work_box(spec, &row.key.family).and_then(|key| spec.row(&key));
    work.map(|work| work.text.clone()).unwrap_or_default()
}

pub(super) fn begin_gate(
    state: &mut State,
    key: &TaskKey,
    snapshot: &Snapshot,
    changes: Option<Vec<FileChange>>,
) -> Vec<Effect> {
    let iteration = state.begin_iteration();
    let order = Box::new(gate_order(state, key, snapshot, changes));
    state.phase = Phase::Judging {
        order: order.clone(),
    };
    vec![
        Effect::WriteBefore {
            iteration,
            snapshot: snapshot.clone(),
        },
        Effect::RunGate(order),
    ]
}

/// Returns the order for the gate of this iteration.
pub fn gate_order(
    state: &State,
    key: &TaskKey,
    snapshot: &Snapshot,
    changes: Option<Vec<FileChange>>,
) -> GateOrder {
    let spec = state.spec_state();
    let known = spec.stage(key).cloned().unwrap_or_default();
    let since_fail = known
        .failed_at
        .map(|failed_at| changed_since(spec, key, failed_at));
    GateOrder {
        iteration: state.iteration,
        key: key.clone(),
        line: spec.row(key).map_or(0, |row| row.line),
        snapshot: snapshot.clone(),
        accumulated: covered_changes(spec, key),
        changes,
        former_targets: known.targets,
        changed_since_fail: since_fail,
        no_tests_written: hierarchy::covered(spec, key)
            .into_iter()
            .any(|family| wrote_no_tests(spec, family)),
        is_last: known_covered(spec, key).any(|family| family.reworks >= state.policy.rework),
    }
}

fn changed_since(spec: &SpecState, key: &TaskKey, failed_at: u64) -> BTreeSet<String> {
    let touched = known_covered(spec, key).flat_map(|family| &family.last_touch);
    touched
        .filter(|(_, iteration)| **iteration > failed_at)
        .map(|(path, _)| path.clone())
        .collect()
}

/// Returns true if TEST-FIRST of a family was ticked without a test.
fn wrote_no_tests(spec: &SpecState, family: String) -> bool {
    spec.family(&family)
        .is_some_and(|family| family.tests_written == Some(0))
        && spec.is_done(&TaskKey {
            family,
            stage: Stage::TestFirst,
        })
}
