//! The views under `.ralph/state` (`iter-N-before.txt`, `latest-task-diff.*`): rebuilt from facts, never read by a run.

use super::{Engine, Fault};
use crate::machine::facts::{FileChange, Oid, Snapshot};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// `<name>:<40-hex HEAD>`, one line per package.
pub(super) fn before_text(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for package in &snapshot.packages {
        let _ = writeln!(text, "{}:{}", package.name, package.head);
    }
    text
}

/// `<package>/<path in package>`, a line each, sorted bytewise.
pub(super) fn diff_text(changes: &[FileChange]) -> String {
    let mut lines: Vec<String> = changes.iter().map(FileChange::full_path).collect();
    lines.sort();
    lines.push(String::new());
    lines.join("\n")
}

impl Engine<'_> {
    /// Writes `latest-task-diff.*`.
    pub(super) fn write_diff(
        &mut self,
        changes: &[FileChange],
        bases: &BTreeMap<String, Oid>,
        heads: &BTreeMap<String, Oid>,
    ) -> Result<(), Fault> {
        self.disk.write(&self.places.diff(), diff_text(changes).as_bytes())?;
        let packages: BTreeMap<&String, serde_json::Value> = heads
            .iter()
            .map(|(name, head)| (name, serde_json::json!({ "base": bases.get(name), "head": head })))
            .collect();
        let view = serde_json::json!({ "packages": packages, "changes": changes });
        Ok(self.disk.write(&self.places.diff_json(), format!("{view:#}\n").as_bytes())?)
    }
}
