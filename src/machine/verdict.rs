//! From a decision to what follows: boxes, counters, the entry in progress.txt.
//!
//! Owns: the only places where a box is asked to be ticked or opened (design §3 "Rework", "Final gate").
//!
//! Promises: one entry and one set of flips per iteration; a limit that is used up blocks, it never
//! loops.
//!
//! Refuses to know: how evidence was judged ([`super::decide`]), how flips are written.

use super::decide::{Decision, count, listed};
use super::effect::{Body, Effect, Entry};
use super::ending;
use super::event::{Check, Mode};
use super::facts::{FileStatus, KeptFile, Observation, full_path};
use super::kin;
use super::stale;
use super::state::{Attempt, By, Next, Phase, Seen, StandsFor, State};
use super::stop::Stop;
use super::survey::{opened, ticked};
use crate::source::Kind;
use crate::task::{Mark, Stage, TaskKey, parents};
use std::collections::{BTreeMap, BTreeSet};

/// Boxes to write, last word wins.
pub(super) type Flips = Vec<(TaskKey, Mark)>;

/// Does what a decision leads to.
pub(super) fn follow(state: &mut State, attempt: &Attempt, seen: &Seen, decision: Decision) -> Vec<Effect> {
    let moved = seen.observation.after.heads() != attempt.before.heads();
    if !matches!(decision, Decision::Limited { .. }) {
        state.run.waits = 0;
    }
    let key = &attempt.key;
    match decision {
        Decision::Accept => accept(state, key, seen, moved),
        Decision::Rework(reasons) => {
            let verdict = set_verdict(state, key, "FAIL");
            let families: Vec<String> = kin::covered(state.book(), key).into_iter().collect();
            let outcome = rework(state, key, &families, &reasons);
            let body = text(format!("{} FAIL", key.stage.word()), reasons);
            conclude(state, key, outcome, body, moved || verdict)
        }
        Decision::Retry { reasons, frozen_only } => {
            reject(state, key, reasons, frozen_only, notes(seen), moved)
        }
        Decision::Blocked(why) => {
            let next = block(state, key, &why);
            conclude(state, key, Outcome::with(next), text("BLOCKED", vec![why]), moved)
        }
        Decision::Interrupted => {
            let lines = vec![format!("The attempt {}; it is not counted.", attempt.end)];
            conclude(state, key, Outcome::default(), text("INTERRUPTED", lines), true)
        }
        Decision::Limited { why, reset } => ending::limited(state, key, &why, reset),
        Decision::Report(validation) => ending::final_gate(state, key, &validation, moved),
        Decision::NeedsCheck { .. } => Vec::new(),
    }
}

/// What an iteration does beside its entry.
#[derive(Default)]
pub(super) struct Outcome {
    /// Boxes to write.
    pub(super) flips: Flips,
    /// What comes then; the next iteration when `None`.
    pub(super) next: Option<Next>,
    /// An event to tell people of.
    pub(super) notify: Option<&'static str>,
}

impl Outcome {
    pub(super) fn with(next: Option<Next>) -> Self {
        Self { next, ..Self::default() }
    }
}

pub(super) fn text(headline: impl Into<String>, lines: Vec<String>) -> Body {
    Body::Text { headline: headline.into(), lines }
}

/// Ends an iteration: flips with their consequences for parents, entry, counters.
pub(super) fn conclude(
    state: &mut State,
    key: &TaskKey,
    outcome: Outcome,
    body: Body,
    moved: bool,
) -> Vec<Effect> {
    let flips = with_parents(state, outcome.flips);
    state.run.iterations += 1;
    state.run.idle = if moved || !flips.is_empty() { 0 } else { state.run.idle + 1 };
    let boxes =
        flips.iter().map(|(key, mark)| format!("{} {key}", if mark.is_done() { "ticked" } else { "opened" }));
    let entry = Entry { iteration: state.iteration, task: key.to_string(), boxes: boxes.collect(), body };
    let then = match outcome.next {
        Some(next) if state.mode != Mode::Verb => next,
        _ => Next::GoOn,
    };
    let why = match &entry.body {
        Body::Text { headline, lines } => format!("{headline} {}", lines.join(" ")),
        Body::Gate { name, .. } => format!("{name} failed."),
    };
    state.phase = Phase::Applying { flips, entry: Some(entry), then };
    let mut effects = super::owed(state);
    if let Some(event) = outcome.notify {
        effects.push(Effect::Notify { event, task: key.to_string(), why });
    }
    effects
}

