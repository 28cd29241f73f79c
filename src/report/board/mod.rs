//! Content of `ralph status` before the layout: tasks, stages, verdicts, totals.

mod box_status;

pub use box_status::BoxStatus;

use super::estimate::Estimate;
use super::spent::{Now, SpecSpent, Spent};
use super::width::steady_text;
use crate::machine::choice::{self, NextStep};
use crate::machine::commit_only::is_commit_only;
use crate::machine::policy::Policy;
use crate::machine::state::{Phase, SpecState, StageState, State, TickedBy, Used};
use crate::source::text::line;
use crate::task::{Row, Stage, TaskKey, written_rows};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, BTreeSet};

/// Characters of a reason that are shown.
const REASON_CHARS: usize = 1_000;

/// Content for one task file.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    /// The task file, relative to the workspace; the one text that is not cleaned.
    pub spec: String,
    /// The last iteration that began.
    pub iteration: u64,
    /// Iterations on this task file.
    pub iterations: u64,
    /// The phase of the loop, one word.
    pub phase: &'static str,
    /// Ticked boxes of the file; virtual stages have none there.
    pub done: usize,
    /// All boxes of the file.
    pub boxes: usize,
    /// Ticked and all required boxes of the file.
    pub required: (usize, usize),
    /// The stages that occur, in the order in which a family passes through them: the columns.
    pub stages: Vec<Stage>,
    /// The families in document order: the rows.
    pub families: Vec<BoardRow>,
    /// The next box, or the reason for its absence.
    pub next: NextStep,
    /// Holder of the workspace, one line.
    pub holder: Option<String>,
    /// Current activity.
    pub current: Option<Now>,
    /// Reason of the last stop, or of the current wait.
    pub why: Option<String>,
    /// When that wait ends, seconds since 1970.
    pub waits_until: Option<i64>,
    /// Agents that rest, and the end of their rest: sentences.
    pub out_of_quota: Vec<String>,
    /// The boxes of each gate, counted by their status.
    pub gates: Vec<GateCount>,
    /// Time and attempts.
    pub spent: SpecSpent,
    /// The expected cost of the open tasks.
    pub estimate: Option<Estimate>,
    /// Usage by the word of the agents. ralph knows no prices, so this is a claim.
    pub used: Used,
}

/// One family.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardRow {
    /// Its id; empty for a line without one.
    pub id: String,
    /// Its name in the journal.
    pub family: String,
    /// The text of its implementation, else of its first box.
    pub text: String,
    /// 1-based line of that box.
    pub line: u32,
    /// The family above.
    pub parent: Option<String>,
    /// Its boxes.
    pub cells: BTreeMap<Stage, BoardCell>,
    /// Reason of its block.
    pub blocked: Option<String>,
    /// FAILs that were answered with rework.
    pub reworks: u32,
    /// Usage by the word of its agents.
    pub used: Used,
}

/// One box.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardCell {
    /// The box.
    pub key: TaskKey,
    pub status: BoxStatus,
    /// Ticked.
    pub done: bool,
    /// Attempts in a row that were rejected.
    pub rejected: u32,
    /// Agent processes so far.
    pub attempts: u32,
    /// Reason why it was reopened, if it was.
    pub reasons: Vec<String>,
}

/// The boxes of one gate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateCount {
    /// The gate.
    pub name: String,
    /// How many boxes say what: PASS, SKIP, FAIL, ERROR, `by a person`, open; those that none says are absent.
    pub says: Vec<(&'static str, usize)>,
}

/// Facts outside of the journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beside {
    /// Holder of the workspace.
    pub holder: Option<String>,
    /// Seconds since 1970, for a run that is not over.
    pub now: i64,
    /// The zone in which people read times.
    pub zone: Option<TimeZone>,
    /// The next run goes on with other families when one is blocked; the one that is active has a rule of its
    /// own.
    pub goes_on: bool,
}

