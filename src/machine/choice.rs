//! The choice: which box is next (design §3, "Choice").
//!
//! Owns: eligibility.
//!
//! Promises: the first open, required, eligible box in document order, or every reason why there is none.
//!
//! Refuses to know: git, agents, what an attempt will bring.

use super::kin;
use super::state::Book;
use crate::task::{Row, Stage, TaskKey};

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Try this box.
    Take(TaskKey),
    /// No required box is open.
    AllDone,
    /// Boxes are open and none can be taken; one sentence each.
    Stuck(Vec<String>),
}

/// The next box. `optional` takes optional boxes too.
pub fn choose(book: &Book, optional: bool) -> Choice {
    let mut reasons = Vec::new();
    for row in book.rows.iter().filter(|row| !row.mark.is_done() && (optional || !row.optional)) {
        match obstacle(book, row) {
            None => return Choice::Take(row.key.clone()),
            Some(reason) => reasons.push(reason),
        }
    }
    if reasons.is_empty() { Choice::AllDone } else { Choice::Stuck(reasons) }
}

/// Why an open box cannot be taken now; `None` when it can. Whole sentences with the line.
pub fn obstacle(book: &Book, row: &Row) -> Option<String> {
    let at = kin::named(row);
    if !row.mark.is_open() {
        return Some(format!("{at} holds `[{}]`, which is not ralph's to change.", row.mark.0));
    }
    if let Some(why) = book.family(&row.key.family).and_then(|family| family.blocked.as_ref()) {
        return Some(format!("{at} is blocked: {why}"));
    }
    let is_owed = |other: &&Row| !other.mark.is_done() && (row.optional || !other.optional);
    if let Some(open) = kin::earlier(book, row).find(is_owed) {
        return Some(format!("{at} waits for {} (tasks.md:{}).", open.key, open.line));
    }
    let waits_for = match row.key.stage {
        Stage::Implementation => {
            let below = kin::descendants(book, &row.key.family);
            first_open(book, |other| below.contains(&other.key.family))
        }
        Stage::Final => first_open(book, |other| other.key != row.key),
        Stage::Gate(_) if kin::is_wider(&row.key) => {
            let covered = kin::covered(book, &row.key);
            first_open(book, |other| covered.contains(&other.key.family) && other.key != row.key)
        }
        _ => None,
    };
    waits_for.map(|open| format!("{at} waits for {} (tasks.md:{}).", open.key, open.line))
}

/// True for a box that must be ticked and is not (an unknown mark is not done).
pub fn is_required_open(row: &Row) -> bool {
    !row.optional && !row.mark.is_done()
}

fn first_open(book: &Book, wanted: impl Fn(&Row) -> bool) -> Option<&Row> {
    book.rows.iter().find(|row| is_required_open(row) && wanted(row))
}
