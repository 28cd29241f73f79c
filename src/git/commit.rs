//! Commits the changes of an attempt for `commit: ralph`, and the first commit of the demo's packages.
//!
//! Promises: only the attempt's changes, never ignored files, output directories or state files. No hook and no
//! filter program runs. Doing it twice makes one commit.

use super::backup_refs::{self, Items, ralph_signature};
use super::content;
use super::error::{DescribeFailure as _, GitError};
use super::open::{HeadPosition, OpenRepo};
use super::package_folders::PackageFolder;
use super::tree;
use super::{Repositories, apply, package_state};
use crate::machine::facts::{Dirt, Oid, OtherFiles, PackageState, Snapshot, full_path};
use crate::source::{RepoPath, digest, is_output};
use crate::sys::disk::read_beginning;
use git2::{AttrCheckFlags, AttrValue, IndexAddOption, Repository, RepositoryInitOptions};
use std::collections::BTreeSet;
use std::path::Path;

/// Maximum size of a file that is searched for secrets, in bytes.
const MAX_SEARCHED: u64 = 16 << 20;

impl Repositories {
    /// Commits paths that differ from HEAD, unless they differed in the same way in `before`, or are among `others`.
    ///
    /// These are tracked files and new files of any kind. Excluded are:
    ///
    /// - ignored files, and output directories (`target/`, `node_modules/` …)
    /// - `tasks.md` and the other state files
    /// - untracked files of no kind where `others` are unknown
    /// - files with a secret. `secret` describes the secret in a file's bytes. The descriptions are returned.
    ///
    /// The author is the repository's `user.name` and `user.email`, otherwise `ralph <ralph@localhost>`. `None` if
    /// there is nothing to commit.
    ///
    /// Errors: a file whose `filter` attribute needs a program (`Refused`).
    #[tracing::instrument(target = "git", skip_all, fields(package = package), err(level = "info"))]
    pub fn commit_all(
        &mut self,
        package: &str,
        before: &Snapshot,
        others: Option<&OtherFiles>,
        message: &str,
        secret: impl Fn(&[u8]) -> Option<String>,
    ) -> Result<(Option<Oid>, Vec<String>), GitError> {
        self.refresh_packages()?;
        let known = others.and_then(|others| others.get(package));
        self.in_package(package, |folder, open, classifier| {
            let (head, status) = open.read_status()?;
            let now = package_state(package, folder, open, &head, &status, classifier)?;
            let mut paths = left_paths(folder, &now, before.package(package), known);
            paths.retain(|path| !status.hidden.contains(path));
            let mut withheld = Vec::new();
            for path in paths.clone() {
                let bytes = read_beginning(&content::on_disk(&open.root, &path), MAX_SEARCHED);
                let file = RepoPath::from_bytes(folder.path_inside(&path).unwrap_or(&path));
                let found = bytes.ok().flatten().and_then(|bytes| secret(&bytes));
                if let Some(what) = found.or_else(|| secret(&path)) {
                    withheld.push(format!("{} ({what})", full_path(package, &file)));
                    paths.remove(&path);
                }
            }
            if paths.is_empty() {
                return Ok((None, withheld));
            }
            refuse_filters(open, &paths)?;
            Ok((Some(write_commit(open, &head, &paths, message)?), withheld))
        })
    }
}

/// Returns the paths (in the repository) that the attempt changed.
fn left_paths(
    folder: &PackageFolder,
    (now, others): &(PackageState, BTreeSet<Vec<u8>>),
    before: Option<&PackageState>,
    known: Option<&BTreeSet<String>>,
) -> BTreeSet<Vec<u8>> {
    let [tracked, untracked] = [&now.dirt, &now.untracked].map(|dirt| {
        dirt.iter()
            .filter(|dirt| is_new(dirt, before))
            .map(|dirt| folder.in_repo(&dirt.path.to_bytes()))
    });
    // A repository inside has a `/` at its end.
    let others = known
        .into_iter()
        .flat_map(|known| others.iter().filter(|path| !known.contains(&digest(path))))
        .filter(|path| !path.ends_with(b"/"));
    let untracked = untracked.chain(others.map(|inside| folder.in_repo(inside)));
    tracked
        .chain(untracked.filter(|path| {
            tree::folders_above(path)
                .last()
                .is_none_or(|folder| !is_output(folder))
        }))
        .collect()
}

