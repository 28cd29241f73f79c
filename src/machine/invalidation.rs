//! Ticked boxes that stand for older content: a gate that judged another commit, a review of other files.
//!
//! A gate's box never outlives the commit that it judged; tests that are added leave a review ticked.

use super::facts::{FileChange, Observation, Oid};
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
    let families = with_ancestors(&spec.rows, family);
    let mut rows: Vec<&Row> = spec
        .rows
        .iter()
        .filter(|row| families.contains(&row.key.family))
        .filter(|row| row.key.stage.is_review() || row.key.stage.is_gate())
        .collect();
    rows.extend(hierarchy::wider_gates(spec, family));
    rows.extend(spec.rows.iter().filter(|row| row.key.stage == Stage::Final));
    rows
}

fn is_outdated(
    key: &TaskKey,
    stands_for: &JudgedContent,
    spec: &SpecState,
    family: &str,
    observation: &Observation,
) -> bool {
    match &stands_for.production {
        Some(production) if key.stage.is_review() => {
            let reviewed = |path: &String| production.get(path);
            let changed_since = observation
                .family
                .iter()
                .filter(|change| change.kind == Kind::Production)
                .any(|change| reviewed(&change.full_path()) != Some(&change.new));
            let now: BTreeSet<String> = observation.family.iter().map(FileChange::full_path).collect();
            let undone = spec.family(family).is_some_and(|known| {
                known.last_touch.keys().any(|path| reviewed(path).is_some() && !now.contains(path))
            });
            let tests_removed = observation.lost_reviewed.iter().any(|lost| {
                stands_for.tests.iter().any(|kept| kept.package == lost.package && kept.path == lost.path)
            });
            changed_since || undone || tests_removed
        }
        _ => {
            let touched: BTreeSet<&String> =
                observation.family.iter().map(|change| &change.package).collect();
            let after = observation.after.heads();
            after
                .iter()
                .filter(|(package, _)| key.stage == Stage::Final || touched.contains(package))
                .any(|(package, head)| stands_for.heads.get(package) != Some(head))
        }
    }
}
