//! What happened in each iteration, as the records tell it: what the agent said beside what git and the gate saw.
//!
//! Folded like [`super::spent::Spent`]; of each iteration the last words that decided it stand, bounded.

use super::progress::entry_lines;
use super::spent::{doing, seconds};
use crate::machine::effect::{Body, Entry};
use crate::machine::event::Event;
use crate::machine::facts::{Claim, FileChange};
use crate::machine::state::{Phase, State};
use crate::source::Kind;
use crate::source::text::{line, names};
use std::collections::BTreeMap;

/// Characters of what an agent said.
const SAID: usize = 600;
/// Files of a kind that are named.
const FILES: usize = 5;
/// Lines of an iteration's entry that are kept.
const LINES: usize = 40;
/// Iterations that are kept, the newest.
const ITERATIONS: usize = 20_000;

/// The iterations of a workspace, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Story {
    iterations: Vec<Told>,
    open: Told,
    /// Iterations before those that are kept.
    pub forgotten: u64,
}

/// One iteration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// Its number.
    pub iteration: u64,
    /// The task file.
    pub spec: String,
    /// The box.
    pub task: String,
    /// Its family, as the journal names it.
    pub family: String,
    /// Seconds since 1970 of its first and its last record.
    pub span: (i64, i64),
    /// What the agent said last: a claim.
    pub said: String,
    /// What git saw of it, one sentence; empty for a gate.
    pub seen: String,
    /// The headline of its entry in progress.txt.
    pub headline: String,
    /// The other lines of that entry.
    pub lines: Vec<String>,
    /// What ralph wrote into tasks.md: `ticked 2.`, `opened 2.`.
    pub boxes: Vec<String>,
    /// The gate's score, per cent rounded down, if it measured one.
    pub percent: Option<u64>,
    /// A gate judged.
    pub is_gate: bool,
    /// The entry is a person's act.
    pub by_person: bool,
    /// Changed files that the gate did not judge.
    pub not_judged: Vec<String>,
}

impl Story {
    /// Takes one record: when it was written, its fact, and the state after it.
    pub fn note(&mut self, at: &str, event: &Event, after: &State) {
        if self.open.iteration != after.iteration {
            self.open = Told { iteration: after.iteration, ..Told::default() };
        }
        let at = seconds(at).unwrap_or(self.open.span.1);
        let open = &mut self.open;
        let began = if open.span.0 == 0 { at } else { open.span.0 };
        open.span = (began, at.max(began));
        match event {
            Event::AgentEnded { claim, last_words, .. } => open.said = said(claim.as_ref(), last_words),
            Event::Observed { observation, .. } => {
                let changes = observation.packages.iter().flat_map(|package| &package.changes);
                open.seen = seen(changes);
            }
            Event::BoxAccepted { .. } | Event::BoxReopened { .. } => open.by_person = true,
            _ => {}
        }
        if let Some((key, _)) = doing(after) {
            open.family.clone_from(&key.family);
        }
        if let Phase::Applying { entry: Some(entry), .. } = &after.phase
            && self.open.headline.is_empty()
        {
            self.close(entry, event, &after.spec);
        }
    }

    /// The iterations of a task file that came to an end.
    pub fn of<'a>(&'a self, spec: &'a str) -> impl Iterator<Item = &'a Told> {
        self.iterations.iter().filter(move |told| told.spec == spec)
    }

    fn close(&mut self, entry: &Entry, event: &Event, spec: &str) {
        let told = &mut self.open;
        (told.spec, told.task) = (spec.to_owned(), line(&entry.task, 200));
        if let Event::BoxAccepted { key, .. } | Event::BoxReopened { key, .. } = event {
            told.family.clone_from(&key.family);
        }
        if let Body::Gate { report, .. } = &entry.body {
            told.is_gate = true;
            told.percent = (report.coverage.total > 0).then(|| report.coverage.percent_floor());
            told.not_judged = report.left_out.iter().map(|left| line(&left.file, 200)).collect();
        }
        told.boxes = entry.boxes.iter().map(|flip| line(flip, 200)).collect();
        let boxes = usize::from(!entry.boxes.is_empty());
        let mut lines = entry_lines(entry);
        lines.truncate(lines.len() - boxes);
        let more = lines.len().saturating_sub(LINES);
        lines.truncate(LINES);
        lines.extend((more > 0).then(|| format!("… and {more} more lines in progress.txt")));
        // The page has a list of its own.
        let unmarked = |line: String| line.trim_start().trim_start_matches("- ").to_owned();
        told.lines = lines.split_off(1.min(lines.len())).into_iter().map(unmarked).collect();
        told.headline = lines.pop().unwrap_or_default();
        if self.iterations.len() == ITERATIONS {
            self.iterations.remove(0);
            self.forgotten += 1;
        }
        self.iterations.push(told.clone());
    }
}

/// The agent's words: what it said as its verdict, else what it said last.
pub(super) fn said(claim: Option<&Claim>, last_words: &str) -> String {
    match claim {
        Some(Claim::Pass) => "PASS".to_owned(),
        Some(Claim::Fail { why }) => line(&format!("FAIL {why}"), SAID),
        Some(Claim::NothingToDo { why }) => line(&format!("NOTHING-TO-DO {why}"), SAID),
        Some(Claim::Blocked { why }) => line(&format!("BLOCKED {why}"), SAID),
        Some(Claim::Unclear { .. }) | None => line(last_words, SAID),
    }
}

/// What was committed, by the kind of file.
pub(super) fn seen<'a>(changes: impl Iterator<Item = &'a FileChange>) -> String {
    let mut files: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for change in changes {
        let kind = match change.kind {
            Kind::Production => "production",
            Kind::Test => "tests",
            Kind::Build => "build",
            Kind::Other => "other",
        };
        files.entry(kind).or_default().push(change.full_path());
    }
    if files.is_empty() {
        return "nothing was committed".to_owned();
    }
    let told = |(kind, files): (&str, Vec<String>)| {
        format!("{kind}: {}", names(files.iter().map(String::as_str), FILES))
    };
    files.into_iter().map(told).collect::<Vec<_>>().join("; ")
}

impl Told {
    /// How long it took.
    pub fn seconds(&self) -> u64 {
        u64::try_from(self.span.1 - self.span.0).unwrap_or(0)
    }
}

#[cfg(test)]
impl From<Vec<Told>> for Story {
    fn from(iterations: Vec<Told>) -> Self {
        Self { iterations, ..Self::default() }
    }
}
