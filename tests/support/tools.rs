//! Programs that tests install, in a directory of the user's cache that all checkouts share.

use assert_cmd::Command;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The file that marks an installation as finished.
const DONE: &str = ".installed";

/// Returns the directory of these tools, existing or not. `RALPH_TEST_TOOLS` replaces the user's cache.
pub(crate) fn folder(name: &str) -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = || variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    let root = variable("RALPH_TEST_TOOLS").or_else(|| Some(cache()?.join("ralph-tests")));
    root.unwrap_or_else(std::env::temp_dir).join(name)
}

/// True if the tools are installed.
pub(crate) fn is_installed(name: &str) -> bool {
    folder(name).join(DONE).is_file()
}

/// Returns the directory with these tools, which `install` fills once per user. Other tests wait for it.
pub(crate) fn installed(name: &str, install: impl FnOnce(&Path)) -> PathBuf {
    let folder = folder(name);
    fs_err::create_dir_all(&folder).unwrap();
    let lock = File::create(folder.with_file_name(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    if !folder.join(DONE).is_file() {
        install(&folder);
        fs_err::write(folder.join(DONE), "").unwrap();
    }
    folder
}

/// Returns the virtual environment with these packages of `PyPI`.
pub(crate) fn installed_from_pypi(name: &str, packages: &[&str]) -> PathBuf {
    installed(name, |folder| {
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv"]).arg(folder).assert().success();
        let mut pip = Command::new(folder.join("bin/pip"));
        pip.args(["install", "--quiet"]).args(packages);
        pip.assert().success();
    })
}
