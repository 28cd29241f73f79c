//! Consequences of an attempt that its provider cut short: another agent's turn, or a wait.
//!
//! A run waits when all agents of the box are out of quota or reach, until the first one is back.
//! It also waits once for an outage.

use super::conclusion::{IterationOutcome, conclude, text};
use super::effect::Effect;
use super::fallback::{agents_of, choose};
use super::state::{Attempt, OutOfQuota, Phase, RestCause, State};
use super::stop::StopReason;
use crate::source::text::{count, duration};
use crate::task::TaskKey;
use std::collections::BTreeMap;

/// Seconds to wait for a usage limit whose reset time is not known, and for an outage.
const WAITS: [u64; 4] = [60, 300, 1800, 7200];

/// Limits in a row that are learned from other runs before an agent is tried nevertheless.
const MOST_LEARNED: u32 = 3;

/// Seconds by which the end of a limit in a notice may differ from the end that this run knows.
const SAME: u64 = 60;

/// The next action after so many waits.
const HOPELESS: &str =
    "ask the provider, or the agent's own CLI, when it works again; then `ralph run` continues";

/// Waits before an attempt for which all agents are out of quota.
pub(super) fn wait_first(
    state: &mut State,
    key: &TaskKey,
    (name, seconds): (String, u64),
) -> Vec<Effect> {
    let why = all_out(state, key, &name);
    state.phase = Phase::Waiting {
        seconds,
        exact: is_exact(state, &name),
        why: why.clone(),
    };
    let mut effects = vec![Effect::Notify {
        event: "waiting",
        task: state.spec_state().written_name(key),
        why,
    }];
    effects.extend(super::owed(state));
    effects
}

/// A usage limit: the next attempt is another agent's, or begins later. `reset`: seconds until the time that it printed.
pub(super) fn limited(state: &mut State, attempt: &Attempt, reset: Option<u64>) -> Vec<Effect> {
    set_aside(state, attempt, reset, "OUT OF QUOTA")
}

/// An outage: the next attempt begins later. Most are over by then; where the same agent meets another one, the next
/// attempt is another agent's.
pub(super) fn outage(state: &mut State, attempt: &Attempt) -> Vec<Effect> {
    let is_first = state.run.waits == 0 && !state.run.out_of_quota.contains_key(&state.run.agent);
    if is_first || !state.policy.outage_hands_over {
        let seconds = seconds(state.run.waits, None);
        return wait(
            state,
            attempt,
            vec![format!("The agent {}", attempt.end)],
            seconds,
            false,
        );
    }
    set_aside(state, attempt, None, "OUT OF REACH")
}

fn set_aside(
    state: &mut State,
    attempt: &Attempt,
    reset: Option<u64>,
    headline: &str,
) -> Vec<Effect> {
    let name = state.run.agent.clone();
    let known = state.run.out_of_quota.get(&name);
    let times = known.map_or(0, |known| known.times).max(state.run.waits);
    let seconds = seconds(times, reset);
    let until = state.run.now.saturating_add(seconds);
    let out = OutOfQuota {
        until,
        exact: reset.is_some(),
        times: times + 1,
        cause: RestCause::Own,
    };
    state.run.out_of_quota.insert(name.clone(), out);
    let mut lines = vec![format!("The agent {}", attempt.end)];
    if agents_of(state, &attempt.key).len() < 2 {
        return wait(state, attempt, lines, seconds, reset.is_some());
    }
    match choose(state, &attempt.key) {
        Ok(next) => {
            let again = duration(seconds);
            lines.push(format!(
                "`{next}` makes the next attempt; `{name}` is tried again in {again}."
            ));
            conclude(
                state,
                &attempt.key,
                IterationOutcome::default(),
                text(headline, lines),
                true,
            )
        }
        Err((first, seconds)) => {
            lines.push(all_out(state, &attempt.key, &first));
            wait(state, attempt, lines, seconds, is_exact(state, &first))
        }
    }
}

