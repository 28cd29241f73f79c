//! Selects the files to mutate, and gives a reason for each other one.
//!
//! Pure over the request and the names of the files.

use super::FileLanguage;
use crate::config::ScopeKind;
use crate::gate::GateRequest;
use crate::gate::scope::{BuildTool, GateScope, Module, MutationExtent, PathEntry, TargetClass};
use crate::mutation::ExcludedFile;
use crate::source::{ChangedLines, Kind, text};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Folders whose files are tests under any name.
const TEST_FOLDERS: [&str; 4] = ["test", "tests", "__tests__", "spec"];

/// The files of a package. Paths are relative to it, `/`-separated.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    /// Build files of the language.
    pub(super) builds: BTreeSet<String>,
    pub(super) sources: BTreeSet<String>,
    /// Sources that are no production code by their names, and the production code that loads each.
    pub(super) loaded: BTreeMap<String, String>,
    /// The kind of file at each changed path.
    pub(super) entries: BTreeMap<String, PathEntry>,
}

/// Finds the scope; `files` are those of the request's packages, in order.
pub(super) fn find_scope(
    request: &GateRequest,
    language: &FileLanguage,
    scope_kind: ScopeKind,
    files: &[Files],
) -> GateScope {
    let mut scope = GateScope::default();
    for (index, (package, files)) in request.packages.iter().zip(files).enumerate() {
        let mut modules: BTreeMap<String, Module> = BTreeMap::new();
        // The printed form of a path may be quoted.
        let changes = package
            .changes
            .iter()
            .map(|change| (change, change.path.to_text()));
        for (change, path) in changes.filter(|(_, path)| language.is_source(path)) {
            let entry = files
                .entries
                .get(&path)
                .copied()
                .unwrap_or(PathEntry::Absent);
            if let Some(refusal) = entry.refuse_change(change) {
                scope.aborts.push(refusal);
                continue;
            }
            let dir = files.module_of(&path);
            let module = modules
                .entry(dir.to_owned())
                .or_insert_with(|| Module::new((index, package), dir, dir, BuildTool::Engine));
            let importer = files
                .loaded
                .get(&path)
                .filter(|_| change.kind != Kind::Production);
            if let Some(importer) = importer {
                module.remarks.push(format!(
                    "{} is judged as production code, since {} loads it.",
                    change.full_path(),
                    text::line(importer, 300)
                ));
            }
            let kind = importer.map_or(change.kind, |_| Kind::Production);
            match (kind, entry) {
                (Kind::Test, PathEntry::File) => drop(module.changed_tests.insert(path)),
                (Kind::Production, PathEntry::File) => {
                    let tests = files
                        .sources
                        .iter()
                        .filter(|test| language.is_test_of(test, &path));
                    let tests: BTreeSet<String> = tests.cloned().collect();
                    let counts = !tests.is_empty()
                        || importer.is_some()
                        || language.tests.is_empty()
                        || request.counts_without_test(package, change, &|test| {
                            language.is_test_of(test, &path)
                        });
                    if !counts {
                        scope.left_out.push(ExcludedFile {
                            file: change.full_path(),
                            why: format!(
                                "no test file belongs to it ({})",
                                language.test_names(&path)
                            ),
                        });
                        continue;
                    }
                    let extent = match (scope_kind, package.lines.get(&change.path)) {
                        (ScopeKind::Lines, Some(ChangedLines::Ranges(ranges))) => {
                            MutationExtent::Lines(ranges.clone())
                        }
                        _ => MutationExtent::Class,
                    };
                    let (package, class) = (package.name.clone(), path);
                    module.targets.push(TargetClass {
                        package,
                        path: change.path.clone(),
                        class,
                        tests,
                        extent,
                    });
                }
                (Kind::Production, _) => scope.left_out.push(ExcludedFile {
                    file: change.full_path(),
                    why: "it no longer exists".to_owned(),
                }),
                _ => {}
            }
        }
        scope.modules.extend(modules.into_values());
    }
    scope.left_out.sort();
    scope
}

impl Files {
    /// The nearest folder upward with a build file; the package's own is empty.
    fn module_of<'p>(&self, path: &'p str) -> &'p str {
        Path::new(path)
            .ancestors()
            .skip(1)
            .find(|dir| {
                let mut builds = self.builds.iter();
                builds.any(|build| Path::new(build).parent() == Some(*dir))
            })
            .and_then(Path::to_str)
            .unwrap_or_default()
    }
}

impl FileLanguage {
    /// True for a path with one of its endings.
    pub(crate) fn is_source(&self, path: &str) -> bool {
        let ending = path.rsplit_once('.').map(|(_, ending)| ending);
        ending.is_some_and(|ending| self.extensions.contains(&ending)) && !path.ends_with(".d.ts")
    }

    /// Judges the name alone, in any folder.
    fn is_test_of(&self, test: &str, path: &str) -> bool {
        let in_tests = test
            .split('/')
            .rev()
            .skip(1)
            .any(|folder| TEST_FOLDERS.contains(&folder));
        test != path
            && self.is_source(test)
            && self.tests.iter().any(|name| {
                (*name != "{}" || in_tests)
                    && name.replace("{}", module_stem(path)) == module_stem(test)
            })
    }

    /// The names of the tests of a file, for people.
    fn test_names(&self, path: &str) -> String {
        let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
        let names = self.tests.iter().filter(|name| **name != "{}");
        names
            .map(|name| format!("{}.{ending}", name.replace("{}", module_stem(path))))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// The name of a file without its ending; that of its folder for a Python package.
fn module_stem(path: &str) -> &str {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name.rsplit_once('.').map_or(name, |(stem, _)| stem) {
        "__init__" => folder.rsplit('/').next().unwrap_or_default(),
        stem => stem,
    }
}
