//! The evidence of records, looked up again: git objects, and what gates left.

use super::FindingGrade;
use crate::engine::older_gates;
use crate::engine::outside::digest_of_folder;
use crate::git::{GitError, Repositories};
use crate::journal::Record;
use crate::machine::effect::GateOrder;
use crate::machine::event::{Event, Trespass};
use crate::machine::facts::{FileChange, Observation, ObserveRequest, Oid, Snapshot};
use crate::machine::state::SpecState;
use crate::report::replay::Replayed;
use crate::source::Classifier;
use crate::source::text::{count, line};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Characters of a value that a finding shows.
const SHOWN: usize = 120;
const CHANGED: &str =
    "compare the commits with git: they, or their record in the journal, were changed";
const BY_LINES: &str = "Kept tests: the ralph that wrote the journal compared them by their lines.";
const UNCLEAR: &str = "replay it where the run was: there git still knows what was cloned";

pub(super) struct EvidenceSource<'a> {
    /// `None`: there are no repositories, and a note reports it.
    repositories: Option<&'a mut Repositories>,
    /// Objects that records name, by package, with the first record that does.
    named: BTreeMap<(String, Oid), u64>,
    /// Objects that could not be read; each is reported once.
    told: BTreeSet<String>,
}

impl<'a> EvidenceSource<'a> {
    pub(super) fn new(repositories: Option<&'a mut Repositories>) -> Self {
        Self {
            repositories,
            named: BTreeMap::new(),
            told: BTreeSet::new(),
        }
    }

    /// Classifies files as a run did.
    ///
    /// Uses the current configuration if the record of the run holds no patterns.
    pub(super) fn classify_by(&mut self, files: &[Vec<String>; 3]) -> Result<(), globset::Error> {
        let [test, production, build] = files;
        if let Some(repositories) = self.repositories.as_mut().filter(|_| !test.is_empty()) {
            repositories.replace_classifier(Classifier::new(test, production, build)?);
        }
        Ok(())
    }

    /// Remembers the commits that a record names.
    pub(super) fn note_record(&mut self, record: &Record) {
        for (package, oid) in named_commits(&record.event) {
            self.named
                .entry((package.clone(), oid.clone()))
                .or_insert(record.seq);
        }
    }

    /// The commits that records name, by package.
    pub(super) fn commits(self) -> BTreeMap<String, BTreeSet<Oid>> {
        let mut all: BTreeMap<String, BTreeSet<Oid>> = BTreeMap::new();
        for (package, oid) in self.named.into_keys().filter(|(_, oid)| !oid.is_zero()) {
            all.entry(package).or_default().insert(oid);
        }
        all
    }

    /// The gates whose tick describes another commit than the last one that ralph saw.
    pub(super) fn older_gates(
        &mut self,
        spec: &SpecState,
        heads: &BTreeMap<String, Oid>,
    ) -> Vec<String> {
        older_gates(spec, heads, self.repositories.as_deref_mut())
    }

    /// Looks for every commit that a record names.
    pub(super) fn find_objects(&mut self, found: &mut Replayed) {
        let Some(repositories) = &mut self.repositories else {
            return;
        };
        let mut missing: BTreeMap<String, (u64, Vec<String>, Option<GitError>)> = BTreeMap::new();
        for ((package, oid), record) in &self.named {
            let error = match repositories.has_object(package, oid) {
                Ok(true) => continue,
                Ok(false) => None,
                Err(error) => Some(error),
            };
            let of_package = missing
                .entry(package.clone())
                .or_insert((*record, Vec::new(), None));
            of_package.0 = of_package.0.min(*record);
            of_package.1.push(oid.to_string());
            of_package.2 = error;
        }
        for (package, (record, oids, error)) in missing {
            let (what, hint) = match error {
                Some(error) if !self.told.insert(error.to_string()) => continue,
                Some(error) => (error.to_string(), error.hint),
                None => (
                    format!(
                        "{} of {package} are not in its repository, among them {}.",
                        count(oids.len() as u64, "commit"),
                        oids.first().map_or("", String::as_str)
                    ),
                    format!(
                        "in {package}: `git fetch --unshallow`, or `git fetch` from the clone of the run with the refspec `+refs/*:refs/from-run/*`; `ralph bundle` brings them all"
                    ),
                ),
            };
            found.tell_finding(FindingGrade::Unknown, record, what, hint);
        }
    }

    /// Observes an attempt again; true if that was possible and shows the same.
    pub(super) fn observe_again(
        &mut self,
        record: u64,
        request: &ObserveRequest,
        recorded: &Observation,
        found: &mut Replayed,
    ) -> bool {
        // Redacted names find nothing in git, and such an attempt was restored: it counts nowhere.
        if recorded
            .packages
            .iter()
            .any(|package| !package.secret.is_empty())
        {
            return false;
        }
        let Some(repositories) = &mut self.repositories else {
            return false;
        };
        if recorded.tests_owed.is_none() && self.told.insert(BY_LINES.to_owned()) {
            found.unchecked.push(BY_LINES.to_owned());
        }
        let before = request.before.packages.iter().map(|package| &package.head);
        let bases = request
            .family
            .bases
            .values()
            .chain(request.stage.bases.values());
        let is_clear = before.chain(bases).all(|head| !head.is_zero());
        let again = repositories.observe_again(request, recorded);
        compare_with_git((record, is_clear), again, recorded, &mut self.told, found)
    }

