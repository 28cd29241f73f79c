//! The order in which tests run: tier after tier until every class is settled.
//!
//! Pure. A class is settled only when more tests could not change its verdict. Each tier runs only tests that earlier tiers did not
//! run, but the last runs all in one run: tests that share state may kill together what none kills alone.
//!
//! | tier | tests | when |
//! |---|---|---|
//! | `own` | the targets' own tests, and those that the task changed | first |
//! | `touching` | tests that execute a target, by the coverage map, at most half of all | there is a map |
//! | `near` | tests that name a target or belong to a caller, at most a quarter of all | `touching` is not there |
//! | `all` | all | `touching` is not there, or a FAIL would block |

use super::class_scores::score_target;
use super::pit::PitRun;
use super::report::{CountedMutants, PitReport};
use crate::config::TestTiers;
use crate::gate::scope::TargetClass;
use crate::mutation::{ClassScore, MutantStatus, Per, Rule};
use std::collections::BTreeSet;

/// The tier of the tests that are likely to use a target much: a PASS that they give needs no map.
pub(crate) const NEAR: &str = "near";
/// The part of all tests that `near` and the tests before it may be: one in so many.
const MAX_NEAR_SHARE: usize = 4;
/// The part of all tests that `touching` may be: one in so many.
const MAX_TOUCHING_SHARE: usize = 2;

/// The tier with which a module begins; `None` if no test is the targets' own and others may run.
pub(crate) fn first_tier(
    tiers: TestTiers,
    own: &BTreeSet<String>,
    all: &BTreeSet<String>,
) -> Option<PitRun> {
    let own = own & all;
    match tiers {
        TestTiers::All => Some(PitRun::new("all", all.clone())),
        TestTiers::OwnFirst if own.is_empty() => None,
        // Mutants that no test reaches are survivors: one run must count them.
        TestTiers::OwnFirst | TestTiers::Own => Some(PitRun::new("own", own)),
    }
}

/// The tests that are likely to kill mutants of the targets.
#[derive(Debug, Default)]
pub(crate) struct LikelyTests {
    /// Those that can touch the targets by the coverage map; `None` if no map holds.
    pub(crate) touching: Option<BTreeSet<String>>,
    /// Those that name a target or belong to a caller.
    pub(crate) near: BTreeSet<String>,
    /// No map holds, and a run of all tests makes one for later gates.
    pub(crate) makes_map: bool,
}

/// The tiers after the `own` tests, as long as classes are open; `confirms` runs all tests before a FAIL.
pub(crate) fn after_own(
    own: &BTreeSet<String>,
    all: &BTreeSet<String>,
    confirms: bool,
    likely: &LikelyTests,
) -> Vec<PitRun> {
    if own.is_superset(all) && !own.is_empty() {
        return Vec::new();
    }
    let mut tiers = Vec::new();
    match &likely.touching {
        Some(touching) if MAX_TOUCHING_SHARE * touching.len() <= all.len() => {
            let touching = touching - own;
            // One run must count the mutants that no test reaches.
            if own.is_empty() || !touching.is_empty() {
                tiers.push(PitRun::new("touching", touching));
            }
            if !confirms {
                return tiers;
            }
        }
        _ => {
            let near = &(all & &likely.near) - own;
            if !near.is_empty() && MAX_NEAR_SHARE * (near.len() + own.len()) <= all.len() {
                tiers.push(PitRun::new(NEAR, near));
            }
        }
    }
    tiers.push(PitRun {
        makes_map: likely.makes_map,
        ..PitRun::new("all", all.clone())
    });
    tiers
}

