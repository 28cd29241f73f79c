//! From the results of the modules to the verdict of the gate.
//!
//! Pure; a target that was not judged is never part of a pass; what is reported is bounded.

use crate::config::GateSettings;
use crate::gate::scope::{GateScope, TargetClass};
use crate::gate::{GateAbort, GatePackage, score_rule};
use crate::machine::facts::full_path;
use crate::mutation::{
    ClassScore, Coverage, GateReport, MutantStatus, Survivor, Trace, Verdict, WHAT_TO_DO, rank,
};
use crate::report::standard::{ReportedFile, ReportedMutant};
use crate::source::text;
use std::collections::BTreeSet;
use std::time::Duration;

/// Reasons and remarks in a report.
const TOLD: usize = 40;
/// Tests that are named for a survivor.
pub(crate) const TESTS_NAMED: usize = 5;
/// Bytes that are read of a source file.
pub(crate) const MAX_SOURCE: u64 = 4 << 20;

#[derive(Clone, Debug)]
pub(crate) struct JudgedClass {
    pub(crate) score: ClassScore,
    /// Survivors that were kept.
    pub(crate) survivors: Vec<Survivor>,
    /// Its file with all its mutants, for the standard report.
    pub(crate) file: ReportedFile,
}

impl JudgedClass {
    /// A target with its mutants, as far as they are kept, and the text of its source.
    pub(crate) fn new(
        target: &TargetClass,
        package: &GatePackage,
        score: ClassScore,
        mutants: Vec<ReportedMutant>,
        source: String,
    ) -> Self {
        let lines: Vec<&str> = source.lines().collect();
        let mut survivors = Vec::new();
        for reported in &mutants {
            let mutant = &reported.mutant;
            if !matches!(
                mutant.status,
                MutantStatus::Survived | MutantStatus::NoCoverage
            ) {
                continue;
            }
            let index = (mutant.line as usize).checked_sub(1);
            let line = index.and_then(|index| lines.get(index));
            survivors.push(Survivor {
                package: target.package.clone(),
                path: Some(target.path.clone()),
                source: line.map(|line| text::line(line, 160)).unwrap_or_default(),
                changed: target.has_changed(package, &mutant.file, mutant.line),
                tests: reported.tests.iter().take(TESTS_NAMED).cloned().collect(),
                tests_total: reported.tests_total,
                ..Survivor::from(mutant.clone())
            });
        }
        Self {
            score,
            survivors,
            file: ReportedFile {
                path: target.full_path(),
                mutants,
                source,
            },
        }
    }

    /// Returns the number of survivors, with those that were not kept.
    fn survivors_total(&self) -> u64 {
        let whole = self
            .score
            .floor
            .as_ref()
            .map_or(&self.score.tally, |floor| &floor.whole);
        whole.survived + whole.no_coverage
    }
}

/// The result of one module.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModuleResult {
    /// Classes with mutants.
    pub(crate) judged: Vec<JudgedClass>,
    /// Targets with nothing to mutate, by name.
    pub(crate) nothing: BTreeSet<String>,
    /// Failures and errors.
    pub(crate) aborts: Vec<GateAbort>,
    /// Targets that a failure among the aborts belongs to, `<package>/<path>`.
    pub(crate) failing: BTreeSet<String>,
    /// Remarks in addition to the verdict.
    pub(crate) remarks: Vec<String>,
    /// HTML reports, the first page of each; absolute paths.
    pub(crate) reports: Vec<String>,
    /// Record of the gate's steps.
    pub(crate) trace: Trace,
}

impl ModuleResult {
    /// Takes over what ended the judging of these targets.
    pub(crate) fn stop_targets(&mut self, abort: GateAbort, targets: &[TargetClass]) {
        if matches!(abort, GateAbort::Fail { .. }) {
            self.failing
                .extend(targets.iter().map(TargetClass::full_path));
        }
        self.aborts.push(abort);
    }

    /// Takes over another module's result; of equal remarks one stays.
    pub(crate) fn join_result(&mut self, other: Self) {
        self.judged.extend(other.judged);
        self.nothing.extend(other.nothing);
        self.aborts.extend(other.aborts);
        self.failing.extend(other.failing);
        let known = self.reports.clone();
        for remark in other.remarks {
            if !self.remarks.contains(&remark) {
                self.remarks.push(remark);
            }
        }
        self.reports.extend(
            other
                .reports
                .into_iter()
                .filter(|report| !known.contains(report)),
        );
        self.trace.phases.extend(other.trace.phases);
        self.trace.tiers.extend(other.trace.tiers);
    }
}

