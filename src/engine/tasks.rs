//! tasks.md on the disk: reads it, writes boxes, restores it.
//!
//! A person's save at the same time is never lost. An agent's version is kept in `iter-N/` before
//! ralph restores the file.

use super::progress::sum_of_file;
use super::{Engine, Fault};
use crate::machine::event::{Event, TasksSeen, Validation};
use crate::machine::state::Phase;
use crate::report::read_validation;
use crate::sys::{Disk, Swap};
use crate::task::{
    BoxClaim, Mark, Refused, Row, Stage, TaskFile, TaskFileFinding, TaskKey, digest, on_file,
    reconcile_files, with_marks, written_rows,
};
use std::io;
use std::path::Path;

/// Lines that look like tasks: so many are named.
const MAX_UNREAD: usize = 20;
/// Larger files are moved as they are, and never read: tasks.md and reports, and progress.txt, which grows for years.
const MAX_TEXT: u64 = 16 << 20;
const MAX_PROGRESS: u64 = 256 << 20;

/// Most retries of a write because another process saved the file at the same time.
const TRIES: u32 = 20;

impl Engine<'_> {
    /// Reads tasks.md as the difference to what the state expects.
    pub(super) fn read_tasks(&mut self) -> Result<TasksSeen, Fault> {
        let path = self.places.tasks_file();
        let shown = self.places.display_path(&path);
        if self.is_odd(&path)? {
            return Ok(refuse_file(
                &shown,
                "This is a link, a folder or more than 16 MiB, and ralph writes regular files up to that size only.",
            ));
        }
        let Some(bytes) = self.disk.read(&path)? else {
            return Ok(refuse_file(&shown, "There is no such file."));
        };
        self.see_tasks(bytes)
    }

    /// Notes the digests of the spec's other files if they differ from the known ones.
    pub(super) fn note_files(&mut self, seen: &mut TasksSeen) -> Result<(), Fault> {
        let files = self.world.spec_digests()?;
        let book = self.fold.state.spec_state();
        let (is_first, is_known) = (
            book.skeleton.is_empty(),
            book.files.as_ref() == Some(&files),
        );
        seen.files = (!is_known).then_some(files);
        if is_first && !seen.skeleton.is_empty() {
            let path = self.places.progress_file();
            let file = if self.is_odd(&path)? {
                None
            } else {
                self.disk.open(&path)?
            };
            seen.earlier = Some(match file {
                Some(file) => sum_of_file(file)?,
                None => sum_of_file(io::empty())?,
            });
        }
        Ok(())
    }

    /// The task file, when it holds these bytes.
    fn see_tasks(&mut self, bytes: Vec<u8>) -> Result<TasksSeen, Fault> {
        let shown = self.places.display_path(&self.places.tasks_file());
        let file = self.rules.parse(bytes.clone());
        let rows = self
            .rules
            .ordered_boxes(&file, &self.fold.state.spec_state().rows);
        if rows.is_empty() {
            let remarks: Vec<_> = file.find_remarks().into_iter().take(MAX_UNREAD).collect();
            return Ok(TasksSeen {
                problems: finding_sentences(&shown, &remarks),
                ..TasksSeen::default()
            });
        }
        let skeleton_bytes = file.text_without_marks();
        let skeleton = digest(&skeleton_bytes);
        let problems = finding_sentences(&shown, &self.rules.find_problems(&file));
        self.tasks_read = Some(bytes);
        let book = self.fold.state.spec_state();
        // The configuration can give the same bytes other rows: gates, sections, checkpoints.
        let same = rows.len() == book.rows.len()
            && rows
                .iter()
                .zip(&book.rows)
                .all(|(now, known)| now.is_same_box(known));
        if book.skeleton == skeleton && same {
            let changed = rows
                .into_iter()
                .zip(&book.rows)
                .filter(|(now, known)| now.mark != known.mark);
            let marks = changed.map(|(now, _)| (now.key, now.mark)).collect();
            return Ok(TasksSeen {
                skeleton,
                marks,
                problems,
                ..TasksSeen::default()
            });
        }
        self.disk
            .replace(&self.places.skeleton_file(&skeleton), &skeleton_bytes)?;
        let unread = unread_lines(&shown, &file);
        Ok(TasksSeen {
            skeleton,
            rows: Some(rows),
            problems,
            unread,
            ..TasksSeen::default()
        })
    }

    /// All that tasks.md said of the attempt's family when it began.
    pub(super) fn task_before(&self) -> String {
        let Phase::Observing(attempt) = &self.fold.state.phase else {
            return String::new();
        };
        let bytes = self
            .tasks_read
            .clone()
            .or_else(|| self.expected_tasks().ok())
            .unwrap_or_default();
        format!(
            "\n{}",
            self.rules.parse(bytes).family_text(&attempt.key.family)
        )
    }

    /// Returns tasks.md before the attempt: skeleton and marks.
    pub(super) fn expected_tasks(&self) -> Result<Vec<u8>, Fault> {
        let book = self.fold.state.spec_state();
        let path = self.places.skeleton_file(&book.skeleton);
        let lost = || {
            let shown = self.places.display_path(&path);
            Fault::changed_fault(
                format!(
                    "{shown}: The copy of tasks.md from before the attempt is gone or changed."
                ),
                "look through tasks.md; `ralph run` takes it as it is after the journal is moved away",
            )
        };
        let skeleton = self.disk.read(&path)?.ok_or_else(lost)?;
        if digest(&skeleton) != book.skeleton {
            return Err(lost());
        }
        with_marks(&skeleton, &written_rows(&book.rows)).ok_or_else(lost)
    }

    /// Returns the boxes that an agent changed.
    ///
    /// The flag is true if any byte of the file changed.
    pub(super) fn agents_edits(&mut self) -> Result<(Vec<BoxClaim>, bool), Fault> {
        if self.is_odd(&self.places.tasks_file())? {
            return Ok((Vec::new(), true));
        }
        let now = self.disk.read(&self.places.tasks_file())?;
        if now.is_some() && now == self.tasks_read {
            return Ok((Vec::new(), false));
        }
        let before = self.expected_tasks()?;
        if now.as_ref() == Some(&before) {
            return Ok((Vec::new(), false));
        }
        let claims = reconcile_files(&before, &now.unwrap_or_default(), &self.rules.grammar).claims;
        Ok((claims, true))
    }

    /// Puts tasks.md back as the state knows it.
    pub(super) fn restore_tasks(&mut self, iteration: u64) -> Result<Event, Fault> {
        let before = self.expected_tasks()?;
        let kept = self.places.edited_tasks(iteration);
        let bytes = self.put_tasks_back(&before, &kept)?;
        // Reads the written bytes, not the file: another process may have saved it since.
        let tasks = self.see_tasks(bytes)?;
        // It may also have been kept by an earlier try that was cut short.
        let is_odd = self.is_odd(&kept)?;
        let other = if is_odd { None } else { self.disk.read(&kept)? };
        let is_kept = is_odd || other.is_some();
        let reworded =
            other.and_then(|other| reconcile_files(&before, &other, &self.rules.grammar).reworded);
        let kept = if is_kept {
            self.places.display_path(&kept)
        } else {
            String::new()
        };
        Ok(Event::TasksRestored {
            tasks,
            kept,
            reworded,
        })
    }

    /// Restores the remembered files after another process wrote to the journal.
    ///
    /// It does so after an attempt, check or gate, so that no later run takes an agent's boxes for a
    /// person's. Returns true if the journal was removed and is whole again.
    pub(super) fn rescue_journal(&mut self) -> bool {
        // The fault that led here is the one to report; this is what can still be saved.
        let is_whole = self.journal.restore_removed(self.disk).unwrap_or(false);
        let iteration = self.fold.state.iteration;
        if let Some(before) = self.tasks_read.take() {
            let skeleton = self.rules.parse(before.clone()).text_without_marks();
            let _ = self.put_tasks_back(&before, &self.places.edited_tasks(iteration));
            // The next run puts tasks.md back from this copy.
            let _ = self
                .disk
                .replace(&self.places.skeleton_file(&digest(&skeleton)), &skeleton);
        }
        let _ = self.restore_progress();
        let _ = self.world.rescue_inputs(iteration);
        is_whole
    }

    /// Ends the lanes of a run, then restores tasks.md, which their agents could edit since it was last read.
    ///
    /// The journal has no record of this, since the file is again as the journal describes it.
    pub fn end_lanes(&mut self) -> Result<(), Fault> {
        let ended = self.world.end_lanes();
        if self.fold.state.run.working_lanes == 0 {
            return ended;
        }
        let (path, before) = (self.places.tasks_file(), self.expected_tasks()?);
        let now = if self.is_odd(&path)? {
            None
        } else {
            self.disk.read(&path)?
        };
        let folder = self.places.iteration_folder(self.fold.state.iteration);
        let kept = folder.join("tasks-of-a-lane.md");
        let written = self.put_tasks_back(&before, &kept)?;
        if now.as_ref() != Some(&written) {
            let restored = Event::TasksRestored {
                tasks: TasksSeen::default(),
                kept: self.places.display_path(&kept),
                reworded: None,
            };
            self.world.tell_event(&restored, &self.fold.state);
        }
        ended
    }

    /// Restores tasks.md with lines that were added under new ids, and returns the bytes. Another version is kept first.
    fn put_tasks_back(&mut self, before: &[u8], kept: &Path) -> Result<Vec<u8>, Fault> {
        let (grammar, mut written) = (self.rules.grammar.clone(), Vec::new());
        self.rewrite_file(&self.places.tasks_file(), kept, |now| {
            written = reconcile_files(before, now.unwrap_or_default(), &grammar).bytes;
            Some(written.clone()).filter(|wanted| now != Some(wanted.as_slice()))
        })?;
        Ok(written)
    }

    /// Rewrites a file with compare-and-swap and retries on concurrent saves.
    ///
    /// `wanted` returns `None` if no change is needed. Another version of the file is kept first,
    /// and so is an entry that is no file.
    pub(super) fn rewrite_file(
        &mut self,
        path: &Path,
        kept: &Path,
        mut wanted: impl FnMut(Option<&[u8]>) -> Option<Vec<u8>>,
    ) -> Result<(), Fault> {
        self.set_aside_odd(path, kept)?;
        for _ in 0..TRIES {
            let now = self.disk.read(path)?;
            let Some(wanted) = wanted(now.as_deref()) else {
                return Ok(());
            };
            let Some(now) = now else {
                self.disk.create_shared(path)?;
                return Ok(self.disk.replace(path, &wanted)?);
            };
            self.disk.replace(kept, &now)?;
            if self.disk.swap(path, &now, &wanted)? == Swap::Done {
                return Ok(());
            }
        }
        Err(self.contended_fault(path))
    }

    /// True for what no person writes in place of this file: a link, a folder, gigabytes.
    pub(super) fn is_odd(&self, path: &Path) -> Result<bool, Fault> {
        let most = if *path == self.places.progress_file() {
            MAX_PROGRESS
        } else {
            MAX_TEXT
        };
        Ok(self.disk.is_odd(path)? || self.disk.len(path)?.is_some_and(|length| length > most))
    }

    /// Moves a link or folder that an agent put in place of a file out of the way.
    pub(super) fn set_aside_odd(&mut self, path: &Path, aside: &Path) -> Result<(), Fault> {
        if self.is_odd(path)? {
            self.disk.rename(path, aside)?;
        }
        Ok(())
    }

    /// Writes boxes; those whose line is gone are left out.
    pub(super) fn flip_boxes(&mut self, flips: &[(TaskKey, Mark)]) -> Result<Event, Fault> {
        let path = self.places.tasks_file();
        self.tasks_read = None;
        for _ in 0..TRIES {
            let now = self.disk.read(&path)?.ok_or_else(|| {
                let what = format!("{} is gone.", self.places.display_path(&path));
                Fault::changed_fault(what, "restore it; the journal knows which boxes are ticked")
            })?;
            let mut bytes = now.clone();
            let mut found = Vec::new();
            for (key, mark) in &on_file(&self.fold.state.spec_state().rows, flips) {
                let edit = match self.rules.parse(bytes.clone()).flip_box(key, *mark) {
                    Err(refusal) if refusal.kind == Refused::NoSuchBox => continue,
                    edit => {
                        edit.map_err(|refusal| Fault::changed_fault(refusal.what, refusal.hint))?
                    }
                };
                if let Some(edit) = edit {
                    bytes = edit.apply_to(&bytes).ok_or_else(|| {
                        Fault::internal_fault("An edit of one box would have changed another one.")
                    })?;
                }
                found.push((key.clone(), *mark));
            }
            if bytes == now || self.swap_boxes(&path, &now, &bytes)? == Swap::Done {
                let flips = self.flipped_boxes(flips, found, &self.rules.parse(bytes).box_rows());
                return Ok(Event::BoxesFlipped { flips });
            }
        }
        Err(self.contended_fault(&path))
    }

    /// Replaces tasks.md by the same text with other marks.
    ///
    /// The journal has the marks. If the state folder has a synced copy of the text too, a power failure loses nothing.
    fn swap_boxes(&mut self, path: &Path, now: &[u8], new: &[u8]) -> Result<Swap, Fault> {
        let text = self.rules.parse(now.to_vec()).text_without_marks();
        let has_copy = digest(&text) == self.fold.state.spec_state().skeleton;
        Ok(if has_copy {
            self.disk.swap_unsynced(path, now, new)?
        } else {
            self.disk.swap(path, now, new)?
        })
    }

    /// The flips that happened: boxes of the file with their marks now, and stages that have no line. Those whose line
    /// is gone are left out.
    fn flipped_boxes(
        &self,
        wanted: &[(TaskKey, Mark)],
        found: Vec<(TaskKey, Mark)>,
        now: &[Row],
    ) -> Vec<(TaskKey, Mark)> {
        let book = self.fold.state.spec_state();
        let is_hidden = |key: &TaskKey| {
            book.family_rows(&key.family).any(|row| row.is_virtual) && book.row(key).is_some()
        };
        let mut flips: Vec<(TaskKey, Mark)> = wanted
            .iter()
            .filter(|(key, _)| is_hidden(key))
            .cloned()
            .collect();
        for (key, mark) in found {
            let row = now.iter().find(|row| row.key == key);
            let mark = row.map_or(mark, |row| row.mark);
            // A box that is not ticked in the file may represent an implementation that is done.
            if !is_hidden(&key) || mark.is_done() {
                flips.retain(|(other, _)| *other != key);
                flips.push((key, mark));
            }
        }
        flips
    }

    fn contended_fault(&self, file: &Path) -> Fault {
        let shown = self.places.display_path(file);
        Fault::changed_fault(
            format!(
                "Another program saved {shown} each of the {TRIES} times that ralph tried to write it."
            ),
            "close the program that writes it, then `ralph run` continues",
        )
    }

    /// Makes the validator's report durable by writing it again.
    ///
    /// Once the end of its attempt is recorded, another process may read it after a power loss.
    pub(super) fn keep_validation(&mut self) -> Result<(), Fault> {
        let Phase::Attempting { key, .. } = &self.fold.state.phase else {
            return Ok(());
        };
        let path = self.places.validation_file();
        if key.stage == Stage::Final
            && let Some(bytes) = read_bounded(&*self.disk, &path)?
        {
            self.disk.replace(&path, &bytes)?;
        }
        Ok(())
    }

    /// The validator's report, counted; `None` when it was not written.
    pub(super) fn read_validation(&mut self) -> Result<Option<Validation>, Fault> {
        // Gigabytes are no report.
        let Some(bytes) = read_bounded(&*self.disk, &self.places.validation_file())? else {
            return Ok(None);
        };
        let mut report = read_validation(&bytes);
        report.digest = digest(&bytes);
        report
            .gaps
            .iter_mut()
            .for_each(|gap| *gap = self.world.redact_text(gap));
        Ok(Some(report))
    }
}

/// Reads tasks.md or the report; `None` for what is larger than ralph reads.
pub(super) fn read_bounded(disk: &dyn Disk, path: &Path) -> Result<Option<Vec<u8>>, Fault> {
    let is_large = disk.len(path)?.is_some_and(|length| length > MAX_TEXT);
    Ok(if is_large { None } else { disk.read(path)? })
}

/// Returns each finding as a sentence with its place.
fn finding_sentences<K>(shown: &str, found: &[TaskFileFinding<K>]) -> Vec<String> {
    found
        .iter()
        .map(|one| format!("{shown}:{}: {}", one.line, one.message))
        .collect()
}

/// The lines that look like open tasks and are not read as tasks.
pub(super) fn unread_lines(shown: &str, file: &TaskFile) -> Vec<String> {
    finding_sentences(
        shown,
        &file
            .unread_lines()
            .into_iter()
            .take(MAX_UNREAD)
            .collect::<Vec<_>>(),
    )
}

/// A task file that cannot be run at all.
fn refuse_file(shown: &str, why: &str) -> TasksSeen {
    TasksSeen {
        problems: vec![format!("{shown}: {why}")],
        ..TasksSeen::default()
    }
}
