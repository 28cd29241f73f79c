//! The classes that are judged, and the reason why the others are not.
//!
//! Depends on the request and the names of the packages' files. Every changed production file is a target or is left
//! out with its reason; what is refused is an abort, never silence.

mod listing;
mod names;
#[cfg(test)]
mod tests;

pub(crate) use listing::{BUILD_FILES, Listing, list_package};
use names::source_folder;
pub(crate) use names::{JavaPath, LANGUAGES, TestNames, is_identifier};

use super::classes::{is_class, is_java};
use crate::config::{GateSettings, ScopeKind};
use crate::gate::scope::{BuildTool, GateScope, Module, MutationExtent, PathEntry, TargetClass};
use crate::gate::{GateAbort, GatePackage, GateRequest};
use crate::machine::facts::FileChange;
use crate::mutation::ExcludedFile;
use crate::source::text;
use crate::source::{ChangedLines, Kind, RepoPath};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Finds the classes to judge.
pub(crate) fn find_scope(request: &GateRequest, settings: &GateSettings) -> GateScope {
    let mut scope = GateScope::default();
    for (index, package) in request.packages.iter().enumerate() {
        match list_package(package) {
            Ok(listing) => sort_changes(request, settings, index, &listing, &mut scope),
            Err(abort) => scope.aborts.push(abort),
        }
    }
    scope.left_out.sort();
    scope
}

/// Sorts the changes of the package with this index in the request. `classpath_command` builds packages of Gradle and those
/// without a POM.
fn sort_changes(
    request: &GateRequest,
    settings: &GateSettings,
    index: usize,
    listing: &Listing,
    scope: &mut GateScope,
) {
    let package = &request.packages[index];
    let classes = listing
        .known_paths()
        .filter_map(|path| JavaPath::parse_path(path));
    let mut sorter = Sorter {
        request,
        package,
        listing,
        names: TestNames(&settings.test_names),
        kind: settings.scope,
        is_by_command: settings.classpath_command.is_some()
            && (listing.builds.is_empty()
                || !listing.builds.iter().all(|path| path.ends_with("pom.xml"))),
        index,
        classes: classes.filter(|java| !java.test).collect(),
        modules: BTreeMap::new(),
        scope,
    };
    for change in &package.changes {
        sorter.sort_change(change);
    }
    sorter.sort_weakened();
    let Sorter { modules, scope, .. } = sorter;
    scope.modules.extend(modules.into_values());
}

struct Sorter<'a> {
    request: &'a GateRequest,
    package: &'a GatePackage,
    listing: &'a Listing,
    names: TestNames<'a>,
    kind: ScopeKind,
    /// `classpath_command` builds the package.
    is_by_command: bool,
    index: usize,
    /// The production classes that exist or that the family deleted.
    classes: BTreeSet<JavaPath>,
    /// By the folder of the targets and that of the tests. Where both are one, that module is first.
    modules: BTreeMap<(String, bool, String), Module>,
    scope: &'a mut GateScope,
}

