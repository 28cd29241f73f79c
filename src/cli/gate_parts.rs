//! `ralph gate --shard` and `--merge`: the classes of a gate, shared out over jobs of CI and joined again.
//!
//! Promises: there is no verdict unless each part is there, once, and judged these changes by these settings.

use super::Fault;
use super::replay_gates::{missing_parts, read_parts};
use crate::config::GateSettings;
use crate::machine::facts::{FileChange, Oid};
use crate::mutation::{GateReport, Per, Verdict};
use crate::source::digest_parts;
use crate::source::text::line;
use std::collections::BTreeMap;
use std::path::Path;

/// Refuses a gate whose classes cannot be judged apart.
pub(super) fn refuse_undivided(gate: &str, settings: &GateSettings) -> Result<(), Fault> {
    let why = if settings.run.is_some() {
        "it is a command"
    } else if settings.per != Per::Class {
        "its threshold counts for several classes together"
    } else {
        return Ok(());
    };
    Err(Fault::setup_fault(
        format!("The gate {gate} cannot be judged in parts: {why}."),
        "leave out --shard and --merge, or set `per: class`",
    ))
}

/// The digest of what a gate judges, and by which settings: the same for all parts.
pub(super) fn subject_digest(
    gate: &str,
    settings: &GateSettings,
    changes: &[FileChange],
    bases: &BTreeMap<String, Oid>,
) -> String {
    let settings = format!("{settings:?}");
    let bases = format!("{bases:?}");
    let changes = changes.iter().map(|change| format!("{change:?}"));
    digest_parts(
        [gate.to_owned(), settings, bases]
            .into_iter()
            .chain(changes),
    )
}

/// Joins the reports of all parts in files `*.json` of this folder.
///
/// A part is believed as the CI that made it. A part that is missing, of other changes or unreadable gives no verdict.
pub(super) fn merge_reports(folder: &Path, subject: &str) -> Result<GateReport, Fault> {
    let (results, mut trouble) = read_parts(folder, subject, "gate")?;
    trouble.extend(missing_parts(&results, folder));
    let mut reports = Vec::new();
    for (shard, mut result) in results {
        match serde_json::from_value::<GateReport>(result["report"].take()) {
            // The pages of a part are files of another machine.
            Ok(report) => reports.push(GateReport {
                reports: Vec::new(),
                ..report
            }),
            Err(error) => {
                let error = line(&error.to_string(), 200);
                trouble.push(format!(
                    "The report of part {shard} cannot be read: {error}."
                ));
            }
        }
    }
    match GateReport::join_parts(reports) {
        Some(whole) if trouble.is_empty() => Ok(whole),
        _ => Ok(GateReport::from(Verdict::Error {
            why: trouble.join(" "),
            hint: "run each part of this commit once with `--shard K/N --json`, then merge again"
                .to_owned(),
            transient: false,
        })),
    }
}
