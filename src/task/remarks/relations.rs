//! Remarks on relations between tasks: duplicate ids, parents and children, gates.

use crate::source::text::count;
use crate::task::file::TaskFile;
use crate::task::hierarchy::Families;
use crate::task::plan::can_be_judged;
use crate::task::remark_kind::{Remark, RemarkKind};
use crate::task::row::Row;
use crate::task::stage::Stage;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Adds the remarks that depend on several tasks.
pub(super) fn add_remarks(file: &TaskFile, remarks: &mut Vec<Remark>) {
    let mut first_of_id: HashMap<&str, u32> = HashMap::new();
    // By the parent's line: its first child above it, and the number of such children.
    let mut above: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for task in &file.tasks {
        let line = task.found.line;
        if let Some(id) = task.doubled.as_deref() {
            let first = *first_of_id.entry(id).or_insert(line);
            if first != line {
                remarks.push(Remark::new(
                    line,
                    RemarkKind::DuplicateId,
                    &[id, &first.to_string()],
                ));
            }
        }
        let Some(parent) = file.parent_task(task).filter(|_| !task.optional) else {
            continue;
        };
        let at = parent.found.line;
        if task.is_implementation() && at > line && parent.found.group != task.found.group {
            above.entry(at).or_insert((line, 0)).1 += 1;
        }
    }
    remarks.extend(above.into_iter().map(|(at, (first, children))| {
        Remark::new(
            at,
            RemarkKind::ParentBelow,
            &[&count(children.into(), "task"), &first.to_string()],
        )
    }));
    if file.tasks.iter().any(|task| !task.is_implementation()) {
        remark_gates(&file.box_rows(), remarks);
    }
}

/// Reports gates that have nothing to judge, or come before the code.
fn remark_gates(rows: &[Row], remarks: &mut Vec<Remark>) {
    let families = Families::new(rows);
    let groups: HashSet<u32> = rows
        .iter()
        .filter(|row| has_changes(row))
        .map(|row| row.group)
        .collect();
    for row in rows.iter().filter(|row| row.key.stage.is_gate()) {
        let (key, name) = (&row.key, row.key.to_string());
        let work = families
            .family_boxes(&key.family)
            .map(|(_, own)| own)
            .find(|own| own.key.stage == Stage::Implementation);
        let is_too_early = work.is_some_and(|work| {
            !can_be_judged(&families, work) && !families.is_parent(&key.family)
        });
        if is_too_early && !row.mark.is_done() {
            remarks.push(Remark::new(row.line, RemarkKind::GateBeforeCode, &[&name]));
        }
        let is_wider = key.is_wider_gate();
        let why = if is_wider && key.family == "END" && groups.is_empty() {
            "the file has no task before it"
        } else if is_wider && key.family != "END" && !groups.contains(&row.group) {
            "there is no task under its heading"
        } else if work.is_some() && !has_work(&families, &key.family) {
            "its task is a checkpoint, which may have nothing to commit"
        } else {
            continue;
        };
        remarks.push(Remark::new(
            row.line,
            RemarkKind::GateWithoutWork,
            &[&name, why],
        ));
    }
}

/// True if a family or one below it has work that can change something.
fn has_work(families: &Families<'_>, family: &str) -> bool {
    let mut own = families
        .families_below(family)
        .into_iter()
        .chain([family])
        .flat_map(|name| families.family_boxes(name));
    own.any(|(_, row)| has_changes(row))
}

/// True for work that can change something.
fn has_changes(row: &Row) -> bool {
    row.key.stage.is_work() && !row.checkpoint
}