/// Adds what flips mean for parents: opened with any of their required children, ticked with the last. A
/// task whose children are all optional has an attempt of its own and is left to it.
pub(super) fn with_parents(state: &mut State, flips: Flips) -> Flips {
    let heads = state.last_after.as_ref().map(super::facts::Snapshot::heads).unwrap_or_default();
    let book = state.book_mut();
    let mut marks: BTreeMap<TaskKey, Mark> = BTreeMap::new();
    for (key, mark) in flips {
        if book.row(&key).is_some_and(|row| row.mark.is_done() != mark.is_done()) {
            marks.insert(key, mark);
        } else {
            marks.remove(&key);
        }
    }
    let families: Vec<String> = marks.keys().map(|key| key.family.clone()).collect();
    let parents: BTreeSet<String> = parents(&book.rows).into_iter().map(str::to_owned).collect();
    for family in families {
        for parent in kin::ancestors(book, &family).into_iter().filter(|parent| parents.contains(parent)) {
            let key = TaskKey { family: parent.clone(), stage: Stage::Implementation };
            let Some(row) = book.row(&key) else { continue };
            let below = kin::descendants(book, &parent);
            let all_done = book
                .rows
                .iter()
                .filter(|row| below.contains(&row.key.family) && !row.optional)
                .all(|row| marks.get(&row.key).copied().unwrap_or(row.mark).is_done());
            if row.mark.is_done() && !all_done {
                marks.insert(key.clone(), Mark::OPEN);
                opened(book, &key);
            } else if row.mark.is_open() && all_done {
                marks.insert(key.clone(), Mark::DONE);
                let stands_for = StandsFor { heads: heads.clone(), ..StandsFor::default() };
                ticked(book, &key, By::Ralph, stands_for);
            }
        }
    }
    marks.into_iter().collect()
}

fn accept(state: &mut State, key: &TaskKey, seen: &Seen, moved: bool) -> Vec<Effect> {
    let observation = &seen.observation;
    let mut flips = vec![(key.clone(), Mark::DONE)];
    let verdict = key.stage.is_review() && set_verdict(state, key, "PASS");
    let stands_for = stands_for(&key.stage, observation);
    ticked(state.book_mut(), key, By::Ralph, stands_for);
    state.book_mut().stage_mut(key).green = matches!(seen.check, Some((Check::Green, _)));
    let headline = match key.stage {
        Stage::ReqCheck | Stage::PreCr => format!("{} PASS", key.stage.word()),
        _ => "ACCEPTED".to_owned(),
    };
    match key.stage {
        Stage::TestFirst => freeze(state, key, observation),
        Stage::Implementation => {
            let stale = stale::outdated(state, &key.family, observation);
            for key in &stale {
                opened(state.book_mut(), key);
            }
            flips.extend(stale.into_iter().map(|key| (key, Mark::OPEN)));
        }
        _ => {}
    }
    let mut lines = accepted_lines(key, seen);
    lines.extend(notes(seen));
    let outcome = Outcome { flips, ..Outcome::default() };
    conclude(state, key, outcome, text(headline, lines), moved || verdict)
}

fn accepted_lines(key: &TaskKey, seen: &Seen) -> Vec<String> {
    let mut lines = Vec::new();
    if !key.stage.is_review() {
        let files = count(seen.observation.stage.len() as u64, "changed file");
        let check = match &seen.check {
            Some((check, _)) => format!("; checks.{check:?} agreed").to_lowercase(),
            None => "; no check stands behind it but the commit".to_owned(),
        };
        lines.push(format!("Evidence: {files}{check}."));
    }
    lines
}

/// What was seen beside the evidence: named, never judged.
fn notes(seen: &Seen) -> Vec<String> {
    let mut notes = Vec::new();
    for claim in &seen.claims {
        notes.push(format!("The agent wrote `[{}]` for {}; it was put back.", claim.to.0, claim.key));
    }
    for package in &seen.observation.packages {
        if !package.strays.is_empty() {
            let names: Vec<String> =
                package.strays.iter().map(|path| full_path(&package.name, path)).collect();
            notes.push(format!("Untracked files appeared and were left alone: {}.", listed(&names)));
        }
        for lock in &package.locks_removed {
            notes.push(format!(
                "A lock that a dead process had left in {} was removed: {lock}.",
                package.name
            ));
        }
    }
    notes
}

fn stands_for(stage: &Stage, observation: &Observation) -> StandsFor {
    let heads = observation.after.heads();
    if !stage.is_review() {
        return StandsFor { heads, ..StandsFor::default() };
    }
    let production = observation
        .family
        .iter()
        .filter(|change| change.kind == Kind::Production)
        .map(|change| (change.full_path(), change.new.clone()))
        .collect();
    let tests = observation
        .family
        .iter()
        .filter(|change| change.kind == Kind::Test)
        .filter_map(|change| {
            Some(KeptFile {
                package: change.package.clone(),
                path: change.path.clone(),
                base: None,
                blob: change.new.clone()?,
            })
        })
        .collect();
    StandsFor { heads, production: Some(production), tests }
}

/// The lines that TEST-FIRST wrote stay until a gate or reviewer has failed.
fn freeze(state: &mut State, key: &TaskKey, observation: &Observation) {
    let family = state.book_mut().family_mut(&key.family);
    family.tests_written = Some(observation.stage_tests);
    for change in &observation.stage {
        if change.kind != Kind::Test || change.status == FileStatus::Deleted {
            continue;
        }
        let Some(blob) = change.new.clone() else { continue };
        let before = family
            .frozen
            .iter()
            .position(|kept| kept.package == change.package && kept.path == change.path)
            .map(|at| family.frozen.remove(at));
        let base = before.map_or_else(|| change.old.clone(), |kept| kept.base);
        family.frozen.push(KeptFile {
            package: change.package.clone(),
            path: change.path.clone(),
            base,
            blob,
        });
    }
}

