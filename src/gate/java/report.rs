//! The mutants of one run of PIT, or of several runs merged, by target class.
//!
//! Pure. More tests only add kills. A kill counts only where the control of its class passed: a control runs the same tests in PIT's
//! worker with nothing mutated. A control without a verdict never makes a pass.

mod counted;
mod results_file;
#[cfg(test)]
mod tests;

pub(crate) use counted::{CountedMutant, CountedMutants, MutantId};
pub(crate) use results_file::{PitResults, PitStage, SealKey};

use super::coverage_map::{ExecutedClasses, top_level};
use crate::mutation::{MutantStatus, Tally};
use crate::source::text;
use std::collections::{BTreeMap, BTreeSet};

/// The purpose of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// Run the tests; no mutant.
    Count,
    /// Find tests that kill, without controls.
    Search,
    /// Confirm kills with controls.
    Judge,
}

/// The result of one run of PIT, or of several runs merged.
#[derive(Clone, Debug, Default)]
pub(crate) struct PitReport {
    /// By target class; a target without mutants is absent.
    pub(crate) classes: BTreeMap<String, CountedMutants>,
    /// The test classes that were asked, if the runs were merged.
    pub(crate) tests: BTreeSet<String>,
    /// The slowest test without mutation, milliseconds, if a test ran.
    pub(crate) slowest_test: Option<u64>,
    /// The tests that ran without mutation, and the classes that they executed if the run makes a map.
    pub(crate) executed: ExecutedClasses,
    /// Time of the tests without mutation, milliseconds.
    pub(crate) coverage_millis: u64,
    /// Wall time, milliseconds.
    pub(crate) millis: u64,
    /// Tests that failed in a control of a class with kills; these kills are counted as survivors.
    pub(crate) failed_control: BTreeSet<FailingTest>,
    /// Target classes with kills, a control of which gave no verdict.
    pub(crate) uncontrolled: BTreeSet<String>,
    /// A control gave no verdict.
    pub(crate) unclear: bool,
    /// Tests that fail without any mutation: PIT leaves them out.
    pub(crate) left_out: BTreeSet<FailingTest>,
}

impl PitReport {
    /// The mutants of all classes.
    pub(crate) fn tally_mutants(&self) -> Tally {
        let mut tally = Tally::default();
        for counted in self.classes.values() {
            tally.join(&counted.tally());
        }
        tally
    }

    pub(crate) fn mutants_mut(&mut self) -> impl Iterator<Item = &mut CountedMutant> {
        let classes = self.classes.values_mut();
        classes.flat_map(|counted| counted.mutants.values_mut())
    }

    /// The mutants of these classes that are left.
    pub(crate) fn left_in(
        &self,
        classes: &BTreeSet<String>,
    ) -> impl Iterator<Item = (&MutantId, &CountedMutant)> {
        let wanted = classes.iter().filter_map(|class| self.classes.get(class));
        wanted.flat_map(CountedMutants::left)
    }

    /// Each mutant with what another run found out about it.
    fn pair_with<'a>(
        &'a mut self,
        other: &'a Self,
    ) -> impl Iterator<Item = (&'a mut CountedMutant, &'a CountedMutant)> {
        self.classes.iter_mut().flat_map(|(class, counted)| {
            let found = other.classes.get(class);
            let mutants = counted.mutants.iter_mut();
            mutants.filter_map(move |(id, mutant)| Some((mutant, found?.mutants.get(id)?)))
        })
    }

    /// Merges what a later run found out about the mutants that are left.
    pub(crate) fn merge_later(&mut self, later: &Self) {
        for (mutant, found) in self.pair_with(later) {
            mutant.join_status(found.status());
        }
        self.uncontrolled.extend(later.uncontrolled.iter().cloned());
    }

    /// Forgets what the last search killed.
    pub(crate) fn forget_unproven(&mut self) {
        self.mutants_mut().for_each(|mutant| mutant.unproven = None);
    }

    /// Merges what a later search found out. What it killed is unproven.
    pub(crate) fn merge_search(&mut self, search: &Self) {
        self.forget_unproven();
        for (mutant, found) in self.pair_with(search) {
            match found.status() {
                status @ (MutantStatus::Killed | MutantStatus::TimedOut) => {
                    mutant.unproven = Some(status);
                    mutant.killer.clone_from(&found.killer);
                }
                status => mutant.join_status(status),
            }
        }
    }

    /// Counts what no control has met.
    pub(crate) fn with_unproven(mut self) -> Self {
        for mutant in self.mutants_mut() {
            if let Some(status) = mutant.unproven.take() {
                mutant.join_status(status);
            }
        }
        self
    }

    /// Notes the tests that reach what is left; those of different tiers add up, unless all were asked `again`.
    pub(crate) fn note_tests(&mut self, later: &Self, again: bool) {
        let pairs = self.pair_with(later);
        for (mutant, found) in pairs.filter(|(mutant, _)| !mutant.is_settled()) {
            let (left, found) = (&mut mutant.reported, &found.reported);
            if again {
                left.tests.clear();
                left.tests_total = 0;
            }
            left.tests.extend(found.tests.iter().cloned());
            left.tests_total += found.tests_total;
        }
    }
}

/// The target to which each class belongs: `Foo` to itself, a second top-level class of `Foo.java` to
/// `Foo`. Nested classes follow their outermost class.
pub(crate) type Owners = BTreeMap<String, String>;

/// The outcome of a control. The plugin runs it before the mutants of its JVM.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ControlOutcome {
    /// All tests passed.
    Passed,
    /// It timed out, or its JVM ended.
    Unclear,
    /// This test failed.
    Failed(FailingTest),
}

/// A test that fails without any mutation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FailingTest {
    /// Dotted name of its outermost class.
    pub(crate) class: String,
    /// Its name as a message gives it.
    pub(crate) name: String,
}

impl FailingTest {
    /// A test of a class by PIT's name for it: `[engine:junit-jupiter]/…/[method:big()]`, `red(com.acme.OldTest)`.
    pub(crate) fn new(class: &str, name: &str) -> Self {
        let named = ["[method:", "[test-template:"]
            .iter()
            .find_map(|kind| name.rsplit_once(kind)?.1.split(']').next());
        let of_class = format!("({class})");
        let short = named.unwrap_or_else(|| name.trim_end_matches(&of_class));
        let name = match short.trim_end_matches("()") {
            // PIT runs a class of TestNG as one test.
            "_" => class.to_owned(),
            short => format!("{class}.{short}"),
        };
        Self {
            class: text::line(top_level(class), 300),
            name: text::line(&name, 300),
        }
    }
}

impl PitReport {
    /// Returns the believed status of a mutant, given the control of its class, which belongs to the target `owner`.
    fn believed_status(
        &mut self,
        status: MutantStatus,
        control: Option<&ControlOutcome>,
        owner: &str,
    ) -> MutantStatus {
        match (status, control) {
            (MutantStatus::Killed | MutantStatus::TimedOut, Some(ControlOutcome::Failed(test))) => {
                self.failed_control.insert(test.clone());
                MutantStatus::Survived
            }
            (
                MutantStatus::Killed | MutantStatus::TimedOut,
                Some(ControlOutcome::Unclear) | None,
            ) => {
                self.uncontrolled.insert(owner.to_owned());
                status
            }
            _ => status,
        }
    }
}
