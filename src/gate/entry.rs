//! What is at a path that a diff names. No symbolic link is followed, no path leaves its package.

use super::{GateAbort, GatePackage};
use crate::machine::facts::FileChange;
use std::collections::BTreeMap;
use std::path::{Component, Path};

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// A regular file.
    File,
    /// Nothing.
    Absent,
    /// A symbolic link, or a path that goes through one.
    Link,
    /// Something else, or a path that leaves the package.
    Odd,
}

impl Entry {
    /// Why a change that is this is not judged; `None` for a file and for nothing.
    pub(crate) fn refusal(self, change: &FileChange) -> Option<GateAbort> {
        let path = change.full_path();
        match self {
            Self::File | Self::Absent => None,
            Self::Link => Some(GateAbort::fail(format!(
                "The changed file {path} is a symbolic link or lies behind one; only regular files are measured."
            ))),
            Self::Odd => Some(GateAbort::setup(
                format!("The changed path {path} leaves its package or is not a file."),
                "Correct the list of changes; paths are relative to their package.",
            )),
        }
    }
}

/// What is at each path that a package's changes name.
pub(crate) fn entries(package: &GatePackage) -> BTreeMap<String, Entry> {
    let paths = package.changes.iter().map(|change| change.path.to_text());
    paths.map(|path| (path.clone(), entry(&package.root, &path))).collect()
}

/// What is at a path that a diff names.
pub(crate) fn entry(root: &Path, path: &str) -> Entry {
    let mut at = root.to_owned();
    let mut last = None;
    if path.is_empty() || path.contains('\0') || path.contains('\\') {
        return Entry::Odd;
    }
    for component in Path::new(path).components() {
        let Component::Normal(name) = component else {
            return Entry::Odd;
        };
        at.push(name);
        match fs_err::symlink_metadata(&at) {
            Ok(data) if data.is_symlink() => return Entry::Link,
            Ok(data) => last = Some(data),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Entry::Absent,
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => return Entry::Absent,
            Err(_) => return Entry::Odd,
        }
    }
    match last {
        Some(data) if data.is_file() => Entry::File,
        _ => Entry::Odd,
    }
}
