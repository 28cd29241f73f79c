//! What each line of a task file was read as.
//!
//! Owns: the explanation that `ralph check --explain` shows.
//!
//! Promises: every line once, in order; what stands here is what the loop goes by, never a second reading.
//!
//! Refuses to know: how it is shown.

use super::detail::details;
use super::exclude::Kind;
use super::file::clean;
use super::walk::{Stands, Walked, walk};
use super::{Detail, LeftOut, Mark, Row, Stage, TaskFile};
use serde::Serialize;

/// A line and what it was read as.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// 1-based.
    pub line: u32,
    /// What it was read as.
    #[serde(flatten)]
    pub read: ReadAs,
}

/// What a line was read as.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "read", rename_all = "kebab-case")]
pub enum ReadAs {
    /// A task.
    Task(Box<ExplainedTask>),
    /// A heading: a group begins.
    Heading {
        /// 1 to 6.
        level: u8,
        /// Its ordinal in the file, from 1: the `2` of `G2.PITEST` means nothing but this group.
        group: u32,
        /// Its words.
        text: String,
    },
    /// A box in a section that holds no tasks.
    LeftOut {
        /// The pattern of `tasks.sections.exclude` that leaves it out; none when only `include` does.
        #[serde(skip_serializing_if = "Option::is_none")]
        pattern: Option<String>,
        /// The words.
        text: String,
    },
    /// Front matter: holds no tasks.
    FrontMatter,
    /// A code fence: holds no tasks.
    Fence,
    /// An HTML comment: holds no tasks.
    Comment,
    /// Text.
    Text {
        /// The line of the task whose requirements are named here.
        #[serde(skip_serializing_if = "Option::is_none")]
        requirements_of: Option<u32>,
    },
    /// Nothing.
    Blank,
}

/// A task, with all that was read of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedTask {
    /// The id that the line shows; none for a line without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// True when the id stands twice, so that the task is known by its text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub id_stands_twice: bool,
    /// The stage.
    pub stage: Stage,
    /// What stands in the box.
    pub mark: Mark,
    /// `[ ]*`, `7.9*`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
    /// The text matches `checkpoints:`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub checkpoint: bool,
    /// The line of the parent's box.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// The parent as the file names it; `task` where it has no id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_name: Option<String>,
    /// The heading's ordinal, 0 above all headings.
    pub group: u32,
    /// The words.
    pub text: String,
    /// Requirements, priority, marks.
    #[serde(flatten)]
    pub detail: Detail,
}

impl TaskFile {
    /// What each line was read as.
    pub fn explain(&self) -> Vec<Explained> {
        let (rows, details) = (self.rows(), details(self));
        let read = |walked: Walked<'_>| Explained {
            line: walked.number,
            read: match walked.stands {
                Stands::Task(at) => self.explained_task(at, &rows, &details.of),
                Stands::Heading(at) => self.explained_heading(at),
                Stands::LeftOut(at) => self.explained_left_out(at, walked.text),
                Stands::Hidden(Kind::FrontMatter, _) => ReadAs::FrontMatter,
                Stands::Hidden(Kind::Fence, _) => ReadAs::Fence,
                Stands::Hidden(Kind::Comment, _) => ReadAs::Comment,
                Stands::Text if walked.text.trim_ascii().is_empty() => ReadAs::Blank,
                Stands::Text => {
                    let told = details.told.binary_search_by_key(&walked.number, |(line, _)| *line).ok();
                    let owner = told.and_then(|at| self.tasks.get(details.told.get(at)?.1));
                    ReadAs::Text { requirements_of: owner.map(|task| task.found.line) }
                }
            },
        };
        walk(self).map(read).collect()
    }

    fn explained_task(&self, at: usize, rows: &[Row], details: &[Detail]) -> ReadAs {
        let (Some(task), Some(row)) = (self.tasks.get(at), rows.get(at)) else {
            return ReadAs::Text { requirements_of: None };
        };
        let parent = self.parent(task);
        ReadAs::Task(Box::new(ExplainedTask {
            id: task.id().map(str::to_owned),
            id_stands_twice: task.doubled.is_some(),
            stage: row.key.stage.clone(),
            mark: row.mark,
            optional: row.optional,
            checkpoint: row.checkpoint,
            parent: parent.map(|parent| parent.found.line),
            parent_name: parent
                .map(|parent| parent.id().map_or_else(|| parent.key.to_string(), |id| format!("{id}."))),
            group: row.group,
            text: row.text.clone(),
            detail: details.get(at).cloned().unwrap_or_default(),
        }))
    }

    fn explained_heading(&self, at: usize) -> ReadAs {
        let (level, title) = self.headings.get(at).map_or((0, 0..0), |h| (h.level, h.title.clone()));
        let text = clean("", self.bytes.get(title).unwrap_or_default());
        ReadAs::Heading { level, group: u32::try_from(at + 1).unwrap_or(u32::MAX), text }
    }

    fn explained_left_out(&self, at: usize, text: &[u8]) -> ReadAs {
        let pattern = match self.left_out.get(at) {
            Some((_, LeftOut::Excluded(pattern))) => Some(clean("", pattern.as_bytes())),
            _ => None,
        };
        ReadAs::LeftOut { pattern, text: clean("", text) }
    }
}
