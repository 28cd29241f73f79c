//! The files of a new workspace, none of which overwrites another, the gate lines of its task file, and what is left to
//! do after them.

use super::text::{Chosen, words};
use super::{Found, below};
use crate::agent::builtin;
use crate::cli::environment::read_config;
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

/// What is left to do. A configuration that was there already is read, and never changed.
pub(super) fn next(root: &Path, is_new_config: bool, found: &Found, agent: Option<&str>) -> String {
    const THEN: &str = "`ralph check`, then `ralph run`";
    let settings = read_config(root).map_err(|error| vec![error]).and_then(|text| config::parse(&text, root));
    let Ok(settings) = settings else {
        return "the existing .ralph/config.yaml cannot be read: `ralph check` names its mistakes".to_owned();
    };
    let worker = settings.agent_for(Role::Worker);
    let worker = worker.map(|(name, agent)| format!("`{name}` ({})", agent.command.join(" ")));
    if let Some(asked) = agent.filter(|_| !is_new_config) {
        let kept = worker.map_or("names no agent".to_owned(), |worker| format!("its worker is {worker}"));
        return format!(
            "the existing .ralph/config.yaml was kept and {kept}; for {asked}, write \
             `agents: {{default: {{preset: {asked}}}}}` there; then {THEN}"
        );
    }
    if found.packages.is_empty() {
        return format!(
            "make a git repository (`git init`), or name the packages in .ralph/config.yaml; then {THEN}"
        );
    }
    match worker {
        Some(_) if found.specs.is_empty() => format!("write tasks.md; then {THEN}"),
        Some(_) => THEN.to_owned(),
        None => {
            let none = || "none that ralph knows".to_owned();
            let agents = if found.agents.is_empty() { none() } else { found.agents.join(", ") };
            format!("name an agent in .ralph/config.yaml (on PATH: {agents}), then `ralph check`")
        }
    }
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
