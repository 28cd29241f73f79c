//! The files of a new workspace, none of which overwrites another, and the gate lines of its task file.

use super::below;
use super::text::{Chosen, words};
use crate::agent::builtin;
use crate::cli::place::settle;
use crate::cli::workspace::Place;
use crate::config::{self, Role};
use crate::engine::Fault;
use crate::sys::Disk as _;
use crate::sys::disk::RealDisk;
use crate::task::{Grammar, TaskFile};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Writes what is not there yet; each file, and whether it is new.
pub(super) fn write(folder: &Path, config_text: &str) -> Result<Vec<(PathBuf, bool)>, Fault> {
    fs_err::create_dir_all(folder.join("prompts"))?;
    let mut wrote = vec![write_new(&folder.join("config.yaml"), config_text)?];
    let schema = format!("{:#}\n", config::schema());
    wrote.push(write_new(&folder.join(config::SCHEMA_FILE), &schema)?);
    for role in Role::ALL {
        let file = folder.join(format!("prompts/{}.md", role.word()));
        wrote.push(write_new(&file, builtin(role))?);
    }
    wrote.push(write_new(&folder.join(".gitignore"), "state/\n")?);
    Ok(wrote)
}

/// Writes a file that is not there yet; says whether it did.
fn write_new(path: &Path, text: &str) -> Result<(PathBuf, bool), Fault> {
    let mut options = fs_err::OpenOptions::new();
    match options.write(true).create_new(true).open(path) {
        Ok(mut file) => {
            file.write_all(text.as_bytes())?;
            Ok((path.to_owned(), true))
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok((path.to_owned(), false)),
        Err(error) => Err(error.into()),
    }
}

/// Refuses a placement that the task file cannot have, before anything is written.
pub(super) fn can_be_placed(root: &Path, chosen: &Chosen, grammar: &Grammar) -> Result<(), Fault> {
    let Some(placement) = &chosen.placement else { return Ok(()) };
    let path = root.join(&chosen.spec).join("tasks.md");
    let Some(bytes) = RealDisk::new().read(&path)? else { return Ok(()) };
    let file = TaskFile::parse(bytes, grammar);
    // Without lines for stages the choice is only in the configuration, but names tasks all the same.
    file.placed("PITEST", placement).map(drop).map_err(|error| {
        let what = format!("--placement: {}: {error}", below(root, &path));
        Fault::setup(what, "name tasks by ids that are unique; nothing was written")
    })
}

/// Places the gate if there is a task file; says what was done.
pub(super) fn placed(root: &Path, chosen: &Chosen) -> Result<Option<String>, Fault> {
    let Some(placement) = &chosen.placement else { return Ok(None) };
    if !root.join(&chosen.spec).join("tasks.md").exists() {
        let later = format!("when there is a tasks.md: `ralph place {}`", words(placement));
        return Ok(Some(later));
    }
    let place = Place { root: Some(root.to_owned()), root_by: "--root", json: false, given: Vec::new() };
    settle(&place, placement).map(Some)
}
