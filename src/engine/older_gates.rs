//! Gates whose tick describes another commit than HEAD, in words.
//!
//! Promise: each file that changed since a gate judged it is counted, whether a task or a person changed it. A wider gate
//! of the same name that judged HEAD represents the gates that it covers.

use crate::git::Repositories;
use crate::machine::facts::{FileChange, Oid};
use crate::machine::invalidation::{OlderVerdict, older_verdicts};
use crate::machine::state::SpecState;
use crate::source::text::count;
use std::collections::{BTreeMap, BTreeSet};

/// Gates that are named.
const NAMED: usize = 20;
/// Characters of a commit.
const COMMIT: usize = 7;

/// Returns a sentence for each ticked gate that judged other files than those at `heads`. Without repositories, files are
/// not counted, and a gate is named if its commit is another one.
pub fn older_gates(
    spec: &SpecState,
    heads: &BTreeMap<String, Oid>,
    mut repositories: Option<&mut Repositories>,
) -> Vec<String> {
    let mut known: BTreeMap<(String, Oid), Option<Vec<FileChange>>> = BTreeMap::new();
    let mut lines = Vec::new();
    for older in older_verdicts(spec, heads) {
        let OlderVerdict {
            key,
            package,
            judged,
            now,
            files,
        } = &older;
        let changes = known
            .entry((package.clone(), judged.clone()))
            .or_insert_with(|| {
                repositories
                    .as_deref_mut()
                    .and_then(|all| all.changes_from(package, judged, now).ok())
            });
        let counted = changes
            .as_ref()
            .map(|changes| count_changed(changes, files.as_ref()));
        let name = spec.name(key);
        let place = if package == "." {
            String::new()
        } else {
            format!("{package} at ")
        };
        let [judged, now] =
            [judged, now].map(|commit| commit.0.chars().take(COMMIT).collect::<String>());
        match counted {
            Some(0) => {}
            Some(1) => lines.push(format!(
                "{name} judged {place}{judged}; 1 file has changed since."
            )),
            Some(many) => {
                let files = count(many as u64, "file");
                lines.push(format!(
                    "{name} judged {place}{judged}; {files} have changed since."
                ));
            }
            None => lines.push(format!("{name} judged {place}{judged}; HEAD is {now}.")),
        }
    }
    let more = lines.len().saturating_sub(NAMED);
    if more > 0 {
        lines.truncate(NAMED);
        lines.push(format!(
            "{} judged older commits, too.",
            count(more as u64, "more gate")
        ));
    }
    lines
}

/// Counts the changed files that a gate judged; all if it judges its whole package.
fn count_changed(changes: &[FileChange], files: Option<&BTreeSet<String>>) -> usize {
    changes
        .iter()
        .filter(|change| files.is_none_or(|files| files.contains(&change.full_path())))
        .count()
}
