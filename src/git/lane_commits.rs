//! The commits of a lane for the repositories of main: copied, or only read. The other repository is hostile.
//!
//! Promises: nothing in it is run. Main gets commits that descend from one of its own, of bounded number and size.

use super::error::{DescribeFailure as _, GitError};
use super::open::OpenRepo;
use super::{Repositories, backup_refs, tree};
use crate::machine::facts;
use crate::sys::disk::remove;
use git2::{ObjectType, OdbLookupFlags, Oid, Repository, Revwalk};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

/// Commits that one step of a lane may have.
const MAX_COMMITS: usize = 10_000;
/// Bytes of their new objects, and of the pack with them.
const MAX_PACK: usize = 1 << 30;
/// Priority of objects in memory: before all files.
const IN_MEMORY: i32 = 1_000;

impl Repositories {
    /// Copies a commit, and those of its ancestors that the package lacks, from another repository, and has `reference`
    /// name it.
    ///
    /// Errors: more than 10,000 commits, a root commit that the package lacks, an object that is not there (`Refused`,
    /// `Unreadable`).
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn copy_commits(
        &mut self,
        package: &str,
        from: &Path,
        head: &facts::Oid,
        reference: &str,
    ) -> Result<(), GitError> {
        backup_refs::check_name(reference)?;
        self.make_pack_folder(package)?;
        self.in_package(package, |_, open, _| {
            let Some(head) = tree::oid_of(head)? else {
                return Ok(());
            };
            let source = OpenRepo::open_repository(from)?;
            let known = known_commits(&open.repo, &source.repo, head)?;
            if !known.contains(&head) {
                copy_objects(&open.repo, &source.repo, head, &known)?;
            }
            // Only ralph writes this reference, so a lock of it is that of a killed ralph.
            let lock = open.repo.commondir().join(format!("{reference}.lock"));
            remove(&lock).with_action("remove a lock")?;
            backup_refs::pin_commit(open, reference, head)
        })
    }

    /// Makes the directory of a package's packs, which git makes with each repository.
    ///
    /// libgit2 reads no pack of a repository that lacked it when it was opened.
    fn make_pack_folder(&mut self, package: &str) -> Result<(), GitError> {
        let packs = self.in_package(package, |_, open, _| {
            Ok(open.repo.commondir().join("objects/pack"))
        })?;
        if !packs.is_dir() {
            fs_err::create_dir_all(&packs).with_action("make the directory of packs")?;
            if let Some(folder) = self.folders.get(package) {
                self.open.remove(&folder.repo);
            }
        }
        Ok(())
    }

    /// Copies HEAD of another repository as [`Repositories::copy_commits`] does. One without a commit has nothing to keep.
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn keep_head(
        &mut self,
        package: &str,
        from: &Path,
        reference: &str,
    ) -> Result<(), GitError> {
        let head = OpenRepo::open_repository(from)?.read_head()?.commit;
        head.map_or(Ok(()), |head| {
            self.copy_commits(package, from, &tree::fact_of(head), reference)
        })
    }

    /// Lets a package read a commit of another repository, and keeps in memory what this process adds to the package: a
    /// merge that is only shown writes nothing.
    ///
    /// Errors: those of [`Repositories::copy_commits`].
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn borrow_commits(
        &mut self,
        package: &str,
        from: &Path,
        head: &facts::Oid,
    ) -> Result<(), GitError> {
        let doing = "read the commits of a lane";
        self.in_package(package, |_, open, _| {
            let Some(head) = tree::oid_of(head)? else {
                return Ok(());
            };
            let source = OpenRepo::open_repository(from)?;
            let known = known_commits(&open.repo, &source.repo, head)?;
            check_sizes(&open.repo, &source.repo, head, &known)?;
            let objects = source.repo.commondir().join("objects");
            let objects = objects.to_str().ok_or_else(|| {
                GitError::refused_error("The path of a lane is not UTF-8.", "Rename its directory.")
            })?;
            let odb = open.repo.odb().with_action(doing)?;
            odb.add_disk_alternate(objects).with_action(doing)?;
            odb.add_new_mempack_backend(IN_MEMORY).with_action(doing)?;
            Ok(())
        })
    }
}

