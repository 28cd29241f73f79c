//! Lanes: second workspaces that do marked tasks ahead, as agents whose accepted work main may take as an attempt.
//!
//! Main keeps its order of boxes. Before an attempt of work it starts lanes for the tasks whose needs are met, and asks
//! for the lane of its own task. Its merged work is judged like an agent's. A lane is never evidence.

use super::begin::{begin, begin_attempt};
use super::choice::is_required_open;
use super::effect::{Effect, LaneOrder, LaneTask};
use super::event::Offer;
use super::facts::Snapshot;
use super::hierarchy::work_box;
use super::policy::LaneTasks;
use super::state::{Phase, SpecState, State};
use super::used::Most;
use crate::source::digest;
use crate::task::{Families, Row, Rows, Stage, TaskKey};
use std::collections::{BTreeMap, HashMap};

/// Prefix of the name of a lane as an agent.
const AGENT: &str = "lane:";

/// The number of the lane that is called so; `None` for any other agent.
pub fn number(agent: &str) -> Option<u32> {
    agent.strip_prefix(AGENT)?.parse().ok()
}

/// True if main looks at the lanes before a worker: its task may have one, or others can begin meanwhile.
pub(super) fn is_asked(state: &State, key: &TaskKey) -> bool {
    let spec = state.spec_state();
    let has_failed = spec.stage(key).is_some_and(|stage| stage.lane_failed);
    if !is_done_ahead(&key.stage) || has_failed {
        return false;
    }
    if state.policy.taken.contains(&key.family) {
        return true;
    }
    if state.policy.lanes == 0 {
        return false;
    }
    let units = units(&spec.rows, state.policy.take);
    if unit_of(&units, &spec.rows, &key.family).is_some() {
        return units.len() > 1;
    }
    open_tasks(spec, &units).iter().any(|task| task.is_ready)
}

/// True for the stages whose accepted work a lane offers. Reviews and gates are main's.
pub fn is_done_ahead(stage: &Stage) -> bool {
    matches!(stage, Stage::TestFirst | Stage::Implementation)
}

