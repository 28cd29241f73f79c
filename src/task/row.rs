//! One box of a task file in the form that the machine and the journal keep.

use super::stage::TaskKey;
use crate::source::text::line;
use serde::{Deserialize, Serialize};

/// Maximum length of a text that replaces an id, in characters.
const SHOWN: usize = 40;

/// The character between the brackets of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mark(pub char);

impl Mark {
    /// An open box, `[ ]`.
    pub const OPEN: Self = Self(' ');
    /// A ticked box, `[x]`.
    pub const DONE: Self = Self('x');

    /// True for `[ ]`, and for `[\t]`, which Markdown reads as open.
    pub fn is_open(self) -> bool {
        matches!(self.0, ' ' | '\t')
    }

    /// True if both are open, both are done, or they are equal.
    pub fn is_same_state(self, other: Self) -> bool {
        self == other || (self.is_open() && other.is_open()) || (self.is_done() && other.is_done())
    }

    /// True for `[x]` or `[X]`.
    pub fn is_done(self) -> bool {
        matches!(self.0, 'x' | 'X')
    }
}

/// One task for the machine and the journal: a box with the properties that decide the next step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and the journal names each"
)]
pub struct Row {
    /// Family and stage: the name of this box in the machine.
    pub key: TaskKey,
    /// 1-based line in `tasks.md`.
    pub line: u32,
    pub mark: Mark,
    /// True for `[ ]*` or `1.2*`, or a stage of such a task: run only with `--optional`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// The family of the parent task, if any (by id, then heading number, then indentation).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// 1-based ordinal of the nearest heading above, 0 without one.
    pub group: u32,
    /// The text without box, id, stage and hidden characters, at most 500 characters.
    pub text: String,
    /// First 16 hex digits of the SHA-256 of the task's whole text (white space folded).
    pub digest: String,
    /// Digest of the lines indented below it, empty without such lines. Missing in older journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under: Option<String>,
    /// True if the work is struck out (`~~2. …~~`, `[removed]`): never run, never required.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub struck: bool,
    /// True if a user has to tick it before the run continues: `APPROVE …`, or a line that says to stop and wait.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approval: bool,
    /// True for a checkpoint.
    ///
    /// Its text matches the configured `checkpoints:` pattern, or a line below it says to commit nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checkpoint: bool,
    /// The ids of the tasks that it names as its needs; `None` if it names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<Vec<String>>,
    /// The id of the heading whose needs these are; its tasks are done in their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_package: Option<String>,
    /// True if the stage has no line of its own (`stages: virtual`). `line` is then that of its task.
    #[serde(
        rename = "unwritten",
        default,
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub is_virtual: bool,
}

impl Row {
    /// Returns its name in a sentence: `task 2`, `2.PITEST`, or with its first words `tasks.md:12 “Write the docs”`.
    pub fn row_title(&self) -> String {
        if self.key.has_id() {
            return self.key.to_string();
        }
        let name = self.key.typed_name(self.line);
        format!("{name} “{}”", line(&self.text, SHOWN))
    }

    /// True if both are the same box, read by the same rules at the same line. Marks may differ.
    pub fn is_same_box(&self, other: &Self) -> bool {
        Self {
            mark: self.mark,
            text: self.text.clone(),
            ..other.clone()
        } == *self
    }
}
