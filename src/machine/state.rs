//! The state: what the fold of the journal knows of a workspace.

use super::effect::{Effect, GateOrder, ProgressEntry};
use super::event::{
    Check, CheckResult, EarlierEntries, Mode, Offer, StopRequest, TasksSeen, Trespass, Validation,
};
use super::facts::{
    Accumulated, Claim, Dirt, FileChange, InputDigests, KeptFile, Observation, Oid, OtherFiles,
    ProcessEnd, Snapshot,
};
use super::policy::Policy;
pub use super::run_counters::{OutOfQuota, RestCause, RunCounters};
use super::stop::StopReason;
pub use super::used::{Allowance, Used};
use crate::task::{BoxClaim, Mark, Row, Rows, Stage, TaskKey, typed_id};
use crate::turn::Usage;
use std::collections::{BTreeMap, BTreeSet};

/// Everything that ralph knows of a workspace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The rules of the current run.
    pub policy: Policy,
    /// The purpose of the current process.
    pub mode: Mode,
    /// The task file of the current run, relative to the workspace.
    pub spec: String,
    /// The known state of each task file.
    pub specs: BTreeMap<String, SpecState>,
    /// The last iteration that began; numbers never repeat.
    pub iteration: u64,
    /// The last reported usage of each session that counts as a whole.
    pub sessions: BTreeMap<String, Usage>,
    /// The current phase of the loop.
    pub phase: Phase,
    /// The packages at the last "after".
    pub last_after: Option<Snapshot>,
    /// HEAD of each package when ralph looked last.
    pub heads: BTreeMap<String, Oid>,
    /// Files that the last attempt left uncommitted.
    pub leftovers: Option<Leftovers>,
    /// The changes behind `latest-task-diff.txt`.
    pub diff: Vec<FileChange>,
    /// Tests of each package that passed when `checks.green` was last trusted.
    ///
    /// A package without a report is absent.
    pub passed_tests: BTreeMap<String, u64>,
    /// Counters of the current run.
    pub run: RunCounters,
    /// The pending request to stop.
    pub stopping: Option<StopRequest>,
    /// The last iteration that lost a supervisor, until a person ticks or unticks a box.
    ///
    /// Processes of that iteration may still edit tasks.md.
    pub unwatched: Option<u64>,
    /// The files that no attempt may change, as at the last survey; `None` in older journals.
    pub inputs: Option<InputDigests>,
    /// The untracked files of no kind at the last survey of a run in which ralph commits.
    pub others: Option<OtherFiles>,
    /// The agent of this iteration was not started, or what it changed of the inputs is restored.
    pub unstarted: bool,
}

/// Uncommitted work of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftovers {
    /// The stage that left it.
    pub key: TaskKey,
    pub iteration: u64,
    /// The files, by package.
    pub dirt: BTreeMap<String, Vec<Dirt>>,
}

/// Known state of one task file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpecState {
    /// SHA-256 of the file with every box emptied; empty before the first reading.
    pub skeleton: String,
    /// The boxes, in document order.
    pub rows: Rows,
    /// The families that something is known of.
    pub families: BTreeMap<String, Family>,
    /// Iterations that began on it.
    pub iterations: u64,
    /// The stop of the last run on it.
    pub last_stop: Option<StopReason>,
    /// Gaps of the last final gate.
    pub gaps: Vec<String>,
    /// Lines that look like open tasks and are not read as tasks, whole sentences.
    pub unread: Vec<String>,
    /// SHA-256 of the spec's other files, empty for one that is not there; `None` if no record says it.
    pub files: Option<BTreeMap<String, String>>,
    /// SHA-256 of the report of the last attempt of FINAL; empty in older journals, `None` without a report.
    pub report: Option<String>,
    /// The entries of an earlier journal in progress.txt; `None` if no record says it.
    pub earlier: Option<EarlierEntries>,
}

