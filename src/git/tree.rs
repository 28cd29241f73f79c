//! The content of a tree, and the differences between two. Nothing in a repository can hide a difference.

use super::error::{DescribeFailure as _, GitError};
use crate::machine::facts;
use git2::{ErrorClass, ErrorCode, ObjectType, Oid, Repository, Tree};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Maximum number of paths in one comparison or listing.
const MAX_PATHS: usize = 1_000_000;
/// Maximum length of a path in bytes. No author nests trees deeper.
const MAX_PATH: usize = 16 << 10;
/// Mode of a directory, and of a submodule.
pub(super) const FOLDER: u32 = 0o040_000;
pub(super) const GITLINK: u32 = 0o160_000;

/// A file's content and mode.
pub(super) type Leaf = (Oid, u32);

/// A path that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Delta {
    pub(super) path: Vec<u8>,
    pub(super) old: Option<Leaf>,
    pub(super) new: Option<Leaf>,
}

/// Returns the path relative to the repository's directory, in the form of the library.
pub(super) fn relative_path(path: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(path))
}

/// Returns the directories of a path, without the top.
pub(super) fn folders_above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'/')
        .map(|(at, _)| &path[..at])
}

/// Returns the library's form of an id; `None` for zeros.
pub(super) fn oid_of(oid: &facts::Oid) -> Result<Option<Oid>, GitError> {
    if oid.is_zero() {
        return Ok(None);
    }
    let hint = "The journal names commits by 40 hexadecimal digits.";
    match Oid::from_str(&oid.0) {
        Ok(id) if oid.0.len() == 40 => Ok(Some(id)),
        _ => Err(GitError::not_found(
            format!("`{oid}` is no object id."),
            hint,
        )),
    }
}

pub(super) fn fact_of(oid: Oid) -> facts::Oid {
    facts::Oid(oid.to_string())
}

/// Returns the tree of a commit, or of its directory `prefix`.
///
/// `prefix` is empty, or has a `/` at its end.
///
/// `None` for no commit, and without such a directory.
pub(super) fn tree_of<'r>(
    repo: &'r Repository,
    commit: Option<Oid>,
    prefix: &[u8],
) -> Result<Option<Tree<'r>>, GitError> {
    let Some(commit) = commit else {
        return Ok(None);
    };
    let found = repo
        .find_commit(commit)
        .map_err(|error| missing_object(commit, error))?;
    let tree = found
        .tree()
        .map_err(|error| missing_object(found.tree_id(), error))?;
    let folder = prefix.strip_suffix(b"/").unwrap_or(prefix);
    if folder.is_empty() {
        return Ok(Some(tree));
    }
    match entry_at(&tree, folder)? {
        Some((id, FOLDER)) => repo
            .find_tree(id)
            .map(Some)
            .map_err(|error| missing_object(id, error)),
        _ => Ok(None),
    }
}

pub(super) fn missing_object(id: Oid, error: git2::Error) -> GitError {
    if error.code() != ErrorCode::NotFound {
        return GitError::library_error(format!("read the object {id}"), error);
    }
    GitError::damaged_error(
        format!("The object {id} is not in the repository (a shallow clone, or it was pruned)."),
        "Fetch the whole history (`git fetch --unshallow`), or take the object from another clone.",
    )
    .caused_by(error)
}

fn leaf_of(entry: &git2::TreeEntry<'_>) -> Leaf {
    (
        entry.id(),
        u32::try_from(entry.filemode()).unwrap_or_default(),
    )
}

