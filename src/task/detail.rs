//! What stands about a task beside its box and its id: requirements, priority, marks.
//!
//! Owns: the reading of sub-bullets such as `_Requirements: 1.1_` and of marks such as `[P]`, `[US1]`,
//! `(WP01)`, `P1`.
//!
//! Promises: a pure reading, linear in the bytes and bounded; none of it decides what is a task or whose
//! turn it is.
//!
//! Refuses to know: whether a requirement exists.

mod files;
mod marks;

use super::file::clean;
use super::nesting::OpenHeadings;
use super::scan::{indent, item};
use super::walk::{Stands, walk};
use super::{Stage, TaskFile, TaskKey};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Most references and tags that are kept of one task.
const MAX_KEPT: usize = 64;
/// Longest reference in words, bytes.
const MAX_WORDS: usize = 80;
/// Longest line behind which a label is looked for, bytes.
const MAX_LABEL: usize = 48;

/// The words before a colon that name requirements, lower case: English and the languages in which Kiro
/// and cc-sdd write their files.
const REQUIREMENTS: &[&str] = &[
    "requirements",
    "requirement",
    "requirement refs",
    "requirements refs",
    "validates",
    "requisitos",
    "需求",
    "要求",
    "要件",
    "요구사항",
    "요구 사항",
    "anforderungen",
    "exigences",
    "requisiti",
    "требования",
    "вимоги",
    "wymagania",
    "gereksinimler",
    "yêu cầu",
    "المتطلبات",
];

/// The words before a colon that may name requirements as well as commands: they do when the word for
/// requirements follows, as in `**Verifies**: Requirement 3`.
const VERIFIES: &[&str] = &["verifies", "验证"];

/// What a task file says about one task beside box, id and text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    /// The requirements that it refers to, as they are written (`1.1`, `2.1-2.4`, `FR-018`, `US1`), each
    /// once; words where a label has no number (`All backend requirements`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<String>,
    /// 0 to 4 for `P0` to `P4`, of the task or of the nearest heading over it that names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// `[P]` or `(P)`: may be done beside its neighbours. ralph does one task at a time anyway.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub parallel: bool,
    /// Other marks: `VERIFY`, `RED`, `WP01`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The files that it names, in its box's line or below.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// A word before a colon that tells which tool wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Label {
    Requirements,
    Boundary,
    Depends,
    Do,
    Files,
    DoneWhen,
    Verify,
    Commit,
}

/// The details of all tasks, and how often each label stands there.
#[derive(Debug, Default)]
pub(super) struct Details {
    pub(super) of: Vec<Detail>,
    pub(super) labels: HashMap<Label, u32>,
    /// The lines that name requirements, ascending, each with the task that they belong to.
    pub(super) told: Vec<(u32, usize)>,
}

impl TaskFile {
    /// What stands about each task, in document order, as [`TaskFile::rows`].
    pub fn details(&self) -> Vec<Detail> {
        details(self).of
    }

    /// The requirements that the box of a key refers to, its family's implementation included.
    pub fn requirements_of(&self, key: &TaskKey) -> Vec<String> {
        let own = |task: &&super::family::Task| {
            task.key.family == key.family
                && (task.key.stage == key.stage || task.key.stage == Stage::Implementation)
        };
        let details = self.details();
        let mut found = Vec::new();
        for (_, detail) in self.tasks.iter().zip(&details).filter(|(task, _)| own(task)) {
            for reference in &detail.requirements {
                keep(&mut found, reference.clone());
            }
        }
        found
    }
}

