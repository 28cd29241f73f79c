//! Lines that an agent added: which may stay, and where they go.
//!
//! The result is parsed again: where the old boxes would be affected in any way, the lines go to the end of the
//! file, and if that does not help, nowhere.

use crate::task::file::TaskFile;
use crate::task::grammar::ancestors;
use crate::task::row::Row;
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
    /// The line with its box open, without line end.
    pub(super) text: String,
    /// Where it goes: an offset in the file before.
    pub(super) at: usize,
}

/// The tasks of `new` with an id that `old` does not have, that have no parent there and whose family
/// breaks no rule; in document order.
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
        if !is_new || !own || row.parent.is_some() || ancestors(family).any(|id| known.contains(id)) {
            continue;
        }
        match line_text(new, task.found.at, task.found.mark, task.found.text.end) {
            Some(text) if !bad_lines.contains(&row.line) => {
                found.push(Candidate { line: row.line, key: row.key.clone(), text, at: 0 });
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
    found
}

/// The line with a space in its box; `None` when it is too long, not UTF-8 or has control characters.
fn line_text(file: &TaskFile, at: usize, mark: char, end: usize) -> Option<String> {
    let start =
        file.bytes().get(..at)?.iter().rposition(|b| matches!(b, b'\n' | b'\r')).map_or(0, |at| at + 1);
    let start = start.max(crate::task::exclude::bom(file.bytes()));
    let before = file.bytes().get(start..at)?;
    let after = file.bytes().get(at + mark.len_utf8()..end)?;
    let line = [before, b" ", after].concat();
    let text = String::from_utf8(line).ok().filter(|text| text.len() <= MAX_LINE)?;
    (!text.chars().any(|c| c.is_control() && c != '\t')).then_some(text)
}

/// The file before with the candidates where they belong, and the lines that could be kept: then the old boxes are
/// as they were (their lines apart), the added ones are there, open and without a parent, and no problem is new.
pub(super) fn insert(old: &TaskFile, old_rows: &[Row], added: &[Candidate]) -> (Vec<u8>, Vec<String>) {
    let end = old.bytes().len();
    let mut sorted: Vec<(usize, &Candidate)> = added.iter().map(|added| (added.at, added)).collect();
    sorted.sort_by_key(|(offset, _)| *offset);
    let at_end = added.iter().map(|added| (end, added)).collect();
    let keys: HashSet<&TaskKey> = added.iter().map(|added| &added.key).collect();
    for placed in [sorted, at_end] {
        let texts = placed.iter().map(|(offset, added)| (*offset, added.text.as_bytes(), b"".as_slice()));
        let fits = |row: &Row| row.mark.is_open() && row.parent.is_none();
        if let Some((file, new)) = old.with_added(old_rows, texts, |key| keys.contains(key))
            && new.len() == added.len()
            && new.iter().all(fits)
        {
            return (file.bytes, added.iter().map(|added| added.text.clone()).collect());
        }
    }
    (old.bytes().to_vec(), Vec::new())
}
