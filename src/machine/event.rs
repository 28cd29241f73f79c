//! Events: facts in the past tense, the only thing that the journal holds.
//!
//! The fold of the events is the state. A variant, once released, keeps its meaning.

pub use super::agent_end::{AgentEnd, QuotaShare};
use super::budget::Allowance;
use super::facts::{FileChange, InputDigests, Observation, Oid, OtherFiles, ProcessEnd, Snapshot};
use super::policy::Policy;
use super::stop::StopReason;
use crate::mutation::GateReport;
use crate::source::RepoPath;
use crate::source::text::names;
use crate::task::{BoxClaim, Mark, Row, TaskKey};
use crate::turn::Usage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

/// Files or packages that a sentence names.
const NAMED: usize = 10;

/// This build of ralph: its version and a digest of its source. Two builds of one version may word an entry differently.
pub const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("RALPH_SOURCE"));

/// One fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Event {
    /// A process of ralph opened the journal to change state.
    RunStarted {
        /// The task file, relative to the workspace.
        spec: String,
        /// The rules of this run: a journal replays without today's configuration.
        policy: Policy,
        /// The purpose of the process.
        mode: Mode,
        /// Families whose block and counters are cleared (`--retry`).
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        retry: Vec<String>,
        /// The [`BUILD`] of ralph; the version alone in older journals.
        version: String,
    },
    /// The state was folded from the journal; what is still owed comes next.
    Resumed,
    /// tasks.md and all packages were read, while no agent ran.
    Surveyed {
        /// The task file.
        tasks: TasksSeen,
        /// The packages.
        snapshot: Snapshot,
        /// When, seconds since 1970; 0 in older journals.
        #[serde(default)]
        now: u64,
        /// The files that no attempt may change, if they differ from the last record; absent in older journals.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inputs: Option<InputDigests>,
        /// Untracked files of no kind, if ralph commits and they differ from the last record; absent in older journals.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        others: Option<OtherFiles>,
        /// Agents whose login is at a limit by the notice of another run: the end of each limit, seconds since 1970.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        shared_limits: BTreeMap<String, u64>,
    },
    /// Uncommitted files of an earlier attempt were moved from the work tree to a ref.
    LeftoversKept {
        /// The refs that hold them.
        kept: Vec<KeptWork>,
        /// The packages afterwards.
        snapshot: Snapshot,
    },
    /// Ralph looked for the lane of a box before an attempt of work (`ralph run --lanes N`).
    LaneSeen {
        /// The work that it offers for the box.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offer: Option<Offer>,
        /// The reason why work that it has cannot be taken, whole sentences.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why_not: Option<String>,
        /// Number of lanes that work on; 0 in older journals.
        #[serde(default)]
        working: u32,
    },
    /// The agent's process runs.
    AgentSpawned {
        /// Its process id.
        pid: i32,
        /// Its start time in clock ticks since boot.
        started: u64,
        /// The name of the agent in the configuration; empty in older journals.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        agent: String,
    },
    /// The agent and everything that it started are gone.
    AgentEnded(AgentEnd),
    /// Ralph committed what the agent left (`commit: ralph`).
    LeftCommitted {
        /// The new commit of each package that had something to commit.
        commits: BTreeMap<String, Oid>,
    },
    /// Git and tasks.md were read after an attempt.
    Observed {
        /// The state of git after the attempt.
        observation: Box<Observation>,
        /// Boxes that the agent ticked or opened: claims.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        claims: Vec<BoxClaim>,
        /// tasks.md differs from its state before the attempt.
        #[serde(default)]
        tasks_changed: bool,
        /// The validator's report, if FINAL was tried and it was written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        validation: Option<Validation>,
    },
    /// tasks.md was restored; lines that the agent added under new ids stay.
    TasksRestored {
        /// The task file as it is now.
        tasks: TasksSeen,
        /// Path of the saved other version, relative to the workspace; empty when there was none.
        kept: String,
        /// The tasks whose text was restored, in prose.
        ///
        /// Empty if other text was restored, `None` if no text was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reworded: Option<String>,
    },
    /// HEAD, index and work tree were restored.
    WorkPutBack {
        /// The refs that hold the replaced work.
        kept: Vec<KeptWork>,
        /// The packages afterwards.
        snapshot: Snapshot,
    },
    /// A check ran.
    Checked {
        /// The check that ran.
        check: Check,
        /// One result a package.
        results: Vec<CheckResult>,
        /// tasks.md differs from its state before: a process of the check wrote to it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        tasks_changed: bool,
        /// Protected files and HEADs that it changed.
        #[serde(default, skip_serializing_if = "Trespass::is_none")]
        trespass: Trespass,
    },
    GateEnded {
        report: Box<GateReport>,
        /// The commits that it judged.
        heads: BTreeMap<String, Oid>,
        /// The family's changes that it judged.
        changes: Vec<FileChange>,
        /// Digest of the files left in `iter-N/gate`.
        ///
        /// Empty if there is no file, or too much, and in older journals.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        left: String,
        /// tasks.md differs from its state before: a process of the gate wrote to it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        tasks_changed: bool,
        /// Protected files and HEADs that it changed.
        #[serde(default, skip_serializing_if = "Trespass::is_none")]
        trespass: Trespass,
    },
    /// Ralph wrote boxes into tasks.md.
    BoxesFlipped {
        /// Each box and its mark now; a box whose line is gone is not listed.
        flips: Vec<(TaskKey, Mark)>,
    },
    /// The iteration's entry was appended to progress.txt.
    ProgressAppended,
    /// The wait is over.
    Waited,
    /// A person allowed more than a budget that is used up; nothing, if the run is to end instead.
    BudgetAllowed {
        /// The amount.
        more: Allowance,
    },
    /// A signal, or the wall limit, asks for an end.
    StopRequested {
        /// The cause of the request.
        why: StopRequest,
    },
    /// A person paused the run between two attempts, or resumed it.
    Paused {
        /// It begins to wait.
        begins: bool,
    },
    /// The run ended in order.
    RunStopped {
        /// The reason of the stop.
        stop: StopReason,
    },
    /// `ralph snapshot`: a family's base was pinned.
    FamilyPinned {
        family: String,
        /// The packages at that moment.
        snapshot: Snapshot,
    },
    /// `ralph gate <ID>`: a loop other than ralph's requests a verdict.
    GateRequested {
        /// The gate's box.
        key: TaskKey,
        /// The packages at that moment.
        snapshot: Snapshot,
        /// The changes to judge, when not the family's recorded ones.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changes: Option<Vec<FileChange>>,
    },
    /// `ralph accept`: a person ticked a box by hand.
    BoxAccepted {
        /// The box.
        key: TaskKey,
        /// The person's reason.
        reason: String,
        /// The packages that the acceptance vouches for.
        snapshot: Snapshot,
    },
    /// `ralph reopen`: a person opened a box by hand.
    BoxReopened {
        /// The box.
        key: TaskKey,
        /// The person's reason.
        reason: String,
    },
}

