//! Tasks that an agent, or a person beside it, added: which may stay, with the lines below them, and where they go.
//!
//! The result is parsed again: where the old boxes would be affected in any way, the lines go to the end of the
//! file, then without those below, and if that does not help, nowhere.

use crate::task::family::Task;
use crate::task::file::{ReadLine, TaskFile};
use crate::task::grammar::ancestors;
use crate::task::row::Row;
use crate::task::scan::{ReadAs, column};
use crate::task::stage::{Stage, TaskKey};
use std::collections::HashSet;

/// Longest line that is kept, bytes.
const MAX_LINE: usize = 4096;
/// Most lines that are kept of one attempt.
const MAX_LINES: usize = 100;

/// An added line that may stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Its line in the agent's file, 1-based.
    pub(super) line: u32,
    /// Its box.
    pub(super) key: TaskKey,
    /// The family of the task that it is below.
    parent: Option<String>,
    /// The line with its box open, without line end.
    pub(super) text: String,
    /// The lines of text below it that belong to its list item, as they are.
    pub(super) below: Vec<String>,
    /// Where it goes: an offset in the file before.
    pub(super) at: usize,
}

/// The tasks of `new` with an id that `old` does not have, that have no parent or one of them, and whose family breaks
/// no rule; in document order.
pub(super) fn candidates(old: &TaskFile, new: &TaskFile, rows: &[Row]) -> Vec<Candidate> {
    let known: HashSet<&str> = old.tasks.iter().filter_map(|task| task.id()).collect();
    let above: HashSet<&str> = known.iter().flat_map(|id| ancestors(id)).collect();
    let bad_lines: HashSet<u32> = new.problems().iter().map(|problem| problem.line).collect();
    let mut refused: HashSet<&str> = HashSet::new();
    let mut found = Vec::new();
    for (task, row) in new.tasks.iter().zip(rows) {
        let family = row.key.family.as_str();
        let is_new = row.key.has_id() && !known.contains(family) && !above.contains(family);
        let own = row.key.stage != Stage::Final && !task.key.is_wider_gate();
        if !is_new || !own || ancestors(family).any(|id| known.contains(id)) {
            continue;
        }
        let (line, key, parent) = (row.line, row.key.clone(), row.parent.clone());
        match line_text(new, task) {
            Some(text) if !bad_lines.contains(&line) => {
                found.push(Candidate { line, key, parent, text, below: lines_below(new, line), at: 0 });
            }
            _ => {
                refused.insert(family);
            }
        }
    }
    found.retain(|candidate| !refused.contains(candidate.key.family.as_str()));
    if found.len() > MAX_LINES {
        let cut: HashSet<String> = found.drain(MAX_LINES..).map(|candidate| candidate.key.family).collect();
        found.retain(|candidate| !cut.contains(&candidate.key.family));
    }
    let mut kept: HashSet<String> = HashSet::new();
    for candidate in &found {
        if candidate.parent.as_ref().is_none_or(|parent| kept.contains(parent)) {
            kept.insert(candidate.key.family.clone());
        }
    }
    found.retain(|candidate| kept.contains(&candidate.key.family));
    found
}

/// The line with a space in its box; `None` when it is too long, not UTF-8 or has control characters.
fn line_text(file: &TaskFile, task: &Task) -> Option<String> {
    let (line, found) = (file.read_line(task.found.line)?.line, &task.found);
    let before = file.bytes().get(line.start..found.at)?;
    let after = file.bytes().get(found.at + found.mark.len_utf8()..line.end)?;
    plain([before, b" ", after].concat())
}

/// The lines after a task's own that are its text, blank ones at the end apart; none if one of them may not stay, or
/// they are more than may.
fn lines_below(file: &TaskFile, task: u32) -> Vec<String> {
    let own = file.read_line(task).map_or(0, |line| column(line.text));
    let belongs = |line: &ReadLine<'_>| match line.read {
        ReadAs::Text => column(line.text) > own,
        read => read == ReadAs::Blank,
    };
    let lines = (task + 1..).map_while(|number| file.read_line(number)).take_while(belongs);
    let mut lines: Vec<&[u8]> = lines.map(|line| line.text).collect();
    while lines.pop_if(|line| line.trim_ascii().is_empty()).is_some() {}
    let plain: Option<Vec<String>> = lines.into_iter().map(|line| plain(line.to_vec())).collect();
    plain.filter(|lines| lines.len() <= MAX_LINES).unwrap_or_default()
}

/// The line, unless it is too long, not UTF-8 or has control characters.
fn plain(line: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(line).ok().filter(|text| text.len() <= MAX_LINE)?;
    (!text.chars().any(|c| c.is_control() && c != '\t')).then_some(text)
}

/// The file before with the candidates where they belong, and the lines that could be kept: then the old boxes are
/// as they were (their lines apart), the added ones are there, open and below no old one, and no problem is new.
pub(super) fn insert(old: &TaskFile, old_rows: &[Row], added: &[Candidate]) -> (Vec<u8>, Vec<String>) {
    let end = old.bytes().len();
    let keys: HashSet<&TaskKey> = added.iter().map(|added| &added.key).collect();
    let families: HashSet<&str> = added.iter().map(|added| added.key.family.as_str()).collect();
    let is_own = |row: &Row| row.parent.as_deref().is_none_or(|parent| families.contains(parent));
    for (is_at_end, is_whole) in [(false, true), (true, true), (false, false), (true, false)] {
        let mut placed: Vec<(usize, &str)> = Vec::new();
        for candidate in added {
            let at = if is_at_end { end } else { candidate.at };
            let below = candidate.below.iter().filter(|_| is_whole);
            placed.extend([&candidate.text].into_iter().chain(below).map(|line| (at, line.as_str())));
        }
        placed.sort_by_key(|(offset, _)| *offset);
        let texts = placed.iter().map(|(offset, text)| (*offset, text.as_bytes(), b"".as_slice()));
        if let Some((file, new)) = old.with_added(old_rows, texts, |key| keys.contains(key))
            && new.len() == added.len()
            && new.iter().all(|row| row.mark.is_open() && is_own(row))
        {
            return (file.bytes, placed.into_iter().map(|(_, text)| text.to_owned()).collect());
        }
    }
    (old.bytes().to_vec(), Vec::new())
}
