//! Counts mutants, compares scores, and derives a verdict from them.
//!
//! Only integers are used.
//!
//! - An unmeasured unit never reaches a threshold, not even zero.
//! - One more survivor never raises a score, and one more killed mutant never lowers it.
//! - A unit passes only if something was measured and enough of it was killed.
//! - Mutants without a verdict (errors) never make a pass. If most have none, there is no verdict on the rest.
//! - A unit that no test reaches fails.

use super::{ClassScore, Coverage, MutantStatus, Tally};
use crate::source::RepoPath;
use crate::source::text::{count, of_package};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The unit that must reach the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// Each target class separately.
    Class,
    /// The target classes of a package together.
    Package,
    /// All target classes of the task together.
    Task,
}

/// The treatment of a mutant that no test reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoCoverage {
    /// A survivor.
    Survived,
    /// Outside the score.
    Ignore,
}

/// The rule by which scores are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Per cent, 0 to 100.
    pub threshold: u32,
    pub per: Per,
    /// The treatment of a mutant that no test reaches.
    pub no_coverage: NoCoverage,
}

/// The outcome of the rule for some scores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleOutcome {
    /// The score over all classes.
    pub coverage: Coverage,
    /// Number of units that reached the threshold.
    pub reached: usize,
    /// One sentence for each unit below the threshold.
    pub below: Vec<String>,
    /// Indexes of the classes that need work: below the threshold, and in a unit below it.
    pub failing: BTreeSet<usize>,
    /// One sentence for each unit in which most mutants have no verdict.
    pub unknown: Vec<String>,
}

/// The result of one unit.
enum Unit {
    Reached,
    Below,
    /// Enough was killed, but of too few mutants or only by time-outs.
    Doubtful,
    Unknown,
    Nothing,
}

/// Number of mutants in code that only initialises a class up to which they hide no work.
///
/// A table that is filled from an enum's values has such mutants.
const FEW: u64 = 3;

impl Rule {
    /// Judges the scores. A unit without mutants that count adds nothing.
    pub fn judge(self, classes: &[ClassScore]) -> RuleOutcome {
        let mut outcome = RuleOutcome::default();
        let mut all = Tally::default();
        for ((name, _), members) in self.units(classes) {
            let mut tally = Tally::default();
            for &index in &members {
                tally.join(&classes[index].tally);
            }
            all.join(&tally);
            let fallen = self.fallen(classes, &members, &mut outcome);
            let kept = members.iter().any(|&i| classes[i].floor.is_some()) && !fallen;
            match self.unit(&tally) {
                // Nothing to kill on the changed lines, and the class as a whole has kept its score.
                Unit::Nothing if kept => outcome.reached += 1,
                Unit::Reached if fallen => {}
                Unit::Reached => outcome.reached += 1,
                Unit::Nothing => {}
                Unit::Unknown => outcome.unknown.push(format!(
                    "Most mutants of {name} have no verdict: {} ended in an error of the process that ran the tests, and {} did not.",
                    count(tally.errors, "mutant"),
                    tally.with_verdict()
                )),
                Unit::Below | Unit::Doubtful => {
                    outcome.below.push(self.sentence(&name, &tally));
                    let weak = members.iter().filter(|i| {
                        matches!(self.unit(&classes[**i].tally), Unit::Below | Unit::Doubtful)
                    });
                    outcome.failing.extend(weak);
                }
            }
        }
        outcome.coverage = all.coverage(self.no_coverage);
        outcome
    }

    /// True if classes fell below their score at the base.
    fn fallen(self, classes: &[ClassScore], members: &[usize], outcome: &mut RuleOutcome) -> bool {
        let mut fallen = false;
        for &index in members {
            let class = &classes[index];
            let Some(floor) = class.floor else { continue };
            let whole = floor.whole.coverage_at_worst(self.no_coverage);
            // Without the mutants that no test reaches, nothing may be left of a score.
            let is_lost = whole.total == 0 && floor.base.killed > 0 && floor.whole.no_coverage > 0;
            if is_lost || whole.is_below(floor.base) {
                fallen = true;
                outcome.failing.insert(index);
                outcome.below.push(format!(
                    "The mutation score of class {}{} as a whole is {whole}; it was {} before the task.",
                    class.class,
                    of_package(&class.package),
                    floor.base
                ));
            }
        }
        fallen
    }

