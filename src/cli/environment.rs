//! ralph's environment: variables, the cache folder, the text of the configuration.
//!
//! ralph does not pass its own settings on to its child processes.

use super::settings::is_setting;
use crate::config::{self, ConfigError};
use crate::engine::Fault;
use crate::sys::disk;
use std::path::{Path, PathBuf};

/// The configuration, relative to the workspace.
pub(super) const CONFIG: &str = ".ralph/config.yaml";

/// Ralph's own environment without its settings: the base of what processes get.
pub(super) fn base_environment() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| !is_setting(name))
        .collect()
}

/// Reads the text of the configuration; empty without a file.
///
/// Only a regular file is read. A file that is too long is read only as far as needed to show that.
pub(super) fn read_config(root: &Path) -> Result<String, ConfigError> {
    let bytes = match disk::read_beginning(&root.join(CONFIG), config::LONGEST_TEXT as u64 + 1) {
        Ok(bytes) => bytes.unwrap_or_default(),
        Err(error) => {
            let what = format!(
                "The file cannot be read: {}.",
                error.to_string().trim_end_matches('.')
            );
            let hint = "Check its type and permissions: ralph reads regular files only.";
            return Err(ConfigError::new(String::new(), what, hint).at(CONFIG, None));
        }
    };
    let is_long = bytes.len() > config::LONGEST_TEXT;
    String::from_utf8(bytes).or_else(|error| {
        if is_long {
            // The cut may be inside a character; its reader says that the file is too long.
            return Ok(String::from_utf8_lossy(error.as_bytes()).into_owned());
        }
        let sound = error
            .as_bytes()
            .get(..error.utf8_error().valid_up_to())
            .unwrap_or_default();
        let line = sound.split(|byte| *byte == b'\n').count();
        let error = ConfigError::new(
            String::new(),
            "The file is not UTF-8 text.",
            "Save it as UTF-8.",
        );
        Err(error.at(CONFIG, Some(line)))
    })
}

/// Returns a mistake in the settings as an error with a hint.
pub(super) fn unsound_settings(error: &ConfigError) -> Fault {
    let hint = if error.place == CONFIG {
        "fix .ralph/config.yaml, then `ralph check`"
    } else {
        "fix or unset what is named; `ralph check --config` shows where each setting comes from"
    };
    Fault::setup_fault(format!("{error} ({})", error.hint), hint)
}

/// `$XDG_CACHE_HOME/ralph`, else `~/.cache/ralph`.
pub(super) fn cache_folder() -> Result<PathBuf, Fault> {
    read_folder("XDG_CACHE_HOME")
        .or_else(|| read_folder("HOME").map(|home| home.join(".cache")))
        .map(|cache| cache.join("ralph"))
        .ok_or_else(|| Fault::setup_fault("HOME is not set.", "set HOME or XDG_CACHE_HOME"))
}

/// The value of a variable, if it is an absolute path.
fn read_folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}
