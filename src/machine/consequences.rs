//! What a decision about an attempt leads to: acceptance, rework, another attempt, a block, a wait.

use super::accept::{accept, final_gate};
use super::conclusion::{Outcome, block, conclude, notes, set_verdict, text};
use super::decide::Decision;
use super::effect::Effect;
use super::facts::ProcessEnd;
use super::hierarchy;
use super::rework::rework;
use super::state::{Attempt, Findings, Phase, State};
use super::stop::StopReason;
use crate::source::text::count;
use crate::task::{Stage, TaskKey};

/// Seconds to wait for a usage limit whose reset time is not known.
const LIMIT_WAITS: [u64; 4] = [60, 300, 1800, 7200];

/// Does what a decision leads to.
pub(super) fn follow(
    state: &mut State,
    attempt: &Attempt,
    seen: &Findings,
    decision: Decision,
) -> Vec<Effect> {
    let moved = seen.observation.after.heads() != attempt.before.heads();
    let key = &attempt.key;
    if let ProcessEnd::Limited { why, reset } = &attempt.end {
        return limited(state, key, why, *reset);
    }
    state.run.waits = 0;
    match decision {
        Decision::Accept => accept(state, key, seen, moved),
        Decision::Report(validation) => final_gate(state, key, &validation, moved),
        Decision::Rework(reasons) => {
            let verdict = set_verdict(state, key, "FAIL");
            let own = state.spec_state_mut().stage_mut(key);
            own.findings.clone_from(&reasons);
            own.reasons.clear();
            let families = hierarchy::covered(state.spec_state(), key);
            let outcome = rework(state, key, &families, &reasons);
            let body = text(format!("{} FAIL", key.stage.word()), reasons);
            conclude(state, key, outcome, body, moved || verdict)
        }
        Decision::Retry { reasons, frozen_only } => reject(state, key, reasons, frozen_only, seen, moved),
        Decision::Blocked(why) => {
            let next = block(state, key, &why).map(stop_blocked);
            let outcome = Outcome { notify: next.is_none().then_some("blocked"), next, ..Outcome::default() };
            // For the attempt after `ralph run --retry`.
            let went_on = format!("An earlier attempt was blocked, and a person had the task go on: {why}");
            state.spec_state_mut().stage_mut(key).reasons = vec![went_on];
            let lines = std::iter::once(why).chain(notes(seen)).collect();
            conclude(state, key, outcome, text("BLOCKED", lines), moved)
        }
        Decision::Uncounted => {
            let lines = vec![format!("The attempt {}; it is not counted.", attempt.end)];
            conclude(state, key, Outcome::default(), text("INTERRUPTED", lines), true)
        }
        Decision::NeedsCheck { .. } => Vec::new(),
    }
}

fn stop_blocked(reason: String) -> Phase {
    Phase::Stopped(StopReason::Blocked { reasons: vec![reason] })
}

/// Another attempt, or a block when the attempts are used up.
fn reject(
    state: &mut State,
    key: &TaskKey,
    mut reasons: Vec<String>,
    frozen_only: bool,
    seen: &Findings,
    moved: bool,
) -> Vec<Effect> {
    let limit = state.policy.attempts;
    let stage = state.spec_state_mut().stage_mut(key);
    stage.frozen_only = frozen_only && (stage.attempts == 0 || stage.frozen_only);
    stage.attempts += 1;
    stage.reasons.clone_from(&reasons);
    let (attempts, frozen_only) = (stage.attempts, stage.frozen_only);
    let mut outcome = Outcome::default();
    if attempts >= limit {
        if frozen_only && let Some(tests) = reopen_test_first(state, key, &reasons, &mut outcome) {
            reasons.push(format!("The worker cannot keep these lines: {tests} is opened once."));
        } else {
            let why = format!("{key} was rejected {} in a row.", count(u64::from(attempts), "time"));
            outcome.next = block(state, key, &why).map(stop_blocked);
            outcome.notify = outcome.next.is_none().then_some("blocked");
            reasons.push(format!("BLOCKED: {why}"));
        }
    }
    reasons.extend(notes(seen));
    let headline = format!("REJECTED (attempt {attempts} of {limit})");
    conclude(state, key, outcome, text(headline, reasons), moved)
}

/// Opens TEST-FIRST, once a family, because the worker could not keep its lines.
fn reopen_test_first(
    state: &mut State,
    key: &TaskKey,
    reasons: &[String],
    outcome: &mut Outcome,
) -> Option<TaskKey> {
    let tests = TaskKey { family: key.family.clone(), stage: Stage::TestFirst };
    let spec = state.spec_state_mut();
    spec.row(&tests)?;
    if std::mem::replace(&mut spec.family_mut(&key.family).test_first_reopened, true) {
        return None;
    }
    outcome.flips.open(spec, &tests);
    spec.stage_mut(&tests).reasons = reasons.to_vec();
    let work = spec.stage_mut(key);
    work.attempts = 0;
    work.frozen_only = false;
    Some(tests)
}

/// The agent reached a usage limit: not counted as an attempt.
fn limited(state: &mut State, key: &TaskKey, why: &str, reset: Option<u64>) -> Vec<Effect> {
    let step = usize::try_from(state.run.waits).unwrap_or(usize::MAX).min(LIMIT_WAITS.len() - 1);
    // A printed "try again in 1 s" is believed once; an agent that repeats it is not.
    let least = if state.run.waits == 0 { 1 } else { LIMIT_WAITS[0] };
    let seconds = reset.map_or(LIMIT_WAITS[step], |reset| reset.max(least));
    state.run.waits += 1;
    let why = format!("The agent reached a usage limit: {why}");
    let lines = vec![why.clone(), format!("The next attempt waits {}.", count(seconds, "second"))];
    let outcome = Outcome { next: Some(Phase::Waiting { seconds, why }), ..Outcome::default() };
    conclude(state, key, outcome, text("WAITING", lines), true)
}
