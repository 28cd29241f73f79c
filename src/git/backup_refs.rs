//! Commits below `refs/ralph/` that keep the results of an attempt.
//!
//! Promises: the reference is on the disk before anything is changed. A reference that keeps something else is never
//! overwritten (the next free `<ref>-2`, `<ref>-3` … is used). Keeping the same content twice uses the same
//! reference.

use super::content::{self, LINK};
use super::error::{DescribeFailure as _, GitError, if_found};
use super::open::OpenRepo;
use super::tree::{self, GITLINK, Leaf};
use super::{Repositories, history};
use crate::machine::event::KeptWork;
use crate::source::{RepoPath, digest};
use git2::{ErrorCode, Index, IndexEntry, IndexTime, Oid, Repository, Signature};
use std::collections::BTreeMap;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// Maximum number of references tried for one name.
const MAX_NAMES: usize = 1_000;

/// Paths to keep, with their content on disk (`None`: nothing).
pub(super) type Items = BTreeMap<Vec<u8>, Option<Leaf>>;

/// A commit that keeps content, and its reference.
pub(super) struct Backup {
    pub(super) reference: String,
    pub(super) commit: Oid,
}

impl Backup {
    /// Returns the record of its content for one package.
    pub(super) fn kept_of(&self, package: &str, unrestored: Vec<RepoPath>) -> KeptWork {
        let (reference, commit) = (self.reference.clone(), tree::fact_of(self.commit));
        KeptWork {
            package: package.to_owned(),
            reference,
            commit,
            unrestored,
        }
    }
}

/// Returns an index entry without stat data.
pub(super) fn bare_entry(path: &[u8], (id, mode): Leaf) -> IndexEntry {
    let never = IndexTime::new(0, 0);
    IndexEntry {
        ctime: never,
        mtime: never,
        dev: 0,
        ino: 0,
        mode,
        uid: 0,
        gid: 0,
        file_size: 0,
        id,
        flags: 0,
        flags_extended: 0,
        path: path.to_vec(),
    }
}

/// Checks the name of a reference for kept content.
pub(super) fn check_name(reference: &str) -> Result<(), GitError> {
    if reference.starts_with("refs/ralph/") && git2::Reference::is_valid_name(reference) {
        return Ok(());
    }
    Err(GitError::refused_error(
        format!("`{reference}` is no reference below refs/ralph/."),
        "Keep things under refs/ralph/ only.",
    ))
}

impl Repositories {
    /// Keeps each HEAD of the last scan under `refs/ralph/` until the next call.
    ///
    /// No gc can then remove it.
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn pin_heads(&mut self) -> Result<(), GitError> {
        for (repo, names) in self.by_repository() {
            let head = self.heads.get(&repo).copied().flatten();
            let (Some(first), Some(head)) = (names.first(), head) else {
                continue;
            };
            self.in_package(first, |_, open, _| {
                pin_commit(open, &pin_name(&open.repo, "before", first), head)?;
                open.pin_tips(&pin_name(&open.repo, "before-others", first))
            })?;
        }
        Ok(())
    }
}

/// Returns the directory of the references that keep the state before an attempt.
///
/// A linked work tree has its own: it shares the references of its repository, and another ralph may run in another
/// work tree.
pub(super) fn pin_folder(repo: &Repository) -> String {
    let Some(name) = repo.path().file_name().filter(|_| repo.is_worktree()) else {
        return "refs/ralph".to_owned();
    };
    valid_or_digest("refs/ralph/worktrees", name.as_bytes())
}

/// Returns the reference that keeps content of a package.
pub(super) fn pin_name(repo: &Repository, kind: &str, package: &str) -> String {
    let folder = format!("{}/{kind}", pin_folder(repo));
    valid_or_digest(&folder, package.as_bytes())
}

/// Returns a name for a reference, or its digest if git does not allow it.
fn valid_or_digest(folder: &str, name: &[u8]) -> String {
    let named = std::str::from_utf8(name).map(|name| format!("{folder}/{name}"));
    named
        .ok()
        .filter(|name| git2::Reference::is_valid_name(name))
        .unwrap_or_else(|| format!("{folder}/{}", digest(name)))
}

