//! Differences between commits: sums of changes over attempts, and changes since a revision.

use super::error::{DescribeFailure as _, GitError};
use super::open::OpenRepo;
use super::package_folders::is_repository;
use super::tree::{self, Delta, GITLINK};
use super::{Repositories, history, revision};
use crate::machine::facts::{Accumulated, FileChange, FileStatus, Oid, Snapshot};
use crate::source::{Classifier, Kind, RepoPath};
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

impl Repositories {
    /// Returns the paths that differ between the sum's bases and HEAD, sorted by package and path.
    ///
    /// These are the paths that the attempts changed, or all if `everything` is set.
    ///
    /// Errors: a package of the sum that is missing (`NotFound`), a base that the repository no longer has
    /// (`Unreadable`).
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn sum_changes(&mut self, sum: &Accumulated) -> Result<Vec<FileChange>, GitError> {
        self.refresh_packages()?;
        if let Some(gone) = sum
            .touched
            .keys()
            .find(|name| self.package_root(name).is_none())
        {
            return Err(GitError::not_found(
                format!("The package {gone}, which the attempts changed, is no longer there."),
                "Put its folder back, or reopen the task.",
            ));
        }
        self.sum_of_present(sum, None)
    }

    /// Returns [`Repositories::changes`] without missing packages.
    ///
    /// The end is the HEADs of a scan that was just taken, otherwise the current HEAD.
    pub(super) fn sum_of_present(
        &mut self,
        sum: &Accumulated,
        seen: Option<&Snapshot>,
    ) -> Result<Vec<FileChange>, GitError> {
        let mut all = Vec::new();
        for name in self.package_names() {
            let touched = sum.touched.get(&name);
            let now = seen.map(|seen| seen.package(&name));
            if touched.is_none() && !sum.everything || now == Some(None) {
                continue;
            }
            let zero = Oid::zero();
            let base = sum.bases.get(&name).unwrap_or(&zero);
            let head = now.flatten().map(|now| &now.head);
            let mut changes = self.changed_between(&name, base, head)?;
            if !sum.everything {
                changes.retain(|change| touched.is_some_and(|paths| paths.contains(&change.path)));
            }
            all.append(&mut changes);
        }
        all.sort();
        Ok(all)
    }

    /// Returns [`Repositories::sum_changes`] up to these HEADs. A missing package is an error (`NotFound`).
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn changes_at(
        &mut self,
        sum: &Accumulated,
        heads: &Snapshot,
    ) -> Result<Vec<FileChange>, GitError> {
        if let Some(gone) = heads
            .packages
            .iter()
            .find(|package| !self.folders.contains_key(&package.name))
        {
            return Err(super::no_package(&gone.name));
        }
        self.sum_of_present(sum, Some(heads))
    }

    /// Returns the changes in a package between two commits.
    #[tracing::instrument(target = "git", skip_all, fields(package = package), err(level = "info"))]
    pub fn changes_from(
        &mut self,
        package: &str,
        old: &Oid,
        new: &Oid,
    ) -> Result<Vec<FileChange>, GitError> {
        self.changed_between(package, old, Some(new))
    }

    /// True if the package's repository has this object; true for zeros.
    #[tracing::instrument(target = "git", level = "debug", skip_all, fields(package = package), err(level = "debug"))]
    pub fn has_object(&mut self, package: &str, object: &Oid) -> Result<bool, GitError> {
        self.in_package(package, |_, open, _| {
            let Some(id) = tree::oid_of(object)? else {
                return Ok(true);
            };
            let odb = open.repo.odb().with_action("open the object store")?;
            Ok(odb.exists(id))
        })
    }

    /// Returns the changes of every package since HEAD's merge base with a revision.
    ///
    /// The merge bases are returned too.
    ///
    /// A package that does not know the revision is an error (`NotFound`).
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
    pub fn changes_since(
        &mut self,
        rev: &str,
    ) -> Result<(Vec<FileChange>, BTreeMap<String, Oid>), GitError> {
        self.refresh_packages()?;
        let (mut all, mut bases) = (Vec::new(), BTreeMap::new());
        for name in self.package_names() {
            let base = self.in_package(&name, |_, open, _| left_at(open, rev))?;
            all.append(&mut self.changed_between(&name, &base, None)?);
            bases.insert(name, base);
        }
        all.sort();
        Ok((all, bases))
    }

    /// Returns the commit of a revision in a package. Errors: the package does not know it (`NotFound`).
    #[tracing::instrument(target = "git", level = "debug", skip_all, fields(package = package), err(level = "debug"))]
    pub fn commit_of(&mut self, package: &str, revision: &str) -> Result<Oid, GitError> {
        self.in_package(package, |_, open, _| {
            Ok(tree::fact_of(revision::commit_at(open, revision)?))
        })
    }

    /// Returns the merge base of a commit and a revision. Errors: the package does not know them (`NotFound`).
    #[tracing::instrument(target = "git", skip_all, fields(package = package), err(level = "info"))]
    pub fn merge_base(
        &mut self,
        package: &str,
        commit: &Oid,
        revision: &str,
    ) -> Result<Oid, GitError> {
        self.in_package(package, |_, open, _| {
            let commit = revision::commit_at(open, &commit.0)?;
            merge_base_of(open, commit, revision)
        })
    }