fn reject(
    state: &mut State,
    key: &TaskKey,
    mut reasons: Vec<String>,
    frozen_only: bool,
    notes: Vec<String>,
    moved: bool,
) -> Vec<Effect> {
    let limit = state.policy.attempts;
    let stage = state.book_mut().stage_mut(key);
    stage.frozen_only = frozen_only && (stage.attempts == 0 || stage.frozen_only);
    stage.attempts += 1;
    stage.reasons.clone_from(&reasons);
    let (attempts, frozen_only) = (stage.attempts, stage.frozen_only);
    let headline = format!("REJECTED (attempt {attempts} of {limit})");
    let mut outcome = Outcome::default();
    if attempts >= limit {
        if frozen_only && reopen_test_first(state, key, &reasons) {
            let tests = TaskKey { family: key.family.clone(), stage: Stage::TestFirst };
            reasons.push(format!("The worker cannot keep these lines: {tests} is opened once."));
            outcome.flips.push((tests, Mark::OPEN));
        } else {
            let why = format!("{key} was rejected {} in a row.", count(u64::from(attempts), "time"));
            outcome.next = block(state, key, &why);
            outcome.notify = outcome.next.is_none().then_some("blocked");
            reasons.push(format!("BLOCKED: {why}"));
        }
    }
    reasons.extend(notes);
    conclude(state, key, outcome, text(headline, reasons), moved)
}

fn reopen_test_first(state: &mut State, key: &TaskKey, reasons: &[String]) -> bool {
    let tests = TaskKey { family: key.family.clone(), stage: Stage::TestFirst };
    let book = state.book_mut();
    if book.row(&tests).is_none() || book.family_mut(&key.family).test_first_reopened {
        return false;
    }
    book.family_mut(&key.family).test_first_reopened = true;
    opened(book, &tests);
    book.stage_mut(&tests).reasons = reasons.to_vec();
    let work = book.stage_mut(key);
    work.attempts = 0;
    work.frozen_only = false;
    true
}

/// Blocks the family of a box; the end of the run, unless it goes on with the next family.
fn block(state: &mut State, key: &TaskKey, why: &str) -> Option<Next> {
    state.book_mut().family_mut(&key.family).blocked = Some(why.to_owned());
    if state.policy.go_on_when_blocked {
        return None;
    }
    let reasons = vec![kin::blocked_by(state.book(), &key.family, why)];
    Some(Next::Stop(Stop::Blocked { reasons }))
}

/// A FAIL of a gate or reviewer: opens the work of these families and remembers why.
pub(super) fn rework(state: &mut State, by: &TaskKey, families: &[String], reasons: &[String]) -> Outcome {
    let limit = state.policy.rework;
    let mut outcome = Outcome { notify: by.stage.is_gate().then_some("gate-fail"), ..Outcome::default() };
    let own = by.family.clone();
    let leaves: Vec<String> = {
        let book = state.book();
        let parents = parents(&book.rows);
        let is_parent = |family: &String| parents.contains(family.as_str());
        let has_deeper =
            |family: &String| families.iter().any(|other| kin::ancestors(book, other).contains(family));
        let is_leaf = |family: &String| !is_parent(family) || *family != own && !has_deeper(family);
        let with_work: Vec<String> =
            families.iter().filter(|family| kin::work_box(book, family).is_some()).cloned().collect();
        let below: Vec<String> = with_work.iter().filter(|family| is_leaf(family)).cloned().collect();
        if below.is_empty() { with_work } else { below }
    };
    let mut blocked = Vec::new();
    for family in leaves {
        let Some(work) = kin::work_box(state.book(), &family) else { continue };
        let book = state.book_mut();
        opened(book, &work);
        book.stage_mut(&work).reasons = reasons.to_vec();
        let known = book.family_mut(&family);
        known.failed_once = true;
        known.opened_by = Some(by.clone());
        known.reworks += 1;
        let used_up = known.reworks > limit;
        outcome.flips.push((work.clone(), Mark::OPEN));
        if used_up {
            let why = format!("{by} failed after {}.", count(u64::from(limit), "rework"));
            match block(state, &work, &why) {
                Some(Next::Stop(Stop::Blocked { reasons })) => blocked.extend(reasons),
                next => {
                    outcome.next = next;
                    outcome.notify = Some("blocked");
                }
            }
        }
    }
    if !blocked.is_empty() {
        outcome.next = Some(Next::Stop(Stop::Blocked { reasons: blocked }));
    }
    outcome
}

/// Remembers a verdict; true when it is another than before.
pub(super) fn set_verdict(state: &mut State, key: &TaskKey, verdict: &'static str) -> bool {
    let stage = state.book_mut().stage_mut(key);
    stage.verdict.replace(verdict) != Some(verdict)
}
