//! Lanes: second workspaces that do marked tasks ahead, as agents whose accepted work main may take as an attempt.
//!
//! Main keeps its order of boxes. Before an attempt of work on a task that is marked `[P]` or `(P)` it asks for the lane
//! of that task. Its merged work is judged like an agent's. A lane is never evidence.

use super::begin::{begin, begin_attempt};
use super::choice::is_required_open;
use super::effect::{Effect, LaneOrder, LaneTask};
use super::event::Offer;
use super::facts::Snapshot;
use super::hierarchy::work_box;
use super::state::{Phase, SpecState, State};
use super::used::Most;
use crate::source::digest;
use crate::task::{Row, Stage, TaskKey};

/// Prefix of the name of a lane as an agent.
const AGENT: &str = "lane:";

/// The number of the lane that is called so; `None` for any other agent.
pub fn number(agent: &str) -> Option<u32> {
    agent.strip_prefix(AGENT)?.parse().ok()
}

/// True if the lane of this box's task comes before a worker.
pub(super) fn is_asked(state: &State, key: &TaskKey) -> bool {
    let spec = state.spec_state();
    let has_failed = spec.stage(key).is_some_and(|stage| stage.lane_failed);
    state.policy.lanes > 0
        && is_done_ahead(&key.stage)
        && !has_failed
        && group(spec, &key.family).len() > 1
}

/// True for the stages whose accepted work a lane offers. Reviews and gates are main's.
pub fn is_done_ahead(stage: &Stage) -> bool {
    matches!(stage, Stage::TestFirst | Stage::Implementation)
}

/// The request for the lane of this box.
pub(super) fn look(state: &State, key: &TaskKey, snapshot: &Snapshot) -> Effect {
    let spec = state.spec_state();
    let lanes = state.policy.lanes;
    let share = |most: Option<u64>, used: u64| {
        most.map(|most| most.saturating_sub(used) / u64::from(lanes.max(1)))
    };
    let most = Most::of(&state.policy, |budget| budget.run).with(state.run.allowed);
    Effect::LookAtLane(Box::new(LaneOrder {
        key: key.clone(),
        task: unit(spec, &key.family).unwrap_or_default(),
        snapshot: snapshot.clone(),
        open: open_tasks(spec, &key.family),
        lanes,
        most: Most {
            tokens: share(most.tokens, state.run.used.tokens),
            micros: share(most.micros, state.run.used.micros),
        },
    }))
}

/// Makes the work of the lane the attempt, or begins with the worker.
pub(super) fn seen(
    state: &mut State,
    key: TaskKey,
    snapshot: Snapshot,
    offer: Option<&Offer>,
    why_not: Option<&str>,
) -> Vec<Effect> {
    if let Some(why) = why_not {
        let reasons = &mut state.spec_state_mut().stage_mut(&key).reasons;
        if !reasons.iter().any(|reason| reason == why) {
            reasons.push(why.to_owned());
        }
    }
    let Some(offer) = offer else {
        return begin(state, &key, &snapshot, Vec::new());
    };
    state.run.agent = format!("{AGENT}{}", offer.lane);
    let mut effects = begin_attempt(state, &key, &snapshot);
    state.phase = Phase::Playing {
        key,
        before: snapshot,
        offer: offer.clone(),
    };
    effects.extend(super::owed(state));
    effects
}

/// The unbroken run of marked tasks under one heading to which a family belongs, in document order; none if it is not
/// marked.
pub fn group(spec: &SpecState, family: &str) -> Vec<String> {
    let Some(wanted) = unit(spec, family) else {
        return Vec::new();
    };
    let mut run: Vec<String> = Vec::new();
    let mut heading = 0;
    for row in &spec.rows {
        let unit = unit(spec, &row.key.family).filter(|_| !is_barrier(row));
        if unit.is_none() || row.group != heading {
            if run.contains(&wanted) {
                break;
            }
            run.clear();
        }
        heading = row.group;
        if let Some(unit) = unit.filter(|unit| !run.contains(unit)) {
            run.push(unit);
        }
    }
    if run.contains(&wanted) {
        run
    } else {
        Vec::new()
    }
}

/// A box that no lane passes.
fn is_barrier(row: &Row) -> bool {
    row.approval || row.checkpoint || row.key.is_wider_gate()
}

/// The outermost marked task that a family is, or is below.
fn unit(spec: &SpecState, family: &str) -> Option<String> {
    let families = spec.rows.by_family();
    let is_marked = |name: &str| {
        let mut boxes = families.family_boxes(name);
        boxes.any(|(_, row)| row.key.stage == Stage::Implementation && marked(row))
    };
    let all = families
        .families_above(family)
        .into_iter()
        .rev()
        .chain([family]);
    all.map(str::to_owned).find(|name| is_marked(name))
}

/// True if the words of a task have `[P]` or `(P)`.
fn marked(row: &Row) -> bool {
    row.text
        .split_whitespace()
        .any(|word| matches!(word, "[P]" | "(P)"))
}

/// The tasks of the run that are not done. None is ready while a task is half done, or while one above the run is open.
fn open_tasks(spec: &SpecState, family: &str) -> Vec<LaneTask> {
    let run = group(spec, family);
    let rows_of = |name: &str| -> Vec<&Row> {
        let rows = spec.rows.iter();
        rows.filter(|row| unit(spec, &row.key.family).as_deref() == Some(name))
            .collect()
    };
    let rows: Vec<Vec<&Row>> = run.iter().map(|name| rows_of(name)).collect();
    let first = rows.iter().flatten().map(|row| row.line).min();
    let has_begun = |row: &Row| {
        spec.family(&row.key.family)
            .is_some_and(|known| known.first_iteration > 0)
    };
    let mut required = spec.rows.iter().filter(|row| is_required_open(row));
    let is_settled = !required.any(|row| Some(row.line) < first || has_begun(row));
    let tasks = run.into_iter().zip(rows);
    tasks
        .filter(|(_, rows)| rows.iter().any(|row| is_required_open(row)))
        .map(|(family, rows)| {
            let texts = rows.iter().map(|row| {
                let under = row.under.as_deref().unwrap_or_default();
                format!("{} {} {under}\n", row.key, row.digest)
            });
            let work = work_box(spec, &family);
            LaneTask {
                name: work.map_or_else(|| family.clone(), |key| spec.name(&key)),
                digest: digest(texts.collect::<String>().as_bytes()),
                is_ready: is_settled
                    && rows.iter().all(|row: &&Row| {
                        row.optional || row.mark.is_open() && !row.struck && !has_begun(row)
                    }),
                family,
            }
        })
        .collect()
}
