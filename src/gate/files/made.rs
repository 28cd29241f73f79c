//! The files that the tests of a copy made, or wrote otherwise than the package has them.

use super::FileLanguage;
use crate::gate::GateAbort;
use crate::sys::walk::{MAX_DEPTH, MAX_ENTRIES, walk};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Larger files of an equal size are taken for equal.
const COMPARED: u64 = 1 << 20;
/// mutmut's copy of the package, in which tests run.
const MUTANTS: &str = "mutants";
/// Files that engines, runners and build tools write for themselves, by the end of their paths.
const OF_TOOLS: [&str; 10] = [
    "Cargo.lock",
    "package-lock.json",
    ".pytest_cache/.gitignore",
    ".pytest_cache/CACHEDIR.TAG",
    ".pytest_cache/README.md",
    ".pytest_cache/v/cache/lastfailed",
    ".pytest_cache/v/cache/nodeids",
    ".pytest_cache/v/cache/stepwise",
    "mutants/mutmut-stats.json",
    "stryker.log",
];
/// Folders in which runners keep the times of tests.
const TIMES: [&str; 3] = [".vite", ".vite-temp", ".vitest"];

/// Finds them, as paths in the package at `root` of which `copy` was made; `module` is the folder of the engine in it.
pub(super) fn find_made_files(
    root: &Path,
    copy: &Path,
    module: &str,
    language: &FileLanguage,
) -> Result<BTreeSet<PathBuf>, GateAbort> {
    let mut made = BTreeSet::new();
    for entry in walk(copy, MAX_DEPTH, 2 * MAX_ENTRIES, |folder| {
        folder.file_name() != ".git"
    }) {
        let entry = entry?;
        let Ok(path) = entry.path().strip_prefix(copy) else {
            continue;
        };
        if !entry.file_type().is_file() || is_of_tool(path, root) {
            continue;
        }
        let path = path.strip_prefix(MUTANTS).unwrap_or(path);
        let name = path.to_string_lossy();
        let is_build = path
            .file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| language.builds.contains(&name));
        let original = root.join(path);
        // Engines write sources and settings themselves, the settings also where the package has none.
        let is_setting = is_build && path.parent() == Some(Path::new(module));
        let is_made = match fs_err::symlink_metadata(&original) {
            Err(_) => !is_setting,
            Ok(_) if is_build || language.is_source(&name) => false,
            Ok(data) => data.is_file() && contents_differ(&original, entry.path())?,
        };
        if is_made {
            made.insert(path.to_owned());
        }
    }
    Ok(made)
}

fn is_of_tool(path: &Path, root: &Path) -> bool {
    // mutmut's results of a source, and its marker of a repository.
    let of_source = path.strip_prefix(MUTANTS).is_ok_and(|inside| {
        let is_result = inside
            .extension()
            .is_some_and(|ending| ending == "meta" || ending == "spans");
        inside == Path::new(".git") || is_result && root.join(inside.with_extension("")).is_file()
    });
    of_source
        || OF_TOOLS.iter().any(|end| path.ends_with(end))
        || path
            .components()
            .any(|part| TIMES.iter().any(|name| part.as_os_str() == *name))
}

fn contents_differ(one: &Path, other: &Path) -> Result<bool, GateAbort> {
    let sizes = [fs_err::metadata(one)?.len(), fs_err::metadata(other)?.len()];
    Ok(sizes[0] != sizes[1] || sizes[0] <= COMPARED && fs_err::read(one)? != fs_err::read(other)?)
}