/// The purpose of a process of ralph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// `ralph run`: iterations until there is a reason to stop.
    #[default]
    Loop,
    /// One verb: `gate`, `snapshot`, `accept`, `reopen`.
    Verb,
}

/// The source of a request to stop the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum StopRequest {
    /// A signal: INT 2, TERM 15, HUP 1.
    Signal {
        /// Its number.
        signal: i32,
    },
    /// `limits.wall` is used up.
    Wall,
}

/// Contents of tasks.md at one reading: the difference to the expected state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TasksSeen {
    /// SHA-256 of the file with every box emptied.
    pub skeleton: String,
    /// All boxes, when the skeleton is another than before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Vec<Row>>,
    /// Boxes that hold something else than expected, when the skeleton is the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<(TaskKey, Mark)>,
    /// Reasons why no run can start on this file, whole sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Lines that look like open tasks and are not read as tasks, whole sentences; only with `rows`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// SHA-256 of the spec's other files by their path below its folder, empty for one that is not there; when they are
    /// other ones than before. Older journals have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<BTreeMap<String, String>>,
    /// The entries of an earlier journal in progress.txt, at the first reading. Older journals have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<EarlierEntries>,
}

/// Entries of progress.txt that no record of this journal made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierEntries {
    /// Their number.
    pub count: u64,
    /// The digest of their headings and headlines, in order.
    pub digest: String,
}

/// Accepted work of a lane, merged with HEAD in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// The number of the lane.
    pub lane: u32,
    /// The commit to which each package moves; the other packages stay.
    pub heads: BTreeMap<String, Oid>,
    /// Usage of the attempts behind the work, as far as their transcripts report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Usage>,
}

