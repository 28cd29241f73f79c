//! Between iterations: people's edits, leftovers, and the beginning of the next iteration.
//!
//! Owns: what follows from reading tasks.md and the packages while no agent runs.
//!
//! Promises: a person's edit is obeyed and recorded; nothing begins on a work tree that a person left
//! dirty; exactly one iteration begins, or the run has a reason to stop.
//!
//! Refuses to know: how an attempt is judged.

use super::choice::{Choice, choose, is_required_open};
use super::effect::{AgentOrder, Effect, GateOrder};
use super::event::{Mode, StopRequest, TasksSeen};
use super::facts::{Accumulated, Dirt, Oid, PackageState, Snapshot, full_path};
use super::kin;
use super::state::{Book, By, Family, Leftovers, Phase, StandsFor, State};
use super::stop::Stop;
use crate::task::{Mark, Row, Stage, TaskKey};
use std::collections::{BTreeMap, BTreeSet};

/// tasks.md and the packages were read.
pub(super) fn surveyed(state: &mut State, tasks: &TasksSeen, snapshot: &Snapshot) -> Vec<Effect> {
    if !tasks.problems.is_empty() {
        return finish(Stop::Refused { problems: tasks.problems.clone() });
    }
    take_tasks(state, tasks, By::Person, &snapshot.heads());
    if state.mode == Mode::Verb {
        return Vec::new();
    }
    let foreign = foreign_dirt(state, snapshot);
    if !foreign.is_empty() {
        return finish(Stop::Dirty { files: foreign });
    }
    let stop = match next(state.book(), state.policy.optional, state.policy.go_on_when_blocked) {
        Choice::Take(key) => match reason_to_stop(state) {
            None => return begin_or_clear(state, &key, snapshot),
            Some(stop) => stop,
        },
        Choice::Stuck(reasons) => stuck(state.book(), reasons),
        Choice::AllDone if state.book().gaps.is_empty() => Stop::AllDone,
        Choice::AllDone => Stop::Gaps { gaps: state.book().gaps.clone() },
    };
    finish(stop)
}

/// The end of a run, told to people first; what cannot begin is told to the one who started it only.
pub(super) fn finish(stop: Stop) -> Vec<Effect> {
    let event = match stop {
        Stop::AllDone | Stop::Gaps { .. } => "done",
        Stop::Blocked { .. } | Stop::Stuck { .. } => "blocked",
        Stop::Refused { .. } | Stop::Dirty { .. } => return vec![Effect::Finish(stop)],
        _ => "stop",
    };
    vec![Effect::Notify { event, task: String::new(), why: stop.to_string() }, Effect::Finish(stop)]
}

/// The box that a run takes next: [`choose`], unless a block stops the run (`on_blocked: stop`). Whoever says
/// what is next asks here.
pub fn next(book: &Book, optional: bool, goes_on_when_blocked: bool) -> Choice {
    match blocked(book) {
        Some(reasons) if !goes_on_when_blocked => Choice::Stuck(reasons),
        _ => choose(book, optional),
    }
}

/// Why nothing can be taken, as the end of a run.
pub fn stuck(book: &Book, reasons: Vec<String>) -> Stop {
    if blocked(book).is_some() { Stop::Blocked { reasons } } else { Stop::Stuck { reasons } }
}

/// What is blocked and still open.
fn blocked(book: &Book) -> Option<Vec<String>> {
    let open = |family: &str| book.family_rows(family).any(is_required_open);
    let reasons: Vec<String> = book
        .families
        .iter()
        .filter_map(|(name, family)| Some((name, family.blocked.as_ref()?)))
        .filter(|(name, _)| open(name))
        .map(|(name, why)| kin::blocked_by(book, name, why))
        .collect();
    (!reasons.is_empty()).then_some(reasons)
}

fn reason_to_stop(state: &State) -> Option<Stop> {
    let run = &state.run;
    match state.stopping {
        Some(StopRequest::Signal { signal }) => return Some(Stop::Interrupted { signal }),
        Some(StopRequest::Wall) => return Some(Stop::Wall),
        None => {}
    }
    if state.policy.iterations.is_some_and(|limit| run.iterations >= limit) {
        return Some(Stop::Iterations { count: run.iterations });
    }
    (run.idle >= state.policy.idle_iterations).then_some(Stop::NoProgress { iterations: run.idle })
}

