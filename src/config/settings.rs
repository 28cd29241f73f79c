//! The settings with every default filled in.
//!
//! Owns: what the rest of the program may ask of the configuration.
//!
//! Promises: no option is left open where a default exists; durations and globs are checked.
//!
//! Refuses to know: where a value came from, YAML, the environment.

pub use crate::mutation::{NoCoverage, Per};
pub use crate::task::Placement;

use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Everything that `.ralph/config.yaml` can say, resolved (docs/design.md "Configuration").
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// The folder that holds `.ralph/`, absolute.
    pub workspace: PathBuf,
    /// The folder of `tasks.md`, absolute (config `spec:`).
    pub spec: PathBuf,
    /// Globs of package folders, relative to the workspace (config `packages:`, default `src/*`).
    pub packages: Vec<String>,
    /// True when `packages:` stands in the file (a workspace that is itself a repository reads it so).
    pub packages_given: bool,
    /// Patterns that tell test, production and build files apart (config `files:`).
    pub files: FileGlobs,
    /// Agents by name.
    pub agents: BTreeMap<String, AgentSettings>,
    /// The agent of each role; a role that is not listed uses `default`.
    pub roles: BTreeMap<Role, String>,
    /// Gates by name; `PITEST` is always there.
    pub gates: BTreeMap<String, GateSettings>,
    /// Commands that must fail (red) after TEST-FIRST and pass (green) after an implementation.
    pub checks: Checks,
    /// Limits of the run.
    pub limits: Limits,
    /// Commands to tell people: event name (`blocked`, `done`, `gate-fail`, `stop`) to argv.
    pub on: BTreeMap<String, Vec<String>>,
    /// Who commits what an agent left.
    pub commit: CommitBy,
    /// A task whose text matches may have nothing to commit (a `regex-lite` pattern).
    pub checkpoints: String,
    /// What an accepted implementation does to reviews that stand for other content.
    pub rework: ReworkReviews,
    /// What a blocked family does to the run.
    pub on_blocked: OnBlocked,
    /// Where the stages of a task come from.
    pub stages: StagesFrom,
    /// Where the boxes of gates stand, as far as somebody chose; by gate.
    pub placement: BTreeMap<String, Placement>,
    /// `tasks.sections`.
    pub sections: TaskSections,
}

impl Settings {
    /// Where each gate stands; one that nobody placed stands after every task.
    pub fn placed(&self) -> Vec<(String, Placement)> {
        let choice = |gate: &String| self.placement.get(gate).cloned().unwrap_or(Placement::Each);
        self.gates.keys().map(|gate| (gate.clone(), choice(gate))).collect()
    }
}

/// `tasks.sections`: texts of headings (globs, whatever their case) whose sections hold tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TaskSections {
    /// Only sections below a heading that one of these matches hold tasks; none means all.
    pub include: Vec<String>,
    /// Sections below a heading that one of these matches hold no tasks.
    pub exclude: Vec<String>,
}

/// Patterns by kind of file; a path is a test file first, then a build file, then a production file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileGlobs {
    /// Test files.
    pub test: Vec<String>,
    /// Production files.
    pub production: Vec<String>,
    /// Build files.
    pub build: Vec<String>,
}

/// Who does what: the role of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// TEST-FIRST.
    TestWriter,
    /// Implementation.
    Worker,
    /// REQ-CHECK.
    ReqReviewer,
    /// PRE-CR.
    QualityReviewer,
    /// INTEG.
    IntegrationTester,
    /// FINAL.
    Validator,
}

/// How to start an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AgentSettings {
    /// The argument vector (a preset's, or the configured one); may hold `{prompt_file}`, `{task}`,
    /// `{stage}`, `{role}`, `{workspace}`.
    pub command: Vec<String>,
    /// Extra environment.
    pub env: BTreeMap<String, String>,
    /// The preset's name, if one was used.
    pub preset: Option<String>,
}

