//! Files that are no production code by their names, and that production code loads: what a program loads decides.

use super::FileLanguage;
use super::scope::Files;
use crate::gate::GatePackage;
use crate::gate::commands::read_text;
use crate::gate::verdict::MAX_SOURCE;
use crate::source::{
    Classifier, Kind, Loads, RepoPath, file_words, is_for_tests_alone, path_words,
};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Finds the sources that production code loads although their names say something else, each with the file that loads it.
/// None where no change is such a source, or where the kinds of files are not known.
pub(super) fn find_loaded_tests(
    package: &GatePackage,
    language: &FileLanguage,
    files: &Files,
) -> BTreeMap<String, String> {
    let mut loaded = BTreeMap::new();
    let Some(classifier) = &package.classifier else {
        return loaded;
    };
    let is_asked = package.changes.iter().any(|change| {
        change.kind != Kind::Production && language.is_source(&change.path.to_text())
    });
    if !is_asked {
        return loaded;
    }
    let (mut importers, mut others): (Vec<&str>, Vec<&str>) = files
        .sources
        .iter()
        .map(String::as_str)
        .partition(|path| classify_path(classifier, path) == Kind::Production);
    while let Some(importer) = importers.pop() {
        let source = read_text(&package.root.join(importer), MAX_SOURCE);
        // Most sources name none of them: only the others are parsed.
        let words: HashSet<&str> = path_words(&source).collect();
        let named: BTreeSet<&str> = others
            .iter()
            .copied()
            .filter(|other| file_words(other).all(|word| words.contains(word)))
            .collect();
        if named.is_empty() {
            continue;
        }
        let loads = Loads::of(importer, source.as_bytes());
        for other in named.into_iter().filter(|other| loads.has(other)) {
            let text = read_text(&package.root.join(other), MAX_SOURCE);
            if !is_for_tests_alone(other, text.as_bytes()) {
                loaded.insert(other.to_owned(), importer.to_owned());
                importers.push(other);
            }
        }
        others.retain(|other| !loaded.contains_key(*other));
    }
    loaded
}

fn classify_path(classifier: &Classifier, path: &str) -> Kind {
    classifier.kind(&RepoPath::from_bytes(path.as_bytes()))
}
