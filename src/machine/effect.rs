//! Effects: what the machine asks of the world, in the imperative. They are never stored.

use super::event::{Check, Offer};
use super::facts::{
    Accumulated, Dirt, FileChange, Observation, ObserveRequest, Oid, OtherFiles, Snapshot,
};
use super::stop::StopReason;
use super::used::Most;
use crate::mutation::GateReport;
use crate::task::{Mark, Stage, TaskKey, spoken_id};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Read tasks.md and all packages → `Surveyed`.
    Survey,
    /// Keep what an attempt left and restore HEAD's state of it → `LeftoversKept`.
    KeepLeftovers {
        /// For the ref's name.
        iteration: u64,
        /// The files left behind, by package.
        leftovers: BTreeMap<String, Vec<Dirt>>,
    },
    /// Write `iter-N-before.txt` (a view).
    WriteBefore {
        /// N.
        iteration: u64,
        /// The packages to write.
        snapshot: Snapshot,
    },
    /// Write `latest-task-diff.txt` and `.json` (views).
    WriteDiff {
        /// The family's changes.
        changes: Vec<FileChange>,
        /// HEAD of each package before the family's first attempt.
        bases: BTreeMap<String, Oid>,
        /// HEAD of each package now.
        heads: BTreeMap<String, Oid>,
    },
    /// Move an old validation-report.md to `iter-N/`.
    SetReportAside {
        /// N.
        iteration: u64,
    },
    /// Start lanes, wait for the one of this box, look at its work → `LaneSeen`, or `Waited` when a stop is requested.
    LookAtLane(Box<LaneOrder>),
    /// Move the packages to a lane's merged work → `AgentEnded`.
    Play(Box<Play>),
    /// Start the agent → `AgentSpawned`, or `AgentEnded` when it was not started.
    StartAgent(Box<AgentOrder>),
    /// Wait for the agent → `AgentEnded`.
    AwaitAgent,
    /// Find and kill what an earlier attempt left running → `AgentEnded` (interrupted).
    ReapAgent {
        /// The iteration, which names the process tree.
        iteration: u64,
        /// The process, when it was recorded.
        process: Option<(i32, u64)>,
    },
    /// Commit what the agent left → `LeftCommitted`.
    CommitLeft {
        /// The packages before the stage's attempts: without what earlier ones of them left.
        before: Snapshot,
        /// The untracked files of no kind then; `None` if unknown.
        others: Option<OtherFiles>,
        /// The commit's message.
        message: String,
    },
    /// Read git and tasks.md after the attempt → `Observed`.
    Observe {
        /// The observation to make.
        request: Box<ObserveRequest>,
        /// FINAL was tried: read validation-report.md.
        validation: bool,
    },
    /// Put tasks.md back → `TasksRestored`.
    RestoreTasks {
        /// The iteration whose directory keeps the agent's version.
        iteration: u64,
    },
    /// Keep what is there and put HEAD, index and work tree back → `WorkPutBack`.
    PutBack {
        /// For the ref's name.
        iteration: u64,
        /// The state to restore.
        before: Snapshot,
        /// The current state.
        observation: Box<Observation>,
        /// All changes, not only rewritten history: reviewers and the validator change nothing.
        everything: bool,
    },
    /// Run a check in packages → `Checked`.
    RunCheck {
        /// The iteration, which names the process tree and the logs.
        iteration: u64,
        /// The check to run.
        check: Check,
        /// The packages; all of them when empty.
        packages: Vec<String>,
        /// When the task's first attempt began, seconds since 1970; 0 if that is not known.
        since: u64,
    },
    /// Run a gate → `GateEnded`.
    RunGate(Box<GateOrder>),
    /// Write boxes into tasks.md → `BoxesFlipped`.
    FlipBoxes {
        /// Each box and what to write.
        flips: Vec<(TaskKey, Mark)>,
    },
    /// Append the iteration's entry to progress.txt → `ProgressAppended`.
    AppendProgress { entry: ProgressEntry },
    /// Wait → `Waited`.
    Wait {
        /// At least so many seconds.
        seconds: u64,
        /// Add no random delay: the provider printed the time.
        exact: bool,
    },
    /// Wait until a person allows more → `BudgetAllowed`.
    AskForBudget,
    /// Notify people (`hooks:` commands); nothing depends on it.
    Notify {
        /// `blocked`, `done`, `gate-fail`, `waiting` or `stop`.
        event: &'static str,
        /// The box, if there is one.
        task: String,
        /// One sentence.
        why: String,
    },
    /// End the run → `RunStopped`.
    Finish(StopReason),
}

impl Effect {
    /// True when performing it changes nothing outside that outlives ralph: it may come before its event is
    /// on the disk.
    pub fn is_read_only(&self) -> bool {
        matches!(self, Self::Survey | Self::AwaitAgent | Self::Observe { .. })
    }
}

