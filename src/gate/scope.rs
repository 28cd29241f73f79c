//! What a gate judges: target classes by module, and changed files that are left out with their reason.

use crate::gate::GateAbort;
use crate::machine::facts::full_path;
use crate::mutation::LeftOut;
use crate::source::RepoPath;
use std::collections::BTreeSet;

/// A class to be mutated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The package.
    pub(crate) package: String,
    /// The source file in the package.
    pub(crate) path: RepoPath,
    /// Dotted name of the top-level class.
    pub(crate) class: String,
    /// Existing test files that belong to it, anywhere in the package.
    pub(crate) tests: BTreeSet<String>,
    /// Which of its mutants count.
    pub(crate) extent: Extent,
}

/// Which mutants of a target count (config `scope`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All.
    Class,
    /// Those on these lines.
    Lines(Vec<(u32, u32)>),
    /// Those on these lines; and the class must keep the score that it had at the base.
    Change(Vec<(u32, u32)>),
}

impl Target {
    /// `<package>/<path>`.
    pub(crate) fn full_path(&self) -> String {
        full_path(&self.package, &self.path)
    }
}

/// The tool that builds a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuildTool {
    /// `pom.xml`.
    Maven,
    /// `build.gradle` or `build.gradle.kts` alone.
    Gradle,
}

/// A folder with a build file in which the family changed Java.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Module {
    /// Index of the package in the request.
    pub(crate) package: usize,
    /// The folder in the package; empty for the package itself.
    pub(crate) dir: String,
    /// That of the module in which the targets are: another one if their own tests are here alone.
    pub(crate) code: String,
    /// How it is built.
    pub(crate) tool: BuildTool,
    /// The classes to be mutated; empty when the module must only compile and pass its changed tests.
    pub(crate) targets: Vec<Target>,
    /// Changed test files that exist and are named like test classes.
    pub(crate) changed_tests: BTreeSet<String>,
    /// The family changed a build file of the package.
    pub(crate) build_changed: bool,
}

impl Module {
    /// The path in the package of a file in this module.
    pub(crate) fn inside(&self, path: &str) -> String {
        if self.dir.is_empty() { path.to_owned() } else { format!("{}/{path}", self.dir) }
    }
}

/// What is judged and what is not.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// Modules whose Java the family changed, by package and folder.
    pub(crate) modules: Vec<Module>,
    /// Changed production files that are not targets.
    pub(crate) left_out: Vec<LeftOut>,
    /// What forbids a verdict, or is one.
    pub(crate) aborts: Vec<GateAbort>,
}

impl Scope {
    /// True when there is a class to be mutated.
    pub(crate) fn has_targets(&self) -> bool {
        self.modules.iter().any(|module| !module.targets.is_empty())
    }
}
