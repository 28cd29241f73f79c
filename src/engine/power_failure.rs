//! Restores what a power failure took of tasks.md and progress.txt.
//!
//! An iteration syncs only the journal. The journal has the marks of all boxes and the entries, and the state folder a
//! synced copy of the text of tasks.md, so ralph can make both files again. The end of a run syncs them.

use super::progress::{missing_bytes, whole_entry};
use super::{Engine, Fault, Fold};
use crate::journal;
use crate::machine::effect::ProgressEntry;
use crate::machine::event::Event;
use crate::machine::state::{Phase, State};
use crate::report::progress::{entry_heading, render_entry};
use crate::task::{digest, with_marks, written_rows};
use std::collections::BTreeSet;

/// Seconds from a record to the last write that it leads to, with time for a slow disk.
const WRITTEN_WITHIN: i64 = 60;

/// The work of ralph since a run last ended by itself, as the journal has it.
#[derive(Default)]
struct UnsyncedWork {
    /// The digests of tasks.md without marks.
    texts: BTreeSet<String>,
    /// True if tasks.md, as it is now, is a version that ralph read or wrote.
    has_version: bool,
    /// The entries of progress.txt, with time and tag of their records.
    entries: Vec<(ProgressEntry, (String, String))>,
    /// The time of the last record.
    last: String,
}

impl UnsyncedWork {
    /// Takes the state after a record. `found` is tasks.md, as it is now, with and without marks.
    fn note_version(&mut self, state: &State, found: Option<&(Vec<u8>, Vec<u8>)>) {
        let book = state.spec_state();
        self.texts.insert(book.skeleton.clone());
        if let Some((bytes, text)) = found
            && digest(text) == book.skeleton
        {
            let version = with_marks(text, &written_rows(&book.rows));
            self.has_version |= version.as_ref() == Some(bytes);
        }
    }

    /// True if the file was changed more than so many seconds after the last record.
    fn is_older_than(&self, changed_at: Option<i64>, seconds: i64) -> bool {
        let last = self.last.parse::<jiff::Timestamp>().ok();
        let last = last.map(jiff::Timestamp::as_second);
        changed_at
            .zip(last)
            .is_some_and(|(changed_at, last)| changed_at > last + seconds)
    }
}

