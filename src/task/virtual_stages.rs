//! Virtual stages (`stages: virtual`): stages of a task that have no lines in the file.
//!
//! The box of a task in the file is ticked exactly when all its stages are. A tick or untick by a user applies to all
//! of them.

use super::file::TaskFile;
use super::grammar::Grammar;
use super::plan::{Placement, PlannedBox, RowPosition, TaskSelection, plan_stages};
use super::problems::{ProblemKind, TaskFileProblem};
use super::row::{Mark, Row};
use super::stage::{Stage, TaskKey};
use std::collections::{HashMap, HashSet};

/// The location of a task's stages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stages {
    /// In the file, each on a line of its own. A task without such lines has only its implementation.
    #[default]
    File,
    /// Not in the file, which stays unchanged. Its tasks nevertheless have the default stages.
    Virtual {
        /// The gates and their placements.
        gates: Vec<(String, Placement)>,
    },
}

/// The rules that decide the boxes of a task file.
#[derive(Clone, Debug, Default)]
pub struct TaskRules {
    /// The grammar of the file.
    pub grammar: Grammar,
    /// The source of boxes other than those in the file.
    pub stages: Stages,
}

impl From<Grammar> for TaskRules {
    fn from(grammar: Grammar) -> Self {
        Self {
            grammar,
            stages: Stages::File,
        }
    }
}

impl TaskRules {
    /// Reads a task file.
    pub fn parse(&self, bytes: impl Into<Vec<u8>>) -> TaskFile {
        TaskFile::parse(bytes, &self.grammar)
    }

    /// Returns the boxes in the order of work: those in the file, and the virtual stages.
    ///
    /// `known` are the boxes as last recorded. Their marks of virtual stages stay valid as long as the box of the
    /// task has the mark that follows from them. Otherwise a user changed it, and it decides for all stages.
    pub fn ordered_boxes(&self, file: &TaskFile, known: &[Row]) -> Vec<Row> {
        let rows = file.box_rows();
        let all = match &self.stages {
            Stages::File => rows,
            Stages::Virtual { gates } => {
                let planned = plan_stages(&rows, TaskSelection::Every, gates).unwrap_or_default();
                with_stages(&rows, &planned)
            }
        };
        let mut all = file.with_stops(all);
        if all.iter().any(|row| row.is_virtual) {
            settle_marks(&mut all, known);
        }
        all
    }

    /// Returns the problems for which a run refuses the file, including virtual stages that cannot be placed.
    pub fn find_problems(&self, file: &TaskFile) -> Vec<TaskFileProblem> {
        let mut problems = file.find_problems();
        if let Stages::Virtual { gates } = &self.stages
            && let Err(unknown) = plan_stages(&file.box_rows(), TaskSelection::Every, gates)
        {
            problems.push(TaskFileProblem {
                line: 1,
                kind: ProblemKind::PlacedAfterNoTask,
                message: unknown.what,
                hint: "Under `placement:` in .ralph/config.yaml, name tasks whose id is used once."
                    .to_owned(),
            });
        }
        problems
    }
}

/// Returns the boxes in the file, with their marks in the file.
pub fn written_rows(rows: &[Row]) -> Vec<Row> {
    let families = virtual_families(rows);
    let with_line = rows.iter().filter(|row| !row.is_virtual).cloned();
    with_line
        .map(|row| Row {
            mark: mark_in_file(&row, &families),
            ..row
        })
        .collect()
}

/// Translates flips of boxes into flips in the file. A flip of a box that is not among the rows stays unchanged.
pub fn on_file(rows: &[Row], flips: &[(TaskKey, Mark)]) -> Vec<(TaskKey, Mark)> {
    if !rows.iter().any(|row| row.is_virtual) {
        return flips.to_vec();
    }
    let marks: HashMap<&TaskKey, Mark> = flips.iter().map(|(key, mark)| (key, *mark)).collect();
    let after: Vec<Row> = rows
        .iter()
        .map(|row| Row {
            mark: marks.get(&row.key).copied().unwrap_or(row.mark),
            ..row.clone()
        })
        .collect();
    let changed = written_rows(rows)
        .into_iter()
        .zip(written_rows(&after))
        .filter(|(row, now)| row.mark != now.mark);
    let known: HashSet<&TaskKey> = rows.iter().map(|row| &row.key).collect();
    let unknown = flips
        .iter()
        .filter(|(key, _)| !known.contains(key))
        .cloned();
    changed
        .map(|(_, now)| (now.key, now.mark))
        .chain(unknown)
        .collect()
}

/// True for a box in the file that represents the virtual stages of its family.
fn is_work(row: &Row) -> bool {
    !row.is_virtual && row.key.stage == Stage::Implementation
}

