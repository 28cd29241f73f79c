//! What the modules came to, and what the gate says about it.
//!
//! Owns: the order of verdicts (ERROR before FAIL before PASS before SKIP) and the gate's report.
//!
//! Promises: pure; a target that was not judged is never part of a pass; what is told is bounded.
//!
//! Refuses to know: builds, engines, processes.

use super::report::{Counted, Parsed};
use super::scope::{Extent, Scope, Target};
use super::{Stop, words};
use crate::config::GateSettings;
use crate::mutation::{
    ClassScore, Coverage, Floor, GateReport, MutantStatus, Rule, Survivor, Trace, Verdict, rank,
};
use std::collections::{BTreeMap, BTreeSet};

/// Reasons and remarks that a report tells.
const TOLD: usize = 40;
/// Test classes that a survivor tells.
const TESTS_TOLD: usize = 5;

/// One judged class.
#[derive(Clone, Debug)]
pub(crate) struct Judged {
    /// Its score.
    pub(crate) score: ClassScore,
    /// Survivors that were kept.
    pub(crate) survivors: Vec<Survivor>,
    /// How many there are.
    pub(crate) survivors_total: u64,
}

/// The score of a target: of its changed lines where the score at its base binds the class as a whole.
pub(crate) fn score(target: &Target, counted: &Counted) -> ClassScore {
    let floor = counted.floor.filter(|_| matches!(target.extent, Extent::Change(_)));
    ClassScore {
        package: target.package.clone(),
        path: target.path.clone(),
        class: target.class.clone(),
        tally: if floor.is_some() { counted.changed } else { counted.tally },
        floor: floor.map(|base| Floor { whole: counted.tally, base }),
    }
}

impl Judged {
    fn new(target: &Target, counted: &Counted) -> Self {
        let survived = counted.with(&[MutantStatus::Survived, MutantStatus::NoCoverage]);
        let survivors = survived.map(|(_, left)| Survivor {
            package: target.package.clone(),
            path: Some(target.path.clone()),
            changed: left.changed,
            tests: left.tests.iter().take(TESTS_TOLD).cloned().collect(),
            tests_total: left.tests_total,
            ..Survivor::from(left.mutant.clone())
        });
        let survivors_total = counted.tally.survived + counted.tally.no_coverage;
        Self { score: score(target, counted), survivors: survivors.collect(), survivors_total }
    }
}

/// What one module came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// Classes with mutants.
    pub(crate) judged: Vec<Judged>,
    /// Targets with nothing to mutate, by name.
    pub(crate) nothing: Vec<String>,
    /// Failures and errors.
    pub(crate) stops: Vec<Stop>,
    /// Targets that a failure among the stops belongs to, `<package>/<path>`.
    pub(crate) failing: BTreeSet<String>,
    /// Facts beside the verdict.
    pub(crate) remarks: Vec<String>,
    /// HTML reports, the first page of each; absolute paths.
    pub(crate) reports: Vec<String>,
    /// What was done.
    pub(crate) trace: Trace,
}

impl Outcome {
    /// Nothing but a stop.
    pub(crate) fn stopped(stop: Stop) -> Self {
        Self { stops: vec![stop], ..Self::default() }
    }

    /// Takes the counts of the targets over; returns those without any mutant.
    pub(crate) fn take<'t>(&mut self, targets: &'t [Target], parsed: &Parsed) -> Vec<&'t Target> {
        let mut empty = Vec::new();
        for target in targets {
            let Some(counted) = parsed.classes.get(&target.class) else {
                empty.push(target);
                continue;
            };
            let errors: Vec<String> = counted
                .with(&[MutantStatus::RunError, MutantStatus::MemoryError])
                .map(|(_, left)| format!("{}:{}", left.mutant.file, left.mutant.line))
                .collect();
            if !errors.is_empty() {
                self.remarks.push(format!(
                    "Mutants of {} that ended in an error of the JVM stay outside the score: {}.",
                    target.class,
                    words::names(errors.iter().map(String::as_str), 5)
                ));
            }
            self.judged.push(Judged::new(target, counted));
        }
        empty
    }

    /// Puts the source line to each survivor; `sources` holds lines by `<package>/<path>`.
    pub(crate) fn tell_sources(&mut self, sources: &BTreeMap<String, Vec<String>>) {
        for judged in &mut self.judged {
            let file = crate::machine::facts::full_path(&judged.score.package, &judged.score.path);
            let Some(lines) = sources.get(&file) else { continue };
            for survivor in &mut judged.survivors {
                let at = usize::try_from(survivor.mutant.line).unwrap_or(0).checked_sub(1);
                survivor.source = at.and_then(|at| lines.get(at)).cloned().unwrap_or_default();
            }
        }
    }
}

