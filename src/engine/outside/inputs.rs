//! Files that control an attempt and that it may not write.
//!
//! They are the configuration, the prompts, the spec's own files, settings and hooks of git,
//! scripts that commands run, and files that `policy.protected` or `policy.instructions` names.
//!
//! Promises: outside of the packages a change is kept in `iter-N/` and restored, through links and
//! across file systems; in a package ralph restores the attempt's work. Any number of files written
//! meanwhile hides none of them.

use super::patterns::Patterns;
use super::scripts::Scripts;
use super::{Outside, OutsideParts};
use crate::config::{BuildFiles, Role};
use crate::engine::{Fault, Places};
use crate::machine::facts::{Observation, ObserveRequest, PackageChange};
use crate::source::text::count;
use crate::source::{Kind, is_output};
use crate::sys::Disk as _;
use crate::sys::disk::{RealDisk, open_regular, remove};
use crate::sys::walk::{DirEntry, walk};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::Permissions;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Entries that the search for them looks at before programs run, and folders that it goes down.
const MAX_ENTRIES: usize = 20_000;
const MAX_DEPTH: usize = 4;
/// Entries that it looks at afterwards: programs may have made many.
pub(super) const MAX_ENTRIES_AFTER: usize = 2_000_000;
/// Changed files that are named.
const MAX_NAMED: usize = 500;
/// A larger file is not looked after.
const MAX_BYTES: u64 = 16 << 20;
/// The type of a link in its mode.
const LINK: u32 = 0o120_000;

/// Files before a program was started: bytes and mode, of a link where it leads; `None` for what cannot be restored
/// (a large file, a pipe). With the workspace's own folder among them there were too many entries: only files at known
/// places are compared then.
#[derive(Clone)]
pub(super) struct Inputs(pub(super) BTreeMap<PathBuf, Option<InputFile>>);

/// Bytes and mode.
pub(super) type InputFile = (Vec<u8>, u32);

impl Outside {
    /// Keeps in mind what the attempt may not write.
    pub(super) fn remember_inputs(&mut self) -> Result<(), Fault> {
        self.inputs = Some(self.inputs_now()?);
        Ok(())
    }

    /// Reads the files that are there now.
    pub(super) fn inputs_now(&self) -> Result<Inputs, Fault> {
        let mut paths = self.input_files(MAX_ENTRIES)?;
        // Git does not see these. One that is not there yet may be what the task is to write.
        paths.extend(
            self.command_scripts()
                .files
                .into_iter()
                .filter(|path| self.parts.repositories.is_untracked(path)),
        );
        // Agents read the file that your link leads to as well. A link of an attempt may lead to any file of yours.
        let links = paths
            .iter()
            .filter(|path| path.is_symlink() && path.is_file());
        let targets: Vec<PathBuf> = links
            .filter_map(|path| fs_err::canonicalize(path).ok())
            .collect();
        paths.extend(targets);
        let there = paths
            .into_iter()
            .filter(|path| path.symlink_metadata().is_ok());
        Ok(Inputs(
            there
                .map(|path| (path.clone(), read_content(&path).ok().flatten()))
                .collect(),
        ))
    }

    /// Restores files that the attempt wrote; returns them. None if this process did not start the attempt.
    pub(super) fn put_inputs_back(&mut self, iteration: u64) -> Result<Vec<String>, Fault> {
        let Some(before) = self.inputs.take() else {
            return Ok(Vec::new());
        };
        let aside = self.iteration_folder(iteration)?.join("inputs");
        self.restore_from(&before, &aside)
    }

