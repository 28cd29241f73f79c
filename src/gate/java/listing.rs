//! What a package's folder holds now, as far as the scope asks.
//!
//! Follows no symbolic link, enters no other repository, no build output, no hidden folder;
//! bounded; looks at a changed path only when it stays inside the package.

use crate::gate::GateAbort;
use crate::gate::GatePackage;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

/// Entries that one package may have.
const MAX_ENTRIES: usize = 500_000;
/// Deepest folder that is entered.
const MAX_DEPTH: usize = 64;
/// Folders that hold what tools made.
const OUTPUT: [&str; 5] = ["target", "build", "out", "node_modules", "bin"];
/// Build files of Java.
const BUILD_FILES: [&str; 3] = ["pom.xml", "build.gradle", "build.gradle.kts"];

/// What stands at a path.
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

/// A package's folder, read once. Paths are relative to it, `/`-separated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    /// Build files of Java.
    pub(crate) builds: BTreeSet<String>,
    /// Source files below a `src/test/` folder (`.java`, `.kt`, `.groovy`, `.scala`).
    pub(crate) tests: BTreeSet<String>,
    /// What stands at each changed path.
    pub(crate) entries: BTreeMap<String, Entry>,
}

/// Reads the folder of a package.
pub(crate) fn list(package: &GatePackage) -> Result<Listing, GateAbort> {
    let mut listing = Listing::default();
    let mut seen = 0;
    walk(&package.root, "", 0, &mut seen, &mut listing).map_err(|why| {
        GateAbort::setup(
            format!("The folder of package {} cannot be read: {why}.", package.name),
            "Make the folder readable, then run the gate again.",
        )
    })?;
    for change in &package.changes {
        let path = change.path.to_text();
        let entry = entry(&package.root, &path);
        listing.entries.insert(path, entry);
    }
    Ok(listing)
}

/// What stands at a path that a diff names.
pub(crate) fn entry(root: &Path, path: &str) -> Entry {
    let mut place = root.to_owned();
    let mut last = None;
    if path.is_empty() || path.contains('\0') || path.contains('\\') {
        return Entry::Odd;
    }
    for component in Path::new(path).components() {
        let Component::Normal(name) = component else {
            return Entry::Odd;
        };
        place.push(name);
        match fs_err::symlink_metadata(&place) {
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

fn walk(
    root: &Path,
    relative: &str,
    depth: usize,
    seen: &mut usize,
    listing: &mut Listing,
) -> Result<(), String> {
    let text = |error: std::io::Error| crate::source::text::line(&error.to_string(), 300);
    for entry in fs_err::read_dir(root.join(relative)).map_err(text)? {
        let entry = entry.map_err(text)?;
        *seen += 1;
        if *seen > MAX_ENTRIES {
            return Err(format!("it holds more than {MAX_ENTRIES} files"));
        }
        let kind = entry.file_type().map_err(text)?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let path = if relative.is_empty() { name.clone() } else { format!("{relative}/{name}") };
        if kind.is_dir() {
            let source = relative.split('/').any(|part| part == "src");
            let output = OUTPUT.contains(&name.as_str()) && !source && !has(&entry.path(), "pom.xml");
            if name.starts_with('.') || output || depth == MAX_DEPTH || has(&entry.path(), ".git") {
                continue;
            }
            walk(root, &path, depth + 1, seen, listing)?;
        } else if kind.is_file() {
            if BUILD_FILES.contains(&name.as_str()) {
                listing.builds.insert(path);
            } else if is_test_source(&path) {
                listing.tests.insert(path);
            }
        }
    }
    Ok(())
}

fn has(folder: &Path, name: &str) -> bool {
    fs_err::symlink_metadata(folder.join(name)).is_ok()
}

fn is_test_source(path: &str) -> bool {
    let source = [".java", ".kt", ".groovy", ".scala"].iter().any(|end| path.ends_with(end));
    source && (path.starts_with("src/test/") || path.contains("/src/test/"))
}
