//! Mutants, scores and verdicts, whatever engine made them.
//!
//! Nothing seen is never a pass; more survivors never raise a score; scores are compared as
//! integers and printed rounded down.

mod joined;
mod rule;
mod survivors;
#[cfg(test)]
mod tests;

pub use rule::{NoCoverage, Per, Rule, RuleOutcome};
pub use survivors::{SURVIVORS_SHOWN, Survivor, rank};

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The reason of a FAIL that is advice: what the worker is to do about survivors.
pub const WHAT_TO_DO: &str = "For each survivor, add an assertion that fails when its line is changed like that, in a test that reaches the line; leave production code alone.";

/// What became of one mutant, in PIT's words (pitest `DetectionStatus`).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MutantStatus {
    /// A test failed: killed.
    Killed,
    /// All covering tests passed: a survivor.
    Survived,
    /// No test reaches it: a survivor, unless `no_coverage: ignore`.
    NoCoverage,
    /// The tests did not end in time: counts as killed.
    TimedOut,
    /// The JVM refused the class: counts nowhere.
    NonViable,
    /// The child JVM ran out of memory: no verdict on the mutant.
    MemoryError,
    /// The child JVM died for another reason: no verdict on the mutant.
    RunError,
    /// Marked equivalent by a plugin: counts nowhere.
    Equivalent,
    /// Lived in code that may run only while its class is initialised: no verdict on the mutant.
    #[default]
    Unjudged,
}

/// One mutant of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Mutant {
    /// Dotted name of the mutated class, `$` for nested ones.
    pub class: String,
    /// Bare name of the source file.
    pub file: String,
    /// 1-based line.
    pub line: u32,
    /// Method name, `<init>` for a constructor.
    pub method: String,
    /// Last segment of the mutator's class, without `Mutator`.
    pub mutator: String,
    /// What the mutator did, in the engine's words; control characters removed.
    pub description: String,
    /// What became of it.
    pub status: MutantStatus,
    /// The engine's own name of it; empty where it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
}

impl Mutant {
    /// What it is called: by its engine, else by its place and kind.
    pub fn name(&self) -> String {
        let Self {
            class,
            method,
            line,
            mutator,
            id,
            ..
        } = self;
        if id.is_empty() {
            format!("{class}.{method}:{line} {mutator}")
        } else {
            id.clone()
        }
    }
}

/// Mutants counted by status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// KILLED.
    pub killed: u64,
    /// SURVIVED.
    pub survived: u64,
    /// `NO_COVERAGE`.
    pub no_coverage: u64,
    /// `TIMED_OUT`.
    pub timed_out: u64,
    /// `NON_VIABLE`.
    pub non_viable: u64,
    /// `MEMORY_ERROR` and `RUN_ERROR`.
    pub errors: u64,
    /// EQUIVALENT.
    pub equivalent: u64,
    /// Code that may run only while its class is initialised.
    #[serde(skip_serializing_if = "is_zero")]
    pub unjudged: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// How many of how many mutants were killed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    /// Killed mutants (time-outs included).
    pub killed: u64,
    /// Killed and survived mutants.
    pub total: u64,
}

/// The score of one target class (nested classes added to it).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassScore {
    /// The package (production unit) of the class.
    pub package: String,
    /// Path of the source file in the package.
    pub path: crate::source::RepoPath,
    /// Dotted name of the top-level class; the path where an engine mutates files.
    pub class: String,
    /// The mutants that count, by status.
    pub tally: Tally,
    /// The score that the class as a whole must keep, when `tally` counts its changed lines only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Floor>,
}

impl ClassScore {
    /// `class a.Foo`; `file src/a.ts` where an engine mutates files.
    fn unit(&self) -> String {
        let word = if self.class == self.path.to_text() {
            "file"
        } else {
            "class"
        };
        format!("{word} {}", self.class)
    }
}

/// The score that a class had, and has (config `scope: auto`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Floor {
    /// All its mutants now, by status.
    pub whole: Tally,
    /// Its coverage at the family's base.
    pub base: Coverage,
}

/// What a gate says in the end (docs/design.md "Verdict").
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// Every target reached the threshold.
    Pass,
    /// A target did not, or a test or the build fails; `reasons` are whole sentences.
    Fail {
        /// Why, one sentence each.
        reasons: Vec<String>,
    },
    /// There was nothing to judge.
    Skip {
        /// Why, one sentence.
        why: String,
    },
    /// No verdict was possible.
    Error {
        /// Why, one sentence.
        why: String,
        /// The next action for a person.
        hint: String,
        /// True when it may pass by itself (network, time-out, disk); false for a wrong set-up.
        transient: bool,
    },
}

