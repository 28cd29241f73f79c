//! The class files of a folder, by the source file that each was made of.
//!
//! Owns: the way from a class file to the path of its source: its package's folder, and the name that the
//! compiler left in it.
//!
//! Promises: an answer only where every class file tells its source. `package-info.class` is nobody's: Maven
//! makes it by itself.
//!
//! Refuses to know: whether these sources are there, what is in them.

use super::side::{files, is_class, is_package_info, read};
use crate::gate::class_file;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Source files, by their path below their folder, with the class files that were made of each.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Origins(BTreeMap<PathBuf, BTreeSet<PathBuf>>);

impl Origins {
    /// Nothing where a class file does not tell, or cannot be read.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        let mut origins: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
        for file in files(folder).ok()?.into_iter().filter(|file| is_class(file) && !is_package_info(file)) {
            let bytes = read(&folder.join(&file)).ok()?;
            let source = file.with_file_name(class_file::source_file(&bytes)?);
            origins.entry(source).or_default().insert(file);
        }
        Some(Self(origins))
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.keys()
    }

    /// The class files that were made of a source.
    pub(super) fn classes(&self, source: &Path) -> impl Iterator<Item = &PathBuf> {
        self.0.get(source).into_iter().flatten()
    }

    /// The folders of its packages.
    pub(super) fn packages(&self) -> BTreeSet<&Path> {
        self.0.keys().filter_map(|source| source.parent()).collect()
    }

    /// The names of class files that hold a `$`: most are of nested classes.
    pub(super) fn nested(&self) -> impl Iterator<Item = &str> {
        let stems = self.0.values().flatten().filter_map(|class| class.file_stem()?.to_str());
        stems.filter(|stem| stem.contains('$'))
    }

    /// Every name that could be that of a top-level class of the source; nothing where one is not ASCII.
    pub(super) fn names(&self, source: &Path) -> Option<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        for class in self.classes(source) {
            let stem = class.file_stem()?.to_str().filter(|stem| stem.is_ascii())?;
            names.extend(beginnings(stem).map(str::to_owned));
        }
        Some(names)
    }
}

/// The beginnings of a class file's name that could be the name of its top-level class.
pub(super) fn beginnings(stem: &str) -> impl Iterator<Item = &str> {
    let ends = stem.match_indices('$').map(|(at, _)| at).filter(|at| *at > 0);
    ends.chain([stem.len()]).map(|end| &stem[..end])
}
