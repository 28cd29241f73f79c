//! Status of a box: in words, short, and for programs.

use crate::task::Mark;

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
    Open,
}

impl BoxStatus {
    /// For programs; in at most 5 columns, if not as in words; what a cell with it means to people, if it does not say it
    /// itself.
    fn status_texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Running => ("running", "run", ""),
            Self::CommitOnly => (
                "commit-only",
                "cmt",
                "ticked, with nothing but a commit behind it",
            ),
            Self::ByPerson => ("by-person", "pers", "ticked by a person"),
            Self::Passed(_) => ("passed", "", ""),
            Self::Done => ("done", "", ""),
            Self::Unrecorded => (
                "unrecorded",
                "unrec",
                "ticked in the file, which no run has recorded yet",
            ),
            Self::Blocked => (
                "blocked",
                "blkd",
                "open, and its task is blocked: `ralph run --retry ID`",
            ),
            Self::Marked(_) => ("marked", "", "a mark that ralph leaves alone"),
            Self::Rejected(_) => (
                "rejected",
                "rej",
                "open after so many rejected attempts in a row",
            ),
            Self::Failed(_) => ("failed", "", ""),
            Self::Rework(_) => ("rework", "rwk", "open again after so many FAILs"),
            Self::Optional => ("optional", "opt", "open, and taken with `--optional` only"),
            Self::Open => ("open", "", ""),
        }
    }

    /// For people; at most 12 columns.
    pub fn status_words(self) -> String {
        match self {
            Self::ByPerson => "person".to_owned(),
            Self::Passed(verdict) | Self::Failed(verdict) => verdict.to_owned(),
            Self::Marked(mark) => format!("[{mark}]"),
            Self::Rejected(count) | Self::Rework(count) => {
                format!("{} {}", self.status_name(), count.min(999))
            }
            _ => self.status_name().replace('-', " "),
        }
    }

    /// The same in at most 5 columns.
    pub fn short_words(self) -> String {
        match (self, self.status_texts().1) {
            (Self::Rejected(count) | Self::Rework(count), short) => {
                format!("{short}{}", count.min(99))
            }
            (_, "") => self.status_words(),
            (_, short) => short.to_owned(),
        }
    }

    /// For programs: one word that keeps its meaning.
    pub fn status_name(self) -> &'static str {
        self.status_texts().0
    }

    /// Returns the meaning of its cell for people; `None` for what says it itself.
    pub fn cell_meaning(self) -> Option<&'static str> {
        Some(self.status_texts().2).filter(|meaning| !meaning.is_empty())
    }

    /// A mark that is not ralph's, as far as it can be shown in one column.
    pub(super) fn of_mark(mark: Mark) -> Self {
        let is_plain = mark.0.is_ascii_graphic();
        Self::Marked(if is_plain { mark.0 } else { '?' })
    }
}