/// Takes over what was read in tasks.md.
pub(super) fn take_tasks(state: &mut State, seen: &TasksSeen, by: By, heads: &BTreeMap<String, Oid>) {
    let book = state.book_mut();
    let mut flips: Vec<(TaskKey, Mark)> = Vec::new();
    if let Some(rows) = &seen.rows {
        let before: BTreeMap<&TaskKey, Mark> = book.rows.iter().map(|row| (&row.key, row.mark)).collect();
        for row in rows {
            let was_done = before.get(&row.key).is_some_and(|mark| mark.is_done());
            if row.mark.is_done() != was_done {
                flips.push((row.key.clone(), row.mark));
            }
        }
        book.rows.clone_from(rows);
        forget_reworded(book);
    }
    book.skeleton.clone_from(&seen.skeleton);
    set_marks(book, &seen.marks);
    flips.extend(seen.marks.iter().cloned());
    for (key, mark) in flips {
        book.family_mut(&key.family).blocked = None;
        if mark.is_done() {
            let stands_for = StandsFor { heads: heads.clone(), ..StandsFor::default() };
            ticked(book, &key, by, stands_for);
        } else {
            opened(book, &key);
        }
    }
}

/// Writes marks into the rows.
pub(super) fn set_marks(book: &mut Book, marks: &[(TaskKey, Mark)]) {
    for (key, mark) in marks {
        if let Some(row) = book.rows.iter_mut().find(|row| row.key == *key) {
            row.mark = *mark;
        }
    }
}

/// An implementation line whose text changed starts its family anew.
fn forget_reworded(book: &mut Book) {
    let digests: Vec<(String, String)> = book
        .rows
        .iter()
        .filter(|row| matches!(row.key.stage, Stage::Implementation | Stage::Integ))
        .map(|row| (row.key.family.clone(), row.digest.clone()))
        .collect();
    for (family, digest) in digests {
        let known = book.family_mut(&family);
        if known.digest != digest {
            let fresh = Family { digest, ..Family::default() };
            if known.digest.is_empty() {
                known.digest = fresh.digest;
            } else {
                *known = fresh;
            }
        }
    }
}

/// A box is ticked: what is remembered of it.
pub(super) fn ticked(book: &mut Book, key: &TaskKey, by: By, stands_for: StandsFor) {
    let stage = book.stage_mut(key);
    stage.attempts = 0;
    stage.reasons.clear();
    stage.ticked_by = Some(by);
    stage.green = false;
    stage.stands_for = Some(stands_for);
}

/// A box is opened: its own evidence begins anew.
pub(super) fn opened(book: &mut Book, key: &TaskKey) {
    let stage = book.stage_mut(key);
    stage.own = Accumulated::default();
    stage.tests_delta.clear();
    stage.attempts = 0;
    stage.frozen_only = false;
    stage.ticked_by = None;
    stage.green = false;
    stage.stands_for = None;
    if key.stage == Stage::Final {
        book.gaps.clear();
    }
}

/// Tracked changes that were not there at the last "after": a person's.
fn foreign_dirt(state: &State, snapshot: &Snapshot) -> Vec<String> {
    let known = |package: &PackageState| {
        state.last_after.as_ref().and_then(|after| after.package(&package.name)).map(|seen| &seen.dirt)
    };
    snapshot
        .packages
        .iter()
        .flat_map(|package| {
            package
                .dirt
                .iter()
                .filter(move |dirt| known(package).is_none_or(|seen| !seen.contains(dirt)))
                .map(|dirt| full_path(&package.name, &dirt.path))
        })
        .collect()
}

fn begin_or_clear(state: &mut State, key: &TaskKey, snapshot: &Snapshot) -> Vec<Effect> {
    let left = still_left(state.leftovers.as_ref(), snapshot);
    if left.is_empty() {
        state.leftovers = None;
    } else if state.leftovers.as_ref().is_some_and(|leftovers| leftovers.key != *key) {
        state.phase = Phase::Clearing { leftovers: left };
        return super::owed(state);
    }
    let left = left
        .iter()
        .flat_map(|(package, dirt)| dirt.iter().map(move |dirt| full_path(package, &dirt.path)))
        .collect();
    begin(state, key, snapshot, left)
}

/// The leftovers that still stand in the work tree, by package, as they stand there now.
pub(super) fn still_left(leftovers: Option<&Leftovers>, snapshot: &Snapshot) -> BTreeMap<String, Vec<Dirt>> {
    let mut found = BTreeMap::new();
    for (name, known) in leftovers.iter().flat_map(|leftovers| &leftovers.dirt) {
        let Some(package) = snapshot.package(name) else { continue };
        let now = package.dirt.iter().chain(&package.untracked);
        let left: Vec<Dirt> =
            now.filter(|dirt| known.iter().any(|old| old.path == dirt.path)).cloned().collect();
        if !left.is_empty() {
            found.insert(name.clone(), left);
        }
    }
    found
}

