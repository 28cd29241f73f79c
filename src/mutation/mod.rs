//! Mutants, scores and verdicts, for any engine.
//!
//! An unmeasured unit never passes. More survivors never raise a score. Scores are compared as integers and printed
//! rounded down.

mod joined;
mod rule;
mod survivors;
#[cfg(test)]
mod tests;

pub use rule::{NoCoverage, Per, Rule, RuleOutcome};
pub use survivors::{SURVIVORS_SHOWN, Survivor, rank};

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Advice in the reason of a FAIL: the worker's next action for survivors.
pub const WHAT_TO_DO: &str = "For each survivor, add an assertion that fails when its line is changed like that, in a test that reaches the line; leave production code alone.";

/// The result of one mutant, in PIT's words (pitest `DetectionStatus`).
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
    /// The JVM refused the class: not counted.
    NonViable,
    /// The child JVM ran out of memory: no verdict on the mutant.
    MemoryError,
    /// The child JVM died for another reason: no verdict on the mutant.
    RunError,
    /// Marked equivalent by a plugin: not counted.
    Equivalent,
    /// Survived in code that may run only while its class is initialised: no verdict on the mutant.
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
    pub line: u32,
    /// Method name, `<init>` for a constructor.
    pub method: String,
    /// Last segment of the mutator's class, without `Mutator`.
    pub mutator: String,
    /// The mutation in the engine's words, without control characters.
    pub description: String,
    pub status: MutantStatus,
    /// The engine's own name for it; empty without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
}

impl Mutant {
    /// Returns its name: the engine's, otherwise its position and kind.
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
    pub killed: u64,
    pub survived: u64,
    pub no_coverage: u64,
    pub timed_out: u64,
    pub non_viable: u64,
    /// `MEMORY_ERROR` and `RUN_ERROR`.
    pub errors: u64,
    pub equivalent: u64,
    /// Survivors in code that may run only while its class is initialised.
    #[serde(skip_serializing_if = "is_zero")]
    pub unjudged: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Killed mutants out of all that count.
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
    /// Dotted name of the top-level class, or the path if an engine mutates files.
    pub class: String,
    /// The mutants that count, by status.
    pub tally: Tally,
    /// The score that the whole class must keep, if `tally` counts only its changed lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Floor>,
}

impl ClassScore {
    /// Returns `class a.Foo`, or `file src/a.ts` if an engine mutates files.
    fn unit(&self) -> String {
        let word = if self.class == self.path.to_text() {
            "file"
        } else {
            "class"
        };
        format!("{word} {}", self.class)
    }
}

/// The previous and current score of a class (config `scope: auto`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Floor {
    /// All its current mutants, by status.
    pub whole: Tally,
    /// Its score at the base of the task.
    pub base: Coverage,
}

/// The final verdict of a gate (docs/design.md "Verdict").
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// Every target reached the threshold.
    Pass,
    /// A target did not, or a test or the build fails. `reasons` are whole sentences.
    Fail {
        /// The reasons, one sentence each.
        reasons: Vec<String>,
    },
    /// There was nothing to judge.
    Skip {
        /// The reason, one sentence.
        why: String,
    },
    /// No verdict was possible.
    Error {
        /// The reason, one sentence.
        why: String,
        /// The next action for a user.
        hint: String,
        /// True if it may pass by itself (network, time-out, disk), false for a wrong set-up.
        transient: bool,
    },
}

impl Verdict {
    /// Returns `PASS`, `FAIL`, `SKIP` or `ERROR`.
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
    /// Returns an ERROR, because nothing is known.
    fn default() -> Self {
        Self::Error {
            why: String::new(),
            hint: String::new(),
            transient: false,
        }
    }
}

/// The complete report of a gate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateReport {
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Scores of the target classes, by package and class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<ClassScore>,
    /// The score over all target classes.
    #[serde(default)]
    pub coverage: Coverage,
    /// At most 20 survivors of classes below the threshold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<Survivor>,
    /// The number of all survivors.
    #[serde(default)]
    pub survivors_total: u64,
    /// Changed files that were not judged, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<ExcludedFile>,
    /// Notes in addition to the verdict: failing tests elsewhere, a repeated run.
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
    /// The steps to the verdict, for `ralph gate --explain`.
    #[serde(default, skip_serializing_if = "Trace::is_empty")]
    pub trace: Trace,
}

/// The steps to a verdict: phases, tiers, cache hits. Bounded, and without influence on decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trace {
    /// The phases, in order.
    pub phases: Vec<TracePhase>,
    /// Runs of the mutation engine, in order.
    pub tiers: Vec<TraceTier>,
}

impl Trace {
    /// True if nothing was traced.
    pub fn is_empty(&self) -> bool {
        self.phases.is_empty() && self.tiers.is_empty()
    }
}

/// One step of a gate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracePhase {
    /// The module, `<package>/<directory>`, `.` for the workspace itself; empty for the gate as a whole.
    pub module: String,
    /// The name of the step: `checkout`, `compile`, `resolve` …
    pub name: String,
    /// Wall time, milliseconds.
    pub millis: u64,
    /// A note on the step: `the class path was kept`, `nothing had changed`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// One run of the mutation engine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceTier {
    /// The module, `<package>/<directory>`; `.` for the workspace itself.
    pub module: String,
    /// `own`, `near`, `touching`, `all`, `alone` or `base`.
    pub name: String,
    /// The engine and its platform with their versions: `PIT 1.25.9 on JDK 17.0.15`. Empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub engine: String,
    /// The reason for the run, or its result, as a phrase.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Test classes that were run, at most 20.
    pub tests: Vec<String>,
    /// Number of test classes that were run.
    pub tests_total: u64,
    /// Number of mutants tried.
    pub mutants: u64,
    /// Number of mutants killed in this run (time-outs included).
    pub killed: u64,
    /// Number of time-outs among the killed.
    pub timed_out: u64,
    /// Wall time of the tests without mutation, in milliseconds; 0 if the engine does not report it.
    pub coverage_millis: u64,
    /// PIT's time-out constant, milliseconds.
    pub timeout_millis: u64,
    /// Wall time of the run, milliseconds.
    pub millis: u64,
}

impl GateReport {
    /// Returns the engines that measured, with their versions; empty if there was none or none is known.
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

    /// Returns the number of survivors that the report does not list.
    pub fn survivors_hidden(&self) -> u64 {
        self.survivors_total
            .saturating_sub(self.survivors.len() as u64)
    }
}

/// A changed file that a gate left out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ExcludedFile {
    /// `<package>/<path>`.
    pub file: String,
    /// The reason, as a phrase such as `no test class belongs to it`.
    pub why: String,
}

impl From<Verdict> for GateReport {
    /// Builds a report that holds only a verdict.
    fn from(verdict: Verdict) -> Self {
        Self {
            verdict,
            ..Self::default()
        }
    }
}
