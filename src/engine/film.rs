//! The journal as a film: a frame for each record, and the state behind each of them.

use super::{Fault, FaultKind, Fold, Places};
use crate::journal::{self, Record};
use crate::machine::state::State;
use crate::report::film::Frame;
use crate::report::spent::Spent;
use crate::sys::Disk;

/// A journal that was read as a whole.
#[derive(Debug)]
pub struct Film {
    journal: Vec<u8>,
    /// Its records, in order; at least one.
    pub frames: Vec<Frame>,
}

impl Film {
    /// Reads a workspace's journal up to a torn tail.
    ///
    /// Errors: no journal, or none of its records; a broken chain; a record that cannot follow.
    pub fn read(disk: &dyn Disk, places: &Places) -> Result<Self, Fault> {
        let path = places.journal();
        let journal = disk.read(&path)?.unwrap_or_default();
        let (mut frames, mut fold) = (Vec::new(), Fold::default());
        journal::replay(&journal, |record: Record| {
            let frame = Frame::new(record.seq, &record.at, &record.event, &fold.state);
            let effects = fold.take(&record)?;
            frames.push(frame.then(&fold.state, &effects));
            Ok::<(), Fault>(())
        })?;
        if frames.is_empty() {
            let what = format!(
                "{} has no record, so there is nothing to show.",
                places.shown(&path)
            );
            let hint =
                "name the workspace (`--root DIR`), or a bundle (`ralph replay --bundle FILE`)";
            return Err(Fault::new(FaultKind::Unknown, what, hint));
        }
        Ok(Self { journal, frames })
    }

    /// The state after that many records, with time and attempts so far.
    pub fn after(&self, records: u64) -> Result<(State, Spent), Fault> {
        let (mut fold, mut spent) = (Fold::default(), Spent::default());
        let lines = self
            .journal
            .split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::len);
        let wanted: usize = lines
            .take(usize::try_from(records).unwrap_or(usize::MAX))
            .sum();
        journal::replay(&self.journal[..wanted], |record: Record| {
            fold.take(&record)?;
            spent.note(&record.at, &record.event, &fold.state);
            Ok::<(), Fault>(())
        })?;
        Ok((fold.state, spent))
    }
}
