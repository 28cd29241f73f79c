//! The lanes of a workspace for a person: what each one does, and what main can take of it. Nothing is written.

use super::offers::{Commits, Trouble, read_steps, reference};
use super::records::{LaneRecord, Records};
use super::{LaneStatus, Outside, lanes_of};
use crate::engine::{Fault, FaultKind};
use crate::machine::effect::LaneTask;
use crate::machine::facts::Snapshot;
use crate::machine::lanes::open_texts;
use crate::machine::state::State;
use crate::sys::lock::Lock;
use crate::task::TaskKey;
use std::collections::BTreeMap;

/// A lane with its work that main does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneView {
    /// Its number, tasks, directory and standing.
    pub status: LaneStatus,
    /// The outermost tasks that it does.
    pub families: Vec<String>,
    /// The boxes whose accepted work is not in HEAD, in their order. Empty while it runs.
    pub offers: Vec<TaskKey>,
    /// Paths of the first of them that both sides changed (a list).
    pub conflicts: Option<String>,
    /// The reason why main takes nothing, a sentence.
    pub refused: Option<String>,
}

impl Outside {
    /// Returns the lanes, in the order of their numbers. `open` are the tasks that lanes may do.
    ///
    /// Errors: a package or the cache cannot be read.
    pub fn list_lanes(&mut self, open: &[LaneTask], state: &State) -> Result<Vec<LaneView>, Fault> {
        let lanes = lanes_of(&self.parts.cache, &self.parts.places.workspace)?;
        if lanes.is_empty() {
            return Ok(Vec::new());
        }
        let records = Records::read(&self.lanes_folder())?;
        let snapshot = self.parts.repositories.take_snapshot()?;
        let mut views = Vec::new();
        for status in lanes {
            let record = records.lane(status.number);
            let mut view = LaneView {
                status,
                families: record.families.clone(),
                offers: Vec::new(),
                conflicts: None,
                refused: None,
            };
            let taken: Vec<String> = record.taken.keys().cloned().collect();
            let taken = open_texts(state.spec_state(), &taken);
            if !record.is_wanted(open, &taken) {
                view.refused = Some("Its tasks are done, or their text has changed.".to_owned());
            } else if view.status.standing != "runs" {
                self.add_offers(&mut view, &record, &taken, &snapshot)?;
            }
            views.push(view);
        }
        Ok(views)
    }

    fn add_offers(
        &mut self,
        view: &mut LaneView,
        record: &LaneRecord,
        open: &BTreeMap<String, String>,
        snapshot: &Snapshot,
    ) -> Result<(), Fault> {
        let (number, folder) = (view.status.number, view.status.folder.clone());
        let steps = match read_steps(&folder, &self.parts.places.spec_name()) {
            Ok(steps) => steps,
            Err(why) => {
                // One that has not begun has no journal.
                view.refused = (view.status.standing != "stopped").then_some(why);
                return Ok(());
            }
        };
        for step in steps {
            if record.is_taken() && !record.has_taken(&step.key.family, open) {
                continue;
            }
            // Main merges the later ones when it has the first.
            if view.offers.is_empty() {
                match self.merge_step(number, &folder, &step, "", snapshot, Commits::Borrowed) {
                    Ok(Some(heads)) if heads.is_empty() => continue,
                    Ok(_) => {}
                    Err(Trouble::Conflicts(paths)) => view.conflicts = Some(paths),
                    Err(Trouble::Work(why)) => view.refused = Some(why),
                    Err(Trouble::Disk(fault)) => return Err(fault),
                }
            }
            if !view.offers.contains(&step.key) {
                view.offers.push(step.key);
            }
        }
        Ok(())
    }

    /// Removes a lane. Its commits stay in the packages under the reference that this returns.
    ///
    /// The caller holds the lock of the workspace. Errors: no such lane, a lane that runs, commits that cannot be copied.
    pub fn drop_lane(&mut self, number: u32) -> Result<String, Fault> {
        let mut records = Records::read(&self.lanes_folder())?;
        if !records.holds(number) {
            return Err(Fault::setup_fault(
                format!("There is no lane {number}."),
                "`ralph lanes` lists the lanes",
            ));
        }
        let folder = records.folder(number);
        // On another machine it may still run, where a shared disk has its lock.
        let Some(_lock) = Lock::try_take(&folder.join(".ralph/state/lock"))? else {
            return Err(Fault::new(
                FaultKind::Busy,
                format!("Lane {number} runs."),
                "end its process, or wait for it",
            ));
        };
        let reference = reference(number);
        // The commits of a bundle were copied when it was taken.
        let is_taken = records.lane(number).is_taken();
        for package in self.parts.repositories.package_names() {
            let Some(inside) = self.place_of(&package).filter(|_| !is_taken) else {
                continue;
            };
            let repositories = &mut self.parts.repositories;
            repositories.keep_head(&package, &folder.join(inside), &reference)?;
        }
        records.remove(number)?;
        Ok(reference)
    }
}
