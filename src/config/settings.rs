//! The settings as serde structs: every key of `.ralph/config.yaml`.
//!
//! The comments are descriptions in the JSON Schema, for authors of the file.

pub use super::limits::{Amount, BudgetSettings, Limits, Percent, QuotaSettings};
pub use crate::machine::policy::LaneTasks;
pub use crate::mutation::{NoCoverage, Per};
pub use crate::task::Placement;

use super::kinds::{
    argv, formats, gate_names, glob, heading, names, presets, roles, test_name, time, variable,
    variables,
};
use super::roles::Role;
use crate::turn::TranscriptFormat;
use jiff::fmt::serde::unsigned_duration::required;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_yaml::with::singleton_map_recursive;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Every key may be left out. `ralph check` knows more than a schema can say.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Settings of ralph (.ralph/config.yaml)")]
pub struct Settings {
    /// The folder that holds `.ralph/`, absolute.
    #[serde(skip)]
    pub workspace: PathBuf,
    /// The folder of requirements.md, design.md, tasks.md and progress.txt.
    #[schemars(with = "String", length(min = 1))]
    pub spec: PathBuf,
    /// Files of the spec that prompts contain and no attempt may write, as paths or patterns in the spec folder.
    #[schemars(extend("items" = glob()))]
    pub spec_files: Vec<String>,
    /// Folders of the packages (git repositories) in the workspace.
    #[schemars(length(min = 1), extend("items" = glob()))]
    pub packages: Vec<String>,
    /// True if the file has `packages:` (a workspace that is itself a repository reads it so).
    #[serde(skip)]
    pub packages_given: bool,
    /// Patterns that tell test, production and build files apart.
    pub files: FileGlobs,
    /// The agents, by name.
    #[schemars(extend("propertyNames" = names("^[A-Za-z0-9._-]+$", "letters, digits, `-`, `_` and `.`")))]
    pub agents: BTreeMap<String, AgentSettings>,
    /// The agent of each role.
    #[schemars(schema_with = "roles")]
    pub roles: BTreeMap<Role, String>,
    /// Judges that ralph runs itself, by their name.
    #[schemars(transform = gate_names)]
    pub gates: BTreeMap<String, GateSettings>,
    /// Commands that are run in every changed package.
    pub checks: Checks,
    /// Limits of a run, a task and an attempt.
    pub limits: Limits,
    /// Commands that notify people: they find the event as JSON on standard input.
    pub hooks: Hooks,
    /// Answers of tools to the agents of a loop.
    pub mcp: Mcp,
    /// The committer of an attempt's changes.
    pub commit: CommitBy,
    /// Tasks whose text matches may have nothing to commit: a regular expression in Rust's syntax.
    #[schemars(length(min = 1), extend("title" = "a regular expression that does not match every text", "format" = "task-pattern", "examples" = [r"(?i)\bcheckpoint\b|\[verify\]"]))]
    pub checkpoints: String,
    /// Effect of changed code on ticked reviews.
    pub rework: ReworkReviews,
    /// Effect of a blocked task on the run.
    pub on_blocked: OnBlocked,
    /// The effect of a used-up budget on the run.
    pub on_budget: OnBudget,
    /// Effect of a failed edit that was not repaired on its attempt.
    pub verifier: Verifier,
    /// Source of the stages of a task.
    pub stages: StagesFrom,
    /// Places of the boxes of each gate.
    #[serde(deserialize_with = "singleton_map_recursive::deserialize")]
    #[schemars(transform = gate_names)]
    pub placement: BTreeMap<String, Placement>,
    /// Reading of the task file.
    pub tasks: TaskSettings,
    /// Changes that attempts may not make.
    pub policy: AttemptPolicy,
    /// Workspaces of `ralph run --lanes N`.
    pub lanes: LaneSettings,
}