impl Board {
    /// The board of the state's current task file.
    pub fn new(state: &State, spent: &Spent, beside: Beside) -> Self {
        let book = state.spec_state();
        let Beside {
            holder,
            now,
            zone,
            goes_on,
        } = beside;
        let holder = holder.map(|holder| line(&holder, 200));
        let is_at_rest = matches!(state.phase, Phase::Idle | Phase::Stopped(_));
        let running = holder
            .as_ref()
            .filter(|_| !is_at_rest)
            .and_then(|_| spent.current_activity());
        let current = running.filter(|now| book.row(&now.key).is_some()).cloned();
        let others: u64 = state
            .specs
            .iter()
            .filter(|(name, _)| **name != state.spec)
            .map(|(_, spec)| spec.iterations)
            .sum();
        let waits_until = holder.as_ref().and(spent.wait_end());
        let spent = spent.spent_on(&state.spec, holder.as_ref().map(|_| now));
        let lines = Lines {
            book,
            rework: state.policy.rework,
            spent: &spent,
            running: current.as_ref().map(|now| &now.key),
        };
        let families = lines.all_rows();
        let in_file = written_rows(&book.rows);
        let required = in_file.iter().filter(|row| !row.optional);
        let required_done = required.clone().filter(|row| row.mark.is_done());
        let required = (required_done.count(), required.count());
        let is_current = holder.is_some() || is_at_rest;
        let goes_on = if holder.is_some() {
            state.policy.go_on_when_blocked
        } else {
            goes_on
        };
        // The next box of the file, also during a run that takes only some tasks.
        let all = Policy {
            go_on_when_blocked: goes_on,
            only: Vec::new(),
            ..state.policy.clone()
        };
        Self {
            spec: state.spec.clone(),
            iteration: state.iteration,
            iterations: state.iteration - others.min(state.iteration),
            // An activity that began and has no process any more is interrupted.
            phase: if is_current {
                state.phase.name()
            } else {
                "interrupted"
            },
            done: in_file.iter().filter(|row| row.mark.is_done()).count(),
            boxes: in_file.len(),
            required,
            stages: occurring_stages(book),
            gates: count_gates(&families),
            families,
            next: choice::next(book, &all),
            why: stop_reason(state, holder.is_some(), waits_until, zone.as_ref()),
            waits_until,
            out_of_quota: holder
                .iter()
                .flat_map(|_| out_of_quota(state, now, zone.as_ref()))
                .collect(),
            holder,
            current,
            spent,
            estimate: Estimate::of_state(state),
            used: book
                .families
                .values()
                .map(|family| family.used)
                .fold(Used::default(), Used::and),
        }
    }

    /// The same board a while later, when nothing but time has passed.
    #[must_use]
    pub fn at_time(mut self, spent: &Spent, now: i64) -> Self {
        self.spent = spent.spent_on(&self.spec, self.holder.as_ref().map(|_| now));
        self
    }

    /// The text of the next box's line.
    pub fn text_of(&self, key: &TaskKey) -> &str {
        self.family_of(key)
            .map(|line| line.text.as_str())
            .unwrap_or_default()
    }

    /// The name of a box, as a person types it.
    pub fn typed_name(&self, key: &TaskKey) -> String {
        key.typed_name(self.line_of(key))
    }

    /// A box with its text: `task 2: Sum the lines`, `2.PITEST`, `tasks.md:12: Write the docs`.
    pub fn name_and_text(&self, key: &TaskKey) -> String {
        let name = key.spoken_name(self.line_of(key));
        match self.text_of(key) {
            "" => name,
            text => format!("{name}: {text}"),
        }
    }

    fn line_of(&self, key: &TaskKey) -> u32 {
        self.family_of(key).map_or(0, |family| family.line)
    }

    fn family_of(&self, key: &TaskKey) -> Option<&BoardRow> {
        self.families.iter().find(|line| line.family == key.family)
    }
}

