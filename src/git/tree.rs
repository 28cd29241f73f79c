//! What a tree holds, and what differs between two; nothing in a repository can hide a difference.

use super::error::{GitError, GitErrorKind};
use crate::machine::facts;
use git2::{ErrorCode, ObjectType, Oid, Repository, Tree};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Paths that one comparison or listing names at most.
const MAX_PATHS: usize = 1_000_000;
/// Bytes of a path: trees nested without end are no work of a person.
const MAX_PATH: usize = 16 << 10;
/// Mode of a folder, of a submodule.
const FOLDER: u32 = 0o040_000;
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

/// The library's id of a fact's id; `None` for zeros.
pub(super) fn oid_of(oid: &facts::Oid) -> Result<Option<Oid>, GitError> {
    if oid.is_zero() {
        return Ok(None);
    }
    let hint = "The journal names commits by 40 hexadecimal digits.";
    match Oid::from_str(&oid.0) {
        Ok(id) if oid.0.len() == 40 => Ok(Some(id)),
        _ => Err(GitError::not_found(format!("`{oid}` is no object id."), hint)),
    }
}

pub(super) fn fact_of(oid: Oid) -> facts::Oid {
    facts::Oid(oid.to_string())
}

/// The tree of a commit, or of the folder `prefix` (empty, or with a `/` at its end) in it; `None` for
/// no commit, and where there is no such folder.
pub(super) fn tree_of<'r>(
    repo: &'r Repository,
    commit: Option<Oid>,
    prefix: &[u8],
) -> Result<Option<Tree<'r>>, GitError> {
    let Some(commit) = commit else { return Ok(None) };
    let found = repo.find_commit(commit).map_err(|error| missing(commit, &error))?;
    let mut tree = found.tree().map_err(|error| missing(found.tree_id(), &error))?;
    for part in prefix.split(|&byte| byte == b'/').filter(|part| !part.is_empty()) {
        let id = match tree.get_name_bytes(part) {
            Some(entry) if mode_of(&entry) == FOLDER => entry.id(),
            _ => return Ok(None),
        };
        tree = repo.find_tree(id).map_err(|error| missing(id, &error))?;
    }
    Ok(Some(tree))
}

fn missing(id: Oid, error: &git2::Error) -> GitError {
    if error.code() != ErrorCode::NotFound {
        return GitError::unreadable(format!("read the object {id}"), error);
    }
    GitError::cleaned(
        GitErrorKind::Unreadable,
        format!("The object {id} is not in the repository (a shallow clone, or it was pruned)."),
        "Fetch the whole history (`git fetch --unshallow`), or take the object from another clone.",
    )
}

fn mode_of(entry: &git2::TreeEntry<'_>) -> u32 {
    u32::try_from(entry.filemode()).unwrap_or_default()
}

/// The paths that differ between two trees; `None` is the empty tree.
pub(super) fn diff(
    repo: &Repository,
    old: Option<&Tree<'_>>,
    new: Option<&Tree<'_>>,
) -> Result<Vec<Delta>, GitError> {
    let mut found = Vec::new();
    let mut todo = vec![(Vec::new(), old.map(Tree::id), new.map(Tree::id))];
    while let Some((prefix, old, new)) = todo.pop() {
        if old == new {
            continue;
        }
        let mut both: BTreeMap<Vec<u8>, (Option<Leaf>, Option<Leaf>)> = BTreeMap::new();
        for (name, leaf) in entries(repo, old)? {
            both.entry(name).or_default().0 = Some(leaf);
        }
        for (name, leaf) in entries(repo, new)? {
            both.entry(name).or_default().1 = Some(leaf);
        }
        for (name, (old, new)) in both {
            if old == new {
                continue;
            }
            let path = [prefix.as_slice(), &name].concat();
            let (old_folder, old) = split(old);
            let (new_folder, new) = split(new);
            if old_folder.is_some() || new_folder.is_some() {
                todo.push(([path.as_slice(), b"/"].concat(), old_folder, new_folder));
            }
            if old != new {
                found.push(Delta { path, old, new });
            }
            if found.len() + todo.len() > MAX_PATHS || prefix.len() > MAX_PATH {
                return Err(GitError::refused(
                    format!(
                        "More than {MAX_PATHS} paths, or paths of more than {MAX_PATH} bytes, stand in a commit."
                    ),
                    "Split the work, or keep generated files out of git.",
                ));
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// A folder's id, or a file.
fn split(leaf: Option<Leaf>) -> (Option<Oid>, Option<Leaf>) {
    match leaf {
        Some((id, FOLDER)) => (Some(id), None),
        other => (None, other),
    }
}

fn entries(repo: &Repository, tree: Option<Oid>) -> Result<BTreeMap<Vec<u8>, Leaf>, GitError> {
    let mut all = BTreeMap::new();
    let Some(id) = tree else { return Ok(all) };
    let tree = repo.find_tree(id).map_err(|error| missing(id, &error))?;
    for entry in &tree {
        match all.entry(entry.name_bytes().to_vec()) {
            Entry::Vacant(slot) => slot.insert((entry.id(), mode_of(&entry))),
            Entry::Occupied(_) => {
                return Err(GitError::cleaned(
                    GitErrorKind::Unreadable,
                    format!("The tree {id} names an entry twice."),
                    "Run `git fsck`; such a commit has to be made anew.",
                ));
            }
        };
    }
    Ok(all)
}

/// The file at a path of a tree.
pub(super) fn leaf_at(
    repo: &Repository,
    tree: Option<&Tree<'_>>,
    path: &[u8],
) -> Result<Option<Leaf>, GitError> {
    let Some(tree) = tree else { return Ok(None) };
    let mut at = tree.id();
    let mut parts = path.split(|&byte| byte == b'/').peekable();
    while let Some(part) = parts.next() {
        let tree = repo.find_tree(at).map_err(|error| missing(at, &error))?;
        let Some((id, mode)) = tree.get_name_bytes(part).map(|entry| (entry.id(), mode_of(&entry))) else {
            return Ok(None);
        };
        match (parts.peek().is_some(), mode == FOLDER) {
            (true, true) => at = id,
            (false, false) => return Ok(Some((id, mode))),
            _ => return Ok(None),
        }
    }
    Ok(None)
}

/// The file at a path of a commit.
pub(super) fn leaf_in(repo: &Repository, commit: Option<Oid>, path: &[u8]) -> Result<Option<Leaf>, GitError> {
    leaf_at(repo, tree_of(repo, commit, b"")?.as_ref(), path)
}

/// How many bytes a blob has.
pub(super) fn size(repo: &Repository, id: Oid) -> Result<u64, GitError> {
    let odb = repo.odb().map_err(|error| GitError::unreadable("open the object store", &error))?;
    let (size, kind) = odb.read_header(id).map_err(|error| missing(id, &error))?;
    if kind != ObjectType::Blob {
        return Err(GitError::not_found(format!("The object {id} is no file."), "Name a file's blob."));
    }
    Ok(size as u64)
}

/// The bytes of a blob of at most `cap` bytes; `None` if it is larger.
pub(super) fn blob(repo: &Repository, id: Oid, cap: u64) -> Result<Option<Vec<u8>>, GitError> {
    if size(repo, id)? > cap {
        return Ok(None);
    }
    let blob = repo.find_blob(id).map_err(|error| missing(id, &error))?;
    Ok(Some(blob.content().to_vec()))
}