/// The classes whose verdict more tests could still change.
pub(crate) fn open_classes(
    rule: Rule,
    targets: &[TargetClass],
    report: &PitReport,
) -> BTreeSet<String> {
    let judged = targets.iter().filter_map(|target| {
        let counted = report.classes.get(&target.class)?;
        Some((counted, score_target(target, counted)))
    });
    let (counted, scores): (Vec<&CountedMutants>, Vec<ClassScore>) = judged.unzip();
    let judgement = rule.judge(&scores);
    if judgement.below.is_empty() && judgement.unknown.is_empty() {
        return BTreeSet::new();
    }
    let needs_all = rule.per != Per::Class || !judgement.unknown.is_empty();
    let mut open = BTreeSet::new();
    for (index, (counted, score)) in counted.into_iter().zip(scores).enumerate() {
        if counted.left().next().is_some() && (needs_all || judgement.failing.contains(&index)) {
            open.insert(score.class);
        }
    }
    open
}

/// The classes that reach the threshold only because time-outs count as killed.
pub(crate) fn hanging_on_timeouts(
    rule: Rule,
    targets: &[TargetClass],
    report: &PitReport,
) -> BTreeSet<String> {
    let open_if = |status| open_classes(rule, targets, &with_timeouts_as(report.clone(), status));
    // Time-outs alone are no pass, but which of them are real must be known first.
    &open_if(MutantStatus::Survived) - &open_if(MutantStatus::Killed)
}

