//! Reworks that pay nothing: the survivors that a gate listed are all alive at its next verdict.
//!
//! A survivor is known by its place in the code and not by its line, so that moving code is no progress. A mutant that is gone,
//! because its code was removed, is progress. What a list leaves out is unknown, so it never counts as alive.

use super::facts::full_path;
use super::state::{State, Used};
use super::used::dollars;
use crate::mutation::{GateReport, Survivor};
use crate::source::text::count;
use crate::task::TaskKey;
use std::collections::BTreeSet;

/// Survivors that the sentence of a block names.
const NAMED: usize = 5;

/// Takes a FAIL of this gate. Returns why its task is blocked, once two reworks in a row killed no listed survivor.
pub(super) fn note_fail(state: &mut State, key: &TaskKey, report: &GateReport) -> Option<String> {
    let most = state.policy.fruitless?;
    let now: BTreeSet<String> = report.survivors.iter().map(identity).collect();
    // A FAIL for another reason, such as a red test, tells nothing of the survivors.
    if now.is_empty() {
        return None;
    }
    let used = state.run.used;
    let listed = &mut state.spec_state_mut().stage_mut(key).listed;
    let is_fruitless = !listed.survivors.is_empty() && listed.survivors.is_subset(&now);
    if is_fruitless {
        // A new run counts from nothing.
        let spent = used.since(listed.used).unwrap_or(used);
        listed.fruitless.push(spent);
    } else {
        listed.fruitless.clear();
    }
    (listed.survivors, listed.used) = (now, used);
    if listed.fruitless.len() < most {
        return None;
    }
    let costs: Vec<String> = std::mem::take(&mut listed.fruitless)
        .iter()
        .map(cost)
        .collect();
    let name = state.spec_state().title(key);
    let alive = report.survivors.iter().take(NAMED).map(survivor_place);
    let alive: Vec<String> = alive.collect();
    let more = report.survivors_total.saturating_sub(alive.len() as u64);
    let more = if more > 0 {
        format!(" and {}", count(more, "more survivor"))
    } else {
        String::new()
    };
    Some(format!(
        "{} in a row killed no survivor that {name} lists ({}). Still alive: {}{more}.",
        count(most as u64, "rework"),
        costs.join(" and "),
        alive.join(", "),
    ))
}

fn identity(survivor: &Survivor) -> String {
    let mutant = &survivor.mutant;
    [
        &survivor.package,
        &mutant.class,
        &mutant.file,
        &mutant.method,
        &mutant.mutator,
        &mutant.description,
        &survivor.source,
    ]
    .map(String::as_str)
    .join("\n")
}

/// Returns the file, line and mutator of a survivor: `app/src/Foo.java:12 Math`.
pub(super) fn survivor_place(survivor: &Survivor) -> String {
    let mutant = &survivor.mutant;
    // Two packages may have a file of that name.
    let file = match &survivor.path {
        Some(path) => full_path(&survivor.package, path),
        None => mutant.file.clone(),
    };
    format!("{file}:{} {}", mutant.line, mutant.mutator)
}

/// The cost of a rework, with its reviews.
fn cost(used: &Used) -> String {
    match (used.priced, used.tokens) {
        (0, 0) => "cost not reported".to_owned(),
        (0, tokens) => count(tokens, "token"),
        _ => dollars(used.micros),
    }
}
