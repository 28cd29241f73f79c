//! What an attempt works by and may not write: the configuration, the prompts, the spec's own files, and files that
//! `policy.protected` or the command of a gate or check names.
//!
//! Promises: outside of the packages a change is kept in `iter-N/` and put back, whatever it made of the file; in a package
//! it makes the attempt's work one to be put back.

use super::{Outside, globs};
use crate::config::BuildFiles;
use crate::engine::{Fault, Places};
use crate::machine::facts::{FileChange, Observation, ObserveRequest, PackageChange};
use crate::source::{Kind, is_output};
use crate::sys::Disk as _;
use crate::sys::disk::{RealDisk, open_regular};
use crate::sys::walk::walk;
use globset::GlobSet;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Files that are looked after, entries that the search for them looks at, folders that it goes down.
const MAX_FILES: usize = 2_000;
const MAX_ENTRIES: usize = 20_000;
const MAX_DEPTH: usize = 4;
/// A larger file is not looked after.
const MAX_BYTES: u64 = 4 << 20;

/// What was there outside of the packages when the attempt began: bytes and mode, `None` for what cannot be put back
/// (a link, a large file).
#[derive(Clone)]
pub(super) struct Inputs(pub(super) BTreeMap<PathBuf, Option<Content>>);

/// Bytes and mode of a file.
pub(super) type Content = (Vec<u8>, u32);

impl Outside {
    /// Keeps in mind what the attempt may not write.
    pub(super) fn remember_inputs(&mut self) -> Result<(), Fault> {
        let there = self.input_files()?.into_iter().filter(|path| path.symlink_metadata().is_ok());
        self.inputs = Some(Inputs(there.map(|path| (path.clone(), content(&path).ok().flatten())).collect()));
        Ok(())
    }

    /// Puts back what the attempt wrote all the same; says what it was. Nothing if nobody remembers how it was.
    pub(super) fn put_inputs_back(&mut self, iteration: u64) -> Result<Vec<String>, Fault> {
        let Some(Inputs(before)) = self.inputs.take() else { return Ok(Vec::new()) };
        let mut paths = self.input_files()?;
        paths.extend(before.keys().cloned());
        paths.sort();
        paths.dedup();
        let mut changed = Vec::new();
        for path in paths {
            let is_same = match before.get(&path) {
                Some(Some(was)) => content(&path).ok().flatten().as_ref() == Some(was),
                Some(None) => true,
                None => path.symlink_metadata().is_err(),
            };
            if is_same {
                continue;
            }
            let shown = self.parts.places.shown(&path);
            let kept = self.iteration_folder(iteration)?.join("inputs").join(&shown);
            if path.symlink_metadata().is_ok() {
                super::private_folder(kept.parent().unwrap_or(&kept))?;
                fs_err::rename(&path, &kept)?;
            }
            if let Some(Some((bytes, mode))) = before.get(&path) {
                // A directory that the disk makes is private, and this one was the user's.
                path.parent().map_or(Ok(()), fs_err::create_dir_all)?;
                RealDisk::new().replace(&path, bytes)?;
                fs_err::set_permissions(&path, Permissions::from_mode(*mode))?;
            }
            changed.push(shown);
        }
        Ok(changed)
    }

    /// Notes in which packages the attempt changed a protected file that its task does not name.
    pub(super) fn note_protected(
        &self,
        observation: &mut Observation,
        request: &ObserveRequest,
    ) -> Result<(), Fault> {
        let policy = &self.parts.settings.policy;
        let [protected, instructions, allowed] = self.policy_globs()?;
        let keeps_build = request.worker && policy.build_files == BuildFiles::Reject;
        for PackageChange { name, changes, dirt, protected: found, .. } in &mut observation.packages {
            let folder = self.parts.repositories.root(name).map(|root| self.parts.places.shown(root));
            let below = |path: &str| folder.as_ref().map(|folder| format!("{folder}/{path}"));
            let is_command = |path: &str| {
                self.command_words().any(|word| word == path || Some(word) == below(path).as_deref())
            };
            // A name in running text may mean anything: only the whole path, marked as one, means the file.
            let is_named = |path: &str| {
                let shown = |path: &str| request.task.contains(&format!("`{path}`"));
                shown(path) || below(path).is_some_and(|path| shown(&path))
            };
            let is_refused = |change: &FileChange| {
                let path = change.path.to_text();
                change.kind == Kind::Other && is_command(&path)
                    || keeps_build && change.is_build_setting() && !is_named(&path)
            };
            let others = changes.iter().filter(|change| is_refused(change)).map(|change| &change.path);
            let all = changes.iter().map(|change| &change.path).chain(dirt.iter().map(|dirt| &dirt.path));
            let matching = all.filter(|path| {
                let path = path.to_text();
                instructions.is_match(&*path) || protected.is_match(&*path) && !is_named(&path)
            });
            let refused = others.chain(matching).filter(|path| !allowed.is_match(path.to_text()));
            *found = refused.cloned().collect();
            found.sort();
            found.dedup();
        }
        Ok(())
    }

