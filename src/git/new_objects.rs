//! Checks that a repository has every object of the commits that HEAD gained.
//!
//! Promises: a commit whose parents, trees or files are in no object store is an error that names the object. Objects
//! of the earlier HEAD are not read again, and submodules have none here. Each file is read at most once.

use super::error::{DescribeFailure as _, GitError};
use super::tree::{self, FOLDER, GITLINK};
use super::{Repositories, history};
use crate::machine::facts::Snapshot;
use git2::{Commit, ObjectType, Odb, Oid, Repository};
use std::collections::{BTreeSet, HashSet};

/// Maximum number of commits that one check walks, and of entries of trees that it compares.
const MAX_COMMITS: usize = 2_000_000;
const MAX_ENTRIES: usize = 100_000_000;
/// Maximum size of a file whose bytes are compared with its id. Larger ones must only have an object of that name.
const MAX_READ: usize = 64 << 20;

impl Repositories {
    /// Checks the objects that each HEAD reaches and the HEAD before did not.
    ///
    /// Errors: a missing or damaged object (`Unreadable`), too many of them (`Refused`).
    pub(super) fn check_new_objects(
        &mut self,
        before: &Snapshot,
        after: &Snapshot,
    ) -> Result<(), GitError> {
        for names in self.by_repository().into_values() {
            let old = names.iter().find_map(|name| before.package(name));
            let new = names.iter().find_map(|name| after.package(name));
            let (Some(first), Some(new)) = (names.first(), new) else {
                continue;
            };
            if old.is_some_and(|old| old.head == new.head) {
                continue;
            }
            self.in_package(first, |_, open, _| {
                let Some(head) = tree::oid_of(&new.head)? else {
                    return Ok(());
                };
                let base = match old
                    .map(|old| tree::oid_of(&old.head))
                    .transpose()?
                    .flatten()
                {
                    Some(base) => Some(base),
                    None => history::clone_base(&open.repo, head)?,
                };
                NewObjects::of(&open.repo)?.check_commits(base, head)
            })?;
        }
        Ok(())
    }
}

/// The known commits of a walk from one commit to its ancestors.
#[derive(Default)]
struct Reachable {
    seen: HashSet<Oid>,
    /// Those whose parents were not added yet, the newest last.
    todo: BTreeSet<(i64, Oid)>,
}

impl Reachable {
    fn add(&mut self, commit: &Commit<'_>) {
        if self.seen.insert(commit.id()) {
            self.todo.insert((commit.time().seconds(), commit.id()));
        }
    }
}

/// A check of new commits and its results.
struct NewObjects<'r> {
    repo: &'r Repository,
    odb: Odb<'r>,
    /// The number of compared entries.
    entries: usize,
    /// The files that were read.
    files: HashSet<Oid>,
}

impl<'r> NewObjects<'r> {
    fn of(repo: &'r Repository) -> Result<Self, GitError> {
        Ok(Self {
            repo,
            odb: repo.odb().with_action("open the object store")?,
            entries: 0,
            files: HashSet::new(),
        })
    }

    /// Checks the commits that `head` reaches and `base` does not, newest first.
    ///
    /// The library's own walk can read a commit graph, which an attempt can write. This one reads the commits.
    /// Commits of `base` are checked too if their times are in no order.
    fn check_commits(&mut self, base: Option<Oid>, head: Oid) -> Result<(), GitError> {
        let (mut old, mut new) = (Reachable::default(), Reachable::default());
        if let Some(base) = base.and_then(|base| self.repo.find_commit(base).ok()) {
            old.add(&base);
        }
        new.add(&history::read_commit(self.repo, head)?);
        while let Some(newest) = new.todo.last().copied() {
            if old.todo.last() >= Some(&newest) {
                if let Some((_, id)) = old.todo.pop_last() {
                    // Only new commits are checked: where the old history ends, the walk ends.
                    for parent in history::read_commit(self.repo, id)?.parents() {
                        old.add(&parent);
                    }
                }
            } else {
                new.todo.pop_last();
                if !old.seen.contains(&newest.1) {
                    self.check_commit(newest.1, &mut new)?;
                }
            }
            if old.seen.len() + new.seen.len() > MAX_COMMITS {
                return Err(too_many());
            }
        }
        Ok(())
    }

    /// Checks what a commit adds to its first parent, and adds its parents.
    ///
    /// The parents of the last commits of a shallow clone do not count: git does not read them either.
    fn check_commit(&mut self, id: Oid, new: &mut Reachable) -> Result<(), GitError> {
        let commit = history::read_commit(self.repo, id)?;
        let mut base = None;
        for (number, parent) in commit.parent_ids().enumerate() {
            let parent = history::read_commit(self.repo, parent)?;
            if number == 0 {
                base = Some(parent.tree_id());
            }
            new.add(&parent);
        }
        self.check_tree(base, commit.tree_id())
    }

    /// Checks the entries of a tree that differ from those of another one.
    fn check_tree(&mut self, base: Option<Oid>, tree: Oid) -> Result<(), GitError> {
        let mut todo = vec![[base, Some(tree)]];
        while let Some(trees) = todo.pop() {
            if trees[0] == trees[1] {
                continue;
            }
            let entries = tree::paired_entries(self.repo, trees)?;
            self.entries += entries.len();
            if self.entries > MAX_ENTRIES {
                return Err(too_many());
            }
            for [old, new] in entries.into_values() {
                match new.filter(|new| old != Some(*new)) {
                    Some((id, FOLDER)) => {
                        let old = old.filter(|old| old.1 == FOLDER);
                        todo.push([old.map(|(id, _)| id), Some(id)]);
                    }
                    Some((id, mode)) if mode != GITLINK && self.files.insert(id) => {
                        self.check_file(id)?;
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Checks that an object is a file. The library compares the bytes that it reads with the id.
    fn check_file(&self, id: Oid) -> Result<(), GitError> {
        let missing = |error| tree::missing_object(id, error);
        let (size, kind) = self.odb.read_header(id).map_err(missing)?;
        if kind != ObjectType::Blob {
            return Err(GitError::damaged_error(
                format!("A commit names the object {id} as a file, and it has another type."),
                "Run `git fsck`; such a commit must be created again.",
            ));
        }
        if size <= MAX_READ {
            self.odb.read(id).map_err(missing)?;
        }
        Ok(())
    }
}

fn too_many() -> GitError {
    GitError::refused_error(
        format!("HEAD gained more than {MAX_COMMITS} commits, or {MAX_ENTRIES} entries of trees."),
        "Put HEAD on a commit that is nearer to the one before.",
    )
}
