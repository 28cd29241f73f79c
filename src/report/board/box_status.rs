//! What a box is said to be: in words, short, and for programs.

use crate::task::Mark;

/// What a box is said to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxStatus {
    /// Something is being done for it now.
    Running,
    /// Ticked by ralph, with nothing but a commit behind it.
    CommitOnly,
    /// Ticked by a person.
    ByPerson,
    /// Ticked with this verdict.
    Passed(&'static str),
    /// Ticked by ralph.
    Done,
    /// Ticked in the file, which the journal does not tell yet.
    Unrecorded,
    /// Open, and its family is blocked.
    Blocked,
    /// Holds a mark that is not ralph's.
    Marked(char),
    /// Open after so many rejected attempts in a row.
    Rejected(u32),
    /// Open after this verdict: FAIL or ERROR.
    Failed(&'static str),
    /// Work that a FAIL opened, so many times by now.
    Rework(u32),
    /// Open, and taken with `--optional` only.
    Optional,
    /// Open.
    Open,
}

impl BoxStatus {
    /// For people; at most 12 columns.
    pub fn words(self) -> String {
        match self {
            Self::ByPerson => "person".to_owned(),
            Self::Passed(verdict) | Self::Failed(verdict) => verdict.to_owned(),
            Self::Marked(mark) => format!("[{mark}]"),
            Self::Rejected(count) | Self::Rework(count) => format!("{} {}", self.name(), count.min(999)),
            _ => self.name().replace('-', " "),
        }
    }

    /// The same in at most 5 columns.
    pub fn short(self) -> String {
        match self {
            Self::Running => "run".to_owned(),
            Self::CommitOnly => "cmt".to_owned(),
            Self::ByPerson => "pers".to_owned(),
            Self::Unrecorded => "unrec".to_owned(),
            Self::Blocked => "blkd".to_owned(),
            Self::Rejected(count) => format!("rej{}", count.min(99)),
            Self::Rework(count) => format!("rwk{}", count.min(99)),
            Self::Optional => "opt".to_owned(),
            _ => self.words(),
        }
    }

    /// For programs: one word that keeps its meaning.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::CommitOnly => "commit-only",
            Self::ByPerson => "by-person",
            Self::Passed(_) => "passed",
            Self::Done => "done",
            Self::Unrecorded => "unrecorded",
            Self::Blocked => "blocked",
            Self::Marked(_) => "marked",
            Self::Rejected(_) => "rejected",
            Self::Failed(_) => "failed",
            Self::Rework(_) => "rework",
            Self::Optional => "optional",
            Self::Open => "open",
        }
    }

    /// What a cell with it means to people; `None` for what says it itself.
    pub fn meaning(self) -> Option<&'static str> {
        Some(match self {
            Self::CommitOnly => "ticked, with nothing but a commit behind it",
            Self::ByPerson => "ticked by a person",
            Self::Unrecorded => "ticked in the file, which no run has recorded yet",
            Self::Blocked => "open, and its task is blocked: `ralph run --retry ID`",
            Self::Marked(_) => "a mark that ralph leaves alone",
            Self::Rejected(_) => "open after so many rejected attempts in a row",
            Self::Rework(_) => "open again after so many FAILs",
            Self::Optional => "open, and taken with `--optional` only",
            Self::Running | Self::Passed(_) | Self::Done | Self::Failed(_) | Self::Open => return None,
        })
    }

    /// A mark that is not ralph's, as far as it can be shown in one column.
    pub(super) fn of_mark(mark: Mark) -> Self {
        let is_plain = mark.0.is_ascii_graphic();
        Self::Marked(if is_plain { mark.0 } else { '?' })
    }
}
