//! Clones of the packages for a lane: the same commits and branches, no remote, settings only of who commits.

use super::Repositories;
use super::error::{DescribeFailure as _, GitError};
use super::tree;
use crate::machine::facts::Oid;
use git2::Repository;
use git2::build::{CloneLocal, RepoBuilder};
use std::collections::BTreeMap;
use std::io;
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
    #[tracing::instrument(target = "git", skip_all, err(level = "info"))]
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
                let action = format!("clone {}", open.root.display());
                let made = clone(&open.repo, &open.root, &target).with_action(&action)?;
                copy_exclude(&open.repo, &made).with_action(&action)?;
                Ok(made.head().ok().and_then(|head| head.target()))
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

fn clone(from: &Repository, root: &Path, target: &Path) -> Result<Repository, git2::Error> {
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
    Ok(made)
}

/// Copies the repository's own list of ignored files.
fn copy_exclude(from: &Repository, to: &Repository) -> io::Result<()> {
    let [exclude, copy] = [from.commondir(), to.path()].map(|git| git.join("info/exclude"));
    let is_small = fs_err::symlink_metadata(&exclude)
        .is_ok_and(|found| found.is_file() && found.len() <= MAX_EXCLUDE);
    if is_small {
        copy.parent().map_or(Ok(()), fs_err::create_dir_all)?;
        fs_err::copy(&exclude, &copy)?;
    }
    Ok(())
}