    /// Returns `84% (21/25)`, and the other figure if no test reaches some mutants.
    pub fn figures(self, tally: &Tally) -> String {
        let shown = tally.coverage(self.no_coverage);
        if tally.no_coverage == 0 {
            return shown.to_string();
        }
        let (other, word) = match self.no_coverage {
            NoCoverage::Survived => (NoCoverage::Ignore, "without"),
            NoCoverage::Ignore => (NoCoverage::Survived, "with"),
        };
        format!(
            "{shown}; {} {word} the {} that no test reaches",
            tally.coverage(other),
            count(tally.no_coverage, "mutant")
        )
    }

    /// The classes of each unit, by its name; several modules may have a class of one name.
    fn units(self, classes: &[ClassScore]) -> BTreeMap<(String, Option<&RepoPath>), Vec<usize>> {
        let mut units: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (index, class) in classes.iter().enumerate() {
            let unit = match self.per {
                Per::Class => {
                    let name = format!("{}{}", class.unit(), of_package(&class.package));
                    (name, Some(&class.path))
                }
                Per::Package => (format!("package {}", class.package), None),
                Per::Task => ("the task".to_owned(), None),
            };
            units.entry(unit).or_default().push(index);
        }
        units
    }

    fn unit(self, tally: &Tally) -> Unit {
        let coverage = tally.coverage(self.no_coverage);
        if tally.errors > tally.with_verdict().saturating_add(tally.unjudged) {
            Unit::Unknown
        } else if coverage.reaches(self.threshold) {
            let open = tally
                .errors
                .saturating_add(tally.unjudged.saturating_sub(FEW));
            let is_judged = !self.could_flip(open, coverage.total.saturating_add(open));
            if is_judged && (tally.killed > 0 || tally.timed_out == 0) {
                Unit::Reached
            } else {
                Unit::Doubtful
            }
        } else if coverage.total > 0 || tally.no_coverage > 0 {
            Unit::Below
        } else if tally.unjudged > FEW {
            Unit::Doubtful
        } else {
            Unit::Nothing
        }
    }

    /// True if so many mutants have no verdict that they could change the result.
    pub fn could_flip(self, without_verdict: u64, all: u64) -> bool {
        100 * u128::from(without_verdict)
            > u128::from(100_u32.saturating_sub(self.threshold)) * u128::from(all)
    }

    fn sentence(self, name: &str, tally: &Tally) -> String {
        let coverage = tally.coverage(self.no_coverage);
        if coverage.reaches(self.threshold) && tally.killed == 0 && tally.timed_out > 0 {
            let all = if tally.timed_out == 1 {
                "its only kill is a time-out".to_owned()
            } else {
                format!("all {} kills are time-outs", tally.timed_out)
            };
            return format!("No test kills a mutant of {name}: {all}.");
        }
        if coverage.reaches(self.threshold) || coverage.total == 0 && tally.unjudged > 0 {
            return format!(
                "{} of {name} without a verdict (the JVM died, or the code runs only while a class is initialised), compared with {} that have one: too many for a pass.",
                count(tally.errors.saturating_add(tally.unjudged), "mutant"),
                coverage.total
            );
        }
        if tally.coverage(NoCoverage::Ignore).total == 0 {
            return match tally.no_coverage {
                1 => format!("No test reaches the only mutant of {name}."),
                all => format!("No test reaches any of the {all} mutants of {name}."),
            };
        }
        format!(
            "The mutation score of {name} is {}, below the threshold of {}%.",
            self.figures(tally),
            self.threshold
        )
    }
}

impl FromIterator<MutantStatus> for Tally {
    fn from_iter<I: IntoIterator<Item = MutantStatus>>(statuses: I) -> Self {
        let mut tally = Self::default();
        for status in statuses {
            tally.add(status);
        }
        tally
    }
}

