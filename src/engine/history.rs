//! The scores that a journal records.

use super::{Fault, Fold, Places};
use crate::journal::{self, Record};
use crate::report::history::History;
use crate::sys::Disk;
use std::collections::BTreeSet;

/// Returns the scores that gates measured; empty without a journal.
///
/// `by_lines` are the gates whose scope is changed lines.
///
/// Errors: a broken chain, a record that cannot follow.
pub fn read_history(
    disk: &dyn Disk,
    places: &Places,
    by_lines: &BTreeSet<String>,
) -> Result<History, Fault> {
    let bytes = disk.read(&places.journal_file())?.unwrap_or_default();
    let (mut history, mut fold) = (History::default(), Fold::default());
    journal::replay(&bytes, |record: Record| {
        history.note_record(&record.at, &record.event, &fold.state, by_lines);
        fold.take_record(&record).map(drop)
    })?;
    Ok(history)
}
