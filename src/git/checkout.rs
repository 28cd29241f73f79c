//! The files of commits, laid out in a folder: what should stand there.
//!
//! Owns: the list of files with the object that each one holds, gathered from commits of one or more
//! repositories and from single files; the refusal of names and links that lead elsewhere.
//!
//! Promises: objects are read where they are; nothing is written into a repository, no index, hook, filter,
//! attribute or local setting has a part in it. Every path stays inside the folder, and so does what a link
//! leads to; zeros for a commit are no files. Bounded.
//!
//! Refuses to know: packages, builds, where the folder is.

mod folder;
mod names;
#[cfg(test)]
mod tests;

pub use folder::{Inspected, Written};

use super::content::{self, EXECUTABLE, LINK, REGULAR};
use super::error::GitError;
use super::open::OpenRepo;
use super::tree::{self, GITLINK};
use super::{Repositories, find};
use crate::machine::facts;
use crate::source::RepoPath;
use git2::{ObjectType, Oid};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

/// Files that one checkout holds at most.
const MAX_FILES: usize = 300_000;
/// Bytes of one file.
const MAX_BLOB: u64 = 1 << 30;
/// What to do about a tree that cannot be laid out.
const HINT: &str =
    "Take it out of the commit, or judge in the package's own folder: gates.<NAME>.where: in-place.";

/// What should stand in a folder. Paths are relative to it, `/`-separated bytes.
#[derive(Clone, Debug, Default)]
pub struct Checkout {
    leaves: BTreeMap<Vec<u8>, Leaf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Leaf {
    id: Oid,
    mode: u32,
    origin: Origin,
}

/// Where a file's bytes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    /// The objects of the repository whose `.git` stands in this folder.
    Repository(PathBuf),
    /// A file beside the commits, as it is.
    File(PathBuf),
}

impl Repositories {
    /// The folder whose `.git` holds the package's commits; `None` when there is no such package.
    pub fn repository(&self, package: &str) -> Option<&Path> {
        self.places.get(package).map(|place| place.repo.as_path())
    }
}

/// True when the folder holds a repository of its own.
pub fn is_repository(folder: &Path) -> bool {
    find::is_repository(folder)
}

impl Checkout {
    /// Adds all files of a commit below `at` (empty, or a folder without a `/` at its end). Zeros add
    /// nothing; a path that is there already stays as it is. Returns the paths of submodules, which are
    /// not laid out.
    pub fn add_commit(
        &mut self,
        repository: &Path,
        commit: &facts::Oid,
        at: &[u8],
    ) -> Result<Vec<Vec<u8>>, GitError> {
        let Some(commit) = tree::oid_of(commit)? else { return Ok(Vec::new()) };
        let open = OpenRepo::open(repository)?;
        let tree = tree::tree_of(&open.repo, Some(commit), b"")?;
        let mut submodules = Vec::new();
        for delta in tree::diff(&open.repo, None, tree.as_ref())? {
            let Some((id, mode)) = delta.new else { continue };
            let path = names::join(at, &delta.path);
            if mode == GITLINK {
                names::check(&path)?;
                submodules.push(path);
            } else {
                let origin = Origin::Repository(repository.to_owned());
                self.add(path, Leaf { id, mode, origin })?;
            }
        }
        Ok(submodules)
    }

    /// Adds the file or folder `inside` of a repository's HEAD at `at`; false when HEAD does not hold it.
    pub fn add_from_head(&mut self, repository: &Path, inside: &[u8], at: &[u8]) -> Result<bool, GitError> {
        let open = OpenRepo::open(repository)?;
        let head = open.head()?.commit;
        let tree = tree::tree_of(&open.repo, head, b"")?;
        let origin = || Origin::Repository(repository.to_owned());
        if let Some((id, mode)) = tree::leaf_at(&open.repo, tree.as_ref(), inside)? {
            self.add(at.to_owned(), Leaf { id, mode, origin: origin() })?;
            return Ok(true);
        }
        let folder = tree::tree_of(&open.repo, head, inside)?.filter(|_| !inside.is_empty());
        let all = tree::diff(&open.repo, None, folder.as_ref())?;
        for delta in &all {
            if let Some((id, mode)) = delta.new.filter(|(_, mode)| *mode != GITLINK) {
                self.add(names::join(at, &delta.path), Leaf { id, mode, origin: origin() })?;
            }
        }
        Ok(!all.is_empty())
    }