/// Work that was saved before ralph restored something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptWork {
    pub package: String,
    /// The ref that holds it (`refs/ralph/…`).
    pub reference: String,
    /// The commit at the ref.
    pub commit: Oid,
    /// Files that could not be restored: they are saved, and unchanged on disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unrestored: Vec<RepoPath>,
}

/// Protected files and HEADs that checks or a gate changed, and that ralph restored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trespass {
    /// Files that agents and ralph work by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// Settings and hooks of git: installers write them, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub git_settings: Vec<String>,
    /// Packages whose HEAD was moved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<String>,
    /// The references that keep the other commits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<KeptWork>,
}

impl Trespass {
    /// Nothing was changed.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// True if nothing that the programs said may count.
    pub fn rejects(&self) -> bool {
        !self.inputs.is_empty() || !self.moved.is_empty()
    }

    /// Whole sentences; `who` changed it, and `aside` is the folder of the files.
    pub fn sentences(&self, who: &str, aside: &str) -> Vec<String> {
        let mut sentences = Vec::new();
        let files = [
            (&self.inputs, "which agents work by"),
            (&self.git_settings, "a setting or hook of git"),
        ];
        for (paths, what) in files.into_iter().filter(|(paths, _)| !paths.is_empty()) {
            let paths = names(paths, NAMED);
            sentences.push(format!(
                "{who} changed {paths}, {what}. Ralph restored it; the other version is in {aside}."
            ));
        }
        if !self.moved.is_empty() {
            let kept: Vec<String> = self
                .kept
                .iter()
                .map(|kept| kept.reference.clone())
                .collect();
            let (moved, kept) = (names(&self.moved, NAMED), names(kept, NAMED));
            sentences.push(format!(
                "{who} moved HEAD of {moved}. Ralph restored it; what was there is kept ({kept})."
            ));
        }
        sentences
    }
}

/// A configured command that tells red from green.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// `checks.red`: must fail.
    Red,
    /// `checks.green`: must pass.
    Green,
}

impl Check {
    /// Its key under `checks:`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Red => "red",
            Self::Green => "green",
        }
    }
}

/// Result of a check in one package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    pub package: String,
    /// The end of the command.
    #[serde(flatten)]
    pub end: ProcessEnd,
    /// The last lines of its output, control characters removed.
    #[serde(default)]
    pub tail: String,
    /// Summary of the test reports that it wrote; `None` if it wrote none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<ReportedTests>,
    /// Untracked and ignored files of the package that changed since the task began, directories of them with a `/` at
    /// their end; at most 20. The check could read them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<RepoPath>,
}

/// Combined result of the test reports of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReportedTests {
    /// So many tests ran and passed.
    Passed(u64),
    /// This one, a path in the package, cannot be read as a whole.
    Unreadable(String),
}

impl CheckResult {
    /// Returns the number of tests that passed, or `None` if no report counts them.
    pub(super) fn passed(&self) -> Option<u64> {
        match self.tests {
            Some(ReportedTests::Passed(passed)) => Some(passed),
            _ => None,
        }
    }
}

/// The validator's report, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validation {
    /// Cells that say PASS.
    pub pass: u32,
    /// Cells that say FAIL.
    pub fail: u32,
    /// Cells that say UNKNOWN or anything else; 1 for a report without any cell.
    pub unknown: u32,
    /// The rows that are not PASS, at most 50.
    #[serde(default)]
    pub gaps: Vec<String>,
    /// SHA-256 of the report; empty in older journals.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

impl Event {
    /// The variant's name, for messages.
    pub fn name(&self) -> String {
        let mut word = FirstWord(String::new());
        // Ends with an error after the name, so that no gate report is formatted.
        let _ = write!(word, "{self:?}");
        word.0
    }

    /// True for a fact whose loss in a power cut only makes ralph do idempotent work again; it need not be
    /// on the disk before the next effect.
    pub fn is_lazy(&self) -> bool {
        matches!(
            self,
            Self::AgentSpawned { .. }
                | Self::BoxesFlipped { .. }
                | Self::ProgressAppended
                | Self::Waited
        )
    }
}

/// The letters and digits before any other character of a text.
struct FirstWord(String);

impl fmt::Write for FirstWord {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let word = text.split(|c: char| !c.is_ascii_alphanumeric()).next();
        let word = word.unwrap_or_default();
        self.0.push_str(word);
        if word.len() == text.len() {
            Ok(())
        } else {
            Err(fmt::Error)
        }
    }
}
