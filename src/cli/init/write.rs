//! The files of a new workspace, none of which overwrites another, and the gate lines of its task file.

use super::text::{Chosen, words};
use crate::cli::ask::{Left, agreed};
use crate::cli::edit_tasks::Target;
use crate::cli::place::{self, settle};
use crate::cli::{Exit, Fault, Invocation, Workspace};
use crate::config;
use crate::engine::Places;
use anyhow::bail;
use std::io::Write as _;
use std::path::Path;

/// Writes what is not there yet; each file, and whether it is new.
pub(super) fn write(folder: &Path, config_text: &str) -> Result<Vec<(String, bool)>, Fault> {
    let schema = format!("{:#}\n", config::schema());
    let files = [("config.yaml", config_text), (config::SCHEMA_FILE, &*schema), (".gitignore", "state/\n")];
    fs_err::create_dir_all(folder)?;
    let write = |(name, text)| {
        let is_new = write_new(&folder.join(name), text)?;
        Ok((format!(".ralph/{name}"), is_new))
    };
    files.into_iter().map(write).collect()
}

/// Writes a file that is not there yet; says whether it did.
fn write_new(path: &Path, text: &str) -> Result<bool, Fault> {
    match fs_err::File::create_new(path) {
        Ok(mut file) => Ok(file.write_all(text.as_bytes()).map(|()| true)?),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Says what a placement will take, or refuses one that the task file cannot have; shows its lines and asks, if there is
/// a person. Nothing is written yet.
pub(super) fn preview(
    call: &Invocation,
    workspace: Workspace,
    chosen: &Chosen,
    asks: bool,
) -> anyhow::Result<()> {
    let Some(placement) = chosen.placement.as_ref().filter(|_| workspace.places.tasks().exists()) else {
        return Ok(());
    };
    place::preview(call, &Target::of(workspace, false), placement, asks).map_err(|fault| {
        Fault::setup(format!("--placement: {}", fault.what), format!("{}; nothing was written", fault.hint))
    })?;
    if asks && !agreed()? {
        bail!(Left(Exit::WorkLeft));
    }
    Ok(())
}

/// Places the gate if there is a task file; says what was done.
pub(super) fn placed(call: &Invocation, places: &Places, chosen: &Chosen) -> Result<Option<String>, Fault> {
    let Some(placement) = &chosen.placement else { return Ok(None) };
    if !places.tasks().exists() {
        return Ok(Some(format!("when there is a tasks.md: `ralph place {}`", words(placement))));
    }
    settle(call, placement).map(Some)
}
