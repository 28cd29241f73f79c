//! This process on macOS.

use super::SystemWords;
use crate::sys::darwin;
use crate::sys::file_stat::FileStat;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

pub(in crate::sys) use darwin::is_ignored;

/// See [`SystemWords`].
pub const SYSTEM: SystemWords = SystemWords {
    table: "the process table",
    table_hint: "run ralph outside of sandboxes: `ps -ax` must list all processes",
    supervision_hint: "run ralph outside of sandboxes: it needs signals between own processes",
};

/// The directory with an entry for each open file of this process (fd(4)).
pub(in crate::sys) const OPEN_FILES: &str = "/dev/fd";

/// The path of the running binary, without links, and its device and inode.
///
/// Empty if the system does not know the path: the program then cannot be started again, which is an error.
static PROGRAM: LazyLock<(PathBuf, Option<(u64, u64)>)> = LazyLock::new(|| {
    let path = std::env::current_exe()
        .and_then(fs_err::canonicalize)
        .unwrap_or_default();
    let identity = FileStat::at(&path).map(FileStat::identity);
    (path, identity)
});

/// Returns the path of the running binary. A new one may be installed under it: see [`is_unchanged`].
pub fn own_program() -> PathBuf {
    PROGRAM.0.clone()
}

/// False if the path is that of the running binary and names another file now.
///
/// A supervisor of another version could understand an order differently.
pub(in crate::sys) fn is_unchanged(program: &Path) -> bool {
    let (own, identity) = &*PROGRAM;
    program != own || FileStat::at(program).map(FileStat::identity) == *identity
}

/// Refuses debuggers.
///
/// macOS opens neither pipes nor memory of a process by a path. Other processes of the same user can still read the
/// environment with which this process began (docs/design.md "On macOS").
pub fn close_to_others() -> io::Result<()> {
    darwin::refuse_debuggers()
}
