//! The scope of a gate: target classes by module, and omitted changes with their reason.
//!
//! It reads the kind of file at each path that a diff names: no symbolic link is followed, no path
//! leaves its package.

use crate::gate::{GateAbort, GatePackage};
use crate::machine::facts::{FileChange, full_path};
use crate::mutation::ExcludedFile;
use crate::source::{Kind, RepoPath, Shard, text};
use crate::sys::walk::DirEntry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

/// A class to be mutated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TargetClass {
    pub(crate) package: String,
    /// The source file in the package.
    pub(crate) path: RepoPath,
    /// Dotted name of the top-level class; the path where an engine mutates files.
    pub(crate) class: String,
    /// Existing test files that belong to it, anywhere in the package.
    pub(crate) tests: BTreeSet<String>,
    /// Selects the mutants that count.
    pub(crate) extent: MutationExtent,
}

/// Selection of a target's mutants that count (config `scope`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MutationExtent {
    /// All.
    Class,
    /// Those on these lines.
    Lines(Vec<(u32, u32)>),
    /// Those on these lines; and the class must keep the score that it had at the base.
    Change(Vec<(u32, u32)>),
}

impl MutationExtent {
    /// The only lines whose mutants count; `None` if all do.
    pub(crate) fn line_ranges(&self) -> Option<&[(u32, u32)]> {
        if let Self::Lines(ranges) = self {
            Some(ranges)
        } else {
            None
        }
    }
}

/// True for a line in one of these ranges.
pub(crate) fn is_among(ranges: &[(u32, u32)], line: u32) -> bool {
    ranges
        .iter()
        .any(|(first, last)| (*first..=*last).contains(&line))
}

impl TargetClass {
    /// `<package>/<path>`.
    pub(crate) fn full_path(&self) -> String {
        full_path(&self.package, &self.path)
    }

    /// True for a line of its file (by its bare name) that the family changed, where that is known.
    pub(crate) fn has_changed(&self, package: &GatePackage, file: &str, line: u32) -> bool {
        self.path.to_text().rsplit('/').next() == Some(file)
            && package.has_changed(&self.path, line)
    }
}

/// The tool that builds a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuildTool {
    /// `pom.xml`.
    Maven,
    /// `build.gradle` or `build.gradle.kts` alone, or a build by `classpath_command`.
    Gradle,
    /// None: the engine finds and runs the tests.
    Engine,
}

/// A folder with a build file in which the family changed Java.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Module {
    /// Index of the package in the request.
    pub(crate) package: usize,
    /// The folder in the package; empty for the package itself.
    pub(crate) dir: String,
    /// The folder of the module that holds the targets.
    ///
    /// It is another module if only their own tests are here.
    pub(crate) code: String,
    pub(crate) tool: BuildTool,
    /// The classes to be mutated; empty when the module must only compile and pass its changed tests.
    pub(crate) targets: Vec<TargetClass>,
    /// Changed test files that exist and are named like test classes.
    pub(crate) changed_tests: BTreeSet<String>,
    /// Changed Java files that exist and are not production code by their paths. Only the build shows whether it compiles them into
    /// production.
    pub(crate) unplaced: BTreeSet<String>,
    /// Other modules have tests of its targets, too.
    pub(crate) shares_targets: bool,
    /// The family changed a build file of the package.
    pub(crate) build_changed: bool,
    /// Remarks about this choice for the report.
    pub(crate) remarks: Vec<String>,
}

impl Module {
    /// A module of the package with this index in the request, of which nothing is judged yet.
    pub(crate) fn new(
        package: (usize, &GatePackage),
        dir: &str,
        code: &str,
        tool: BuildTool,
    ) -> Self {
        Self {
            package: package.0,
            dir: dir.to_owned(),
            code: code.to_owned(),
            tool,
            targets: Vec::new(),
            changed_tests: BTreeSet::new(),
            unplaced: BTreeSet::new(),
            shares_targets: false,
            remarks: Vec::new(),
            build_changed: package
                .1
                .changes
                .iter()
                .any(|change| change.kind == Kind::Build),
        }
    }

    /// Target files, and the tests that judge them, must be as committed.
    pub(crate) fn check_committed(&self, package: &GatePackage) -> Result<(), GateAbort> {
        let dirt: BTreeSet<String> = package.dirt.iter().map(RepoPath::to_text).collect();
        let judged = self.targets.iter().flat_map(|target| {
            std::iter::once(target.path.to_text()).chain(target.tests.iter().cloned())
        });
        let dirty: BTreeSet<String> = judged.filter(|path| dirt.contains(path)).collect();
        if dirty.is_empty() {
            return Ok(());
        }
        Err(GateAbort::setup(
            format!(
                "Files{} that are to be judged differ from HEAD: {}.",
                text::of_package(&package.name),
                text::names(&dirty, 5)
            ),
            "Commit or undo these changes, then run the gate again.",
        ))
    }