/// Workspaces of `ralph run --lanes N`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LaneSettings {
    /// The tasks that lanes may do ahead of their turn.
    pub take: LaneTasks,
    /// Checks and gates that run at the same time over your workspace and all lanes; 0 is no limit.
    #[schemars(range(min = 0, max = 64))]
    pub heavy: u32,
    /// Runs the loop of a lane in place of this program: by a batch system, over ssh, in a container. `{workspace}` is
    /// the directory of the lane, `{ids}` its tasks for `--only`, `{lane}` its number.
    #[schemars(schema_with = "argv")]
    pub command: Option<Vec<String>>,
    /// Prepares the workspace of a new lane; it runs once, before the agents.
    #[schemars(schema_with = "argv")]
    pub setup: Option<Vec<String>>,
    /// Files that git ignores and a lane needs, as patterns in the workspace.
    #[schemars(extend("items" = glob()))]
    pub copy: Vec<String>,
    /// Variables for all that runs in a lane; `{lane}` is its number, `{workspace}` its folder.
    #[schemars(transform = variables)]
    pub env: BTreeMap<String, serde_json::Value>,
}

/// Placeholders of `lanes.command`; the first is needed.
pub(super) const LANE_WORDS: [&str; 3] = ["{ids}", "{workspace}", "{lane}"];

impl LaneSettings {
    /// Returns `command:` for one lane, whose tasks are `ids` (as `--only` takes them); `None` without one.
    pub fn command_of(&self, lane: u32, workspace: &str, ids: &str) -> Option<Vec<String>> {
        let [of_ids, of_workspace, of_lane] = LANE_WORDS;
        let lane = lane.to_string();
        // The workspace is last: its path may hold any text.
        let fill = |text: &String| {
            text.replace(of_lane, &lane)
                .replace(of_ids, ids)
                .replace(of_workspace, workspace)
        };
        let command = self.command.as_ref()?;
        Some(command.iter().map(fill).collect())
    }

    /// Returns the variables of `env:` for one lane.
    pub fn variables_of(&self, lane: u32, workspace: &str) -> Vec<(String, String)> {
        let mut variables = Vec::new();
        for (name, value) in &self.env {
            let value = variable_text(value)
                .replace("{lane}", &lane.to_string())
                .replace("{workspace}", workspace);
            variables.push((name.clone(), value));
        }
        variables
    }
}

/// Returns the value of an environment variable, which the file may hold as text or as a number.
pub(super) fn variable_text(value: &serde_json::Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// Changes that attempts may not make.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AttemptPolicy {
    /// Files that an attempt may change only if its task's text has their path, from the package or the workspace, in
    /// backticks.
    #[schemars(extend("items" = glob()))]
    pub protected: Vec<String>,
    /// Files that instruct agents: no text of a task lets an attempt change them.
    #[schemars(extend("items" = glob()))]
    pub instructions: Vec<String>,
    /// Files that attempts may change although `protected`, `instructions`, or the command of a gate or check names them.
    #[schemars(extend("items" = glob()))]
    pub allow: Vec<String>,
    /// Effect on an attempt of the worker that changes build files or settings of test runners.
    pub build_files: BuildFiles,
}

/// Effect of changes to build files or settings of test runners on an attempt of the worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BuildFiles {
    /// progress.txt and the prompts of reviewers name it.
    #[default]
    Name,
    /// It rejects the attempt, unless the task's text has the path in backticks.
    Reject,
}

/// Reading of the task file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskSettings {
    /// Sections that contain tasks, by their headings.
    pub sections: TaskSections,
}

/// Texts of headings (globs, in any case) whose sections hold tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskSections {
    /// If set, only boxes in these sections are tasks.
    #[schemars(extend("items" = heading()))]
    pub include: Vec<String>,
    /// Boxes in these sections are not tasks.
    #[schemars(extend("items" = heading()))]
    pub exclude: Vec<String>,
}

/// Patterns by kind of file; a path is a test file first, then a build file, then a production file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileGlobs {
    /// Test files; a path is a test file first.
    #[schemars(length(min = 1), extend("items" = glob()))]
    pub test: Vec<String>,
    /// Production files.
    #[schemars(length(min = 1), extend("items" = glob()))]
    pub production: Vec<String>,
    /// Build files; these come before production files.
    #[schemars(extend("items" = glob()))]
    pub build: Vec<String>,
}

