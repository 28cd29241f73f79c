//! The files of commits in a folder of ralph's own, with repositories that answer a build's questions to git.
//!
//! Promises: every file has the bytes of its blob, no filter, attribute, hook or setting takes part. Nothing is
//! written into a package's repository. A symbolic link leads to somewhere in the folder.

mod folder;
mod repository;
#[cfg(test)]
mod tests;

pub use folder::{Differences, Part};
pub use repository::{add_to_copy, borrow};

use super::content::{self, EXECUTABLE, LINK, REGULAR};
use super::error::{Doing as _, GitError};
use super::open::OpenRepo;
use super::tree::{self, GITLINK, Leaf, folders_above};
use super::{Repositories, backup_refs};
use crate::machine::facts;
use crate::source::RepoPath;
use crate::sys::file_stat::FileStat;
use git2::{Index, ObjectType, Oid, Repository, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files that one checkout holds at most.
const MAX_FILES: usize = 300_000;
/// Bytes of one file, of where a link leads.
const MAX_BLOB: u64 = 1 << 30;
const MAX_TARGET: u64 = 4_000;
/// What to do about a tree that cannot be checked out.
const HINT: &str = "Take it out of the commit, or judge in the package's own folder: gates.<NAME>.where: in-place.";

/// The stat data of files, and of folders in which builds have nothing to write.
type Stats = BTreeMap<Vec<u8>, Option<FileStat>>;

/// What belongs into a folder. Paths are relative to it, `/`-separated bytes.
#[derive(Clone, Debug, Default)]
pub struct Checkout {
    leaves: BTreeMap<Vec<u8>, Leaf>,
    /// Files from beside the commits, as they are on the disk.
    files: BTreeMap<Vec<u8>, PathBuf>,
    /// Whole commits by the path at which they are, with the folder of their repository.
    commits: BTreeMap<Vec<u8>, (PathBuf, Oid)>,
    /// The folders of all repositories that something comes from.
    sources: BTreeSet<PathBuf>,
    /// What is on the disk since it was written.
    written: Stats,
}

impl Repositories {
    /// The folder whose `.git` holds the package's commits; `None` if there is no such package.
    pub fn repository(&self, package: &str) -> Option<&Path> {
        self.folders
            .get(package)
            .map(|folder| folder.repo.as_path())
    }
}

impl Checkout {
    /// Adds all files of a commit below `at` (empty, or a folder without a `/` at its end), which becomes a
    /// repository with the commit as its HEAD. Zeros add nothing; a path that is there already stays as it is.
    /// Returns the paths of submodules, which are not checked out.
    pub fn add_commit(
        &mut self,
        repository: &Path,
        commit: &facts::Oid,
        at: &[u8],
    ) -> Result<Vec<Vec<u8>>, GitError> {
        let Some(commit) = tree::oid_of(commit)? else {
            return Ok(Vec::new());
        };
        let open = OpenRepo::open(repository)?;
        let tree = tree::tree_of(&open.repo, Some(commit), b"")?;
        let (_, submodules) = self.add_tree(&open, tree.as_ref(), at)?;
        self.commits
            .insert(at.to_owned(), (repository.to_owned(), commit));
        Ok(submodules)
    }

    /// Adds the file or folder `inside` of a repository's HEAD at `at`; false if HEAD does not hold it.
    pub fn add_from_head(
        &mut self,
        repository: &Path,
        inside: &[u8],
        at: &[u8],
    ) -> Result<bool, GitError> {
        let open = OpenRepo::open(repository)?;
        let head = open.head()?.commit;
        let whole = tree::tree_of(&open.repo, head, b"")?;
        if let Some(leaf) = tree::leaf_at(whole.as_ref(), inside)? {
            self.add_blob(&open.repo, at.to_owned(), leaf)?;
            self.sources.insert(repository.to_owned());
            return Ok(true);
        }
        let folder = tree::tree_of(&open.repo, head, inside)?.filter(|_| !inside.is_empty());
        Ok(self.add_tree(&open, folder.as_ref(), at)?.0 > 0)
    }

    /// Adds a tree's files below `at`: how many they are, and the paths of submodules.
    fn add_tree(
        &mut self,
        open: &OpenRepo,
        tree: Option<&Tree<'_>>,
        at: &[u8],
    ) -> Result<(usize, Vec<Vec<u8>>), GitError> {
        let all = tree::diff(&open.repo, None, tree)?;
        let mut submodules = Vec::new();
        for (path, leaf) in all
            .iter()
            .filter_map(|delta| Some((join(at, &delta.path), delta.new?)))
        {
            if leaf.1 == GITLINK {
                submodules.push(path);
            } else {
                self.add_blob(&open.repo, path, leaf)?;
            }
        }
        self.sources.insert(open.root.clone());
        Ok((all.len() - submodules.len(), submodules))
    }

    fn add_blob(
        &mut self,
        repo: &Repository,
        path: Vec<u8>,
        (id, mode): Leaf,
    ) -> Result<(), GitError> {
        let mode = match mode {
            EXECUTABLE | LINK => mode,
            mode if mode & 0o170_000 == REGULAR & 0o170_000 => REGULAR,
            mode => {
                let path = RepoPath::from_bytes(&path);
                return refuse(format!("The file {path} has the odd mode {mode:o}."));
            }
        };
        if mode == LINK {
            check_link(
                &path,
                &tree::blob(repo, id, MAX_TARGET)?.unwrap_or_default(),
            )?;
        }
        self.add(path, (id, mode)).map(|_| ())
    }

    /// Adds a file as it is on the disk; false if it is no regular file or a path is there already.
    pub fn add_file(&mut self, from: &Path, at: &[u8]) -> Result<bool, GitError> {
        let Ok(data) = fs_err::symlink_metadata(from) else {
            return Ok(false);
        };
        let Some(mode) = content::mode_of(&data).filter(|mode| *mode != LINK) else {
            return Ok(false);
        };
        if data.len() > MAX_BLOB {
            return Ok(false);
        }
        let id = Oid::hash_file(ObjectType::Blob, from).doing("hash a file that is kept")?;
        let is_new = self.add(at.to_owned(), (id, mode))?;
        if is_new {
            self.files.insert(at.to_owned(), from.to_owned());
        }
        Ok(is_new)
    }

    /// Adds a path; false if it is there already.
    fn add(&mut self, path: Vec<u8>, leaf: Leaf) -> Result<bool, GitError> {
        if self.holds(&path) {
            return Ok(false);
        }
        // The library refuses names that lead out of the folder or into a `.git`.
        let checked =
            Index::new().and_then(|mut index| index.add(&backup_refs::bare_entry(&path, leaf)));
        checked.map_err(|error| unwritable(&error))?;
        if path.split(|&byte| byte == b'/').any(<[u8]>::is_empty) {
            let path = RepoPath::from_bytes(&path);
            return refuse(format!(
                "The commit holds a path without a name in it: {path}."
            ));
        }
        if self.holds_folder(&path) || folders_above(&path).any(|folder| self.holds(folder)) {
            return refuse(format!(
                "{} is a file and a folder.",
                RepoPath::from_bytes(&path)
            ));
        }
        self.leaves.insert(path, leaf);
        if self.leaves.len() > MAX_FILES {
            return refuse(format!(
                "The commits to be checked out hold more than {MAX_FILES} files."
            ));
        }
        Ok(true)
    }

    /// True if it has a file of that path.
    pub fn holds(&self, path: &[u8]) -> bool {
        self.leaves.contains_key(path)
    }

    /// True if it has files below that folder.
    pub fn holds_folder(&self, folder: &[u8]) -> bool {
        let below = join(folder, b"");
        folder.is_empty()
            || self
                .leaves
                .range(below.clone()..)
                .next()
                .is_some_and(|(path, _)| path.starts_with(&below))
    }

    /// The paths of all files.
    pub fn paths(&self) -> impl Iterator<Item = &[u8]> {
        self.leaves.keys().map(Vec::as_slice)
    }

    /// The bytes of a file; `None` if there is no such file, it is a link, or larger than `cap`.
    pub fn read(&self, path: &[u8], cap: u64) -> Result<Option<Vec<u8>>, GitError> {
        if let Some(file) = self.files.get(path) {
            let bytes = fs_err::read(file).doing("read a file that is kept")?;
            return Ok((bytes.len() as u64 <= cap).then_some(bytes));
        }
        let mut found = Ok(None);
        let Some((id, _)) = self.leaves.get(path).filter(|(_, mode)| *mode != LINK) else {
            return found;
        };
        for source in &self.sources {
            found = tree::blob(&OpenRepo::open(source)?.repo, *id, cap);
            if found.is_ok() {
                break;
            }
        }
        found
    }

    /// Each file's path with its mode and object, in text: what differs between two of these differs on
    /// the disk.
    pub fn marks(&self) -> BTreeMap<String, String> {
        let mark = |(path, (id, mode)): (&Vec<u8>, &Leaf)| {
            (
                RepoPath::from_bytes(path).as_str().to_owned(),
                format!("{mode:o} {id}"),
            )
        };
        self.leaves.iter().map(mark).collect()
    }
}

/// A path below a folder; an empty folder is the top.
fn join(folder: &[u8], path: &[u8]) -> Vec<u8> {
    if folder.is_empty() {
        path.to_vec()
    } else {
        [folder, b"/", path].concat()
    }
}

/// What cannot be checked out.
fn refuse<T>(what: impl AsRef<str>) -> Result<T, GitError> {
    Err(GitError::refused(what, HINT))
}

fn unwritable(error: &git2::Error) -> GitError {
    let what = format!(
        "The commit cannot be written to a folder: {}.",
        error.message()
    );
    GitError::refused(what, HINT)
}

/// Refuses a link that leads out of the folder, or might: it may climb only at its start.
fn check_link(path: &[u8], target: &[u8]) -> Result<(), GitError> {
    let depth = folders_above(path).count();
    let parts: Vec<&[u8]> = target
        .split(|&byte| byte == b'/')
        .filter(|part| !part.is_empty() && *part != b".")
        .collect();
    let climbs = parts.iter().take_while(|part| **part == b"..").count();
    let turns = parts
        .iter()
        .skip(climbs)
        .any(|part| *part == b".." || part.eq_ignore_ascii_case(b".git"));
    if !target.is_empty()
        && target.first() != Some(&b'/')
        && !turns
        && climbs <= depth
        && !target.contains(&0)
    {
        return Ok(());
    }
    let (path, target) = (
        RepoPath::from_bytes(path),
        RepoPath::from_bytes(target.get(..200).unwrap_or(target)),
    );
    refuse(format!(
        "The link {path} of the commit leads out of its checkout, to {target}."
    ))
}