/// Returns the reason why a run stopped or waits; `None` for a wait that has ended with its process.
fn stop_reason(
    state: &State,
    is_held: bool,
    waits_until: Option<i64>,
    zone: Option<&TimeZone>,
) -> Option<String> {
    match (&state.phase, waits_until) {
        (Phase::Stopped(stop), _) => Some(line(&stop.to_string(), REASON_CHARS)),
        (Phase::OverBudget { why, .. }, _) if is_held => Some(line(why, REASON_CHARS)),
        (Phase::Waiting { why, .. }, Some(until)) => Some(line(
            &format!("until {}: {why}", display_time(until, zone)),
            REASON_CHARS,
        )),
        _ => None,
    }
}

/// Nothing while a run waits: the wait says it.
fn out_of_quota(state: &State, now: i64, zone: Option<&TimeZone>) -> Vec<String> {
    if matches!(state.phase, Phase::Waiting { .. }) {
        return Vec::new();
    }
    let all = state.run.out_of_quota.iter();
    let later = all.filter_map(|(name, out)| Some((name, i64::try_from(out.until).ok()?)));
    later
        .filter(|(_, until)| *until > now)
        .map(|(name, until)| {
            format!(
                "The agent {name} is out of quota or reach until {}.",
                display_time(until, zone)
            )
        })
        .collect()
}

/// A moment as people of that zone read it.
pub fn display_time(second: i64, zone: Option<&TimeZone>) -> String {
    let moment = Timestamp::from_second(second).unwrap_or_default();
    moment
        .to_zoned(zone.cloned().unwrap_or(TimeZone::UTC))
        .strftime("%F %H:%M %Z")
        .to_string()
}

/// The stages that occur. Where the file names gates in an order of its own, that order is kept.
fn occurring_stages(book: &SpecState) -> Vec<Stage> {
    let mut seen = BTreeSet::new();
    let rows = book.rows.iter().map(|row| &row.key.stage);
    let mut stages: Vec<Stage> = rows.filter(|stage| seen.insert(*stage)).cloned().collect();
    stages.sort_by_key(Stage::stage_rank);
    stages
}

/// Form of the tasks of a task file.
struct Lines<'a> {
    book: &'a SpecState,
    /// Reworks that a family may have.
    rework: u32,
    spent: &'a SpecSpent,
    running: Option<&'a TaskKey>,
}

