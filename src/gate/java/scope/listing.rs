//! The files of a package's folder that the scope depends on.
//!
//! Follows no symbolic link, enters no other repository, no build output, no hidden folder;
//! bounded; reads a changed path only if it stays inside the package.

use super::names::JavaPath;
use crate::gate::scope::{BuildTool, PathEntry, changed_entries, path_of_file};
use crate::gate::{GateAbort, GatePackage};
use crate::source::text;
use crate::sys::walk::{DirEntry, MAX_DEPTH, MAX_ENTRIES, walk};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Folders that hold what tools made.
const OUTPUT: [&str; 5] = ["target", "build", "out", "node_modules", "bin"];
/// Build files of Java with the tool that reads each, the one that is preferred first.
pub(crate) const BUILD_FILES: [(&str, BuildTool); 3] = [
    ("pom.xml", BuildTool::Maven),
    ("build.gradle", BuildTool::Gradle),
    ("build.gradle.kts", BuildTool::Gradle),
];

/// A package's folder, read once. Paths are relative to it, `/`-separated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    /// Build files of Java.
    pub(crate) builds: BTreeSet<PathBuf>,
    /// The files that are a [`JavaPath`].
    pub(crate) sources: BTreeSet<String>,
    /// The kind of entry at each changed path.
    pub(crate) entries: BTreeMap<String, PathEntry>,
}

impl Listing {
    /// The paths of sources, and those that changed.
    pub(crate) fn known_paths(&self) -> impl Iterator<Item = &String> {
        self.sources.iter().chain(self.entries.keys())
    }
}

/// Reads the folder of a package.
pub(crate) fn list_package(package: &GatePackage) -> Result<Listing, GateAbort> {
    let mut listing = Listing {
        entries: changed_entries(package),
        ..Listing::default()
    };
    for entry in walk(&package.root, MAX_DEPTH, MAX_ENTRIES, |folder| {
        may_hold_sources(package, folder)
    }) {
        let entry = entry.map_err(|error| {
            let (name, why) = (&package.name, text::line(&error.to_string(), 300));
            let why = why.trim_end_matches('.');
            let what = format!("The folder of package {name} cannot be read: {why}.");
            GateAbort::setup(what, "Make the folder readable, then run the gate again.")
        })?;
        let Some(path) = path_of_file(&package.root, &entry) else {
            continue;
        };
        if BUILD_FILES
            .iter()
            .any(|(name, _)| entry.file_name() == *name)
        {
            listing.builds.insert(path.into());
        } else if JavaPath::parse_path(&path).is_some() {
            listing.sources.insert(path);
        }
    }
    Ok(listing)
}

/// False for hidden folders, other repositories, and outputs of tools unless the family changed a file there.
fn may_hold_sources(package: &GatePackage, folder: &DirEntry) -> bool {
    let (path, Some(name)) = (folder.path(), folder.file_name().to_str()) else {
        return false;
    };
    let inside = path.strip_prefix(&package.root).unwrap_or(path);
    let mut changes = package.changes.iter();
    let output = OUTPUT.contains(&name)
        && !inside.iter().any(|part| part == "src")
        && !path.join("pom.xml").exists()
        && !changes.any(|change| Path::new(change.path.as_str()).starts_with(inside));
    !(name.starts_with('.') || output || path.join(".git").exists())
}
