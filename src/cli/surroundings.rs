//! What ralph reads of its surroundings: environment, cache folder, the text of the configuration.
//!
//! Owns: where each is, and the fault when it is not as it must be.
//!
//! Promises: what ralph was given as a setting is not in the environment that it hands on.
//!
//! Refuses to know: what a setting means.

use super::settings::is_setting;
use super::workspace::CONFIG;
use crate::config::ConfigError;
use crate::engine::{Fault, FaultKind};
use std::path::{Path, PathBuf};

/// Ralph's own environment without its settings: the base of what processes get.
pub(super) fn environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| !is_setting(name))
        .collect()
}

/// The text of the configuration; empty where there is none.
pub(super) fn read_config(root: &Path) -> Result<String, Fault> {
    match fs_err::read_to_string(root.join(CONFIG)) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            Err(Fault::new(FaultKind::Setup, ".ralph/config.yaml is not UTF-8 text.", "save it as UTF-8"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Everything that is wrong with the settings, as one fault.
pub(super) fn unsound(errors: &[ConfigError]) -> Fault {
    let lines: Vec<String> =
        errors.iter().map(|error| format!("{} ({})", error.shown(), error.hint)).collect();
    let hint = if errors.iter().all(ConfigError::is_in_file) {
        "mend .ralph/config.yaml, then `ralph check`"
    } else {
        "mend or unset what is named; `ralph check --config` shows where each setting comes from"
    };
    Fault::new(FaultKind::Setup, lines.join("\nerror: "), hint)
}

/// `$XDG_CACHE_HOME/ralph`, else `~/.cache/ralph`.
pub(super) fn cache_folder() -> Result<PathBuf, Fault> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    named("XDG_CACHE_HOME")
        .or_else(|| named("HOME").map(|home| home.join(".cache")))
        .map(|cache| cache.join("ralph"))
        .ok_or_else(|| Fault::new(FaultKind::Setup, "HOME is not set.", "set HOME or XDG_CACHE_HOME"))
}