/// Known state of one family.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Family {
    /// Digest of the implementation line that all this is about.
    pub digest: String,
    /// Digest of what is indented below it.
    pub under: Option<String>,
    /// The iteration of the first attempt; 0 before it.
    pub first_iteration: u64,
    /// When that began, seconds since 1970; 0 before it.
    pub began: u64,
    /// The family's changes.
    pub changes: Accumulated,
    /// When each path was last changed by the family: `<package>/<path>` → iteration.
    pub last_touch: BTreeMap<String, u64>,
    /// Build files and settings of test runners that the family changed, `<package>/<path>`.
    pub build_settings: BTreeSet<String>,
    /// FAILs that were answered with rework.
    pub reworks: u32,
    /// Usage of its attempts.
    pub used: Used,
    /// Usage of its attempts when a person last cleared its counters.
    pub used_before: Used,
    /// The allowance beyond its budget since then.
    pub allowed: Allowance,
    /// The reason why the family is blocked.
    pub blocked: Option<String>,
    /// A gate or reviewer has said FAIL: test lines are no longer frozen.
    pub failed_once: bool,
    /// The stage whose FAIL opened the implementation.
    pub opened_by: Option<TaskKey>,
    /// Test files as TEST-FIRST left them.
    pub frozen: Vec<KeptFile>,
    /// Enabled test methods that TEST-FIRST left; `None` when no attempt of it was accepted.
    pub tests_written: Option<u64>,
    /// Packages in which `checks.red` left a test report.
    pub reported: BTreeSet<String>,
    /// TEST-FIRST was opened because the worker could not keep its lines.
    pub test_first_reopened: bool,
    /// The implementation was tried.
    pub implementation_tried: bool,
    /// Known state of each stage.
    pub stages: BTreeMap<Stage, StageState>,
}

/// Known state of one stage of a family.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageState {
    /// Changes of its own attempts since its box was last unticked.
    pub own: Accumulated,
    /// Untracked files of no kind that appeared in these attempts.
    pub strays: OtherFiles,
    /// Enabled tests after minus before, over these attempts, by package.
    pub tests_delta: BTreeMap<String, i64>,
    /// Attempts in a row that were rejected.
    pub attempts: u32,
    /// Work of a lane was rejected: the worker is next.
    pub lane_failed: bool,
    /// Every rejection in this row was for frozen test lines alone.
    pub frozen_only: bool,
    /// Reasons for the last rejection, or the findings of a gate or reviewer.
    pub reasons: Vec<String>,
    /// Findings of this reviewer at its last FAIL, until it reports PASS.
    pub findings: Vec<String>,
    /// The content that the ticked box vouches for.
    pub stands_for: Option<JudgedContent>,
    /// The author of the tick.
    pub ticked_by: Option<TickedBy>,
    /// `checks.green` passed before the box was ticked.
    pub green: bool,
    /// The last verdict of a gate or reviewer, one word.
    pub verdict: Option<&'static str>,
    /// Classes that this gate judged, `<package>/<path>`.
    pub targets: BTreeSet<String>,
    /// The iteration in which this gate last failed.
    pub failed_at: Option<u64>,
    /// The survivors that it listed then.
    pub listed: ListedSurvivors,
}

/// The survivors that a gate listed, and the reworks that killed none of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedSurvivors {
    /// File, method, source line, mutator and its words: what stays when lines move.
    pub survivors: BTreeSet<String>,
    /// The use of the run up to that verdict.
    pub used: Used,
    /// The use of each rework in a row that killed none.
    pub fruitless: Vec<Used>,
}

/// Author of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickedBy {
    /// Ralph, after evidence.
    Ralph,
    /// A person, by hand or by `ralph accept`.
    Person,
}

/// The content that a ticked box vouches for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgedContent {
    /// HEAD of each package.
    pub heads: BTreeMap<String, Oid>,
    /// Production files among the changes reviewed; `None` if the box vouches for commits only.
    pub production: Option<BTreeMap<String, Option<Oid>>>,
    /// Test files reviewed.
    pub tests: Vec<KeptFile>,
}

