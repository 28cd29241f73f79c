//! The files of a new workspace, none of which overwrites another, and the gate lines of its task file.

use super::text::{Chosen, words};
use crate::cli::place::settle;
use crate::cli::workspace::Invocation;
use crate::config;
use crate::engine::{Fault, Places};
use crate::sys::Disk as _;
use crate::sys::disk::RealDisk;
use crate::task::{Grammar, TaskFile};
use std::io::Write as _;
use std::path::Path;

/// Writes what is not there yet; each file, and whether it is new.
pub(super) fn write(folder: &Path, config_text: &str) -> Result<Vec<(String, bool)>, Fault> {
    let schema = format!("{:#}\n", config::schema());
    let mut files = vec![("config.yaml".to_owned(), config_text), (config::SCHEMA_FILE.to_owned(), &schema)];
    files.push((".gitignore".to_owned(), "state/\n"));
    fs_err::create_dir_all(folder)?;
    let write = |(name, text): (String, &str)| {
        let is_new = write_new(&folder.join(&name), text)?;
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

/// Refuses a placement that the task file cannot have, before anything is written.
pub(super) fn can_be_placed(places: &Places, chosen: &Chosen, grammar: &Grammar) -> Result<(), Fault> {
    let (Some(placement), path) = (&chosen.placement, places.tasks()) else { return Ok(()) };
    let Some(bytes) = RealDisk::new().read(&path)? else { return Ok(()) };
    // Without lines for stages the choice is only in the configuration, but names tasks all the same.
    TaskFile::parse(bytes, grammar).placed("PITEST", placement).map(drop).map_err(|error| {
        let what = format!("--placement: {}: {error}", places.shown(&path));
        Fault::setup(what, "name tasks by ids that are unique; nothing was written")
    })
}

/// Places the gate if there is a task file; says what was done.
pub(super) fn placed(call: &Invocation, places: &Places, chosen: &Chosen) -> Result<Option<String>, Fault> {
    let Some(placement) = &chosen.placement else { return Ok(None) };
    if !places.tasks().exists() {
        return Ok(Some(format!("when there is a tasks.md: `ralph place {}`", words(placement))));
    }
    settle(call, placement).map(Some)
}