/// An agent: a command or a preset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(from = "AgentKeys")]
#[schemars(!from, with = "AgentKeys")]
pub struct AgentSettings {
    /// The argument vector, a preset's or the configured one; may hold `{prompt}`, `{task}` and the like.
    pub command: Vec<String>,
    /// Extra environment.
    pub env: BTreeMap<String, String>,
    /// The preset's name, if one was used.
    pub preset: Option<String>,
    /// The format of its output.
    pub format: TranscriptFormat,
    /// The agents that replace it while it is out of quota or out of reach, the preferred one first.
    pub fallback: Vec<String>,
}

/// An agent as the file describes it: by a command or by a preset.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AgentKeys {
    /// Program and arguments; the prompt is its standard input, unless an argument holds `{prompt}`.
    #[schemars(schema_with = "argv")]
    pub(super) command: Option<Vec<String>>,
    /// A known agent CLI.
    #[schemars(with = "String", extend("enum" = presets()))]
    pub(super) preset: Option<String>,
    /// Arguments added to those of the preset.
    #[schemars(with = "Vec<String>", inner(length(min = 1)))]
    pub(super) args: Option<Vec<String>>,
    /// The model, in the words of the preset's CLI.
    #[schemars(with = "String", length(min = 1))]
    pub(super) model: Option<String>,
    /// The format of its standard output: `text`, or the events of a known CLI. A preset has its own.
    #[schemars(with = "String", extend("enum" = formats()))]
    pub(super) format: Option<TranscriptFormat>,
    /// Agents that work in its place while it is out of quota or out of reach, the preferred one first.
    #[schemars(inner(length(min = 1)))]
    pub(super) fallback: Vec<String>,
    /// Variables of its environment.
    #[schemars(transform = variables)]
    pub(super) env: BTreeMap<String, serde_json::Value>,
}

/// Pattern of 1.25.5 and every later version.
const PIT_VERSION: &str = "^(1[.](25[.]([5-9]|[1-9][0-9])|2[6-9]|[3-9][0-9]|[1-9][0-9]{2})|[2-9]|[1-9][0-9])[A-Za-z0-9._-]{0,39}$";

/// The settings of a gate.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateSettings {
    /// Program and arguments of a gate that is a command: exit 0 PASS, 1 FAIL, 77 SKIP, else ERROR.
    #[schemars(schema_with = "argv")]
    pub run: Option<Vec<String>>,
    /// Per cent of mutants that must be killed.
    #[schemars(range(min = 0, max = 100))]
    pub threshold: u32,
    /// The unit that must reach the threshold.
    pub per: Per,
    /// Outcome of a mutant that no test reaches.
    pub no_coverage: NoCoverage,
    /// The engine. `direct`: ralph runs PIT itself.
    pub engine: GateEngine,
    /// Threads; 0 is one per processor.
    #[schemars(range(min = 0, max = 1024))]
    pub jobs: usize,
    /// Arguments added to each call of Maven.
    #[schemars(inner(length(min = 1)))]
    pub maven_args: Vec<String>,
    /// A command that compiles a package in Maven's place and names its class paths; for Gradle, `{init_script}` is ralph's.
    #[schemars(schema_with = "argv")]
    pub classpath_command: Option<Vec<String>>,
    /// Wall limit of the whole gate.
    #[serde(deserialize_with = "required::deserialize")]
    #[schemars(schema_with = "time")]
    pub limit: Duration,
    /// PIT's version: 1.25.5 or newer. Older ones lack what ralph's plugin uses.
    #[schemars(extend("title" = "1.25.5 or newer", "pattern" = PIT_VERSION, "examples" = ["1.25.9"]))]
    pub pit_version: String,
    /// The tests that must kill the mutants, in order.
    pub tests: TestTiers,
    /// Names of the test classes of a class. `{}` is the name of the class.
    #[schemars(length(min = 1), extend("items" = test_name()))]
    pub test_names: Vec<String>,
    /// Test classes that the gate runs although Surefire does not (`FooIT`), as names or globs.
    #[schemars(extend("items" = glob()))]
    pub tests_include: Vec<String>,
    /// The mutants of a class that count.
    pub scope: ScopeKind,
    /// A private checkout of the commit, or the package's own folder.
    #[serde(rename = "where")]
    pub folder: GateFolder,
    /// The compiler when only Java files changed.
    pub recompile: Recompile,
    /// Files that git ignores and a clean checkout needs, as globs in the package.
    #[schemars(extend("items" = glob()))]
    pub keep: Vec<String>,
    /// Arguments added to the JVMs that run tests.
    #[schemars(inner(length(min = 1)))]
    pub jvm_args: Vec<String>,
    /// Additional variables of ralph's environment for its processes.
    #[schemars(extend("items" = variable()))]
    pub env: Vec<String>,
}