    /// Restores files that differ from these inputs, after moving the other version to a directory; returns the files.
    pub(super) fn restore_from(
        &self,
        Inputs(before): &Inputs,
        aside: &Path,
    ) -> Result<Vec<String>, Fault> {
        let workspace = &self.parts.places.workspace;
        let known: BTreeSet<PathBuf> = self.known_places()?.into_iter().collect();
        let mut paths = self.searched_files(MAX_ENTRIES_AFTER)?;
        // With too many entries before, a file that was not there may only not have been seen.
        if before.contains_key(workspace) {
            paths.retain(|path| before.contains_key(path));
        }
        paths.extend(known.iter().chain(before.keys()).cloned());
        paths.sort();
        paths.dedup();
        let mut more = 0;
        let mut changed = Vec::new();
        for path in paths {
            let was = before.get(&path);
            let is_same = match was {
                Some(was) => read_content(&path).ok().flatten() == *was,
                None => path.symlink_metadata().is_err(),
            };
            if is_same {
                continue;
            }
            let shown = self.parts.places.display_path(&path);
            let mut name = shown.clone();
            match was {
                _ if path == *workspace => {
                    name = format!("more than {MAX_ENTRIES_AFTER} entries of the workspace");
                }
                Some(None) => name.push_str(" (which ralph cannot restore)"),
                Some(Some(content)) => {
                    move_aside(&path, aside, &shown)?;
                    make_way(&path, aside, &self.parts.places)?;
                    write_content(&path, content)?;
                }
                None => move_aside(&path, aside, &shown)?,
            }
            // Many new files do not crowd out the names of those that count.
            if was.is_some() || changed.len() < MAX_NAMED || known.contains(&path) {
                changed.push(name);
            } else {
                more += 1;
            }
        }
        if more > 0 {
            changed.push(format!("{} more", count(more, "file")));
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
        let Patterns {
            protected,
            instructions,
            allowed,
            ..
        } = self.compiled_patterns()?;
        let scripts = self.command_scripts();
        let keeps_build = request.worker && policy.build_files == BuildFiles::Reject;
        for PackageChange {
            name,
            changes,
            dirt,
            protected: found,
            ..
        } in &mut observation.packages
        {
            let folder = self
                .parts
                .repositories
                .package_root(name)
                .map(|root| self.parts.places.display_path(root));
            let below = |path: &str| folder.as_ref().map(|folder| format!("{folder}/{path}"));
            let root = self
                .parts
                .repositories
                .package_root(name)
                .map(Path::to_owned)
                .unwrap_or_default();
            // A name in running text may mean anything: only the whole path, marked as one, means the file.
            let is_named = |path: &str| {
                let mut spelled = std::iter::once(path.to_owned()).chain(below(path));
                spelled.any(|path| request.task.contains(&format!("`{path}`")))
            };
            let refused = changes.iter().filter(|change| {
                let path = change.path.to_text();
                let (full, file) = (below(&path), root.join(&*path));
                // A script that was not there before is the task's own, unless it takes the place of a module.
                let is_script = scripts.modules.contains(&file)
                    || change.old.is_some() && scripts.files.contains(&file);
                let mut words = self.command_words();
                change.kind == Kind::Other
                    && words.any(|word| word == path || Some(word) == full.as_deref())
                    || (is_script || keeps_build && change.is_build_setting()) && !is_named(&path)
            });
            let others = refused.map(|change| &change.path);
            let all = changes
                .iter()
                .map(|change| &change.path)
                .chain(dirt.iter().map(|dirt| &dirt.path));
            let matching = all.filter(|path| {
                let path = path.to_text();
                instructions.is_match(&*path) || protected.is_match(&*path) && !is_named(&path)
            });
            let refused = others
                .chain(matching)
                .filter(|path| !allowed.is_match(path.to_text()));
            *found = refused.cloned().collect();
            found.sort();
            found.dedup();
        }
        Ok(())
    }

    /// The words of the commands of gates and checks that may be paths.
    pub(super) fn command_words(&self) -> impl Iterator<Item = &str> {
        let settings = &self.parts.settings;
        let gates = settings
            .gates
            .values()
            .flat_map(|gate| [&gate.run, &gate.classpath_command])
            .flatten();
        let checks = [&settings.checks.red, &settings.checks.green]
            .into_iter()
            .flatten();
        gates
            .chain(checks)
            .flatten()
            .map(|word| word.strip_prefix("./").unwrap_or(word))
    }

    /// The scripts that configured commands run.
    fn command_scripts(&self) -> Scripts {
        let OutsideParts {
            settings,
            places,
            repositories,
            ..
        } = &self.parts;
        let mut scripts = Scripts::default();
        for agent in settings.agents.values() {
            scripts.add_command(&places.workspace, &agent.command);
        }
        for (_, argv) in settings.hooks.commands() {
            scripts.add_command(&places.workspace, argv);
        }
        let gates = settings
            .gates
            .values()
            .flat_map(|gate| [&gate.run, &gate.classpath_command]);
        for argv in gates
            .chain([&settings.checks.red, &settings.checks.green])
            .flatten()
        {
            for name in repositories.package_names() {
                repositories
                    .package_root(&name)
                    .into_iter()
                    .for_each(|root| scripts.add_command(root, argv));
            }
        }
        scripts
    }

    /// True for a path, as it is shown, of a setting or a hook of git.
    pub(super) fn is_git_setting(&self, shown: &str) -> bool {
        let mut folders = self.parts.repositories.git_folders().into_iter();
        folders.any(|folder| Path::new(shown).starts_with(self.parts.places.display_path(&folder)))
    }

    /// The files that have fixed places: no number of other files hides them.
    fn known_places(&self) -> Result<Vec<PathBuf>, Fault> {
        let OutsideParts {
            places,
            repositories,
            ..
        } = &self.parts;
        let Places { workspace, spec } = places;
        let mut found = vec![
            workspace.join(".ralph/config.yaml"),
            places.diff_file(),
            places.diff_json(),
        ];
        found.extend(Role::all().map(|role| places.template_file(role.word())));
        for folder in repositories.git_folders() {
            let names = [
                "config",
                "config.worktree",
                "info/attributes",
                "info/exclude",
                "hooks",
            ];
            found.extend(
                names
                    .iter()
                    .map(|name| folder.join(name))
                    .filter(|path| !path.is_dir() || path.is_symlink()),
            );
            let (mut hooks, _) =
                files_below(&folder.join("hooks"), MAX_DEPTH, MAX_ENTRIES_AFTER, |_| {
                    true
                });
            // Git runs none of the samples that it brings along.
            hooks.retain(|path| path.extension().is_none_or(|end| end != "sample"));
            found.append(&mut hooks);
        }
        let names = repositories.package_names();
        let roots: Vec<&Path> = names
            .iter()
            .filter_map(|name| repositories.package_root(name))
            .collect();
        let own = [
            places.tasks_file(),
            places.progress_file(),
            places.validation_file(),
        ];
        let is_watched = |path: &PathBuf| {
            let is_inside = path.starts_with(workspace) && !path.starts_with(places.state_folder());
            is_inside && !own.contains(path) && !roots.iter().any(|folder| path.starts_with(folder))
        };
        let Scripts { files, modules } = self.command_scripts();
        // Git shows files of a package that are not ignored.
        let hidden = modules
            .iter()
            .filter(|path| repositories.is_untracked(path))
            .cloned();
        found.extend(files.into_iter().filter(is_watched).chain(hidden));
        let words = self.command_words().map(|word| workspace.join(word));
        found.extend(words.filter(|path| path.is_file() && is_watched(path)));
        // In a package, what is no text may be the product itself: contracts, schemas.
        let in_package = roots.iter().any(|root| spec.starts_with(root));
        for path in self.spec_files()? {
            if !in_package || path.extension().is_some_and(|end| end == "md") {
                found.push(spec.join(path));
            }
        }
        Ok(found)
    }

    /// The files that are there now, and files at known places that may not be; with the workspace's own folder among them
    /// if there are more than `most` entries.
    pub(super) fn input_files(&self, most: usize) -> Result<Vec<PathBuf>, Fault> {
        let mut found = self.known_places()?;
        found.extend(self.searched_files(most)?);
        Ok(found)
    }

    /// The part of [`Outside::input_files`] that is found by a search.
    fn searched_files(&self, most: usize) -> Result<Vec<PathBuf>, Fault> {
        let Places { workspace, .. } = &self.parts.places;
        let state = self.parts.places.state_folder();
        let own = workspace.join(".ralph");
        let (mut found, mut is_whole) =
            files_below(&own, MAX_DEPTH, most, |entry| entry.path() != state);
        let Patterns {
            protected,
            instructions,
            allowed,
            ..
        } = self.compiled_patterns()?;
        for folder in self.folders_above() {
            let (files, has_ended) = files_below(&folder, 1, most, |_| true);
            found.extend(files.into_iter().filter(|path| {
                let name = path.file_name().map_or(&**path, Path::new);
                instructions.is_match(name) && !allowed.is_match(name)
            }));
            is_whole &= has_ended;
        }
        let repositories = &self.parts.repositories;
        let names = repositories.package_names();
        let roots: Vec<&Path> = names
            .iter()
            .filter_map(|name| repositories.package_root(name))
            .collect();
        let is_package = roots.iter().any(|root| workspace.starts_with(root));
        let (beside, has_ended) = files_below(workspace, MAX_DEPTH, most, |entry| {
            let inside = entry.path().strip_prefix(workspace).unwrap_or(entry.path());
            let is_left_out =
                inside == Path::new(".ralph") || is_output(inside.as_os_str().as_bytes());
            !is_package && (entry.depth() == 0 || !is_left_out && !roots.contains(&entry.path()))
        });
        // Git shows what becomes of the files of a package.
        found.extend(beside.into_iter().filter(|path| {
            let inside = path.strip_prefix(workspace);
            let is_protected = inside.is_ok_and(|path| {
                let is_named = protected.is_match(path) || instructions.is_match(path);
                is_named && !allowed.is_match(path)
            });
            !is_package && is_protected
        }));
        if !(is_whole && has_ended) {
            found.push(workspace.clone());
        }
        Ok(found)
    }

    /// The folders above the workspace, up to that of the repository that it is in: agents read what instructs them there,
    /// too. None if the workspace is the repository's own folder.
    fn folders_above(&self) -> Vec<PathBuf> {
        let workspace = &self.parts.places.workspace;
        let Some(top) = workspace
            .ancestors()
            .find(|folder| crate::git::is_repository(folder))
        else {
            return Vec::new();
        };
        let above = workspace
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(top));
        above.map(Path::to_owned).collect()
    }
}

