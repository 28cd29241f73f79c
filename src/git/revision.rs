//! Revisions by name.
//!
//! Owns: what a name such as `HEAD~1` means in each package.
//!
//! Promises: a commit for every package, or the package that does not know the name.
//!
//! Refuses to know: what the commits are compared for.

use super::error::{GitError, GitErrorKind};
use super::{Repositories, tree};
use crate::machine::facts::Oid;
use std::collections::BTreeMap;

impl Repositories {
    /// The commit that a revision names in each package.
    pub fn resolve(&mut self, rev: &str) -> Result<BTreeMap<String, Oid>, GitError> {
        self.refresh()?;
        let mut commits = BTreeMap::new();
        for name in self.names() {
            let (_, open) = self.package(&name)?;
            let commit = open.repo.revparse_single(rev).and_then(|object| object.peel_to_commit());
            let commit = commit.map_err(|_| {
                let what = format!("The revision `{rev}` is not known here.");
                GitError::new(GitErrorKind::NotFound, what, "Name a commit, branch or tag of every package.")
                    .in_package(&name)
            })?;
            commits.insert(name, tree::fact_of(commit.id()));
        }
        Ok(commits)
    }
}
