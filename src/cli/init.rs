//! `ralph init`: writes `.ralph/`.
//!
//! Owns: which files a new workspace gets.
//!
//! Promises: never overwrites a file.
//!
//! Refuses to know: dialects, placement (a later issue asks about them).

use super::args::InitArgs;
use super::exit::Exit;
use super::ui;
use super::workspace::Place;
use crate::agent::{builtin, detect};
use crate::config::{self, Preset, Role, TEMPLATE};
use crate::engine::{Fault, FaultKind};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Writes `.ralph/config.yaml` and `.ralph/prompts/`.
pub(super) fn init(place: &Place<'_>, args: &InitArgs) -> Result<Exit, Fault> {
    let root = place.root.map_or_else(|| Ok(PathBuf::from(".")), fs_err::canonicalize)?;
    let folder = root.join(".ralph");
    let config = match args.agent.as_deref() {
        None => TEMPLATE.to_owned(),
        Some(name) if Preset::named(name).is_some() => with_agent(name),
        Some(name) => {
            let known: Vec<&str> = config::PRESETS.iter().map(|preset| preset.name).collect();
            let what = format!("There is no preset `{name}`.");
            return Err(Fault::new(FaultKind::Setup, what, format!("presets are: {}", known.join(", "))));
        }
    };
    fs_err::create_dir_all(folder.join("prompts"))?;
    let written = write_new(&folder.join("config.yaml"), &config)?;
    let is_new_config = written.1;
    let mut wrote = vec![written];
    for role in Role::ALL {
        let file = folder.join(format!("prompts/{}.md", role.word()));
        wrote.push(write_new(&file, builtin(role))?);
    }
    wrote.push(write_new(&folder.join(".gitignore"), "state/\n")?);
    for (path, is_new) in wrote {
        ui::line(&format!("{} {}", if is_new { "wrote" } else { "kept " }, path.display()));
    }
    ui::line(&format!("next: {}", next(&root, is_new_config, args.agent.as_deref())));
    Ok(Exit::Done)
}

/// What is left to do; a configuration that was there already is looked at, and never changed.
fn next(root: &Path, is_new_config: bool, agent: Option<&str>) -> String {
    let then = "`ralph check`, then `ralph run`";
    if let (Some(_), true) = (agent, is_new_config) {
        return then.to_owned();
    }
    let text = fs_err::read_to_string(root.join(".ralph/config.yaml")).unwrap_or_default();
    let named = config::parse(&text, root).map(|settings| {
        settings
            .agent_for(Role::Worker)
            .map(|(name, agent)| format!("`{name}` ({})", agent.command.join(" ")))
    });
    match (named, agent) {
        (Err(_), _) => {
            "the .ralph/config.yaml that was there cannot be read: `ralph check` names its mistakes"
                .to_owned()
        }
        (Ok(Some(named)), Some(asked)) => format!(
            "the .ralph/config.yaml that was there was kept, and its worker is {named}; for {asked}, write \
             `agents: {{default: {{preset: {asked}}}}}` there; then {then}"
        ),
        (Ok(Some(_)), None) => then.to_owned(),
        (Ok(None), Some(asked)) => format!(
            "the .ralph/config.yaml that was there was kept and names no agent: write \
             `agents: {{default: {{preset: {asked}}}}}` there, then {then}"
        ),
        (Ok(None), None) => {
            let found = detect(&std::env::var_os("PATH").unwrap_or_default().to_string_lossy());
            let on_path =
                if found.is_empty() { "none that ralph knows".to_owned() } else { found.join(", ") };
            format!("name an agent in .ralph/config.yaml (on PATH: {on_path}), then `ralph check`")
        }
    }
}

/// The commented template with an agent named in it.
fn with_agent(name: &str) -> String {
    format!("agents:\n  default: {{preset: {name}}}\n\n{TEMPLATE}")
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
