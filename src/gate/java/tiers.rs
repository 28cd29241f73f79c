//! Which tests are asked in which order.
//!
//! Pure; the last tier of `own-first` is one run of all tests, since tests that share state may
//! kill together what none kills alone; a class is settled only when more tests could not change its verdict.

use super::class_scores::score;
use super::reach::Reaching;
use super::report::PitReport;
use crate::config::TestTiers;
use crate::gate::scope::Target;
use crate::mutation::{ClassScore, Per, Rule};
use std::collections::BTreeSet;

/// One run over part of the tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tier {
    /// `own`, `near` (tests that name the class, or are those of a class that does), `reachable` or `all`.
    pub(crate) name: &'static str,
    /// The test classes asked: those that are new in it; in `all` every one.
    pub(crate) tests: BTreeSet<String>,
}

/// The runs, in order. `reachable` is asked for only where it can matter.
pub(crate) fn plan(
    tiers: TestTiers,
    own: &BTreeSet<String>,
    all: &BTreeSet<String>,
    reachable: impl FnOnce() -> Reaching,
) -> Vec<Tier> {
    let every = |name| vec![Tier { name, tests: all.clone() }];
    let own: BTreeSet<String> = own.intersection(all).cloned().collect();
    if tiers == TestTiers::All {
        return every("all");
    }
    if own == *all {
        return every("own");
    }
    let mut wider = vec![("own", own)];
    if tiers != TestTiers::Own {
        let reachable = reachable();
        wider.extend([("near", reachable.near), ("reachable", reachable.all)]);
    }
    let mut plan: Vec<Tier> = Vec::new();
    let mut asked = BTreeSet::new();
    for (name, tests) in wider {
        let new: BTreeSet<String> =
            tests.intersection(all).filter(|test| !asked.contains(*test)).cloned().collect();
        asked.extend(new.iter().cloned());
        let last = tiers == TestTiers::OwnFirst && asked == *all;
        if !new.is_empty() && !last {
            plan.push(Tier { name, tests: new });
        }
    }
    if tiers == TestTiers::OwnFirst {
        plan.extend(every("all"));
    }
    if plan.is_empty() {
        // Mutants that no test reaches are survivors: one run must say how many there are.
        plan.push(Tier { name: "own", tests: BTreeSet::new() });
    }
    plan
}

/// The same tests in one run.
pub(crate) fn in_one(plan: Vec<Tier>) -> Vec<Tier> {
    let name = plan.last().map_or("all", |tier| tier.name);
    let tests = plan.into_iter().flat_map(|tier| tier.tests).collect();
    vec![Tier { name, tests }]
}

/// The classes whose verdict more tests could still change.
pub(crate) fn open(rule: Rule, targets: &[Target], report: &PitReport) -> BTreeSet<String> {
    unsettled(rule, &scores(targets, report), report)
}

/// The scores of the targets that have mutants.
fn scores(targets: &[Target], report: &PitReport) -> Vec<ClassScore> {
    let counted = |target: &Target| Some(score(target, report.classes.get(&target.class)?));
    targets.iter().filter_map(counted).collect()
}

/// Of these scores, the classes whose verdict more tests could still change.
fn unsettled(rule: Rule, scores: &[ClassScore], report: &PitReport) -> BTreeSet<String> {
    let judgement = rule.judge(scores);
    if judgement.below.is_empty() && judgement.unknown.is_empty() {
        return BTreeSet::new();
    }
    let needed = |index: usize| match rule.per {
        Per::Class => judgement.failing.contains(&index) || !judgement.unknown.is_empty(),
        Per::Package | Per::Task => true,
    };
    scores
        .iter()
        .enumerate()
        .filter(|(index, _)| needed(*index))
        .map(|(_, score)| score.class.clone())
        .filter(|class| report.classes.get(class).is_some_and(|c| !c.left.is_empty() || c.dropped > 0))
        .collect()
}

