//! Relations between families: parents, children, and the families that a gate or review covers.
//!
//! No circle in a hostile file can hang it; the answers depend on the rows alone, those on changes on the families'.

use super::facts::Accumulated;
use super::state::{Family, SpecState};
use crate::task::{Row, Stage, TaskKey};
use std::collections::BTreeSet;

/// The families above, nearest first, and the family itself.
pub(super) fn with_ancestors(spec: &SpecState, family: &str) -> Vec<String> {
    spec.rows
        .by_family()
        .families_above(family)
        .into_iter()
        .chain([family])
        .map(str::to_owned)
        .collect()
}

/// The families whose changes a stage covers: its own and those below it; for a gate of wider reach
/// those of its heading, or all.
pub fn covered(spec: &SpecState, key: &TaskKey) -> BTreeSet<String> {
    let own = (!key.is_wider_gate()).then(|| key.family.clone());
    spec.rows
        .by_family()
        .covered_families(key)
        .into_iter()
        .map(str::to_owned)
        .chain(own)
        .collect()
}

/// The same, as far as something is known of them.
pub(super) fn known_covered<'a>(
    spec: &'a SpecState,
    key: &TaskKey,
) -> impl Iterator<Item = &'a Family> {
    covered(spec, key)
        .into_iter()
        .filter_map(|family| spec.family(&family))
}

/// The gates of wider reach that cover a family.
pub fn wider_gates<'a>(spec: &'a SpecState, family: &str) -> Vec<&'a Row> {
    spec.rows.by_family().wider_gates(family)
}

/// A box with its place: `tasks.md:12: 2.PITEST`, `tasks.md:12 “Write the docs”`.
pub fn named(row: &Row) -> String {
    if row.key.has_id() {
        format!("tasks.md:{}: {}", row.line, row.key)
    } else {
        row.row_title()
    }
}

/// Returns why a family is blocked, as a sentence with the line of its work.
pub fn blocked_by(spec: &SpecState, family: &str, why: &str) -> String {
    let row = work_box(spec, family).and_then(|key| spec.row(&key));
    match row.or_else(|| spec.family_rows(family).next()) {
        Some(row) => format!("{} is blocked: {why}", named(row)),
        None => format!("{family} is blocked: {why}"),
    }
}

/// The box that rework opens: the implementation, or INTEG where a family has only that.
pub fn work_box(spec: &SpecState, family: &str) -> Option<TaskKey> {
    let keys = [Stage::Implementation, Stage::Integ].map(|stage| TaskKey {
        family: family.to_owned(),
        stage,
    });
    keys.into_iter().find(|key| spec.row(key).is_some())
}

/// The stages of a family that come before one of them: TEST-FIRST, implementation, then as the file has
/// them.
pub fn earlier<'a>(spec: &'a SpecState, row: &'a Row) -> impl Iterator<Item = &'a Row> {
    let at = spec
        .family_rows(&row.key.family)
        .position(|other| other.key == row.key)
        .unwrap_or(usize::MAX);
    let own = (rank(&row.key.stage), at);
    spec.family_rows(&row.key.family)
        .enumerate()
        .filter(move |(at, other)| (rank(&other.key.stage), *at) < own)
        .map(|(_, other)| other)
}

fn rank(stage: &Stage) -> u8 {
    match stage {
        Stage::TestFirst => 0,
        Stage::Implementation => 1,
        _ => 2,
    }
}

/// The sum of the changes of all families that a stage covers, the earliest first.
pub fn covered_changes(spec: &SpecState, key: &TaskKey) -> Accumulated {
    let mut families: Vec<&Family> = known_covered(spec, key).collect();
    families.sort_by_key(|family| family.first_iteration);
    let mut sum = Accumulated::default();
    for family in families {
        sum.join(&family.changes);
    }
    sum
}