impl Engine<'_> {
    /// Restores tasks.md and progress.txt if the machine may have stopped before they were on the disk.
    ///
    /// The file `boot` names the boot in which ralph last looked. In the same boot no write was lost.
    pub(super) fn restore_lost_writes(&mut self) -> Result<(), Fault> {
        let boot = self.world.boot_id();
        let boot_file = self.places.boot_file();
        self.set_aside_odd(&boot_file, &boot_file.with_extension("set-aside"))?;
        let is_same_boot =
            !boot.is_empty() && self.disk.read(&boot_file)?.as_deref() == Some(boot.as_bytes());
        let state = &self.fold.state;
        let is_other = state.spec != self.places.spec_name();
        if !state.spec_state().skeleton.is_empty() && (is_other || !is_same_boot) {
            let of_journal = self.places.of_spec(&state.spec);
            let places = std::mem::replace(&mut self.places, of_journal);
            let restored = if is_same_boot {
                // The run that begins now will end, and its end does not sync the files of another spec.
                self.sync_files()
            } else {
                self.restore_files(is_other)
            };
            self.places = places;
            restored?;
        }
        if is_same_boot {
            return Ok(());
        }
        // Without a sync: after a power failure this file is older or damaged, and does not name the boot then.
        Ok(self.disk.write(&boot_file, boot.as_bytes())?)
    }

    /// Restores both files of the spec. Another spec than that of this run may have been removed on purpose.
    fn restore_files(&mut self, is_other: bool) -> Result<(), Fault> {
        let tasks = self.places.tasks_file();
        let is_odd = self.is_odd(&tasks)?;
        let found = if is_odd {
            None
        } else {
            self.disk.read(&tasks)?
        };
        if is_other && found.is_none() {
            return Ok(());
        }
        let work = self.read_unsynced_work(found.clone())?;
        let note = if is_odd || work.texts.is_empty() {
            String::new()
        } else {
            self.restore_lost_tasks(found.as_deref(), &work)?
        };
        self.restore_lost_entries(&work, &note)
    }

    /// Reads the records since the last end of a run.
    fn read_unsynced_work(&self, found: Option<Vec<u8>>) -> Result<UnsyncedWork, Fault> {
        let found = found.map(|bytes| {
            let text = self.rules.parse(bytes.clone()).text_without_marks();
            (bytes, text)
        });
        let bytes = self
            .disk
            .read(&self.places.journal_file())?
            .unwrap_or_default();
        let mut fold = Fold::default();
        let mut work = UnsyncedWork::default();
        journal::replay(&bytes, |record| {
            if let (
                Event::ProgressAppended,
                Phase::Applying {
                    entry: Some(entry), ..
                },
            ) = (&record.event, &fold.state.phase)
                && fold.state.spec == self.fold.state.spec
            {
                work.entries.push((entry.clone(), fold.decided.clone()));
            }
            fold.take_record(&record)?;
            match &record.event {
                Event::RunStopped { .. } => work = UnsyncedWork::default(),
                Event::Surveyed { .. }
                | Event::TasksRestored { .. }
                | Event::BoxesFlipped { .. }
                    if fold.state.spec == self.fold.state.spec =>
                {
                    work.note_version(&fold.state, found.as_ref());
                }
                _ => {}
            }
            work.last.clone_from(&record.at);
            Ok::<(), Fault>(())
        })?;
        // The file may end with a part of the entry that comes next, so it is finished before the note is appended.
        if let Phase::Applying {
            entry: Some(entry), ..
        } = &fold.state.phase
        {
            work.entries.push((entry.clone(), fold.decided.clone()));
        }
        Ok(work)
    }

    /// Restores tasks.md from the journal and the copy of its text; returns a note for progress.txt.
    ///
    /// An edit of a person stays: it is no version that ralph left, or it was saved after ralph's end.
    fn restore_lost_tasks(
        &mut self,
        found: Option<&[u8]>,
        work: &UnsyncedWork,
    ) -> Result<String, Fault> {
        let path = self.places.tasks_file();
        if let Some(found) = found {
            let changed_at = self.disk.changed_at(&path)?;
            // Only a write that the last record leads to can be newer than the record, and it leaves no earlier version.
            let is_lost = work.has_version && !work.is_older_than(changed_at, 0)
                || self.is_damaged(found, work)? && !work.is_older_than(changed_at, WRITTEN_WITHIN);
            if !is_lost {
                return Ok(String::new());
            }
        }
        let wanted = self.expected_tasks()?;
        let kept = self
            .places
            .iteration_folder(self.fold.state.iteration)
            .join("tasks-after-power-failure.md");
        self.rewrite_file(&path, &kept, |now| {
            (now == found && now != Some(&*wanted)).then(|| wanted.clone())
        })?;
        if found == Some(&*wanted) {
            return Ok(String::new());
        }
        let [shown, kept] = [&path, &kept].map(|path| self.places.display_path(path));
        let version = found.map_or(String::new(), |_| {
            format!(" The version that it left is {kept}.")
        });
        Ok(format!(
            "(A power failure took changes of {shown}. They are restored.{version})\n"
        ))
    }

    /// True if the file holds a part of a text that ralph left.
    fn is_damaged(&self, found: &[u8], work: &UnsyncedWork) -> Result<bool, Fault> {
        for text in &work.texts {
            let copy = self.disk.read(&self.places.skeleton_file(text))?;
            if copy.is_some_and(|copy| digest(&copy) == *text && is_part_of(found, &copy)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Appends the entries that progress.txt lacks, and the note.
    fn restore_lost_entries(&mut self, work: &UnsyncedWork, note: &str) -> Result<(), Fault> {
        let path = self.places.progress_file();
        if self.is_odd(&path)? {
            return Ok(());
        }
        let mut bytes = self.disk.read(&path)?.unwrap_or_default();
        let length = bytes.len();
        for (entry, (at, tag)) in &work.entries {
            let heading = entry_heading(entry, at, tag);
            let text = render_entry(entry, at, tag);
            bytes.extend(missing_bytes(&bytes, heading.as_bytes(), text.as_bytes()));
        }
        if !note.is_empty() {
            bytes.extend(whole_entry(&bytes, note.as_bytes()));
        }
        if bytes.len() > length {
            self.disk.create_shared(&path)?;
            self.disk.append(&path, &bytes[length..])?;
            self.disk.sync(&path)?;
        }
        Ok(())
    }

    /// Syncs tasks.md and progress.txt.
    pub(super) fn sync_files(&mut self) -> Result<(), Fault> {
        let tasks = self.places.tasks_file();
        if !self.is_odd(&tasks)?
            && let Some(now) = self.disk.read(&tasks)?
        {
            // Another save meanwhile is a person's, and so is its sync.
            self.disk.swap(&tasks, &now, &now)?;
        }
        let progress = self.places.progress_file();
        if !self.is_odd(&progress)? && self.disk.len(&progress)?.is_some() {
            self.disk.sync(&progress)?;
        }
        Ok(())
    }
}

/// True if `found` is a beginning of the text, or the text with zeros in it, with any marks in its boxes.
fn is_part_of(found: &[u8], text: &[u8]) -> bool {
    let mut lost = found.len() < text.len();
    for (at, byte) in found.iter().enumerate() {
        match text.get(at) {
            Some(own) if own == byte => {}
            Some(_) if *byte == 0 => lost = true,
            Some(_) if is_mark(text, at) && matches!(byte, b'x' | b'X' | b'\t') => {}
            _ => return false,
        }
    }
    lost
}

/// True for the blank of an open box.
fn is_mark(text: &[u8], at: usize) -> bool {
    at > 0 && text.get(at - 1..=at + 1) == Some(b"[ ]")
}

#[cfg(test)]
mod tests {
    use super::is_part_of;

    #[test]
    fn a_part_of_a_text_is_recognised_with_any_marks_and_an_edit_is_not() {
        let text = b"# Tasks\n- [ ] 1. do\n- [ ] 2. more\n";
        for end in 0..text.len() {
            assert!(is_part_of(&text[..end], text), "{end}");
            let zeros = [&text[..end], &vec![0; text.len() - end]].concat();
            assert!(is_part_of(&zeros, text), "{end}");
        }
        assert!(is_part_of(b"# Tasks\n- [x] 1. do\n- [X] 2", text));
        let edits: [&[u8]; 6] = [
            text,
            b"# Tasks\n- [x] 1. do\n- [x] 2. more\n",
            b"# Tasks\n- [-] 1. do\n",
            b"# Tasks\n- [ ] 1. dx",
            b"# Tasks\n- [ ] 1. do\n- [ ] 2. more\n- [ ] 3. new\n",
            b"x",
        ];
        for edit in edits {
            assert!(!is_part_of(edit, text), "{}", String::from_utf8_lossy(edit));
        }
    }
}