/// Sets a reference to this commit, under the next free name if others are in its way.
pub(super) fn pin_commit(open: &OpenRepo, name: &str, commit: Oid) -> Result<(), GitError> {
    let free = free_name(open, name);
    if open.find_reference(&free)?.and_then(|found| found.target()) == Some(commit) {
        return Ok(());
    }
    for number in 1..=MAX_NAMES {
        let name = numbered_name(&free, number);
        match open
            .repo
            .reference(&name, commit, true, "ralph: before an attempt")
        {
            Ok(_) => return Ok(()),
            Err(error) if is_taken(open, &name, &error) => {}
            Err(error) => return Err(GitError::library_error(format!("write {name}"), error)),
        }
    }
    Err(too_many(name))
}

fn numbered_name(name: &str, number: usize) -> String {
    if number == 1 {
        name.to_owned()
    } else {
        format!("{name}-{number}")
    }
}

/// True if the reference already exists or is a directory.
fn is_taken(open: &OpenRepo, name: &str, error: &git2::Error) -> bool {
    error.code() == ErrorCode::Exists || open.repo.commondir().join(name).is_dir()
}

fn too_many(name: &str) -> GitError {
    GitError::refused_error(
        format!("{MAX_NAMES} references are called {name}."),
        "Delete some of them: `git for-each-ref refs/ralph`.",
    )
}

/// Returns the name, or the next similar one without a reference in its way.
///
/// While a `refs/ralph/a` exists, a `refs/ralph/a/1` cannot.
fn free_name(open: &OpenRepo, name: &str) -> String {
    let mut free = String::new();
    let mut parts = name.split('/').peekable();
    while let Some(part) = parts.next() {
        let next = if free.is_empty() {
            part.to_owned()
        } else {
            format!("{free}/{part}")
        };
        let is_last = parts.peek().is_none();
        let mut names = (1..=MAX_NAMES).map(|number| numbered_name(&next, number));
        free = if free.is_empty() || is_last {
            next
        } else {
            // An unreadable reference is in the way too.
            names
                .find(|name| matches!(open.find_reference(name), Ok(None)))
                .unwrap_or(next)
        };
    }
    free
}

/// The content to keep at one time.
pub(super) struct Load<'a> {
    /// The parent commit of the rest.
    pub(super) head: Option<Oid>,
    /// The restored commit. Its content cannot be lost.
    pub(super) safe: Option<Oid>,
    pub(super) items: &'a Items,
    /// Content that is only in the index.
    pub(super) staged: &'a [(Vec<u8>, Leaf)],
    pub(super) message: &'a str,
}

/// Keeps HEAD and the items on top of it; `None` without either.
pub(super) fn back_up(
    open: &OpenRepo,
    load: &Load<'_>,
    reference: &str,
) -> Result<Option<Backup>, GitError> {
    let mut made = None;
    let free = free_name(open, reference);
    for number in 1..=MAX_NAMES {
        let name = numbered_name(&free, number);
        if let Some(found) = open.find_reference(&name)? {
            // A symbolic reference keeps nothing, because its target moves.
            match found.target() {
                Some(commit) if covers_load(open, commit, load)? => {
                    return Ok(Some(Backup {
                        reference: name,
                        commit,
                    }));
                }
                _ => continue,
            }
        }
        if made.is_none() {
            made = commit_of(open, load)?;
        }
        let Some(commit) = made else { return Ok(None) };
        match open.repo.reference(&name, commit, false, load.message) {
            Ok(_) => {
                return Ok(Some(Backup {
                    reference: name,
                    commit,
                }));
            }
            Err(error) if is_taken(open, &name, &error) => {}
            Err(error) => return Err(GitError::library_error(format!("write {name}"), error)),
        }
    }
    Err(too_many(reference))
}

/// True if a kept commit already holds all of this.
fn covers_load(open: &OpenRepo, kept: Oid, load: &Load<'_>) -> Result<bool, GitError> {
    if let Some(head) = load.head
        && !history::is_in_one_of(&open.repo, [Some(kept), load.safe], head)?
    {
        return Ok(false);
    }
    let on_disk = load
        .items
        .iter()
        .filter_map(|(path, leaf)| Some((path, (*leaf)?)));
    for (path, leaf) in on_disk {
        if !holds_content(open, kept, path, leaf)? {
            return Ok(false);
        }
    }
    let mut commits = vec![kept];
    commits.extend(
        open.repo
            .find_commit(kept)
            .iter()
            .flat_map(git2::Commit::parent_ids),
    );
    for (path, leaf) in load.staged {
        let mut found = false;
        for commit in &commits {
            found = found || holds_content(open, *commit, path, *leaf)?;
        }
        if !found {
            return Ok(false);
        }
    }
    Ok(true)
}

