//! Commits what the attempts of a stage left (`commit: ralph`).

use super::Outside;
use crate::engine::Fault;
use crate::machine::facts::{Oid, OtherFiles, Snapshot};
use std::collections::BTreeMap;

impl Outside {
    /// Commits what the agent left. `others` are the untracked files of no kind before, if they are known.
    pub(super) fn commit_left(
        &mut self,
        before: &Snapshot,
        others: Option<&OtherFiles>,
        message: &str,
    ) -> Result<BTreeMap<String, Oid>, Fault> {
        let mut commits = BTreeMap::new();
        for name in self.parts.repositories.package_names() {
            let secret = |bytes: &[u8]| self.secrets.in_file(bytes);
            let repositories = &mut self.parts.repositories;
            let (commit, withheld) =
                repositories.commit_all(&name, before, others, message, secret)?;
            self.withheld
                .extend(withheld.iter().map(|file| self.secrets.redact(file)));
            commits.extend(commit.map(|commit| (name, commit)));
        }
        Ok(commits)
    }
}
