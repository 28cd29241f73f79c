//! A gate ahead of need: started beside a reviewer, judged before its turn.
//!
//! Owns: which gate may start while a reviewer works, when its verdict is used, and when it is cancelled.
//!
//! Promises: a verdict found ahead is used once, by its own gate, and only where commits, scope, settings and
//! engine are the same when the gate's turn has come; an ERROR found ahead is never used; what is found
//! changed in tasks.md after such a gate ran is nobody's word.
//!
//! Refuses to know: threads, processes, priorities.
//!
//! ```text
//! reviewer begins ─► StartAhead ─► (runs beside the agents) ─► GateJudgedAhead ─► kept
//!                        │                                                        │
//!      HEAD or order     ▼       its turn, still running         its turn         ▼
//!      is another: CancelAhead          AwaitAhead         Judging ─► TakeVerdict ─► GateEnded
//! ```

use super::choice::{Choice, choose};
use super::effect::{AheadOrder, Effect, GateOrder};
use super::facts::{Basis, FileChange, Snapshot};
use super::kin;
use super::state::{Ahead, Book, Family, Foreseen, Phase, State};
use super::stop::Stop;
use super::survey::gate_order;
use crate::mutation::{GateReport, Verdict};
use crate::task::{Mark, TaskKey, digest};

/// An agent's iteration begins: what is to be done before it, and what beside it.
pub(super) fn beside(state: &mut State, key: &TaskKey, snapshot: &Snapshot) -> (Vec<Effect>, Option<Effect>) {
    let wanted = wanted(state, key, snapshot);
    if let (Some(known), Some(wanted)) = (&state.ahead, &wanted)
        && known.basis == wanted.basis
    {
        return (Vec::new(), None);
    }
    let before = cancel(state);
    let start = wanted.map(|wanted| {
        let (basis, iteration) = (wanted.basis.clone(), state.iteration);
        state.ahead = Some(Ahead { basis, iteration, verdict: None });
        state.suspect = true;
        Effect::StartAhead(Box::new(wanted))
    });
    (before, start)
}

/// A gate's turn has come: what is to be done before it, and how its verdict is got.
pub(super) fn arrive(state: &mut State, order: &GateOrder) -> (Vec<Effect>, Effect) {
    if is_running(state) && !is_about(state, order) {
        let before = cancel(state);
        return (before, Effect::RunGate(Box::new(order.clone())));
    }
    (Vec::new(), asked(state, order))
}

/// How the verdict of a gate is got when its turn has come.
pub(super) fn asked(state: &State, order: &GateOrder) -> Effect {
    let run = || Effect::RunGate(Box::new(order.clone()));
    let Some(ahead) = state.ahead.as_ref().filter(|_| is_about(state, order)) else { return run() };
    let Some(foreseen) = &ahead.verdict else { return Effect::AwaitAhead };
    if matches!(foreseen.report.verdict, Verdict::Error { .. }) {
        return run();
    }
    let mut report = Box::new(foreseen.report.clone());
    report
        .remarks
        .push(format!("The verdict was found ahead of need, beside iteration {}.", ahead.iteration));
    let (heads, changes) = (ahead.basis.heads.clone(), foreseen.changes.clone());
    Effect::TakeVerdict { report, heads, changes }
}

/// Is what ran ahead exactly what this order asks for?
fn is_about(state: &State, order: &GateOrder) -> bool {
    let known = state.ahead.as_ref().map(|ahead| &ahead.basis);
    known.is_some() && known == basis(state, order).as_ref()
}

/// A gate that ran ahead came to its end.
pub(super) fn judged(
    state: &mut State,
    basis: &Basis,
    report: &GateReport,
    changes: &[FileChange],
) -> Vec<Effect> {
    let Some(ahead) = state.ahead.as_mut().filter(|ahead| ahead.verdict.is_none() && ahead.basis == *basis)
    else {
        return Vec::new();
    };
    ahead.verdict = Some(Box::new(Foreseen { report: report.clone(), changes: changes.to_vec() }));
    match &state.phase {
        Phase::Judging { order } if order.key == basis.key => vec![asked(state, order)],
        _ => Vec::new(),
    }
}

