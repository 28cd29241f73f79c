//! Updates a directory to the content of a checkout, and reports the differences.
//!
//! Promises: a file with the right content is not written, so that its time stays. Files that do not belong there are
//! removed, except build outputs (an untracked `target` directory next to a POM). No link is followed.

use super::{
    Checkout, FileStats, MAX_BLOB, join_paths, refuse_checkout, repository, unwritable_error,
};
use crate::git::backup_refs::bare_entry;
use crate::git::content::{self, EXECUTABLE, on_disk};
use crate::git::error::{DescribeFailure as _, GitError};
use crate::git::open::OpenRepo;
use crate::git::tree::{self, folders_above};
use crate::source::RepoPath;
use crate::sys::disk::remove;
use crate::sys::file_stat::FileStat;
use git2::build::CheckoutBuilder;
use git2::{Delta, DiffOptions, Index, Repository};
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Files that mark the root of a project.
const BUILD_FILES: [&str; 5] = [
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "settings.gradle",
    "settings.gradle.kts",
];

/// The differences of a directory from its wanted content. Paths are relative to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Files with other content or mode, or missing ones.
    pub wrong: Vec<Vec<u8>>,
    /// Files and whole directories that do not belong there.
    pub extra: Vec<Vec<u8>>,
    /// Directories of build outputs, absolute.
    pub outputs: Vec<PathBuf>,
}

type FoundDifferences = Result<Differences, GitError>;

/// A part of a checkout: a directory without certain directories in it. The default is everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckoutPart {
    /// Empty for all.
    pub folder: Vec<u8>,
    /// The excluded directories.
    pub without: Vec<Vec<u8>>,
}

impl CheckoutPart {
    /// True for a path in it, and for its directory.
    pub fn holds_path(&self, path: &[u8]) -> bool {
        is_in(path, &self.folder) && !self.without.iter().any(|folder| is_in(path, folder))
    }
}

fn is_in(path: &[u8], folder: &[u8]) -> bool {
    folder == path || path.starts_with(&join_paths(folder, b""))
}

/// True for a path in a project that a Maven build reads by default.
fn is_read(path: &[u8]) -> bool {
    let mut parts = path.split(|&byte| byte == b'/');
    let first = parts
        .clone()
        .find(|part| [b"src".as_slice(), b".mvn", b"target"].contains(part));
    first.map_or_else(
        || parts.next_back() == Some(b"pom.xml"),
        |part| part != b"target",
    )
}

impl Checkout {
    /// Updates a directory to exactly these files, except build outputs, and returns the differences before.
    ///
    /// Creates `<folder>.git` next to it, for ralph alone.
    pub fn write_folder(&mut self, folder: &Path) -> Result<Differences, GitError> {
        let all = &CheckoutPart::default();
        let found = self.update_folder(folder, all, |_| true).or_else(|_| {
            // If a build left anything that cannot be read or replaced, the whole directory is removed.
            remove(folder).with_action("remove a checkout")?;
            self.update_folder(folder, all, |_| true)
        });
        self.written = self.file_stats(folder);
        found
    }

    /// Restores the files of a part, and removes files that builds read. Other build products stay: tests run on
    /// them.
    pub fn put_right(&mut self, folder: &Path, part: &CheckoutPart) -> Result<(), GitError> {
        let found = self.update_folder(folder, part, |path| self.is_read(path));
        self.written.extend(
            self.file_stats(folder)
                .into_iter()
                .filter(|(path, _)| part.holds_path(path)),
        );
        found.map(drop)
    }

