//! The classes that are judged, and the reason why the others are not.
//!
//! Pure over the request and the listings; every changed production file is a target or is left
//! out with its reason; what is refused is an abort, never silence.

mod names;
#[cfg(test)]
mod tests;

pub(crate) use names::{JavaPath, TestNames, is_identifier};

use super::classes::is_java;
use super::listing::{BUILD_FILES, Listing};
use crate::config::{GateSettings, ScopeKind};
use crate::gate::scope::{BuildTool, GateScope, Module, MutationExtent, PathEntry, TargetClass};
use crate::gate::{GateAbort, GatePackage, GateRequest};
use crate::machine::facts::{FileChange, FileStatus};
use crate::mutation::ExcludedFile;
use crate::source::text;
use crate::source::{ChangedLines, Kind, RepoPath};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Finds the scope; `listings` are those of the request's packages, in order. `classpath_command` builds packages of Gradle and
/// those without a POM.
pub(crate) fn find_scope(
    request: &GateRequest,
    settings: &GateSettings,
    listings: &[Listing],
) -> GateScope {
    let mut scope = GateScope::default();
    let names = &TestNames::new(&settings.test_names);
    for (index, (package, listing)) in request.packages.iter().zip(listings).enumerate() {
        let mut sorter = Sorter {
            request,
            package,
            listing,
            names,
            kind: settings.scope,
            is_by_command: settings.classpath_command.is_some()
                && (listing.builds.is_empty()
                    || !listing.builds.iter().all(|path| path.ends_with("pom.xml"))),
            index,
            modules: BTreeMap::new(),
            scope: &mut scope,
        };
        for change in &package.changes {
            sorter.sort_change(change);
        }
        sorter.sort_weakened();
        let modules = sorter.modules;
        scope.modules.extend(modules.into_values());
    }
    scope.left_out.sort();
    scope.left_out.dedup();
    scope
}

struct Sorter<'a> {
    request: &'a GateRequest,
    package: &'a GatePackage,
    listing: &'a Listing,
    names: &'a TestNames,
    kind: ScopeKind,
    /// `classpath_command` builds the package.
    is_by_command: bool,
    index: usize,
    modules: BTreeMap<(String, String), Module>,
    scope: &'a mut GateScope,
}