/// Begins an iteration on a box.
fn begin(state: &mut State, key: &TaskKey, snapshot: &Snapshot, leftovers: Vec<String>) -> Vec<Effect> {
    if key.stage.is_gate() {
        return begin_gate(state, key, snapshot, None);
    }
    state.iteration += 1;
    let iteration = state.iteration;
    let mut effects = vec![Effect::WriteBefore { iteration, snapshot: snapshot.clone() }];
    if key.stage == Stage::Final {
        effects.push(Effect::SetReportAside { iteration });
    }
    let book = state.book();
    let row = book.row(key);
    let stage = book.stage(key);
    let order = AgentOrder {
        iteration,
        key: key.clone(),
        text: row.map(|row| words(book, row)).unwrap_or_default(),
        line: row.map_or(0, |row| row.line),
        attempt: stage.map_or(0, |stage| stage.attempts) + 1,
        reasons: stage.map(|stage| stage.reasons.clone()).unwrap_or_default(),
        leftovers,
        changes: covered_changes(book, key)
            .touched
            .iter()
            .flat_map(|(package, paths)| paths.iter().map(|path| full_path(package, path)))
            .collect(),
    };
    state.phase = Phase::Attempting { key: key.clone(), before: snapshot.clone(), process: None };
    effects.push(Effect::StartAgent(Box::new(order)));
    effects
}

/// What a box asks for: the words on its line; those of its task where it has none, as the stages have that
/// ralph writes.
fn words(book: &Book, row: &Row) -> String {
    if !row.text.is_empty() {
        return row.text.clone();
    }
    let work = kin::work_box(book, &row.key.family).and_then(|key| book.row(&key));
    work.map(|work| work.text.clone()).unwrap_or_default()
}

/// Begins a gate's iteration.
pub(super) fn begin_gate(
    state: &mut State,
    key: &TaskKey,
    snapshot: &Snapshot,
    changes: Option<Vec<super::facts::FileChange>>,
) -> Vec<Effect> {
    state.iteration += 1;
    let order = Box::new(gate_order(state, key, snapshot, changes));
    let effects = vec![
        Effect::WriteBefore { iteration: order.iteration, snapshot: snapshot.clone() },
        Effect::RunGate(order.clone()),
    ];
    state.phase = Phase::Judging { order };
    effects
}

/// What a gate is asked to judge now.
fn gate_order(
    state: &State,
    key: &TaskKey,
    snapshot: &Snapshot,
    changes: Option<Vec<super::facts::FileChange>>,
) -> GateOrder {
    let book = state.book();
    let stage = book.stage(key);
    let covered = kin::covered(book, key);
    GateOrder {
        iteration: state.iteration,
        key: key.clone(),
        name: key.stage.word().to_owned(),
        snapshot: snapshot.clone(),
        accumulated: covered_changes(book, key),
        changes,
        former_targets: stage.map(|stage| stage.targets.clone()).unwrap_or_default(),
        changed_since_fail: changed_since(book, &covered, stage.and_then(|stage| stage.failed_at)),
        no_tests_written: covered.iter().any(|family| {
            book.family(family).is_some_and(|family| family.tests_written == Some(0))
                && book.is_done(&TaskKey { family: family.clone(), stage: Stage::TestFirst })
        }),
    }
}

/// The sum of the changes of all families that a stage covers, the earliest first.
pub fn covered_changes(book: &Book, key: &TaskKey) -> Accumulated {
    let mut families: Vec<&Family> =
        kin::covered(book, key).iter().filter_map(|family| book.family(family)).collect();
    families.sort_by_key(|family| family.first_iteration);
    let mut sum = Accumulated::default();
    for family in families {
        sum.join(&family.changes);
    }
    sum
}

fn changed_since(book: &Book, families: &BTreeSet<String>, failed_at: Option<u64>) -> BTreeSet<String> {
    let Some(failed_at) = failed_at else { return BTreeSet::new() };
    families
        .iter()
        .filter_map(|family| book.family(family))
        .flat_map(|family| &family.last_touch)
        .filter(|(_, iteration)| **iteration > failed_at)
        .map(|(path, _)| path.clone())
        .collect()
}
