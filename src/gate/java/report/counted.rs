//! The mutants of one target class, and what a later run with other tests changes about them.
//!
//! More tests only kill more: a killed mutant stays killed, a survivor that a later run does not
//! name stays a survivor; counts and the kept mutants agree.

use crate::mutation::{Coverage, Mutant, MutantStatus, Tally};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};

/// PIT's own identity of a mutant (pitest `MutationIdentifier`).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
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

/// A mutant that is not killed for good: a survivor, a time-out or an error of the JVM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RemainingMutant {
    pub(crate) mutant: Mutant,
    /// It is on a line that the family changed.
    pub(crate) changed: bool,
    /// Some of the test classes that reach it.
    pub(crate) tests: Vec<String>,
    /// Their number.
    pub(crate) tests_total: u64,
}

/// The mutants of one target class.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountedMutants {
    /// Mutants by status.
    pub(crate) tally: Tally,
    /// Those of them on lines that the family changed.
    pub(crate) changed: Tally,
    /// Survivors, time-outs and errors, one by one.
    pub(crate) left: BTreeMap<MutantId, RemainingMutant>,
    /// The others, one by one.
    pub(crate) settled: Vec<Mutant>,
    /// The coverage that the class had at the family's base, if that must be kept.
    pub(crate) floor: Option<Coverage>,
}

impl CountedMutants {
    /// Counts one mutant of a report.
    pub(crate) fn count_mutant(&mut self, id: MutantId, mutant: Mutant, changed: bool) {
        self.tally.add(mutant.status);
        if changed {
            self.changed.add(mutant.status);
        }
        if is_settled(mutant.status) {
            self.settled.push(mutant);
        } else {
            let left = RemainingMutant {
                mutant,
                changed,
                tests: Vec::new(),
                tests_total: 0,
            };
            self.left.insert(id, left);
        }
    }

    /// The mutants that are left with one of these statuses.
    pub(crate) fn with_statuses(
        &self,
        statuses: &[MutantStatus],
    ) -> impl Iterator<Item = (&MutantId, &RemainingMutant)> {
        self.left
            .iter()
            .filter(|(_, left)| statuses.contains(&left.mutant.status))
    }

    /// Takes over what a later run made of the mutants that are left.
    pub(crate) fn merge_later(&mut self, later: &HashMap<MutantId, MutantStatus>) {
        let (tally, changed, settled) = (&mut self.tally, &mut self.changed, &mut self.settled);
        self.left.retain(|id, left| {
            let before = left.mutant.status;
            let now = later
                .get(id)
                .map_or(before, |status| join_statuses(before, *status));
            tally.move_one(before, now);
            if left.changed {
                changed.move_one(before, now);
            }
            left.mutant.status = now;
            if is_settled(now) {
                settled.push(left.mutant.clone());
            }
            !is_settled(now)
        });
    }
}

/// Nothing can change it any more.
fn is_settled(status: MutantStatus) -> bool {
    matches!(
        status,
        MutantStatus::Killed | MutantStatus::NonViable | MutantStatus::Equivalent
    )
}

/// What two runs with different tests say of one mutant. A time-out is asked again only to be confirmed:
/// then the later run alone counts.
fn join_statuses(before: MutantStatus, later: MutantStatus) -> MutantStatus {
    use MutantStatus::{MemoryError, NoCoverage, RunError, Survived};
    match (before, later) {
        (before, NoCoverage) | (before @ (RunError | MemoryError), Survived) => before,
        (_, later) => later,
    }
}

#[cfg(test)]
mod tests {
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

    fn counted(statuses: &[MutantStatus]) -> CountedMutants {
        let mut counted = CountedMutants::default();
        for (index, status) in statuses.iter().enumerate() {
            let mutant = Mutant {
                class: "a.Foo".to_owned(),
                file: "Foo.java".to_owned(),
                line: 1,
                method: "sum".to_owned(),
                mutator: "Math".to_owned(),
                description: String::new(),
                status: *status,
                id: String::new(),
            };
            counted.count_mutant(id(index), mutant, index % 2 == 0);
        }
        counted
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
            (TimedOut, Survived, Survived),
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
    fn counts_follow_the_kept_mutants_and_a_silent_later_run_changes_nothing() {
        let mut class = counted(&[Killed, Survived, NoCoverage, TimedOut, RunError]);
        assert_eq!(class.left.len(), 4);
        let before = (class.tally, class.changed);
        class.merge_later(&HashMap::new());
        assert_eq!((class.tally, class.changed), before);
        let later = HashMap::from([(id(1), Killed), (id(2), Survived)]);
        class.merge_later(&later);
        assert_eq!(
            (
                class.tally.killed,
                class.tally.survived,
                class.tally.no_coverage
            ),
            (2, 1, 0)
        );
        assert_eq!(
            (class.changed.killed, class.changed.survived),
            (1, 1),
            "mutants 0 and 2 stand on changed lines"
        );
        assert_eq!(class.left.len(), 3);
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_lost_or_doubled_and_kills_only_grow(
            before in proptest::collection::vec(0..ALL.len(), 0..20),
            later in proptest::collection::vec(0..=ALL.len(), 0..20),
        ) {
            let before: Vec<MutantStatus> = before.into_iter().map(|at| ALL[at]).collect();
            let mut class = counted(&before);
            let (mutants, killed) = (class.tally.mutants(), class.tally.killed);
            let later: HashMap<MutantId, MutantStatus> = later
                .iter()
                .enumerate()
                .filter_map(|(index, at)| Some((id(index), *ALL.get(*at)?)))
                .collect();
            class.merge_later(&later);
            proptest::prop_assert_eq!(class.tally.mutants(), mutants);
            proptest::prop_assert!(class.tally.killed >= killed);
            for (id, left) in &class.left {
                proptest::prop_assert!(!is_settled(left.mutant.status), "{:?}", id);
            }
        }
    }
}
