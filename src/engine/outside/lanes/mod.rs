//! Lanes on this machine: second workspaces in which `ralph run --only` does marked tasks ahead of main.
//!
//! Promises: nothing of a lane reaches main but commits of packages, as an attempt that main judges. A lane that is lost,
//! late or forged costs time. When this process ends, so does all that runs in its lanes.

mod copies;
mod list;
mod loops;
mod make;
mod offers;
mod records;
mod setup;
mod slots;
mod take;

use super::Outside;
use crate::engine::{Fault, Places};
use crate::machine::effect::{LaneOrder, LaneTask, Play};
use crate::machine::event::{AgentEnd, Event};
use crate::machine::facts::{ProcessEnd, Snapshot};
use crate::machine::state::State;
use crate::sys::clock::{self, Stopwatch};
use crate::sys::lock;
use crate::task::spoken_ids;
pub use list::LaneView;
use loops::LaneEnd;
use records::{LaneRecord, Records};
pub(super) use setup::own_variables;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Duration;
pub use take::TakenLane;

/// Its number, for what runs in a lane (ports, names of databases).
pub(super) const LANE: &str = "RALPH_LANE";
/// The workspace that it works for.
const LANE_OF: &str = "RALPH_LANE_OF";
/// The kind of the folders that hold lanes.
const LANES: &str = "lanes";
/// Runs of one lane, counted over restarts of main.
const MAX_RUNS: u32 = 3;
/// Interval at which main checks whether a lane has ended.
const LOOK: Duration = Duration::from_millis(100);

/// The lanes that this process started.
#[derive(Default)]
pub(super) struct Lanes {
    /// By number.
    running: BTreeMap<u32, JoinHandle<io::Result<LaneEnd>>>,
    /// This process found the offer that is taken next. Another one was killed while it took it.
    has_looked: bool,
    /// This process started a lane.
    has_started: bool,
}

/// A lane as `ralph status` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneStatus {
    pub number: u32,
    /// The tasks that it does, as the task file writes them.
    pub tasks: Vec<String>,
    /// Its workspace.
    pub folder: PathBuf,
    /// `runs`, `ended` (its work waits for its turn), `stopped` (the next run continues it), or `taken` (a bundle of a run
    /// elsewhere, whose work waits for its turn).
    pub standing: &'static str,
    /// The last iteration of its loop; 0 before the first.
    pub iteration: u64,
}

/// The lanes of a workspace, read only.
pub fn lanes_of(cache: &Path, workspace: &Path) -> io::Result<Vec<LaneStatus>> {
    let records = Records::read(&folder_of(cache, LANES, workspace))?;
    let lanes = records.all().into_iter().map(|(number, record)| {
        let folder = records.folder(number);
        let standing = if record.is_taken() {
            "taken"
        } else if record.has_ended {
            "ended"
        } else if is_running(&records, number) {
            "runs"
        } else {
            "stopped"
        };
        LaneStatus {
            number,
            tasks: record.names,
            iteration: last_iteration(&folder),
            folder,
            standing,
        }
    });
    Ok(lanes.collect())
}

/// Returns the families with work that was taken from bundles.
pub fn taken_families(cache: &Path, workspace: &Path) -> io::Result<Vec<String>> {
    let records = Records::read(&folder_of(cache, LANES, workspace))?;
    let lanes = records.all().into_iter();
    Ok(lanes.flat_map(|(_, lane)| lane.taken.into_keys()).collect())
}

/// True while a process of this machine runs a lane, or waits for the command that runs it.
fn is_running(records: &Records, number: u32) -> bool {
    let own = records.folder(number).join(".ralph/state/lock");
    [own, records.lock(number)]
        .iter()
        .any(|file| lock::held_by(file).is_some())
}

/// The greatest number of a folder `iter-N`.
fn last_iteration(lane: &Path) -> u64 {
    let entries = fs_err::read_dir(lane.join(".ralph/state"));
    let names = entries.into_iter().flatten().flatten();
    let numbers = names.filter_map(|entry| {
        let name = entry.file_name();
        name.to_str()?.strip_prefix("iter-")?.parse().ok()
    });
    numbers.max().unwrap_or(0)
}

/// The folder of this kind that belongs to a workspace in the cache.
fn folder_of(cache: &Path, kind: &str, workspace: &Path) -> PathBuf {
    let name = crate::source::digest(workspace.as_os_str().as_encoded_bytes());
    cache.join(kind).join(name)
}

impl Outside {
    /// The workspace that this one is a lane of.
    pub(super) fn lane_of(&self) -> Option<&Path> {
        let all = &self.parts.environment;
        let found = all.iter().find(|(name, _)| name == LANE_OF);
        found.map(|(_, workspace)| Path::new(workspace))
    }

    /// True while you want no attempt of main to begin, nor of its lanes.
    pub(super) fn is_paused_by_main(&self) -> bool {
        self.lane_of()
            .is_some_and(|main| Places::paused_of(main).is_file())
    }