/// How a gate judges.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateSettings {
    /// The kind of judge.
    pub engine: GateEngine,
    /// Per cent, 0 to 100 (default 70).
    pub threshold: u32,
    /// The unit that must reach the threshold.
    pub per: Per,
    /// What a mutant is that no test reaches.
    pub no_coverage: NoCoverage,
    /// Modules at a time, and PIT's threads; 0: one per processor.
    pub jobs: usize,
    /// Arguments for each call of Maven.
    pub maven_args: Vec<String>,
    /// Wall limit of the whole gate.
    pub limit: Duration,
    /// PIT's version.
    pub pit_version: String,
    /// Which tests are asked, and in which order.
    pub tests: TestTiers,
    /// Which mutants count.
    pub scope: ScopeKind,
    /// Where the gate compiles and runs (key `where`).
    pub place: Place,
    /// Who compiles when only Java files changed.
    pub recompile: Recompile,
    /// Files that git ignores and a clean checkout needs all the same, as globs in the package.
    pub keep: Vec<String>,
    /// Names of the test classes of `Foo`, with `{}` for `Foo` (Surefire's default names).
    pub test_names: Vec<String>,
    /// Arguments for the JVMs in which tests run, beside the project's own.
    pub jvm_args: Vec<String>,
}

/// Which tests a gate asks (docs/design.md "Mutation engines").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestTiers {
    /// The target's own tests, for what they leave those that reach it, for what is left all.
    OwnFirst,
    /// All at once.
    All,
    /// Own ones, then those that reach the target by the references in their class files; no others.
    Reachable,
    /// Own ones only.
    Own,
}

/// Which mutants of a target count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScopeKind {
    /// Those of the whole class.
    Class,
    /// Those on lines that the family changed.
    Lines,
    /// A new class whole; an existing one by lines, and not below the score that it had at the base.
    Auto,
}

/// Where a gate compiles and runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// In a private checkout of the commit.
    Clean,
    /// In the package's own work tree.
    InPlace,
}

/// Who compiles when only Java files changed since a build that stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recompile {
    /// The JDK's compiler where Maven's build of the module does nothing but copy resources and compile.
    Auto,
    /// The JDK's compiler, whatever other goals there are: they do not run then.
    Javac,
    /// Maven.
    Maven,
}

/// The kind of judge that a gate is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GateEngine {
    /// PIT, run directly.
    Direct,
    /// The POM's own pitest-maven plugin.
    Maven,
    /// A command: 0 PASS, 1 FAIL, 77 SKIP, else ERROR.
    Command(Vec<String>),
}

/// Commands that every changed package must answer to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Checks {
    /// Must fail after TEST-FIRST.
    pub red: Option<Vec<String>>,
    /// Must pass after an implementation, and for a checkpoint.
    pub green: Option<Vec<String>>,
}

/// Limits; `None` is no limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// Iterations of one run.
    pub iterations: Option<u64>,
    /// Attempts in a row for one stage (default 3).
    pub attempts: u32,
    /// Reworks of one family (default 5).
    pub rework: u32,
    /// Wall time of one run (default 24 h).
    pub wall: Duration,
    /// Wall time of one attempt (default 60 min).
    pub attempt: Duration,
    /// Time without a byte of output.
    pub idle: Option<Duration>,
    /// Wall time of one check (10 min).
    pub check: Duration,
}

/// Who commits what an agent left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommitBy {
    /// The agent.
    Agent,
    /// Ralph, under the task's text.
    Ralph,
}

/// What an accepted implementation does to ticked reviews that stand for other content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReworkReviews {
    /// Opens them.
    ReopenReviews,
    /// Leaves them.
    KeepReviews,
}

/// What a blocked family does to the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnBlocked {
    /// Stops it.
    Stop,
    /// Goes on with the next family.
    Next,
}

/// Where the stages of a task come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StagesFrom {
    /// The lines of the task file.
    File,
    /// Nowhere in the file: each task goes through the default stages, and its box is ticked with the last.
    Virtual,
}