    /// True for the path in the package of a file in this module.
    pub(crate) fn holds_path(&self, path: &str) -> bool {
        self.dir.is_empty() || Path::new(path).starts_with(&self.dir)
    }

    /// The path in this module of a file in the package.
    pub(crate) fn path_within(&self, path: &str) -> String {
        let inside = path
            .strip_prefix(&self.dir)
            .filter(|_| !self.dir.is_empty());
        inside
            .and_then(|path| path.strip_prefix('/'))
            .unwrap_or(path)
            .to_owned()
    }
}

/// Scope of a gate: judged and omitted changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct GateScope {
    /// Modules whose Java the family changed, by package and folder.
    pub(crate) modules: Vec<Module>,
    /// Changed production files that are not targets.
    pub(crate) left_out: Vec<ExcludedFile>,
    /// Reasons that forbid a verdict, or are one.
    pub(crate) aborts: Vec<GateAbort>,
}

impl GateScope {
    /// Nothing is judged, for this reason.
    pub(crate) fn refuse_all(abort: GateAbort) -> Self {
        Self {
            aborts: vec![abort],
            ..Self::default()
        }
    }

    /// Keeps the targets of one part. The others are left out.
    ///
    /// A class that is a target in several modules is in one part.
    pub(crate) fn keep_share(&mut self, shard: Shard) {
        let targets = self.modules.iter().flat_map(|module| &module.targets);
        let all: BTreeSet<String> = targets.map(TargetClass::full_path).collect();
        let others: BTreeSet<String> = all
            .into_iter()
            .enumerate()
            .filter(|(at, _)| at % shard.part_count() != shard.index())
            .map(|(_, path)| path)
            .collect();
        for module in &mut self.modules {
            module
                .targets
                .retain(|target| !others.contains(&target.full_path()));
        }
        // The tests of another module's targets have no work where another part judges these.
        self.modules
            .retain(|module| module.dir == module.code || !module.targets.is_empty());
        self.left_out
            .extend(others.into_iter().map(|file| ExcludedFile {
                file,
                why: "another part judges it".to_owned(),
            }));
    }

    /// True when there is a class to be mutated.
    pub(crate) fn has_targets(&self) -> bool {
        self.modules.iter().any(|module| !module.targets.is_empty())
    }
}

/// Kind of file at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathEntry {
    /// A regular file.
    File,
    Absent,
    /// A symbolic link, or a path that goes through one.
    Link,
    /// Something else, or a path that leaves the package.
    Odd,
}

impl PathEntry {
    /// Returns the reason why a change at this entry is not judged.
    ///
    /// `None` for a file and for an absent path.
    pub(crate) fn refuse_change(self, change: &FileChange) -> Option<GateAbort> {
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

/// Returns the kind of file at each path that a package's changes name.
pub(crate) fn changed_entries(package: &GatePackage) -> BTreeMap<String, PathEntry> {
    let paths = package.changes.iter().map(|change| change.path.to_text());
    paths
        .map(|path| (path.clone(), path_entry(&package.root, &path)))
        .collect()
}

/// The path of a regular file below a folder; `None` for other entries, and where it is not UTF-8.
pub(crate) fn path_of_file(root: &Path, entry: &DirEntry) -> Option<String> {
    let inside = entry.path().strip_prefix(root).ok()?.to_str()?;
    entry.file_type().is_file().then(|| inside.to_owned())
}

/// Returns the kind of entry at a path that a diff names.
pub(crate) fn path_entry(root: &Path, path: &str) -> PathEntry {
    let mut at = root.to_owned();
    let mut last = None;
    if path.is_empty() || path.contains('\0') || path.contains('\\') {
        return PathEntry::Odd;
    }
    for component in Path::new(path).components() {
        let Component::Normal(name) = component else {
            return PathEntry::Odd;
        };
        at.push(name);
        match fs_err::symlink_metadata(&at) {
            Ok(data) if data.is_symlink() => return PathEntry::Link,
            Ok(data) => last = Some(data),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return PathEntry::Absent,
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
                return PathEntry::Absent;
            }
            Err(_) => return PathEntry::Odd,
        }
    }
    match last {
        Some(data) if data.is_file() => PathEntry::File,
        _ => PathEntry::Odd,
    }
}
