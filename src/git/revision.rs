//! What a name such as `HEAD~1` or `origin/main` means in each package.

use super::error::{GitError, GitErrorKind};
use super::open::OpenRepo;
use super::{Repositories, tree};
use crate::machine::facts::Oid;
use std::collections::BTreeMap;

impl Repositories {
    /// The commit at which HEAD left a revision in each package: their merge base, as `git diff REV...HEAD` takes
    /// it. What others did on that branch since then is not HEAD's. A revision that HEAD came from is its own.
    pub(super) fn left_at(&mut self, rev: &str) -> Result<BTreeMap<String, Oid>, GitError> {
        self.refresh()?;
        let mut commits = BTreeMap::new();
        for name in self.names() {
            let (_, open) = self.package(&name)?;
            let commit = left_at(open, rev).map_err(|error| error.in_package(&name))?;
            commits.insert(name, tree::fact_of(commit));
        }
        Ok(commits)
    }
}

fn left_at(open: &OpenRepo, rev: &str) -> Result<git2::Oid, GitError> {
    let commit = open.repo.revparse_single(rev).and_then(|object| object.peel_to_commit()).map_err(|_| {
        let what = format!("The revision `{rev}` is not known here.");
        GitError::cleaned(GitErrorKind::NotFound, what, "Name a commit, branch or tag of every package.")
    })?;
    let Some(head) = open.head()?.commit else { return Ok(commit.id()) };
    open.repo.merge_base(head, commit.id()).map_err(|_| {
        let what = format!("HEAD and `{rev}` have no commit in common here.");
        let hint = "Fetch the whole history (`git fetch --unshallow`), or name another revision.";
        GitError::cleaned(GitErrorKind::NotFound, what, hint)
    })
}
