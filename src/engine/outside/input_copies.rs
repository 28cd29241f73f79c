//! Copies of the inputs on disk, so that they can be restored after ralph itself was killed.
//!
//! Promise: the journal holds the digest of each file before an agent starts. After a restart nothing is judged before
//! every file fits its digest, with or without the copies.

use super::Outside;
use super::inputs::{InputFile, Inputs, MAX_ENTRIES_AFTER, read_content};
use crate::engine::Fault;
use crate::machine::facts::InputDigests;
use crate::source::text::names;
use crate::source::{digest, digest_parts};
use crate::sys::Disk as _;
use crate::sys::disk::{RealDisk, remove};
use crate::sys::walk::walk;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files of one iteration that are listed, and how deep below its folder they are.
const MAX_LISTED: usize = 2_000;
const MAX_DEPTH: usize = 12;
/// Files that a message names.
const NAMED: usize = 10;

/// A copy of an input.
struct InputCopy<'a> {
    bytes: &'a [u8],
    is_view: bool,
}

impl Outside {
    /// Keeps the inputs in memory and as copies on disk; returns their digests for the journal.
    pub(super) fn keep_inputs(&mut self) -> Result<InputDigests, Fault> {
        self.remember_inputs()?;
        let mut digests = InputDigests {
            rules: self.input_rules(),
            ..InputDigests::default()
        };
        let mut copies: BTreeMap<String, InputCopy<'_>> = BTreeMap::new();
        for (path, known) in self.inputs.iter().flat_map(|inputs| &inputs.0) {
            // A name that is no text cannot be recorded. It is protected as long as this process lives.
            let Some(shown) = path.to_str().map(|_| self.parts.places.display_path(path)) else {
                continue;
            };
            let mark = known.as_ref().map(content_mark).unwrap_or_default();
            if let (Some((_, name)), Some((bytes, _))) = (mark.split_once(' '), known) {
                let copy = copies.entry(name.to_owned()).or_insert(InputCopy {
                    bytes,
                    is_view: true,
                });
                copy.is_view &= self.is_view(path);
            }
            digests.files.insert(shown, mark);
        }
        self.write_copies(&copies)?;
        Ok(digests)
    }

    /// Makes the folder of copies hold these, each under its digest, and nothing else.
    fn write_copies(&self, copies: &BTreeMap<String, InputCopy<'_>>) -> Result<(), Fault> {
        let folder = self.own_folder(self.copies_folder())?;
        for entry in fs_err::read_dir(&folder)? {
            let entry = entry?;
            let is_wanted = entry
                .file_name()
                .to_str()
                .is_some_and(|name| copies.contains_key(name));
            if entry.file_type()?.is_dir() {
                fs_err::remove_dir_all(entry.path())?;
            } else if !is_wanted {
                fs_err::remove_file(entry.path())?;
            }
        }
        for (name, InputCopy { bytes, is_view }) in copies {
            let path = folder.join(name);
            let is_there = read_content(&path)
                .ok()
                .flatten()
                .is_some_and(|(there, _)| there == *bytes);
            if is_there {
                continue;
            }
            if *is_view {
                // It changes with each iteration, and ralph makes it again: it is not worth two syncs.
                RealDisk::new().write(&path, bytes)?;
            } else {
                RealDisk::new().replace(&path, bytes)?;
            }
        }
        Ok(())
    }

    /// True for a file that ralph makes from the journal.
    fn is_view(&self, path: &Path) -> bool {
        let places = &self.parts.places;
        path == places.diff_file() || path == places.diff_json()
    }

