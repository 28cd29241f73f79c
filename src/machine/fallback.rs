//! Selects the agent of a role for the next attempt.
//!
//! It is the first one within its quota and in reach.
//!
//! A new run tries every agent again. Time comes from surveys and from the duration of attempts and
//! waits since: it never runs backwards within a run.

use super::state::{RestCause, State};
use crate::source::text::duration;
use crate::task::TaskKey;

/// The agents of a box, the preferred one first; none for a gate, and in journals that do not name them.
pub(super) fn agents_of<'a>(state: &'a State, key: &TaskKey) -> &'a [String] {
    state
        .policy
        .agents
        .get(&key.stage)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// The agent that an attempt at the box is made with now; `Err` if all are out of quota: the one that is back first, and
/// the seconds until then.
pub(super) fn choose(state: &State, key: &TaskKey) -> Result<String, (String, u64)> {
    let mut waits = Vec::new();
    for name in agents_of(state, key) {
        let known = state.run.out_of_quota.get(name);
        let left = known.map_or(0, |known| known.until.saturating_sub(state.run.now));
        waits.push((left, name));
    }
    // Ties go to the agent listed first.
    match waits.into_iter().min_by_key(|(left, _)| *left) {
        None => Ok(String::new()),
        Some((0, name)) => Ok(name.clone()),
        Some((left, name)) => Err((name.clone(), left)),
    }
}

/// The agent of the iteration on the box, if it is not the preferred one.
pub fn stand_in<'a>(state: &'a State, key: &TaskKey) -> Option<&'a str> {
    let (name, first) = (&state.run.agent, agents_of(state, key).first()?);
    (!name.is_empty() && name != first).then_some(name)
}

/// For the entry of its attempt.
pub(super) fn remark(state: &State, key: &TaskKey) -> Option<String> {
    let (name, first) = (stand_in(state, key)?, agents_of(state, key).first()?);
    Some(format!("The agent was `{name}`, in place of `{first}`."))
}

/// Describes for the entry of an attempt how long its agent rests at the share of `limits.quota`.
pub(super) fn describe_rest(state: &State) -> Option<String> {
    let out = state.run.out_of_quota.get(&state.run.agent)?;
    if !matches!(out.cause, RestCause::Share { .. }) {
        return None;
    }
    let sentence = out.cause.sentence(&state.run.agent)?;
    let again = duration(out.until.saturating_sub(state.run.now));
    Some(format!("{sentence} Its next attempt begins in {again}."))
}