/// A gate ended in its own iteration: what was found ahead for it has served.
pub(super) fn served(state: &mut State, key: &TaskKey) {
    if state.ahead.as_ref().is_some_and(|ahead| ahead.basis.key == *key) {
        state.ahead = None;
    }
}

/// True while a gate runs ahead.
pub(super) fn is_running(state: &State) -> bool {
    state.ahead.as_ref().is_some_and(|ahead| ahead.verdict.is_none())
}

/// Ends the gate that runs ahead, if one does. A verdict that is known stays.
fn cancel(state: &mut State) -> Vec<Effect> {
    if !is_running(state) {
        return Vec::new();
    }
    state.ahead = None;
    vec![Effect::CancelAhead]
}

/// A process of ralph begins: what ran ahead in an earlier one went with it.
pub(super) fn forget_running(state: &mut State) {
    cancel(state);
}

/// tasks.md is not as it was left, and a gate ran meanwhile: nobody knows who wrote. It is put back as
/// after an agent, and the gate waits for its turn.
pub(super) fn distrust(state: &mut State) -> Vec<Effect> {
    let mut effects = cancel(state);
    state.phase = Phase::Tidying { then: Box::new(Phase::Idle) };
    effects.extend(super::owed(state));
    effects
}

/// The end of the run: nothing runs on, and what a gate may have written to tasks.md is put back first.
pub(super) fn leave(state: &mut State, stop: Stop) -> Vec<Effect> {
    if !state.suspect {
        return vec![Effect::Finish(stop)];
    }
    let mut effects = cancel(state);
    state.phase = Phase::Tidying { then: Box::new(Phase::Stopped(stop)) };
    effects.extend(super::owed(state));
    effects
}

/// The gate that may run while this reviewer works: the one that the loop reaches next when every review of
/// the family passes.
fn wanted(state: &State, key: &TaskKey, snapshot: &Snapshot) -> Option<AheadOrder> {
    let book = state.book();
    let work = kin::work_box(book, &key.family).filter(|work| book.is_done(work));
    let is_last = state.policy.iterations.is_some_and(|limit| state.run.iterations + 2 > limit);
    if state.policy.ahead.is_empty() || !key.stage.is_review() || work.is_none() || is_last {
        return None;
    }
    let Choice::Take(gate) = choose(&reviewed(book, &key.family), state.policy.optional) else { return None };
    if !gate.stage.is_gate() || !kin::covered(book, &gate).contains(&key.family) {
        return None;
    }
    let order = GateOrder { ahead: true, ..gate_order(state, &gate, snapshot, None) };
    if order.accumulated.is_empty() {
        return None;
    }
    let basis = basis(state, &order)?;
    Some(AheadOrder { order, basis })
}

/// The book as it will be when every review of a family has passed; as much of it as a choice looks at.
fn reviewed(book: &Book, family: &str) -> Book {
    let mut rows = book.rows.clone();
    for row in &mut rows {
        if row.key.family == family && row.key.stage.is_review() && row.mark.is_open() {
            row.mark = Mark::DONE;
        }
    }
    let blocked = book.families.iter().filter(|(_, known)| known.blocked.is_some());
    let families = blocked
        .map(|(name, known)| (name.clone(), Family { blocked: known.blocked.clone(), ..Family::default() }))
        .collect();
    Book { rows, families, ..Book::default() }
}

/// What a verdict on this order depends on; `None` for a gate that never runs ahead.
fn basis(state: &State, order: &GateOrder) -> Option<Basis> {
    let judge = state.policy.ahead.get(&order.name)?;
    let scope = (
        &state.spec,
        &order.accumulated,
        &order.changes,
        &order.former_targets,
        &order.changed_since_fail,
        order.no_tests_written,
    );
    Some(Basis {
        key: order.key.clone(),
        heads: order.snapshot.heads(),
        scope: digest(format!("{scope:?}").as_bytes()),
        settings: judge.settings.clone(),
        engine: judge.engine.clone(),
    })
}