/// Phase of the loop. Each phase knows its pending effects ([`super::owed`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Phase {
    /// Between iterations.
    #[default]
    Idle,
    /// Leftovers of another stage are being kept aside.
    Clearing {
        /// The files left behind, by package.
        leftovers: BTreeMap<String, Vec<Dirt>>,
    },
    /// Ralph waits for the lane of the next box. A survey is next when a stop is requested.
    Looking {
        /// The box.
        key: TaskKey,
        /// The packages as surveyed.
        snapshot: Snapshot,
    },
    /// The packages move to a lane's work: the attempt of main.
    Playing {
        /// The box.
        key: TaskKey,
        /// The packages before.
        before: Snapshot,
        /// The work.
        offer: Offer,
    },
    /// The agent may be running.
    Attempting {
        /// The box.
        key: TaskKey,
        /// The packages before.
        before: Snapshot,
        /// The process, once recorded.
        process: Option<(i32, u64)>,
    },
    /// The agent has ended; ralph commits its uncommitted files.
    Committing(Attempt),
    /// The agent is gone; git and tasks.md are to be read.
    Observing(Attempt),
    /// tasks.md or the work tree is to be restored.
    Restoring {
        attempt: Attempt,
        /// Observations so far.
        seen: Findings,
        /// tasks.md is owed.
        tasks: bool,
        /// The work tree is owed.
        work: bool,
    },
    /// A check is to be run.
    Checking {
        attempt: Attempt,
        /// Observations so far.
        seen: Findings,
        /// The check to run.
        check: Check,
        /// The packages to run it in; all of them when empty.
        packages: Vec<String>,
    },
    /// A gate runs.
    Judging {
        /// The gate to run.
        order: Box<GateOrder>,
    },
    /// tasks.md is to be restored after a gate, or after a gate that was cut short.
    RestoringTasks {
        /// The phase that follows.
        then: Box<Phase>,
    },
    /// Boxes and the progress entry are owed.
    Applying {
        /// The boxes to write; empty once written.
        flips: Vec<(TaskKey, Mark)>,
        /// The entry for progress.txt, if any.
        entry: Option<ProgressEntry>,
        /// The hook to call once the entry is written.
        notify: Option<Effect>,
        /// The phase that follows: the next iteration, a wait, or the end of the run.
        then: Box<Phase>,
    },
    /// The loop waits for something that passes by itself.
    Waiting {
        /// At least so many seconds.
        seconds: u64,
        /// Add no random delay: the provider printed the time.
        exact: bool,
        /// The cause of the wait.
        why: String,
    },
    /// A budget is used up, and a person may allow more.
    OverBudget {
        /// The next box.
        key: TaskKey,
        /// The budget, and the command that allows more: whole sentences.
        why: String,
    },
    /// The run is over.
    Stopped(StopReason),
}

/// An agent's attempt, once it is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Attempt {
    /// The box.
    pub key: TaskKey,
    /// The packages before.
    pub before: Snapshot,
    /// The end of the process.
    pub end: ProcessEnd,
    /// The claim of the agent.
    pub claim: Option<Claim>,
    /// The last thing that it, or its CLI, said.
    pub last_words: String,
    /// Its transcript is known, and holds no use of a tool.
    pub only_talked: bool,
}

/// Observations after an attempt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// In git.
    pub observation: Observation,
    /// In tasks.md.
    pub claims: Vec<BoxClaim>,
    /// The restored text of tasks.md, as in `TasksRestored`.
    pub reworded: Option<String>,
    /// In validation-report.md.
    pub validation: Option<Validation>,
    /// The result of the check, once it ran.
    pub check: Option<(Check, Vec<CheckResult>)>,
    /// Protected files and HEADs that the check changed.
    pub trespass: Trespass,
    /// Saved work that ralph replaced: `<package>: <ref>`.
    pub kept: Vec<String>,
}

impl State {
    /// Returns the known state of the current task file.
    pub fn spec_state(&self) -> &SpecState {
        static EMPTY: std::sync::LazyLock<SpecState> = std::sync::LazyLock::new(SpecState::default);
        self.specs.get(&self.spec).unwrap_or(&EMPTY)
    }

    /// Begins an iteration on the current task file.
    pub(super) fn begin_iteration(&mut self) -> u64 {
        self.iteration += 1;
        self.spec_state_mut().iterations += 1;
        self.iteration
    }

    /// Selects another task file, for verbs that only read. It does not share the phase of a run on this one.
    pub fn look_at(&mut self, spec: String) {
        if self.spec == spec {
            return;
        }
        self.spec = spec;
        self.phase = self
            .spec_state()
            .last_stop
            .clone()
            .map_or(Phase::Idle, Phase::Stopped);
    }

