//! Which known agent CLIs are installed; nothing is started.

use crate::sys::programs::on_path;

/// The programs to look for; those with a preset first.
pub const KNOWN_AGENTS: &[&str] = &[
    "claude",
    "codex",
    "gemini",
    "opencode",
    "kiro-cli",
    "copilot",
    "amp",
    "goose",
    "aider",
    "qwen",
    "hermes",
    "cursor-agent",
];

/// The known agent CLIs in the folders of a `PATH` value, in the order of [`KNOWN_AGENTS`].
pub fn detect(path: &str) -> Vec<&'static str> {
    KNOWN_AGENTS.iter().filter(|name| on_path(path, name).next().is_some()).copied().collect()
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
            file.set_permissions(PermissionsExt::from_mode(mode)).expect("a mode");
        }
        fs_err::create_dir(folder.path().join("claude")).expect("a folder");
        let path = format!("{}:/nowhere::.:{}", folder.path().display(), other.path().display());
        assert_eq!(detect(&path), ["codex", "amp"]);
        assert_eq!(detect(""), [""; 0]);
    }
}
