//! The exit codes (docs/design.md "Exit codes"). A number never changes its meaning.

use crate::engine::FaultKind;
use crate::machine::stop::StopReason;
use crate::mutation::Verdict;

/// Exit status of a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: all done; for questions: yes.
    Done,
    /// 1: stopped with work left: a task is blocked, or the final report has gaps; for questions: no.
    /// (`check` found errors, a gate gave FAIL.)
    WorkLeft,
    /// 2: wrong usage or configuration, an agent that is not set up, or uncommitted changes at the start.
    Usage,
    /// 3: a gate gave no verdict; for questions: could not tell.
    NoVerdict,
    /// 4: tasks.md, git or the journal were changed during the run and could not be restored.
    Changed,
    /// 5: a limit was reached (iterations, time).
    Limit,
    /// 6: no progress.
    NoProgress,
    /// 70: a fault in ralph.
    Internal,
    /// 74: a disk or I/O error.
    Io,
    /// 75: another run holds the workspace, or a process of an earlier one still lives.
    Busy,
    /// 128 + signal: 129 HUP, 130 INT, 143 TERM.
    Signal(i32),
}

impl Exit {
    /// The number.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::WorkLeft => 1,
            Self::Usage => 2,
            Self::NoVerdict => 3,
            Self::Changed => 4,
            Self::Limit => 5,
            Self::NoProgress => 6,
            Self::Internal => 70,
            Self::Io => 74,
            Self::Busy => 75,
            Self::Signal(signal) => 128_u8.saturating_add(u8::try_from(signal).unwrap_or(0)),
        }
    }
}

impl From<FaultKind> for Exit {
    fn from(kind: FaultKind) -> Self {
        match kind {
            FaultKind::Setup => Self::Usage,
            FaultKind::Unknown => Self::NoVerdict,
            FaultKind::Changed => Self::Changed,
            FaultKind::Internal => Self::Internal,
            FaultKind::Io => Self::Io,
            FaultKind::Busy => Self::Busy,
        }
    }
}

impl From<&StopReason> for Exit {
    fn from(stop: &StopReason) -> Self {
        match stop {
            StopReason::AllDone | StopReason::OnlyDone { .. } => Self::Done,
            StopReason::Gaps { .. }
            | StopReason::Blocked { .. }
            | StopReason::Stuck { .. }
            | StopReason::Approval { .. } => Self::WorkLeft,
            StopReason::Iterations { .. } | StopReason::Wall | StopReason::Budget { .. } => {
                Self::Limit
            }
            StopReason::NoProgress { .. } => Self::NoProgress,
            StopReason::Interrupted { signal } => Self::Signal(*signal),
            StopReason::GateError { .. } => Self::NoVerdict,
            StopReason::NotSetUp { .. } | StopReason::Refused { .. } | StopReason::Dirty { .. } => {
                Self::Usage
            }
        }
    }
}

impl From<&Verdict> for Exit {
    fn from(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Pass | Verdict::Skip { .. } => Self::Done,
            Verdict::Fail { .. } => Self::WorkLeft,
            Verdict::Error { .. } => Self::NoVerdict,
        }
    }
}
