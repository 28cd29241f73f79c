//! What people and other loops ask for: accept, reopen, pin, gate.
//!
//! Owns: the meaning of `ralph accept`, `reopen`, `snapshot` and `gate <ID>` (design §3 "People", §4 "In
//! anybody's loop").
//!
//! Promises: the same bookkeeping as for ralph's own flips, marked as a person's.
//!
//! Refuses to know: flags, terminals, who the person is.

use super::effect::Effect;
use super::facts::{FileChange, Snapshot};
use super::kin;
use super::stale;
use super::state::{By, Next, Phase, StandsFor, State};
use super::survey::{begin_gate, opened, ticked};
use super::verdict::{Outcome, conclude, text, with_parents};
use crate::task::{Mark, TaskKey};

/// `ralph accept`.
pub(super) fn accepted(state: &mut State, key: &TaskKey, reason: &str, snapshot: &Snapshot) -> Vec<Effect> {
    state.iteration += 1;
    let stands_for = StandsFor { heads: snapshot.heads(), ..StandsFor::default() };
    let book = state.book_mut();
    book.family_mut(&key.family).blocked = None;
    ticked(book, key, By::Person, stands_for.clone());
    let mut flips = vec![(key.clone(), Mark::DONE)];
    for family in kin::covered(book, key) {
        let was_opened = book.family(&family).is_some_and(|known| known.opened_by.as_ref() == Some(key));
        let Some(work) = kin::work_box(book, &family).filter(|_| was_opened) else { continue };
        book.family_mut(&family).opened_by = None;
        book.family_mut(&family).blocked = None;
        ticked(book, &work, By::Person, stands_for.clone());
        flips.push((work, Mark::DONE));
    }
    by_person(state, key, "ACCEPTED BY A PERSON", reason, flips)
}

/// `ralph reopen`.
pub(super) fn reopened(state: &mut State, key: &TaskKey, reason: &str) -> Vec<Effect> {
    state.iteration += 1;
    let book = state.book_mut();
    book.family_mut(&key.family).blocked = None;
    opened(book, key);
    book.stage_mut(key).reasons = vec![reason.to_owned()];
    by_person(state, key, "REOPENED BY A PERSON", reason, vec![(key.clone(), Mark::OPEN)])
}

fn by_person(
    state: &mut State,
    key: &TaskKey,
    headline: &str,
    reason: &str,
    flips: Vec<(TaskKey, Mark)>,
) -> Vec<Effect> {
    let outcome = Outcome { flips, ..Outcome::default() };
    conclude(state, key, outcome, text(headline, vec![reason.to_owned()]), true)
}

/// `ralph snapshot`: the first call pins the base; each opens the gates that judged another commit.
pub(super) fn pinned(state: &mut State, family: &str, snapshot: &Snapshot) -> Vec<Effect> {
    state.iteration += 1;
    let iteration = state.iteration;
    let heads = snapshot.heads();
    let book = state.book_mut();
    let known = book.family_mut(family);
    known.changes.everything = true;
    if known.first_iteration == 0 {
        known.first_iteration = iteration;
    }
    for (package, head) in &heads {
        known.changes.bases.entry(package.clone()).or_insert_with(|| head.clone());
    }
    let stale = stale::gates_of_other_commits(book, family, &heads);
    for key in &stale {
        opened(book, key);
    }
    let flips = with_parents(state, stale.into_iter().map(|key| (key, Mark::OPEN)).collect());
    let mut effects = vec![Effect::WriteBefore { iteration, snapshot: snapshot.clone() }];
    if !flips.is_empty() {
        state.phase = Phase::Applying { flips, entry: None, then: Next::GoOn };
        effects.extend(super::owed(state));
    }
    effects
}

/// `ralph gate <ID>`.
pub(super) fn gate_requested(
    state: &mut State,
    key: &TaskKey,
    snapshot: &Snapshot,
    changes: Option<Vec<FileChange>>,
) -> Vec<Effect> {
    begin_gate(state, key, snapshot, changes)
}
