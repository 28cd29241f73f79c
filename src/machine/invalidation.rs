//! Ticked boxes that vouch for older content.
//!
//! A gate judged another commit, or a reviewer saw other files.
//!
//! A gate's box is unticked when its own task works again. Added tests leave a review ticked. A
//! commit of another task or of a person leaves a gate's box ticked, and [`older_verdicts`] names
//! it.

use super::facts::{Accumulated, FileChange, Observation, Oid, full_path};
use super::hierarchy::{self, with_ancestors};
use super::state::{JudgedContent, SpecState, StageState, State, TickedBy};
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
    ticked(spec, family, |key, stands_for| {
        key.stage.is_gate() && stands_for.is_none_or(|content| content.heads != *heads)
    })
}

/// A ticked gate that judged another commit than HEAD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OlderVerdict {
    /// The gate's box.
    pub key: TaskKey,
    pub package: String,
    /// The commit that it judged.
    pub judged: Oid,
    /// HEAD.
    pub now: Oid,
    /// The files that it judged, `<package>/<path>`; `None` for a gate that judges its whole package.
    pub files: Option<BTreeSet<String>>,
}

/// Returns the gates that ralph ticked on other commits than these, in document order. A gate is left out if a wider gate
/// of its name covers it and judged these commits.
pub fn older_verdicts(spec: &SpecState, heads: &BTreeMap<String, Oid>) -> Vec<OlderVerdict> {
    let gates = spec
        .rows
        .iter()
        .filter(|row| row.key.stage.is_gate() && row.mark.is_done());
    gates
        .filter(|row| !is_covered_by_newer(spec, row, heads))
        .flat_map(|row| older(spec, row, heads))
        .collect()
}

/// The packages in which this gate judged another commit.
fn older(spec: &SpecState, row: &Row, heads: &BTreeMap<String, Oid>) -> Vec<OlderVerdict> {
    let Some(stage) = spec.stage(&row.key) else {
        return Vec::new();
    };
    // A SKIP judged nothing, and the end of a run reports it already.
    if stage.ticked_by != Some(TickedBy::Ralph) || stage.verdict == Some("SKIP") {
        return Vec::new();
    }
    let Some(judged) = &stage.stands_for else {
        return Vec::new();
    };
    let covered = hierarchy::covered_changes(spec, &row.key);
    let files = files_of(stage, &covered);
    let Accumulated {
        touched,
        everything,
        ..
    } = covered;
    let mut older = Vec::new();
    for (package, judged) in &judged.heads {
        let Some(now) = heads.get(package) else {
            continue;
        };
        if now != judged && (everything || touched.contains_key(package)) {
            older.push(OlderVerdict {
                key: row.key.clone(),
                package: package.clone(),
                judged: judged.clone(),
                now: now.clone(),
                files: files.clone(),
            });
        }
    }
    older
}

/// Returns the files of a verdict. A gate that measures classes judges these and the files of its tasks; a command may
/// read the whole package (`None`).
fn files_of(stage: &StageState, covered: &Accumulated) -> Option<BTreeSet<String>> {
    if stage.targets.is_empty() {
        return None;
    }
    let mut files = stage.targets.clone();
    for (package, paths) in &covered.touched {
        files.extend(paths.iter().map(|path| full_path(package, path)));
    }
    Some(files)
}

/// A ticked gate whose verdict is ralph's.
#[derive(Clone, Debug)]
pub struct TickedVerdict {
    /// The box.
    pub key: TaskKey,
    /// Commits that it judged, by package.
    pub heads: BTreeMap<String, Oid>,
    /// Judged files with their packages; `None` if it may have read the whole package.
    pub files: Option<BTreeSet<String>>,
}

/// Returns the verdicts of all boxes of a gate.
pub fn ticked_verdicts(spec: &SpecState, gate: &Stage) -> Vec<TickedVerdict> {
    let mut verdicts = Vec::new();
    for row in &spec.rows {
        if row.key.stage != *gate || !row.mark.is_done() {
            continue;
        }
        let Some(stage) = spec.stage(&row.key) else {
            continue;
        };
        if stage.ticked_by != Some(TickedBy::Ralph) || stage.verdict == Some("SKIP") {
            continue;
        }
        if let Some(judged) = &stage.stands_for {
            verdicts.push(TickedVerdict {
                key: row.key.clone(),
                heads: judged.heads.clone(),
                files: files_of(stage, &hierarchy::covered_changes(spec, &row.key)),
            });
        }
    }
    verdicts
}

