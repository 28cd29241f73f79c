//! Commits what the attempts of a stage left (`commit: ralph`).

use super::Outside;
use crate::engine::Fault;
use crate::machine::facts::{Oid, OtherFiles, Snapshot};
use std::collections::BTreeMap;

impl Outside {
    /// Commits what the agent left. `before` has the untracked files of no kind too, if they are known.
    pub(super) fn commit_left(
        &mut self,
        before: (&Snapshot, Option<&OtherFiles>),
        message: &str,
    ) -> Result<BTreeMap<String, Oid>, Fault> {
        let mut commits = BTreeMap::new();
        for name in self.parts.repositories.package_names() {
            let (commit, withheld) =
                self.parts
                    .repositories
                    .commit_all(&name, before, message, |bytes: &[u8]| {
                        self.secrets.in_file(bytes)
                    })?;
            self.withheld
                .extend(withheld.iter().map(|file| self.secrets.redact(file)));
            commits.extend(commit.map(|commit| (name, commit)));
        }
        Ok(commits)
    }
}