fn is_new(dirt: &Dirt, before: Option<&PackageState>) -> bool {
    before.is_none_or(|before| !before.dirt.contains(dirt) && !before.untracked.contains(dirt))
}

/// Refuses Git LFS and other filters: the unchanged bytes would be wrong, and the program is not run.
fn refuse_filters(open: &OpenRepo, paths: &BTreeSet<Vec<u8>>) -> Result<(), GitError> {
    let config = open.repo.config().with_action("read the configuration")?;
    for path in paths {
        let value = open.repo.get_attr_bytes(
            &tree::relative_path(path),
            "filter",
            AttrCheckFlags::default(),
        );
        let value = value.with_action("read the attributes")?;
        let AttrValue::Bytes(name) = AttrValue::always_bytes(value) else {
            continue;
        };
        let name = String::from_utf8_lossy(name);
        if ["clean", "process"]
            .iter()
            .any(|key| config.get_entry(&format!("filter.{name}.{key}")).is_ok())
        {
            return Err(GitError::refused_error(
                format!(
                    "The file {} needs the filter `{name}`, which ralph does not run.",
                    String::from_utf8_lossy(path)
                ),
                "Let the agent commit Git LFS files (`commit: agent`). For other filters see docs/troubleshooting.md.",
            ));
        }
    }
    Ok(())
}

fn write_commit(
    open: &mut OpenRepo,
    head: &HeadPosition,
    paths: &BTreeSet<Vec<u8>>,
    message: &str,
) -> Result<Oid, GitError> {
    open.index.forget_stamps();
    let commit =
        commit_index(open, head, paths, message).with_action("commit what the attempt left")?;
    apply::end_half_done(open)?;
    Ok(tree::fact_of(commit))
}

fn commit_index(
    open: &OpenRepo,
    head: &HeadPosition,
    paths: &BTreeSet<Vec<u8>>,
    message: &str,
) -> Result<git2::Oid, git2::Error> {
    let repo = &open.repo;
    // The index first: a crash in between leaves staged files, which the next call commits.
    let mut index = repo.index()?;
    index.read(true)?;
    let mut items = Items::new();
    for path in paths {
        let relative = tree::relative_path(path);
        let present = open
            .lstat_path(path)
            .is_some_and(|meta| content::mode_of(&meta).is_some() || meta.is_dir());
        if present {
            index.add_path(&relative)?;
        } else {
            index.remove_path(&relative)?;
        }
        let entry = index.get_path(&relative, 0);
        items.insert(path.clone(), entry.map(|entry| (entry.id, entry.mode)));
    }
    index.write()?;
    let tree = repo.find_tree(backup_refs::tree_with(open, head.commit, &items)?)?;
    let parents = head.commit.map(|id| repo.find_commit(id)).transpose()?;
    let by = repo.signature().or_else(|_| ralph_signature())?;
    let parents: Vec<_> = parents.iter().collect();
    repo.commit(Some("HEAD"), &by, &by, message, &tree, &parents)
}

/// Creates a repository in `folder` and commits everything in it.
#[tracing::instrument(target = "git", skip_all, err(level = "info"))]
pub fn init_repository(folder: &Path, message: &str) -> Result<(), GitError> {
    commit_everything(folder, message)
        .with_action(format_args!("make a repository in {}", folder.display()))
}

fn commit_everything(folder: &Path, message: &str) -> Result<(), git2::Error> {
    let mut options = RepositoryInitOptions::new();
    options.initial_head("main").no_reinit(true);
    let repository = Repository::init_opts(folder, &options)?;
    let mut index = repository.index()?;
    index.add_all(["*"], IndexAddOption::DEFAULT, None)?;
    index.write()?;
    let tree = repository.find_tree(index.write_tree()?)?;
    let who = ralph_signature()?;
    repository.commit(Some("HEAD"), &who, &who, message, &tree, &[])?;
    Ok(())
}