    /// Remembers that what an agent or a check started may still run.
    pub(super) fn note_ends<'a>(&mut self, mut ends: impl Iterator<Item = &'a ProcessEnd>) {
        if self.policy.watched && ends.any(|end| matches!(end, ProcessEnd::Unsupervised { .. })) {
            self.unwatched = Some(self.iteration);
        }
    }

    /// Returns true if an agent may have run whose changes ralph has not read.
    ///
    /// A gate or check that was cut short does not count, since you may have repaired its configuration.
    pub fn has_unobserved_agent(&self) -> bool {
        match self.phase {
            Phase::Attempting { .. } => true,
            Phase::Committing(_) | Phase::Observing(_) => !self.unstarted,
            _ => false,
        }
    }

    /// HEAD of each package after the last attempt.
    pub(super) fn last_heads(&self) -> BTreeMap<String, Oid> {
        self.last_after
            .as_ref()
            .map(Snapshot::heads)
            .unwrap_or_default()
    }

    /// Takes over the file's boxes and the lines that only look like tasks, for questions. A run takes them by an event.
    pub fn take_rows(&mut self, rows: Vec<Row>, unread: Vec<String>) {
        let spec = self.spec_state_mut();
        (spec.rows, spec.unread) = (rows.into(), unread);
    }

    /// Remembers the digest of the report, if this was an attempt of FINAL.
    pub(super) fn take_report(&mut self, key: &TaskKey, report: Option<&Validation>) {
        if key.stage == Stage::Final {
            self.spec_state_mut().report = report.map(|report| report.digest.clone());
        }
    }

    /// Remembers the digests of the spec's other files, and the entries of an earlier journal.
    pub(super) fn take_files(&mut self, seen: &TasksSeen) {
        let spec = self.spec_state_mut();
        if seen.files.is_some() {
            spec.files.clone_from(&seen.files);
        }
        if seen.earlier.is_some() {
            spec.earlier.clone_from(&seen.earlier);
        }
    }

    /// Returns the mutable state of the current task file.
    pub(super) fn spec_state_mut(&mut self) -> &mut SpecState {
        self.specs.entry(self.spec.clone()).or_default()
    }
}

impl JudgedContent {
    /// Commits alone.
    pub fn commits(heads: BTreeMap<String, Oid>) -> Self {
        Self {
            heads,
            ..Self::default()
        }
    }
}

impl SpecState {
    /// The row of a box.
    pub fn row(&self, key: &TaskKey) -> Option<&Row> {
        self.rows
            .by_family()
            .family_boxes(&key.family)
            .map(|(_, row)| row)
            .find(|row| row.key == *key)
    }

    /// Returns the name of a box for programs: `2.`, `2.PITEST`, `tasks.md:12`.
    pub fn written_name(&self, key: &TaskKey) -> String {
        self.row(key)
            .map_or_else(|| key.written_id(), |row| key.written_name(row.line))
    }

    /// Returns the name of a box to type and for tables: `2`, `2.PITEST`, `tasks.md:12`.
    pub fn typed_name(&self, key: &TaskKey) -> String {
        typed_id(&self.written_name(key)).to_owned()
    }

    /// Returns the name of a box in a sentence, see [`Row::row_title`].
    pub fn title(&self, key: &TaskKey) -> String {
        self.row(key)
            .map_or_else(|| key.to_string(), Row::row_title)
    }

    /// Is the box ticked?
    pub fn is_done(&self, key: &TaskKey) -> bool {
        self.row(key).is_some_and(|row| row.mark.is_done())
    }

    /// The rows of a family, in document order.
    pub fn family_rows<'a>(&'a self, family: &str) -> impl Iterator<Item = &'a Row> + use<'a> {
        self.rows
            .by_family()
            .family_boxes(family)
            .map(|(_, row)| row)
    }

    /// Returns the known state of a family.
    pub fn family(&self, family: &str) -> Option<&Family> {
        self.families.get(family)
    }

    /// Returns the mutable state of a family.
    pub(super) fn family_mut(&mut self, family: &str) -> &mut Family {
        self.families.entry(family.to_owned()).or_default()
    }

    /// Returns the known state of a box.
    pub fn stage(&self, key: &TaskKey) -> Option<&StageState> {
        self.families.get(&key.family)?.stages.get(&key.stage)
    }

    /// Returns the mutable state of a box.
    pub(super) fn stage_mut(&mut self, key: &TaskKey) -> &mut StageState {
        self.family_mut(&key.family)
            .stages
            .entry(key.stage.clone())
            .or_default()
    }
}
