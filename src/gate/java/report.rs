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

use crate::mutation::Tally;
use crate::source::text;
use serde::{Deserialize, Serialize};
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
        let classes = self.classes.values();
        let mutants = classes.flat_map(|counted| counted.mutants.values());
        mutants.map(CountedMutant::status).collect()
    }

    pub(crate) fn mutants_mut(&mut self) -> impl Iterator<Item = &mut CountedMutant> {
        let classes = self.classes.values_mut();
        classes.flat_map(|counted| counted.mutants.values_mut())
    }

    /// The mutants of these classes, class by class.
    pub(crate) fn classes_in(
        &self,
        classes: &BTreeSet<String>,
    ) -> impl Iterator<Item = &CountedMutants> {
        classes.iter().filter_map(|class| self.classes.get(class))
    }

    /// The time-outs of these classes that are not confirmed.
    pub(crate) fn unconfirmed_in(
        &mut self,
        classes: &BTreeSet<String>,
    ) -> impl Iterator<Item = (&MutantId, &mut CountedMutant)> {
        let wanted = self.classes.iter_mut();
        let wanted = wanted.filter(|(class, _)| classes.contains(*class));
        let mutants = wanted.flat_map(|(_, counted)| &mut counted.mutants);
        mutants.filter(|(_, mutant)| mutant.is_unconfirmed())
    }

    /// Merges what a later run found out about the mutants that are left. What a search killed is unproven.
    pub(crate) fn merge_later(&mut self, later: &Self, aim: Aim) {
        for (class, found) in &later.classes {
            let Some(counted) = self.classes.get_mut(class) else {
                continue;
            };
            for (found_id, found) in &found.mutants {
                let known = counted.mutants.iter_mut();
                for (_, mutant) in known.filter(|(id, _)| id.is_part_of(found_id)) {
                    mutant.join_run(found, aim);
                }
            }
        }
        self.uncontrolled.extend(later.uncontrolled.iter().cloned());
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
}

/// The production classes that one run over all tests executed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExecutedClasses {
    /// The test classes, and true where all their tests were green.
    pub(crate) tests: BTreeMap<String, bool>,
    /// By top-level class, the tests that execute it.
    pub(crate) classes: BTreeMap<String, BTreeSet<String>>,
}

/// The top-level class of a name.
pub(crate) fn top_level(name: &str) -> &str {
    name.split_once('$').map_or(name, |(top, _)| top)
}

/// The target to which each class belongs: `Foo` to itself, a second top-level class of `Foo.java` to
/// `Foo`. Nested classes follow their outermost class.
pub(crate) type Owners = BTreeMap<String, String>;

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