/// The gate's report over all modules.
pub(crate) fn conclude(
    settings: &GateSettings,
    scope: &Scope,
    outcomes: Vec<Outcome>,
    millis: u64,
) -> GateReport {
    let rule = Rule { threshold: settings.threshold, per: settings.per, no_coverage: settings.no_coverage };
    let mut all = Outcome { stops: scope.stops.clone(), ..Outcome::default() };
    for outcome in outcomes {
        all.judged.extend(outcome.judged);
        all.nothing.extend(outcome.nothing);
        all.stops.extend(outcome.stops);
        all.failing.extend(outcome.failing);
        all.remarks.extend(outcome.remarks);
        all.reports.extend(outcome.reports);
        all.trace.phases.extend(outcome.trace.phases);
        all.trace.tiers.extend(outcome.trace.tiers);
    }
    all.judged.sort_by(|a, b| (&a.score.package, &a.score.class).cmp(&(&b.score.package, &b.score.class)));
    let scores: Vec<ClassScore> = all.judged.iter().map(|judged| judged.score.clone()).collect();
    let judgement = rule.judge(&scores);
    for why in &judgement.unknown {
        all.stops.push(Stop::setup(
            why.clone(),
            "Look for tests or code that end the JVM (System.exit, memory); see PIT's log in the gate's folder.",
        ));
    }
    if !judgement.below.is_empty() {
        all.stops.push(Stop::Fail { reasons: judgement.below.clone() });
    }
    let weak: Vec<&Judged> = judgement.failing.iter().filter_map(|&index| all.judged.get(index)).collect();
    let survivors = rank(weak.iter().flat_map(|judged| judged.survivors.iter().cloned()));
    let survivors_total = weak.iter().map(|judged| judged.survivors_total).sum();
    let mut failing = all.failing.clone();
    failing.extend(
        weak.iter().map(|judged| crate::machine::facts::full_path(&judged.score.package, &judged.score.path)),
    );
    let verdict = verdict(&all.stops, judgement.reached > 0, scope, &all.nothing);
    let fails = matches!(verdict, Verdict::Fail { .. });
    all.remarks.truncate(TOLD);
    all.reports.sort();
    GateReport {
        verdict,
        coverage: if scores.is_empty() { Coverage::default() } else { judgement.coverage },
        classes: scores,
        survivors,
        survivors_total,
        left_out: scope.left_out.clone(),
        remarks: all.remarks,
        reports: all.reports,
        failing: if fails { failing.into_iter().collect() } else { Vec::new() },
        millis,
        trace: all.trace,
    }
}

fn verdict(stops: &[Stop], reached: bool, scope: &Scope, nothing: &[String]) -> Verdict {
    let mut errors = Vec::new();
    let mut reasons: Vec<String> = Vec::new();
    for stop in stops {
        match stop {
            Stop::Fail { reasons: more } => reasons.extend(more.iter().cloned()),
            Stop::Error { why, hint, transient } => errors.push((why, hint, *transient)),
        }
    }
    if let Some((_, hint, _)) = errors.iter().find(|(_, _, transient)| !transient).or_else(|| errors.first())
    {
        let mut whys: Vec<&str> = errors.iter().map(|(why, _, _)| why.as_str()).collect();
        whys.dedup();
        return Verdict::Error {
            why: words::line(&whys.join(" "), 2_000),
            hint: (*hint).clone(),
            transient: errors.iter().all(|(_, _, transient)| *transient),
        };
    }
    if !reasons.is_empty() {
        let more = reasons.len().saturating_sub(TOLD);
        reasons.truncate(TOLD);
        if more > 0 {
            reasons.push(format!("{more} more reasons are left out."));
        }
        return Verdict::Fail { reasons };
    }
    if reached {
        return Verdict::Pass;
    }
    Verdict::Skip { why: skip(scope, nothing) }
}

