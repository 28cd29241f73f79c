//! The closed set of stages, and the key that identifies a box.

use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum Stage {
    /// `N.TEST-FIRST`: the test writer.
    TestFirst,
    /// `N.`: the worker.
    #[default]
    Implementation,
    /// `N.REQ-CHECK`: the requirements reviewer.
    ReqCheck,
    /// `N.PRE-CR`: the quality reviewer.
    PreCr,
    /// `N.INTEG`: the integration tester.
    Integ,
    /// `FINAL`: the validator and the final gate.
    Final,
    /// `N.PITEST` or another configured gate, by its name.
    Gate(String),
}

/// The words of all stages except gates, in the order of a file. Gates come before PRE-CR.
const WORDS: [(Stage, &str); 6] = [
    (Stage::TestFirst, "TEST-FIRST"),
    (Stage::Implementation, "IMPLEMENT"),
    (Stage::ReqCheck, "REQ-CHECK"),
    (Stage::PreCr, "PRE-CR"),
    (Stage::Integ, "INTEG"),
    (Stage::Final, "FINAL"),
];

impl Stage {
    /// Returns the word after the id, as in `RALPH_STAGE`.
    ///
    /// It is `IMPLEMENT` for the implementation, which has no word in the file.
    pub fn stage_word(&self) -> &str {
        match self {
            Self::Gate(name) => name,
            _ => WORDS
                .iter()
                .find(|(stage, _)| stage == self)
                .map_or("", |(_, word)| word),
        }
    }

    /// True for REQ-CHECK and PRE-CR.
    pub fn is_review(&self) -> bool {
        matches!(self, Self::ReqCheck | Self::PreCr)
    }

    /// True for the implementation and INTEG, which change production code.
    pub fn is_work(&self) -> bool {
        matches!(self, Self::Implementation | Self::Integ)
    }

    /// True for a deterministic judge that ralph runs.
    pub fn is_gate(&self) -> bool {
        matches!(self, Self::Gate(_))
    }

    /// Returns its index in the order of the stages of a file.
    pub fn stage_rank(&self) -> usize {
        WORDS
            .iter()
            .position(|(stage, _)| stage == self)
            .map_or(5, |at| at * 2)
    }
}

impl From<Stage> for String {
    fn from(stage: Stage) -> Self {
        stage.stage_word().to_owned()
    }
}

impl From<String> for Stage {
    fn from(word: String) -> Self {
        let known = WORDS.iter().find(|(_, known)| *known == word);
        known.map_or_else(|| Self::Gate(word), |(stage, _)| stage.clone())
    }
}

/// The name of a box: its family and its stage. Unique in a task file that [`super::TaskFile`] accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TaskKey {
    /// The id (`2`, `1.2`, `T012`), or `FINAL` for a FINAL without an id.
    ///
    /// A line without a usable id has `~<16 hex digits of the text>#<occurrence>`.
    pub family: String,
    pub stage: Stage,
}

impl TaskKey {
    /// True if an id in the file names the family, not its text.
    pub fn has_id(&self) -> bool {
        !self.family.starts_with('~')
    }

    /// Returns the id as the file has it: `2.`, `2.TEST-FIRST`, `FINAL`. A family without an id is `task`.
    pub fn written_id(&self) -> String {
        let family = if self.has_id() {
            self.family.as_str()
        } else {
            "task"
        };
        match &self.stage {
            Stage::Final if family == "FINAL" => family.to_owned(),
            Stage::Implementation => format!("{family}."),
            stage => format!("{family}.{}", stage.stage_word()),
        }
    }

    /// Returns the name for programs and prompts: the id as the file has it, or without an id `tasks.md:12`.
    pub fn written_name(&self, line: u32) -> String {
        match &self.stage {
            _ if self.has_id() => self.written_id(),
            Stage::Implementation => format!("tasks.md:{line}"),
            stage => format!("tasks.md:{line}.{}", stage.stage_word()),
        }
    }

    /// Returns the name in a sentence: `task 2`, `2.PITEST`, or without an id `tasks.md:12`.
    pub fn spoken_name(&self, line: u32) -> String {
        spoken_id(&self.written_name(line))
    }

    /// Returns the name that users see in a table and type: `2`, `2.PITEST`, or without an id `tasks.md:12`.
    pub fn typed_name(&self, line: u32) -> String {
        typed_id(&self.written_name(line)).to_owned()
    }

    /// True for a gate over more than its own task: `G2.PITEST`, `END.PITEST`.
    pub fn is_wider_gate(&self) -> bool {
        self.stage.is_gate() && is_wide(&self.family)
    }
}

/// True for `G2` and `END`, which are families of wider gates. No task has them as its id.
pub(super) fn is_wide(family: &str) -> bool {
    family == "END"
        || family
            .strip_prefix('G')
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// Returns an id without the dot that ends it in the file.
pub fn typed_id(id: &str) -> &str {
    id.strip_suffix('.').unwrap_or(id)
}

/// Returns an id as a sentence names it: `task 2`, `2.PITEST`.
///
/// The dot of `2.` would read as the end of a sentence, and a bare number as a count.
pub fn spoken_id(id: &str) -> String {
    match id.strip_suffix('.') {
        Some(family) if family != "task" => format!("task {family}"),
        Some(family) => family.to_owned(),
        None => id.to_owned(),
    }
}

/// Returns these ids as a sentence names them.
pub fn spoken_ids(ids: &[String]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| spoken_id(id)).collect();
    ids.join(", ")
}

impl fmt::Display for TaskKey {
    /// Writes the key as a sentence names it, see [`spoken_id`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&spoken_id(&self.written_id()))
    }
}