/// Returns the paths that differ between two trees. `None` is the empty tree.
pub(super) fn diff_trees(
    repo: &Repository,
    old: Option<&Tree<'_>>,
    new: Option<&Tree<'_>>,
) -> Result<Vec<Delta>, GitError> {
    let mut found = Vec::new();
    let mut todo = vec![(Vec::new(), [old, new].map(|tree| tree.map(Tree::id)))];
    while let Some((prefix, trees)) = todo.pop() {
        for (name, sides) in paired_entries(repo, trees)? {
            let path = [prefix.as_slice(), &name].concat();
            let folders =
                sides.map(|side| side.filter(|(_, mode)| *mode == FOLDER).map(|(id, _)| id));
            if folders[0] != folders[1] {
                todo.push(([path.as_slice(), b"/"].concat(), folders));
            }
            let [old, new] = sides.map(|side| side.filter(|(_, mode)| *mode != FOLDER));
            if old != new {
                found.push(Delta { path, old, new });
            }
            if found.len() + todo.len() > MAX_PATHS || prefix.len() > MAX_PATH {
                return Err(GitError::refused_error(
                    format!(
                        "A commit has more than {MAX_PATHS} paths, or paths of more than {MAX_PATH} bytes."
                    ),
                    "Split the work, or keep generated files out of git.",
                ));
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Returns the entries of two trees by name. A second entry of one name could hide a difference.
pub(super) fn paired_entries(
    repo: &Repository,
    trees: [Option<Oid>; 2],
) -> Result<BTreeMap<Vec<u8>, [Option<Leaf>; 2]>, GitError> {
    let mut all: BTreeMap<_, [Option<Leaf>; 2]> = BTreeMap::new();
    for (side, id) in trees.into_iter().enumerate() {
        let Some(id) = id else { continue };
        let tree = repo
            .find_tree(id)
            .map_err(|error| missing_object(id, error))?;
        for entry in &tree {
            let sides = all.entry(entry.name_bytes().to_vec()).or_default();
            if sides[side].replace(leaf_of(&entry)).is_some() {
                return Err(GitError::damaged_error(
                    format!("The tree {id} names an entry twice."),
                    "Run `git fsck`; such a commit must be created again.",
                ));
            }
        }
    }
    Ok(all)
}

/// Returns the file at a path of a tree.
pub(super) fn leaf_at(tree: Option<&Tree<'_>>, path: &[u8]) -> Result<Option<Leaf>, GitError> {
    let Some(tree) = tree else { return Ok(None) };
    Ok(entry_at(tree, path)?.filter(|(_, mode)| *mode != FOLDER))
}

fn entry_at(tree: &Tree<'_>, path: &[u8]) -> Result<Option<Leaf>, GitError> {
    match tree.get_path(&relative_path(path)) {
        Ok(entry) => Ok(Some(leaf_of(&entry))),
        // A missing object is an error of another class.
        Err(error) if error.code() == ErrorCode::NotFound && error.class() == ErrorClass::Tree => {
            Ok(None)
        }
        Err(error) => Err(GitError::library_error("read a folder of a commit", error)),
    }
}

/// Returns the file at a path of a commit.
pub(super) fn leaf_in(
    repo: &Repository,
    commit: Option<Oid>,
    path: &[u8],
) -> Result<Option<Leaf>, GitError> {
    leaf_at(tree_of(repo, commit, b"")?.as_ref(), path)
}

/// Returns the size of a blob in bytes.
pub(super) fn blob_size(repo: &Repository, id: Oid) -> Result<u64, GitError> {
    let odb = repo.odb().with_action("open the object store")?;
    let (size, kind) = odb
        .read_header(id)
        .map_err(|error| missing_object(id, error))?;
    if kind != ObjectType::Blob {
        return Err(GitError::not_found(
            format!("The object {id} is no file."),
            "Name a file's blob.",
        ));
    }
    Ok(size as u64)
}

/// Returns the bytes of a blob of at most `cap` bytes; `None` if it is larger.
pub(super) fn read_blob(repo: &Repository, id: Oid, cap: u64) -> Result<Option<Vec<u8>>, GitError> {
    if blob_size(repo, id)? > cap {
        return Ok(None);
    }
    let blob = repo
        .find_blob(id)
        .map_err(|error| missing_object(id, error))?;
    Ok(Some(blob.content().to_vec()))
}