    /// Restores the inputs of an iteration whose agent was not observed.
    ///
    /// Errors: one of them was changed. The configuration may be among them, and this process has read it, so the run
    /// ends here and the next one reads the restored files.
    pub(super) fn restore_inputs(
        &mut self,
        iteration: u64,
        recorded: &InputDigests,
    ) -> Result<(), Fault> {
        let workspace = self.parts.places.workspace.clone();
        let (mut before, mut lost) = (BTreeMap::new(), Vec::new());
        for (shown, mark) in &recorded.files {
            let path = workspace.join(shown);
            let known = if mark.is_empty() {
                None
            } else {
                self.recorded_content(&path, mark)
            };
            if known.is_none() && !mark.is_empty() && self.is_view(&path) {
                // A power failure can take the view and its copy. An attempt without a view reads the list in its prompt.
                remove(&path)?;
                continue;
            }
            if known.is_none() && !mark.is_empty() {
                lost.push(format!(
                    "{shown} (SHA-256 {})",
                    mark.split(' ').next_back().unwrap_or_default()
                ));
            }
            before.insert(path, known);
        }
        let has_other_rules = recorded.rules != self.input_rules();
        for path in self.input_files(MAX_ENTRIES_AFTER)? {
            let is_new = path.to_str().is_some()
                && (!has_other_rules || path.starts_with(workspace.join(".ralph")));
            if !is_new {
                let there = read_content(&path).ok().flatten();
                before.entry(path).or_insert(there);
            }
        }
        self.inputs = Some(Inputs(before.clone()));
        let changed = self.put_inputs_back(iteration)?;
        self.inputs = Some(Inputs(before));
        let folder = self.parts.places.display_path(&self.kept_aside(iteration));
        let what = format!("Iteration {iteration} was cut short after it had changed");
        if !lost.is_empty() {
            let shown: Vec<&str> = lost
                .iter()
                .filter_map(|lost| lost.split(" (SHA").next())
                .collect();
            let hint = format!(
                "restore {} yourself, for instance from git; or move .ralph/state away to begin a new journal",
                names(&lost, NAMED)
            );
            let copy = if lost.len() == 1 {
                "ralph's copy of it is"
            } else {
                "ralph's copies of them are"
            };
            return Err(Fault::changed_fault(
                format!("{what} {}, and {copy} gone.", names(shown, NAMED)),
                hint,
            ));
        }
        if changed.is_empty() {
            return Ok(());
        }
        let what = format!(
            "{what} {}. Ralph restored what was there before; the other version is in {folder}.",
            names(&changed, NAMED)
        );
        Err(Fault::changed_fault(
            what,
            "`ralph run` continues; make changes of your own after that iteration",
        ))
    }

    /// Restores the inputs after an attempt; returns those that were changed, and those that an earlier process restored.
    pub(super) fn inputs_changed_in(&mut self, iteration: u64) -> Result<Vec<String>, Fault> {
        let mut found: BTreeSet<String> = self.put_inputs_back(iteration)?.into_iter().collect();
        let folder = self.kept_aside(iteration);
        for entry in walk(&folder, MAX_DEPTH, MAX_LISTED, |_| true).filter_map(Result::ok) {
            if let (false, Ok(inside)) = (
                entry.file_type().is_dir(),
                entry.path().strip_prefix(&folder),
            ) {
                found.insert(inside.display().to_string());
            }
        }
        Ok(found.into_iter().collect())
    }

    fn kept_aside(&self, iteration: u64) -> PathBuf {
        self.parts.places.iteration_folder(iteration).join("inputs")
    }

    fn copies_folder(&self) -> PathBuf {
        self.parts.places.state_folder().join("inputs")
    }

    /// A file as the journal recorded it: what is there, else the copy; `None` if neither has that digest.
    fn recorded_content(&self, path: &Path, recorded: &str) -> Option<InputFile> {
        let there = read_content(path).ok().flatten();
        if let Some(there) = there.filter(|there| content_mark(there) == recorded) {
            return Some(there);
        }
        let (mode, name) = recorded.split_once(' ')?;
        let mode = u32::from_str_radix(mode, 8).ok()?;
        // The name comes from the journal: it is no path out of the folder.
        let is_digest = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let (bytes, _) = read_content(&self.copies_folder().join(name))
            .ok()
            .flatten()
            .filter(|_| is_digest)?;
        (digest(&bytes) == name).then_some((bytes, mode))
    }

    /// The digest of the settings that choose the inputs.
    fn input_rules(&self) -> String {
        let settings = &self.parts.settings;
        let policy = &settings.policy;
        let lists = [
            &settings.spec_files,
            &policy.protected,
            &policy.instructions,
            &policy.allow,
        ];
        let mut parts = vec![self.parts.places.spec_name()];
        for list in lists {
            parts.push(digest_parts(list));
        }
        parts.push(digest_parts(self.command_words()));
        parts.extend(
            settings
                .agents
                .values()
                .map(|agent| digest_parts(&agent.command)),
        );
        parts.extend(
            settings
                .hooks
                .commands()
                .map(|(_, argv)| digest_parts(argv)),
        );
        digest_parts(parts)
    }
}

/// `<octal mode> <SHA-256>`.
fn content_mark((bytes, mode): &InputFile) -> String {
    format!("{mode:o} {}", digest(bytes))
}
