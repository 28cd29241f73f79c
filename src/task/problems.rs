//! Finds the problems for which a run refuses a task file. A file without problems has one box for each key.

use super::family::NamedBox;
use super::file::TaskFile;
use super::grammar::{NoName, read_head};
use super::stage::Stage;
use serde::Serialize;
use std::collections::HashMap;
use std::fmt::Debug;

/// Name, message and hint of each kind. `{n}` is the line, `{0}` … are details.
const TEXTS: &str = include_str!("findings.txt");

/// The kinds of problems for which a run refuses a task file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// Two boxes `2.PITEST` exist.
    DoubledStage,
    /// A `2.PITEST` exists, but no `2.`.
    OrphanStage,
    /// A `2.PITEST` exists, and two boxes `2.`.
    StageOfDoubledTask,
    /// A `2.PITST` or `2.MUTMUT` exists, which is neither a stage nor a gate, and a `2.`.
    NoSuchStage,
    /// A gate is placed after tasks that do not exist, or whose id is used twice.
    PlacedAfterNoTask,
}

/// A problem for which a run refuses a task file.
pub type TaskFileProblem = TaskFileFinding<ProblemKind>;

/// A report about a line of a task file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskFileFinding<K> {
    /// 1-based line in the task file.
    pub line: u32,
    /// The broken rule.
    pub kind: K,
    /// Description of the problem, a whole sentence.
    pub message: String,
    /// Instruction to fix it, a whole sentence.
    pub hint: String,
}

impl<K: Debug> TaskFileFinding<K> {
    pub(super) fn new(line: u32, kind: K, details: &[&str]) -> Self {
        let name = format!("{kind:?}");
        let mut texts = TEXTS.split("\n\n").map(str::lines);
        let texts = texts.find_map(|mut texts| (texts.next()? == name).then_some(texts));
        let mut texts = texts.into_iter().flatten().map(|text| {
            let text = text.replace("{n}", &line.to_string());
            let all = ["{0}", "{1}", "{2}"].iter().zip(details);
            all.fold(text, |text, (place, detail)| text.replace(place, detail))
        });
        let [message, hint] = [texts.next(), texts.next()].map(Option::unwrap_or_default);
        debug_assert!(!hint.is_empty(), "{name} has no texts");
        Self {
            line,
            kind,
            message,
            hint,
        }
    }
}

impl TaskFile {
    /// Returns the problems of this file by line; empty for a file that can be run.
    pub fn find_problems(&self) -> Vec<TaskFileProblem> {
        let works = self.tasks.iter().filter(|task| task.is_implementation());
        // For each id of an implementation, true if several have it.
        let shown: HashMap<&str, bool> = works
            .filter_map(|task| Some((task.shown_id()?, task.doubled.is_some())))
            .collect();
        let mut first = HashMap::new();
        let mut problems = Vec::new();
        for task in self.tasks.iter().filter(|task| !task.is_implementation()) {
            let line = *first.entry(&task.key).or_insert(task.found.line);
            if line != task.found.line {
                problems.push(new_problem(task, ProblemKind::DoubledStage, line));
            }
            let kind = match shown.get(task.key.family.as_str()) {
                None => ProblemKind::OrphanStage,
                Some(true) => ProblemKind::StageOfDoubledTask,
                Some(false) => continue,
            };
            // INTEG, FINAL and gates of wider reach need no implementation.
            if !matches!(task.key.stage, Stage::Integ | Stage::Final) && !task.key.is_wider_gate() {
                problems.push(new_problem(task, kind, line));
            }
        }
        problems.extend(
            self.tasks
                .iter()
                .filter_map(|task| self.find_unknown_stage(task, &shown)),
        );
        problems.sort_by_key(|problem| problem.line);
        problems
    }

    /// Returns the problem of a word in capitals after the id of a task, which is meant to be a stage.
    fn find_unknown_stage(
        &self,
        task: &NamedBox,
        shown: &HashMap<&str, bool>,
    ) -> Option<TaskFileProblem> {
        let text = self.bytes.get(task.found.text.clone())?;
        let Err(NoName::UnknownStage { id, word }) = read_head(text, &self.grammar) else {
            return None;
        };
        let is_meant = shown.contains_key(id.as_str())
            && word.len() > 2
            && !word.bytes().any(|b| b.is_ascii_lowercase());
        is_meant.then(|| {
            let name = format!("{id}.{word}");
            TaskFileProblem::new(
                task.found.line,
                ProblemKind::NoSuchStage,
                &[&name, &id, &word],
            )
        })
    }
}

fn new_problem(task: &NamedBox, kind: ProblemKind, first: u32) -> TaskFileProblem {
    TaskFileProblem::new(
        task.found.line,
        kind,
        &[&task.key.to_string(), &task.key.family, &first.to_string()],
    )
}

#[cfg(test)]
mod tests {
    use super::{TEXTS, TaskFileFinding};
    use crate::task::RemarkKind;

    #[test]
    fn each_kind_has_its_texts() {
        let kinds: Vec<&str> = TEXTS
            .split("\n\n")
            .filter_map(|texts| texts.lines().next())
            .collect();
        assert_eq!(kinds.len(), 4 + RemarkKind::TooManyNeeds as usize + 1);
        assert!(TEXTS.split("\n\n").all(|texts| texts.lines().count() == 3));
        assert_eq!(kinds.last(), Some(&"TooManyNeeds"));
        let odd = TaskFileFinding::new(7, RemarkKind::DuplicateId, &["1", "3"]);
        assert_eq!(
            odd.message,
            "The id `1` is on line 3 and again on line 7; both tasks are identified by their text."
        );
    }
}
