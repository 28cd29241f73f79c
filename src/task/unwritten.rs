//! Stages without a line of their own: what `stages: virtual` adds to a file that is left alone.
//!
//! Owns: the boxes that such a file has beside those in it, and what its own boxes show of them.
//!
//! Promises: the box of a task in the file is ticked exactly when all stages of the task are; what a person
//! ticked or opened there holds for all of them; a file whose stages have lines is as it always was.
//!
//! Refuses to know: which stages a task gets (see `stage_plan`), what a stage is for, how bytes are written.

use super::{Mark, Placement, Row, Side, Stage, Staged, TaskFile, TaskKey, Wanted, stages_wanted};
use std::collections::HashMap;

/// Where the stages of a task stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stages {
    /// In the file, each on a line of its own; a task without such lines has its implementation alone.
    #[default]
    File,
    /// Nowhere: the file is left alone, and its tasks go through the default stages all the same.
    Virtual {
        /// Which gates there are, and where they stand.
        gates: Vec<(String, Placement)>,
    },
}

impl TaskFile {
    /// The boxes in the order of work: those in the file, and the stages that have no line.
    ///
    /// `known` are the boxes as they were last seen. What they say of stages without a line holds on, as
    /// long as the box of the task shows what they had left there; else a person changed it, and it speaks
    /// for all stages of the task.
    pub fn boxes(&self, known: &[Row]) -> Vec<Row> {
        let rows = self.rows();
        let Stages::Virtual { gates } = &self.grammar.stages else { return rows };
        let wanted = stages_wanted(&rows, Staged::Every, gates).unwrap_or_default();
        if wanted.is_empty() {
            return rows;
        }
        let mut all = with_stages(&rows, &wanted);
        settle(&mut all, known);
        all
    }
}

/// The boxes that have a line, with the marks that belong there.
pub fn written(rows: &[Row]) -> Vec<Row> {
    let families = families(rows);
    let with_line = rows.iter().filter(|row| !row.unwritten).cloned();
    with_line.map(|row| Row { mark: shown(&row, row.mark, &families), ..row }).collect()
}

/// What flips of these boxes mean for the boxes that have a line; a flip of a box that is not among the
/// rows stays as it is.
pub fn on_file(rows: &[Row], flips: &[(TaskKey, Mark)]) -> Vec<(TaskKey, Mark)> {
    if !rows.iter().any(|row| row.unwritten) {
        return flips.to_vec();
    }
    let marks: HashMap<&TaskKey, Mark> = flips.iter().map(|(key, mark)| (key, *mark)).collect();
    let touched: Vec<Row> = rows
        .iter()
        .filter(|row| flips.iter().any(|(key, _)| key.family == row.key.family))
        .map(|row| Row { mark: marks.get(&row.key).copied().unwrap_or(row.mark), ..row.clone() })
        .collect();
    let families = families(&touched);
    let mut found: Vec<(TaskKey, Mark)> = Vec::new();
    for (key, mark) in flips {
        let row = touched.iter().find(|row| row.key == *key);
        let speaks = match row {
            Some(row) if row.unwritten => touched.iter().find(|other| is_work_of(other, &key.family)),
            row => row,
        };
        let flip = match (row, speaks) {
            (None, _) => (key.clone(), *mark),
            (Some(_), None) => continue,
            (Some(_), Some(row)) => (row.key.clone(), shown(row, row.mark, &families)),
        };
        if !found.contains(&flip) {
            found.push(flip);
        }
    }
    found
}

/// True for the box that shows the stages without a line of a family.
fn is_work_of(row: &Row, family: &str) -> bool {
    !row.unwritten && row.key.stage == Stage::Implementation && row.key.family == family
}

/// What is known of a family with stages that have no line.
#[derive(Default)]
struct Shape {
    /// It has such stages.
    unwritten: bool,
    /// They and the implementation are ticked.
    all_done: bool,
    /// Mark and text of the implementation's box.
    work: Option<(Mark, String)>,
}

