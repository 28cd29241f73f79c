//! `ralph bundle`: a run as one file, which `ralph replay --bundle` needs alone.

use super::own_files::ensure_is_not_own;
use super::{Exit, Fault, Invocation, RealDisk, base_environment, ui};
use crate::engine::{BundleContents, Replay, pack_workspace};
use crate::report::replay::Replayed;
use crate::source::Secrets;
use serde_json::json;
use std::path::Path;

pub(super) fn write_bundle(call: &Invocation, file: &Path) -> Result<Exit, Fault> {
    let file = std::path::absolute(file)?;
    ensure_is_not_own(call, &file)?;
    let workspace = call.open_workspace()?;
    let mut repositories = workspace.open_repositories()?;
    let run = Replay::new(
        &RealDisk::new(),
        &workspace.places,
        &workspace.rules,
        Ok(&mut repositories),
    )
    .run_replay()?;
    let secrets = Secrets::of(base_environment());
    let iterations: Vec<u64> = run.found.gates.iter().map(|gate| gate.iteration).collect();
    let contents = BundleContents {
        commits: &run.commits,
        iterations: &iterations,
        digested: &run.digested,
    };
    let bytes = pack_workspace(
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
    ui::print_answer(call.json, &facts, &words);
    Ok(Exit::Done)
}
