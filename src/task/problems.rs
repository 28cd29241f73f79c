//! What makes a run refuse a task file; a file without problems has one box for each key.

use super::family::Task;
use super::file::TaskFile;
use super::stage::Stage;
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// Why a run refuses a task file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// There are two boxes `2.PITEST`.
    DoubledStage,
    /// There is a `2.PITEST`, but no `2.`.
    OrphanStage,
    /// There is a `2.PITEST`, and two boxes `2.`.
    StageOfDoubledTask,
    /// A gate is placed after tasks that do not exist, or whose id is used twice.
    PlacedAfterNoTask,
}

/// A reason why a run refuses a task file.
pub type Problem = Finding<ProblemKind>;

/// What a person should know about a line of a task file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding<K> {
    /// 1-based line in the task file.
    pub line: u32,
    /// Which rule is broken.
    pub kind: K,
    /// What is wrong, a whole sentence.
    pub message: String,
    /// What to do about it, a whole sentence.
    pub hint: String,
}

impl TaskFile {
    /// What makes a run refuse this file, by line; empty for a file that can be run.
    pub fn problems(&self) -> Vec<Problem> {
        let mut implementations: HashSet<&str> = HashSet::new();
        let mut doubled: HashSet<&str> = HashSet::new();
        for task in self.tasks.iter().filter(|task| task.is_implementation()) {
            if let Some(id) = task.id() {
                if task.doubled.is_some() {
                    doubled.insert(id)
                } else {
                    implementations.insert(id)
                };
            }
        }
        let mut first = HashMap::new();
        let mut problems = Vec::new();
        for task in self.tasks.iter().filter(|task| !task.is_implementation()) {
            let line = *first.entry(&task.key).or_insert(task.found.line);
            if line != task.found.line {
                problems.push(problem(task, ProblemKind::DoubledStage, line));
            }
            let family = task.key.family.as_str();
            if !needs_implementation(task) || implementations.contains(family) {
                continue;
            }
            let is_doubled = doubled.contains(family);
            let kind = if is_doubled { ProblemKind::StageOfDoubledTask } else { ProblemKind::OrphanStage };
            problems.push(problem(task, kind, line));
        }
        problems
    }
}

fn needs_implementation(task: &Task) -> bool {
    !matches!(task.key.stage, Stage::Integ | Stage::Final) && !task.key.is_wider_gate()
}

fn problem(task: &Task, kind: ProblemKind, first: u32) -> Problem {
    let (key, family, line) = (&task.key, &task.key.family, task.found.line);
    let (message, hint) = match kind {
        ProblemKind::DoubledStage => (
            format!("`{key}` is on line {first} and again on line {line}."),
            "Remove one of the two lines, or give one of them another id.".to_owned(),
        ),
        ProblemKind::StageOfDoubledTask => (
            format!("`{key}` is a stage of task `{family}.`, which this file has more than once."),
            format!("Give each task an id of its own, so that it is clear which `{family}.` is meant."),
        ),
        ProblemKind::OrphanStage | ProblemKind::PlacedAfterNoTask => (
            format!("`{key}` is a stage of task `{family}.`, which has no box in this file."),
            format!("Add a line `- [ ] {family}. …` before it, or remove the stage."),
        ),
    };
    Problem { line, kind, message, hint }
}