    /// Sums the changes up again that a gate judged; true if that was possible and gives the same.
    pub(super) fn judge_again(
        &mut self,
        record: u64,
        order: &GateOrder,
        recorded: &[FileChange],
        found: &mut Replayed,
    ) -> bool {
        let Some(repositories) = &mut self.repositories else {
            return false;
        };
        // Changes that were given from outside were compared with what was given.
        if order.changes.is_some() || order.accumulated.is_empty() {
            return true;
        }
        let is_clear = order.accumulated.bases.values().all(|base| !base.is_zero());
        let again = repositories.changes_at(&order.accumulated, &order.snapshot);
        compare_with_git((record, is_clear), again, recorded, &mut self.told, found)
    }
}

/// True if what a gate left has its digest; `None` if it is not there, or was not recorded.
pub(super) fn is_as_left(folder: &Path, recorded: &str) -> Option<bool> {
    let is_there = !recorded.is_empty() && folder.is_dir();
    is_there.then(|| digest_of_folder(folder).is_ok_and(|now| now == recorded))
}

fn snapshot_heads(snapshot: &Snapshot) -> impl Iterator<Item = (&String, &Oid)> {
    snapshot
        .packages
        .iter()
        .map(|package| (&package.name, &package.head))
}

/// The commits that were kept before what a check or gate moved was restored.
fn kept_by(trespass: &Trespass) -> impl Iterator<Item = (&String, &Oid)> {
    trespass
        .kept
        .iter()
        .map(|kept| (&kept.package, &kept.commit))
}

/// The commits that a record names, each with its package.
fn named_commits(event: &Event) -> Vec<(&String, &Oid)> {
    match event {
        Event::Surveyed { snapshot, .. }
        | Event::FamilyPinned { snapshot, .. }
        | Event::GateRequested { snapshot, .. }
        | Event::BoxAccepted { snapshot, .. } => snapshot_heads(snapshot).collect(),
        Event::Observed { observation, .. } => snapshot_heads(&observation.after).collect(),
        Event::LeftoversKept { snapshot, kept } | Event::WorkPutBack { snapshot, kept } => {
            snapshot_heads(snapshot)
                .chain(kept.iter().map(|kept| (&kept.package, &kept.commit)))
                .collect()
        }
        Event::LeftCommitted { commits: heads } => heads.iter().collect(),
        Event::GateEnded {
            heads, trespass, ..
        } => heads.iter().chain(kept_by(trespass)).collect(),
        Event::Checked { trespass, .. } => kept_by(trespass).collect(),
        _ => Vec::new(),
    }
}

/// Compares what is recorded with what git shows; true if it is the same. `is_clear`: the objects alone say it; where a
/// package began without a commit, what a clone brought along is not in them.
fn compare_with_git<T: serde::Serialize + ToOwned + ?Sized>(
    (record, is_clear): (u64, bool),
    again: Result<T::Owned, GitError>,
    recorded: &T,
    told: &mut BTreeSet<String>,
    found: &mut Replayed,
) -> bool
where
    T::Owned: serde::Serialize,
{
    let (grade, what, hint) = match again {
        Ok(again) => {
            let values = [serde_json::to_value(recorded), serde_json::to_value(&again)];
            let [Ok(was), Ok(is)] = values else {
                return false;
            };
            let Some((place, was, is)) = first_difference("", &was, &is) else {
                return true;
            };
            let (grade, hint) = if is_clear {
                (FindingGrade::Differs, CHANGED)
            } else {
                (FindingGrade::Unknown, UNCLEAR)
            };
            (
                grade,
                format!("Recorded of {place} is {was}, and git shows {is}."),
                hint.to_owned(),
            )
        }
        Err(error) if !told.insert(error.to_string()) => return false,
        Err(error) => (FindingGrade::Unknown, error.to_string(), error.hint),
    };
    found.tell_finding(grade, record, what, hint);
    false
}

/// The first place in which two values differ, and what they hold there.
fn first_difference(place: &str, was: &Value, is: &Value) -> Option<(String, String, String)> {
    match (was, is) {
        _ if was == is => None,
        (Value::Object(a), Value::Object(b)) => {
            let mut names = a.keys().chain(b.keys());
            names.find_map(|name| {
                let below = match place {
                    "" => name.clone(),
                    place => format!("{place}.{name}"),
                };
                first_difference(&below, &was[name], &is[name])
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => (0..a.len())
            .find_map(|index| first_difference(&format!("{place}[{index}]"), &a[index], &b[index])),
        _ => {
            let place = if place.is_empty() {
                "the changes"
            } else {
                place
            };
            Some((
                place.to_owned(),
                line(&was.to_string(), SHOWN),
                line(&is.to_string(), SHOWN),
            ))
        }
    }
}
