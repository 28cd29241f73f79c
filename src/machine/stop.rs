//! The reason why a run stops, and the next action for a person.

use crate::source::text::count;
use crate::task::{spoken_id, spoken_ids};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Next action after a run that was only cut short.
const GO_ON: &str = "`ralph run` continues where this run stopped";

/// Reason why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stop", rename_all = "kebab-case")]
pub enum StopReason {
    /// Every required box is ticked.
    AllDone,
    /// The tasks that `--only` named are done; other required boxes are open.
    OnlyDone {
        /// The tasks that were named.
        tasks: Vec<String>,
        /// The number of open required boxes.
        open: usize,
    },
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
    /// The task file says to wait for a person here.
    Approval {
        /// The box.
        task: String,
        /// The text of the line.
        words: String,
        /// The condition and the commands that continue the run.
        hint: String,
    },
    /// `limits.iterations` or `--max-iterations`, or `--once`, is used up.
    Iterations {
        /// The number of iterations that ran.
        count: u64,
    },
    /// `limits.wall` is used up.
    Wall,
    /// A budget is used up.
    Budget {
        /// The budget, a whole sentence.
        what: String,
    },
    /// Nothing changed for too many iterations.
    NoProgress {
        /// The number of iterations.
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
        /// The cause.
        why: String,
        /// The next action.
        hint: String,
    },
    /// The agent's CLI cannot work as it is set up.
    NotSetUp {
        /// The cause.
        why: String,
        /// The next action.
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

impl StopReason {
    /// Returns the event, and the next action for a person; the action may be empty.
    fn words(&self) -> (String, &str) {
        match self {
            Self::AllDone => ("All required boxes are ticked.".to_owned(), ""),
            Self::OnlyDone { tasks, open } => (
                format!(
                    "The required boxes of {} are ticked. Of other tasks, {} left.",
                    spoken_ids(tasks),
                    match open {
                        1 => "1 required box is".to_owned(),
                        open => format!("{open} required boxes are"),
                    }
                ),
                "`ralph run` without `--only` takes the others",
            ),
            Self::Gaps { gaps } => (
                format!(
                    "All required boxes are ticked, but the final report has {}: COMPLETE-WITH-GAPS.",
                    count(gaps.len() as u64, "gap")
                ),
                "read validation-report.md, add tasks for the gaps, and run `ralph run` again",
            ),
            Self::Blocked { reasons } => (
                format!("Work is left and blocked. {}", reasons.join(" ")),
                "see progress.txt; then `ralph run --retry <ID>`, or `ralph accept <ID> --reason …`",
            ),
            Self::Stuck { reasons } => (
                format!(
                    "Work is left and none of it can be taken. {}",
                    reasons.join(" ")
                ),
                "write `- [ ] …` for what is open and `- [x] …` for what is done; `ralph check` explains each line",
            ),
            Self::Approval { task, words, hint } => (
                format!("The run waits for a person at {}: {words}", spoken_id(task)),
                hint,
            ),
            Self::Iterations { count: limit } => (
                format!("The limit of {} was reached.", count(*limit, "iteration")),
                GO_ON,
            ),
            Self::Wall => ("The wall limit of the run was reached.".to_owned(), GO_ON),
            Self::Budget { what } => (
                what.clone(),
                "raise `limits.cost` or `limits.tokens`; for a task, `ralph run --retry <ID>` counts it from nothing",
            ),
            Self::NoProgress { iterations } => (
                format!("No box, HEAD or verdict changed for {iterations} iterations."),
                "read the agent's log under .ralph/state/iter-N/ before the next run",
            ),
            Self::Interrupted { signal } => (format!("Signal {signal} ended the run."), GO_ON),
            Self::NotSetUp { why, hint } => (why.clone(), hint),
            Self::GateError { gate, why, hint } => (format!("{gate} gave no verdict: {why}"), hint),
            Self::Refused { problems } => (
                problems.join("\n"),
                "fix the file; `ralph check` lists everything that is wrong",
            ),
            Self::Dirty { files } => (
                format!(
                    "There are uncommitted changes that no attempt left: {}.",
                    files.join(", ")
                ),
                "commit, stash or remove them; if `git status` shows none of them, a filter of git changes them: see \
                 docs/troubleshooting.md",
            ),
        }
    }

    /// Returns the next action for a person; empty without one.
    pub fn hint(&self) -> &str {
        self.words().1
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().0)
    }
}
