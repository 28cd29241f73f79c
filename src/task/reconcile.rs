//! What an agent did to the task file while it ran.
//!
//! Owns: the rule of docs/design.md "People": boxes are put back, added lines are kept (open) when their id is
//! new and they are nobody's child, other edits are restored.
//!
//! Promises: every byte of the file before is in the result, in order; what is added to it are whole
//! lines with open boxes; the boxes that were there keep key, mark, parent and group, and no problem is
//! new. When these cannot all be had, nothing is added.
//!
//! Refuses to know: which agent it was, and what its claims are worth.

mod added;

use super::exclude::bom;
use super::scan::{Line, lines};
use super::{Grammar, Mark, Row, TaskFile, TaskKey};
use added::Candidate;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// How many edits are named one by one.
const MAX_NAMED: usize = 20;

/// A box that an agent changed: a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoxClaim {
    /// The box.
    pub key: TaskKey,
    /// What stood in it before the agent ran, and stands in it again.
    pub from: Mark,
    /// What the agent left in it.
    pub to: Mark,
}

/// A task file after what an agent did to it has been judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reconciled {
    /// The bytes that the file is to have.
    pub bytes: Vec<u8>,
    /// The boxes that exist before and after, and differ in state.
    pub claims: Vec<BoxClaim>,
    /// The added lines that were kept, as they stand in `bytes` (box open), without line ends.
    pub added: Vec<String>,
    /// The edits that were put back, a sentence each, bounded in number and length; empty when the agent
    /// only flipped boxes and added lines that were kept.
    pub restored: Vec<String>,
}

/// Compares the file before an agent ran with what it left. `after` may be anything; of a file that is
/// gone, pass no bytes.
pub fn reconcile(before: &[u8], after: &[u8], grammar: &Grammar) -> Reconciled {
    let old = TaskFile::parse(before, grammar);
    let new = TaskFile::parse(after, grammar);
    let (old_rows, new_rows) = (old.rows(), new.rows());
    let claims = claims(&old_rows, &new_rows);
    let (old_open, new_open) = (old.with_open(|_| true), new.with_open(|_| true));
    if old_open == new_open {
        return Reconciled { bytes: before.to_vec(), claims, added: Vec::new(), restored: Vec::new() };
    }
    let old_lines = texts(&old_open);
    let new_lines = texts(&new_open);
    let candidates = added::candidates(&old, &new, &new_rows);
    let places = places(&old_lines, &new_lines, &candidates);
    let (bytes, kept) = added::insert(&old, &old_rows, &places);
    let mut restored = restored(&old_lines, &new_lines, &kept);
    if restored.is_empty() && !same_but_for(&old_lines, &new_lines, &kept) {
        restored.push("Lines were moved; they were put back.".to_owned());
    }
    if restored.is_empty() && kept.is_empty() && shape(before) != shape(after) {
        restored.push("Line ends or the byte-order mark were changed; they were put back.".to_owned());
    }
    let added = kept.iter().map(|candidate| candidate.text.clone()).collect();
    Reconciled { bytes, claims, added, restored }
}

fn claims(before: &[Row], after: &[Row]) -> Vec<BoxClaim> {
    let after = by_key(after);
    let old_keys = by_key(before);
    // A key that stands twice, before or after, says nothing about one box.
    let old_rows = before.iter().filter(|row| matches!(old_keys.get(&row.key), Some(Some(_))));
    let pairs = old_rows.filter_map(|old| Some((old, (*after.get(&old.key)?)?)));
    let differ = pairs.filter(|(old, new)| !is_same_state(old.mark, new.mark));
    differ.map(|(old, new)| BoxClaim { key: old.key.clone(), from: old.mark, to: new.mark }).collect()
}

fn is_same_state(old: Mark, new: Mark) -> bool {
    old == new || (old.is_open() && new.is_open()) || (old.is_done() && new.is_done())
}

/// Rows by key; `None` for a key that stands twice.
fn by_key(rows: &[Row]) -> HashMap<&TaskKey, Option<&Row>> {
    let mut found = HashMap::with_capacity(rows.len());
    for row in rows {
        found.entry(&row.key).and_modify(|row| *row = None).or_insert(Some(row));
    }
    found
}

