//! One box of a task file as the machine and the journal keep it.

use super::stage::TaskKey;
use crate::source::text::line;
use serde::{Deserialize, Serialize};

/// Most characters of a text that stand for an id.
const SHOWN: usize = 40;

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

    /// True if both are open, both are done, or they are equal.
    pub fn is_same_state(self, other: Self) -> bool {
        self == other || (self.is_open() && other.is_open()) || (self.is_done() && other.is_done())
    }

    /// `[x]` or `[X]`.
    pub fn is_done(self) -> bool {
        matches!(self.0, 'x' | 'X')
    }
}

/// One task as the machine and the journal see it: a box with what decides whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and the journal names each"
)]
pub struct Row {
    /// Family and stage: the name under which the machine keeps this box.
    pub key: TaskKey,
    /// 1-based line in `tasks.md`.
    pub line: u32,
    /// The character between the brackets.
    pub mark: Mark,
    /// `[ ]*` or `1.2*`, or a stage of such a task: taken only with `--optional`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// The family of the parent task, if any (by id, then heading number, then indentation).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// 1-based ordinal of the nearest heading above, 0 when there is none.
    pub group: u32,
    /// The text of the task without box, id and stage, hidden characters removed, at most 500 of them.
    pub text: String,
    /// First 16 hex digits of the SHA-256 of the task's whole text (white space folded).
    pub digest: String,
    /// The same of what is indented below it, empty if nothing is; not known in older journals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under: Option<String>,
    /// The work is struck out (`~~2. …~~`, `[removed]`): never taken, never required.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub struck: bool,
    /// A person has to tick it before the run goes on: `APPROVE …`, or a line of text that says to stop and wait.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approval: bool,
    /// The text matches the configured `checkpoints:` pattern, or what is below it says to commit nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub checkpoint: bool,
    /// The stage has no line of its own (`stages: virtual`): `line` is that of its task.
    #[serde(
        rename = "unwritten",
        default,
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub is_virtual: bool,
}

impl Row {
    /// Its name, and without an id its first words, too: `2.PITEST`, `tasks.md:12 “Write the docs”`.
    pub fn title(&self) -> String {
        let name = self.key.name(self.line);
        if self.key.has_id() {
            name
        } else {
            format!("{name} “{}”", line(&self.text, SHOWN))
        }
    }

    /// True when both are the same box, whatever is ticked: read by the same rules, at the same place.
    pub fn is_same_box(&self, other: &Self) -> bool {
        Self {
            mark: self.mark,
            text: self.text.clone(),
            ..other.clone()
        } == *self
    }
}