/// True if one of these verdicts is about a file as it is at the commit that an older verdict did not see.
pub fn is_judged_by(same: &[TickedVerdict], older: &OlderVerdict, file: &str) -> bool {
    same.iter().any(|other| match &other.files {
        Some(files) => files.contains(file),
        None => other.heads.get(&older.package) == Some(&older.now),
    })
}

fn is_covered_by_newer(spec: &SpecState, row: &Row, heads: &BTreeMap<String, Oid>) -> bool {
    let wider = spec.rows.by_family().wider_gates(&row.key.family);
    let mut same = wider
        .into_iter()
        .filter(|gate| gate.key.stage == row.key.stage && gate.mark.is_done());
    same.any(|gate| {
        let is_by_ralph = spec
            .stage(&gate.key)
            .is_some_and(|stage| stage.ticked_by == Some(TickedBy::Ralph));
        is_by_ralph && older(spec, gate, heads).is_empty()
    })
}

/// Returns the ticked boxes over a family whose judged content matches `wanted`.
fn ticked(
    spec: &SpecState,
    family: &str,
    wanted: impl Fn(&TaskKey, Option<&JudgedContent>) -> bool,
) -> Vec<TaskKey> {
    let mut ticked = Vec::new();
    for row in candidates(spec, family) {
        let content = spec
            .stage(&row.key)
            .and_then(|stage| stage.stands_for.as_ref());
        if row.mark.is_done() && wanted(&row.key, content) {
            ticked.push(row.key.clone());
        }
    }
    ticked
}

/// The later stages of the family and of the families above, the wider gates over it, and FINAL.
fn candidates<'a>(spec: &'a SpecState, family: &str) -> Vec<&'a Row> {
    let families = with_ancestors(spec, family);
    let own = spec
        .rows
        .iter()
        .filter(|row| row.key.stage.is_review() || row.key.stage.is_gate())
        .filter(|row| families.contains(&row.key.family));
    let last = spec.rows.iter().filter(|row| row.key.stage == Stage::Final);
    own.chain(hierarchy::wider_gates(spec, family))
        .chain(last)
        .collect()
}

fn is_outdated(
    key: &TaskKey,
    stands_for: &JudgedContent,
    spec: &SpecState,
    family: &str,
    observation: &Observation,
) -> bool {
    let changes = &observation.family;
    let Some(production) = stands_for
        .production
        .as_ref()
        .filter(|_| key.stage.is_review())
    else {
        let touched: BTreeSet<&String> = changes.iter().map(|change| &change.package).collect();
        return observation.after.heads().iter().any(|(package, head)| {
            (key.stage == Stage::Final || touched.contains(package))
                && stands_for.heads.get(package) != Some(head)
        });
    };
    let is_new = changes.iter().any(|change| {
        change.kind == Kind::Production && production.get(&change.full_path()) != Some(&change.new)
    });
    let now: BTreeSet<String> = changes.iter().map(FileChange::full_path).collect();
    let is_undone = spec.family(family).is_some_and(|known| {
        let mut touched = known.last_touch.keys();
        touched.any(|path| production.contains_key(path) && !now.contains(path))
    });
    let lost_tests = observation.lost_reviewed.iter().any(|lost| {
        stands_for
            .tests
            .iter()
            .any(|kept| kept.package == lost.package && kept.path == lost.path)
    });
    is_new || is_undone || lost_tests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_judged_by_a_box_that_names_it_or_saw_the_whole_package_at_this_commit() {
        let oid = |text: &str| Oid(text.to_owned());
        let key = TaskKey {
            family: "1.".to_owned(),
            stage: Stage::Gate("G".to_owned()),
        };
        let older = OlderVerdict {
            key: key.clone(),
            package: "app".to_owned(),
            judged: oid("a"),
            now: oid("c"),
            files: None,
        };
        let of = |commit: &str, files: Option<&[&str]>| TickedVerdict {
            key: key.clone(),
            heads: BTreeMap::from([("app".to_owned(), oid(commit))]),
            files: files.map(|files| files.iter().map(ToString::to_string).collect()),
        };
        for (other, is_judged) in [
            (of("c", None), true),
            (of("b", None), false),
            (of("b", Some(&["app/x"])), true),
            (of("c", Some(&["app/y"])), false),
        ] {
            let same = [other];
            assert_eq!(is_judged_by(&same, &older, "app/x"), is_judged, "{same:?}");
        }
        assert!(!is_judged_by(&[], &older, "app/x"));
    }
}
