//! The boxes of tasks.md: the only file of the machine in which one is ticked or opened.
//!
//! A tick or an opening changes what is remembered of the box and what is written into the file, both at once:
//! there is no way to ask for one without the other. `grep -rn '\.tick('` shows everybody who may tick.

use super::event::TasksSeen;
use super::facts::{Accumulated, Oid};
use super::state::{Family, JudgedContent, SpecState, State, TickedBy};
use crate::task::{Mark, Stage, TaskKey};
use std::collections::BTreeMap;

/// The boxes that an iteration changes.
#[derive(Default)]
pub(super) struct Flips(Vec<(TaskKey, Mark)>);

impl Flips {
    /// Ticks a box for this content.
    pub(super) fn tick(
        &mut self,
        spec: &mut SpecState,
        key: &TaskKey,
        by: TickedBy,
        content: JudgedContent,
    ) {
        remember_tick(spec, key, by, content);
        self.0.push((key.clone(), Mark::DONE));
    }

    /// Unticks a box and restarts its evidence.
    pub(super) fn open(&mut self, spec: &mut SpecState, key: &TaskKey) {
        remember_opening(spec, key);
        self.0.push((key.clone(), Mark::OPEN));
    }

    /// The boxes to write: those that change, and the parents above them.
    pub(super) fn with_parents(
        self,
        spec: &mut SpecState,
        heads: &BTreeMap<String, Oid>,
    ) -> Vec<(TaskKey, Mark)> {
        let mut changes: BTreeMap<TaskKey, Mark> = BTreeMap::new();
        for (key, mark) in self.0 {
            if spec
                .row(&key)
                .is_some_and(|row| row.mark.is_done() != mark.is_done())
            {
                changes.insert(key, mark);
            } else {
                changes.remove(&key);
            }
        }
        flip_parents(spec, &mut changes, heads);
        changes.into_iter().collect()
    }
}

/// A parent is ticked with the last of its required children and opened with any of them. A task whose children
/// are all optional is no parent: it has attempts of its own.
fn flip_parents(
    spec: &mut SpecState,
    changes: &mut BTreeMap<TaskKey, Mark>,
    heads: &BTreeMap<String, Oid>,
) {
    let rows = spec.rows.clone();
    let families = rows.by_family();
    let changed: Vec<String> = changes.keys().map(|key| key.family.clone()).collect();
    let above = changed
        .iter()
        .flat_map(|family| families.families_above(family));
    for parent in above.filter(|parent| families.is_parent(parent)) {
        let key = TaskKey {
            family: parent.to_owned(),
            stage: Stage::Implementation,
        };
        let Some(mark) = spec.row(&key).map(|row| row.mark) else {
            continue;
        };
        let below = families.families_below(parent);
        let mut owed = rows
            .iter()
            .filter(|row| below.contains(&*row.key.family) && !row.optional);
        let all_done = owed.all(|row| changes.get(&row.key).copied().unwrap_or(row.mark).is_done());
        let mut flips = Flips::default();
        if mark.is_done() && !all_done {
            flips.open(spec, &key);
        } else if mark.is_open() && all_done {
            flips.tick(
                spec,
                &key,
                TickedBy::Ralph,
                JudgedContent::commits(heads.clone()),
            );
        }
        changes.extend(flips.0);
    }
}

fn remember_tick(spec: &mut SpecState, key: &TaskKey, by: TickedBy, content: JudgedContent) {
    let stage = spec.stage_mut(key);
    stage.attempts = 0;
    stage.reasons.clear();
    stage.findings.clear();
    stage.ticked_by = Some(by);
    stage.green = false;
    stage.stands_for = Some(content);
}

fn remember_opening(spec: &mut SpecState, key: &TaskKey) {
    let stage = spec.stage_mut(key);
    stage.lane_failed = false;
    stage.own = Accumulated::default();
    stage.strays.clear();
    stage.tests_delta.clear();
    stage.attempts = 0;
    stage.frozen_only = false;
    stage.ticked_by = None;
    stage.green = false;
    stage.stands_for = None;
    if key.stage == Stage::Final {
        spec.gaps.clear();
    }
}

/// The boxes that were ticked or opened in the file itself.
pub(super) fn edited(spec: &SpecState, seen: &TasksSeen) -> Vec<(TaskKey, Mark)> {
    let before: BTreeMap<&TaskKey, Mark> =
        spec.rows.iter().map(|row| (&row.key, row.mark)).collect();
    let mut edits = Vec::new();
    for row in seen.rows.iter().flatten() {
        let was_done = before.get(&row.key).is_some_and(|mark| mark.is_done());
        if row.mark.is_done() != was_done {
            edits.push((row.key.clone(), row.mark));
        }
    }
    edits.extend(seen.marks.iter().cloned());
    edits
}

/// Adopts the contents of tasks.md into the state.
pub(super) fn take_over(
    state: &mut State,
    seen: &TasksSeen,
    by: TickedBy,
    heads: &BTreeMap<String, Oid>,
) {
    let spec = state.spec_state_mut();
    let edited = edited(spec, seen);
    if let Some(rows) = &seen.rows {
        spec.rows = rows.clone().into();
        spec.unread.clone_from(&seen.unread);
        forget_reworded(spec);
    }
    spec.skeleton.clone_from(&seen.skeleton);
    set_marks(spec, &seen.marks);
    for (key, mark) in edited {
        spec.family_mut(&key.family).blocked = None;
        if mark.is_done() {
            remember_tick(spec, &key, by, JudgedContent::commits(heads.clone()));
        } else {
            remember_opening(spec, &key);
        }
    }
}

/// Notes what the file holds now.
pub(super) fn set_marks(spec: &mut SpecState, marks: &[(TaskKey, Mark)]) {
    for (key, mark) in marks {
        spec.rows.set_mark(key, *mark);
    }
}

/// An implementation whose text changed, on its line or below it, starts its family again.
fn forget_reworded(spec: &mut SpecState) {
    for row in spec.rows.iter().filter(|row| row.key.stage.is_work()) {
        let known = spec.families.entry(row.key.family.clone()).or_default();
        let is_other_below = known
            .under
            .as_ref()
            .zip(row.under.as_ref())
            .is_some_and(|(was, is)| was != is);
        if !known.digest.is_empty() && (known.digest != row.digest || is_other_below) {
            *known = Family::default();
        }
        known.digest.clone_from(&row.digest);
        known.under.clone_from(&row.under);
    }
}
