//! The settings as serde structs: every key of `.ralph/config.yaml` with its format; their comments are the
//! descriptions in the JSON Schema, so they address those who write the file.

pub use crate::mutation::{NoCoverage, Per};
pub use crate::task::Placement;

use super::formats::{
    Argv, As, Folder, Glob, Heading, Many, Nullable, TaskPattern, TestName, Text, Variable, Version, Whole,
};
use super::schema;
use super::time::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Every key may be left out. `ralph check` knows more than a schema can say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "Settings of ralph (.ralph/config.yaml)")]
pub struct Settings {
    /// The folder that holds `.ralph/`, absolute.
    #[serde(skip)]
    pub workspace: PathBuf,
    /// The folder of requirements.md, design.md, tasks.md and progress.txt.
    #[serde(with = "As::<Folder>")]
    pub spec: PathBuf,
    /// Folders of the packages (git repositories) in the workspace.
    #[serde(with = "As::<Many<Glob, 1>>")]
    pub packages: Vec<String>,
    /// True if the file has `packages:` (a workspace that is itself a repository reads it so).
    #[serde(skip)]
    pub packages_given: bool,
    /// Patterns that tell test, production and build files apart.
    pub files: FileGlobs,
    /// How each agent is started, by its name.
    #[schemars(extend("propertyNames" = { "pattern": "^[A-Za-z0-9._-]+$" }))]
    pub agents: BTreeMap<String, AgentSettings>,
    /// Which agent does which role.
    pub roles: Roles,
    /// Judges that ralph runs itself, by their name.
    #[schemars(transform = schema::of_gates)]
    pub gates: BTreeMap<String, GateSettings>,
    /// Commands that are run in every changed package.
    pub checks: Checks,
    /// Where ralph stops.
    pub limits: Limits,
    /// Commands that notify people: they find the event as JSON on standard input.
    pub hooks: Hooks,
    /// Who commits what an attempt left.
    pub commit: CommitBy,
    /// Tasks whose text matches may have nothing to commit: a regular expression in Rust's syntax.
    #[serde(with = "As::<TaskPattern>")]
    pub checkpoints: String,
    /// What happens to reviews when the code under them changes.
    pub rework: ReworkReviews,
    /// What a blocked family does to the run.
    pub on_blocked: OnBlocked,
    /// Where the stages of a task come from.
    pub stages: StagesFrom,
    /// Where the boxes of each gate go.
    #[schemars(transform = schema::gate_names)]
    pub placement: BTreeMap<String, Placement>,
    /// How the task file is read.
    pub tasks: TaskSettings,
}

/// How the task file is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TaskSettings {
    /// Which sections hold tasks, by the text of their heading.
    pub sections: TaskSections,
}

/// Texts of headings (globs, whatever their case) whose sections hold tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TaskSections {
    /// Only these hold tasks, if any is named.
    #[serde(with = "As::<Many<Heading>>")]
    pub include: Vec<String>,
    /// These hold none.
    #[serde(with = "As::<Many<Heading>>")]
    pub exclude: Vec<String>,
}

/// Patterns by kind of file; a path is a test file first, then a build file, then a production file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FileGlobs {
    /// Test files; a path is a test file first.
    #[serde(with = "As::<Many<Glob, 1>>")]
    pub test: Vec<String>,
    /// Production files.
    #[serde(with = "As::<Many<Glob, 1>>")]
    pub production: Vec<String>,
    /// Build files; these come before production files.
    #[serde(with = "As::<Many<Glob>>")]
    pub build: Vec<String>,
}

/// The agent of each role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Roles {
    /// The agent of N.TEST-FIRST.
    #[serde(with = "As::<Text>")]
    pub test_writer: String,
    /// The agent of the implementation, N.
    #[serde(with = "As::<Text>")]
    pub worker: String,
    /// The agent of N.REQ-CHECK.
    #[serde(with = "As::<Text>")]
    pub req_reviewer: String,
    /// The agent of N.PRE-CR.
    #[serde(with = "As::<Text>")]
    pub quality_reviewer: String,
    /// The agent of N.INTEG.
    #[serde(with = "As::<Text>")]
    pub integration_tester: String,
    /// The agent of FINAL.
    #[serde(with = "As::<Text>")]
    pub validator: String,
}

/// How to start an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "AgentKeys")]
#[schemars(!try_from, with = "AgentKeys")]
pub struct AgentSettings {
    /// The argument vector (a preset's, or the configured one); may hold `{prompt_file}`, `{task}`,
    /// `{stage}`, `{role}`, `{workspace}`.
    pub command: Vec<String>,
    /// Extra environment.
    pub env: BTreeMap<String, String>,
    /// The preset's name, if one was used.
    pub preset: Option<String>,
}

