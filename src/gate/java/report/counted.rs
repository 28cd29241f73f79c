//! The mutants of one target class, and what a later run with other tests changes about them.
//!
//! More tests only kill more: a killed mutant stays killed, a survivor that a later run does not
//! name stays a survivor.

use super::Aim;
use crate::mutation::{Coverage, MutantStatus, Tally};
use crate::report::standard::ReportedMutant;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// PIT's own identity of a mutant (pitest `MutationIdentifier`).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct MutantId {
    /// Dotted name of the mutated class.
    pub(crate) class: String,
    /// Method name.
    pub(crate) method: String,
    /// JVM descriptor of the method.
    pub(crate) descriptor: String,
    /// The mutator's class.
    pub(crate) mutator: String,
    /// Indexes of the mutated instructions.
    pub(crate) indexes: Vec<u32>,
}

impl MutantId {
    /// True for the same mutant, or one of those that PIT gave as one: the copies of a `finally` block.
    pub(super) fn is_part_of(&self, other: &Self) -> bool {
        let mut indexes = self.indexes.iter();
        indexes.all(|index| other.indexes.contains(index))
            && (&self.method, &self.descriptor, &self.mutator)
                == (&other.method, &other.descriptor, &other.mutator)
            && self.class == other.class
    }
}

/// A mutant, and what the runs so far found out about it.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountedMutant {
    /// As a report gives it, with the tests of the run in which most reach it.
    pub(crate) reported: ReportedMutant,
    /// It is on a line that the family changed.
    pub(crate) is_changed: bool,
    /// Its status in the last search, which killed it and which no control has met.
    pub(crate) unproven: Option<MutantStatus>,
    /// It timed out again in a run alone.
    pub(crate) is_confirmed: bool,
    /// The class of the test that killed it in the last run that did.
    pub(crate) killer: Option<String>,
}

impl CountedMutant {
    #[cfg(test)]
    pub(crate) fn for_test(status: MutantStatus, is_changed: bool) -> Self {
        let mut counted = Self {
            is_changed,
            ..Self::default()
        };
        counted.reported.mutant.status = status;
        counted
    }

    pub(crate) fn status(&self) -> MutantStatus {
        self.reported.mutant.status
    }

    /// It timed out, and not in a run alone.
    pub(crate) fn is_unconfirmed(&self) -> bool {
        self.status() == MutantStatus::TimedOut && !self.is_confirmed
    }

    /// Nothing can change it any more.
    fn is_settled(&self) -> bool {
        use MutantStatus::{Equivalent, Killed, NonViable};
        matches!(self.status(), Killed | NonViable | Equivalent)
    }

    /// Takes over what a later run with other tests found out about it.
    pub(super) fn join_run(&mut self, later: &Self, aim: Aim) {
        self.unproven = None;
        match later.status() {
            status @ (MutantStatus::Killed | MutantStatus::TimedOut) if aim == Aim::Search => {
                self.unproven = Some(status);
                self.killer.clone_from(&later.killer);
            }
            status => self.join_status(status),
        }
        if later.reported.tests_total > self.reported.tests_total {
            self.reported.tests.clone_from(&later.reported.tests);
            self.reported.tests_total = later.reported.tests_total;
        }
    }

    pub(crate) fn set_status(&mut self, status: MutantStatus) {
        self.reported.mutant.status = status;
    }

    pub(crate) fn join_status(&mut self, later: MutantStatus) {
        if !self.is_settled() {
            self.reported.mutant.status = join_statuses(self.status(), later);
        }
    }
}

/// The mutants of one target class.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountedMutants {
    pub(crate) mutants: BTreeMap<MutantId, CountedMutant>,
    /// The coverage that the class had at the family's base, if that must be kept.
    pub(crate) floor: Option<Coverage>,
    /// It may have had more coverage at the base, so all mutants decide, not only those on changed lines.
    pub(crate) is_whole: bool,
    /// A module began to judge the class.
    pub(crate) is_judged: bool,
}

impl CountedMutants {
    /// Mutants by status.
    pub(crate) fn tally(&self) -> Tally {
        self.mutants.values().map(CountedMutant::status).collect()
    }