/// The files below a folder; false if there are more than `most` entries.
fn files_below(
    folder: &Path,
    depth: usize,
    most: usize,
    enter: impl FnMut(&DirEntry) -> bool,
) -> (Vec<PathBuf>, bool) {
    let (mut found, mut number) = (Vec::new(), 0);
    for entry in walk(folder, depth, most, enter) {
        number += 1;
        found.extend(
            entry
                .ok()
                .filter(|entry| !entry.file_type().is_dir())
                .map(DirEntry::into_path),
        );
    }
    (found, number <= most)
}

/// The bytes and the mode of a regular file, or of a link; `None` without a file, and for a larger one than ralph
/// looks after.
pub(super) fn read_content(path: &Path) -> io::Result<Option<InputFile>> {
    if path.is_symlink() {
        return Ok(Some((
            fs_err::read_link(path)?.into_os_string().into_vec(),
            LINK,
        )));
    }
    let Some((file, length)) = open_regular(path)?.filter(|(_, length)| *length <= MAX_BYTES)
    else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    let mode = file.metadata()?.permissions().mode() & 0o7777;
    file.take(length).read_to_end(&mut bytes)?;
    Ok(Some((bytes, mode)))
}

/// Writes a file, or makes a link. The folder that holds it may be one that a link leads to.
fn write_content(path: &Path, (bytes, mode): &InputFile) -> io::Result<()> {
    // A directory that the disk makes is private, and this one was the user's.
    path.parent().map_or(Ok(()), fs_err::create_dir_all)?;
    if *mode == LINK {
        return fs_err::os::unix::fs::symlink(OsStr::from_bytes(bytes), path);
    }
    RealDisk::new().replace(path, bytes)?;
    fs_err::set_permissions(path, Permissions::from_mode(*mode))
}

