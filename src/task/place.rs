//! Where gates are wanted: the planner of `ralph place`.
//!
//! Owns: the five options of placement, the position of a gate in its family, the names of gates of wider
//! reach.
//!
//! Promises: the answer depends on the rows alone; what stands in the file already is never wanted twice;
//! linear in the number of rows.
//!
//! Refuses to know: bytes, lines, bullets; whether a gate may go again (see `surgeon`).

use super::grammar::is_wide;
use super::{Row, Stage, TaskKey, parents};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// Where the boxes of one gate stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// After every implementation task with a TEST-FIRST sibling; in a file without any TEST-FIRST, after
    /// every required leaf task, open or done, whose id stands once.
    Each,
    /// After the tasks with these ids (`2`, `2.`).
    After(Vec<String>),
    /// One for each heading that has required tasks: `G1.PITEST`.
    Groups,
    /// One after the last task: `END.PITEST`.
    End,
    /// Nowhere.
    None,
}

/// On which side of a row a new line goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// It is there: the row is the box itself.
    Stands,
    /// Right before it, as its sibling.
    Before,
    /// After it and all that belongs to it, as its sibling.
    After,
    /// After the outermost task that holds it, as that one's sibling.
    End,
}

/// A box that a plan wants. Of several with the same row and side, the first comes first in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The box.
    pub key: TaskKey,
    /// Index of the row beside which it goes.
    pub beside: usize,
    /// On which side of that row.
    pub side: Side,
}

/// Ids that name no task, or more than one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchTasks(pub Vec<String>);

impl fmt::Display for NoSuchTasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<String> = self.0.iter().map(|id| format!("`{}`", id.escape_debug())).collect();
        let ids = ids.join(", ");
        write!(f, "The task file has no task, or more than one, with the id {ids}.")
    }
}

impl std::error::Error for NoSuchTasks {}

/// Every box of the gate that this placement wants, those that stand in the file already included.
pub fn gates_wanted(rows: &[Row], gate: &str, placement: &Placement) -> Result<Vec<Wanted>, NoSuchTasks> {
    let families = Families::new(rows);
    let stage = Stage::Gate(gate.to_owned());
    let beside = |at: &usize| families.wanted(*at, &stage);
    Ok(match placement {
        Placement::Each => families.each().iter().map(beside).collect(),
        Placement::After(ids) => families.named(ids)?.iter().map(beside).collect(),
        Placement::Groups => families.groups(&stage, |_| true),
        Placement::End => families.end(&stage).into_iter().collect(),
        Placement::None => Vec::new(),
    })
}

/// The gates of wider reach that tasks of theirs follow: a task was added behind them. Where they may be
/// moved, they go behind it.
pub(super) fn overtaken(rows: &[Row], gate: &str) -> HashSet<TaskKey> {
    let stage = Stage::Gate(gate.to_owned());
    let mut found = HashSet::new();
    let mut groups: HashSet<u32> = HashSet::new();
    for row in rows.iter().rev().filter(|row| row.key.stage != Stage::Final) {
        if !(row.key.stage.is_gate() && is_wide(&row.key.family)) {
            groups.insert(row.group);
            continue;
        }
        let covers_all = row.key.family == "END";
        let followed = if covers_all { !groups.is_empty() } else { groups.contains(&row.group) };
        if row.key.stage == stage && followed {
            found.insert(row.key.clone());
        }
    }
    found
}

/// The place of a stage in its family: TEST-FIRST, implementation, REQ-CHECK, gates, PRE-CR.
fn rank(stage: &Stage) -> u8 {
    match stage {
        Stage::TestFirst => 0,
        Stage::Implementation => 1,
        Stage::ReqCheck => 2,
        Stage::Gate(_) => 3,
        Stage::PreCr => 4,
        Stage::Integ | Stage::Final => 5,
    }
}

/// The rows by family.
pub(super) struct Families<'a> {
    pub(super) rows: &'a [Row],
    at: HashMap<&'a str, Vec<usize>>,
    parents: HashSet<&'a str>,
}

impl<'a> Families<'a> {
    pub(super) fn new(rows: &'a [Row]) -> Self {
        let mut at: HashMap<&str, Vec<usize>> = HashMap::with_capacity(rows.len());
        for (index, row) in rows.iter().enumerate() {
            at.entry(&row.key.family).or_default().push(index);
        }
        Self { rows, at, parents: parents(rows) }
    }

    /// The implementation tasks, in document order.
    pub(super) fn implementations(&self) -> impl Iterator<Item = (usize, &'a Row)> {
        self.rows.iter().enumerate().filter(|(_, row)| row.key.stage == Stage::Implementation)
    }

    /// The boxes of the family of a row, in document order.
    pub(super) fn siblings(&self, row: &Row) -> impl Iterator<Item = (usize, &'a Row)> {
        let at = self.at.get(row.key.family.as_str()).map(Vec::as_slice).unwrap_or_default();
        at.iter().filter_map(|at| Some((*at, self.rows.get(*at)?)))
    }

    pub(super) fn has(&self, row: &Row, stage: &Stage) -> bool {
        self.siblings(row).any(|(_, sibling)| sibling.key.stage == *stage)
    }

