//! The files of a package's folder that the scope depends on.
//!
//! Follows no symbolic link, enters no other repository, no build output, no hidden folder;
//! bounded; reads a changed path only if it stays inside the package.

use crate::gate::scope::{BuildTool, PathEntry, changed_entries, path_of_file};
use crate::gate::{GateAbort, GatePackage};
use crate::source::text;
use crate::sys::walk::{DirEntry, MAX_DEPTH, MAX_ENTRIES, walk};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Folders that hold what tools made.
const OUTPUT: [&str; 5] = ["target", "build", "out", "node_modules", "bin"];
/// Languages of the JVM: the folder of their sources, and how the name of a source file ends.
pub(crate) const LANGUAGES: [(&str, &str); 4] = [
    ("java", "java"),
    ("kotlin", "kt"),
    ("groovy", "groovy"),
    ("scala", "scala"),
];
/// Build files of Java with the tool that reads each, the one that is preferred first.
pub(super) const BUILD_FILES: [(&str, BuildTool); 3] = [
    ("pom.xml", BuildTool::Maven),
    ("build.gradle", BuildTool::Gradle),
    ("build.gradle.kts", BuildTool::Gradle),
];

/// A package's folder, read once. Paths are relative to it, `/`-separated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    /// Build files of Java.
    pub(crate) builds: BTreeSet<String>,
    /// Source files below a `src/test/` folder (`.java`, `.kt`, `.groovy`, `.scala`).
    pub(crate) tests: BTreeSet<String>,
    /// Source files below a `src/main/` folder.
    pub(crate) production: BTreeSet<String>,
    /// The kind of entry at each changed path.
    pub(crate) entries: BTreeMap<String, PathEntry>,
}

/// Reads the folder of a package.
pub(crate) fn list_package(package: &GatePackage) -> Result<Listing, GateAbort> {
    let mut listing = Listing {
        entries: changed_entries(package),
        ..Listing::default()
    };
    for entry in walk(&package.root, MAX_DEPTH, MAX_ENTRIES, |folder| {
        may_hold_sources(&package.root, folder)
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
            listing.builds.insert(path);
        } else if is_source_below("src/test/", &path) {
            listing.tests.insert(path);
        } else if is_source_below("src/main/", &path) {
            listing.production.insert(path);
        }
    }
    Ok(listing)
}

/// False for hidden folders, outputs of tools and other repositories.
fn may_hold_sources(root: &Path, folder: &DirEntry) -> bool {
    let (path, Some(name)) = (folder.path(), folder.file_name().to_str()) else {
        return false;
    };
    let above = path.strip_prefix(root).ok().and_then(Path::parent);
    let in_sources = above.is_some_and(|above| above.iter().any(|part| part == "src"));
    let output = OUTPUT.contains(&name) && !in_sources && !has_entry(path, "pom.xml");
    !(name.starts_with('.') || output || has_entry(path, ".git"))
}

fn has_entry(folder: &Path, name: &str) -> bool {
    fs_err::symlink_metadata(folder.join(name)).is_ok()
}

fn is_source_below(folder: &str, path: &str) -> bool {
    let end = path.rsplit_once('.').map(|(_, end)| end);
    let source = LANGUAGES.iter().any(|language| Some(language.1) == end);
    source && (path.starts_with(folder) || path.contains(&format!("/{folder}")))
}
