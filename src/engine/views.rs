//! The views under `.ralph/state` (`iter-N-before.txt`, `latest-task-diff.*`): rebuilt from facts, never read by a run.

use super::Places;
use crate::machine::effect::Effect;
use crate::machine::facts::{FileChange, Oid};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The views that an effect writes; none for an effect of another kind.
pub(super) fn effect_views(places: &Places, effect: &Effect) -> Vec<(PathBuf, String)> {
    match effect {
        // `<name>:<40-hex HEAD>`, one line per package.
        Effect::WriteBefore {
            iteration,
            snapshot,
        } => {
            vec![(
                places.before_file(*iteration),
                join_lines(
                    snapshot
                        .packages
                        .iter()
                        .map(|package| format!("{}:{}", package.name, package.head))
                        .collect(),
                ),
            )]
        }
        Effect::WriteDiff {
            changes,
            bases,
            heads,
        } => {
            // `<package>/<path in package>`, a line each, sorted bytewise.
            let mut paths: Vec<String> = changes.iter().map(FileChange::full_path).collect();
            paths.sort();
            vec![
                (places.diff_file(), join_lines(paths)),
                (places.diff_json(), diff_json(changes, bases, heads)),
            ]
        }
        _ => Vec::new(),
    }
}

fn join_lines(all: Vec<String>) -> String {
    all.into_iter().map(|line| line + "\n").collect()
}

fn diff_json(
    changes: &[FileChange],
    bases: &BTreeMap<String, Oid>,
    heads: &BTreeMap<String, Oid>,
) -> String {
    let packages: BTreeMap<&String, serde_json::Value> = heads
        .iter()
        .map(|(name, head)| {
            (
                name,
                serde_json::json!({ "base": bases.get(name), "head": head }),
            )
        })
        .collect();
    let view = serde_json::json!({ "packages": packages, "changes": changes });
    format!("{view:#}\n")
}
