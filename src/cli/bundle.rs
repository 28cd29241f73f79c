//! `ralph bundle`: a run as one file, which `ralph replay --bundle` needs alone.

use super::{Exit, Fault, Invocation, RealDisk, environment, ui};
use crate::engine::{Contents, Replay, Unpacked, pack, unpack};
use crate::report::replay::Replayed;
use crate::source::Secrets;
use serde_json::json;
use std::path::{Path, PathBuf};

pub(super) fn bundle(call: &Invocation, file: &Path, is_thin: bool) -> Result<Exit, Fault> {
    let workspace = call.open()?;
    let mut repositories = workspace.repositories()?;
    let run = Replay::new(
        &RealDisk::new(),
        &workspace.places,
        &workspace.rules,
        Ok(&mut repositories),
    )
    .run()?;
    let secrets = Secrets::of(environment());
    let iterations: Vec<u64> = run.found.gates.iter().map(|gate| gate.iteration).collect();
    let file = std::path::absolute(file)?;
    let contents = Contents {
        commits: &run.commits,
        iterations: &iterations,
        digested: &run.digested,
        is_thin,
    };
    let bytes = pack(
        &workspace.places,
        &mut repositories,
        contents,
        &secrets,
        &file,
    )?;
    let Replayed { records, head, .. } = &run.found;
    let facts = json!({ "bundle": file, "bytes": bytes, "records": records, "head": head });
    let words = format!(
        "{} ({} KiB, {records} records, head {head})",
        file.display(),
        bytes >> 10
    );
    ui::answer(call.json, &facts, &words);
    Ok(Exit::Done)
}

/// Unpacks a bundle for this process.
///
/// A thin bundle reads its clones below the folder of the call.
pub(super) fn unpacked(call: &Invocation, file: &Path, into: &Path) -> Result<PathBuf, Fault> {
    let Unpacked { workspace, missing } = unpack(file, into, &call.folder()?)?;
    for (folder, address) in missing {
        let from = if address.is_empty() {
            "its repository"
        } else {
            &address
        };
        ui::note(&format!(
            "note: The bundle is thin, and there is no repository {folder} here.\n  hint: clone {from} to {folder}, and fetch \
`+refs/ralph/*:refs/ralph/*` into it"
        ));
    }
    Ok(workspace)
}
