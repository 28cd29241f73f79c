//! Usage of attempts, and the budgets of a run, a task and an attempt.
//!
//! Usage is as the CLIs count it.
//!
//! Where a CLI counts a whole session, an attempt that continues one is charged the difference.
//! Usage that no CLI reports is not counted. An attempt is measured while it runs, as far as its
//! transcript shows usage, and at its end.

use super::state::{State, Used};
pub use super::used::{Allowance, Most, dollars};
use crate::task::TaskKey;
use crate::turn::Usage;

/// Counts what an attempt used.
pub(super) fn note(state: &mut State, key: &TaskKey, usage: Option<&Usage>) {
    let Some(usage) = usage else { return };
    let session = usage.session.as_ref().filter(|id| !id.is_empty());
    let (tokens, micros) = usage.since(session.and_then(|id| state.sessions.get(id)));
    if let Some(id) = session.filter(|_| usage.tokens_of_session || usage.micros_of_session) {
        state.sessions.insert(id.clone(), usage.clone());
    }
    let used = Used {
        tokens: tokens.unwrap_or(0),
        micros: micros.unwrap_or(0),
        priced: usize::from(micros.is_some()),
    };
    state.run.used = state.run.used.and(used);
    let family = state.spec_state_mut().family_mut(&key.family);
    family.used = family.used.and(used);
    let name = state.spec_state().title(key);
    let over = Most::of(&state.policy, |budget| budget.attempt).over(used);
    state.run.over =
        over.map(|words| format!("An attempt of {name} used {words} (limits.*.attempt)."));
}

/// Returns what is printed while a run waits for a larger budget.
pub(super) fn question(what: &str) -> String {
    format!("{what} `ralph resume --cost USD` or `--tokens N` allows more, and the run continues.")
}

/// Allows more for the task of a box and for the run, so that one answer is enough where both budgets are used up.
pub(super) fn allow(state: &mut State, key: &TaskKey, more: Allowance) {
    if more.is_none() {
        return;
    }
    state.run.over = None;
    state.run.allowed = state.run.allowed.and(more);
    let family = state.spec_state_mut().family_mut(&key.family);
    family.allowed = family.allowed.and(more);
}

/// Returns the sentence on a budget that is used up before an attempt at this box.
pub(super) fn used_up(state: &State, key: &TaskKey) -> Option<String> {
    if let Some(over) = &state.run.over {
        return Some(over.clone());
    }
    let most = Most::of(&state.policy, |budget| budget.run).with(state.run.allowed);
    if let Some(words) = most.over(state.run.used) {
        return Some(format!("The run used {words} (limits.*.run)."));
    }
    let family = state.spec_state().family(&key.family);
    let (used, allowed) = family
        .map(|family| {
            let used = family.used.since(family.used_before);
            (used.unwrap_or_default(), family.allowed)
        })
        .unwrap_or_default();
    let most = Most::of(&state.policy, |budget| budget.task).with(allowed);
    let words = most.over(used)?;
    Some(format!("Task {} used {words} (limits.*.task).", key.family))
}