/// True if the commit's tree has this content at the path.
pub(super) fn holds_content(
    open: &OpenRepo,
    commit: Oid,
    path: &[u8],
    leaf: Leaf,
) -> Result<bool, GitError> {
    Ok(tree::leaf_in(&open.repo, Some(commit), path)?.is_some_and(|(id, _)| id == leaf.0))
}

/// Writes a commit of HEAD with these items on top; `None` when there is neither.
pub(super) fn commit_items(
    open: &OpenRepo,
    head: Option<Oid>,
    items: &Items,
) -> Result<Option<Oid>, GitError> {
    let load = Load {
        head,
        safe: None,
        items,
        staged: &[],
        message: "ralph: a work tree",
    };
    commit_of(open, &load)
}

fn commit_of(open: &OpenRepo, load: &Load<'_>) -> Result<Option<Oid>, GitError> {
    let Load {
        head,
        items,
        staged,
        message,
        ..
    } = load;
    if items.is_empty() && staged.is_empty() {
        return Ok(*head);
    }
    let mut parents: Vec<Oid> = head.iter().copied().collect();
    if !staged.is_empty() {
        let index = staged
            .iter()
            .map(|(path, leaf)| (path.clone(), Some(*leaf)))
            .collect();
        parents.push(commit_paths(
            open,
            *head,
            &index,
            &parents,
            "ralph: the index of that moment",
        )?);
    }
    for (path, leaf) in *items {
        if let Some(leaf) = leaf {
            store_blob(open, path, *leaf)?;
        }
    }
    commit_paths(open, *head, items, &parents, message).map(Some)
}

/// Creates a commit from a commit's tree with some paths changed.
fn commit_paths(
    open: &OpenRepo,
    on: Option<Oid>,
    items: &Items,
    parents: &[Oid],
    message: &str,
) -> Result<Oid, GitError> {
    let doing = "write a commit that keeps what is there";
    let repo = &open.repo;
    let tree = tree_with(open, on, items)
        .and_then(|tree| repo.find_tree(tree))
        .with_action(doing)?;
    let parents = parents
        .iter()
        .map(|id| repo.find_commit(*id))
        .collect::<Result<Vec<_>, _>>()
        .with_action(doing)?;
    let by = ralph_signature().with_action(doing)?;
    let parents: Vec<_> = parents.iter().collect();
    repo.commit(None, &by, &by, message, &tree, &parents)
        .with_action(doing)
}

/// Returns the default committer.
pub(super) fn ralph_signature() -> Result<Signature<'static>, git2::Error> {
    Signature::now("ralph", "ralph@localhost")
}

/// Returns the tree of a commit with some paths set or removed.
pub(super) fn tree_with(
    open: &OpenRepo,
    on: Option<Oid>,
    items: &Items,
) -> Result<Oid, git2::Error> {
    let mut index = Index::new()?;
    if let Some(on) = on {
        index.read_tree(&open.repo.find_commit(on)?.tree()?)?;
    }
    let (set, gone): (Vec<_>, Vec<_>) = items.iter().partition(|(_, leaf)| leaf.is_some());
    for (path, _) in gone {
        if_found(index.remove(&tree::relative_path(path), 0))?;
    }
    for (path, leaf) in set {
        if let Some(leaf) = leaf {
            index.add(&bare_entry(path, *leaf))?;
        }
    }
    index.write_tree_to(&open.repo)
}

/// Writes the bytes on disk into the object store, unchanged.
fn store_blob(open: &OpenRepo, path: &[u8], (id, mode): Leaf) -> Result<(), GitError> {
    if mode == GITLINK {
        return Ok(());
    }
    let file = content::on_disk(&open.root, path);
    let bytes = if mode == LINK {
        fs_err::read_link(&file).map(|target| target.into_os_string().into_vec())
    } else {
        fs_err::read(&file)
    };
    let bytes = bytes.with_action("read a file to keep")?;
    let written = open
        .repo
        .blob(&bytes)
        .with_action("write into the object store")?;
    if written == id {
        return Ok(());
    }
    Err(GitError::clean_error(
        super::GitErrorKind::Io,
        format!(
            "The file {} changed while it was being kept.",
            String::from_utf8_lossy(path)
        ),
        "See that nothing else writes into the package, then try again.",
    ))
}