    /// The patterns of `policy.protected`, `policy.instructions` and `policy.allow`.
    fn policy_globs(&self) -> Result<[GlobSet; 3], Fault> {
        let policy = &self.parts.settings.policy;
        Ok([
            globs("policy.protected", &policy.protected)?,
            globs("policy.instructions", &policy.instructions)?,
            globs("policy.allow", &policy.allow)?,
        ])
    }

    /// The words of the commands of gates and checks that may be paths.
    pub(super) fn command_words(&self) -> impl Iterator<Item = &str> {
        let settings = &self.parts.settings;
        let gates = settings.gates.values().flat_map(|gate| [&gate.run, &gate.classpath_command]).flatten();
        let checks = [&settings.checks.red, &settings.checks.green].into_iter().flatten();
        gates.chain(checks).flatten().map(|word| word.strip_prefix("./").unwrap_or(word))
    }

    /// The files that are there now.
    pub(super) fn input_files(&self) -> Result<Vec<PathBuf>, Fault> {
        let Places { workspace, spec } = &self.parts.places;
        let state = self.parts.places.state();
        let ralph = workspace.join(".ralph");
        let own = walk(&ralph, MAX_DEPTH, MAX_ENTRIES, |entry| entry.path() != state);
        let mut found: Vec<PathBuf> = files(own).collect();
        let repositories = &self.parts.repositories;
        let names = repositories.names();
        let roots: Vec<&Path> = names.iter().filter_map(|name| repositories.root(name)).collect();
        // In a package, what is no text may be the product itself: contracts, schemas.
        let in_package = roots.iter().any(|root| spec.starts_with(root));
        let is_spec = |path: &PathBuf| !in_package || path.extension().is_some_and(|end| end == "md");
        found.extend(self.spec_files()?.into_iter().filter(is_spec).map(|path| spec.join(path)));
        if roots.iter().any(|root| workspace.starts_with(root)) {
            return Ok(found);
        }
        let [protected, instructions, allowed] = self.policy_globs()?;
        let commands = self.command_words().map(|word| workspace.join(word)).filter(|path| path.is_file());
        found.extend(commands);
        let beside = walk(workspace, MAX_DEPTH, MAX_ENTRIES, |entry| {
            let inside = entry.path().strip_prefix(workspace).unwrap_or(entry.path());
            let is_left_out = inside == Path::new(".ralph") || is_output(inside.as_os_str().as_bytes());
            let holds_packages = roots.iter().any(|root| root.starts_with(entry.path()));
            entry.depth() == 0 || !is_left_out && !holds_packages
        });
        let is_protected = |path: &PathBuf| {
            let matches = |path| protected.is_match(path) || instructions.is_match(path);
            path.strip_prefix(workspace).is_ok_and(|path| matches(path) && !allowed.is_match(path))
        };
        found.extend(files(beside).filter(is_protected));
        // Scripts of gates come first, so of too many files others are dropped.
        found.truncate(MAX_FILES);
        Ok(found)
    }
}

fn files(entries: impl Iterator<Item = io::Result<walkdir::DirEntry>>) -> impl Iterator<Item = PathBuf> {
    entries
        .filter_map(Result::ok)
        .filter(|entry| !entry.file_type().is_dir())
        .map(walkdir::DirEntry::into_path)
}

/// The bytes and the mode of a regular file; `None` if there is none, or a larger one than ralph looks after.
pub(super) fn content(path: &Path) -> io::Result<Option<Content>> {
    if path.is_symlink() {
        return Ok(None);
    }
    let Some((file, length)) = open_regular(path)?.filter(|(_, length)| *length <= MAX_BYTES) else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    let mode = file.metadata()?.permissions().mode() & 0o7777;
    file.take(length).read_to_end(&mut bytes)?;
    Ok(Some((bytes, mode)))
}
