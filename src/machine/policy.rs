//! The rules of a run. They are in the journal with each run: a decision never depends on today's configuration.

use crate::task::Stage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Iterations without progress before a run stops.
pub const IDLE_ITERATIONS: u32 = 6;

/// Waits in a row for usage limits and outages before a run ends: 43 hours where no message names a time.
pub const MOST_WAITS: u32 = 24;

/// Reworks in a row after which a gate's listed survivors all live, before the task is blocked.
pub const FRUITLESS_REWORKS: usize = 2;

/// The rules of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent settings; each combination means something"
)]
pub struct Policy {
    /// Attempts in a row for one stage before its family is blocked.
    pub attempts: u32,
    /// FAILs of gates and reviewers that a family may answer with rework.
    pub rework: u32,
    /// Iterations of one run.
    pub iterations: Option<u64>,
    /// Iterations without a changed box, HEAD or verdict before the run stops.
    pub idle_iterations: u32,
    /// The run continues with other families when one is blocked.
    pub go_on_when_blocked: bool,
    /// Reviews stay ticked when the files that they saw change.
    pub keep_reviews: bool,
    /// Ralph commits what an agent left.
    pub ralph_commits: bool,
    /// `checks.red` is configured.
    pub red: bool,
    /// `checks.green` is configured.
    pub green: bool,
    /// Edits that failed and were never repaired reject an attempt of work.
    pub edits_block: bool,
    /// After an attempt without a supervisor, edits of tasks.md have an unknown author.
    ///
    /// `false` only in older journals.
    pub watched: bool,
    /// The second outage of an agent in a row is another one's turn: `false` only in older journals.
    pub outage_hands_over: bool,
    /// Waits in a row for usage limits and outages before the run ends: `None` only in older journals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<u32>,
    /// Reworks in a row that may kill no listed survivor: `None` only in older journals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fruitless: Option<usize>,
    /// Per cent of a usage limit at which an agent makes no further attempt.
    #[serde(skip_serializing_if = "is_default")]
    pub quota: Option<u8>,
    /// A budget that is used up pauses the run until a person allows more.
    #[serde(skip_serializing_if = "is_default")]
    pub budget_asks: bool,
    /// The agents of each stage, the preferred one first.
    ///
    /// The others replace it when it is out of quota or reach.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<Stage, Vec<String>>,
    /// The patterns of test, production and build files; empty in older journals. No decision is made from them: a replay
    /// sees by them what kind a changed file was.
    #[serde(skip_serializing_if = "is_default")]
    pub files: [Vec<String>; 3],
    /// Optional boxes are taken too (`--optional`).
    pub optional: bool,
    /// Only these families and those below them are taken (`--only`); empty: all.
    #[serde(skip_serializing_if = "is_default")]
    pub only: Vec<String>,
    /// Lanes that may run at once (`--lanes`); 0: none.
    #[serde(skip_serializing_if = "is_default")]
    pub lanes: u32,
    /// Families whose work was taken from bundles of runs elsewhere (`ralph lanes take`).
    #[serde(skip_serializing_if = "is_default")]
    pub taken: Vec<String>,
    /// The tasks that lanes may do ahead (`lanes.take`).
    #[serde(skip_serializing_if = "is_default")]
    pub take: LaneTasks,
    /// Millionths of a US dollar that may be used.
    #[serde(skip_serializing_if = "is_default")]
    pub cost: Budget,
    /// Tokens that may be used.
    #[serde(skip_serializing_if = "is_default")]
    pub tokens: Budget,
}

/// The tasks that lanes may do ahead.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum LaneTasks {
    /// Those with `[P]` or `(P)`, those that name their needs (`Depends on: 2`), and those of a work package or wave with needs.
    #[default]
    Marked,
    /// All tasks; those under one heading follow each other.
    Groups,
    /// All tasks.
    All,
}

/// Limits of usage; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// By one run.
    pub run: Option<u64>,
    /// By one task, since a person last cleared its counters.
    pub task: Option<u64>,
    /// By one attempt.
    pub attempt: Option<u64>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