/// The lines of a file, line ends apart.
fn texts(bytes: &[u8]) -> Vec<(Line, &[u8])> {
    let text = |line: Line| (line, bytes.get(line.start..line.end).unwrap_or_default());
    lines(bytes, bom(bytes)).map(text).collect()
}

/// For each candidate the offset in the file before at which the agent put it: behind the line that it
/// follows. A line is known again as the successor of the last one that was, or when it stands exactly
/// once in both files.
fn places(old: &[(Line, &[u8])], new: &[(Line, &[u8])], candidates: &[Candidate]) -> Vec<(usize, Candidate)> {
    let mut once: HashMap<&[u8], (u32, usize)> = HashMap::with_capacity(old.len());
    for (at, (_, text)) in old.iter().enumerate() {
        once.entry(text).and_modify(|seen| seen.0 += 1).or_insert((1, at));
    }
    let mut again: HashMap<&[u8], u32> = HashMap::with_capacity(new.len());
    for (_, text) in new {
        *again.entry(text).or_default() += 1;
    }
    let mut wanted = candidates.iter().peekable();
    let mut next: usize = 0;
    let mut places = Vec::new();
    for (number, (_, text)) in (1_u32..).zip(new) {
        if let Some(candidate) = wanted.next_if(|candidate| candidate.line == number) {
            let offset = next.checked_sub(1).and_then(|last| old.get(last)).map(|(line, _)| line.next);
            places.push((offset.unwrap_or(old.first().map_or(0, |(line, _)| line.start)), candidate.clone()));
        } else if old.get(next).is_some_and(|(_, expected)| expected == text) {
            next += 1;
        } else if let (Some((1, at)), Some(1)) = (once.get(text), again.get(text)) {
            next = at + 1;
        }
    }
    places
}

/// A sentence for each line that is gone or that was added and not kept.
fn restored(old: &[(Line, &[u8])], new: &[(Line, &[u8])], kept: &[Candidate]) -> Vec<String> {
    if new.is_empty() {
        return vec!["The file was emptied or removed; it was put back.".to_owned()];
    }
    let kept: HashSet<u32> = kept.iter().map(|candidate| candidate.line).collect();
    let mut balance: HashMap<&[u8], i64> = HashMap::with_capacity(old.len());
    for (_, text) in old {
        *balance.entry(text).or_default() -= 1;
    }
    let mut extra = Vec::new();
    for (number, (_, text)) in (1_u32..).zip(new).filter(|(number, _)| !kept.contains(number)) {
        let count = balance.entry(text).or_default();
        *count += 1;
        if *count > 0 {
            extra.push((number, *text));
        }
    }
    let mut gone: Vec<(u32, &[u8])> = Vec::new();
    for (number, (_, text)) in (1_u32..).zip(old) {
        if let Some(count) = balance.get_mut(text).filter(|count| **count < 0) {
            *count += 1;
            gone.push((number, text));
        }
    }
    let mut told: Vec<String> = Vec::new();
    let shown = |text: &[u8]| super::file::clean("", text.get(..text.len().min(120)).unwrap_or_default());
    for (number, text) in gone.iter().take(MAX_NAMED / 2) {
        told.push(format!("Line {number} was changed or removed and is back: `{}`.", shown(text)));
    }
    for (number, text) in extra.iter().take(MAX_NAMED / 2) {
        told.push(format!("A line of the agent's (its line {number}) was left out: `{}`.", shown(text)));
    }
    let more = (gone.len() + extra.len()).saturating_sub(told.len());
    if more > 0 {
        told.push(format!("{more} more lines were put back or left out."));
    }
    told
}

/// True when the kept lines aside the two files have the same lines in the same order.
fn same_but_for(old: &[(Line, &[u8])], new: &[(Line, &[u8])], kept: &[Candidate]) -> bool {
    let kept: HashSet<u32> = kept.iter().map(|candidate| candidate.line).collect();
    let rest = (1_u32..).zip(new).filter(|(number, _)| !kept.contains(number)).map(|(_, (_, text))| text);
    old.iter().map(|(_, text)| text).eq(rest)
}

/// The byte-order mark, the kinds of line ends, and that of the last line.
fn shape(bytes: &[u8]) -> (usize, HashSet<&[u8]>, Option<&[u8]>) {
    let ends = || lines(bytes, bom(bytes)).filter_map(|line| bytes.get(line.end..line.next));
    (bom(bytes), ends().filter(|end| !end.is_empty()).collect(), ends().last())
}