    /// Counts what tests of other modules found out before.
    pub(crate) fn join_earlier(&mut self, earlier: &Self) {
        for (id, mutant) in &mut self.mutants {
            if let Some(earlier) = earlier.mutants.get(id) {
                let now = mutant.status();
                mutant.set_status(earlier.status());
                mutant.join_status(now);
                mutant.is_confirmed |= earlier.is_confirmed;
            }
        }
        self.floor = earlier.floor;
        self.is_whole = earlier.is_whole;
    }

    /// Those of them on lines that the family changed.
    pub(crate) fn changed_tally(&self) -> Tally {
        let changed = self.mutants.values().filter(|counted| counted.is_changed);
        changed.map(CountedMutant::status).collect()
    }

    /// The mutants that a later run may settle: survivors, time-outs and errors.
    pub(crate) fn left(&self) -> impl Iterator<Item = (&MutantId, &CountedMutant)> {
        self.mutants
            .iter()
            .filter(|(_, counted)| !counted.is_settled())
    }
}

/// The status of a mutant after two runs with different tests. Only a kill replaces a time-out.
fn join_statuses(before: MutantStatus, later: MutantStatus) -> MutantStatus {
    use MutantStatus::{Killed, MemoryError, NoCoverage, RunError, Survived, TimedOut};
    match (before, later) {
        (TimedOut, later) if later != Killed => TimedOut,
        (before, NoCoverage) | (before @ (RunError | MemoryError), Survived) => before,
        (_, later) => later,
    }
}

#[cfg(test)]
mod tests {
    use super::super::PitReport;
    use super::*;
    use MutantStatus::{
        Equivalent, Killed, MemoryError, NoCoverage, NonViable, RunError, Survived, TimedOut,
        Unjudged,
    };

    const ALL: [MutantStatus; 9] = [
        Killed,
        Survived,
        NoCoverage,
        TimedOut,
        NonViable,
        MemoryError,
        RunError,
        Equivalent,
        Unjudged,
    ];

    fn id(index: usize) -> MutantId {
        MutantId {
            class: "a.Foo".to_owned(),
            indexes: vec![u32::try_from(index).unwrap()],
            ..MutantId::default()
        }
    }

    /// A report of one class with mutants of these indexes and statuses; even ones are on changed lines.
    fn report(statuses: impl IntoIterator<Item = (usize, MutantStatus)>) -> PitReport {
        let mutants = statuses
            .into_iter()
            .map(|(index, status)| (id(index), CountedMutant::for_test(status, index % 2 == 0)));
        let counted = CountedMutants {
            mutants: mutants.collect(),
            ..CountedMutants::default()
        };
        let classes = BTreeMap::from([("a.Foo".to_owned(), counted)]);
        PitReport {
            classes,
            ..PitReport::default()
        }
    }

    #[test]
    fn two_runs_join_as_one_run_with_the_tests_of_both_would_end() {
        for (before, later, now) in [
            (Survived, Killed, Killed),
            (Survived, TimedOut, TimedOut),
            (Survived, NoCoverage, Survived),
            (Survived, Survived, Survived),
            (Survived, RunError, RunError),
            (NoCoverage, Survived, Survived),
            (NoCoverage, NoCoverage, NoCoverage),
            (NoCoverage, Killed, Killed),
            (RunError, Survived, RunError),
            (RunError, NoCoverage, RunError),
            (MemoryError, Killed, Killed),
            (TimedOut, Survived, TimedOut),
            (TimedOut, RunError, TimedOut),
            (TimedOut, Killed, Killed),
            (TimedOut, TimedOut, TimedOut),
            (TimedOut, NoCoverage, TimedOut),
            (Survived, NonViable, NonViable),
            (Unjudged, NoCoverage, Unjudged),
            (Unjudged, Killed, Killed),
        ] {
            assert_eq!(
                join_statuses(before, later),
                now,
                "{before:?} then {later:?}"
            );
        }
    }