impl Lines<'_> {
    fn all_rows(&self) -> Vec<BoardRow> {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut lines: Vec<BoardRow> = Vec::new();
        for row in &self.book.rows {
            let at = *places.entry(&row.key.family).or_insert(lines.len());
            if at == lines.len() {
                lines.push(self.family_row(row));
            }
            let Some(line) = lines.get_mut(at) else {
                continue;
            };
            if row.key.stage == Stage::Implementation {
                (line.text, line.line) = (row_text(row), row.line);
            }
            line.cells
                .insert(row.key.stage.clone(), self.board_cell(row));
        }
        lines
    }

    /// The family of its first box.
    fn family_row(&self, row: &Row) -> BoardRow {
        let known = self.book.family(&row.key.family);
        BoardRow {
            id: if row.key.has_id() {
                steady_text(&line(&row.key.family, 100))
            } else {
                String::new()
            },
            family: row.key.family.clone(),
            text: row_text(row),
            line: row.line,
            parent: row.parent.clone(),
            cells: BTreeMap::new(),
            used: known.map(|known| known.used).unwrap_or_default(),
            blocked: known
                .and_then(|known| known.blocked.as_ref())
                .map(|why| line(why, REASON_CHARS)),
            // The FAIL that blocks is counted, and answered with none.
            reworks: known.map_or(0, |known| match &known.blocked {
                Some(_) => known.reworks.min(self.rework),
                None => known.reworks,
            }),
        }
    }

    fn board_cell(&self, row: &Row) -> BoardCell {
        let known = self.book.stage(&row.key);
        let done = row.mark.is_done();
        let reasons = known
            .map(|known| known.reasons.as_slice())
            .unwrap_or_default();
        BoardCell {
            key: row.key.clone(),
            status: self.box_status(row, known),
            done,
            rejected: known.map_or(0, |known| known.attempts),
            attempts: self.spent.attempts.get(&row.key).copied().unwrap_or(0),
            reasons: reasons
                .iter()
                .filter(|_| !done)
                .map(|reason| line(reason, REASON_CHARS))
                .collect(),
        }
    }

    fn box_status(&self, row: &Row, known: Option<&StageState>) -> BoxStatus {
        if self.running == Some(&row.key) {
            return BoxStatus::Running;
        }
        let verdict = known.and_then(|known| known.verdict);
        if row.mark.is_done() {
            return match (known.and_then(|known| known.ticked_by), verdict) {
                (Some(TickedBy::Person), _) => BoxStatus::ByPerson,
                (Some(TickedBy::Ralph), Some(verdict)) => BoxStatus::Passed(verdict),
                (Some(TickedBy::Ralph), None) if is_commit_only(self.book, &row.key) => {
                    BoxStatus::CommitOnly
                }
                (Some(TickedBy::Ralph), None) => BoxStatus::Done,
                (None, _) => BoxStatus::Unrecorded,
            };
        }
        if !row.mark.is_open() {
            return BoxStatus::of_mark(row.mark);
        }
        let family = self.book.family(&row.key.family);
        let rejected = known.map_or(0, |known| known.attempts);
        let reworks = family.filter(|known| is_work(&row.key.stage) && known.opened_by.is_some());
        match (verdict, reworks.map_or(0, |known| known.reworks)) {
            _ if self.is_blocked(row) => BoxStatus::Blocked,
            _ if rejected > 0 => BoxStatus::Rejected(rejected),
            (Some(verdict @ ("FAIL" | "ERROR")), _) => BoxStatus::Failed(verdict),
            (_, count) if count > 0 => BoxStatus::Rework(count),
            _ if row.optional => BoxStatus::Optional,
            _ => BoxStatus::Open,
        }
    }

    /// A block is shown at the family's work; a family without any shows it in each open box.
    fn is_blocked(&self, row: &Row) -> bool {
        let blocked = self
            .book
            .family(&row.key.family)
            .is_some_and(|known| known.blocked.is_some());
        let mut rows = self.book.family_rows(&row.key.family);
        blocked && (is_work(&row.key.stage) || !rows.any(|row| is_work(&row.key.stage)))
    }
}

fn is_work(stage: &Stage) -> bool {
    matches!(stage, Stage::Implementation | Stage::Integ | Stage::Final)
}

fn row_text(row: &Row) -> String {
    steady_text(&line(&row.text, 500))
}

/// The boxes of each gate, counted.
fn count_gates(families: &[BoardRow]) -> Vec<GateCount> {
    let mut counts: BTreeMap<&str, BTreeMap<usize, (&'static str, usize)>> = BTreeMap::new();
    for cell in families.iter().flat_map(|line| line.cells.values()) {
        let Stage::Gate(name) = &cell.key.stage else {
            continue;
        };
        let (place, says) = match cell.status {
            BoxStatus::Passed("SKIP") => (1, "SKIP"),
            BoxStatus::Passed(_) => (0, "PASS"),
            BoxStatus::Failed("FAIL") => (2, "FAIL"),
            BoxStatus::Failed(_) => (3, "ERROR"),
            BoxStatus::ByPerson => (4, "by a person"),
            BoxStatus::Done | BoxStatus::Unrecorded => (5, "done"),
            BoxStatus::Running => (6, "running"),
            _ => (7, "open"),
        };
        counts
            .entry(name)
            .or_default()
            .entry(place)
            .or_insert((says, 0))
            .1 += 1;
    }
    counts
        .into_iter()
        .map(|(name, says): (&str, BTreeMap<_, _>)| GateCount {
            name: line(name, 40),
            says: says.into_values().collect(),
        })
        .collect()
}

#[cfg(test)]
pub(crate) mod tests;