    /// Returns the changes between a base and a commit (`None`: HEAD).
    ///
    /// The base of zeros is the empty tree, or the first state of a clone.
    pub(super) fn changed_between(
        &mut self,
        name: &str,
        base: &Oid,
        head: Option<&Oid>,
    ) -> Result<Vec<FileChange>, GitError> {
        if Some(base) == head {
            return Ok(Vec::new());
        }
        self.in_package(name, |folder, open, classifier| {
            let new = head.map_or_else(|| Ok(open.read_head()?.commit), tree::oid_of)?;
            let old = match (tree::oid_of(base)?, new) {
                (None, Some(new)) => history::clone_base(&open.repo, new)?,
                (old, _) => old,
            };
            let old = tree::tree_of(&open.repo, old, &folder.prefix)?;
            let new = tree::tree_of(&open.repo, new, &folder.prefix)?;
            let mut deltas = tree::diff_trees(&open.repo, old.as_ref(), new.as_ref())?;
            deltas.retain(|delta| !open.is_state(&folder.in_repo(&delta.path)));
            Ok(deltas
                .iter()
                .map(|delta| change_of(name, delta, classifier))
                .collect())
        })
    }
}

/// A file of a repository, compared with the commit where its branch began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtBase {
    /// No commit of the branch or before it has the file, so no branch can change it.
    Untracked,
    /// Its bytes there; `None` if the branch added it.
    Was(Option<Vec<u8>>),
}

/// Reads a file at the merge base of HEAD and a revision. More than `cap` bytes are an error (`Refused`).
///
/// Errors: the repository does not know the revision (`NotFound`).
#[tracing::instrument(target = "git", level = "debug", skip_all, err(level = "debug"))]
pub fn at_base(folder: &Path, file: &Path, revision: &str, cap: u64) -> Result<AtBase, GitError> {
    let Some(root) = folder.ancestors().find(|folder| is_repository(folder)) else {
        return Ok(AtBase::Untracked);
    };
    let open = OpenRepo::open_repository(root)?;
    // A reader follows a link on the way to it, so the branch may change the target.
    let real = fs_err::canonicalize(file).ok();
    let paths: Vec<Vec<u8>> = [Some(file), real.as_deref()]
        .into_iter()
        .flatten()
        .filter_map(|path| {
            Some(
                path.strip_prefix(root)
                    .ok()?
                    .as_os_str()
                    .as_bytes()
                    .to_vec(),
            )
        })
        .collect();
    let base = tree::oid_of(&left_at(&open, revision)?)?;
    for path in &paths {
        if let Some((blob, _)) = tree::leaf_in(&open.repo, base, path)? {
            return Ok(AtBase::Was(Some(
                tree::read_blob(&open.repo, blob, cap)?.ok_or_else(|| {
                    GitError::refused_error(
                        "The file at the base is too large.",
                        "Look at it with git.",
                    )
                })?,
            )));
        }
    }
    let head = open.read_head()?.commit;
    for path in &paths {
        if tree::leaf_in(&open.repo, head, path)?.is_some() {
            return Ok(AtBase::Was(None));
        }
    }
    Ok(AtBase::Untracked)
}

/// Returns the commit at which HEAD left a revision: their merge base, as for `git diff REV...HEAD`.
///
/// Later commits of others on that branch are not HEAD's. An ancestor of HEAD is its own merge base.
fn left_at(open: &OpenRepo, rev: &str) -> Result<Oid, GitError> {
    match open.read_head()?.commit {
        Some(head) => merge_base_of(open, head, rev),
        None => Ok(tree::fact_of(revision::commit_at(open, rev)?)),
    }
}

fn merge_base_of(open: &OpenRepo, head: git2::Oid, rev: &str) -> Result<Oid, GitError> {
    let commit = revision::commit_at(open, rev)?;
    open.repo
        .merge_base(head, commit)
        .map(tree::fact_of)
        .map_err(|_| {
            let what = format!("HEAD and `{rev}` have no commit in common here.");
            let hint =
                "Fetch the whole history (`git fetch --unshallow`), or name another revision.";
            GitError::not_found(what, hint)
        })
}

fn change_of(name: &str, delta: &Delta, classifier: &Classifier) -> FileChange {
    let is_module = [delta.old, delta.new]
        .iter()
        .flatten()
        .any(|(_, mode)| *mode == GITLINK);
    FileChange {
        package: name.to_owned(),
        path: RepoPath::from_bytes(&delta.path),
        status: match (delta.old, delta.new) {
            (None, _) => FileStatus::Added,
            (_, None) => FileStatus::Deleted,
            _ => FileStatus::Modified,
        },
        kind: if is_module {
            Kind::Other
        } else {
            classifier.kind_of(&delta.path)
        },
        old: delta.old.map(|(id, _)| tree::fact_of(id)),
        new: delta.new.map(|(id, _)| tree::fact_of(id)),
    }
}
