//! Gates whose tick describes another commit than HEAD, in words.
//!
//! Promise: each file that changed since a gate judged it is counted, whether a task or a person changed it. A wider gate
//! of the same name that judged HEAD represents the gates that it covers.

use crate::git::Repositories;
use crate::machine::facts::{FileChange, Oid};
use crate::machine::invalidation::{OlderVerdict, is_judged_by, older_verdicts, ticked_verdicts};
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
    repositories: Option<&mut Repositories>,
) -> Vec<String> {
    let older = count_older(spec, heads, repositories);
    sentences(spec, older.iter())
}

/// Returns the same sentences without the gates whose changed files another box of the gate has judged since.
///
/// Such a box has a verdict about these files as they are at `heads`.
pub fn stale_gates(
    spec: &SpecState,
    heads: &BTreeMap<String, Oid>,
    repositories: &mut Repositories,
) -> Vec<String> {
    let older = count_older(spec, heads, Some(repositories));
    let stale = older.iter().filter(|(verdict, changed)| {
        let mut same = ticked_verdicts(spec, &verdict.key.stage);
        same.retain(|other| older.iter().all(|(verdict, _)| verdict.key != other.key));
        !changed.as_ref().is_some_and(|files| {
            let mut files = files.iter();
            files.all(|file| is_judged_by(&same, verdict, file))
        })
    });
    sentences(spec, stale)
}

/// An older verdict, and the judged files that changed since; `None` if they are not known.
type ChangedSince = (OlderVerdict, Option<Vec<String>>);

/// Returns the older verdicts of whose files some changed.
fn count_older(
    spec: &SpecState,
    heads: &BTreeMap<String, Oid>,
    mut repositories: Option<&mut Repositories>,
) -> Vec<ChangedSince> {
    let mut known: BTreeMap<(String, Oid), Option<Vec<FileChange>>> = BTreeMap::new();
    let mut counted = Vec::new();
    for older in older_verdicts(spec, heads) {
        let changes = known
            .entry((older.package.clone(), older.judged.clone()))
            .or_insert_with(|| {
                repositories.as_deref_mut().and_then(|all| {
                    all.changes_from(&older.package, &older.judged, &older.now)
                        .ok()
                })
            });
        let changed = changes
            .as_ref()
            .map(|changes| changed_files(changes, older.files.as_ref()));
        if changed.as_ref().is_none_or(|files| !files.is_empty()) {
            counted.push((older, changed));
        }
    }
    counted
}

fn sentences<'a>(spec: &SpecState, older: impl Iterator<Item = &'a ChangedSince>) -> Vec<String> {
    let mut lines = Vec::new();
    for (verdict, changed) in older {
        let name = spec.title(&verdict.key);
        let place = if verdict.package == "." {
            String::new()
        } else {
            format!("{} at ", verdict.package)
        };
        let [judged, now] = [&verdict.judged, &verdict.now]
            .map(|commit| commit.0.chars().take(COMMIT).collect::<String>());
        lines.push(match changed.as_ref().map(Vec::len) {
            Some(1) => format!("{name} judged {place}{judged}; 1 file has changed since."),
            Some(many) => {
                let files = count(many as u64, "file");
                format!("{name} judged {place}{judged}; {files} have changed since.")
            }
            None => format!("{name} judged {place}{judged}; HEAD is {now}."),
        });
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

/// Returns the changed files that a gate judged; all if it judges its whole package.
fn changed_files(changes: &[FileChange], files: Option<&BTreeSet<String>>) -> Vec<String> {
    let paths = changes.iter().map(FileChange::full_path);
    paths
        .filter(|path| files.is_none_or(|files| files.contains(path)))
        .collect()
}
