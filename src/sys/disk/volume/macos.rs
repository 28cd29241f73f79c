//! Syncs a volume on macOS, where a sync of a directory would leave the files in it in memory.

use crate::sys::darwin;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// True: volumes of macOS ignore the case of names, unless they were formatted otherwise.
pub const NAMES_MAY_IGNORE_CASE: bool = true;

/// Waits until all that was written to the volume of this directory is on its medium.
pub fn sync_volume(folder: &Path) -> io::Result<()> {
    darwin::sync_volume(&CString::new(folder.as_os_str().as_bytes())?)
}