/// The request for the lane of a box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneOrder {
    /// The box.
    pub key: TaskKey,
    /// The first task of its lane; `None` if main does this task itself.
    pub task: Option<String>,
    /// The packages as surveyed.
    pub snapshot: Snapshot,
    /// The work of lanes that is not done, in document order.
    pub open: Vec<LaneTask>,
    /// The open families whose work was taken from bundles, with the digests of their texts.
    pub taken: BTreeMap<String, String>,
    /// Lanes that may run at once; 0: none is started.
    pub lanes: u32,
    /// The most that a lane may use.
    pub most: Most,
}

/// An attempt of main that takes a lane's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Play {
    /// For the ref's name.
    pub iteration: u64,
    /// The packages before.
    pub before: Snapshot,
    /// The work.
    pub offer: Offer,
}

/// Tasks that a lane can do ahead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneTask {
    /// The families of the outermost ones, in document order.
    pub families: Vec<String>,
    /// Their names for `--only`.
    pub names: Vec<String>,
    /// The digest of their texts.
    pub digest: String,
    /// A lane may begin it now.
    pub is_ready: bool,
}

/// Order to start an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentOrder {
    pub iteration: u64,
    /// The box.
    pub key: TaskKey,
    /// The text of its line.
    pub text: String,
    /// 1-based line in tasks.md.
    pub line: u32,
    /// 1-based attempt in a row for this stage.
    pub attempt: u32,
    /// Reasons for the last rejection, or the findings of a gate or reviewer.
    pub reasons: Vec<String>,
    /// Findings of this reviewer at its last FAIL.
    pub findings: Vec<String>,
    /// A gate or reviewer has said FAIL, so that lines of TEST-FIRST may change.
    pub may_change_tests: bool,
    /// Files that an earlier attempt of this stage left uncommitted, `<package>/<path>`.
    pub leftovers: Vec<String>,
    /// The family's changes so far.
    pub changes: Vec<String>,
    /// HEAD before the first attempt, for each package that the family changed.
    pub bases: BTreeMap<String, Oid>,
    /// Build files and settings of test runners among them.
    pub build_settings: Vec<String>,
    /// The agent, as the configuration names it; empty if none is configured.
    pub agent: String,
    /// The most that the attempt may use.
    pub most: Most,
}

/// Order to run a gate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateOrder {
    pub iteration: u64,
    /// The box.
    pub key: TaskKey,
    /// 1-based line in tasks.md.
    pub line: u32,
    /// The packages as surveyed.
    pub snapshot: Snapshot,
    /// The sum of changes to judge.
    pub accumulated: Accumulated,
    /// The changes to judge, when they were given from outside.
    pub changes: Option<Vec<FileChange>>,
    /// Classes that an earlier run of this gate judged, `<package>/<path>`.
    pub former_targets: BTreeSet<String>,
    /// Files that changed since the gate failed, `<package>/<path>`; `None` if it has not failed since it passed.
    pub changed_since_fail: Option<BTreeSet<String>>,
    /// TEST-FIRST left no enabled test method.
    pub no_tests_written: bool,
    /// A FAIL would block one of the families: no rework is left.
    pub is_last: bool,
}

impl GateOrder {
    /// A gate that belongs to no box, on these commits.
    pub fn alone(name: &str, snapshot: Snapshot, accumulated: Accumulated) -> Self {
        let key = TaskKey {
            family: String::new(),
            stage: Stage::Gate(name.to_owned()),
        };
        Self {
            key,
            snapshot,
            accumulated,
            ..Self::default()
        }
    }

    /// The gate's name.
    pub fn name(&self) -> &str {
        self.key.stage.stage_word()
    }
}

/// The entry of one iteration in progress.txt.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgressEntry {
    pub iteration: u64,
    /// The box, as the file writes it.
    pub task: String,
    /// The event that the entry records.
    pub body: EntryBody,
    /// Changes that ralph made to tasks.md.
    pub boxes: Vec<BoxChange>,
}

/// A box that ralph ticked or unticked.
#[derive(Clone, Debug, PartialEq)]
pub struct BoxChange {
    /// True if it was ticked.
    pub ticked: bool,
    /// The box, as the file writes it.
    pub task: String,
}

impl fmt::Display for BoxChange {
    /// Writes `ticked task 2`, `unticked 2.PITEST`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.ticked { "ticked" } else { "unticked" };
        write!(f, "{word} {}", spoken_id(&self.task))
    }
}

/// Content of the entry of an iteration.
#[derive(Clone, Debug, PartialEq)]
pub enum EntryBody {
    /// An attempt or a person's act: a headline and the reasons.
    Text {
        /// One line such as `ACCEPTED` or `REJECTED (attempt 2 of 3)`.
        headline: String,
        /// Whole sentences.
        lines: Vec<String>,
    },
    /// A gate's report.
    Gate {
        /// The gate's name.
        name: String,
        report: Box<GateReport>,
    },
}
