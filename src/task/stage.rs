//! The closed set of stages, and the key under which a box is known.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The stage of a box.
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

/// The words of all stages but the gates, in the order of a file; gates come before PRE-CR.
const WORDS: [(Stage, &str); 6] = [
    (Stage::TestFirst, "TEST-FIRST"),
    (Stage::Implementation, "IMPLEMENT"),
    (Stage::ReqCheck, "REQ-CHECK"),
    (Stage::PreCr, "PRE-CR"),
    (Stage::Integ, "INTEG"),
    (Stage::Final, "FINAL"),
];

impl Stage {
    /// The word after the id; `IMPLEMENT` for the implementation (which has none in the file), as in
    /// `RALPH_STAGE`.
    pub fn word(&self) -> &str {
        match self {
            Self::Gate(name) => name,
            _ => WORDS
                .iter()
                .find(|(stage, _)| stage == self)
                .map_or("", |(_, word)| word),
        }
    }

    /// REQ-CHECK or PRE-CR.
    pub fn is_review(&self) -> bool {
        matches!(self, Self::ReqCheck | Self::PreCr)
    }

    /// The implementation or INTEG: what changes production code.
    pub fn is_work(&self) -> bool {
        matches!(self, Self::Implementation | Self::Integ)
    }

    /// A deterministic judge, run by ralph.
    pub fn is_gate(&self) -> bool {
        matches!(self, Self::Gate(_))
    }

    /// Its place in the order of the stages of a file.
    pub fn rank(&self) -> usize {
        WORDS
            .iter()
            .position(|(stage, _)| stage == self)
            .map_or(5, |at| at * 2)
    }
}

impl From<Stage> for String {
    fn from(stage: Stage) -> Self {
        stage.word().to_owned()
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
    /// The id (`2`, `1.2`, `T012`), or `~<16 hex digits of the text>#<occurrence>` for a line without a
    /// usable id; `FINAL` for a FINAL without an id.
    pub family: String,
    /// What is done for the family.
    pub stage: Stage,
}

impl TaskKey {
    /// True when the family is named by an id in the file, not by its text.
    pub fn has_id(&self) -> bool {
        !self.family.starts_with('~')
    }

    /// The name by which a person finds the box and types it: `2.PITEST`, or without an id `tasks.md:12`.
    pub fn name(&self, line: u32) -> String {
        match &self.stage {
            _ if self.has_id() => self.to_string(),
            Stage::Implementation => format!("tasks.md:{line}"),
            stage => format!("tasks.md:{line}.{}", stage.word()),
        }
    }

    /// True for a gate over more than its own task: `G2.PITEST`, `END.PITEST`.
    pub fn is_wider_gate(&self) -> bool {
        self.stage.is_gate() && is_wide(&self.family)
    }
}

/// True for `G2` and `END`: families of gates of wider reach, which no task has as its id.
pub(super) fn is_wide(family: &str) -> bool {
    family == "END"
        || family
            .strip_prefix('G')
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

impl fmt::Display for TaskKey {
    /// As the file writes it: `2.`, `2.TEST-FIRST`, `FINAL`; a family without an id prints as `task`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let family = if self.has_id() {
            self.family.as_str()
        } else {
            "task"
        };
        match &self.stage {
            Stage::Final if family == "FINAL" => f.write_str("FINAL"),
            Stage::Implementation => write!(f, "{family}."),
            stage => write!(f, "{family}.{}", stage.word()),
        }
    }
}
