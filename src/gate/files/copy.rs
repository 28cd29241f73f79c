//! A package's files, listed and copied for an engine.

use super::FileLanguage;
use super::loaded::find_loaded_tests;
use super::scope::Files;
use crate::gate::commands::fresh_folder;
use crate::gate::scope::{changed_entries, path_of_file};
use crate::gate::{GateAbort, GatePackage};
use crate::source::text;
use crate::sys::walk::{DirEntry, MAX_DEPTH, MAX_ENTRIES, walk};
use regex_lite::Regex;
use std::path::{Path, PathBuf};

/// Bytes that are copied.
const MAX_BYTES: u64 = 2 << 30;
/// Folders of any language that are never copied.
const LEFT_OUT: [&str; 4] = [".git", "node_modules", ".venv", "venv"];
/// The file by which tools mark a folder of theirs as one that can be made again (Cargo's `target`).
const CACHE_MARK: &str = "CACHEDIR.TAG";
/// Folders that tools write into the folders of installed packages.
const CACHES: [&str; 4] = [".cache", ".vite", ".vite-temp", ".vitest"];

/// Lists the files of a package.
pub(super) fn list_files(
    package: &GatePackage,
    language: &FileLanguage,
) -> Result<Files, GateAbort> {
    let mut files = Files {
        entries: changed_entries(package),
        ..Files::default()
    };
    for entry in committed_entries(&package.root, language) {
        let entry = entry?;
        let Some(path) = path_of_file(&package.root, &entry) else {
            continue;
        };
        if entry
            .file_name()
            .to_str()
            .is_some_and(|name| language.builds.contains(&name))
        {
            files.builds.insert(path);
        } else if language.is_source(&path) {
            files.sources.insert(path);
        }
    }
    files.loaded = find_loaded_tests(package, language, &files);
    Ok(files)
}

/// Copies a package to a new folder, and links what is installed in its own. Words that would hide code from
/// the engine lose their meaning; the answer names their files.
pub(crate) fn copy_package(
    package: &GatePackage,
    module: &str,
    language: &FileLanguage,
    to: &Path,
) -> Result<Vec<String>, GateAbort> {
    fresh_folder(to)?;
    let hides = hides_of(language)?;
    let (mut hiding, mut bytes) = (Vec::new(), 0);
    for entry in committed_entries(&package.root, language) {
        let entry = entry?;
        let path = entry
            .path()
            .strip_prefix(&package.root)
            .map_err(std::io::Error::other)?;
        let place = to.join(path);
        if entry.file_type().is_dir() {
            fs_err::create_dir(&place)?;
        } else if entry.file_type().is_symlink() {
            let target = fs_err::read_link(entry.path())?;
            // One that leads into the package leads into the copy.
            let target = target
                .strip_prefix(&package.root)
                .map(|inside| to.join(inside))
                .unwrap_or(target);
            fs_err::os::unix::fs::symlink(target, &place)?;
        } else if entry.file_type().is_file() {
            bytes += fs_err::copy(entry.path(), &place)?;
            if bytes > MAX_BYTES {
                return Err(GateAbort::setup(
                    format!("The package holds more than {} GiB.", MAX_BYTES >> 30),
                    "Remove what tools made there, or work in a smaller folder.",
                ));
            }
            let name = path.to_string_lossy();
            if language.is_source(&name) && rewrite_paths(&place, &name, language, &hides)? {
                hiding.push(name.into_owned());
            }
        }
    }
    for folder in module_folders(module) {
        for name in language.installed {
            let (own, place) = (
                package.home.join(&folder).join(name),
                to.join(&folder).join(name),
            );
            if own.is_dir() && fs_err::symlink_metadata(&place).is_err() {
                link_entries(&own, &place)?;
            }
        }
    }
    Ok(hiding)
}

/// Creates a folder of links to each entry of another folder.
///
/// Files that tools add stay in the new folder.
fn link_entries(own: &Path, place: &Path) -> std::io::Result<()> {
    fs_err::create_dir(place)?;
    for entry in fs_err::read_dir(own)? {
        let entry = entry?;
        if CACHES.iter().any(|cache| entry.file_name() == *cache) {
            continue;
        }
        // A relative link may lead to a neighbouring package that is copied too.
        let inside = fs_err::read_link(entry.path())
            .ok()
            .filter(|target| target.is_relative());
        let target = inside.unwrap_or_else(|| entry.path());
        fs_err::os::unix::fs::symlink(target, place.join(entry.file_name()))?;
    }
    Ok(())
}

/// The folders from a module's up to the package's own.
pub(super) fn module_folders(module: &str) -> Vec<PathBuf> {
    Path::new(module).ancestors().map(Path::to_owned).collect()
}

/// A pattern for words that hide code, and the words in their place.
type Hiding = (Regex, &'static str);

fn hides_of(language: &FileLanguage) -> std::io::Result<Vec<Hiding>> {
    let mut hides = Vec::new();
    for (pattern, other) in language.hides {
        hides.push((Regex::new(pattern).map_err(std::io::Error::other)?, *other));
    }
    Ok(hides)
}

/// True if words of a copied source lost their meaning.
fn rewrite_paths(
    file: &Path,
    name: &str,
    language: &FileLanguage,
    hides: &[Hiding],
) -> Result<bool, GateAbort> {
    let Ok(old) = String::from_utf8(fs_err::read(file)?) else {
        return Ok(false);
    };
    if let Some(word) = language.tells.iter().find(|word| old.contains(**word)) {
        return Err(GateAbort::fail(format!(
            "{} names `{word}`, by which a program knows that it is mutated; a test that asks kills nothing.",
            text::line(name, 300)
        )));
    }
    let mut new = old.clone();
    for (pattern, other) in hides {
        new = pattern.replace_all(&new, *other).into_owned();
    }
    if new != old {
        fs_err::write(file, new.as_bytes())?;
    }
    Ok(new != old)
}

fn is_left_out(entry: &DirEntry, language: &FileLanguage) -> bool {
    let name = entry.file_name().to_str().unwrap_or_default();
    [&LEFT_OUT, language.installed, language.outputs]
        .iter()
        .any(|names| names.contains(&name))
        || entry.file_type().is_dir() && entry.path().join(CACHE_MARK).is_file()
}

/// All that is committed, and what else a build left; neither repositories nor what is installed, links to it included.
fn committed_entries(
    root: &Path,
    language: &FileLanguage,
) -> impl Iterator<Item = Result<DirEntry, GateAbort>> {
    let all = walk(root, MAX_DEPTH, MAX_ENTRIES, move |folder| {
        !is_left_out(folder, language)
    });
    all.filter(move |entry| {
        !entry
            .as_ref()
            .is_ok_and(|entry| is_left_out(entry, language))
    })
    .map(|entry| {
        entry.map_err(|error| {
            let why = text::line(&error.to_string(), 300);
            let hint = "Make the folder readable, then try again.";
            GateAbort::setup(
                format!(
                    "The package cannot be copied: {}.",
                    why.trim_end_matches('.')
                ),
                hint,
            )
        })
    })
}
