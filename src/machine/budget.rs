//! What attempts used, as their CLIs count it, and the budgets of a run, a task and an attempt.
//!
//! Where a CLI counts a whole session, an attempt that continues one is given the difference. What no CLI tells is not
//! counted. An attempt is measured while it runs, as far as its transcript tells, and at its end.

use super::state::{State, Used};
pub use super::used::{Most, dollars};
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

/// Which budget is used up before an attempt at this box, a whole sentence.
pub(super) fn used_up(state: &State, key: &TaskKey) -> Option<String> {
    let of_run = || {
        let words = Most::of(&state.policy, |budget| budget.run).over(state.run.used)?;
        Some(format!("The run used {words} (limits.*.run)."))
    };
    let of_task = || {
        let family = state.spec_state().family(&key.family);
        let used = family
            .map(|family| family.used.since(family.used_before))
            .unwrap_or_default();
        let words = Most::of(&state.policy, |budget| budget.task).over(used)?;
        Some(format!("Task {} used {words} (limits.*.task).", key.family))
    };
    state.run.over.clone().or_else(of_run).or_else(of_task)
}