/// The request for the lane of this box.
pub(super) fn look(state: &State, key: &TaskKey, snapshot: &Snapshot) -> Effect {
    let spec = state.spec_state();
    let lanes = state.policy.lanes;
    let units = units(&spec.rows, state.policy.take);
    let own = unit_of(&units, &spec.rows, &key.family).filter(|_| lanes > 0);
    let most = Most::of(&state.policy, |budget| budget.run).with(state.run.allowed);
    let [tokens, micros] = [
        (most.tokens, state.run.used.tokens),
        (most.micros, state.run.used.micros),
    ]
    .map(|(most, used)| most.map(|most| most.saturating_sub(used) / u64::from(lanes.max(1))));
    Effect::LookAtLane(Box::new(LaneOrder {
        key: key.clone(),
        task: own.map(|own| own.name().to_owned()),
        snapshot: snapshot.clone(),
        open: open_tasks(spec, &units),
        taken: open_texts(spec, &state.policy.taken),
        lanes,
        most: Most { tokens, micros },
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

/// The tasks that one lane does: a task, or those under one heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneUnit {
    /// Its outermost tasks, in document order.
    pub families: Vec<String>,
    /// The indices of its rows.
    rows: Vec<usize>,
    /// Number of rows of the file whose boxes must be done before, if they are above the unit.
    after: usize,
    /// The tasks that must be done before, at any place in the file.
    pub needs: Vec<String>,
    /// Its heading.
    group: u32,
    /// The id of a heading with needs.
    work_package: Option<String>,
}

impl LaneUnit {
    /// Its first task.
    pub fn name(&self) -> &str {
        self.families.first().map_or("", String::as_str)
    }
}

/// Returns what lanes may do ahead, in document order.
///
/// - `marked`: tasks with `[P]` or `(P)`, which need all above the unbroken run of such tasks under one heading, and tasks
///   that name their needs, which need exactly those.
/// - `groups`: the tasks under a heading, in their order. `all`: every outermost task. They need what they name.
///
/// The tasks of a heading that names its needs are done in their order, for each value of `take`.
///
/// Nothing passes a box of a person, a checkpoint or a wider gate.
pub fn units(rows: &Rows, take: LaneTasks) -> Vec<LaneUnit> {
    let families = rows.by_family();
    let mut units: Vec<LaneUnit> = Vec::new();
    let mut unit_of_task: HashMap<&str, usize> = HashMap::new();
    let (mut after_barrier, mut run, mut heading) = (0, None, None);
    for (at, row) in rows.iter().enumerate() {
        let task = outermost_task(&families, &row.key.family, take);
        let task = task.filter(|_| !is_barrier(row));
        run = run.filter(|_| heading == Some(row.group));
        heading = Some(row.group);
        if task.is_some_and(|task| has(&families, task, is_marked)) {
            run = run.or(Some(at));
        } else {
            run = None;
        }
        if is_barrier(row) {
            after_barrier = at + 1;
        }
        let Some(task) = task else { continue };
        if let Some(unit) = unit_of_task.get(task).and_then(|at| units.get_mut(*at)) {
            unit.rows.push(at);
            continue;
        }
        let needs = needs_of(&families, task);
        let after = match (take, &needs) {
            (LaneTasks::Marked, None) => run.unwrap_or(at),
            _ => after_barrier,
        };
        let work_package = work_package_of(&families, task);
        let last = units.last_mut().filter(|last| {
            let is_of_group = take == LaneTasks::Groups && last.group == row.group;
            let is_of_package = work_package.is_some() && last.work_package == work_package;
            (is_of_group || is_of_package) && last.after == after
        });
        if let Some(last) = last {
            last.families.push(task.to_owned());
            last.rows.push(at);
            last.needs.extend(needs.unwrap_or_default());
        } else {
            units.push(LaneUnit {
                families: vec![task.to_owned()],
                rows: vec![at],
                after,
                needs: needs.unwrap_or_default(),
                group: row.group,
                work_package,
            });
        }
        unit_of_task.insert(task, units.len() - 1);
    }
    for unit in &mut units {
        let own = &unit.families;
        unit.needs.retain(|need| !own.contains(need));
        // The tasks of one heading have the same needs.
        unit.needs.sort_unstable();
        unit.needs.dedup();
    }
    units
}

/// A box that no lane passes.
fn is_barrier(row: &Row) -> bool {
    row.approval || row.checkpoint || row.key.is_wider_gate()
}

/// The outermost task that a lane may do and that a family is, or is below.
fn outermost_task<'a>(
    families: &Families<'a>,
    family: &'a str,
    take: LaneTasks,
) -> Option<&'a str> {
    let above = families.families_above(family).into_iter().rev();
    above.chain([family]).find(|name| match take {
        LaneTasks::Marked => has(families, name, |row| is_marked(row) || row.needs.is_some()),
        LaneTasks::Groups | LaneTasks::All => has(families, name, |_| true),
    })
}

/// True if the work box of a family is so.
fn has(families: &Families<'_>, family: &str, is_so: impl Fn(&Row) -> bool) -> bool {
    let mut boxes = families.family_boxes(family);
    boxes.any(|(_, row)| row.key.stage == Stage::Implementation && is_so(row))
}

fn needs_of(families: &Families<'_>, family: &str) -> Option<Vec<String>> {
    let mut boxes = families.family_boxes(family);
    boxes.find_map(|(_, row)| row.needs.clone())
}

fn work_package_of(families: &Families<'_>, family: &str) -> Option<String> {
    let mut boxes = families.family_boxes(family);
    boxes.find_map(|(_, row)| row.work_package.clone())
}

/// True if the words of a task have `[P]` or `(P)`.
fn is_marked(row: &Row) -> bool {
    row.text
        .split_whitespace()
        .any(|word| matches!(word, "[P]" | "(P)"))
}

pub(super) fn unit_of<'a>(
    units: &'a [LaneUnit],
    rows: &Rows,
    family: &str,
) -> Option<&'a LaneUnit> {
    units.iter().find(|unit| {
        let mut boxes = unit.rows.iter().filter_map(|at| rows.get(*at));
        boxes.any(|row| row.key.family == family)
    })
}

/// Returns what lanes may do ahead under these rules: the open tasks, in document order.
pub fn lane_tasks(state: &State, take: LaneTasks) -> Vec<LaneTask> {
    let spec = state.spec_state();
    open_tasks(spec, &units(&spec.rows, take))
}