/// The result of an engine, module by module.
#[derive(Default)]
pub(crate) struct EngineResult {
    pub(crate) scope: GateScope,
    /// The results of the modules.
    pub(crate) results: Vec<ModuleResult>,
    /// The time that it took.
    pub(crate) used: Duration,
}

impl EngineResult {
    /// The gate's report over all modules.
    pub(crate) fn into_report(self, settings: &GateSettings) -> GateReport {
        let Self {
            scope,
            results,
            used,
        } = self;
        let mut all = ModuleResult {
            aborts: scope.aborts.clone(),
            ..ModuleResult::default()
        };
        for result in results {
            all.join_result(result);
        }
        all.judged.sort_by(|a, b| {
            (&a.score.package, &a.score.class).cmp(&(&b.score.package, &b.score.class))
        });
        let scores: Vec<ClassScore> = all
            .judged
            .iter()
            .map(|judged| judged.score.clone())
            .collect();
        let judgement = score_rule(settings).judge(&scores);
        for why in &judgement.unknown {
            all.aborts.push(GateAbort::setup(
            why.clone(),
            "See the engine's log in the gate's folder: an OutOfMemoryError needs gates.<NAME>.jvm_args: [-Xmx4g]; an agent of the build, tests or code may end the JVM.",
        ));
        }
        let weak: Vec<&JudgedClass> = judgement
            .failing
            .iter()
            .filter_map(|&index| all.judged.get(index))
            .collect();
        let survivors = rank(
            weak.iter()
                .flat_map(|judged| judged.survivors.iter().cloned()),
        );
        if !judgement.below.is_empty() {
            let action = (!survivors.is_empty()).then(|| WHAT_TO_DO.to_owned());
            all.aborts.push(GateAbort::Fail {
                reasons: judgement.below.into_iter().chain(action).collect(),
            });
        }
        let survivors_total = weak.iter().map(|judged| judged.survivors_total()).sum();
        let mut failing = all.failing.clone();
        failing.extend(
            weak.iter()
                .map(|judged| full_path(&judged.score.package, &judged.score.path)),
        );
        let verdict = decide_verdict(&all.aborts, judgement.reached > 0, &scope, &all.nothing);
        let fails = matches!(verdict, Verdict::Fail { .. });
        all.remarks.truncate(TOLD);
        all.reports.sort();
        GateReport {
            verdict,
            coverage: if scores.is_empty() {
                Coverage::default()
            } else {
                judgement.coverage
            },
            classes: scores,
            survivors,
            survivors_total,
            left_out: scope.left_out,
            remarks: all.remarks,
            reports: all.reports,
            failing: if fails {
                failing.into_iter().collect()
            } else {
                Vec::new()
            },
            millis: u64::try_from(used.as_millis()).unwrap_or(u64::MAX),
            trace: all.trace,
        }
    }
}

