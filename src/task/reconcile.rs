//! Judges an agent's changes to the task file, and computes the file as it should be afterwards.
//!
//! - Boxes are restored.
//! - Added tasks are kept (open), with the text below them, if their id is new and they are below no old task.
//! - Everything else is restored. An agent's text cannot be distinguished from a user's, and reviewers judge by the
//!   text
//!   of a task.
//!
//! Each byte of the file before is in the result, in order. Additions are whole lines. The result is parsed again. If
//! the old boxes would be affected in any way, the added lines go to the end of the file, then without the lines
//! below them, and are dropped if that does not help either.

use super::exclude::bom_length;
use super::family::NamedBox;
use super::file::TaskFile;
use super::grammar::{Grammar, ancestor_ids};
use super::row::{Mark, Row};
use super::scan::{FileLine, ReadAs, line_column, scan_lines};
use super::stage::{Stage, TaskKey};
use crate::source::text::names;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// Maximum number of tasks in the message.
const NAMED: usize = 5;
/// Maximum length of a kept line, in bytes.
const MAX_LINE: usize = 4096;
/// Maximum number of lines kept from one attempt.
const MAX_LINES: usize = 100;

/// A box that an agent changed, as a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoxClaim {
    pub key: TaskKey,
    /// Its mark before the agent ran, which is restored.
    pub from: Mark,
    /// The mark that the agent wrote.
    pub to: Mark,
}

/// A task file after ralph judged an agent's changes to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reconciled {
    /// The bytes to write to the file.
    pub bytes: Vec<u8>,
    /// The boxes that exist before and after, and differ in state.
    pub claims: Vec<BoxClaim>,
    /// The added lines that were kept, in the form of `bytes` (box open), without line ends.
    pub added: Vec<String>,
    /// The tasks whose text, on their line or below it, was changed or removed, as words.
    ///
    /// Empty if only text elsewhere was restored. `None` if only boxes and line ends were restored.
    pub reworded: Option<String>,
}

/// An added line that may be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    /// Its line in the agent's file, 1-based.
    line: u32,
    key: TaskKey,
    /// The family of the task that it is below.
    parent: Option<String>,
    /// The line with its box open, without line end.
    text: String,
    /// The unchanged lines of text below it that belong to its list item.
    below: Vec<String>,
    /// Its position, an offset in the file before.
    at: usize,
}

/// Compares the file before an agent ran with the file after. `after` may be any bytes, and empty for a deleted file.
pub fn reconcile_files(before: &[u8], after: &[u8], grammar: &Grammar) -> Reconciled {
    let old = TaskFile::parse(before, grammar);
    let new = TaskFile::parse(after, grammar);
    let (old_rows, new_rows) = (old.box_rows(), new.box_rows());
    let claims = claimed_ticks(&old_rows, &new_rows);
    let (old_open, new_open) = (old.with_open(|_| true), new.with_open(|_| true));
    if old_open == new_open {
        return Reconciled {
            bytes: before.to_vec(),
            claims,
            added: Vec::new(),
            reworded: None,
        };
    }
    let old_lines = line_texts(&old_open);
    let new_lines = line_texts(&new_open);
    let mut candidates = find_candidates(&old, &new, &new_rows);
    place_candidates(&old_lines, &new_lines, &mut candidates);
    let (bytes, added) = insert_candidates(&old, &old_rows, &candidates);
    let kept = TaskFile::parse(bytes.clone(), grammar).with_open(|_| true);
    let is_all = line_texts(&kept)
        .iter()
        .map(|(_, text)| text)
        .eq(new_lines.iter().map(|(_, text)| text));
    let reworded = (!is_all).then(|| reworded_tasks(&old_rows, &new_rows));
    Reconciled {
        bytes,
        claims,
        added,
        reworded,
    }
}

fn reworded_tasks(before: &[Row], after: &[Row]) -> String {
    let after = by_key(after);
    let changed = before.iter().filter(|old| match after.get(&old.key) {
        Some(Some(now)) => (&now.digest, &now.under) != (&old.digest, &old.under),
        Some(None) => false,
        None => true,
    });
    names(changed.map(Row::row_title), NAMED)
}

