//! Relations between families: parents, children, and the families that a gate or review covers.
//!
//! No circle in a hostile file can hang it; the answers depend on the rows alone, those on changes on the families'.

use super::facts::Accumulated;
use super::state::{Family, SpecState};
use crate::task::{Row, Stage, TaskKey};
use std::collections::BTreeSet;

/// The families above, nearest first.
pub fn ancestors(spec: &SpecState, family: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut at = parent_of(spec, family);
    while let Some(parent) = at {
        if parent == family || found.contains(&parent) {
            break;
        }
        at = parent_of(spec, &parent);
        found.push(parent);
    }
    found
}

fn parent_of(spec: &SpecState, family: &str) -> Option<String> {
    spec.family_rows(family).find_map(|row| row.parent.clone())
}

/// The families below, at any depth.
pub fn descendants(spec: &SpecState, family: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![family];
    while let Some(parent) = open.pop() {
        for row in &spec.rows {
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
pub fn covered(spec: &SpecState, key: &TaskKey) -> BTreeSet<String> {
    if !is_wider(key) {
        let mut families = descendants(spec, &key.family);
        families.insert(key.family.clone());
        return families;
    }
    let group = if key.family == "END" { None } else { spec.row(key).map(|row| row.group) };
    spec.rows
        .iter()
        .filter(|row| !is_wider(&row.key) && row.key.stage != Stage::Final)
        .filter(|row| group.is_none_or(|group| row.group == group))
        .map(|row| row.key.family.clone())
        .collect()
}

/// The ticked or open gates of wider reach that stand over a family.
pub fn wider_gates<'a>(spec: &'a SpecState, family: &str) -> Vec<&'a Row> {
    spec.rows.iter().filter(|row| is_wider(&row.key) && covered(spec, &row.key).contains(family)).collect()
}

/// A box with its place: `tasks.md:12: 2.PITEST`.
pub fn named(row: &Row) -> String {
    format!("tasks.md:{}: {}", row.line, row.key)
}

/// Where the work of a family stands, and why it is blocked; a whole sentence.
pub fn blocked_by(spec: &SpecState, family: &str, why: &str) -> String {
    let row = work_box(spec, family).and_then(|key| spec.row(&key));
    match row.or_else(|| spec.family_rows(family).next()) {
        Some(row) => format!("{} is blocked: {why}", named(row)),
        None => format!("{family} is blocked: {why}"),
    }
}

/// The box that rework opens: the implementation, or INTEG where a family has only that.
pub fn work_box(spec: &SpecState, family: &str) -> Option<TaskKey> {
    [Stage::Implementation, Stage::Integ]
        .into_iter()
        .map(|stage| TaskKey { family: family.to_owned(), stage })
        .find(|key| spec.row(key).is_some())
}

/// The stages of a family that come before one of them: TEST-FIRST, implementation, then as the file has
/// them.
pub fn earlier<'a>(spec: &'a SpecState, row: &'a Row) -> impl Iterator<Item = &'a Row> {
    let rank = |stage: &Stage| match stage {
        Stage::TestFirst => 0,
        Stage::Implementation => 1,
        _ => 2,
    };
    let family = || spec.family_rows(&row.key.family).enumerate();
    let at = family().find(|(_, other)| other.key == row.key).map_or(usize::MAX, |(at, _)| at);
    let own = (rank(&row.key.stage), at);
    family().filter(move |(at, other)| (rank(&other.key.stage), *at) < own).map(|(_, other)| other)
}

/// The sum of the changes of all families that a stage covers, the earliest first.
pub fn covered_changes(spec: &SpecState, key: &TaskKey) -> Accumulated {
    let mut families: Vec<&Family> =
        covered(spec, key).iter().filter_map(|family| spec.family(family)).collect();
    families.sort_by_key(|family| family.first_iteration);
    let mut sum = Accumulated::default();
    for family in families {
        sum.join(&family.changes);
    }
    sum
}