/// The state of a family with virtual stages.
struct VirtualFamily {
    /// True if the stages and the implementation are ticked.
    all_done: bool,
    /// Mark and text of the implementation's box.
    work: Option<(Mark, String)>,
}

fn virtual_families(rows: &[Row]) -> HashMap<String, VirtualFamily> {
    let mut found: HashMap<String, VirtualFamily> = HashMap::new();
    for row in rows.iter().filter(|row| row.is_virtual) {
        let shape = found
            .entry(row.key.family.clone())
            .or_insert(VirtualFamily {
                all_done: true,
                work: None,
            });
        shape.all_done &= row.mark.is_done();
    }
    for row in rows.iter().filter(|row| is_work(row)) {
        if let Some(shape) = found.get_mut(&row.key.family) {
            shape.all_done &= row.mark.is_done();
            shape.work = Some((row.mark, row.digest.clone()));
        }
    }
    found
}

/// Returns the mark of a row in the file: open while virtual stages are not done.
fn mark_in_file(row: &Row, families: &HashMap<String, VirtualFamily>) -> Mark {
    match families.get(&row.key.family) {
        Some(family) if is_work(row) && row.mark.is_done() && !family.all_done => Mark::OPEN,
        _ => row.mark,
    }
}

/// Sets the mark of each virtual stage, and of each box that represents virtual stages.
fn settle_marks(rows: &mut [Row], known: &[Row]) {
    let before: HashMap<&TaskKey, Mark> = known.iter().map(|row| (&row.key, row.mark)).collect();
    let (then, now) = (virtual_families(known), virtual_families(rows));
    let marks: Vec<Option<Mark>> = rows
        .iter()
        .map(|row| {
            let known = before.get(&row.key).copied();
            if row.approval && row.is_virtual {
                return known;
            }
            let Some((shows, digest)) = &now.get(&row.key.family)?.work else {
                // All boxes that a wider gate or FINAL covers decide together.
                let group =
                    (row.key.family != "END" && row.key.stage.is_gate()).then_some(row.group);
                return known.or_else(|| {
                    let mut with_line = rows.iter().filter(|row| !row.is_virtual && !row.optional);
                    let all_ticked = with_line.all(|row| {
                        group.is_some_and(|group| row.group != group) || row.mark.is_done()
                    });
                    Some(if all_ticked { Mark::DONE } else { Mark::OPEN })
                });
            };
            let done = known.filter(|known| known.is_done());
            let done = done.filter(|_| {
                then.get(&row.key.family).is_some_and(|old| {
                    let same_text = old.work.as_ref().is_some_and(|(_, text)| text == digest);
                    same_text && old.all_done == shows.is_done()
                })
            });
            if row.is_virtual {
                // A mark that is neither open nor done (`[~]`) applies to every stage that is not done.
                let said = match shows {
                    mark if mark.is_done() => Mark::DONE,
                    mark if mark.is_open() => Mark::OPEN,
                    other => *other,
                };
                Some(done.unwrap_or(said))
            } else {
                is_work(row).then(|| done.filter(|_| shows.is_open()).unwrap_or(*shows))
            }
        })
        .collect();
    for (row, mark) in rows.iter_mut().zip(marks) {
        row.mark = mark.unwrap_or(row.mark);
    }
}

/// Inserts the planned stages among the boxes of a file, with the marks of the file.
fn with_stages(rows: &[Row], planned: &[PlannedBox]) -> Vec<Row> {
    let mut beside: HashMap<(usize, RowPosition), Vec<&TaskKey>> = HashMap::new();
    for planned in planned {
        beside
            .entry((planned.beside, planned.position))
            .or_default()
            .push(&planned.key);
    }
    let mut all = Vec::with_capacity(rows.len() + planned.len());
    for (at, row) in rows.iter().enumerate() {
        let added = |position| {
            let keys = beside.get(&(at, position)).into_iter().flatten();
            keys.map(|key| virtual_row(row, key)).collect::<Vec<_>>()
        };
        all.extend(added(RowPosition::Before));
        all.push(row.clone());
        all.extend(added(RowPosition::After));
        all.extend(added(RowPosition::End));
    }
    all
}

/// Returns the row of a virtual stage. A stage of the neighbouring task has its text and position.
fn virtual_row(beside: &Row, key: &TaskKey) -> Row {
    let own = beside.key.family == key.family;
    Row {
        key: key.clone(),
        mark: Mark::OPEN,
        optional: own && beside.optional,
        parent: beside.parent.clone().filter(|_| own),
        text: if own {
            beside.text.clone()
        } else {
            String::new()
        },
        checkpoint: false,
        needs: None,
        work_package: None,
        is_virtual: true,
        ..beside.clone()
    }
}
