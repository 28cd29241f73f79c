//! Why a run stops: what happened, and the next action for a person.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stop", rename_all = "kebab-case")]
pub enum Stop {
    /// Every required box is ticked.
    AllDone,
    /// Every required box is ticked, but the final report has gaps.
    Gaps {
        /// The rows that are not PASS.
        gaps: Vec<String>,
    },
    /// A family is blocked, and the rules say that this stops a run, or nothing else can be taken.
    Blocked {
        /// One sentence for each reason.
        reasons: Vec<String>,
    },
    /// No family is blocked, and nothing that is open can be taken: it waits for boxes with marks of people's.
    Stuck {
        /// One sentence for each reason.
        reasons: Vec<String>,
    },
    /// `limits.iterations` or `--max-iterations`, or `--once`, is used up.
    Iterations {
        /// How many ran.
        count: u64,
    },
    /// `limits.wall` is used up.
    Wall,
    /// Nothing changed for too many iterations.
    NoProgress {
        /// How many.
        iterations: u32,
    },
    /// A signal ended the run.
    Interrupted {
        /// Its number.
        signal: i32,
    },
    /// A gate gave no verdict.
    GateError {
        /// Its box.
        gate: String,
        /// Why.
        why: String,
        /// What to do.
        hint: String,
    },
    /// The task file cannot be run.
    Refused {
        /// One sentence for each reason.
        problems: Vec<String>,
    },
    /// There are uncommitted changes that no attempt of ralph's left.
    Dirty {
        /// `<package>/<path>` of each.
        files: Vec<String>,
    },
}

impl Stop {
    /// The next action for a person; empty when there is none.
    pub fn hint(&self) -> &str {
        match self {
            Self::AllDone => "",
            Self::Gaps { .. } => {
                "read validation-report.md, add tasks for the gaps, and run `ralph run` again"
            }
            Self::Blocked { .. } => {
                "see progress.txt; then `ralph run --retry <ID>`, or `ralph accept <ID> --reason …`"
            }
            Self::Stuck { .. } => {
                "write `[ ]` in the boxes that ralph is to take up again, `[x]` in those that are done"
            }
            Self::Iterations { .. } | Self::Wall | Self::Interrupted { .. } => {
                "`ralph run` goes on where this run stopped"
            }
            Self::NoProgress { .. } => "read the agent's log under .ralph/state/iter-N/ before the next run",
            Self::GateError { hint, .. } => hint,
            Self::Refused { .. } => "fix the file; `ralph check` lists everything that is wrong",
            Self::Dirty { .. } => "commit, stash or remove them; ralph never touches a person's work",
        }
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllDone => f.write_str("All required boxes are ticked."),
            Self::Gaps { gaps } => write!(
                f,
                "All required boxes are ticked, but the final report has {} {}: COMPLETE-WITH-GAPS.",
                gaps.len(),
                if gaps.len() == 1 { "gap" } else { "gaps" }
            ),
            Self::Blocked { reasons } => write!(f, "Work is left and blocked. {}", reasons.join(" ")),
            Self::Stuck { reasons } => {
                write!(f, "Work is left and none of it can be taken. {}", reasons.join(" "))
            }
            Self::Iterations { count: 1 } => f.write_str("The limit of 1 iteration was reached."),
            Self::Iterations { count } => write!(f, "The limit of {count} iterations was reached."),
            Self::Wall => f.write_str("The wall limit of the run was reached."),
            Self::NoProgress { iterations } => {
                write!(f, "No box, HEAD or verdict changed for {iterations} iterations.")
            }
            Self::Interrupted { signal } => write!(f, "Signal {signal} ended the run."),
            Self::GateError { gate, why, .. } => write!(f, "{gate} gave no verdict: {why}"),
            Self::Refused { problems } => f.write_str(&problems.join("\n")),
            Self::Dirty { files } => {
                write!(f, "There are uncommitted changes that no attempt left: {}.", files.join(", "))
            }
        }
    }
}