fn claimed_ticks(before: &[Row], after: &[Row]) -> Vec<BoxClaim> {
    let after = by_key(after);
    let old_keys = by_key(before);
    // A key on two lines, before or after, identifies no box.
    let old_rows = before
        .iter()
        .filter(|row| matches!(old_keys.get(&row.key), Some(Some(_))));
    let pairs = old_rows.filter_map(|old| Some((old, (*after.get(&old.key)?)?)));
    let differ = pairs.filter(|(old, new)| !old.mark.is_same_state(new.mark));
    differ
        .map(|(old, new)| BoxClaim {
            key: old.key.clone(),
            from: old.mark,
            to: new.mark,
        })
        .collect()
}

/// Returns rows by key; `None` for a key on two lines.
fn by_key(rows: &[Row]) -> HashMap<&TaskKey, Option<&Row>> {
    let mut found = HashMap::with_capacity(rows.len());
    for row in rows {
        found
            .entry(&row.key)
            .and_modify(|row| *row = None)
            .or_insert(Some(row));
    }
    found
}

/// Returns the lines of a file without their line ends.
fn line_texts(bytes: &[u8]) -> Vec<(FileLine, &[u8])> {
    scan_lines(bytes, bom_length(bytes))
        .map(|line| (line, line.text_in(bytes)))
        .collect()
}

/// Gives each candidate the offset in the old file at which the agent put it: after the line that it follows.
///
/// A line of the new file is matched if it follows the last matched one, or if it is in both files exactly once.
fn place_candidates(
    old: &[(FileLine, &[u8])],
    new: &[(FileLine, &[u8])],
    candidates: &mut [Candidate],
) {
    let mut once: HashMap<&[u8], (u32, usize)> = HashMap::with_capacity(old.len());
    for (at, (_, text)) in old.iter().enumerate() {
        once.entry(text)
            .and_modify(|seen| seen.0 += 1)
            .or_insert((1, at));
    }
    let mut again: HashMap<&[u8], u32> = HashMap::with_capacity(new.len());
    for (_, text) in new {
        *again.entry(text).or_default() += 1;
    }
    let mut wanted = candidates.iter_mut().peekable();
    let mut next: usize = 0;
    for (number, (_, text)) in (1_u32..).zip(new) {
        if let Some(candidate) = wanted.next_if(|candidate| candidate.line == number) {
            let offset = next
                .checked_sub(1)
                .and_then(|last| old.get(last))
                .map(|(line, _)| line.next);
            candidate.at = offset.unwrap_or(old.first().map_or(0, |(line, _)| line.start));
        } else if old.get(next).is_some_and(|(_, expected)| expected == text) {
            next += 1;
        } else if let (Some((1, at)), Some(1)) = (once.get(text), again.get(text)) {
            next = at + 1;
        }
    }
}

/// Returns the tasks of `new` with an id that `old` does not have, in document order.
///
/// Each has no parent or one of these tasks as its parent, and its family breaks no rule.
fn find_candidates(old: &TaskFile, new: &TaskFile, rows: &[Row]) -> Vec<Candidate> {
    let known: HashSet<&str> = old
        .tasks
        .iter()
        .filter_map(|task| task.shown_id())
        .collect();
    let above: HashSet<&str> = known.iter().flat_map(|id| ancestor_ids(id)).collect();
    let bad_lines: HashSet<u32> = new
        .find_problems()
        .iter()
        .map(|problem| problem.line)
        .collect();
    let mut refused: HashSet<&str> = HashSet::new();
    let mut found = Vec::new();
    for (task, row) in new.tasks.iter().zip(rows) {
        let family = row.key.family.as_str();
        let is_new = row.key.has_id() && !known.contains(family) && !above.contains(family);
        let own = row.key.stage != Stage::Final && !task.key.is_wider_gate();
        if !is_new || !own || ancestor_ids(family).any(|id| known.contains(id)) {
            continue;
        }
        let (line, key, parent) = (row.line, row.key.clone(), row.parent.clone());
        match line_text(new, task) {
            Some(text) if !bad_lines.contains(&line) => {
                found.push(Candidate {
                    line,
                    key,
                    parent,
                    text,
                    below: lines_below(new, line),
                    at: 0,
                });
            }
            _ => {
                refused.insert(family);
            }
        }
    }
    found.retain(|candidate| !refused.contains(candidate.key.family.as_str()));
    if found.len() > MAX_LINES {
        let cut: HashSet<String> = found
            .drain(MAX_LINES..)
            .map(|candidate| candidate.key.family)
            .collect();
        found.retain(|candidate| !cut.contains(&candidate.key.family));
    }
    let mut kept: HashSet<String> = HashSet::new();
    for candidate in &found {
        if candidate
            .parent
            .as_ref()
            .is_none_or(|parent| kept.contains(parent))
        {
            kept.insert(candidate.key.family.clone());
        }
    }
    found.retain(|candidate| kept.contains(&candidate.key.family));
    found
}

