//! The end of a gate: PASS and SKIP tick its box, FAIL opens work, ERROR changes no box.

use super::conclusion::{IterationOutcome, conclude, set_verdict};
use super::effect::{Effect, EntryBody, GateOrder};
use super::facts::{FileChange, Oid, full_path};
use super::progress;
use super::rework::{responsible, rework};
use super::state::{JudgedContent, ListedSurvivors, Phase, State, TickedBy};
use super::stop::StopReason;
use crate::mutation::{GateReport, MutantStatus, Survivor, Verdict};
use crate::source::text::line;
use std::collections::BTreeMap;

/// Seconds to wait before a gate that gave no verdict is tried again.
const RETRY_WAITS: [u64; 3] = [60, 300, 1800];

/// Characters of a source line, and test classes, of a survivor that a worker reads.
const SOURCE_CHARS: usize = 200;
const TESTS_NAMED: usize = 3;

/// A gate ended.
pub(super) fn ended(
    state: &mut State,
    order: &GateOrder,
    report: &GateReport,
    heads: &BTreeMap<String, Oid>,
    changes: &[FileChange],
) -> Vec<Effect> {
    let key = &order.key;
    state.diff = changes.to_vec();
    let bases = order.accumulated.bases.clone();
    let mut effects = vec![Effect::WriteDiff {
        changes: changes.to_vec(),
        bases,
        heads: heads.clone(),
    }];
    if !matches!(report.verdict, Verdict::Error { .. }) {
        state.run.waits = 0;
        let judged = report
            .classes
            .iter()
            .map(|class| full_path(&class.package, &class.path));
        state.spec_state_mut().stage_mut(key).targets.extend(judged);
    }
    let changed = set_verdict(state, key, report.verdict.word());
    let mut outcome = IterationOutcome::default();
    match &report.verdict {
        Verdict::Pass | Verdict::Skip { .. } => {
            let spec = state.spec_state_mut();
            outcome.flips.tick(
                spec,
                key,
                TickedBy::Ralph,
                JudgedContent::commits(heads.clone()),
            );
            spec.stage_mut(key).failed_at = None;
            spec.stage_mut(key).listed = ListedSurvivors::default();
        }
        Verdict::Fail { reasons } => {
            state.spec_state_mut().stage_mut(key).failed_at = Some(order.iteration);
            let families = responsible(state.spec_state(), key, &report.failing);
            let fruitless = progress::note_fail(state, key, report);
            outcome = rework(
                state,
                key,
                &families,
                &lines_for_the_worker(reasons, report),
                fruitless.as_deref(),
            );
            outcome.flips.open(state.spec_state_mut(), key);
        }
        Verdict::Error {
            why,
            hint,
            transient,
        } => {
            let next = after_error(state, key.to_string(), why, hint, *transient);
            outcome.notify = matches!(next, Phase::Waiting { .. }).then_some("waiting");
            outcome.next = Some(next);
        }
    }
    let body = EntryBody::Gate {
        name: order.name().to_owned(),
        report: Box::new(report.clone()),
    };
    effects.extend(conclude(state, key, outcome, body, changed));
    effects
}

fn after_error(state: &mut State, gate: String, why: &str, hint: &str, transient: bool) -> Phase {
    let step = usize::try_from(state.run.waits).unwrap_or(usize::MAX);
    match RETRY_WAITS.get(step) {
        Some(seconds) if transient => {
            state.run.waits += 1;
            Phase::Waiting {
                seconds: *seconds,
                exact: false,
                why: format!("{gate} gave no verdict: {why}"),
            }
        }
        _ => Phase::Stopped(StopReason::GateError {
            gate,
            why: why.to_owned(),
            hint: hint.to_owned(),
        }),
    }
}

/// Returns the lines for the worker: the reasons, then the survivors.
fn lines_for_the_worker(reasons: &[String], report: &GateReport) -> Vec<String> {
    let mut lines = reasons.to_vec();
    lines.extend(report.survivors.iter().map(|survivor| {
        let place = progress::survivor_place(survivor);
        let known = survivor_details(survivor);
        format!("survivor {place} {}{known}", survivor.mutant.description)
    }));
    let more = report.survivors_hidden();
    if more > 0 {
        lines.push(format!("… and {more} more survivors"));
    }
    lines
}

/// Returns the source line of a survivor and the known tests that reach it.
///
/// The text follows the mutation in a line. It is bounded and holds no control characters.
pub fn survivor_details(survivor: &Survivor) -> String {
    let mut known = Vec::new();
    if !survivor.source.is_empty() {
        known.push(format!(
            " | source: `{}`",
            line(&survivor.source, SOURCE_CHARS)
        ));
    }
    let names = survivor.tests.iter().take(TESTS_NAMED);
    let names: Vec<String> = names
        .map(|name| line(name.rsplit('.').next().unwrap_or(name), SOURCE_CHARS))
        .collect();
    if survivor.mutant.status == MutantStatus::NoCoverage {
        known.push(" | no test reaches it".to_owned());
    } else if !names.is_empty() {
        known.push(format!(" | reached by: {}", names.join(", ")));
        let more = survivor.tests_total.saturating_sub(names.len() as u64);
        if more > 0 {
            known.push(format!(" and {more} more"));
        }
    }
    known.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::Mutant;

    fn survivor() -> Survivor {
        Survivor::from(Mutant {
            class: "a.Foo".into(),
            file: "Foo.java".into(),
            line: 12,
            method: "sum".into(),
            mutator: "Math".into(),
            description: "changed".into(),
            status: MutantStatus::Survived,
            id: String::new(),
        })
    }

    #[test]
    fn the_worker_reads_the_source_line_and_three_tests_of_each_survivor() {
        let bare = survivor();
        let mut known = survivor();
        known.source = "if (a > b)\u{1b}[31m".into();
        known.tests = ["a.FooTest", "BarTest", "a.b.BazTest", "a.DTest"]
            .map(str::to_owned)
            .into();
        known.tests_total = 5;
        let mut unreached = survivor();
        unreached.mutant.status = MutantStatus::NoCoverage;
        let mut report = GateReport::from(Verdict::Pass);
        report.survivors = vec![known, bare, unreached];
        report.survivors_total = 10;
        assert_eq!(
            lines_for_the_worker(&["Too few.".to_owned()], &report),
            [
                "Too few.",
                "survivor Foo.java:12 Math changed | source: `if (a > b)` | reached by: FooTest, BarTest, BazTest and 2 more",
                "survivor Foo.java:12 Math changed",
                "survivor Foo.java:12 Math changed | no test reaches it",
                "… and 7 more survivors",
            ]
        );
    }

    #[test]
    fn a_long_line_is_cut() {
        let mut long = survivor();
        long.source = "x".repeat(9_999);
        assert!(survivor_details(&long).len() < SOURCE_CHARS + 20);
    }
}
