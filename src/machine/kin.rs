//! Who belongs to whom: parents, children, and the families that a stage covers.
//!
//! Owns: the relations between families that follow from the rows (design §1 "family", §4 "wider reach").
//!
//! Promises: no cycle in a hostile file can hang it; the answers depend on the rows alone.
//!
//! Refuses to know: what was tried, what is ticked, why somebody asks.

use super::state::Book;
use crate::task::{Row, Stage, TaskKey};
use std::collections::BTreeSet;

/// The families above, nearest first.
pub fn ancestors(book: &Book, family: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut at = parent_of(book, family);
    while let Some(parent) = at {
        if parent == family || found.contains(&parent) {
            break;
        }
        at = parent_of(book, &parent);
        found.push(parent);
    }
    found
}

fn parent_of(book: &Book, family: &str) -> Option<String> {
    book.family_rows(family).find_map(|row| row.parent.clone())
}

/// The families below, at any depth.
pub fn descendants(book: &Book, family: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![family];
    while let Some(parent) = open.pop() {
        for row in &book.rows {
            let is_child = row.parent.as_deref() == Some(parent) && row.key.family != family;
            if is_child && found.insert(row.key.family.clone()) {
                open.push(&row.key.family);
            }
        }
    }
    found
}

/// True for a gate of wider reach: `G2.PITEST`, `END.PITEST`.
pub fn is_wider(key: &TaskKey) -> bool {
    let group = key.family.strip_prefix('G').is_some_and(is_number);
    key.stage.is_gate() && (key.family == "END" || group)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// The families whose changes a stage stands for: its own and those below it; for a gate of wider reach
/// those of its heading, or all.
pub fn covered(book: &Book, key: &TaskKey) -> BTreeSet<String> {
    if !is_wider(key) {
        let mut families = descendants(book, &key.family);
        families.insert(key.family.clone());
        return families;
    }
    let group = if key.family == "END" { None } else { book.row(key).map(|row| row.group) };
    book.rows
        .iter()
        .filter(|row| !is_wider(&row.key) && row.key.stage != Stage::Final)
        .filter(|row| group.is_none_or(|group| row.group == group))
        .map(|row| row.key.family.clone())
        .collect()
}

/// The ticked or open gates of wider reach that stand over a family.
pub fn wider_gates<'a>(book: &'a Book, family: &str) -> Vec<&'a Row> {
    book.rows.iter().filter(|row| is_wider(&row.key) && covered(book, &row.key).contains(family)).collect()
}

/// A box with its place: `tasks.md:12: 2.PITEST`.
pub fn named(row: &Row) -> String {
    format!("tasks.md:{}: {}", row.line, row.key)
}

/// Where the work of a family stands, and why it is blocked; a whole sentence.
pub fn blocked_by(book: &Book, family: &str, why: &str) -> String {
    let row = work_box(book, family).and_then(|key| book.row(&key));
    match row.or_else(|| book.family_rows(family).next()) {
        Some(row) => format!("{} is blocked: {why}", named(row)),
        None => format!("{family} is blocked: {why}"),
    }
}

/// The box that rework opens: the implementation, or INTEG where a family has only that.
pub fn work_box(book: &Book, family: &str) -> Option<TaskKey> {
    [Stage::Implementation, Stage::Integ]
        .into_iter()
        .map(|stage| TaskKey { family: family.to_owned(), stage })
        .find(|key| book.row(key).is_some())
}

/// The stages of a family that come before one of them: TEST-FIRST, implementation, then as the file has
/// them.
pub fn earlier<'a>(book: &'a Book, row: &'a Row) -> impl Iterator<Item = &'a Row> {
    let rank = |stage: &Stage| match stage {
        Stage::TestFirst => 0,
        Stage::Implementation => 1,
        _ => 2,
    };
    let family = || book.family_rows(&row.key.family).enumerate();
    let at = family().find(|(_, other)| other.key == row.key).map_or(usize::MAX, |(at, _)| at);
    let own = (rank(&row.key.stage), at);
    family().filter(move |(at, other)| (rank(&other.key.stage), *at) < own).map(|(_, other)| other)
}
