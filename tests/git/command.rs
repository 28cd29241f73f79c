//! The real git, which tests compare with.

use std::io::{Seek as _, Write as _};
use std::path::Path;

/// The one place where tests start git: no configuration but its own, no network, fixed dates.
#[expect(clippy::disallowed_methods, reason = "tests compare with the real git")]
pub(super) fn run_git_with(dir: &Path, args: &[&str], input: &[u8]) -> (bool, String) {
    let home = std::env::temp_dir();
    let mut stdin = tempfile::tempfile().unwrap();
    stdin.write_all(input).unwrap();
    stdin.rewind().unwrap();
    let out = std::process::Command::new("git")
        .stdin(stdin)
        .args([
            "-c",
            "protocol.file.allow=always",
            "-c",
            "core.quotePath=true",
            "-c",
            "commit.gpgSign=false",
        ])
        .args(args)
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", &home)
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_EDITOR", "true")
        .env("GIT_AUTHOR_NAME", "Agent")
        .env("GIT_AUTHOR_EMAIL", "agent@localhost")
        .env("GIT_COMMITTER_NAME", "Agent")
        .env("GIT_COMMITTER_EMAIL", "agent@localhost")
        .output()
        .unwrap();
    let text = [
        out.stdout,
        if out.status.success() {
            Vec::new()
        } else {
            out.stderr
        },
    ]
    .concat();
    (
        out.status.success(),
        String::from_utf8_lossy(&text).into_owned(),
    )
}
