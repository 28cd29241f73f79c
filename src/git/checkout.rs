//! The files of commits in ralph's own directory, with repositories that answer a build's queries to git.
//!
//! Promises: every file has the bytes of its blob, without filters, attributes, hooks or settings. Nothing is written
//! into a package's repository. A symbolic link leads to a path in the directory.

mod folder;
mod repository;
#[cfg(test)]
mod tests;

pub use folder::{CheckoutPart, Differences};
pub use repository::{PushRemote, add_to_copy, is_branch_name};

use super::content::{self, EXECUTABLE, LINK, REGULAR};
use super::error::{DescribeFailure as _, GitError};
use super::open::OpenRepo;
use super::tree::{self, GITLINK, Leaf, folders_above};
use super::{Repositories, backup_refs};
use crate::machine::facts;
use crate::source::RepoPath;
use crate::sys::file_stat::FileStat;
use git2::{Index, ObjectType, Oid, Repository, Tree};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Maximum number of files in one checkout.
const MAX_FILES: usize = 300_000;
/// Maximum size of a file or of a link's target, in bytes.
const MAX_BLOB: u64 = 1 << 30;
const MAX_TARGET: u64 = 4_000;
/// The hint for a tree that cannot be checked out.
const HINT: &str = "Take it out of the commit, or judge in the package's own folder: gates.<NAME>.where: in-place.";

/// The stat data of files, and of directories in which builds have nothing to write.
type FileStats = BTreeMap<Vec<u8>, Option<FileStat>>;

/// The wanted content of a directory. Paths are relative to it, `/`-separated bytes.
#[derive(Clone, Debug, Default)]
pub struct Checkout {
    leaves: BTreeMap<Vec<u8>, Leaf>,
    /// Files that are not from a commit, copied from the disk.
    files: BTreeMap<Vec<u8>, PathBuf>,
    /// Whole commits by their path, with the directory of their repository.
    commits: BTreeMap<Vec<u8>, (PathBuf, Oid)>,
    /// The directories of all source repositories.
    sources: BTreeSet<PathBuf>,
    /// The stat data on the disk after writing.
    written: FileStats,
}

impl Repositories {
    /// Returns the directory whose `.git` holds the package's commits; `None` without such a package.
    pub fn repository_folder(&self, package: &str) -> Option<&Path> {
        self.folders
            .get(package)
            .map(|folder| folder.repo.as_path())
    }
}

impl Checkout {
    /// Adds all files of a commit below `at` (empty, or a directory without a `/` at its end).
    ///
    /// That directory becomes a repository with the commit as its HEAD. Zeros add nothing. An existing path stays.
    /// Returns the paths of submodules, which are not checked out.
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn add_commit(
        &mut self,
        repository: &Path,
        commit: &facts::Oid,
        at: &[u8],
    ) -> Result<Vec<Vec<u8>>, GitError> {
        let Some(commit) = tree::oid_of(commit)? else {
            return Ok(Vec::new());
        };
        let open = OpenRepo::open_repository(repository)?;
        let tree = tree::tree_of(&open.repo, Some(commit), b"")?;
        let (_, submodules) = self.add_tree(&open, tree.as_ref(), at)?;
        self.commits
            .insert(at.to_owned(), (repository.to_owned(), commit));
        Ok(submodules)
    }

    /// Adds the file or directory `inside` of a repository's HEAD at `at`; false if HEAD does not hold it.
    #[tracing::instrument(target = "git", level = "debug", skip_all, err(level = "debug"))]
    pub fn add_from_head(
        &mut self,
        repository: &Path,
        inside: &[u8],
        at: &[u8],
    ) -> Result<bool, GitError> {
        let open = OpenRepo::open_repository(repository)?;
        let head = open.read_head()?.commit;
        let whole = tree::tree_of(&open.repo, head, b"")?;
        if let Some(leaf) = tree::leaf_at(whole.as_ref(), inside)? {
            self.add_blob(&open.repo, at.to_owned(), leaf)?;
            self.sources.insert(repository.to_owned());
            return Ok(true);
        }
        let folder = tree::tree_of(&open.repo, head, inside)?.filter(|_| !inside.is_empty());
        Ok(self.add_tree(&open, folder.as_ref(), at)?.0 > 0)
    }