/// Reads all lines once.
pub(super) fn details(file: &TaskFile) -> Details {
    let mut found = Details { of: vec![Detail::default(); file.tasks.len()], ..Details::default() };
    // The tasks whose list items are open, with the columns of their bullets.
    let mut open: Vec<(u32, usize)> = Vec::new();
    let mut above: OpenHeadings<Option<u8>> = OpenHeadings::default();
    for walked in walk(file) {
        let (gap, column) = indent(walked.text, 0);
        match walked.stands {
            Stands::Heading(at) => {
                open.clear();
                let level = file.headings.get(at).map_or(0, |heading| heading.level);
                above.begin(level, marks::priority(walked.text));
            }
            Stands::Task(at) => {
                let column = item(walked.text).map_or(column, |item| item.column);
                close(&mut open, column);
                open.push((column, at));
                if let (Some(task), Some(detail)) = (file.tasks.get(at), found.of.get_mut(at)) {
                    let words = file.bytes.get(task.words..task.found.text.end).unwrap_or_default();
                    marks::read(words, detail);
                    files::read(words, &mut detail.files);
                    detail.priority = detail.priority.or_else(|| above.iter().rev().find_map(|named| *named));
                }
            }
            // Its lines are no task's.
            Stands::LeftOut(_) => open.clear(),
            Stands::Text if gap < walked.text.len() => {
                close(&mut open, column);
                if let Some(detail) = open.last().and_then(|(_, at)| found.of.get_mut(*at)) {
                    files::read(walked.text, &mut detail.files);
                }
                let Some((label, value)) = label(walked.text.get(gap..).unwrap_or_default()) else {
                    continue;
                };
                let owner = open.last().map(|(_, owner)| owner).filter(|_| label == Label::Requirements);
                // A paragraph that begins so belongs to no task and tells nothing.
                if owner.is_some() || label != Label::Requirements {
                    *found.labels.entry(label).or_default() += 1;
                }
                let Some(owner) = owner else { continue };
                found.told.push((walked.number, *owner));
                if let Some(detail) = found.of.get_mut(*owner) {
                    requirements(&value, &mut detail.requirements);
                }
            }
            Stands::Text | Stands::Hidden(..) => {}
        }
    }
    found
}

fn close(open: &mut Vec<(u32, usize)>, column: u32) {
    while open.last().is_some_and(|(at, _)| *at >= column) {
        open.pop();
    }
}

/// Adds what is not there yet.
fn keep(list: &mut Vec<String>, text: String) {
    if !text.is_empty() && list.len() < MAX_KEPT && !list.contains(&text) {
        list.push(text);
    }
}

/// `- _Requirements: 1.1_`, `**Do**: x`, `*Files:* y`: the label and what follows it.
fn label(text: &[u8]) -> Option<(Label, String)> {
    let text = item(text).map_or(text, |item| text.get(item.content..).unwrap_or_default());
    let is_marked = matches!(text.first(), Some(b'_' | b'*' | b'\\'));
    let near = text.get(..text.len().min(MAX_LABEL)).unwrap_or_default();
    let (at, width) = near.iter().enumerate().find_map(|(at, byte)| match byte {
        b':' => Some((at, 1)),
        0xef if near.get(at..)?.starts_with("：".as_bytes()) => Some((at, "：".len())),
        _ => None,
    })?;
    let emphasis = |c: char| matches!(c, '_' | '*' | '\\') || c.is_whitespace();
    let word = std::str::from_utf8(near.get(..at)?).ok()?.trim_matches(emphasis).to_lowercase();
    let label = match word.as_str() {
        word if REQUIREMENTS.contains(&word) => Label::Requirements,
        word if VERIFIES.contains(&word) && names_requirements(text.get(at + width..)?) => {
            Label::Requirements
        }
        _ if !is_marked => return None,
        "boundary" => Label::Boundary,
        "depends" => Label::Depends,
        "do" => Label::Do,
        "files" => Label::Files,
        "done when" => Label::DoneWhen,
        "verify" => Label::Verify,
        "commit" => Label::Commit,
        _ => return None,
    };
    let value = clean("", text.get(at + width..)?);
    Some((label, value.trim_matches(emphasis).to_owned()))
}

/// True for what begins with a word for requirements: `Requirement 1, 2`.
fn names_requirements(value: &[u8]) -> bool {
    let near = value.get(..value.len().min(MAX_LABEL)).unwrap_or_default();
    let near = String::from_utf8_lossy(near).to_lowercase();
    let near = near.trim_start_matches(|c: char| matches!(c, '_' | '*' | '\\') || c.is_whitespace());
    REQUIREMENTS
        .iter()
        .filter_map(|word| near.strip_prefix(word))
        .any(|rest| rest.chars().next().is_some_and(|next| !next.is_alphabetic() || !next.is_ascii()))
}

/// The references in what follows a label; the words themselves where there is none.
fn requirements(value: &str, list: &mut Vec<String>) {
    let mut found = false;
    let ends = |c: char| {
        c.is_whitespace() || matches!(c, ',' | ';' | '、' | '，' | '；' | '(' | ')' | '[' | ']' | '/')
    };
    for word in value.split(ends).map(|word| word.trim_matches(['.', '*', '_', '`'])) {
        if marks::is_reference(word) {
            found = true;
            keep(list, word.to_owned());
        }
    }
    if !found {
        let end = (0..=value.len().min(MAX_WORDS)).rev().find(|at| value.is_char_boundary(*at));
        keep(list, value.get(..end.unwrap_or(0)).unwrap_or_default().trim_end().to_owned());
    }
}