impl Verdict {
    /// `PASS`, `FAIL`, `SKIP` or `ERROR`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail { .. } => "FAIL",
            Self::Skip { .. } => "SKIP",
            Self::Error { .. } => "ERROR",
        }
    }
}

impl Default for Verdict {
    /// Nothing is known.
    fn default() -> Self {
        Self::Error {
            why: String::new(),
            hint: String::new(),
            transient: false,
        }
    }
}

/// Everything that a gate reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateReport {
    /// PASS, FAIL, SKIP or ERROR.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Scores of the target classes, by package and class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassScore>,
    /// The coverage over all target classes.
    #[serde(default)]
    pub coverage: Coverage,
    /// At most 20 survivors of classes below the threshold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<Survivor>,
    /// How many survivors there are in all.
    #[serde(default)]
    pub survivors_total: u64,
    /// Changed files that were not judged, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Facts beside the verdict: failing tests elsewhere, a repeated run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The kept HTML report, relative to the workspace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<String>,
    /// Targets that need rework when the verdict is FAIL: `<package>/<path>` of each failing class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<String>,
    /// Wall time of the gate, milliseconds.
    #[serde(default)]
    pub millis: u64,
    /// How the verdict was reached: for `ralph gate --explain`.
    #[serde(default, skip_serializing_if = "Trace::is_empty")]
    pub trace: Trace,
}

/// How a verdict was reached: phases, tiers, what was cached. Bounded; nothing is decided from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trace {
    /// What was done, in order.
    pub phases: Vec<TracePhase>,
    /// Runs of the mutation engine, in order.
    pub tiers: Vec<TraceTier>,
}

impl Trace {
    /// True when nothing was traced.
    pub fn is_empty(&self) -> bool {
        self.phases.is_empty() && self.tiers.is_empty()
    }
}

/// One thing that a gate did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracePhase {
    /// The module, `<package>/<folder>`; empty for the gate as a whole.
    pub module: String,
    /// What was done: `checkout`, `compile`, `resolve` …
    pub name: String,
    /// Wall time, milliseconds.
    pub millis: u64,
    /// What is worth knowing beside it: `the class path was kept`, `nothing had changed`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// One run of the mutation engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceTier {
    /// The module, `<package>/<folder>`.
    pub module: String,
    /// `own`, `near`, `touching`, `all`, `alone` or `base`.
    pub name: String,
    /// The engine and what it runs on, with their versions: `PIT 1.25.9 on JDK 17.0.15`; empty if that is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub engine: String,
    /// Why it was run, or what came of it; a phrase.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The test classes asked, at most 20 of them.
    pub tests: Vec<String>,
    /// How many test classes were asked.
    pub tests_total: u64,
    /// Mutants that were tried.
    pub mutants: u64,
    /// Those killed in this run (time-outs included).
    pub killed: u64,
    /// Time-outs among the killed.
    pub timed_out: u64,
    /// Wall time of the tests without mutation, milliseconds; 0 when the engine does not say.
    pub coverage_millis: u64,
    /// PIT's time-out constant, milliseconds.
    pub timeout_millis: u64,
    /// Wall time of the run, milliseconds.
    pub millis: u64,
}

impl GateReport {
    /// The engines that measured, with their versions; empty if none did, or none is known.
    pub fn engines(&self) -> String {
        let engines: BTreeSet<&str> = self
            .trace
            .tiers
            .iter()
            .map(|tier| tier.engine.as_str())
            .collect();
        engines
            .into_iter()
            .filter(|engine| !engine.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// How many survivors there are besides those that the report holds.
    pub fn survivors_hidden(&self) -> u64 {
        self.survivors_total
            .saturating_sub(self.survivors.len() as u64)
    }
}

/// A changed file that a gate left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeftOut {
    /// `<package>/<path>`.
    pub file: String,
    /// Why it was not judged, a phrase such as `no test class belongs to it`.
    pub why: String,
}

impl From<Verdict> for GateReport {
    /// A report that holds a verdict and nothing else.
    fn from(verdict: Verdict) -> Self {
        Self {
            verdict,
            ..Self::default()
        }
    }
}