    /// Adds a tree's files below `at`. Returns their number, and the paths of submodules.
    fn add_tree(
        &mut self,
        open: &OpenRepo,
        tree: Option<&Tree<'_>>,
        at: &[u8],
    ) -> Result<(usize, Vec<Vec<u8>>), GitError> {
        let all = tree::diff_trees(&open.repo, None, tree)?;
        let mut submodules = Vec::new();
        for (path, leaf) in all
            .iter()
            .filter_map(|delta| Some((join_paths(at, &delta.path), delta.new?)))
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
                return refuse_checkout(format!("The file {path} has the odd mode {mode:o}."));
            }
        };
        if mode == LINK {
            check_link(
                &path,
                &tree::read_blob(repo, id, MAX_TARGET)?.unwrap_or_default(),
            )?;
        }
        self.add_path(path, (id, mode)).map(|_| ())
    }

    /// Adds a file from the disk; false if it is not a regular file or the path exists already.
    #[tracing::instrument(target = "git", level = "trace", skip_all, err(level = "debug"))]
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
        let id = Oid::hash_file(ObjectType::Blob, from).with_action("hash a file that is kept")?;
        let is_new = self.add_path(at.to_owned(), (id, mode))?;
        if is_new {
            self.files.insert(at.to_owned(), from.to_owned());
        }
        Ok(is_new)
    }

    /// Adds a path; false if it exists already.
    fn add_path(&mut self, path: Vec<u8>, leaf: Leaf) -> Result<bool, GitError> {
        if self.holds_file(&path) {
            return Ok(false);
        }
        // The library refuses names that lead out of the directory or into a `.git`.
        let checked =
            Index::new().and_then(|mut index| index.add(&backup_refs::bare_entry(&path, leaf)));
        checked.map_err(unwritable_error)?;
        if path.split(|&byte| byte == b'/').any(<[u8]>::is_empty) {
            let path = RepoPath::from_bytes(&path);
            return refuse_checkout(format!(
                "The commit holds a path without a name in it: {path}."
            ));
        }
        if self.holds_folder(&path) || folders_above(&path).any(|folder| self.holds_file(folder)) {
            return refuse_checkout(format!(
                "{} is a file and a folder.",
                RepoPath::from_bytes(&path)
            ));
        }
        self.leaves.insert(path, leaf);
        if self.leaves.len() > MAX_FILES {
            return refuse_checkout(format!(
                "The commits to be checked out hold more than {MAX_FILES} files."
            ));
        }
        Ok(true)
    }

    /// True if it has a file of that path.
    pub fn holds_file(&self, path: &[u8]) -> bool {
        self.leaves.contains_key(path)
    }

    /// True if it has files below that directory.
    pub fn holds_folder(&self, folder: &[u8]) -> bool {
        let below = join_paths(folder, b"");
        folder.is_empty()
            || self
                .leaves
                .range(below.clone()..)
                .next()
                .is_some_and(|(path, _)| path.starts_with(&below))
    }

    /// Returns the paths of all files.
    pub fn file_paths(&self) -> impl Iterator<Item = &[u8]> {
        self.leaves.keys().map(Vec::as_slice)
    }

    /// Returns the bytes of a file; `None` if it is missing, a link, or larger than `cap`.
    #[tracing::instrument(target = "git", level = "trace", skip_all, err(level = "debug"))]
    pub fn read_file(&self, path: &[u8], cap: u64) -> Result<Option<Vec<u8>>, GitError> {
        if let Some(file) = self.files.get(path) {
            let bytes = fs_err::read(file).with_action("read a file that is kept")?;
            return Ok((bytes.len() as u64 <= cap).then_some(bytes));
        }
        let mut found = Ok(None);
        let Some((id, _)) = self.leaves.get(path).filter(|(_, mode)| *mode != LINK) else {
            return found;
        };
        for source in &self.sources {
            found = tree::read_blob(&OpenRepo::open_repository(source)?.repo, *id, cap);
            if found.is_ok() {
                break;
            }
        }
        found
    }

    /// Returns each file's path with its mode and object, in text.
    ///
    /// Differences between two such maps are differences on the disk.
    pub fn content_marks(&self) -> BTreeMap<String, String> {
        self.leaves
            .iter()
            .map(|(path, (id, mode))| {
                (
                    RepoPath::from_bytes(path).as_str().to_owned(),
                    format!("{mode:o} {id}"),
                )
            })
            .collect()
    }
}

/// Returns a path below a directory. An empty directory is the top.
fn join_paths(folder: &[u8], path: &[u8]) -> Vec<u8> {
    if folder.is_empty() {
        path.to_vec()
    } else {
        [folder, b"/", path].concat()
    }
}

/// Returns the error for content that cannot be checked out.
fn refuse_checkout<T>(what: impl AsRef<str>) -> Result<T, GitError> {
    Err(GitError::refused_error(what, HINT))
}

fn unwritable_error(error: git2::Error) -> GitError {
    let what = format!(
        "The commit cannot be written to a folder: {}.",
        error.message()
    );
    GitError::refused_error(what, HINT).caused_by(error)
}

/// Refuses a link that leads or might lead out of the directory: it may climb only at its start.
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
    refuse_checkout(format!(
        "The link {path} of the commit leads out of its checkout, to {target}."
    ))
}
