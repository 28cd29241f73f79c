//! Agents: detection, prompts, calls, and the claims in their output.

mod claim;
mod invocation;
mod prompt;
mod reset;
mod trouble;

pub use claim::{Heard, MAX_WHY, VerdictLine, blocked_line};
pub use invocation::{AgentCall, CallFacts, agent_call};
pub use prompt::{PromptError, PromptFacts, PromptPackage, builtin, names_token, render, try_out};
pub use reset::LONGEST as LONGEST_LIMIT;
pub use trouble::{PrintedOutput, last_words, trouble};

use crate::config::PRESETS;
use crate::sys::programs::on_path;

/// Returns the known agent CLIs on a `PATH`, in the order of the presets. Starts no program.
pub fn detect(path: &str) -> Vec<&'static str> {
    let names = PRESETS.iter().map(|preset| preset.name.as_str());
    names
        .filter(|name| on_path(path, name).next().is_some())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn programs_on_the_path_are_found_in_the_known_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let other = tempfile::tempdir().expect("a folder");
        for (place, name, mode) in [
            (&other, "codex", 0o755),
            (&folder, "amp", 0o755),
            (&folder, "gemini", 0o644),
            (&folder, "sh", 0o755),
        ] {
            let file = fs_err::File::create(place.path().join(name)).expect("a file");
            file.set_permissions(PermissionsExt::from_mode(mode))
                .expect("a mode");
        }
        fs_err::create_dir(folder.path().join("claude")).expect("a folder");
        let path = format!(
            "{}:/nowhere::.:{}",
            folder.path().display(),
            other.path().display()
        );
        assert_eq!(detect(&path), ["codex", "amp"]);
        assert_eq!(detect(""), [""; 0]);
    }
}
