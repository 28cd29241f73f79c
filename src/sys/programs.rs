//! Programs along a `PATH` value. Relative directories in it are skipped, since they depend on the current directory.

use nix::unistd::{AccessFlags, access};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// True if ralph runs as root.
pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// True for a file that this user may start.
pub fn is_program(file: &Path) -> bool {
    file.is_file() && access(file, AccessFlags::X_OK).is_ok()
}

/// Returns the programs of that name on a `PATH`, in order of preference.
///
/// Only absolute directories count.
pub fn on_path(
    path: &(impl AsRef<OsStr> + ?Sized),
    program: &str,
) -> impl Iterator<Item = PathBuf> {
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    folders
        .map(move |folder| folder.join(program))
        .filter(|file| is_program(file))
}
