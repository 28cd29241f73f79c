//! Consequences of a decision about an attempt: acceptance, rework, another attempt, a block, a
//! wait.

use super::accept::{accept, final_gate};
use super::conclusion::{IterationOutcome, block, conclude, notes, set_verdict, text};
use super::decide::Decision;
use super::effect::Effect;
use super::facts::ProcessEnd;
use super::rework::rework;
use super::state::{Attempt, Findings, Phase, State};
use super::stop::StopReason;
use super::{hierarchy, lanes, waits};
use crate::source::text::{count, line};
use crate::task::{Stage, TaskKey};

/// Characters of the reasons that the sentence of a block repeats.
const SHOWN: usize = 600;

/// Does what a decision leads to.
pub(super) fn follow(
    state: &mut State,
    attempt: &Attempt,
    seen: &Findings,
    decision: Decision,
) -> Vec<Effect> {
    let moved = seen.observation.after.heads() != attempt.before.heads();
    let key = &attempt.key;
    match &attempt.end {
        ProcessEnd::Limited { reset, .. } => return waits::limited(state, attempt, *reset),
        ProcessEnd::Outage { .. } => return waits::outage(state, attempt),
        ProcessEnd::NotSetUp { hint, .. } => return not_set_up(state, attempt, hint),
        _ => {
            (state.run.waits, state.run.not_set_up) = (0, 0);
            state.run.learned = 0;
            waits::rest_at_share(state);
        }
    }
    match decision {
        Decision::Accept => accept(state, key, seen, moved),
        Decision::Report(validation) => final_gate(state, key, &validation, moved),
        Decision::Rework(reasons) => {
            let verdict = set_verdict(state, key, "FAIL");
            let own = state.spec_state_mut().stage_mut(key);
            own.findings.clone_from(&reasons);
            own.reasons.clear();
            let families = hierarchy::covered(state.spec_state(), key);
            let outcome = rework(state, key, &families, &reasons, None);
            let body = text(format!("{} FAIL", key.stage.stage_word()), reasons);
            conclude(state, key, outcome, body, moved || verdict)
        }
        Decision::Retry {
            mut reasons,
            frozen_only,
        } => {
            reasons.extend(last_words(state, attempt));
            reject(state, key, reasons, frozen_only, seen, moved)
        }
        Decision::Blocked(why) => {
            let outcome = blocked(state, key, &why);
            // For the attempt after `ralph run --retry`.
            let went_on =
                format!("A person resumed the task after an earlier attempt was blocked: {why}");
            state.spec_state_mut().stage_mut(key).reasons = vec![went_on];
            let lines = std::iter::once(why)
                .chain(notes(state.spec_state(), seen))
                .collect();
            conclude(state, key, outcome, text("BLOCKED", lines), moved)
        }
        Decision::Uncounted => {
            let lines = vec![format!("The attempt {}; it is not counted.", attempt.end)];
            conclude(
                state,
                key,
                IterationOutcome::default(),
                text("INTERRUPTED", lines),
                true,
            )
        }
        Decision::NeedsCheck { .. } => Vec::new(),
    }
}

/// Blocks the family of a box, and stops the run or continues with other families.
fn blocked(state: &mut State, key: &TaskKey, why: &str) -> IterationOutcome {
    match block(state, key, why) {
        Some(reason) => {
            let stop = Phase::Stopped(StopReason::Blocked {
                reasons: vec![reason],
            });
            IterationOutcome {
                next: Some(stop),
                ..IterationOutcome::default()
            }
        }
        None => IterationOutcome {
            notify: Some("blocked"),
            ..IterationOutcome::default()
        },
    }
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
    if let Some(lane) = lanes::number(&state.run.agent) {
        let stage = state.spec_state_mut().stage_mut(key);
        stage.lane_failed = true;
        stage.reasons.clone_from(&reasons);
        reasons.extend(notes(state.spec_state(), seen));
        let headline = format!("REJECTED (work of lane {lane}; the worker is next)");
        return conclude(
            state,
            key,
            IterationOutcome::default(),
            text(headline, reasons),
            moved,
        );
    }
    let stage = state.spec_state_mut().stage_mut(key);
    stage.frozen_only = frozen_only && (stage.attempts == 0 || stage.frozen_only);
    stage.attempts += 1;
    stage.reasons.clone_from(&reasons);
    let (attempts, frozen_only) = (stage.attempts, stage.frozen_only);
    let mut outcome = IterationOutcome::default();
    if attempts >= limit {
        if frozen_only && let Some(tests) = reopen_test_first(state, key, &reasons, &mut outcome) {
            reasons.push(format!(
                "The worker cannot keep these lines: {tests} is unticked once."
            ));
        } else {
            let times = count(u64::from(attempts), "time");
            let why = format!(
                "{} was rejected {times} in a row",
                state.spec_state().title(key)
            );
            outcome = blocked(
                state,
                key,
                &format!("{why}: {}", line(&reasons.join(" "), SHOWN)),
            );
            reasons.push(format!("BLOCKED: {why}."));
        }
    }
    reasons.extend(notes(state.spec_state(), seen));
    let headline = format!("REJECTED (attempt {attempts} of {limit})");
    conclude(state, key, outcome, text(headline, reasons), moved)
}

/// Opens TEST-FIRST, once a family, because the worker could not keep its lines.
fn reopen_test_first(
    state: &mut State,
    key: &TaskKey,
    reasons: &[String],
    outcome: &mut IterationOutcome,
) -> Option<TaskKey> {
    let tests = TaskKey {
        family: key.family.clone(),
        stage: Stage::TestFirst,
    };
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

/// Returns the last message of the agent or its CLI.
///
/// It is for the person and the next attempt.
fn last_words(state: &State, attempt: &Attempt) -> Option<String> {
    let words = &attempt.last_words;
    let log = format!(".ralph/state/iter-{}/", state.iteration);
    match words.ends_with('?') {
        _ if words.is_empty() || attempt.end.to_string().contains(words) => None,
        true => Some(format!(
            "The agent asked: \"{words}\" It gets no answer while ralph runs ({log})."
        )),
        false => Some(format!("Its last words: \"{words}\" ({log}).")),
    }
}

/// Retries once if the CLI is not set up, then stops the run.
fn not_set_up(state: &mut State, attempt: &Attempt, hint: &str) -> Vec<Effect> {
    state.run.not_set_up += 1;
    let why = format!("The agent {}", attempt.end);
    let mut outcome = IterationOutcome::default();
    let mut lines = vec![why.clone(), format!("hint: {hint}")];
    if state.run.not_set_up > 1 {
        outcome.next = Some(Phase::Stopped(StopReason::NotSetUp {
            why,
            hint: hint.to_owned(),
        }));
    } else {
        lines.push("ralph tries it again.".to_owned());
    }
    conclude(
        state,
        &attempt.key,
        outcome,
        text("NOT SET UP", lines),
        true,
    )
}
