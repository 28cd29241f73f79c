//! Clones of the packages for a lane: the same commits and branches, no remote, settings only of who commits.

use super::Repositories;
use super::error::{DescribeFailure as _, GitError};
use super::tree;
use crate::machine::facts::Oid;
use git2::Repository;
use git2::build::{CloneLocal, RepoBuilder};
use std::collections::BTreeMap;
use std::path::Path;

/// Settings that a commit needs.
const KEPT: [&str; 3] = ["user.name", "user.email", "core.autocrlf"];
/// Bytes of `info/exclude`.
const MAX_EXCLUDE: u64 = 1 << 20;

impl Repositories {
    /// Clones each repository of the packages to the same place below `workspace`, and checks that its HEAD is as here.
    /// Object files are linked where the file system allows it.
    ///
    /// Errors: a repository that cannot be cloned, or whose HEAD moved meanwhile (`Unreadable`, `Refused`).
    pub fn clone_to(
        &mut self,
        workspace: &Path,
        heads: &BTreeMap<String, Oid>,
    ) -> Result<(), GitError> {
        for (root, names) in self.by_repository() {
            let inside = root.strip_prefix(&self.workspace).map_err(|_| {
                GitError::refused_error(
                    format!("{} is outside of the workspace.", root.display()),
                    "Run without --lanes.",
                )
            })?;
            let target = workspace.join(inside);
            let Some(first) = names.first() else { continue };
            let head = self.in_package(first, |_, open, _| {
                clone(&open.repo, &open.root, &target)
                    .with_action(format_args!("clone {}", open.root.display()))
            })?;
            if head.map(tree::fact_of).as_ref() != heads.get(first) {
                return Err(GitError::refused_error(
                    format!("HEAD of {first} moved while a lane was made."),
                    "Run ralph again.",
                ));
            }
        }
        Ok(())
    }
}

fn clone(from: &Repository, root: &Path, target: &Path) -> Result<Option<git2::Oid>, git2::Error> {
    let source = root.to_string_lossy();
    let made = RepoBuilder::new()
        .clone_local(CloneLocal::Local)
        .clone(&source, target)?;
    made.remote_delete("origin")?;
    let (own, mut settings) = (from.config()?.snapshot()?, made.config()?);
    for key in KEPT {
        if let Ok(value) = own.get_string(key) {
            settings.set_str(key, &value)?;
        }
    }
    let [exclude, copy] = [from.commondir(), made.path()].map(|git| git.join("info/exclude"));
    let is_small = fs_err::symlink_metadata(&exclude)
        .is_ok_and(|found| found.is_file() && found.len() <= MAX_EXCLUDE);
    if is_small {
        let copied = copy.parent().map_or(Ok(()), fs_err::create_dir_all);
        let copied = copied.and_then(|()| fs_err::copy(&exclude, &copy));
        copied.map_err(|error| git2::Error::from_str(&error.to_string()))?;
    }
    Ok(made.head().ok().and_then(|head| head.target()))
}