/// Moves a file, link or directory below another directory, also to another file system.
fn move_aside(path: &Path, aside: &Path, shown: &str) -> io::Result<()> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let mut kept = aside.join(shown.trim_start_matches('/'));
    for number in 2.. {
        if kept.symlink_metadata().is_err() {
            break;
        }
        kept = aside.join(format!("{}-{number}", shown.trim_start_matches('/')));
    }
    super::private_folder(kept.parent().unwrap_or(&kept))?;
    match fs_err::rename(path, &kept) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            copy_tree(path, &kept)?;
            remove(path)
        }
        moved => moved,
    }
}

/// Copies regular files and links; pipes and the like hold nothing.
fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    let found = fs_err::symlink_metadata(from)?;
    if found.is_symlink() {
        fs_err::os::unix::fs::symlink(fs_err::read_link(from)?, to)?;
    } else if found.is_file() {
        fs_err::copy(from, to)?;
    } else if found.is_dir() {
        super::private_folder(to)?;
        for entry in fs_err::read_dir(from)? {
            let entry = entry?;
            copy_tree(&entry.path(), &to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Moves a file aside that replaces a directory above the path.
fn make_way(path: &Path, aside: &Path, places: &Places) -> io::Result<()> {
    let above: Vec<&Path> = path
        .ancestors()
        .skip(1)
        .take_while(|folder| *folder != places.workspace)
        .collect();
    match above
        .iter()
        .rev()
        .find(|folder| folder.symlink_metadata().is_ok() && !folder.is_dir())
    {
        Some(folder) if folder.starts_with(&places.workspace) => {
            move_aside(folder, aside, &places.display_path(folder))
        }
        _ => Ok(()),
    }
}
