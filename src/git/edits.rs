//! One file before an attempt and now, for the verifier of edits.

use super::changes::commit_at;
use super::error::GitError;
use super::{Repositories, tree};
use crate::machine::facts::{Oid, PackageState};
use crate::source::RepoPath;

impl Repositories {
    /// The commit of a revision in a package. Errors: the package does not know it (`NotFound`).
    pub fn commit_of(&mut self, package: &str, revision: &str) -> Result<Oid, GitError> {
        self.in_package(package, |_, open, _| Ok(tree::fact_of(commit_at(open, revision)?)))
    }

    /// The file's blob before and its content now; `None` where git cannot tell: ralph's own files, ignored ones, and
    /// those untracked before, of which only the name was kept. `before` is the package's state then.
    pub fn before_and_now(
        &mut self,
        before: &PackageState,
        path: &RepoPath,
    ) -> Result<Option<[Option<Oid>; 2]>, GitError> {
        let bytes = path.to_bytes();
        let was_there = self.others.get(&before.name).is_some_and(|others| others.contains(&bytes));
        self.in_package(&before.name, |folder, open, _| {
            let full = folder.in_repo(&bytes);
            let committed = tree::leaf_in(&open.repo, tree::oid_of(&before.head)?, &full)?.map(|(id, _)| id);
            let known = before.dirt.iter().chain(&before.untracked).find(|known| known.path == *path);
            let was_known = committed.is_some() || known.is_some();
            let ignored = !was_known && open.repo.is_path_ignored(tree::relative(&full)).unwrap_or(false);
            if open.is_state(&full) || ignored || (was_there && !was_known) {
                return Ok(None);
            }
            let Ok(found) = open.leaf(&full) else { return Ok(None) };
            let then = known.map_or(committed.map(tree::fact_of), |known| known.blob.clone());
            let now = match (found, committed) {
                // Line ends alone are no difference to git.
                (Some(leaf), Some(blob))
                    if open.content.is_like(&open.repo, &open.root, &full, leaf, blob).unwrap_or(false) =>
                {
                    Some(tree::fact_of(blob))
                }
                _ => found.map(|(id, _)| tree::fact_of(id)),
            };
            Ok(Some([then, now]))
        })
    }
}
