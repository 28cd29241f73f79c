//! What makes a task file unusable.
//!
//! Owns: the two refusals of docs/design.md "Choice": a doubled `N.STAGE`, a stage without its `N.`.
//!
//! Promises: a file without problems has one box for each key.
//!
//! Refuses to know: what is merely odd (see `remark`).

use super::family::Task;
use super::{Stage, Staged, Stages, TaskFile, stages_wanted};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// Why a run refuses a task file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// `2.PITEST` stands twice.
    DoubledStage,
    /// `2.PITEST` stands there, `2.` does not.
    StageWithoutTask,
    /// `2.PITEST` stands there, and `2.` twice.
    StageOfDoubledTask,
    /// A gate is to stand after tasks that are not there, or that stand twice.
    PlacedAfterNoTask,
}

/// A reason why a run refuses a task file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// 1-based line in the task file.
    pub line: u32,
    /// Which rule is broken.
    pub kind: ProblemKind,
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
                problems.push(doubled_stage(task, line));
            }
            let family = task.key.family.as_str();
            if !needs_implementation(task) || implementations.contains(family) {
                continue;
            }
            problems.push(if doubled.contains(family) { of_doubled(task) } else { without_task(task) });
        }
        problems.extend(self.misplaced());
        problems
    }

    /// What keeps the stages without a line from their places.
    fn misplaced(&self) -> Option<Problem> {
        let Stages::Virtual { gates } = &self.grammar.stages else { return None };
        let why = stages_wanted(&self.rows(), Staged::Every, gates).err()?;
        Some(Problem {
            line: 1,
            kind: ProblemKind::PlacedAfterNoTask,
            message: why.to_string(),
            hint: "Name tasks that stand there once under `placement:` in .ralph/config.yaml.".to_owned(),
        })
    }
}

fn needs_implementation(task: &Task) -> bool {
    !matches!(task.key.stage, Stage::Integ | Stage::Final) && !task.is_wide_gate()
}

fn doubled_stage(task: &Task, first: u32) -> Problem {
    Problem {
        line: task.found.line,
        kind: ProblemKind::DoubledStage,
        message: format!("`{}` stands on line {first} and again on line {}.", task.key, task.found.line),
        hint: "Remove one of the two lines, or give one of them another id.".to_owned(),
    }
}

fn without_task(task: &Task) -> Problem {
    let family = &task.key.family;
    Problem {
        line: task.found.line,
        kind: ProblemKind::StageWithoutTask,
        message: format!("`{}` is a stage of task `{family}.`, which has no box in this file.", task.key),
        hint: format!("Add a line `- [ ] {family}. …` before it, or remove the stage."),
    }
}

fn of_doubled(task: &Task) -> Problem {
    let family = &task.key.family;
    Problem {
        line: task.found.line,
        kind: ProblemKind::StageOfDoubledTask,
        message: format!(
            "`{}` is a stage of task `{family}.`, which stands in this file more than once.",
            task.key
        ),
        hint: format!("Give each task an id of its own, so that it is clear which `{family}.` is meant."),
    }
}
