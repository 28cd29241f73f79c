//! `ralph bundle`: a run as one file, which `ralph replay --bundle` needs alone.

use super::environment::environment;
use super::exit::Exit;
use super::ui;
use super::workspace::Invocation;
use crate::engine::{Fault, Replay, pack};
use crate::source::Secrets;
use crate::sys::Disk as _;
use crate::sys::disk::RealDisk;
use serde_json::json;
use std::path::Path;

/// `ralph bundle`.
pub(super) fn bundle(call: &Invocation, file: &Path) -> Result<Exit, Fault> {
    let workspace = call.open()?;
    let mut repositories = workspace.repositories()?;
    let mut disk = RealDisk::new();
    let run = Replay::new(&disk, &workspace.places, &workspace.rules, Ok(&mut repositories)).run()?;
    let environment = environment();
    let secrets = Secrets::of(environment.iter().map(|(name, value)| (name, value)));
    let iterations: Vec<u64> = run.found.gates.iter().map(|gate| gate.iteration).collect();
    let bytes = pack(&workspace.places, &mut repositories, &run.commits, &iterations, &secrets)?;
    let file = std::path::absolute(file)?;
    disk.replace(&file, &bytes)?;
    let facts =
        json!({ "bundle": file, "bytes": bytes.len(), "records": run.found.records, "head": run.found.head });
    let words = format!(
        "{} ({} KiB, {} records, head {})",
        file.display(),
        bytes.len() >> 10,
        run.found.records,
        run.found.head
    );
    ui::answer(call.json, &facts, &words);
    Ok(Exit::Done)
}
