//! What an agent did to the task file while it ran, and the file as it is to be afterwards.
//!
//! Boxes are put back; added tasks are kept (open), with the text below them, when their id is new and they are below no
//! old task; all else is restored, since nobody can tell a person's text from an agent's: what stands for a task is what its
//! reviewers judge by. Each byte of the file before is in the result, in order; added are whole lines.

mod added;

use super::exclude::bom;
use super::file::TaskFile;
use super::grammar::Grammar;
use super::row::{Mark, Row};
use super::scan::{Line, lines};
use super::stage::TaskKey;
use crate::source::text::names;
use added::Candidate;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Tasks that are named.
const NAMED: usize = 5;

/// A box that an agent changed: a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoxClaim {
    /// The box.
    pub key: TaskKey,
    /// Its mark before the agent ran, which it has again.
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
    /// The tasks whose text, on their line or below it, was another one or gone, as words; empty if only text elsewhere was
    /// restored, `None` if nothing but boxes and line ends was.
    pub reworded: Option<String>,
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
        return Reconciled { bytes: before.to_vec(), claims, added: Vec::new(), reworded: None };
    }
    let old_lines = texts(&old_open);
    let new_lines = texts(&new_open);
    let mut candidates = added::candidates(&old, &new, &new_rows);
    place(&old_lines, &new_lines, &mut candidates);
    let (bytes, added) = added::insert(&old, &old_rows, &candidates);
    let kept = TaskFile::parse(bytes.clone(), grammar).with_open(|_| true);
    let is_all = texts(&kept).iter().map(|(_, text)| text).eq(new_lines.iter().map(|(_, text)| text));
    let reworded = (!is_all).then(|| reworded(&old_rows, &new_rows));
    Reconciled { bytes, claims, added, reworded }
}

fn reworded(before: &[Row], after: &[Row]) -> String {
    let after = by_key(after);
    let is_same = |old: &&Row| {
        let now = after.get(&old.key).map(|now| now.map(|now| (&now.digest, &now.under)));
        now.is_some_and(|now| now.is_none_or(|now| now == (&old.digest, &old.under)))
    };
    names(before.iter().filter(|old| !is_same(old)).map(Row::title), NAMED)
}

fn claims(before: &[Row], after: &[Row]) -> Vec<BoxClaim> {
    let after = by_key(after);
    let old_keys = by_key(before);
    // A key on two lines, before or after, says nothing about one box.
    let old_rows = before.iter().filter(|row| matches!(old_keys.get(&row.key), Some(Some(_))));
    let pairs = old_rows.filter_map(|old| Some((old, (*after.get(&old.key)?)?)));
    let differ = pairs.filter(|(old, new)| !old.mark.is_same_state(new.mark));
    differ.map(|(old, new)| BoxClaim { key: old.key.clone(), from: old.mark, to: new.mark }).collect()
}

/// Rows by key; `None` for a key on two lines.
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

/// Gives each candidate the offset in the file before at which the agent put it: behind the line that it
/// follows. A line is known again as the successor of the last one that was, or if it is there exactly
/// once in both files.
fn place(old: &[(Line, &[u8])], new: &[(Line, &[u8])], candidates: &mut [Candidate]) {
    let mut once: HashMap<&[u8], (u32, usize)> = HashMap::with_capacity(old.len());
    for (at, (_, text)) in old.iter().enumerate() {
        once.entry(text).and_modify(|seen| seen.0 += 1).or_insert((1, at));
    }
    let mut again: HashMap<&[u8], u32> = HashMap::with_capacity(new.len());
    for (_, text) in new {
        *again.entry(text).or_default() += 1;
    }
    let mut wanted = candidates.iter_mut().peekable();
    let mut next: usize = 0;
    for (number, (_, text)) in (1_u32..).zip(new) {
        if let Some(candidate) = wanted.next_if(|candidate| candidate.line == number) {
            let offset = next.checked_sub(1).and_then(|last| old.get(last)).map(|(line, _)| line.next);
            candidate.at = offset.unwrap_or(old.first().map_or(0, |(line, _)| line.start));
        } else if old.get(next).is_some_and(|(_, expected)| expected == text) {
            next += 1;
        } else if let (Some((1, at)), Some(1)) = (once.get(text), again.get(text)) {
            next = at + 1;
        }
    }
}