impl Tally {
    /// Counts one mutant.
    pub fn add(&mut self, status: MutantStatus) {
        let counter = self.counter(status);
        *counter = counter.saturating_add(1);
    }
    fn counter(&mut self, status: MutantStatus) -> &mut u64 {
        match status {
            MutantStatus::Killed => &mut self.killed,
            MutantStatus::Survived => &mut self.survived,
            MutantStatus::NoCoverage => &mut self.no_coverage,
            MutantStatus::TimedOut => &mut self.timed_out,
            MutantStatus::NonViable => &mut self.non_viable,
            MutantStatus::MemoryError | MutantStatus::RunError => &mut self.errors,
            MutantStatus::Equivalent => &mut self.equivalent,
            MutantStatus::Unjudged => &mut self.unjudged,
        }
    }

    /// Adds the counts of another tally.
    pub fn join(&mut self, other: &Self) {
        self.killed = self.killed.saturating_add(other.killed);
        self.survived = self.survived.saturating_add(other.survived);
        self.no_coverage = self.no_coverage.saturating_add(other.no_coverage);
        self.timed_out = self.timed_out.saturating_add(other.timed_out);
        self.non_viable = self.non_viable.saturating_add(other.non_viable);
        self.errors = self.errors.saturating_add(other.errors);
        self.equivalent = self.equivalent.saturating_add(other.equivalent);
        self.unjudged = self.unjudged.saturating_add(other.unjudged);
    }

    /// Returns the killed mutants (time-outs included) out of killed and survived ones.
    ///
    /// `no_coverage` decides if mutants that no test reaches are survivors or do not count.
    pub fn coverage(&self, no_coverage: NoCoverage) -> Coverage {
        let killed = self.killed.saturating_add(self.timed_out);
        let uncovered = match no_coverage {
            NoCoverage::Survived => self.no_coverage,
            NoCoverage::Ignore => 0,
        };
        Coverage {
            killed,
            total: killed
                .saturating_add(self.survived)
                .saturating_add(uncovered),
        }
    }

    /// The same, with mutants that have no verdict as survivors, except a few in code that initialises the class: the score that a
    /// class must keep cannot rise by losing verdicts.
    pub(crate) fn coverage_at_worst(&self, no_coverage: NoCoverage) -> Coverage {
        let mut coverage = self.coverage(no_coverage);
        coverage.total = coverage
            .total
            .saturating_add(self.errors)
            .saturating_add(self.unjudged.saturating_sub(FEW));
        coverage
    }

    /// Returns the number of mutants that were killed or survived, including those that no test reaches.
    pub(crate) fn with_verdict(&self) -> u64 {
        self.coverage(NoCoverage::Survived).total
    }

    /// Returns the number of mutants of any status.
    pub fn mutants(&self) -> u64 {
        self.with_verdict()
            .saturating_add(self.non_viable)
            .saturating_add(self.errors)
            .saturating_add(self.equivalent)
            .saturating_add(self.unjudged)
    }
}

impl fmt::Display for Tally {
    /// Writes the parts of the score: `7 killed, 1 timed out, 2 survived, 0 not covered`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            killed,
            timed_out,
            survived,
            no_coverage,
            ..
        } = self;
        write!(
            f,
            "{killed} killed, {timed_out} timed out, {survived} survived, {no_coverage} not covered"
        )
    }
}

impl Coverage {
    /// True if `100 · killed ≥ threshold · total`, compared as integers. False if nothing was measured.
    pub fn reaches(&self, threshold: u32) -> bool {
        self.total > 0
            && 100 * u128::from(self.killed) >= u128::from(threshold) * u128::from(self.total)
    }

    /// True if this is a smaller part than the other, compared as integers. False if nothing was measured.
    pub fn is_below(&self, other: Self) -> bool {
        if self.total == 0 {
            return false;
        }
        u128::from(self.killed) * u128::from(other.total)
            < u128::from(other.killed) * u128::from(self.total)
    }

    /// Returns the percentage, rounded down; 0 if nothing was measured.
    pub fn percent_floor(&self) -> u64 {
        if self.total == 0 {
            return 0;
        }
        u64::try_from(100 * u128::from(self.killed) / u128::from(self.total)).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Coverage {
    /// Writes `84% (21/25)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}% ({}/{})",
            self.percent_floor(),
            self.killed,
            self.total
        )
    }
}