    fn update_folder(
        &self,
        folder: &Path,
        part: &CheckoutPart,
        removes: impl Fn(&[u8]) -> bool,
    ) -> FoundDifferences {
        let doing = "write a checkout";
        if !fs_err::symlink_metadata(folder).is_ok_and(|data| data.is_dir()) {
            remove(folder)
                .and_then(|()| fs_err::create_dir_all(folder))
                .with_action(doing)?;
        }
        let (repo, mut index) = self.make_repository(folder)?;
        let found = self.compare_contents(&repo, &index, folder, part)?;
        for path in found
            .extra
            .iter()
            .filter(|path| removes(path))
            .chain(&found.wrong)
        {
            if content::lstat_path(folder, path).is_some() {
                remove(&on_disk(folder, path)).with_action(doing)?;
            }
        }
        for place in self
            .file_folders()
            .into_iter()
            .filter(|place| part.holds_path(place))
        {
            remove(&on_disk(folder, &join_paths(place, b".git"))).with_action(doing)?;
        }
        let (beside, committed): (Vec<_>, Vec<_>) = found
            .wrong
            .iter()
            .partition(|path| self.files.contains_key(*path));
        self.check_out(&repo, &mut index, &committed)?;
        for path in beside {
            self.copy_file(folder, path).with_action(doing)?;
        }
        for (at, (source, commit)) in self.commits.iter().filter(|(at, _)| part.holds_path(at)) {
            repository::make_visible(
                &on_disk(folder, at),
                &OpenRepo::open_repository(source)?,
                *commit,
            )?;
        }
        drop(repo);
        repository::remove_repository(folder)?;
        Ok(found)
    }

    /// Returns paths changed since they were written, even if restored: change times cannot be set back.
    pub fn touched_files(&self, folder: &Path) -> Vec<RepoPath> {
        let now = self.file_stats(folder).into_iter();
        let touched = now.filter(|(path, stat)| self.written.get(path) != Some(stat));
        touched
            .map(|(path, _)| RepoPath::from_bytes(&path))
            .collect()
    }

    /// Returns the differences that a Maven build reads by default.
    pub fn read_by_builds(&self, found: &Differences) -> impl Iterator<Item = RepoPath> {
        let extra = found.extra.iter().filter(|path| self.is_read(path));
        found
            .wrong
            .iter()
            .chain(extra)
            .map(|path| RepoPath::from_bytes(path))
    }

    /// True for a path from the top that a build reads; see [`is_read`].
    ///
    /// A project begins at its first build file, otherwise with its repository, and may itself be in a directory
    /// `src`.
    fn is_read(&self, path: &[u8]) -> bool {
        let built = folders_above(path).find(|at| self.is_module(at));
        let project =
            built.or_else(|| folders_above(path).find(|at| self.commits.contains_key(*at)));
        let project = project.filter(|_| !self.is_module(b""));
        is_read(project.map_or(path, |at| &path[at.len() + 1..]))
    }

    fn is_module(&self, folder: &[u8]) -> bool {
        BUILD_FILES
            .iter()
            .any(|name| self.holds_file(&join_paths(folder, name.as_bytes())))
    }

    fn file_stats(&self, folder: &Path) -> FileStats {
        let folders = self.file_folders().into_iter().filter(|at| {
            let is_top = at.is_empty() || self.is_module(at) || self.commits.contains_key(*at);
            !is_top && self.is_read(at)
        });
        self.file_paths()
            .chain(folders)
            .map(|path| (path.to_vec(), FileStat::at(&on_disk(folder, path))))
            .collect()
    }

    /// Returns the differences of a part of a directory from its wanted content.
    pub fn inspect_part(
        &self,
        folder: &Path,
        part: &CheckoutPart,
    ) -> Result<Differences, GitError> {
        let (repo, index) = self.make_repository(folder)?;
        let found = self.compare_contents(&repo, &index, folder, part);
        drop(repo);
        repository::remove_repository(folder)?;
        found
    }