/// An agent as the file describes it: by a command or by a preset.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = schema::of_agent)]
pub(super) struct AgentKeys {
    /// Program and arguments; the prompt is its standard input.
    #[serde(deserialize_with = "As::<Nullable<Argv>>::deserialize")]
    #[schemars(with = "As<Argv>")]
    pub(super) command: Option<Vec<String>>,
    /// A known agent CLI.
    #[serde(deserialize_with = "As::<Nullable<Text>>::deserialize")]
    #[schemars(with = "As<Text>", extend("enum" = schema::presets()))]
    pub(super) preset: Option<String>,
    /// Arguments added to those of the preset.
    #[serde(deserialize_with = "As::<Nullable<Many<Text>>>::deserialize")]
    #[schemars(with = "As<Many<Text>>")]
    pub(super) args: Option<Vec<String>>,
    /// Variables of its environment.
    #[schemars(transform = schema::variable_names)]
    pub(super) env: BTreeMap<String, VariableValue>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct VariableValue(
    #[serde(deserialize_with = "As::<Variable>::deserialize")]
    #[schemars(with = "As<Variable>")]
    pub(super) String,
);

/// How a gate judges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GateSettings {
    /// Program and arguments of a gate that is a command: exit 0 PASS, 1 FAIL, 77 SKIP, else ERROR.
    #[serde(with = "As::<Nullable<Argv>>", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "As<Argv>")]
    pub run: Option<Vec<String>>,
    /// Per cent of mutants that must be killed.
    #[serde(with = "As::<Whole<u32, 0, 100>>")]
    pub threshold: u32,
    /// What must reach the threshold.
    pub per: Per,
    /// What a mutant is that no test reaches.
    pub no_coverage: NoCoverage,
    /// direct, or the POM's own pitest-maven.
    pub engine: GateEngine,
    /// Threads; 0 is one per processor.
    #[serde(with = "As::<Whole<usize, 0, 1024>>")]
    pub jobs: usize,
    /// Arguments added to each call of Maven.
    #[serde(with = "As::<Many<Text>>")]
    pub maven_args: Vec<String>,
    /// Wall limit of the whole gate.
    #[serde(with = "As::<Time>")]
    pub limit: Duration,
    /// PIT's version.
    #[serde(with = "As::<Version>")]
    pub pit_version: String,
    /// Which tests must kill the mutants, in which order.
    pub tests: TestTiers,
    /// Names of the test classes of a class, which is {} in them.
    #[serde(with = "As::<Many<TestName, 1>>")]
    pub test_names: Vec<String>,
    /// Which mutants of a class count.
    pub scope: ScopeKind,
    /// A private checkout of the commit, or the package's own folder.
    #[serde(rename = "where")]
    pub place: Place,
    /// Who compiles when only Java files changed.
    pub recompile: Recompile,
    /// Files that git ignores and a clean checkout needs, as globs in the package.
    #[serde(with = "As::<Many<Glob>>")]
    pub keep: Vec<String>,
    /// Arguments added to the JVMs that run tests.
    #[serde(with = "As::<Many<Text>>")]
    pub jvm_args: Vec<String>,
}

/// Which tests a gate asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// In a private checkout of the commit.
    Clean,
    /// In the package's own work tree.
    InPlace,
}

/// Who compiles when only Java files changed since the last build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recompile {
    /// The JDK's compiler if Maven's build of the module does nothing but copy resources and compile.
    Auto,
    /// The JDK's compiler, whatever other goals there are: they do not run then.
    Javac,
    /// Maven.
    Maven,
}

/// How a gate that is not a command measures mutants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateEngine {
    /// PIT, run directly.
    Direct,
    /// The POM's own pitest-maven plugin.
    Maven,
}

/// Commands that every changed package must answer to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Checks {
    /// Must fail after TEST-FIRST.
    #[serde(with = "As::<Nullable<Argv>>")]
    pub red: Option<Vec<String>>,
    /// Must pass after an implementation, and for a checkpoint.
    #[serde(with = "As::<Nullable<Argv>>")]
    pub green: Option<Vec<String>>,
}

/// Limits; `None` is no limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Iterations of one run.
    #[serde(with = "As::<Nullable<Whole<u64, 1, { u64::MAX }>>>")]
    pub iterations: Option<u64>,
    /// Attempts in a row for one stage.
    #[serde(with = "As::<Whole<u32, 1, 1000>>")]
    pub attempts: u32,
    /// Reworks of one family.
    #[serde(with = "As::<Whole<u32, 0, 1000>>")]
    pub rework: u32,
    /// Wall time of one run.
    #[serde(with = "As::<Time>")]
    pub wall: Duration,
    /// Wall time of one attempt.
    #[serde(with = "As::<Time>")]
    pub attempt: Duration,
    /// Time of an attempt without a byte of output.
    #[serde(with = "As::<Nullable<Time>>")]
    pub idle: Option<Duration>,
    /// Wall time of one check.
    #[serde(with = "As::<Time>")]
    pub check: Duration,
}

/// Commands that notify people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Hooks {
    /// A family is blocked.
    #[serde(with = "As::<Nullable<Argv>>")]
    pub blocked: Option<Vec<String>>,
    /// All required boxes are ticked.
    #[serde(with = "As::<Nullable<Argv>>")]
    pub done: Option<Vec<String>>,
    /// A gate said FAIL.
    #[serde(with = "As::<Nullable<Argv>>")]
    pub gate_fail: Option<Vec<String>>,
    /// The run stopped, for whatever reason.
    #[serde(with = "As::<Nullable<Argv>>")]
    pub stop: Option<Vec<String>>,
}

/// Who commits what an agent left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CommitBy {
    /// The agent.
    Agent,
    /// Ralph, under the task's text.
    Ralph,
}

/// What an accepted implementation does to ticked reviews of other content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReworkReviews {
    /// Opens them.
    ReopenReviews,
    /// Leaves them.
    KeepReviews,
}

/// What a blocked family does to the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnBlocked {
    /// Stops it.
    Stop,
    /// Goes on with the next family.
    Next,
}

/// Where the stages of a task come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StagesFrom {
    /// The lines of the task file.
    File,
    /// Nowhere in the file: each task goes through the default stages, and its box is ticked with the last.
    Virtual,
}