    /// True for a task that is work of its own: optional children alone make no parent.
    pub(super) fn is_leaf(&self, row: &Row) -> bool {
        !self.parents.contains(row.key.family.as_str())
    }

    /// The implementation tasks that the option `each` means.
    fn each(&self) -> Vec<usize> {
        let tested = self.rows.iter().any(|row| row.key.stage == Stage::TestFirst);
        let means = |row: &Row| {
            let plain = !row.optional && self.is_leaf(row);
            row.key.has_id() && if tested { self.has(row, &Stage::TestFirst) } else { plain }
        };
        self.implementations().filter(|(_, row)| means(row)).map(|(at, _)| at).collect()
    }

    /// The implementation tasks with these ids, in document order.
    pub(super) fn named(&self, ids: &[String]) -> Result<Vec<usize>, NoSuchTasks> {
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for id in ids {
            let family = id.trim().trim_end_matches('.');
            let task = self.at.get(family).and_then(|at| {
                let is_task = |at: &&usize| {
                    let row = self.rows.get(**at);
                    row.is_some_and(|row| row.key.has_id() && row.key.stage == Stage::Implementation)
                };
                at.iter().find(is_task)
            });
            match task {
                Some(at) => found.push(*at),
                None => missing.push(id.clone()),
            }
        }
        found.sort_unstable();
        found.dedup();
        if missing.is_empty() { Ok(found) } else { Err(NoSuchTasks(missing)) }
    }

    /// A stage of the task at this row, and where it stands or goes.
    pub(super) fn wanted(&self, task: usize, stage: &Stage) -> Wanted {
        let family = self.rows.get(task).map(|row| row.key.family.clone()).unwrap_or_default();
        let (beside, side) = self.place(task, stage);
        Wanted { key: TaskKey { family, stage: stage.clone() }, beside, side }
    }

    fn place(&self, task: usize, stage: &Stage) -> (usize, Side) {
        let Some(row) = self.rows.get(task) else { return (task, Side::After) };
        if let Some((at, _)) = self.siblings(row).find(|(_, sibling)| sibling.key.stage == *stage) {
            return (at, Side::Stands);
        }
        if *stage == Stage::TestFirst {
            return (task, Side::Before);
        }
        let own = rank(stage);
        let mut after = None;
        for (at, sibling) in self.siblings(row).filter(|(at, _)| *at > task) {
            match rank(&sibling.key.stage) {
                0 | 1 | 5.. => {}
                other if other <= own => after = Some(at),
                _ => return after.map_or((at, Side::Before), |at| (at, Side::After)),
            }
        }
        (after.unwrap_or(task), Side::After)
    }

    /// The gates of the headings with required tasks of which one is accepted.
    pub(super) fn groups(&self, stage: &Stage, accept: impl Fn(usize) -> bool) -> Vec<Wanted> {
        let mut groups: Vec<u32> = Vec::new();
        let mut accepted: HashSet<u32> = HashSet::new();
        let mut last: HashMap<u32, usize> = HashMap::new();
        let mut there: HashMap<u32, usize> = HashMap::new();
        let mut taken: HashSet<&str> = HashSet::new();
        for (at, row) in self.rows.iter().enumerate() {
            let wide = row.key.stage.is_gate() && is_wide(&row.key.family);
            if wide && row.key.stage == *stage && row.key.family != "END" {
                there.entry(row.group).or_insert(at);
                taken.insert(&row.key.family);
            }
            if wide || row.key.stage == Stage::Final {
                continue;
            }
            last.insert(row.group, at);
            if !row.optional && row.key.stage == Stage::Implementation {
                if groups.last() != Some(&row.group) {
                    groups.push(row.group);
                }
                if accept(at) {
                    accepted.insert(row.group);
                }
            }
        }
        let mut wanted = Vec::new();
        let mut beyond = groups.len();
        for (ordinal, group) in groups.iter().enumerate().filter(|(_, group)| accepted.contains(group)) {
            if let Some((at, row)) = there.get(group).and_then(|at| Some((*at, self.rows.get(*at)?))) {
                wanted.push(Wanted { key: row.key.clone(), beside: at, side: Side::Stands });
                continue;
            }
            let mut family = format!("G{}", ordinal + 1);
            while taken.contains(family.as_str()) {
                beyond += 1;
                family = format!("G{beyond}");
            }
            let key = TaskKey { family, stage: stage.clone() };
            let beside = last.get(group).copied().unwrap_or_default();
            wanted.push(Wanted { key, beside, side: Side::End });
        }
        wanted
    }

    /// The gate over everything; none in a file without required tasks.
    pub(super) fn end(&self, stage: &Stage) -> Option<Wanted> {
        self.implementations().find(|(_, row)| !row.optional)?;
        let key = TaskKey { family: "END".to_owned(), stage: stage.clone() };
        if let Some(at) = self.rows.iter().position(|row| row.key == key) {
            return Some(Wanted { key, beside: at, side: Side::Stands });
        }
        let is_last = |row: &Row| row.key.stage == Stage::Final || row.key.family == "END";
        let beside = self.rows.iter().rposition(|row| !is_last(row))?;
        Some(Wanted { key, beside, side: Side::End })
    }
}
