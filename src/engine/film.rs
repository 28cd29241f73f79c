//! The journal as a film: a frame for each record, and the state behind each of them.

use super::{Fault, FaultKind, Fold, Places};
use crate::journal::{self, JournalEnd, Record};
use crate::machine::effect::Effect;
use crate::machine::state::State;
use crate::report::film::Frame;
use crate::report::spent::Spent;
use crate::sys::Disk;

/// Records between two states that are kept. Going to a record folds at most so many.
const INTERVAL: u64 = 256;

/// A journal that was read as a whole.
#[derive(Debug)]
pub struct Film {
    journal: Vec<u8>,
    /// Its records, in order; at least one.
    pub frames: Vec<Frame>,
    /// States behind some of the records, in order; the first is the one before all records.
    kept: Vec<KeptState>,
}

/// The state behind a record, with time and attempts so far.
#[derive(Clone, Debug)]
struct KeptState {
    ending: JournalEnd,
    fold: Fold,
    spent: Spent,
}

impl KeptState {
    fn of_nothing() -> Self {
        Self {
            ending: JournalEnd::of_nothing(),
            fold: Fold::default(),
            spent: Spent::default(),
        }
    }

    fn take_record(&mut self, record: &Record) -> Result<Vec<Effect>, Fault> {
        let effects = self.fold.take_record(record)?;
        self.spent
            .note_record(&record.at, &record.event, &self.fold.state);
        Ok(effects)
    }
}

impl Film {
    /// Reads a workspace's journal up to a torn tail.
    ///
    /// Errors: no journal, or none of its records; a broken chain; a record that cannot follow.
    pub fn read_film(disk: &dyn Disk, places: &Places) -> Result<Self, Fault> {
        let path = places.journal_file();
        let film = Self::of_journal(disk.read(&path)?.unwrap_or_default(), INTERVAL)?;
        if film.frames.is_empty() {
            let what = format!(
                "{} has no record, so there is nothing to show.",
                places.display_path(&path)
            );
            let hint =
                "name the workspace (`--root DIR`), or a bundle (`ralph replay --bundle FILE`)";
            return Err(Fault::new(FaultKind::Unknown, what, hint));
        }
        Ok(film)
    }

    pub(super) fn of_journal(journal: Vec<u8>, interval: u64) -> Result<Self, Fault> {
        let mut now = KeptState::of_nothing();
        let (mut frames, mut kept) = (Vec::new(), vec![now.clone()]);
        let mut lines = line_lengths(&journal);
        journal::replay(&journal, |record: Record| {
            let before = &now.fold.state;
            let frame = Frame::new(record.seq, &record.at, &record.event, before);
            let effects = now.take_record(&record)?;
            frames.push(frame.with_effects(&now.fold.state, &effects));
            now.ending.valid_len += lines.next().unwrap_or_default() as u64;
            if record.seq.is_multiple_of(interval) {
                now.ending.records = record.seq;
                now.ending.head.clone_from(&record.hash);
                kept.push(now.clone());
            }
            Ok::<(), Fault>(())
        })?;
        drop(lines);
        Ok(Self {
            journal,
            frames,
            kept,
        })
    }

    /// The state after that many records, with time and attempts so far.
    pub fn state_after(&self, records: u64) -> Result<(State, Spent), Fault> {
        let mut kept = self.kept.iter().rev();
        let found = kept.find(|kept| kept.ending.records <= records);
        let mut now = found.cloned().unwrap_or_else(KeptState::of_nothing);
        let begin = usize::try_from(now.ending.valid_len).unwrap_or(usize::MAX);
        let rest = self.journal.get(begin..).unwrap_or_default();
        let more = usize::try_from(records - now.ending.records).unwrap_or(usize::MAX);
        let wanted: usize = line_lengths(rest).take(more).sum();
        journal::replay_on(&rest[..wanted], now.ending.clone(), |record: Record| {
            now.take_record(&record).map(drop)
        })?;
        Ok((now.fold.state, now.spent))
    }
}

/// The lengths of the lines, in bytes.
fn line_lengths(journal: &[u8]) -> impl Iterator<Item = usize> {
    journal
        .split_inclusive(|byte| *byte == b'\n')
        .map(<[u8]>::len)
}