    #[test]
    fn a_later_run_settles_mutants_and_a_silent_one_changes_nothing() {
        let all = [Killed, Survived, NoCoverage, TimedOut, RunError];
        let mut first = report(all.into_iter().enumerate());
        let tallies = |report: &PitReport| {
            let class = &report.classes["a.Foo"];
            (class.tally(), class.changed_tally(), class.left().count())
        };
        let before = tallies(&first);
        assert_eq!(before.2, 4);
        first.merge_later(&PitReport::default(), Aim::Judge);
        first.merge_later(&report([]), Aim::Judge);
        assert_eq!(tallies(&first), before);
        first.merge_later(&report([(1, Killed), (2, Survived)]), Aim::Judge);
        let (tally, changed, left) = tallies(&first);
        assert_eq!((tally.killed, tally.survived, tally.no_coverage), (2, 1, 0));
        let on_changed_lines = "mutants 0 and 2 are on changed lines";
        assert_eq!(
            (changed.killed, changed.survived),
            (1, 1),
            "{on_changed_lines}"
        );
        assert_eq!(left, 3);
    }

    #[test]
    fn a_search_kills_nothing_until_its_kills_are_taken_for_proven() {
        let mut merged = report([(0, Survived), (1, Survived), (2, NoCoverage), (3, Killed)]);
        let killed = |report: &PitReport| report.tally_mutants().killed;
        let found = [(0, Killed), (1, TimedOut), (2, Survived), (3, TimedOut)];
        merged.merge_later(&report(found), Aim::Search);
        assert_eq!(
            (killed(&merged), merged.tally_mutants().no_coverage),
            (1, 0)
        );
        let believed = merged.clone().with_unproven().tally_mutants();
        assert_eq!((believed.killed, believed.timed_out), (2, 1));
        // A control has met one of them.
        merged.merge_later(&report([(1, Killed)]), Aim::Judge);
        let believed = merged.clone().with_unproven().tally_mutants();
        assert_eq!((believed.killed, believed.timed_out), (3, 0));
        // The next search takes the place of the one before.
        merged.merge_later(&report([(0, Survived)]), Aim::Search);
        assert_eq!(killed(&merged.with_unproven()), 2);
    }

    #[test]
    fn a_mutant_whose_copies_a_later_run_gives_as_one_is_found_there() {
        let with = |all: &[(&[u32], MutantStatus)]| {
            let mut report = report([]);
            let class = report.classes.get_mut("a.Foo").unwrap();
            for (indexes, status) in all {
                let mut id = id(0);
                id.indexes = indexes.to_vec();
                class
                    .mutants
                    .insert(id, CountedMutant::for_test(*status, false));
            }
            report
        };
        let mut merged = with(&[(&[3], Survived), (&[9], Survived), (&[12], Survived)]);
        merged.merge_later(&with(&[(&[3, 9], Killed)]), Aim::Judge);
        let tally = merged.tally_mutants();
        assert_eq!((tally.killed, tally.survived), (2, 1));
    }

    #[test]
    fn the_run_in_which_most_tests_reach_a_mutant_names_them() {
        let with_tests = |names: &[&str]| {
            let mut report = report([(0, Survived)]);
            for mutant in report.mutants_mut() {
                mutant.reported.tests = names.iter().map(|name| (*name).to_owned()).collect();
                mutant.reported.tests_total = names.len() as u64;
            }
            report
        };
        let mut merged = with_tests(&["A", "B"]);
        for (later, named) in [(&["C"][..], "AB"), (&["A", "B", "C"], "ABC"), (&[], "ABC")] {
            merged.merge_later(&with_tests(later), Aim::Search);
            let mut mutants = merged.classes["a.Foo"].mutants.values();
            let reported = &mutants.next().unwrap().reported;
            assert_eq!(
                (reported.tests.concat(), reported.tests_total),
                (named.to_owned(), named.len() as u64)
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_lost_or_doubled_and_kills_only_grow(
            before in proptest::collection::vec(0..ALL.len(), 0..20),
            later in proptest::collection::vec(0..=ALL.len(), 0..20),
        ) {
            let mut merged = report(before.into_iter().map(|at| ALL[at]).enumerate());
            let first = merged.tally_mutants();
            let later = later.iter().enumerate();
            let later = report(later.filter_map(|(index, at)| Some((index, *ALL.get(*at)?))));
            merged.merge_later(&later, Aim::Judge);
            let joined = merged.tally_mutants();
            proptest::prop_assert_eq!(joined.mutants(), first.mutants());
            proptest::prop_assert!(joined.killed >= first.killed);
        }
    }
}