    /// Creates a repository whose work tree is the directory, and an index of the wanted content.
    ///
    /// Nothing is taken from an earlier use: builds and tests may have changed it.
    fn make_repository(&self, folder: &Path) -> Result<(Repository, Index), GitError> {
        let sources = self
            .sources
            .iter()
            .map(|source| OpenRepo::open_repository(source))
            .collect::<Result<Vec<_>, _>>()?;
        let repo = repository::make_repository(folder, &sources)?;
        let mut index = Index::new().map_err(unwritable_error)?;
        for (path, leaf) in &self.leaves {
            let added = index.add(&bare_entry(path, *leaf));
            added.map_err(unwritable_error)?;
        }
        Ok((repo, index))
    }

    /// Compares by content: the index has no times of files that a comparison could trust.
    fn compare_contents(
        &self,
        repo: &Repository,
        index: &Index,
        folder: &Path,
        part: &CheckoutPart,
    ) -> FoundDifferences {
        let mut options = DiffOptions::new();
        if !part.folder.is_empty() {
            options
                .disable_pathspec_match(true)
                .pathspec(part.folder.as_slice());
        }
        options
            .include_untracked(true)
            .include_ignored(true)
            .include_typechange(true);
        options.enable_fast_untracked_dirs(true);
        let diff = repo
            .diff_index_to_workdir(Some(index), Some(&mut options))
            .with_action("compare a checkout with its commits")?;
        let mut found = Differences::default();
        for delta in diff.deltas() {
            let Some(path) = delta
                .new_file()
                .path_bytes()
                .or_else(|| delta.old_file().path_bytes())
            else {
                continue;
            };
            let bare = path.strip_suffix(b"/").unwrap_or(path);
            match delta.status() {
                _ if !part.holds_path(bare) => {}
                Delta::Untracked | Delta::Ignored if bare != path && self.is_output(bare) => {
                    found.outputs.push(on_disk(folder, bare));
                }
                Delta::Untracked | Delta::Ignored => found.extra.push(bare.to_vec()),
                _ => found.wrong.push(path.to_vec()),
            }
        }
        Ok(found)
    }

    /// True for a `target` directory next to a POM.
    fn is_output(&self, folder: &[u8]) -> bool {
        let beside = folder.strip_suffix(b"target");
        beside.is_some_and(|at| {
            (at.is_empty() || at.ends_with(b"/")) && self.holds_file(&[at, b"pom.xml"].concat())
        })
    }

    /// Returns the directories that contain files, with all above them.
    fn file_folders(&self) -> BTreeSet<&[u8]> {
        self.file_paths()
            .flat_map(folders_above)
            .chain(self.commits.keys().map(Vec::as_slice))
            .chain([&b""[..]])
            .collect()
    }

    fn check_out(
        &self,
        repo: &Repository,
        index: &mut Index,
        paths: &[&Vec<u8>],
    ) -> Result<(), GitError> {
        let mut options = CheckoutBuilder::new();
        options
            .force()
            .disable_filters(true)
            .disable_pathspec_match(true)
            .update_index(false);
        for path in paths {
            let id = self.leaves.get(*path).map(|(id, _)| *id);
            if id
                .map(|id| tree::blob_size(repo, id))
                .transpose()?
                .is_some_and(|size| size > MAX_BLOB)
            {
                return refuse_checkout(format!(
                    "The file {} is larger than 1 GiB.",
                    RepoPath::from_bytes(path)
                ));
            }
            options.path(path.as_slice());
        }
        if paths.is_empty() {
            return Ok(());
        }
        repo.checkout_index(Some(index), Some(&mut options))
            .map_err(unwritable_error)
    }

    /// Copies a file that is not from a commit.
    fn copy_file(&self, folder: &Path, path: &[u8]) -> io::Result<()> {
        let (Some(from), Some((_, mode))) = (self.files.get(path), self.leaves.get(path)) else {
            return Ok(());
        };
        let to = on_disk(folder, path);
        to.parent().map_or(Ok(()), fs_err::create_dir_all)?;
        fs_err::copy(from, &to)?;
        let bits = if *mode == EXECUTABLE { 0o755 } else { 0o644 };
        fs_err::set_permissions(to, Permissions::from_mode(bits))
    }
}
