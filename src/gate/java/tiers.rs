//! Which tests are asked in which order.
//!
//! Pure; a class is settled only when more tests could not change its verdict. A tier asks tests that were not asked
//! before; what makes a map, or confirms a FAIL that blocks, asks all in one run, since tests that share state may kill
//! together what none kills alone.

use super::class_scores::score;
use super::coverage_map::AskAll;
use super::report::PitReport;
use crate::config::TestTiers;
use crate::gate::scope::Target;
use crate::mutation::{ClassScore, Per, Rule};
use std::collections::BTreeSet;

/// The tier of the tests that execute a target, by the map of who touches what.
const TOUCHING: &str = "touching";
/// The tier of the tests that stand near a target, before all are asked: a PASS that they give needs no map.
const NEAR: &str = "near";
/// The part of all tests that they and those asked before may be: one in so many.
const NEAR_IS_FEW: usize = 4;
/// The tier after which no test has not been asked.
const ALL: &str = "all";

/// One run over part of the tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tier {
    /// `own`, `near` (tests that name the class or a caller's), `touching` (those that execute it) or `all` (the rest).
    pub(crate) name: &'static str,
    /// The test classes asked.
    pub(crate) tests: BTreeSet<String>,
    /// Why these, for people.
    pub(crate) note: String,
    /// A new map of who touches what is made in passing.
    pub(crate) makes_map: bool,
}

impl Tier {
    fn new(name: &'static str, tests: BTreeSet<String>) -> Self {
        Self {
            name,
            tests,
            note: String::new(),
            makes_map: false,
        }
    }

    /// Its tests are few, and asked for the sake of a PASS.
    pub(crate) fn is_near(&self) -> bool {
        self.name == NEAR
    }

    /// Its tests were chosen by the coverage map.
    pub(crate) fn is_by_map(&self) -> bool {
        self.name == TOUCHING
    }

    pub(crate) fn all(tests: &BTreeSet<String>) -> Self {
        Self::new(ALL, tests.clone())
    }
}

/// The tier with which a module begins; `None` if no test is the targets' own and others may be asked.
pub(crate) fn first(
    tiers: TestTiers,
    own: &BTreeSet<String>,
    all: &BTreeSet<String>,
) -> Option<Tier> {
    let own: BTreeSet<String> = own.intersection(all).cloned().collect();
    match tiers {
        TestTiers::All => Some(Tier::all(all)),
        TestTiers::OwnFirst if own.is_empty() => None,
        // Mutants that no test reaches are survivors: one run must say how many there are.
        TestTiers::OwnFirst | TestTiers::Own => Some(Tier::new("own", own)),
    }
}

/// The tier after one that left classes open; `None` if there is none. `asked` are the tests of all tiers so far; `choose`
/// finds the tests that can touch these classes, `near` those that stand near them; `confirms` asks for all tests before a FAIL.
pub(crate) fn next<E>(
    tiers: TestTiers,
    after: Option<&Tier>,
    asked: &BTreeSet<String>,
    all: &BTreeSet<String>,
    confirms: bool,
    choose: impl FnOnce() -> Result<Result<BTreeSet<String>, AskAll>, E>,
    near: impl FnOnce() -> Result<BTreeSet<String>, E>,
) -> Result<Option<Tier>, E> {
    let is_last = after.is_some_and(|tier| tier.name == ALL || tier.tests == *all);
    if tiers != TestTiers::OwnFirst || is_last {
        return Ok(None);
    }
    let confirming = || Some(Tier::all(all)).filter(|_| confirms);
    if after.is_some_and(|tier| tier.name == TOUCHING) {
        return Ok(confirming());
    }
    let tests = match choose()? {
        Ok(chosen) => &chosen - asked,
        Err(AskAll { why, is_outdated }) => {
            if after.is_none_or(|tier| tier.name != NEAR) {
                let near = &(all & &near()?) - asked;
                if !near.is_empty() && NEAR_IS_FEW * (near.len() + asked.len()) <= all.len() {
                    return Ok(Some(Tier {
                        note: why,
                        ..Tier::new(NEAR, near)
                    }));
                }
            }
            let makes_map = is_outdated;
            let tests = if makes_map || confirms {
                all.clone()
            } else {
                all - asked
            };
            return Ok(Some(Tier {
                note: why,
                makes_map,
                ..Tier::new(ALL, tests)
            }));
        }
    };
    Ok(if after.is_some() && tests.is_empty() {
        confirming()
    } else {
        Some(Tier::new(TOUCHING, tests))
    })
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
        .filter(|class| {
            report
                .classes
                .get(class)
                .is_some_and(|c| !c.left.is_empty() || c.dropped > 0)
        })
        .collect()
}