fn decide_verdict(
    aborts: &[GateAbort],
    reached: bool,
    scope: &GateScope,
    nothing: &BTreeSet<String>,
) -> Verdict {
    let mut errors = Vec::new();
    let mut reasons: Vec<String> = Vec::new();
    for abort in aborts {
        match abort {
            GateAbort::Fail { reasons: more } => reasons.extend(more.iter().cloned()),
            GateAbort::Error {
                why,
                hint,
                transient,
            } => errors.push((why, hint, *transient)),
        }
    }
    if let Some((_, hint, _)) = errors
        .iter()
        .find(|(_, _, transient)| !transient)
        .or_else(|| errors.first())
    {
        let mut whys: Vec<&str> = errors.iter().map(|(why, _, _)| why.as_str()).collect();
        whys.dedup();
        return Verdict::Error {
            why: text::line(&whys.join(" "), 2_000),
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
    Verdict::Skip {
        why: skip_reason(scope, nothing),
    }
}

fn skip_reason(scope: &GateScope, nothing: &BTreeSet<String>) -> String {
    let left = scope.left_out.iter();
    let left: Vec<String> = left
        .map(|left| format!("{} ({})", left.file, left.why))
        .collect();
    let names = text::names(nothing, 10);
    let files = text::names(&left, 10);
    match (nothing.is_empty(), left.is_empty()) {
        (true, true) => "No production code that this gate judges was changed.".to_owned(),
        (true, false) => format!("No changed class is a target: {files}."),
        (false, true) => format!("There is nothing to mutate in {names}."),
        (false, false) => format!("There is nothing to mutate in {names}. Not judged: {files}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::{ExcludedFile, Tally};
    use crate::source::RepoPath;

    fn judged(class: &str, killed: u64, survived: u64) -> ModuleResult {
        let tally = Tally {
            killed,
            survived,
            ..Tally::default()
        };
        let path = RepoPath::parse(&format!("src/main/java/{class}.java"));
        let score = ClassScore {
            package: "p".to_owned(),
            path,
            class: class.to_owned(),
            tally,
            floor: None,
        };
        ModuleResult {
            judged: vec![JudgedClass {
                score,
                survivors: Vec::new(),
                file: ReportedFile::default(),
            }],
            ..ModuleResult::default()
        }
    }

    fn report(results: Vec<ModuleResult>) -> GateReport {
        let judging = EngineResult {
            results,
            used: Duration::from_millis(7),
            ..EngineResult::default()
        };
        judging.into_report(&crate::gate::tests::settings())
    }

    #[test]
    fn error_comes_before_fail_before_pass_before_skip() {
        let stopped = |abort| ModuleResult {
            aborts: vec![abort],
            ..ModuleResult::default()
        };
        let error = || stopped(GateAbort::transient("No network.".to_owned(), "Wait."));
        let setup = || stopped(GateAbort::setup("No Maven.".to_owned(), "Install it."));
        let fail = || stopped(GateAbort::fail("Red.".to_owned()));
        let skip = || ModuleResult {
            nothing: BTreeSet::from(["I".to_owned()]),
            ..ModuleResult::default()
        };
        let pass = || judged("A", 7, 3);
        let kind = |results| match report(results).verdict {
            Verdict::Pass => "pass",
            Verdict::Fail { .. } => "fail",
            Verdict::Skip { .. } => "skip",
            Verdict::Error {
                transient: true, ..
            } => "transient",
            Verdict::Error { .. } => "setup",
        };
        assert_eq!(
            kind(vec![pass(), skip(), fail(), error(), setup()]),
            "setup"
        );
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
    fn a_fail_says_what_a_worker_does_about_its_survivors() {
        let reasons = |survivors: Vec<Survivor>| {
            let mut weak = judged("Weak", 1, 9);
            weak.judged[0].survivors = survivors;
            let Verdict::Fail { reasons } = report(vec![weak]).verdict else {
                panic!("no FAIL")
            };
            reasons
        };
        assert_eq!(reasons(Vec::new()).len(), 1);
        let mutant = crate::mutation::Mutant {
            class: "Weak".to_owned(),
            file: "Weak.java".to_owned(),
            line: 1,
            method: "a".to_owned(),
            mutator: "Math".to_owned(),
            description: String::new(),
            status: MutantStatus::NoCoverage,
            id: String::new(),
        };
        assert_eq!(reasons(vec![mutant.into()])[1], WHAT_TO_DO);
    }

    #[test]
    fn a_skip_names_the_untested_classes_also_beside_those_with_nothing_to_mutate() {
        let left = ExcludedFile {
            file: "p/src/main/java/A.java".to_owned(),
            why: "no test class belongs to it".to_owned(),
        };
        let scope = GateScope {
            left_out: vec![left],
            ..GateScope::default()
        };
        let skip = |nothing: &[&str]| {
            let nothing = nothing.iter().map(|class| (*class).to_owned()).collect();
            let engine = EngineResult {
                scope: scope.clone(),
                results: vec![ModuleResult {
                    nothing,
                    ..ModuleResult::default()
                }],
                ..EngineResult::default()
            };
            match engine.into_report(&crate::gate::tests::settings()).verdict {
                Verdict::Skip { why } => why,
                other => panic!("{other:?}"),
            }
        };
        let left = "p/src/main/java/A.java (no test class belongs to it).";
        assert_eq!(skip(&[]), format!("No changed class is a target: {left}"));
        let told = format!("There is nothing to mutate in B. Not judged: {left}");
        assert_eq!(skip(&["B"]), told);
    }
}