/// The units that are not done. None is ready while a task is half done.
pub(super) fn open_tasks(spec: &SpecState, units: &[LaneUnit]) -> Vec<LaneTask> {
    let mut required = spec.rows.iter().filter(|row| is_required_open(row));
    let is_settled = !required.any(|row| has_begun(spec, row));
    let first_open = spec.rows.iter().position(is_required_open);
    let open = units.iter().map(|unit| {
        let rows: Vec<&Row> = unit
            .rows
            .iter()
            .filter_map(|at| spec.rows.get(*at))
            .collect();
        (unit, rows)
    });
    open.filter(|(_, rows)| rows.iter().any(|row| is_required_open(row)))
        .map(|(unit, rows)| {
            let names = unit.families.iter().map(|family| {
                work_box(spec, family).map_or_else(|| family.clone(), |key| spec.written_name(&key))
            });
            LaneTask {
                families: unit.families.clone(),
                names: names.collect(),
                digest: digest_texts(rows.iter().copied()),
                is_ready: is_settled
                    && needs_are_met(&spec.rows, unit, first_open)
                    && rows.iter().all(|row| {
                        row.optional || row.mark.is_open() && !row.struck && !has_begun(spec, row)
                    }),
            }
        })
        .collect()
}

/// Returns the families of these that have required open boxes, with the digests of their texts.
pub fn open_texts(spec: &SpecState, families: &[String]) -> BTreeMap<String, String> {
    let is_open = |family: &&String| spec.family_rows(family).any(is_required_open);
    let open = families.iter().filter(is_open);
    open.map(|family| (family.clone(), family_text(spec, family)))
        .collect()
}

/// Returns the digest of the texts of a family's boxes. A tick does not change it.
pub fn family_text(spec: &SpecState, family: &str) -> String {
    digest_texts(spec.family_rows(family))
}

fn digest_texts<'a>(rows: impl Iterator<Item = &'a Row>) -> String {
    let texts = rows.map(|row| {
        let under = row.under.as_deref().unwrap_or_default();
        format!("{} {} {under}\n", row.key.written_id(), row.digest)
    });
    digest(texts.collect::<String>().as_bytes())
}

fn has_begun(spec: &SpecState, row: &Row) -> bool {
    spec.family(&row.key.family)
        .is_some_and(|known| known.first_iteration > 0)
}

/// True if all that a unit needs is done. A need that is no task of the file is never done.
fn needs_are_met(rows: &Rows, unit: &LaneUnit, first_open: Option<usize>) -> bool {
    let families = rows.by_family();
    if first_open.is_some_and(|first| first < unit.after) {
        return false;
    }
    unit.needs.iter().all(|need| {
        let below = families.families_below(need);
        let mut boxes = below
            .into_iter()
            .chain([&need[..]])
            .flat_map(|name| families.family_boxes(name));
        has(&families, need, |_| true) && boxes.all(|(_, row)| !is_required_open(row))
    })
}

/// The length of a run with enough lanes, in tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LongestChain {
    /// All required tasks without tasks below them.
    pub tasks: usize,
    /// Those that follow each other with any number of lanes.
    pub chain: usize,
}

/// Returns the index of the last row of a task and of what is below it; `None` if there is no such task.
fn last_row(families: &Families<'_>, task: &str) -> Option<usize> {
    let all = families.families_below(task).into_iter().chain([task]);
    all.flat_map(|name| families.family_boxes(name))
        .map(|(at, _)| at)
        .max()
}

/// Returns the longest chain of tasks that need each other, if main takes them in document order.
pub fn longest_chain(rows: &Rows, take: LaneTasks) -> LongestChain {
    let families = rows.by_family();
    let units = units(rows, take);
    // For each row the length of the chain when main has done it and all above.
    let mut done_at: Vec<usize> = Vec::with_capacity(rows.len());
    let mut counted = LongestChain::default();
    let mut in_unit: HashMap<usize, usize> = HashMap::new();
    let unit_at: HashMap<usize, usize> = units
        .iter()
        .enumerate()
        .flat_map(|(number, unit)| unit.rows.iter().map(move |at| (*at, number)))
        .collect();
    for (at, row) in rows.iter().enumerate() {
        let is_task = row.key.stage == Stage::Implementation
            && !row.optional
            && !row.checkpoint
            && !families.is_parent(&row.key.family);
        let weight = usize::from(is_task);
        counted.tasks += weight;
        let lane = unit_at
            .get(&at)
            .and_then(|number| Some((*number, units.get(*number)?)));
        let end = match lane {
            Some((number, unit)) => {
                let above = unit.after.checked_sub(1).and_then(|last| done_at.get(last));
                let mut start = above.copied().unwrap_or(0);
                for need in &unit.needs {
                    let done = last_row(&families, need).and_then(|last| done_at.get(last));
                    // One that comes later, or is no task, leaves this one in its turn.
                    start = start.max(done.copied().unwrap_or(counted.chain));
                }
                let end = in_unit.entry(number).or_insert(start);
                *end += weight;
                *end
            }
            None => counted.chain + weight,
        };
        counted.chain = counted.chain.max(end);
        done_at.push(counted.chain);
    }
    counted
}
