//! Ticked boxes that stand for other content than what was just accepted (design §3, "Rework").
//!
//! Owns: the comparison of what a gate judged, or a reviewer saw, with what is there now.
//!
//! Promises: a gate's box never outlives the commit that it judged; added tests never outdate a review.
//!
//! Refuses to know: how the content was read, what a flip is.

use super::facts::{FileChange, Observation, full_path};
use super::kin;
use super::state::{Book, StandsFor, State};
use crate::source::Kind;
use crate::task::{Row, Stage, TaskKey, parents};
use std::collections::BTreeSet;

/// The ticked boxes that an accepted implementation of `family` outdates.
pub(super) fn outdated(state: &State, family: &str, observation: &Observation) -> Vec<TaskKey> {
    let book = state.book();
    candidates(book, family)
        .into_iter()
        .filter(|row| row.mark.is_done())
        .filter(|row| !(state.policy.keep_reviews && row.key.stage.is_review()))
        .filter(|row| {
            let stands_for = book.stage(&row.key).and_then(|stage| stage.stands_for.as_ref());
            stands_for.is_none_or(|stands_for| is_outdated(&row.key, stands_for, book, family, observation))
        })
        .map(|row| row.key.clone())
        .collect()
}

/// The later stages of the family and of the families above, the wider gates over it, and FINAL.
fn candidates<'a>(book: &'a Book, family: &str) -> Vec<&'a Row> {
    let mut families = kin::ancestors(book, family);
    families.push(family.to_owned());
    let mut rows: Vec<&Row> = book
        .rows
        .iter()
        .filter(|row| families.contains(&row.key.family))
        .filter(|row| row.key.stage.is_review() || row.key.stage.is_gate())
        .collect();
    rows.extend(kin::wider_gates(book, family));
    rows.extend(book.rows.iter().filter(|row| row.key.stage == Stage::Final));
    rows
}

fn is_outdated(
    key: &TaskKey,
    stands_for: &StandsFor,
    book: &Book,
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
            let undone = book.family(family).is_some_and(|known| {
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

/// The families that must work again when a gate of wider reach, or of a parent, failed on these classes
/// (`<package>/<path>`): for each the last family that changed it; where none of them is known to have been
/// changed, the last family that changed anything; where none did (an agent of another loop worked, or a
/// person), the one that was begun last, or stands last.
pub(super) fn responsible(book: &Book, key: &TaskKey, failing: &[String]) -> Vec<String> {
    let covered = kin::covered(book, key);
    if covered.len() == 1 {
        return covered.into_iter().collect();
    }
    let last = |path: Option<&String>| {
        covered
            .iter()
            .filter_map(|name| {
                let family = book.family(name)?;
                let touched = match path {
                    Some(path) => family.last_touch.get(path).copied(),
                    None => family.last_touch.values().max().copied(),
                };
                Some((touched?, name))
            })
            .max()
            .map(|(_, name)| name.clone())
    };
    let mut families: BTreeSet<String> = failing.iter().filter_map(|path| last(Some(path))).collect();
    if families.is_empty() {
        families.extend(last(None).or_else(|| begun_last(book, &covered)));
    }
    families.into_iter().collect()
}

/// Of these families the one with work of its own that was begun last; of those that were never begun, the
/// last required one in the file.
fn begun_last(book: &Book, covered: &BTreeSet<String>) -> Option<String> {
    let begun = |name: &str| book.family(name).map_or(0, |family| family.first_iteration);
    let works = |row: &&Row| kin::work_box(book, &row.key.family).as_ref() == Some(&row.key);
    let parents = parents(&book.rows);
    let leaves = book
        .rows
        .iter()
        .filter(works)
        .filter(|row| covered.contains(&row.key.family) && !parents.contains(row.key.family.as_str()));
    leaves
        .max_by_key(|row| (begun(&row.key.family), !row.optional, row.line))
        .map(|row| row.key.family.clone())
}

/// The ticked gates over a family (its own, those of the tasks above it, those of wider reach) that judged
/// other commits than these.
pub(super) fn gates_of_other_commits(
    book: &Book,
    family: &str,
    heads: &std::collections::BTreeMap<String, super::facts::Oid>,
) -> Vec<TaskKey> {
    candidates(book, family)
        .into_iter()
        .filter(|row| row.key.stage.is_gate() && row.mark.is_done())
        .filter(|row| {
            let stands_for = book.stage(&row.key).and_then(|stage| stage.stands_for.as_ref());
            stands_for.is_none_or(|stands_for| stands_for.heads != *heads)
        })
        .map(|row| row.key.clone())
        .collect()
}

/// `<package>/<path>` of a class's source, as the machine remembers it.
pub(super) fn class_path(score: &crate::mutation::ClassScore) -> String {
    full_path(&score.package, &score.path)
}
