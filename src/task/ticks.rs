//! Finds the boxes that a version of a task file ticked.
//!
//! Promises: a task that was only renumbered or reworded is matched and is no tick. A task that was added ticked is
//! one.

use super::file::TaskFile;
use super::row::Row;
use std::collections::{HashMap, HashSet};

/// Returns the boxes that are ticked in `after` and open or missing in `before`, in file order.
pub fn ticked_since(before: &TaskFile, after: &TaskFile) -> Vec<Row> {
    let (old, new) = (before.box_rows(), after.box_rows());
    let known = known_again(&old, &new);
    let mut ticked = Vec::new();
    for (at, row) in new.iter().enumerate() {
        let was = known.get(&at).and_then(|was| old.get(*was));
        if row.mark.is_done() && !was.is_some_and(|was| was.mark.is_done()) {
            ticked.push(row.clone());
        }
    }
    ticked
}

/// Maps each matched row of `new` to its row of `old`.
///
/// Rows match by name and text, then by text, then by name. Lines without an id, which are named by their text, then
/// match by their order among the remaining ones.
fn known_again(old: &[Row], new: &[Row]) -> HashMap<usize, usize> {
    let mut known = HashMap::new();
    pair_rows(old, new, &mut known, |row| {
        Some(format!("{} {}", row.key, stage_and_text(row)))
    });
    pair_rows(old, new, &mut known, |row| {
        (!row.text.is_empty()).then(|| stage_and_text(row))
    });
    pair_rows(old, new, &mut known, |row| {
        row.key.has_id().then(|| row.key.written_id())
    });
    pair_rows(old, new, &mut known, |row| {
        (!row.key.has_id()).then(String::new)
    });
    known
}

/// Returns the stage and the text of a row.
fn stage_and_text(row: &Row) -> String {
    format!("{} {}", row.key.stage.stage_word(), row.text)
}

/// Pairs the rows of one name that are not paired yet, in order.
fn pair_rows(
    old: &[Row],
    new: &[Row],
    known: &mut HashMap<usize, usize>,
    name: impl Fn(&Row) -> Option<String>,
) {
    let taken: HashSet<usize> = known.values().copied().collect();
    let mut free: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, row) in old
        .iter()
        .enumerate()
        .rev()
        .filter(|(at, _)| !taken.contains(at))
    {
        if let Some(name) = name(row) {
            free.entry(name).or_default().push(at);
        }
    }
    for (at, row) in new.iter().enumerate() {
        if !known.contains_key(&at)
            && let Some(was) = name(row).and_then(|name| free.get_mut(&name)?.pop())
        {
            known.insert(at, was);
        }
    }
}
