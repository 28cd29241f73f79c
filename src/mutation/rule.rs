//! The rule that turns scores into a verdict.
//!
//! A unit passes only when something was measured and enough of it was killed; mutants without
//! a verdict (errors) never make a pass, and where they are most, no verdict on the rest; a unit that no test reaches fails.

use super::{ClassScore, Coverage, Tally};
use crate::source::text::{count, of_package};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The unit that must reach the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Per {
    /// Every target class by itself.
    Class,
    /// The target classes of a package together.
    Package,
    /// All target classes of the task together.
    Task,
}

/// What a mutant is that no test reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoCoverage {
    /// A survivor.
    Survived,
    /// Outside the score.
    Ignore,
}

/// How scores are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Per cent, 0 to 100.
    pub threshold: u32,
    /// The unit that must reach it.
    pub per: Per,
    /// What a mutant is that no test reaches.
    pub no_coverage: NoCoverage,
}

/// What the rule says about some scores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// The coverage over all classes.
    pub coverage: Coverage,
    /// Units that reached the threshold.
    pub reached: usize,
    /// One sentence for each unit below the threshold.
    pub below: Vec<String>,
    /// Indexes of the classes that need work: those of a unit below the threshold that are below it
    /// themselves.
    pub failing: BTreeSet<usize>,
    /// One sentence for each unit in which most mutants have no verdict.
    pub unknown: Vec<String>,
}

/// The result of one unit.
enum Unit {
    Reached,
    Below,
    /// Enough was killed of too little, or by time-outs alone.
    Doubtful,
    Unknown,
    Nothing,
}

/// So many mutants of code that only initialises a class are ordinary (a table that is filled from an enum's values) and
/// hide no work.
const FEW: u64 = 3;

impl Rule {
    /// Judges the scores. A unit without mutants (or with none that count) adds nothing.
    pub fn judge(self, classes: &[ClassScore]) -> Judgement {
        let mut judgement = Judgement::default();
        let mut all = Tally::default();
        for (name, members) in self.units(classes) {
            let mut tally = Tally::default();
            for &index in &members {
                tally.join(&classes[index].tally);
            }
            all.join(&tally);
            let fallen = self.fallen(classes, &members, &mut judgement);
            let kept = members.iter().any(|&i| classes[i].floor.is_some()) && !fallen;
            match self.unit(&tally) {
                // Nothing to kill on the changed lines, and the class as a whole has kept its score.
                Unit::Nothing if kept => judgement.reached += 1,
                Unit::Reached if fallen => {}
                Unit::Reached => judgement.reached += 1,
                Unit::Nothing => {}
                Unit::Unknown => judgement.unknown.push(format!(
                    "Most mutants of {name} have no verdict: {} ended in an error of the process that ran the tests, and {} did not.",
                    count(tally.errors, "mutant"),
                    tally.with_verdict()
                )),
                Unit::Below | Unit::Doubtful => {
                    judgement.below.push(self.sentence(&name, &tally));
                    let is_weak =
                        |i: &&usize| matches!(self.unit(&classes[**i].tally), Unit::Below | Unit::Doubtful);
                    let weak = members.iter().filter(is_weak);
                    judgement.failing.extend(weak);
                }
            }
        }
        judgement.coverage = all.coverage(self.no_coverage);
        judgement
    }

    /// Classes that fell below the score that they had at the base.
    fn fallen(self, classes: &[ClassScore], members: &[usize], judgement: &mut Judgement) -> bool {
        let mut fallen = false;
        for &index in members {
            let class = &classes[index];
            let Some(floor) = class.floor else { continue };
            let whole = floor.whole.coverage(self.no_coverage);
            if whole.is_below(floor.base) {
                fallen = true;
                judgement.failing.insert(index);
                judgement.below.push(format!(
                    "The coverage of class {}{} as a whole is {whole}; it was {} before the task.",
                    class.class,
                    of_package(&class.package),
                    floor.base
                ));
            }
        }
        fallen
    }

    /// `84% (21/25)`, and the other figure when some mutants are reached by no test.
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

    fn units(self, classes: &[ClassScore]) -> BTreeMap<String, Vec<usize>> {
        let mut units: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, class) in classes.iter().enumerate() {
            let name = match self.per {
                Per::Class => format!("{}{}", class.unit(), of_package(&class.package)),
                Per::Package => format!("package {}", class.package),
                Per::Task => "the task".to_owned(),
            };
            units.entry(name).or_default().push(index);
        }
        units
    }

    fn unit(self, tally: &Tally) -> Unit {
        let coverage = tally.coverage(self.no_coverage);
        if tally.errors > tally.with_verdict().saturating_add(tally.unjudged) {
            Unit::Unknown
        } else if coverage.reaches(self.threshold) {
            let open = tally.errors.saturating_add(tally.unjudged.saturating_sub(FEW));
            let is_judged = !self.is_too_much(open, coverage.total.saturating_add(open));
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

    /// So many of the mutants have no verdict that they could decide otherwise.
    pub fn is_too_much(self, without_verdict: u64, all: u64) -> bool {
        100 * u128::from(without_verdict)
            > u128::from(100_u32.saturating_sub(self.threshold)) * u128::from(all)
    }

    fn sentence(self, name: &str, tally: &Tally) -> String {
        let coverage = tally.coverage(self.no_coverage);
        if coverage.reaches(self.threshold) && tally.killed == 0 && tally.timed_out > 0 {
            return format!("No test kills a mutant of {name}: all {} kills are time-outs.", tally.timed_out);
        }
        if coverage.reaches(self.threshold) || coverage.total == 0 && tally.unjudged > 0 {
            return format!(
                "{} of {name} without a verdict (the JVM died, or the code runs only while a class is initialised), beside {} with one: too many for a pass.",
                count(tally.errors.saturating_add(tally.unjudged), "mutant"),
                coverage.total
            );
        }
        if tally.coverage(NoCoverage::Ignore).total == 0 {
            return format!("No test reaches any of the {} of {name}.", count(tally.no_coverage, "mutant"));
        }
        format!(
            "The coverage of {name} is {}, below the threshold of {}%.",
            self.figures(tally),
            self.threshold
        )
    }
}
