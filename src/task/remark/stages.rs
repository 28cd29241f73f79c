//! Stages that will not do what their place suggests.
//!
//! Owns: the remarks on the order of stages and on gates that have nothing to judge.
//!
//! Promises: linear in the number of boxes; a remark never stops a run.
//!
//! Refuses to know: what a gate is, besides its name.

use super::{Remark, RemarkKind};
use crate::task::family::Task;
use crate::task::{Row, Stage, TaskFile};
use std::collections::{HashMap, HashSet};

/// The remarks on all stages of a file; none, and no work, where there are no stages.
pub(super) fn remarks(file: &TaskFile) -> Vec<Remark> {
    if file.tasks.iter().all(Task::is_implementation) {
        return Vec::new();
    }
    let mut remarks = order(file);
    if file.tasks.iter().any(|task| task.key.stage.is_gate()) {
        remarks.extend(gates(file));
    }
    remarks
}

/// TEST-FIRST is done before its task and all else after it, wherever the lines stand.
fn order(file: &TaskFile) -> Vec<Remark> {
    let tasks: HashMap<&str, u32> = file
        .tasks
        .iter()
        .filter(|task| task.is_implementation())
        .map(|task| (task.key.family.as_str(), task.found.line))
        .collect();
    let mut remarks = Vec::new();
    for task in file.tasks.iter().filter(|task| !task.is_implementation() && task.key.stage != Stage::Final) {
        let (key, line) = (&task.key, task.found.line);
        let Some(own) = tasks.get(key.family.as_str()).copied() else { continue };
        let first = key.stage == Stage::TestFirst;
        if first == (line < own) {
            continue;
        }
        let (stands, done, to) = if first {
            ("below its task", "before it", "above")
        } else {
            ("above its task", "after it", "below")
        };
        remarks.push(Remark::new(
            line,
            RemarkKind::StageOrder,
            format!("`{key}` stands {stands} on line {own}, but is done {done}."),
            format!("Move it {to} line {own}, so that the file reads in the order in which it is done."),
        ));
    }
    remarks
}

/// A gate judges what the tasks that it covers have changed.
fn gates(file: &TaskFile) -> Vec<Remark> {
    let rows = file.rows();
    let works = |row: &&Row| matches!(row.key.stage, Stage::Implementation | Stage::Integ) && !row.checkpoint;
    let own: HashSet<&str> = rows
        .iter()
        .filter(|row| row.key.stage == Stage::Implementation)
        .map(|row| row.key.family.as_str())
        .collect();
    let groups: HashSet<u32> = rows.iter().filter(works).map(|row| row.group).collect();
    let working = families_with_work(&rows);
    let mut remarks = Vec::new();
    for (task, row) in file.tasks.iter().zip(&rows).filter(|(task, _)| task.key.stage.is_gate()) {
        let key = &row.key;
        let why = if !task.is_wide_gate() {
            // Without its task it is refused as a whole.
            if !own.contains(key.family.as_str()) || working.contains(key.family.as_str()) {
                continue;
            }
            "its task is a checkpoint, which may have nothing to commit"
        } else if key.family == "END" {
            if !groups.is_empty() {
                continue;
            }
            "the file has no task before it"
        } else if groups.contains(&row.group) {
            continue;
        } else {
            "no task stands under its heading"
        };
        remarks.push(Remark::new(
            row.line,
            RemarkKind::GateWithoutWork,
            format!("`{key}` has nothing to judge: {why}."),
            "Remove the line, or move it behind the tasks that it is meant for.",
        ));
    }
    remarks
}

/// The families with work of their own, and all above them.
fn families_with_work(rows: &[Row]) -> HashSet<&str> {
    let parents: HashMap<&str, &str> =
        rows.iter().filter_map(|row| Some((row.key.family.as_str(), row.parent.as_deref()?))).collect();
    let mut found = HashSet::new();
    for row in rows {
        let works = matches!(row.key.stage, Stage::Implementation | Stage::Integ) && !row.checkpoint;
        let mut at = works.then_some(row.key.family.as_str());
        while let Some(family) = at.filter(|family| found.insert(*family)) {
            at = parents.get(family).copied();
        }
    }
    found
}
