//! The state beside a run: the journal folded as it grows.
//!
//! Owns: the fold of what a follower tells, and the boxes of tasks.md as they stand now.
//!
//! Promises: takes no lock and writes nothing; each record is folded once; after an error the fold begins
//! anew when the journal is another.
//!
//! Refuses to know: what is shown of it.

use super::{Fault, Fold, Places};
use crate::journal::{Follower, Told};
use crate::machine::state::State;
use crate::report::spent::Spent;
use crate::sys::Disk;
use crate::task::{Grammar, Row, TaskFile};

/// A workspace that is looked at from outside.
#[derive(Debug)]
pub struct Follow {
    places: Places,
    grammar: Grammar,
    follower: Follower,
    fold: Fold,
    spent: Spent,
}

impl Follow {
    /// Nothing was read yet.
    pub fn new(places: Places, grammar: Grammar) -> Self {
        let follower = Follower::new(&places.journal());
        Self { places, grammar, follower, fold: Fold::default(), spent: Spent::default() }
    }

    /// Takes what the journal has gained; false when it has gained nothing.
    pub fn read(&mut self, disk: &dyn Disk) -> Result<bool, Fault> {
        let Self { follower, fold, spent, .. } = self;
        follower.read(disk, |told| {
            match told {
                Told::Anew => (*fold, *spent) = (Fold::default(), Spent::default()),
                Told::Record(record) => {
                    fold.take(&record)?;
                    spent.note(&record.at, &record.event, &fold.state);
                }
            }
            Ok(())
        })
    }

    /// The kind of record of a newer ralph before which reading ended.
    pub fn newer(&self) -> Option<&str> {
        self.follower.newer()
    }

    /// Looks at the state with the boxes as tasks.md has them now; where there is no such file, as the
    /// journal has them.
    pub fn look<T>(&mut self, disk: &dyn Disk, look: impl FnOnce(&State, &Spent) -> T) -> Result<T, Fault> {
        let rows = rows_now(disk, &self.places, &self.grammar)?;
        let spent = &self.spent;
        Ok(self.fold.state.with_rows(&self.places.spec_name(), rows, |state| look(state, spent)))
    }
}

/// The boxes of tasks.md as they stand there now; `None` when there is no such file.
pub(super) fn rows_now(
    disk: &dyn Disk,
    places: &Places,
    grammar: &Grammar,
) -> Result<Option<Vec<Row>>, Fault> {
    let bytes = disk.read(&places.tasks())?;
    Ok(bytes.map(|bytes| TaskFile::parse(bytes, grammar).rows()))
}
