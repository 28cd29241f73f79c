//! Syncs a file system on Linux by `syncfs`.

use std::io;
use std::path::Path;

/// False: file systems of Linux distinguish names by case, unless a directory was set up otherwise.
pub const NAMES_MAY_IGNORE_CASE: bool = false;

/// Waits until all that was written to the file system of this directory is on the disk.
pub fn sync_volume(folder: &Path) -> io::Result<()> {
    Ok(nix::unistd::syncfs(fs_err::File::open(folder)?)?)
}
