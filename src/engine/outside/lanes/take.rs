//! A bundle of a run elsewhere becomes a lane: a proposal that main merges and judges.
//!
//! Promises: only the journal and the commits of main's packages are unpacked, into a directory of ralph's cache. Nothing
//! there is run. From the journal come names of boxes, texts and commits. Main gets commits that descend from one of its own.

use super::Outside;
use super::offers::{Step, read_lane, reference};
use super::records::{LaneRecord, MAX_LANES, Records};
use crate::engine::bundle::{commits_place, file_place, unpack_parts};
use crate::engine::outside::private_folder;
use crate::engine::{Fault, FaultKind};
use crate::machine::hierarchy::work_box;
use crate::machine::lanes::{family_text, open_texts};
use crate::machine::state::State;
use crate::source::text::line;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Characters of an id that only a bundle has.
const MAX_ID: usize = 60;
const JOURNAL: &str = ".ralph/state/journal.jsonl";

/// A bundle as a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenLane {
    /// Its number; `None` if the bundle has no work that main can merge.
    pub number: Option<u32>,
    /// The tasks whose work main can merge.
    pub tasks: Vec<String>,
    /// The reasons why other work is not taken, a sentence each.
    pub left_out: Vec<String>,
}

/// The parts of a bundle's work that main may merge.
#[derive(Default)]
struct TakenWork {
    /// Families with the digests of their texts.
    texts: BTreeMap<String, String>,
    left_out: Vec<String>,
}

impl Outside {
    /// Makes a lane of a bundle. The caller holds the lock of the workspace.
    ///
    /// Errors: a file that is not a bundle, a journal that cannot be read, commits that do not descend from one that main has,
    /// more than 10,000 of them.
    pub fn take_bundle(&mut self, file: &Path, state: &State) -> Result<TakenLane, Fault> {
        let mut records = Records::open(&self.lanes_folder())?;
        let number = records.free_number().ok_or_else(|| {
            Fault::setup_fault(
                format!("All {MAX_LANES} lanes are in use."),
                "`ralph run` takes their work, `ralph lanes drop N` removes one",
            )
        })?;
        let folder = records.folder(number);
        let new = folder.with_file_name(format!(".new-{number}"));
        if new.symlink_metadata().is_ok() {
            fs_err::remove_dir_all(&new)?;
        }
        private_folder(&new)?;
        let taken = self.unpack_lane(file, &new, &records, number, state);
        let taken = taken.and_then(|taken| {
            if !taken.texts.is_empty() {
                fs_err::rename(new.join(file_place("")), &folder)?;
            }
            Ok(taken)
        });
        fs_err::remove_dir_all(&new)?;
        let TakenWork { texts, left_out } = taken.map_err(|fault| {
            let has_place = !fault.place.is_empty();
            if has_place {
                fault
            } else {
                fault.at(file.display().to_string(), None)
            }
        })?;
        if texts.is_empty() {
            return Ok(TakenLane {
                number: None,
                tasks: Vec::new(),
                left_out,
            });
        }
        let families: Vec<String> = texts.keys().cloned().collect();
        let spec = state.spec_state();
        let names = families.iter().map(|family| {
            work_box(spec, family).map_or_else(|| family.clone(), |key| spec.written_name(&key))
        });
        let tasks: Vec<String> = names.collect();
        records.add(
            number,
            LaneRecord {
                families,
                names: tasks.clone(),
                has_ended: true,
                taken: texts,
                ..LaneRecord::default()
            },
        )?;
        records.release(number)?;
        Ok(TakenLane {
            number: Some(number),
            tasks,
            left_out,
        })
    }

    /// Unpacks a bundle into `new`, and copies the commits of its work.
    fn unpack_lane(
        &mut self,
        file: &Path,
        new: &Path,
        records: &Records,
        number: u32,
        state: &State,
    ) -> Result<TakenWork, Fault> {
        let packages = self.parts.repositories.package_names();
        let places: BTreeMap<String, PathBuf> = packages
            .into_iter()
            .filter_map(|package| self.place_of(&package).map(|place| (package, place)))
            .collect();
        let mut wanted: BTreeSet<PathBuf> =
            places.values().map(|place| commits_place(place)).collect();
        wanted.insert(file_place(JOURNAL));
        unpack_parts(file, new, |part| wanted.contains(part))?;
        let lane = new.join(file_place(""));
        let spec = self.parts.places.spec_name();
        let unread = |why: String| {
            let what = format!("Its journal is not used: {why}");
            Fault::new(FaultKind::Unknown, what, "make the bundle again")
        };
        let (steps, theirs) = read_lane(&lane, &spec).map_err(unread)?;
        let work = choose_work(&steps, &theirs, records, state);
        let steps = steps
            .iter()
            .filter(|step| work.texts.contains_key(&step.key.family));
        for (package, head) in steps.flat_map(|step| &step.heads) {
            let Some(place) = places.get(package) else {
                continue;
            };
            let from = lane.join(place);
            if !from.join(".git").is_dir() {
                return Err(Fault::setup_fault(
                    format!("It has no commits of the package {package}."),
                    "make the bundle again",
                ));
            }
            let repositories = &mut self.parts.repositories;
            repositories.copy_commits(package, &from, head, &reference(number))?;
        }
        Ok(work)
    }
}

/// Chooses the families whose work is for an open task that reads the same in both workspaces.
fn choose_work(steps: &[Step], theirs: &State, records: &Records, state: &State) -> TakenWork {
    let mut work = TakenWork::default();
    if steps.is_empty() {
        let why = format!("It has no accepted work for {}.", state.spec);
        work.left_out.push(why);
    }
    let spec = state.spec_state();
    let families: BTreeSet<&String> = steps.iter().map(|step| &step.key.family).collect();
    for family in families {
        let Some(key) = work_box(spec, family) else {
            let shown = line(family, MAX_ID);
            work.left_out
                .push(format!("The task {shown} is not in {}.", state.spec));
            continue;
        };
        let name = spec.title(&key);
        let text = family_text(theirs.spec_state(), family);
        let open = open_texts(spec, std::slice::from_ref(family));
        let lanes = records.all();
        // The last bundle of a task replaces an earlier one.
        let mut own = lanes.iter().filter(|(_, lane)| !lane.is_taken());
        let lane = own.find(|(_, lane)| lane.families.contains(family));
        let why = match (open.get(family), lane) {
            (None, _) => format!("{name} is done."),
            (Some(here), _) if *here != text => format!("{name} had another text there."),
            (_, Some((number, _))) => format!("{name} is in lane {number} already."),
            _ => {
                work.texts.insert(family.clone(), text);
                continue;
            }
        };
        work.left_out.push(why);
    }
    work
}