/// The classes that reach the threshold only because time-outs count as killed.
pub(crate) fn hanging_on_timeouts(
    rule: Rule,
    targets: &[Target],
    report: &PitReport,
) -> BTreeSet<String> {
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
    let timed_out = |class: &String| {
        report
            .classes
            .get(class)
            .is_some_and(|c| c.tally.timed_out > 0)
    };
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
    use TestTiers::{All, Own, OwnFirst};

    fn names(all: &[&str]) -> BTreeSet<String> {
        all.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_class_hangs_on_time_outs_when_its_score_or_the_one_it_must_keep_rests_on_them() {
        let tally = |killed, timed_out| Tally {
            killed,
            timed_out,
            survived: 1,
            ..Tally::default()
        };
        let floor = |killed, total| Some(Coverage { killed, total });
        let (none, killed) = (
            Tally::default(),
            Tally {
                killed: 1,
                ..Tally::default()
            },
        );
        let timed_out = Tally {
            timed_out: 1,
            ..Tally::default()
        };
        let all = [
            ("Hangs", Extent::Class, tally(2, 1), none, None),
            ("Stands", Extent::Class, tally(9, 1), none, None),
            ("Low", Extent::Class, tally(1, 1), none, None),
            (
                "Whole",
                Extent::Change(Vec::new()),
                tally(2, 1),
                killed,
                floor(3, 4),
            ),
            (
                "Changed",
                Extent::Change(Vec::new()),
                tally(9, 1),
                timed_out,
                floor(1, 4),
            ),
            (
                "Kept",
                Extent::Change(Vec::new()),
                tally(2, 1),
                killed,
                floor(2, 4),
            ),
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
            let counted = Counted {
                tally,
                changed,
                floor,
                dropped: 1,
                ..Counted::default()
            };
            report.classes.insert(class.to_owned(), counted);
        }
        let rule = Rule {
            threshold: 70,
            per: Per::Class,
            no_coverage: NoCoverage::Survived,
        };
        assert_eq!(
            open(rule, &targets, &report),
            names(&["Changed", "Low"]),
            "time-outs alone are no pass"
        );
        assert_eq!(
            hanging_on_timeouts(rule, &targets, &report),
            names(&["Changed", "Hangs", "Whole"])
        );
    }

    #[test]
    fn own_tests_come_first_then_those_that_touch_and_all_where_that_is_not_known_or_a_fail_blocks()
    {
        let all = names(&["A", "B", "C", "D"]);
        // The tiers of a gate in which no class is ever settled.
        let told_by = |(near, is_outdated): (&[&str], bool),
                       tiers,
                       own: &[&str],
                       touching: Option<&[&str]>,
                       confirms| {
            let mut told = Vec::new();
            let mut tier = first(tiers, &names(own), &all);
            let (mut known, mut asked) = (touching, BTreeSet::new());
            loop {
                asked.extend(tier.iter().flat_map(|tier| tier.tests.clone()));
                told.extend(tier.iter().map(|tier| {
                    let tests: Vec<&str> = tier.tests.iter().map(String::as_str).collect();
                    format!(
                        "{}:{}{}",
                        tier.name,
                        tests.concat(),
                        if tier.makes_map { " map" } else { "" }
                    )
                }));
                let choose = || {
                    let unknown = AskAll {
                        why: "no map".to_owned(),
                        is_outdated,
                    };
                    Ok::<_, ()>(known.map(names).ok_or(unknown))
                };
                let following = next(tiers, tier.as_ref(), &asked, &all, confirms, choose, || {
                    Ok(names(near))
                })
                .unwrap();
                if following.is_none() {
                    return told.join(" ");
                }
                tier = following;
                if tier.as_ref().is_some_and(|tier| tier.makes_map) {
                    known = Some(&["B"]);
                }
            }
        };
        let told = |tiers, own: &[&str], touching, confirms| {
            told_by((&[], true), tiers, own, touching, confirms)
        };
        let some: Option<&[&str]> = Some(&["A", "B"]);
        assert_eq!(told(OwnFirst, &["A"], some, false), "own:A touching:B");
        assert_eq!(
            told(OwnFirst, &["A"], some, true),
            "own:A touching:B all:ABCD"
        );
        assert_eq!(told(OwnFirst, &["A", "Gone"], Some(&[]), false), "own:A");
        assert_eq!(told(OwnFirst, &["A"], Some(&["A"]), true), "own:A all:ABCD");
        assert_eq!(told(OwnFirst, &["C"], some, false), "own:C touching:AB");
        assert_eq!(told(OwnFirst, &["A"], None, false), "own:A all:ABCD map");
        assert_eq!(told(OwnFirst, &["A"], None, true), "own:A all:ABCD map");
        assert_eq!(told(OwnFirst, &[], some, false), "touching:AB");
        assert_eq!(told(OwnFirst, &[], Some(&[]), false), "touching:");
        assert_eq!(told(OwnFirst, &[], None, false), "all:ABCD map");
        assert_eq!(
            told(OwnFirst, &["A", "B", "C", "D"], None, true),
            "own:ABCD"
        );
        let told_in_place =
            |own: &[&str], confirms| told_by((&[], false), OwnFirst, own, None, confirms);
        assert_eq!(told_in_place(&["A"], false), "own:A all:BCD");
        assert_eq!(
            told_in_place(&["A"], true),
            "own:A all:ABCD",
            "what blocks is the word of one run"
        );
        assert_eq!(told_in_place(&[], false), "all:ABCD");
        let near = |near: &[&str], own: &[&str], touching, confirms| {
            told_by((near, true), OwnFirst, own, touching, confirms)
        };
        assert_eq!(near(&["B"], &[], None, false), "near:B all:ABCD map");
        assert_eq!(near(&["B"], &[], None, true), "near:B all:ABCD map");
        assert_eq!(
            near(&["A"], &["A"], None, false),
            "own:A all:ABCD map",
            "they were asked"
        );
        assert_eq!(
            near(&["A", "B"], &[], None, false),
            "all:ABCD map",
            "more than a quarter"
        );
        assert_eq!(
            near(&["B"], &["A"], None, false),
            "own:A all:ABCD map",
            "with those before"
        );
        assert_eq!(near(&["B"], &[], some, false), "touching:AB", "it is known");
        assert_eq!(told(All, &["A"], None, true), "all:ABCD");
        assert_eq!(told(Own, &["A"], None, true), "own:A");
        assert_eq!(told(Own, &[], None, true), "own:");
    }
}