/// The report as if each time-out that is not confirmed had this status.
fn with_timeouts_as(mut report: PitReport, status: MutantStatus) -> PitReport {
    let mutants = report.mutants_mut();
    for mutant in mutants.filter(|mutant| mutant.is_unconfirmed()) {
        mutant.set_status(status);
    }
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::java::report::{CountedMutant, MutantId};
    use crate::gate::scope::MutationExtent;
    use crate::mutation::{Coverage, NoCoverage};
    use crate::source::RepoPath;
    use TestTiers::{All, Own, OwnFirst};

    fn names(all: &[&str]) -> BTreeSet<String> {
        all.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_class_hangs_on_time_outs_when_its_score_or_the_one_it_must_keep_rests_on_them() {
        let floor = |killed, total| Some(Coverage { killed, total });
        // Mutants that are killed and that time out, those of them on changed lines, and the score to keep; one more lives.
        let all = [
            ("Hangs", [2, 1], None, None),
            ("Stands", [9, 1], None, None),
            ("Low", [1, 1], None, None),
            ("Whole", [2, 1], Some([1, 0]), floor(3, 4)),
            ("Changed", [9, 1], Some([0, 1]), floor(1, 4)),
            ("Kept", [2, 1], Some([1, 0]), floor(2, 4)),
        ];
        let (mut targets, mut report) = (Vec::new(), PitReport::default());
        for (class, numbers, changed, floor) in all {
            let extent = match changed {
                Some(_) => MutationExtent::Change(Vec::new()),
                None => MutationExtent::Class,
            };
            targets.push(TargetClass {
                package: "p".to_owned(),
                path: RepoPath::parse(&format!("{class}.java")),
                class: class.to_owned(),
                tests: BTreeSet::new(),
                extent,
            });
            let mut counted = CountedMutants {
                floor,
                ..CountedMutants::default()
            };
            let mut count = |status, index: usize, is_changed| {
                let id = MutantId {
                    method: format!("{status:?} {index}"),
                    ..MutantId::default()
                };
                let mutant = CountedMutant::for_test(status, is_changed);
                counted.mutants.insert(id, mutant);
            };
            let [killed, timed_out] = changed.unwrap_or_default();
            (0..numbers[0]).for_each(|index| count(MutantStatus::Killed, index, index < killed));
            (0..numbers[1])
                .for_each(|index| count(MutantStatus::TimedOut, index, index < timed_out));
            count(MutantStatus::Survived, 0, false);
            report.classes.insert(class.to_owned(), counted);
        }
        let rule = Rule {
            threshold: 70,
            per: Per::Class,
            no_coverage: NoCoverage::Survived,
        };
        assert_eq!(
            open_classes(rule, &targets, &report),
            names(&["Changed", "Low"]),
            "time-outs alone are no pass"
        );
        assert_eq!(
            hanging_on_timeouts(rule, &targets, &report),
            names(&["Changed", "Hangs", "Whole"])
        );
    }

    /// The tiers of a gate in which no class is ever settled, over four test classes.
    fn told(
        tiers: TestTiers,
        own: &[&str],
        chosen: Result<&[&str], bool>,
        near: &[&str],
        confirms: bool,
    ) -> String {
        let all = names(&["A", "B", "C", "D"]);
        let likely = LikelyTests {
            touching: chosen.ok().map(names),
            near: names(near),
            makes_map: chosen == Err(true),
        };
        let first = first_tier(tiers, &names(own), &all);
        let mut ladder: Vec<PitRun> = first.into_iter().collect();
        if tiers == OwnFirst {
            let own = ladder.first().map(|tier| tier.tests.clone());
            let own = own.unwrap_or_default();
            ladder.extend(after_own(&own, &all, confirms, &likely));
        }
        let tier = |tier: &PitRun| {
            let tests: Vec<&str> = tier.tests.iter().map(String::as_str).collect();
            let map = if tier.makes_map { " map" } else { "" };
            format!("{}:{}{map}", tier.name, tests.concat())
        };
        ladder.iter().map(tier).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn own_tests_come_first_then_those_that_touch_and_all_before_a_fail_that_blocks() {
        for (own, chosen, confirms, ladder) in [
            (&["A"][..], &["A", "B"][..], false, "own:A touching:B"),
            (&["A"], &["A", "B"], true, "own:A touching:B all:ABCD"),
            (&["A", "Gone"], &[], false, "own:A"),
            (&["A"], &["A"], true, "own:A all:ABCD"),
            (&["C"], &["A", "B"], false, "own:C touching:AB"),
            (&[], &["A", "B"], false, "touching:AB"),
            (&[], &[], false, "touching:"),
            // More than half: no map would say less.
            (&["A"], &["A", "B", "C"], false, "own:A all:ABCD"),
            (&["A"], &["A", "B", "C"], true, "own:A all:ABCD"),
        ] {
            assert_eq!(told(OwnFirst, own, Ok(chosen), &["D"], confirms), ladder);
        }
        assert_eq!(told(All, &["A"], Err(true), &[], true), "all:ABCD");
        assert_eq!(told(Own, &["A"], Err(true), &[], true), "own:A");
        assert_eq!(told(Own, &[], Err(true), &[], true), "own:");
    }

    #[test]
    fn without_a_map_all_tests_run_and_few_that_are_near_before_them() {
        let (outdated, in_place) = (true, false);
        for (own, why, near, confirms, ladder) in [
            (&["A"][..], outdated, &[][..], false, "own:A all:ABCD map"),
            (&["A"], outdated, &[], true, "own:A all:ABCD map"),
            (&[], outdated, &[], false, "all:ABCD map"),
            (&["A", "B", "C", "D"], outdated, &[], true, "own:ABCD"),
            (&["A"], in_place, &[], false, "own:A all:ABCD"),
            (&["A"], in_place, &[], true, "own:A all:ABCD"),
            (&[], in_place, &[], false, "all:ABCD"),
            (&[], outdated, &["B"], false, "near:B all:ABCD map"),
            (&[], outdated, &["B"], true, "near:B all:ABCD map"),
            (&[], in_place, &["B"], false, "near:B all:ABCD"),
            (&["A"], outdated, &["A"], false, "own:A all:ABCD map"),
            // More than a quarter, alone and with those before.
            (&[], outdated, &["A", "B"], false, "all:ABCD map"),
            (&["A"], outdated, &["B"], false, "own:A all:ABCD map"),
        ] {
            let tiers = told(OwnFirst, own, Err(why), near, confirms);
            assert_eq!(tiers, ladder, "{own:?} {near:?} {confirms}");
        }
    }
}
