//! The views under `.ralph/state` (`iter-N-before.txt`, `latest-task-diff.*`): rebuilt from facts, never read by a run.

use super::{Engine, Fault, Places};
use crate::machine::effect::Effect;
use crate::machine::facts::{FileChange, Oid, Snapshot};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The views that an effect writes; none for an effect of another kind.
pub(super) fn written(places: &Places, effect: &Effect) -> Vec<(PathBuf, String)> {
    match effect {
        Effect::WriteBefore { iteration, snapshot } => {
            vec![(places.before(*iteration), before_text(snapshot))]
        }
        Effect::WriteDiff { changes, bases, heads } => {
            vec![(places.diff(), diff_text(changes)), (places.diff_json(), diff_json(changes, bases, heads))]
        }
        _ => Vec::new(),
    }
}

/// `<name>:<40-hex HEAD>`, one line per package.
fn before_text(snapshot: &Snapshot) -> String {
    let mut text = String::new();
    for package in &snapshot.packages {
        let _ = writeln!(text, "{}:{}", package.name, package.head);
    }
    text
}

/// `<package>/<path in package>`, a line each, sorted bytewise.
fn diff_text(changes: &[FileChange]) -> String {
    let mut lines: Vec<String> = changes.iter().map(FileChange::full_path).collect();
    lines.sort();
    lines.push(String::new());
    lines.join("\n")
}

fn diff_json(changes: &[FileChange], bases: &BTreeMap<String, Oid>, heads: &BTreeMap<String, Oid>) -> String {
    let packages: BTreeMap<&String, serde_json::Value> = heads
        .iter()
        .map(|(name, head)| (name, serde_json::json!({ "base": bases.get(name), "head": head })))
        .collect();
    let view = serde_json::json!({ "packages": packages, "changes": changes });
    format!("{view:#}\n")
}

impl Engine<'_> {
    /// Writes the views of an effect.
    pub(super) fn write_views(&mut self, effect: &Effect) -> Result<(), Fault> {
        for (path, text) in written(&self.places, effect) {
            self.disk.write(&path, text.as_bytes())?;
        }
        Ok(())
    }
}
