//! Ends that are neither accepted nor rejected: a usage limit, and the final gate.
//!
//! Owns: how long a limit is waited for, and what COMPLETE means (design §3 "Stops", "Final gate").
//!
//! Promises: FINAL is ticked only when no other required box is open; a limit never counts as an attempt.
//!
//! Refuses to know: how a report is read, how a limit is recognised.

use super::decide::count;
use super::effect::Effect;
use super::event::Validation;
use super::state::{By, Next, StandsFor, State};
use super::survey::ticked;
use super::verdict::{Outcome, conclude, text};
use crate::task::{Mark, TaskKey};

/// Seconds to wait for a usage limit whose reset time is not known (design §3 "Stops").
const LIMIT_WAITS: [u64; 4] = [60, 300, 1800, 7200];

/// The agent reached a usage limit.
pub(super) fn limited(state: &mut State, key: &TaskKey, why: &str, reset: Option<u64>) -> Vec<Effect> {
    let step = usize::try_from(state.run.waits).unwrap_or(usize::MAX).min(LIMIT_WAITS.len() - 1);
    // A printed "try again in 1 s" is taken at its word once; an agent that repeats it is not.
    let least = if state.run.waits == 0 { 1 } else { LIMIT_WAITS[0] };
    let seconds = reset.map_or(LIMIT_WAITS[step], |reset| reset.max(least));
    state.run.waits += 1;
    let why = format!("The agent reached a usage limit: {why}");
    let next = Next::Wait { seconds, why: why.clone() };
    let lines = vec![why, format!("The next attempt waits {}.", count(seconds, "second"))];
    conclude(state, key, Outcome::with(Some(next)), text("WAITING", lines), true)
}

/// The final gate: no model, only the report's cells and the boxes.
pub(super) fn final_gate(
    state: &mut State,
    key: &TaskKey,
    validation: &Validation,
    moved: bool,
) -> Vec<Effect> {
    let open: Vec<String> = state
        .book()
        .rows
        .iter()
        .filter(|row| row.key != *key && super::choice::is_required_open(row))
        .map(|row| row.key.to_string())
        .collect();
    let cells = format!("{} PASS, {} FAIL, {} UNKNOWN", validation.pass, validation.fail, validation.unknown);
    if !open.is_empty() {
        let lines = vec![format!("The report has {cells}; still open: {}.", open.join(", "))];
        return conclude(state, key, Outcome::default(), text("FINAL WAITS", lines), moved);
    }
    let complete = validation.fail == 0 && validation.unknown == 0;
    let heads = state.last_after.as_ref().map(super::facts::Snapshot::heads).unwrap_or_default();
    ticked(state.book_mut(), key, By::Ralph, StandsFor { heads, ..StandsFor::default() });
    let mut lines = vec![format!("The report has {cells}.")];
    if !complete {
        let mut gaps = validation.gaps.clone();
        if gaps.is_empty() {
            gaps.push("the report has no cell that says PASS, FAIL or UNKNOWN".to_owned());
        }
        lines.extend(gaps.iter().map(|gap| format!("- {gap}")));
        state.book_mut().gaps = gaps;
    }
    let headline = if complete { "COMPLETE" } else { "COMPLETE-WITH-GAPS" };
    let outcome = Outcome { flips: vec![(key.clone(), Mark::DONE)], ..Outcome::default() };
    conclude(state, key, outcome, text(headline, lines), moved)
}