impl Sorter<'_> {
    fn sort_change(&mut self, change: &FileChange) {
        let path = change.path.to_text();
        let entry = self
            .listing
            .entries
            .get(&path)
            .copied()
            .unwrap_or(PathEntry::Absent);
        let java = JavaPath::parse_path(&path);
        let module = self.find_module(&path);
        // Other languages without Maven are not judged by this gate.
        let is_built = self.is_by_command || matches!(module, Some((_, BuildTool::Maven)));
        let is_judged = is_java(Path::new(&path)) || java.is_some() && is_built;
        if entry == PathEntry::Odd || is_judged && entry == PathEntry::Link {
            self.scope.aborts.extend(entry.refuse_change(change));
            return;
        }
        let is_test = change.kind == Kind::Test;
        if !is_test && let Some(language) = names::other_language(&path) {
            self.leave_out(change, &format!("not measured ({language})"));
        }
        if !is_judged {
            return;
        }
        let is_file = entry == PathEntry::File;
        let is_production = !is_test && java.as_ref().is_some_and(|java| !java.test);
        let mut tests = java.iter().filter(|java| java.test);
        let is_changed_test = is_file && tests.any(|java| self.names.is_test(&java.stem));
        if let Some((dir, tool)) = &module {
            let module = self.enter_module(dir, dir, *tool);
            if is_changed_test {
                module.changed_tests.insert(path);
            } else if is_file && !is_production {
                module.unplaced.insert(path);
            }
        }
        if is_production && let Some(java) = java {
            let target = self.sort_production(change, entry, &java);
            match (target, &module) {
                (Some(target), Some((dir, tool))) => self.add_target(&target, dir, *tool),
                (Some(_), None) => self.refuse_unbuilt(change),
                (None, _) => {}
            }
        } else if is_test && is_file && module.is_none() {
            self.refuse_unbuilt(change);
        } else if !is_test && !is_changed_test {
            self.leave_out(change, "not below src/main/java");
        }
    }

    /// Adds a target of the module in a folder to each module that has tests of its own, else to that one.
    fn add_target(&mut self, target: &TargetClass, dir: &str, tool: BuildTool) {
        let homes = target
            .tests
            .iter()
            .filter_map(|test| self.find_module(test));
        let mut homes: BTreeSet<String> = homes
            .filter(|home| home.1 == tool)
            .map(|home| home.0)
            .collect();
        if homes.is_empty() {
            homes.insert(dir.to_owned());
        }
        for home in homes {
            self.enter_module(&home, dir, tool)
                .targets
                .push(target.clone());
        }
    }

    /// The module in a folder, with targets of the one in the folder `code`.
    fn enter_module(&mut self, dir: &str, code: &str, tool: BuildTool) -> &mut Module {
        self.modules
            .entry((dir.to_owned(), code.to_owned()))
            .or_insert_with(|| Module::new((self.index, self.package), dir, code, tool))
    }

    fn sort_production(
        &mut self,
        change: &FileChange,
        entry: PathEntry,
        java: &JavaPath,
    ) -> Option<TargetClass> {
        if java.is_info() {
            return None;
        }
        if entry == PathEntry::Absent
            || change.status == FileStatus::Deleted && entry != PathEntry::File
        {
            self.leave_out(change, "it no longer exists");
            return None;
        }
        let Some(class) = java.class_name() else {
            self.scope.aborts.push(GateAbort::setup(
                format!(
                    "The production code {} cannot be judged: its path names no Java class.",
                    text::line(&change.full_path(), 400)
                ),
                "Move it to the directory of its package, and name it like its class.",
            ));
            return None;
        };
        // A file that was moved counts under both of its names.
        let before = self.package.moved.get(&change.path);
        let before = before.and_then(|old| Some((old, JavaPath::parse_path(&old.path.to_text())?)));
        let mut both = vec![(change, java)];
        both.extend(before.iter().map(|(old, java)| (*old, java)));
        let tests: BTreeSet<String> = both
            .iter()
            .flat_map(|(_, java)| self.tests_of(java))
            .collect();
        if tests.is_empty()
            && !both
                .iter()
                .any(|(change, java)| self.counts_without_test(change, java))
        {
            self.leave_out(
                change,
                &format!(
                    "no test class belongs to it ({})",
                    self.names.names_of(&java.stem)
                ),
            );
            return None;
        }
        let extent = self.find_extent(change);
        Some(TargetClass {
            package: self.package.name.clone(),
            path: change.path.clone(),
            class,
            tests,
            extent,
        })
    }

    /// Adds classes whose own tests check less than before, if no changed class is judged.
    fn sort_weakened(&mut self) {
        let weakened = &self.package.weakened;
        let mut modules = self.modules.values();
        if weakened.is_empty() || modules.any(|module| !module.targets.is_empty()) {
            return;
        }
        let listing = self.listing;
        let production = listing.production.iter();
        for path in production.filter(|path| !listing.entries.contains_key(*path)) {
            let Some(java) = JavaPath::parse_path(path).filter(|java| !java.test) else {
                continue;
            };
            let mut weakened = self.package.weakened.iter();
            if !weakened.any(|test| self.is_test_of(&test.to_text(), &java)) {
                continue;
            }
            let (Some(class), Some((dir, tool))) = (java.class_name(), self.find_module(path))
            else {
                continue;
            };
            let target = TargetClass {
                package: self.package.name.clone(),
                path: RepoPath::from_bytes(path.as_bytes()),
                class,
                tests: self.tests_of(&java),
                extent: match self.kind {
                    ScopeKind::Class => MutationExtent::Class,
                    _ => MutationExtent::Change(Vec::new()),
                },
            };
            self.add_target(&target, &dir, tool);
        }
    }

    /// A file that is new, or whose changed lines are unknown, counts as a whole; one that was moved has no score to keep.
    fn find_extent(&self, change: &FileChange) -> MutationExtent {
        match (self.kind, self.package.lines.get(&change.path)) {
            (ScopeKind::Lines, Some(ChangedLines::Ranges(ranges))) => {
                MutationExtent::Lines(ranges.clone())
            }
            (ScopeKind::Auto, Some(ChangedLines::Ranges(ranges))) if change.old.is_some() => {
                MutationExtent::Change(ranges.clone())
            }
            _ => MutationExtent::Class,
        }
    }

    fn counts_without_test(&self, change: &FileChange, java: &JavaPath) -> bool {
        self.request
            .counts_without_test(self.package, change, &|test| self.is_test_of(test, java))
    }

    /// The test files that belong to a class.
    fn tests_of(&self, class: &JavaPath) -> BTreeSet<String> {
        self.listing
            .tests
            .iter()
            .filter(|test| self.is_test_of(test, class))
            .cloned()
            .collect()
    }

    /// By its name; where classes of several packages have that name, a test stands for the one beside it.
    fn is_test_of(&self, test: &str, class: &JavaPath) -> bool {
        let Some(test) = JavaPath::parse_path(test).filter(|test| test.test) else {
            return false;
        };
        let mut sources = self
            .listing
            .production
            .iter()
            .chain(self.listing.entries.keys());
        self.names.is_test_of(&test.stem, &class.stem)
            && (test.folder == class.folder
                || !sources.any(|path| {
                    JavaPath::parse_path(path).as_ref().is_some_and(|java| {
                        !java.test && java.stem == class.stem && java.folder == test.folder
                    })
                }))
    }

    /// Ends the gate for a Java file that no build file compiles.
    fn refuse_unbuilt(&mut self, change: &FileChange) {
        self.scope.aborts.push(GateAbort::setup(
            format!(
                "The Java file {} has no build file (pom.xml) in its folder or above.",
                change.full_path()
            ),
            "Add a pom.xml, or configure gates.<NAME>.classpath_command with the command that builds this package.",
        ));
    }

    /// The nearest directory upward with a build file, and its tool. A command's modules need only sources below `src/`.
    fn find_module(&self, path: &str) -> Option<(String, BuildTool)> {
        let mut folders = Path::new(path).ancestors().skip(1);
        if self.is_by_command {
            let mut folders = folders.filter_map(Path::to_str);
            let dir = folders.find(|dir| self.holds_sources(dir))?;
            return Some((dir.to_owned(), BuildTool::Gradle));
        }
        folders.find_map(|dir| {
            let (_, tool) = BUILD_FILES.iter().find(|(name, _): &&(&str, BuildTool)| {
                dir.join(name)
                    .to_str()
                    .is_some_and(|build| self.listing.builds.contains(build))
            })?;
            Some((dir.to_str()?.to_owned(), *tool))
        })
    }

    /// True for a directory with files below its `src/`.
    fn holds_sources(&self, dir: &str) -> bool {
        let sources = format!("{dir}/src/");
        let mut all = self.listing.production.iter().chain(&self.listing.tests);
        all.any(|path| path.starts_with(sources.trim_start_matches('/')))
    }

    fn leave_out(&mut self, change: &FileChange, why: &str) {
        self.scope.left_out.push(ExcludedFile {
            file: text::line(&change.full_path(), 400),
            why: why.to_owned(),
        });
    }
}