/// Sets the agent of the attempt aside if its CLI reported the share of `limits.quota`.
///
/// The agent rests until all windows with that share have ended.
pub(super) fn rest_at_share(state: &mut State) {
    let name = state.run.agent.clone();
    let former = state.run.out_of_quota.remove(&name);
    let Some(stop_at) = state.policy.quota else {
        return;
    };
    let used_up = state
        .run
        .quota
        .iter()
        .filter(|share| share.percent >= stop_at);
    let Some(share) = used_up.max_by_key(|share| (share.reset, share.percent)) else {
        return;
    };
    // An attempt asks again about a window without a known end, at growing intervals.
    let times = former
        .filter(|known| matches!(known.cause, RestCause::Share { .. }))
        .map_or(0, |known| known.times);
    let out = OutOfQuota {
        until: state.run.now.saturating_add(seconds(times, share.reset)),
        exact: share.reset.is_some(),
        times: times + 1,
        cause: RestCause::Share {
            window: share.window.clone(),
            percent: share.percent,
        },
    };
    state.run.out_of_quota.insert(name, out);
}

/// Takes the limits that other agents with the same logins reached.
///
/// After [`MOST_LEARNED`] such limits in a row an attempt is made in spite of the notices.
pub(super) fn learn_limits(state: &mut State, limits: &BTreeMap<String, u64>) {
    if state.run.learned >= MOST_LEARNED {
        return;
    }
    let mut has_learned = false;
    for (name, until) in limits {
        let known = state.run.out_of_quota.get(name);
        let known_until = known.map_or(state.run.now, |known| known.until.saturating_add(SAME));
        if *until <= known_until {
            continue;
        }
        let out = OutOfQuota {
            until: *until,
            exact: true,
            times: known.map_or(0, |known| known.times),
            cause: RestCause::Elsewhere,
        };
        has_learned = true;
        state.run.out_of_quota.insert(name.clone(), out);
    }
    state.run.learned += u32::from(has_learned);
}

fn all_out(state: &State, key: &TaskKey, first: &str) -> String {
    let name = state.spec_state().title(key);
    let mut text =
        format!("Every agent of {name} is out of quota or reach; `{first}` is back first.");
    let out = state.run.out_of_quota.get(first);
    if let Some(sentence) = out.and_then(|out| out.cause.sentence(first)) {
        text = format!("{text} {sentence}");
    }
    text
}

fn is_exact(state: &State, name: &str) -> bool {
    state
        .run
        .out_of_quota
        .get(name)
        .is_some_and(|known| known.exact)
}

/// Returns the seconds to wait after `times` waits in a row.
fn seconds(times: u32, reset: Option<u64>) -> u64 {
    let step = usize::try_from(times)
        .unwrap_or(usize::MAX)
        .min(WAITS.len() - 1);
    // A printed "try again in 1 s" is believed once; an agent that repeats it is not.
    let least = if times == 0 { 1 } else { WAITS[0] };
    reset.map_or(WAITS[step], |reset| reset.max(least))
}

/// The CLI cannot work for now: not counted as an attempt.
fn wait(
    state: &mut State,
    attempt: &Attempt,
    mut lines: Vec<String>,
    seconds: u64,
    exact: bool,
) -> Vec<Effect> {
    state.run.waits += 1;
    let why = lines.join(" ");
    if state
        .policy
        .waits
        .is_some_and(|most| state.run.waits > most)
    {
        // An agent that prints nothing but such messages would have the run wait for ever.
        let times = count(u64::from(state.run.waits), "time");
        let stop = StopReason::NotSetUp {
            why: format!("{why} That is {times} in a row."),
            hint: HOPELESS.to_owned(),
        };
        let outcome = IterationOutcome {
            next: Some(Phase::Stopped(stop)),
            ..IterationOutcome::default()
        };
        return conclude(
            state,
            &attempt.key,
            outcome,
            text("WAITED ENOUGH", lines),
            true,
        );
    }
    lines.push(format!("The next attempt begins in {}.", duration(seconds)));
    let next = Some(Phase::Waiting {
        seconds,
        exact,
        why,
    });
    let outcome = IterationOutcome {
        next,
        notify: Some("waiting"),
        ..IterationOutcome::default()
    };
    conclude(state, &attempt.key, outcome, text("WAITING", lines), true)
}