/// The commits at which the history of `head` meets what `to` has.
fn known_commits(to: &Repository, from: &Repository, head: Oid) -> Result<BTreeSet<Oid>, GitError> {
    let mut known = BTreeSet::new();
    let objects = from.odb().with_action("read the commits of a lane")?;
    let (mut seen, mut todo) = (BTreeSet::from([head]), vec![head]);
    while let Some(id) = todo.pop() {
        if to.find_commit(id).is_ok() {
            known.insert(id);
            continue;
        }
        let doing = format!("read the commit {id} of a lane");
        let (size, _) = objects.read_header(id).with_action(&doing)?;
        if size > MAX_PACK {
            return Err(too_large());
        }
        let commit = from.find_commit(id).with_action(&doing)?;
        if commit.parent_count() == 0 {
            return Err(GitError::refused_error(
                format!("The commit {id} of a lane begins another history."),
                "Let the worker do the task.",
            ));
        }
        todo.extend(commit.parent_ids().filter(|parent| seen.insert(*parent)));
        if seen.len() - known.len() > MAX_COMMITS {
            return Err(GitError::refused_error(
                format!("A lane made more than {MAX_COMMITS} commits."),
                "Let the worker do the task.",
            ));
        }
    }
    Ok(known)
}

fn copy_objects(
    to: &Repository,
    from: &Repository,
    head: Oid,
    known: &BTreeSet<Oid>,
) -> Result<(), GitError> {
    let doing = "copy the commits of a lane";
    check_sizes(to, from, head, known)?;
    let mut walk = walk_new(from, head, known).with_action(doing)?;
    let mut pack = from.packbuilder().with_action(doing)?;
    pack.set_threads(1);
    pack.insert_walk(&mut walk).with_action(doing)?;
    let odb = to.odb().with_action(doing)?;
    let mut writer = odb.packwriter().with_action(doing)?;
    let (mut size, mut written) = (0, Ok(()));
    let packed = pack.foreach(|part| {
        size += part.len();
        if size <= MAX_PACK {
            written = writer.write_all(part);
        }
        size <= MAX_PACK && written.is_ok()
    });
    if size > MAX_PACK {
        return Err(too_large());
    }
    written.with_action(doing)?;
    packed.with_action(doing)?;
    writer.commit().map(drop).with_action(doing)
}

/// Walks the commits of `head` down to what is known.
fn walk_new<'r>(
    from: &'r Repository,
    head: Oid,
    known: &BTreeSet<Oid>,
) -> Result<Revwalk<'r>, git2::Error> {
    let mut walk = from.revwalk()?;
    walk.push(head)?;
    known.iter().try_for_each(|id| walk.hide(*id))?;
    Ok(walk)
}

/// Checks the sizes of the objects that new commits bring, by their headers: packs and merges read each into memory.
fn check_sizes(
    to: &Repository,
    from: &Repository,
    head: Oid,
    known: &BTreeSet<Oid>,
) -> Result<(), GitError> {
    let doing = "read the commits of a lane";
    let (own, theirs) = (to.odb().with_action(doing)?, from.odb().with_action(doing)?);
    let mut left = MAX_PACK;
    let mut seen = BTreeSet::new();
    for commit in walk_new(from, head, known).with_action(doing)? {
        let commit = commit.and_then(|id| from.find_commit(id));
        let mut todo = vec![commit.with_action(doing)?.tree_id()];
        while let Some(id) = todo.pop() {
            if !seen.insert(id) || own.exists_ext(id, OdbLookupFlags::NO_REFRESH) {
                continue;
            }
            let (size, kind) = theirs.read_header(id).with_action(doing)?;
            left = left.checked_sub(size).ok_or_else(too_large)?;
            if kind == ObjectType::Tree {
                let tree = from.find_tree(id).with_action(doing)?;
                // The commits of submodules are in other repositories.
                let entries = tree
                    .iter()
                    .filter(|entry| entry.kind() != Some(ObjectType::Commit));
                todo.extend(entries.map(|entry| entry.id()));
            }
        }
    }
    Ok(())
}

fn too_large() -> GitError {
    GitError::refused_error(
        format!("The commits of a lane have more than {MAX_PACK} bytes."),
        "Let the worker do the task.",
    )
}
