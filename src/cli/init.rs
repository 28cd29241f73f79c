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
use crate::config::{Preset, Role, TEMPLATE};
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
            let known: Vec<&str> = crate::config::PRESETS.iter().map(|preset| preset.name).collect();
            let what = format!("There is no preset `{name}`.");
            return Err(Fault::new(FaultKind::Setup, what, format!("presets are: {}", known.join(", "))));
        }
    };
    fs_err::create_dir_all(folder.join("prompts"))?;
    let mut wrote = vec![write_new(&folder.join("config.yaml"), &config)?];
    for role in Role::ALL {
        let file = folder.join(format!("prompts/{}.md", role.word()));
        wrote.push(write_new(&file, builtin(role))?);
    }
    wrote.push(write_new(&folder.join(".gitignore"), "state/\n")?);
    for (path, is_new) in wrote {
        ui::line(&format!("{} {}", if is_new { "wrote" } else { "kept " }, path.display()));
    }
    let found = detect(&std::env::var_os("PATH").unwrap_or_default().to_string_lossy());
    if args.agent.is_none() {
        let on_path = if found.is_empty() { "none that ralph knows".to_owned() } else { found.join(", ") };
        ui::line(&format!(
            "next: name an agent in .ralph/config.yaml (on PATH: {on_path}), then `ralph check`"
        ));
    } else {
        ui::line("next: `ralph check`, then `ralph run`");
    }
    Ok(Exit::Done)
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
