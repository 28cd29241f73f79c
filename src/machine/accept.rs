//! Acceptance of an attempt: ticks its box and reopens boxes that vouch for older content.

use super::boxes::Flips;
use super::choice::is_required_open;
use super::conclusion::{IterationOutcome, conclude, notes, set_verdict, text};
use super::effect::Effect;
use super::event::{Check, CheckResult, Validation};
use super::facts::{FileStatus, KeptFile, Observation};
use super::invalidation;
use super::state::{Findings, JudgedContent, State, TickedBy};
use crate::source::Kind;
use crate::source::text::count;
use crate::task::{Row, Stage, TaskKey};
use crate::turn::verify::footer;
use std::collections::BTreeMap;

/// The evidence of an attempt sufficed, or a reviewer passed the work.
pub(super) fn accept(
    state: &mut State,
    key: &TaskKey,
    seen: &Findings,
    moved: bool,
) -> Vec<Effect> {
    let observation = &seen.observation;
    let verdict = key.stage.is_review() && set_verdict(state, key, "PASS");
    let content = judged_content(&key.stage, observation);
    let mut flips = Flips::default();
    flips.tick(state.spec_state_mut(), key, TickedBy::Ralph, content);
    if let Some((Check::Green, results)) = &seen.check {
        state.spec_state_mut().stage_mut(key).green = true;
        let passed = results
            .iter()
            .filter_map(|result| Some((result.package.clone(), result.passed()?)));
        state.passed_tests.extend(passed);
    }
    if let Some((Check::Red, results)) = &seen.check {
        let reported = results.iter().filter(|result| result.tests.is_some());
        let family = state.spec_state_mut().family_mut(&key.family);
        family
            .reported
            .extend(reported.map(|result| result.package.clone()));
    }
    match key.stage {
        Stage::TestFirst => freeze(state, key, observation),
        Stage::Implementation => {
            for outdated in invalidation::outdated(state, &key.family, observation) {
                flips.open(state.spec_state_mut(), &outdated);
            }
        }
        _ => {}
    }
    let headline = match key.stage {
        Stage::ReqCheck | Stage::PreCr => format!("{} PASS", key.stage.stage_word()),
        _ => "ACCEPTED".to_owned(),
    };
    let mut lines = Vec::new();
    if !key.stage.is_review() {
        lines.push(evidence_line(seen));
    }
    lines.extend(notes(state.spec_state(), seen));
    lines.extend(footer(&observation.edits));
    let outcome = IterationOutcome {
        flips,
        ..IterationOutcome::default()
    };
    conclude(state, key, outcome, text(headline, lines), moved || verdict)
}

fn evidence_line(seen: &Findings) -> String {
    let files = count(seen.observation.stage.len() as u64, "changed file");
    match &seen.check {
        Some((check, results)) => {
            // Passed tests mean nothing where tests must fail.
            let counted = results.iter().filter(|_| *check == Check::Green);
            let passed: u64 = counted.filter_map(CheckResult::passed).sum();
            let tests = if passed > 0 {
                format!(", {} passed", count(passed, "test"))
            } else {
                String::new()
            };
            format!("Evidence: {files}; checks.{} agreed{tests}.", check.word())
        }
        None => format!("Evidence: {files}; no check beyond the commit."),
    }
}

/// The final gate: no model, only the report's cells and the boxes.
pub(super) fn final_gate(
    state: &mut State,
    key: &TaskKey,
    validation: &Validation,
    moved: bool,
) -> Vec<Effect> {
    let open: Vec<String> = state
        .spec_state()
        .rows
        .iter()
        .filter(|row| row.key != *key && is_required_open(row))
        .map(Row::row_title)
        .collect();
    let cells = format!(
        "{} PASS, {} FAIL, {} UNKNOWN",
        validation.pass, validation.fail, validation.unknown
    );
    if !open.is_empty() {
        let lines = vec![format!(
            "The report has {cells}; still open: {}.",
            open.join(", ")
        )];
        return conclude(
            state,
            key,
            IterationOutcome::default(),
            text("FINAL WAITS", lines),
            moved,
        );
    }
    let complete = validation.fail == 0 && validation.unknown == 0;
    let content = JudgedContent::commits(state.last_heads());
    let mut flips = Flips::default();
    flips.tick(state.spec_state_mut(), key, TickedBy::Ralph, content);
    let mut lines = vec![format!("The report has {cells}.")];
    if !complete {
        let mut gaps = validation.gaps.clone();
        if gaps.is_empty() {
            gaps.push("the report has no cell that says PASS, FAIL or UNKNOWN".to_owned());
        }
        lines.extend(gaps.iter().map(|gap| format!("- {gap}")));
        state.spec_state_mut().gaps = gaps;
    }
    let headline = if complete {
        "COMPLETE"
    } else {
        "COMPLETE-WITH-GAPS"
    };
    conclude(
        state,
        key,
        IterationOutcome {
            flips,
            ..IterationOutcome::default()
        },
        text(headline, lines),
        moved,
    )
}

/// Returns the content that a ticked box vouches for.
///
/// A reviewer vouches for the files that it saw, all other stages for commits.
fn judged_content(stage: &Stage, observation: &Observation) -> JudgedContent {
    let commits = JudgedContent::commits(observation.after.heads());
    if !stage.is_review() {
        return commits;
    }
    let mut production = BTreeMap::new();
    let mut tests = Vec::new();
    for change in &observation.family {
        match (change.kind, &change.new) {
            (Kind::Production, blob) => {
                production.insert(change.full_path(), blob.clone());
            }
            (Kind::Test, Some(blob)) => tests.push(KeptFile {
                package: change.package.clone(),
                path: change.path.clone(),
                base: None,
                blob: blob.clone(),
            }),
            _ => {}
        }
    }
    JudgedContent {
        production: Some(production),
        tests,
        ..commits
    }
}

/// The lines that TEST-FIRST wrote stay until a gate or reviewer has failed.
fn freeze(state: &mut State, key: &TaskKey, observation: &Observation) {
    let family = state.spec_state_mut().family_mut(&key.family);
    family.tests_written = Some(observation.stage_tests);
    for change in &observation.stage {
        if change.kind != Kind::Test || change.status == FileStatus::Deleted {
            continue;
        }
        let Some(blob) = change.new.clone() else {
            continue;
        };
        let known = family
            .frozen
            .iter()
            .position(|kept| kept.package == change.package && kept.path == change.path);
        let base = known.map_or_else(|| change.old.clone(), |at| family.frozen.remove(at).base);
        let (package, path) = (change.package.clone(), change.path.clone());
        family.frozen.push(KeptFile {
            package,
            path,
            base,
            blob,
        });
    }
}
