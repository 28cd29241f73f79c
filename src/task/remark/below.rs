//! Parents that stand behind their children.
//!
//! Owns: the remark on a task that is a parent by its id alone, far from where its children stand.
//!
//! Promises: linear in the number of tasks; what is a parent is decided in `family`.
//!
//! Refuses to know: what is ticked.

use super::{Remark, RemarkKind};
use crate::task::TaskFile;
use std::collections::BTreeMap;

/// A remark on each parent below a required child of its own that stands under another heading: often the
/// box is of another list, which happens to count from 1 too.
pub(super) fn remarks(file: &TaskFile) -> Vec<Remark> {
    // By the parent: the line of its first child, and how many there are.
    let mut found: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
    for child in file.tasks.iter().filter(|task| task.is_implementation() && !task.optional) {
        let Some(parent) = file.parent(child) else { continue };
        if parent.found.line > child.found.line && parent.found.group != child.found.group {
            found.entry(parent.found.line).or_insert((child.found.line, 0)).1 += 1;
        }
    }
    found.into_iter().map(|(line, (first, count))| remark(line, first, count)).collect()
}

fn remark(line: u32, first: u32, count: u32) -> Remark {
    let children = match count {
        1 => format!("the task on line {first}, which stands"),
        _ => format!("{count} tasks (the first on line {first}), which stand"),
    };
    Remark::new(
        line,
        RemarkKind::ParentBelow,
        format!(
            "By its id the task on line {line} is the parent of {children} above it, under another heading, and so it is ticked without an attempt."
        ),
        "Move it above them; if it belongs to another list, give it another id or none, or leave its section out with \
         `tasks.sections`.",
    )
}