fn skip(scope: &Scope, nothing: &[String]) -> String {
    if !nothing.is_empty() {
        let names = words::names(nothing.iter().map(String::as_str), 10);
        return format!("There is nothing to mutate in {names}.");
    }
    if scope.left_out.is_empty() {
        return "No production Java was changed.".to_owned();
    }
    let left: Vec<String> =
        scope.left_out.iter().map(|left| format!("{} ({})", left.file, left.why)).collect();
    format!("No changed class is a target: {}.", words::names(left.iter().map(String::as_str), 10))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::{LeftOut, Tally};
    use crate::source::RepoPath;

    fn judged(class: &str, killed: u64, survived: u64) -> Outcome {
        let tally = Tally { killed, survived, ..Tally::default() };
        let path = RepoPath::parse(&format!("src/main/java/{class}.java"));
        let score = ClassScore { package: "p".to_owned(), path, class: class.to_owned(), tally, floor: None };
        Outcome {
            judged: vec![Judged { score, survivors: Vec::new(), survivors_total: survived }],
            ..Outcome::default()
        }
    }

    fn report(outcomes: Vec<Outcome>) -> GateReport {
        conclude(&crate::gate::tests::settings(), &Scope::default(), outcomes, 7)
    }

    #[test]
    fn error_comes_before_fail_before_pass_before_skip() {
        let error = || Outcome::stopped(Stop::passing("No network.".to_owned(), "Wait."));
        let setup = || Outcome::stopped(Stop::setup("No Maven.".to_owned(), "Install it."));
        let fail = || Outcome::stopped(Stop::fail("Red.".to_owned()));
        let skip = || Outcome { nothing: vec!["I".to_owned()], ..Outcome::default() };
        let pass = || judged("A", 7, 3);
        let kind = |outcomes| match report(outcomes).verdict {
            Verdict::Pass => "pass",
            Verdict::Fail { .. } => "fail",
            Verdict::Skip { .. } => "skip",
            Verdict::Error { transient: true, .. } => "transient",
            Verdict::Error { .. } => "setup",
        };
        assert_eq!(kind(vec![pass(), skip(), fail(), error(), setup()]), "setup");
        assert_eq!(kind(vec![pass(), skip(), fail(), error()]), "transient");
        assert_eq!(kind(vec![pass(), skip(), fail()]), "fail");
        assert_eq!(kind(vec![pass(), judged("B", 6, 4)]), "fail");
        assert_eq!(kind(vec![pass(), skip()]), "pass");
        assert_eq!(kind(vec![skip()]), "skip");
        assert_eq!(kind(vec![]), "skip");
    }

    #[test]
    fn only_classes_below_the_threshold_fail_and_tell_their_survivors() {
        let report = report(vec![judged("Good", 9, 1), judged("Weak", 1, 9)]);
        assert_eq!(report.failing, ["p/src/main/java/Weak.java"]);
        assert_eq!(report.survivors_total, 9);
        assert_eq!(report.coverage.to_string(), "50% (10/20)");
        assert_eq!(report.classes.len(), 2);
    }

    #[test]
    fn a_skip_names_the_untested_classes() {
        let left = LeftOut {
            file: "p/src/main/java/A.java".to_owned(),
            why: "no test class stands for it".to_owned(),
        };
        let scope = Scope { left_out: vec![left], ..Scope::default() };
        let report = conclude(&crate::gate::tests::settings(), &scope, Vec::new(), 0);
        let why =
            "No changed class is a target: p/src/main/java/A.java (no test class stands for it).".to_owned();
        assert_eq!(report.verdict, Verdict::Skip { why });
    }
}
