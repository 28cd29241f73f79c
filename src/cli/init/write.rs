//! The files of a new workspace, and what is left to do after them.
//!
//! Owns: which files there are, the sentence behind `next:`.
//!
//! Promises: a file that is there is never written.
//!
//! Refuses to know: what was found or chosen, the text of the configuration.

use super::survey::Found;
use crate::agent::builtin;
use crate::cli::surroundings::read_config;
use crate::config::{self, Role};
use crate::engine::Fault;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Writes what is not there yet; each file, and whether it is new.
pub(super) fn write(folder: &Path, config: &str) -> Result<Vec<(PathBuf, bool)>, Fault> {
    fs_err::create_dir_all(folder.join("prompts"))?;
    let mut wrote = vec![write_new(&folder.join("config.yaml"), config)?];
    for role in Role::ALL {
        let file = folder.join(format!("prompts/{}.md", role.word()));
        wrote.push(write_new(&file, builtin(role))?);
    }
    wrote.push(write_new(&folder.join(".gitignore"), "state/\n")?);
    Ok(wrote)
}

/// What is left to do; a configuration that was there already is looked at, and never changed.
pub(super) fn next(root: &Path, is_new_config: bool, found: &Found, agent: Option<&str>) -> String {
    let then = "`ralph check`, then `ralph run`";
    let named = read_config(root).map_err(|error| vec![error]).and_then(|text| config::parse(&text, root));
    let named = named.map(|settings| {
        settings
            .agent_for(Role::Worker)
            .map(|(name, agent)| format!("`{name}` ({})", agent.command.join(" ")))
    });
    match (named, agent.filter(|_| !is_new_config)) {
        (Err(_), _) => {
            "the .ralph/config.yaml that was there cannot be read: `ralph check` names its mistakes"
                .to_owned()
        }
        (Ok(Some(named)), Some(asked)) => format!(
            "the .ralph/config.yaml that was there was kept, and its worker is {named}; for {asked}, write \
             `agents: {{default: {{preset: {asked}}}}}` there; then {then}"
        ),
        (Ok(None), Some(asked)) => format!(
            "the .ralph/config.yaml that was there was kept and names no agent: write \
             `agents: {{default: {{preset: {asked}}}}}` there, then {then}"
        ),
        (Ok(_), _) if found.packages.is_empty() => {
            format!(
                "make a git repository (`git init`), or name the packages in .ralph/config.yaml; then {then}"
            )
        }
        (Ok(Some(_)), None) if found.specs.is_empty() => format!("write tasks.md; then {then}"),
        (Ok(Some(_)), None) => then.to_owned(),
        (Ok(None), None) => {
            let on_path = if found.agents.is_empty() {
                "none that ralph knows".to_owned()
            } else {
                found.agents.join(", ")
            };
            format!("name an agent in .ralph/config.yaml (on PATH: {on_path}), then `ralph check`")
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
