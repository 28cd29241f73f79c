//! Ticked boxes that stand for older content: a gate that judged another commit, a review of other files.
//!
//! A gate's box never outlives the commit that it judged; tests that are added leave a review ticked.

use super::facts::{FileChange, LostLines, Observation, Oid};
use super::hierarchy::{self, with_ancestors};
use super::state::{JudgedContent, SpecState, State};
use crate::source::Kind;
use crate::task::{Row, Stage, TaskKey};
use std::collections::{BTreeMap, BTreeSet};

/// The ticked boxes that an accepted implementation of `family` outdates.
pub(super) fn outdated(state: &State, family: &str, observation: &Observation) -> Vec<TaskKey> {
    let spec = state.spec_state();
    ticked(spec, family, |key, stands_for| {
        !(state.policy.keep_reviews && key.stage.is_review())
            && stands_for.is_none_or(|content| is_outdated(key, content, spec, family, observation))
    })
}

/// The ticked gates over a family (its own, those of the tasks above it, those of wider reach) that judged
/// other commits than these.
pub(super) fn gates_of_other_commits(
    spec: &SpecState,
    family: &str,
    heads: &BTreeMap<String, Oid>,
) -> Vec<TaskKey> {
    let is_other = |content: &JudgedContent| content.heads != *heads;
    ticked(spec, family, |key, stands_for| key.stage.is_gate() && stands_for.is_none_or(is_other))
}

/// The ticked boxes over a family that, with what they stand for, are wanted.
fn ticked(
    spec: &SpecState,
    family: &str,
    wanted: impl Fn(&TaskKey, Option<&JudgedContent>) -> bool,
) -> Vec<TaskKey> {
    let stands_for = |key: &TaskKey| spec.stage(key).and_then(|stage| stage.stands_for.as_ref());
    let rows = candidates(spec, family).into_iter().filter(|row| row.mark.is_done());
    rows.filter(|row| wanted(&row.key, stands_for(&row.key))).map(|row| row.key.clone()).collect()
}

/// The later stages of the family and of the families above, the wider gates over it, and FINAL.
fn candidates<'a>(spec: &'a SpecState, family: &str) -> Vec<&'a Row> {
    let families = with_ancestors(spec, family);
    let judges = |row: &&Row| row.key.stage.is_review() || row.key.stage.is_gate();
    let own = spec.rows.iter().filter(judges).filter(|row| families.contains(&row.key.family));
    let last = spec.rows.iter().filter(|row| row.key.stage == Stage::Final);
    own.chain(hierarchy::wider_gates(spec, family)).chain(last).collect()
}

fn is_outdated(
    key: &TaskKey,
    stands_for: &JudgedContent,
    spec: &SpecState,
    family: &str,
    observation: &Observation,
) -> bool {
    let changes = &observation.family;
    let Some(production) = stands_for.production.as_ref().filter(|_| key.stage.is_review()) else {
        let touched: BTreeSet<&String> = changes.iter().map(|change| &change.package).collect();
        let counts = |package: &String| key.stage == Stage::Final || touched.contains(package);
        let differs = |(package, head)| counts(package) && stands_for.heads.get(package) != Some(head);
        return observation.after.heads().iter().any(differs);
    };
    let reviewed = |path: &String| production.get(path);
    let mut written = changes.iter().filter(|change| change.kind == Kind::Production);
    let now: BTreeSet<String> = changes.iter().map(FileChange::full_path).collect();
    let is_undone = |path: &String| reviewed(path).is_some() && !now.contains(path);
    let is_reviewed_test = |lost: &LostLines| {
        stands_for.tests.iter().any(|kept| kept.package == lost.package && kept.path == lost.path)
    };
    written.any(|change| reviewed(&change.full_path()) != Some(&change.new))
        || spec.family(family).is_some_and(|known| known.last_touch.keys().any(is_undone))
        || observation.lost_reviewed.iter().any(is_reviewed_test)
}