/// The classes that reach the threshold only because time-outs count as killed.
pub(crate) fn hanging_on_timeouts(rule: Rule, targets: &[Target], report: &PitReport) -> BTreeSet<String> {
    let mut scores = scores(targets, report);
    let mut without = scores.clone();
    for score in &mut without {
        let whole = score.floor.as_mut().map(|floor| &mut floor.whole);
        for tally in std::iter::once(&mut score.tally).chain(whole) {
            tally.survived += std::mem::take(&mut tally.timed_out);
        }
    }
    for tally in scores.iter_mut().map(|score| &mut score.tally) {
        // Time-outs alone are no pass, but which of them are real must be known first.
        tally.killed += std::mem::take(&mut tally.timed_out);
    }
    let now = unsettled(rule, &scores, report);
    let timed_out = |class: &String| report.classes.get(class).is_some_and(|c| c.tally.timed_out > 0);
    unsettled(rule, &without, report)
        .into_iter()
        .filter(|class| !now.contains(class) && timed_out(class))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::java::report::Counted;
    use crate::gate::scope::Extent;
    use crate::mutation::{Coverage, NoCoverage, Tally};
    use crate::source::RepoPath;
    use TestTiers::{All, Own, OwnFirst, Reachable};

    fn names(all: &[&str]) -> BTreeSet<String> {
        all.iter().map(|name| (*name).to_owned()).collect()
    }

    fn planned(tiers: TestTiers, own: &[&str], reachable: &[&str]) -> Vec<(&'static str, Vec<String>)> {
        let all = names(&["A", "B", "C", "D"]);
        plan(tiers, &names(own), &all, || Reaching {
            near: names(&reachable[..reachable.len().min(2)]),
            all: names(reachable),
        })
        .into_iter()
        .map(|tier| (tier.name, tier.tests.into_iter().collect()))
        .collect()
    }

    #[test]
    fn a_class_hangs_on_time_outs_when_its_score_or_the_one_it_must_keep_rests_on_them() {
        let tally = |killed, timed_out| Tally { killed, timed_out, survived: 1, ..Tally::default() };
        let floor = |killed, total| Some(Coverage { killed, total });
        let (none, killed) = (Tally::default(), Tally { killed: 1, ..Tally::default() });
        let timed_out = Tally { timed_out: 1, ..Tally::default() };
        let all = [
            ("Hangs", Extent::Class, tally(2, 1), none, None),
            ("Stands", Extent::Class, tally(9, 1), none, None),
            ("Low", Extent::Class, tally(1, 1), none, None),
            ("Whole", Extent::Change(Vec::new()), tally(2, 1), killed, floor(3, 4)),
            ("Changed", Extent::Change(Vec::new()), tally(9, 1), timed_out, floor(1, 4)),
            ("Kept", Extent::Change(Vec::new()), tally(2, 1), killed, floor(2, 4)),
        ];
        let (mut targets, mut report) = (Vec::new(), PitReport::default());
        for (class, extent, tally, changed, floor) in all {
            targets.push(Target {
                package: "p".to_owned(),
                path: RepoPath::parse(&format!("{class}.java")),
                class: class.to_owned(),
                tests: BTreeSet::new(),
                extent,
            });
            let counted = Counted { tally, changed, floor, dropped: 1, ..Counted::default() };
            report.classes.insert(class.to_owned(), counted);
        }
        let rule = Rule { threshold: 70, per: Per::Class, no_coverage: NoCoverage::Survived };
        assert_eq!(open(rule, &targets, &report), names(&["Changed", "Low"]), "time-outs alone are no pass");
        assert_eq!(hanging_on_timeouts(rule, &targets, &report), names(&["Changed", "Hangs", "Whole"]));
    }

    #[test]
    fn a_tier_without_new_tests_or_with_the_last_new_ones_does_not_run_before_all() {
        let told = |tiers, own: &[&str], reachable: &[&str]| {
            let plan = planned(tiers, own, reachable);
            plan.iter()
                .map(|(name, tests)| format!("{name}:{}", tests.join("")))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(told(OwnFirst, &["A"], &["A", "B"]), "own:A near:B all:ABCD");
        assert_eq!(told(OwnFirst, &["A"], &["A"]), "own:A all:ABCD");
        assert_eq!(told(OwnFirst, &[], &["A", "B", "C", "D"]), "near:AB all:ABCD");
        assert_eq!(told(OwnFirst, &["A", "Gone"], &[]), "own:A all:ABCD");
        assert_eq!(told(OwnFirst, &["A", "B", "C", "D"], &["A"]), "own:ABCD");
        assert_eq!(told(All, &["A"], &["B"]), "all:ABCD");
        assert_eq!(told(Reachable, &["A"], &["A", "C"]), "own:A near:C");
        assert_eq!(told(Own, &["A"], &["A", "B"]), "own:A");
        assert_eq!(told(Own, &[], &["A"]), "own:");
        assert_eq!(in_one(plan(OwnFirst, &names(&["A"]), &names(&["A", "B"]), Reaching::default)).len(), 1);
    }
}
