//! Main's knowledge of its lanes: a file next to the folder of each, in ralph's cache.

use crate::engine::Fault;
use crate::engine::outside::private_folder;
use crate::machine::effect::LaneTask;
use crate::sys::Disk as _;
use crate::sys::disk::{RealDisk, remove};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes of a record.
const MAX_BYTES: u64 = 64 << 10;
/// Numbers of lanes: `--lanes` is at most that.
pub(in crate::engine) const MAX_LANES: u32 = 64;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LaneRecord {
    /// The families that it does.
    pub(super) families: Vec<String>,
    /// Their names for `--only`.
    pub(super) names: Vec<String>,
    /// The digest of the task's text when the lane was made.
    pub(super) digest: String,
    /// Number of starts.
    pub(super) runs: u32,
    /// Its last run came to an end by itself.
    pub(super) has_ended: bool,
    /// It is a bundle of a run elsewhere: the families with accepted work, and the digests of their texts there.
    #[serde(default)]
    pub(super) taken: BTreeMap<String, String>,
}

impl LaneRecord {
    /// True while its tasks are open and read as they did when the lane was made.
    pub(super) fn is_wanted(&self, open: &[LaneTask], taken: &BTreeMap<String, String>) -> bool {
        open.iter()
            .any(|task| task.families == self.families && task.digest == self.digest)
            || self
                .taken
                .keys()
                .any(|family| self.has_taken(family, taken))
    }

    /// True if a bundle has work of a family whose text was this one.
    pub(super) fn has_taken(&self, family: &str, open: &BTreeMap<String, String>) -> bool {
        let text = self.taken.get(family);
        text.is_some() && text == open.get(family)
    }

    /// True if it was taken from a bundle.
    pub(super) fn is_taken(&self) -> bool {
        !self.taken.is_empty()
    }
}

/// All lanes of a workspace.
pub(super) struct Records {
    folder: PathBuf,
    lanes: BTreeMap<u32, LaneRecord>,
}

impl Records {
    /// Reads what is there, and changes nothing.
    pub(super) fn read(folder: &Path) -> io::Result<Self> {
        let mut records = Self {
            folder: folder.to_owned(),
            lanes: BTreeMap::new(),
        };
        for number in 1..=MAX_LANES {
            let file = records.file(number);
            let is_small = fs_err::symlink_metadata(&file)
                .is_ok_and(|found| found.is_file() && found.len() <= MAX_BYTES);
            let record = is_small.then(|| fs_err::read(&file)).transpose()?;
            let record = record.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            if let Some(record) = record
                && records.folder(number).is_dir()
            {
                records.lanes.insert(number, record);
            }
        }
        Ok(records)
    }

    /// Reads them for a run. A lane without a record was being made or removed, and is removed.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        private_folder(folder)?;
        let mut records = Self::read(folder)?;
        for number in (1..=MAX_LANES)
            .filter(|number| !records.lanes.contains_key(number))
            .collect::<Vec<_>>()
        {
            records.remove(number)?;
        }
        Ok(records)
    }

    /// The folder of a lane: its workspace.
    pub(super) fn folder(&self, number: u32) -> PathBuf {
        self.folder.join(number.to_string())
    }

    /// Output of its loop.
    pub(super) fn log(&self, number: u32) -> PathBuf {
        self.folder.join(format!("{number}.log"))
    }

    /// The file that the process which runs the lane holds locked.
    pub(super) fn lock(&self, number: u32) -> PathBuf {
        self.folder.join(format!("{number}.lock"))
    }

    fn file(&self, number: u32) -> PathBuf {
        self.folder.join(format!("{number}.json"))
    }

    /// The lane that was taken from a bundle and has work of a family.
    pub(super) fn taken_of(&self, family: &str) -> Option<u32> {
        let mut lanes = self.lanes.iter();
        let found = lanes.find(|(_, lane)| lane.taken.contains_key(family));
        found.map(|(number, _)| *number)
    }

    /// The lowest number without a lane.
    pub(super) fn free_number(&self) -> Option<u32> {
        (1..=MAX_LANES).find(|number| !self.holds(*number))
    }

    /// The lane whose first family is this one.
    pub(super) fn of(&self, family: &str) -> Option<u32> {
        let mut lanes = self.lanes.iter();
        let found = lanes.find(|(_, lane)| {
            !lane.is_taken() && lane.families.first().is_some_and(|own| own == family)
        });
        found.map(|(number, _)| *number)
    }

    pub(super) fn holds(&self, number: u32) -> bool {
        self.lanes.contains_key(&number)
    }

    pub(super) fn lane(&self, number: u32) -> LaneRecord {
        self.lanes.get(&number).cloned().unwrap_or_default()
    }

    pub(super) fn all(&self) -> Vec<(u32, LaneRecord)> {
        let all = self.lanes.iter();
        all.map(|(number, lane)| (*number, lane.clone())).collect()
    }

    pub(super) fn add(&mut self, number: u32, record: LaneRecord) -> Result<(), Fault> {
        self.lanes.insert(number, record);
        self.write(number)
    }

    pub(super) fn note_start(&mut self, number: u32) -> Result<(), Fault> {
        if let Some(lane) = self.lanes.get_mut(&number) {
            lane.runs += 1;
        }
        self.write(number)
    }

    pub(super) fn note_end(&mut self, number: u32) -> Result<(), Fault> {
        if let Some(lane) = self.lanes.get_mut(&number) {
            lane.has_ended = true;
        }
        self.write(number)
    }

    /// Takes the families of a taken lane out of earlier ones, and removes those that have none left.
    pub(super) fn release(&mut self, number: u32) -> Result<(), Fault> {
        let families = self.lane(number).families;
        for (other, mut lane) in self.all() {
            let is_earlier = other != number && lane.is_taken();
            if !is_earlier
                || families
                    .iter()
                    .all(|family| !lane.taken.contains_key(family))
            {
                continue;
            }
            lane.taken.retain(|family, _| !families.contains(family));
            let both = lane.families.into_iter().zip(lane.names);
            let left = both.filter(|(family, _)| !families.contains(family));
            (lane.families, lane.names) = left.unzip();
            if lane.taken.is_empty() {
                self.remove(other)?;
            } else {
                self.add(other, lane)?;
            }
        }
        Ok(())
    }

    /// Removes a lane. The record goes first, so that a remaining directory has none.
    pub(super) fn remove(&mut self, number: u32) -> io::Result<()> {
        self.lanes.remove(&number);
        remove(&self.file(number))?;
        remove(&self.log(number))?;
        remove(&self.lock(number))?;
        let folder = self.folder(number);
        if folder.symlink_metadata().is_ok() {
            fs_err::remove_dir_all(folder)?;
        }
        Ok(())
    }

    fn write(&self, number: u32) -> Result<(), Fault> {
        if let Some(lane) = self.lanes.get(&number) {
            let bytes = serde_json::to_vec(lane)
                .map_err(|error| Fault::internal_fault(format!("A lane has no record: {error}")))?;
            RealDisk::new().write(&self.file(number), &bytes)?;
        }
        Ok(())
    }
}