    /// Adds a file as it is on the disk; false when it is no regular file or a path is there already.
    pub fn add_file(&mut self, from: &Path, at: &[u8]) -> Result<bool, GitError> {
        let Ok(data) = fs_err::symlink_metadata(from) else { return Ok(false) };
        let Some(mode) = content::mode_of(&data).filter(|mode| *mode != LINK) else { return Ok(false) };
        if data.len() > MAX_BLOB || self.leaves.contains_key(at) {
            return Ok(false);
        }
        let id = Oid::hash_file(ObjectType::Blob, from)
            .map_err(|error| GitError::unreadable("hash a file that is kept", &error))?;
        self.add(at.to_owned(), Leaf { id, mode, origin: Origin::File(from.to_owned()) })?;
        Ok(true)
    }

    fn add(&mut self, path: Vec<u8>, mut leaf: Leaf) -> Result<(), GitError> {
        names::check(&path)?;
        leaf.mode = match leaf.mode {
            EXECUTABLE => EXECUTABLE,
            LINK => LINK,
            mode if mode & 0o170_000 == REGULAR & 0o170_000 => REGULAR,
            mode => {
                let what = format!("The file {} has the odd mode {mode:o}.", RepoPath::from_bytes(&path));
                return Err(GitError::refused(what, HINT));
            }
        };
        if let Entry::Vacant(slot) = self.leaves.entry(path) {
            slot.insert(leaf);
        }
        if self.leaves.len() > MAX_FILES {
            let what = format!("More than {MAX_FILES} files stand in the commits to be checked out.");
            return Err(GitError::refused(what, HINT));
        }
        Ok(())
    }

    /// True when a file of that path belongs there.
    pub fn holds(&self, path: &[u8]) -> bool {
        self.leaves.contains_key(path)
    }

    /// True when files belong below that folder.
    pub fn holds_folder(&self, folder: &[u8]) -> bool {
        let below = names::join(folder, b"");
        folder.is_empty()
            || self.leaves.range(below.clone()..).next().is_some_and(|(path, _)| path.starts_with(&below))
    }

    /// The paths of all files.
    pub fn paths(&self) -> impl Iterator<Item = &[u8]> {
        self.leaves.keys().map(Vec::as_slice)
    }

    /// Each file's path with its mode and object, in text: what differs between two of these differs on
    /// the disk.
    pub fn marks(&self) -> BTreeMap<String, String> {
        let mark = |(path, leaf): (&Vec<u8>, &Leaf)| {
            (RepoPath::from_bytes(path).as_str().to_owned(), format!("{:o} {}", leaf.mode, leaf.id))
        };
        self.leaves.iter().map(mark).collect()
    }

    /// The bytes of a file; `None` when there is no such file, it is a link, or larger than `cap`.
    pub fn read(&self, path: &[u8], cap: u64) -> Result<Option<Vec<u8>>, GitError> {
        match self.leaves.get(path) {
            Some(leaf) if leaf.mode != LINK => leaf.bytes(&mut Repos::default(), cap),
            _ => Ok(None),
        }
    }
}

/// Repositories, opened when they are needed.
#[derive(Default)]
struct Repos(BTreeMap<PathBuf, OpenRepo>);

impl Leaf {
    /// The file's bytes (of a link: where it leads); `None` when there are more than `cap`.
    fn bytes(&self, repos: &mut Repos, cap: u64) -> Result<Option<Vec<u8>>, GitError> {
        match &self.origin {
            Origin::File(from) => {
                let bytes =
                    fs_err::read(from).map_err(|error| GitError::io("read a file that is kept", &error))?;
                Ok((bytes.len() as u64 <= cap).then_some(bytes))
            }
            Origin::Repository(root) => {
                let open = match repos.0.entry(root.clone()) {
                    Entry::Occupied(slot) => slot.into_mut(),
                    Entry::Vacant(slot) => slot.insert(OpenRepo::open(root)?),
                };
                tree::blob(&open.repo, self.id, cap)
            }
        }
    }
}
