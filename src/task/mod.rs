//! The task file: tasks, ids, stages, families, and the one-byte edit.
//!
//! Owns: the grammar of `tasks.md` (docs/design.md "Task files") and every change
//! that ralph makes to its bytes.
//!
//! Promises: parsing is total over any bytes; a flip changes exactly one byte; what is placed or taken away
//! are whole lines; no other byte is ever rewritten, whatever the encoding, line ends or dialect.
//!
//! Refuses to know: the file system, who ticked a box, what happens next.

mod detail;
mod diagnose;
mod dialect;
mod edit;
mod exclude;
mod explain;
mod family;
mod file;
mod grammar;
mod nesting;
mod outline;
mod parents;
mod passed_over;
mod place;
mod reconcile;
mod remark;
mod scan;
mod sections;
mod stage;
mod stage_plan;
mod surgeon;
mod unwritten;
mod walk;

#[cfg(test)]
mod tests;

pub use crate::source::digest;
pub use detail::Detail;
pub use diagnose::{Problem, ProblemKind};
pub use dialect::{Dialect, DialectFound, dialect};
pub use edit::{Edit, EditConflict, Flip, FlipError, with_marks};
pub use explain::{Explained, ExplainedTask, ReadAs};
pub use file::TaskFile;
pub use grammar::Grammar;
pub use parents::parents;
pub use place::{NoSuchTasks, Placement, Side, Wanted, gates_wanted};
pub use reconcile::{BoxClaim, Reconciled, reconcile};
pub use remark::{Remark, RemarkKind};
pub use sections::{LeftOut, Sections};
pub use stage::{Stage, TaskKey};
pub use stage_plan::{Staged, stages_wanted};
pub use surgeon::{Surgery, SurgeryError};
pub use unwritten::{Stages, on_file, written};

use serde::{Deserialize, Serialize};

/// The character between the brackets of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mark(pub char);

impl Mark {
    /// The open box, `[ ]`.
    pub const OPEN: Self = Self(' ');
    /// The ticked box, `[x]`.
    pub const DONE: Self = Self('x');

    /// `[ ]` (or `[\t]`, which Markdown reads as open).
    pub fn is_open(self) -> bool {
        matches!(self.0, ' ' | '\t')
    }

    /// `[x]` or `[X]`.
    pub fn is_done(self) -> bool {
        matches!(self.0, 'x' | 'X')
    }
}

/// One task as the machine and the journal see it: a box with what decides whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Family and stage: the name under which the machine keeps this box.
    pub key: TaskKey,
    /// 1-based line in `tasks.md`.
    pub line: u32,
    /// What stands between the brackets.
    pub mark: Mark,
    /// `[ ]*` or `1.2*`, or a stage of such a task: taken only with `--optional`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// The family of the parent task, if any (by id, then heading number, then indentation).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// 1-based ordinal of the nearest heading above, 0 when there is none.
    pub group: u32,
    /// The text of the task without box, id and stage, control characters removed, at most 500 bytes.
    pub text: String,
    /// First 16 hex digits of the SHA-256 of the task's whole text (white space folded).
    pub digest: String,
    /// The text matches the configured `checkpoints:` pattern.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checkpoint: bool,
    /// The stage has no line of its own (`stages: virtual`): `line` is that of its task.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unwritten: bool,
}

impl Row {
    /// True when both are the same box, whatever is ticked: read by the same rules, at the same place.
    pub fn is_same_box(&self, other: &Self) -> bool {
        self.key == other.key
            && self.line == other.line
            && self.optional == other.optional
            && self.parent == other.parent
            && self.group == other.group
            && self.digest == other.digest
            && self.checkpoint == other.checkpoint
            && self.unwritten == other.unwritten
    }
}