    /// Starts lanes, waits for the lane of this box, and returns what it offers. `Waited` if a stop is requested.
    pub(super) fn look_at_lane(&mut self, order: &LaneOrder) -> Result<Event, Fault> {
        let snapshot = &order.snapshot;
        self.lanes.has_looked = true;
        let mut records = Records::open(&self.lanes_folder())?;
        self.drop_lanes(order, &mut records)?;
        self.continue_lanes(order, &mut records)?;
        self.start_lanes(order, snapshot, &mut records)?;
        let of_box = order.task.as_deref().and_then(|task| records.of(task));
        let family = &order.key.family;
        let of_box = of_box.or_else(|| {
            records
                .taken_of(family)
                .filter(|number| records.lane(*number).has_taken(family, &order.taken))
        });
        while of_box.is_some_and(|number| self.lanes.running.contains_key(&number)) {
            if self.parts.interrupts.first().is_some() || self.wall_left().is_zero() {
                return Ok(Event::Waited);
            }
            self.reap_lanes(&mut records)?;
            self.continue_lanes(order, &mut records)?;
            self.parts.interrupts.wait_until(clock::monotonic() + LOOK);
        }
        let (offer, why_not) = match of_box {
            Some(number) => self.offer(number, &records.lane(number), order, snapshot)?,
            None => (None, None),
        };
        Ok(Event::LaneSeen {
            offer,
            why_not,
            working: u32::try_from(self.lanes.running.len()).unwrap_or(u32::MAX),
        })
    }

    fn lanes_folder(&self) -> PathBuf {
        folder_of(&self.parts.cache, LANES, &self.parts.places.workspace)
    }

    /// Removes the lanes of tasks that are done, or that read differently now.
    fn drop_lanes(&mut self, order: &LaneOrder, records: &mut Records) -> Result<(), Fault> {
        self.reap_lanes(records)?;
        for (number, record) in records.all() {
            // Without `--lanes` those of other runs stay for the next one.
            if order.lanes == 0 && !record.is_taken() {
                continue;
            }
            // A process that still runs in it writes into its directory. ralph removes the lane when it has ended.
            if !record.is_wanted(&order.open, &order.taken)
                && !self.lanes.running.contains_key(&number)
            {
                records.remove(number)?;
            }
        }
        Ok(())
    }

    /// Removes the lanes of tasks that are done, at the end of a run.
    pub fn remove_done_lanes(&mut self, state: &State) -> Result<(), Fault> {
        let folder = self.lanes_folder();
        if !folder.is_dir() {
            return Ok(());
        }
        let mut records = Records::open(&folder)?;
        for (number, record) in records.all() {
            let families = record.families.iter();
            let mut rows = families.flat_map(|family| state.spec_state().family_rows(family));
            if rows.all(|row| row.mark.is_done()) {
                records.remove(number)?;
            }
        }
        Ok(())
    }

    /// Starts lanes again that were cut short.
    fn continue_lanes(&mut self, order: &LaneOrder, records: &mut Records) -> Result<(), Fault> {
        if order.lanes == 0 {
            return Ok(());
        }
        for (number, record) in records.all() {
            let is_running = self.lanes.running.contains_key(&number);
            if !is_running && !self.is_set_up(&records.folder(number)) {
                // Its setup was cut short, and another lane is made.
                records.remove(number)?;
                continue;
            }
            if !record.has_ended && record.runs < MAX_RUNS && !is_running {
                self.start_lane(number, order, records)?;
            }
        }
        Ok(())
    }

    /// Makes and starts lanes where tasks are ready.
    fn start_lanes(
        &mut self,
        order: &LaneOrder,
        snapshot: &Snapshot,
        records: &mut Records,
    ) -> Result<(), Fault> {
        let is_taken = |task: &&LaneTask| {
            let mut families = task.families.iter();
            families.any(|family| records.taken_of(family).is_some())
        };
        let ready = order.open.iter().filter(|task| task.is_ready);
        let ready: Vec<&LaneTask> = ready.filter(|task| !is_taken(task)).collect();
        // One task alone is done as fast by main itself, unless main does another one.
        if order.task.is_some() && ready.len() < 2 {
            return Ok(());
        }
        for task in ready {
            // Lanes of bundles run nothing here, and take no place.
            let here = records
                .all()
                .iter()
                .filter(|(_, lane)| !lane.is_taken())
                .count();
            let free = records
                .free_number()
                .filter(|_| here < usize::try_from(order.lanes).unwrap_or(usize::MAX));
            let first = task.families.first().map_or("", String::as_str);
            let Some(number) = free.filter(|_| records.of(first).is_none()) else {
                continue;
            };
            self.make_lane(&records.folder(number), snapshot)?;
            records.add(
                number,
                LaneRecord {
                    families: task.families.clone(),
                    names: task.names.clone(),
                    digest: task.digest.clone(),
                    ..LaneRecord::default()
                },
            )?;
            (self.parts.said)(&format!("lane {number}: {}", spoken_ids(&task.names)));
            self.start_lane(number, order, records)?;
        }
        Ok(())
    }

    /// Moves the packages to the work of a lane. A second call after a crash ends the same.
    pub(super) fn play(
        &mut self,
        Play {
            iteration,
            before,
            offer,
        }: &Play,
    ) -> Result<AgentEnd, Fault> {
        let began = Stopwatch::start();
        self.turn_log = None;
        self.iteration_folder(*iteration)?;
        if !std::mem::take(&mut self.lanes.has_looked) {
            self.parts.repositories.unlock(&offer.heads)?;
        }
        self.parts.repositories.pin_heads()?;
        let reference = format!("refs/ralph/before-lane/{iteration}");
        let repositories = &mut self.parts.repositories;
        let end = if repositories.advance(before, &offer.heads, &reference)? {
            ProcessEnd::Exited { code: 0 }
        } else {
            ProcessEnd::NotStarted {
                why: "HEAD moved after the survey.".to_owned(),
            }
        };
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(AgentEnd {
            used: offer.used.clone(),
            millis,
            ..end.into()
        })
    }
}