/// Returns the line with a space in its box; `None` if it is too long, not UTF-8 or has control characters.
fn line_text(file: &TaskFile, task: &NamedBox) -> Option<String> {
    let (line, found) = (file.read_line(task.found.line)?.line, &task.found);
    let before = file.file_bytes().get(line.start..found.at)?;
    let after = file
        .file_bytes()
        .get(found.at + found.mark.len_utf8()..line.end)?;
    plain_line([before, b" ", after].concat())
}

/// Returns the lines of text below a task, without blank lines at the end.
///
/// Empty if one of them may not be kept, or if they are more than the limit.
fn lines_below(file: &TaskFile, task: u32) -> Vec<String> {
    let own = file
        .read_line(task)
        .map_or(0, |line| line_column(line.text));
    let lines = (task + 1..)
        .map_while(|number| file.read_line(number))
        .take_while(|line| match line.read {
            ReadAs::Text => line_column(line.text) > own,
            read => read == ReadAs::Blank,
        });
    let mut lines: Vec<&[u8]> = lines.map(|line| line.text).collect();
    while lines.pop_if(|line| line.trim_ascii().is_empty()).is_some() {}
    let plain: Option<Vec<String>> = lines
        .into_iter()
        .map(|line| plain_line(line.to_vec()))
        .collect();
    plain
        .filter(|lines| lines.len() <= MAX_LINES)
        .unwrap_or_default()
}

/// Returns the line; `None` if it is too long, not UTF-8 or has control characters.
fn plain_line(line: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(line)
        .ok()
        .filter(|text| text.len() <= MAX_LINE)?;
    (!text.chars().any(|c| c.is_control() && c != '\t')).then_some(text)
}

/// Returns the old file with the candidates inserted, and the lines that could be kept.
///
/// The result then has the old boxes unchanged (except for their line numbers). The added ones are open and below no
/// old one, and there is no new problem.
fn insert_candidates(
    old: &TaskFile,
    old_rows: &[Row],
    added: &[Candidate],
) -> (Vec<u8>, Vec<String>) {
    let end = old.file_bytes().len();
    let keys: HashSet<&TaskKey> = added.iter().map(|added| &added.key).collect();
    let families: HashSet<&str> = added
        .iter()
        .map(|added| added.key.family.as_str())
        .collect();
    for (is_at_end, is_whole) in [(false, true), (true, true), (false, false), (true, false)] {
        let mut placed: Vec<(usize, &str)> = Vec::new();
        for candidate in added {
            let at = if is_at_end { end } else { candidate.at };
            let below = candidate.below.iter().filter(|_| is_whole);
            placed.extend(
                [&candidate.text]
                    .into_iter()
                    .chain(below)
                    .map(|line| (at, line.as_str())),
            );
        }
        placed.sort_by_key(|(offset, _)| *offset);
        let texts = placed
            .iter()
            .map(|(offset, text)| (*offset, text.as_bytes(), b"".as_slice()));
        if let Some((file, new)) = old.with_added(old_rows, texts, |key| keys.contains(key))
            && new.len() == added.len()
            && new.iter().all(|row| {
                let parent = row.parent.as_deref();
                row.mark.is_open() && parent.is_none_or(|parent| families.contains(parent))
            })
        {
            return (
                file.bytes,
                placed
                    .into_iter()
                    .map(|(_, text)| text.to_owned())
                    .collect(),
            );
        }
    }
    (old.file_bytes().to_vec(), Vec::new())
}