fn families(rows: &[Row]) -> HashMap<String, Shape> {
    let mut found: HashMap<String, Shape> = HashMap::new();
    for row in rows.iter().filter(|row| row.unwritten) {
        let shape = found.entry(row.key.family.clone()).or_insert_with(|| Shape {
            unwritten: true,
            all_done: true,
            work: None,
        });
        shape.all_done &= row.mark.is_done();
    }
    for row in rows.iter().filter(|row| is_work_of(row, &row.key.family)) {
        if let Some(shape) = found.get_mut(&row.key.family) {
            shape.all_done &= row.mark.is_done();
            shape.work = Some((row.mark, row.digest.clone()));
        }
    }
    found
}

/// What stands in the box of a row when its mark is this.
fn shown(row: &Row, mark: Mark, families: &HashMap<String, Shape>) -> Mark {
    let shape = families.get(&row.key.family).filter(|_| is_work_of(row, &row.key.family));
    match shape {
        Some(shape) if mark.is_done() && !shape.all_done => Mark::OPEN,
        _ => mark,
    }
}

/// Gives each stage without a line, and each box that shows such stages, the mark that it has.
fn settle(rows: &mut [Row], known: &[Row]) {
    let before: HashMap<&TaskKey, Mark> = known.iter().map(|row| (&row.key, row.mark)).collect();
    let (stood, now) = (families(known), families(rows));
    let all_ticked = |group: Option<u32>, rows: &[Row]| {
        let mut with_line = rows.iter().filter(|row| !row.unwritten && !row.optional);
        with_line.all(|row| group.is_some_and(|group| row.group != group) || row.mark.is_done())
    };
    let mut marks = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let Some(shape) = now.get(&row.key.family) else { continue };
        let Some((shows, digest)) = &shape.work else {
            // A wider gate, or FINAL: there is no box that could speak for it but all those that it covers.
            let group = (row.key.family != "END" && row.key.stage.is_gate()).then_some(row.group);
            let first = || if all_ticked(group, rows) { Mark::DONE } else { Mark::OPEN };
            marks.push((at, before.get(&row.key).copied().unwrap_or_else(first)));
            continue;
        };
        let same_text = |old: &&Shape| old.work.as_ref().is_some_and(|(_, text)| text == digest);
        let as_left = stood
            .get(&row.key.family)
            .filter(same_text)
            .is_some_and(|old| old.unwritten && old.all_done == shows.is_done());
        let known = before.get(&row.key).copied().filter(|_| as_left);
        if row.unwritten {
            // What is neither open nor done (`[~]`) is so for every stage that is not done.
            let said = match shows {
                mark if mark.is_done() => Mark::DONE,
                mark if mark.is_open() => Mark::OPEN,
                other => *other,
            };
            marks.push((at, known.filter(|known| known.is_done()).unwrap_or(said)));
        } else if row.key.stage == Stage::Implementation {
            let hidden = known.filter(|known| known.is_done() && shows.is_open());
            marks.push((at, hidden.unwrap_or(*shows)));
        }
    }
    for (at, mark) in marks {
        if let Some(row) = rows.get_mut(at) {
            row.mark = mark;
        }
    }
}

/// The boxes of a file with the wanted stages among them, marks as in the file.
fn with_stages(rows: &[Row], wanted: &[Wanted]) -> Vec<Row> {
    let mut beside: HashMap<(usize, Side), Vec<&Wanted>> = HashMap::new();
    for wanted in wanted {
        beside.entry((wanted.beside, wanted.side)).or_default().push(wanted);
    }
    let added = |row: &Row, at: usize, side: Side| -> Vec<Row> {
        let wanted = beside.get(&(at, side)).into_iter().flatten();
        wanted.map(|wanted| unwritten(row, &wanted.key)).collect()
    };
    let mut all = Vec::with_capacity(rows.len() + wanted.len());
    for (at, row) in rows.iter().enumerate() {
        all.extend(added(row, at, Side::Before));
        all.push(row.clone());
        all.extend(added(row, at, Side::After));
        all.extend(added(row, at, Side::End));
    }
    all
}

/// The row of a stage that has no line: one of the task beside it shows what that one shows.
fn unwritten(beside: &Row, key: &TaskKey) -> Row {
    let own = beside.key.family == key.family;
    Row {
        key: key.clone(),
        mark: Mark::OPEN,
        optional: own && beside.optional,
        parent: beside.parent.clone().filter(|_| own),
        text: if own { beside.text.clone() } else { String::new() },
        checkpoint: false,
        unwritten: true,
        ..beside.clone()
    }
}