/// The tests that a gate runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TestTiers {
    /// The class's own tests, then, for survivors, all that reach the class.
    OwnFirst,
    /// All at once.
    All,
    /// Own ones only.
    Own,
}

/// The mutants of a target that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScopeKind {
    /// All mutants of the class.
    Class,
    /// Mutants on lines that the task changed.
    Lines,
    /// All mutants of a new class. Of an existing one those on changed lines, and its score may not fall.
    Auto,
}

/// The directory in which a gate compiles and runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateFolder {
    /// In a private checkout of the commit.
    Clean,
    /// In the package's own work tree.
    InPlace,
}

/// The compiler when only Java files changed since the last build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Recompile {
    /// The JDK's compiler if no other goal of Maven reads Java sources in this module.
    Auto,
    /// The JDK's compiler. Other goals of Maven do not run.
    Javac,
    /// Maven.
    Maven,
}

/// The method by which a gate that is not a command measures mutants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GateEngine {
    /// PIT, run directly.
    Direct,
}

/// Commands that every changed package must answer to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Checks {
    /// Must fail after TEST-FIRST.
    #[schemars(schema_with = "argv")]
    pub red: Option<Vec<String>>,
    /// Must pass after an implementation, and for a checkpoint.
    #[schemars(schema_with = "argv")]
    pub green: Option<Vec<String>>,
    /// The test reports in JUnit's XML that green writes, as patterns in the package; only what passed in them counts.
    #[schemars(extend("items" = glob()))]
    pub reports: Vec<String>,
    /// Additional variables of ralph's environment for them.
    #[schemars(extend("items" = variable()))]
    pub env: Vec<String>,
}

/// Commands that notify people.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Hooks {
    /// A task is blocked.
    #[schemars(schema_with = "argv")]
    pub blocked: Option<Vec<String>>,
    /// All required boxes are ticked.
    #[schemars(schema_with = "argv")]
    pub done: Option<Vec<String>>,
    /// A gate said FAIL.
    #[schemars(schema_with = "argv")]
    pub gate_fail: Option<Vec<String>>,
    /// A run waits for a usage limit, an outage, a gate error that may pass, or a larger budget.
    #[schemars(schema_with = "argv")]
    pub waiting: Option<Vec<String>>,
    /// The run stopped, for any reason.
    #[schemars(schema_with = "argv")]
    pub stop: Option<Vec<String>>,
    /// A run ended. `{head}` in the arguments is the head of the journal's chain, to keep it elsewhere.
    #[schemars(schema_with = "argv")]
    pub anchor: Option<Vec<String>>,
    /// Additional variables of ralph's environment for them.
    #[schemars(extend("items" = variable()))]
    pub env: Vec<String>,
}

/// Answers of tools to the agents of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mcp {
    /// Allows `ralph mutation-test` and its tool inside an attempt.
    pub scores: bool,
}

/// The committer of an attempt's changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CommitBy {
    /// The agent.
    Agent,
    /// ralph, with the task's text as the message.
    Ralph,
}

/// Effect of an accepted implementation on ticked reviews of other content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReworkReviews {
    /// ralph unticks them.
    ReopenReviews,
    /// They stay ticked.
    KeepReviews,
}

/// Effect of a blocked task on the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnBlocked {
    /// The run stops.
    Stop,
    /// The run continues with the next task.
    Next,
}

/// The effect of a used-up budget (`limits.cost`, `limits.tokens`) on the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnBudget {
    /// Stops it.
    Stop,
    /// Pauses it until you allow more with `ralph resume`.
    Pause,
}

/// Effect of a failed edit that was not repaired on its attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verifier {
    /// It rejects the attempt.
    Block,
    /// progress.txt names it.
    Warn,
    /// ralph does not read transcripts.
    Off,
}

/// Source of the stages of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StagesFrom {
    /// The lines of the task file.
    File,
    /// Not in the file: each task goes through the default stages, and its box is ticked with the last.
    Virtual,
}