impl Sorter<'_> {
    fn sort_change(&mut self, change: &FileChange) {
        let path = change.path.to_text();
        let entry = self.listing.entries.get(&path);
        let entry = entry.copied().unwrap_or(PathEntry::Absent);
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
        let is_file = entry == PathEntry::File;
        if is_file && module.is_some() && is_class(Path::new(&path)) {
            self.scope.aborts.push(GateAbort::fail(format!(
                "{} is a class file, which cannot be reviewed; let the build make it.",
                text::line(&change.full_path(), 400)
            )));
        }
        if !is_judged {
            return;
        }
        let production = java.as_ref().filter(|java| !is_test && !java.test);
        let mut tests = java.iter().filter(|java| java.test && is_file);
        let is_changed_test = tests.any(|java| self.names.is_test(&java.stem));
        if let Some((dir, tool)) = &module {
            let module = self.enter_module(dir, dir, *tool);
            if is_file && production.is_none() {
                module.unplaced.insert(path.clone());
            }
            if is_changed_test {
                module.changed_tests.insert(path);
            }
        }
        if let Some(java) = production {
            self.sort_production(change, entry, java, module);
        } else if is_test && is_file && module.is_none() {
            self.refuse_unbuilt(change);
        } else if !is_test && !is_changed_test {
            self.leave_out(change, "not below src/main/java");
        }
    }

    /// The module in a folder, with targets of the one in the folder `code`.
    fn enter_module(&mut self, dir: &str, code: &str, tool: BuildTool) -> &mut Module {
        self.modules
            .entry((code.to_owned(), dir != code, dir.to_owned()))
            .or_insert_with(|| Module::new((self.index, self.package), dir, code, tool))
    }

    fn sort_production(
        &mut self,
        change: &FileChange,
        entry: PathEntry,
        java: &JavaPath,
        module: Option<(String, BuildTool)>,
    ) {
        if matches!(java.stem.as_str(), "package-info" | "module-info") {
            return;
        }
        if entry != PathEntry::File {
            self.leave_out(change, "it no longer exists");
            return;
        }
        let Some(class) = java.class_name() else {
            self.scope.aborts.push(GateAbort::setup(
                format!(
                    "The production code {} cannot be judged: its path names no Java class.",
                    text::line(&change.full_path(), 400)
                ),
                "Move it to the directory of its package, and name it like its class.",
            ));
            return;
        };
        // A file that was moved counts under both of its names.
        let both = [Some(change), self.package.moved.get(&change.path)];
        let mut tests = BTreeSet::new();
        let mut counts = false;
        for change in both.into_iter().flatten() {
            if let Some(java) = JavaPath::parse_path(&change.path.to_text()) {
                tests.extend(self.tests_of(&java));
                counts |= self
                    .request
                    .counts_without_test(self.package, change, &|test| {
                        self.is_test_of(test, &java)
                    });
            }
        }
        if tests.is_empty() && !counts {
            let names = self.names.names_of(&java.stem);
            self.leave_out(change, &format!("no test class belongs to it ({names})"));
        } else if let Some(module) = module {
            let extent = self.find_extent(change, java);
            self.add_target(change.path.clone(), class, &tests, extent, module);
        } else {
            self.refuse_unbuilt(change);
        }
    }

    /// Adds unchanged classes whose own tests check less than before, unless a class with changed code is judged: tests may change
    /// with the code, but a comment is no reason.
    fn sort_weakened(&mut self) {
        let nothing = Some(&ChangedLines::Ranges(Vec::new()));
        let mut targets = self.modules.values().flat_map(|module| &module.targets);
        if targets.any(|target| self.package.lines.get(&target.path) != nothing) {
            return;
        }
        let listing = self.listing;
        for path in &listing.sources {
            if let Some(java) = JavaPath::parse_path(path)
                && !java.test
                && !listing.entries.contains_key(path)
                && self.is_weakened(&java)
                && let Some(class) = java.class_name()
                && let Some(module) = self.find_module(path)
            {
                let extent = match self.kind {
                    ScopeKind::Class => MutationExtent::Class,
                    _ => MutationExtent::Change(Vec::new()),
                };
                let path = RepoPath::from_bytes(path.as_bytes());
                self.add_target(path, class, &self.tests_of(&java), extent, module);
            }
        }
    }

    /// Adds a target of a module to each module that has or had tests of its own, else to that one.
    fn add_target(
        &mut self,
        path: RepoPath,
        class: String,
        tests: &BTreeSet<String>,
        mut extent: MutationExtent,
        (dir, tool): (String, BuildTool),
    ) {
        let mut homes = BTreeSet::new();
        let mut remark = None;
        let file = path.to_text();
        for test in tests {
            let folder = source_folder(test);
            let home = self.find_module(test);
            let home = home.filter(|home| self.holds_sources(&home.0));
            let has_module = home.as_ref().map(|home| home.0.as_str()) == folder
                || folder == source_folder(&file)
                || self.listing.sources.contains(test) && !self.lost_build_file(folder);
            if has_module {
                homes.extend(home.filter(|home| home.1 == tool).map(|home| home.0));
            } else if matches!(extent, MutationExtent::Change(_)) {
                extent = MutationExtent::Class;
                remark = Some(format!(
                    "{class} is judged whole, because the module of its test {} has no sources or no build file any more.",
                    text::line(test, 400)
                ));
            }
        }
        if homes.is_empty() {
            homes.insert(dir.clone());
        }
        let shares_targets = homes.len() > 1;
        let tests = tests & &self.listing.sources;
        let target = TargetClass {
            package: self.package.name.clone(),
            path,
            class,
            tests,
            extent,
        };
        for home in homes {
            let module = self.enter_module(&home, &dir, tool);
            module.targets.push(target.clone());
            module.shares_targets |= shares_targets;
            module.remarks.extend(remark.clone());
        }
    }

    /// A file that is new, or whose changed lines are unknown, counts as a whole; one that was moved has no score to keep.
    fn find_extent(&self, change: &FileChange, java: &JavaPath) -> MutationExtent {
        let Some(ChangedLines::Ranges(ranges)) = self.package.lines.get(&change.path) else {
            return MutationExtent::Class;
        };
        match self.kind {
            ScopeKind::Lines if !self.is_weakened(java) => MutationExtent::Lines(ranges.clone()),
            ScopeKind::Lines | ScopeKind::Auto if change.old.is_some() => {
                MutationExtent::Change(ranges.clone())
            }
            _ => MutationExtent::Class,
        }
    }

    /// True for a class whose own tests check less than before.
    fn is_weakened(&self, java: &JavaPath) -> bool {
        let mut weakened = self.package.weakened.iter();
        weakened.any(|test| self.is_test_of(&test.to_text(), java))
    }

    /// The test files that belong to a class, also those that the family moved or removed.
    fn tests_of(&self, class: &JavaPath) -> BTreeSet<String> {
        let GatePackage {
            tests_at_base,
            weakened,
            ..
        } = self.package;
        let former = tests_at_base.iter().chain(weakened).map(RepoPath::to_text);
        let tests = self.listing.sources.iter().cloned().chain(former);
        tests.filter(|test| self.is_test_of(test, class)).collect()
    }

    /// True for a test of this class, by its name. If several packages have a class of that name, a test belongs to the one in its own
    /// package, and to both if it is older than that one.
    fn is_test_of(&self, test: &str, class: &JavaPath) -> bool {
        let Some(java) = JavaPath::parse_path(test).filter(|java| java.test) else {
            return false;
        };
        let beside = JavaPath {
            folder: java.folder,
            ..class.clone()
        };
        let test = RepoPath::from_bytes(test.as_bytes());
        self.names.is_test_of(&java.stem, &class.stem)
            && (beside == *class
                || !self.classes.contains(&beside)
                || self.is_new(&beside) && self.package.tests_at_base.contains(&test))
    }

    /// True for a class that the family added, and that no module had before.
    fn is_new(&self, class: &JavaPath) -> bool {
        let known = self.listing.known_paths();
        let mut files = known.filter(|path| JavaPath::parse_path(path).as_ref() == Some(class));
        files.all(|path| {
            let mut changes = self.package.changes.iter();
            changes.any(|change| change.old.is_none() && change.path.to_text() == **path)
        })
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
        Path::new(path).ancestors().skip(1).find_map(|dir| {
            let tool = if self.is_by_command {
                self.holds_sources(dir).then_some(BuildTool::Gradle)?
            } else {
                let mut files = BUILD_FILES.iter();
                files
                    .find(|(name, _)| self.listing.builds.contains(&dir.join(name)))?
                    .1
            };
            Some((dir.to_str()?.to_owned(), tool))
        })
    }

    /// True for a directory whose build file the family removed.
    fn lost_build_file(&self, dir: Option<&str>) -> bool {
        let dir = Path::new(dir.unwrap_or_default());
        BUILD_FILES.iter().any(|(name, _)| {
            let file = dir.join(name).display().to_string();
            self.listing.entries.get(&file) == Some(&PathEntry::Absent)
        })
    }

    /// True for a directory with files below its `src/`.
    fn holds_sources(&self, dir: impl AsRef<Path>) -> bool {
        let sources = dir.as_ref().join("src");
        self.listing
            .sources
            .iter()
            .any(|path| Path::new(path).starts_with(&sources))
    }

    fn leave_out(&mut self, change: &FileChange, why: &str) {
        self.scope.left_out.push(ExcludedFile {
            file: text::line(&change.full_path(), 400),
            why: why.to_owned(),
        });
    }
}
