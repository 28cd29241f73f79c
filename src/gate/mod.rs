//! The deterministic judges: PIT run directly, engines that mutate files, any command.
//!
//! [`run_gate`] never panics and never returns an error: every problem becomes a verdict, and what was not measured is
//! never a pass. No process outlives the call.

mod assertions;
mod command_gate;
mod commands;
mod disk_cache;
mod engine;
mod files;
mod java;
mod javascript;
mod leftovers;
pub mod mutation_test;
mod python;
mod run;
mod rust;
mod scope;
mod standard_report;
mod test_report;
#[cfg(test)]
mod tests;
mod verdict;
mod xml;

pub use java::{GRADLE_COMMAND, PomLinks, follow_link, pom_links};
pub use python::reads_mutmut;
pub use run::{Preview, PreviewTarget, preview_gate, run_gate};
pub use standard_report::FILE as STANDARD_REPORT;
pub use test_report::passed_tests;

use crate::config::GateSettings;
use crate::machine::facts::{FileChange, Oid};
use crate::mutation::Rule;
use crate::source::{ChangedLines, Classifier, RepoPath, Shard, text};
use crate::sys::Spawn;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// Order for a gate.
#[derive(Clone, Debug, Default)]
pub struct GateRequest {
    /// The gate's name: `PITEST`.
    pub name: String,
    /// The box, as the task file names it; empty if none is judged.
    pub task: String,
    /// The packages that the family changed.
    pub packages: Vec<GatePackage>,
    /// `<package>/<path>` of each class that was a target of this gate before.
    pub former_targets: BTreeSet<String>,
    /// `<package>/<path>` of each file that was changed since a FAIL; `None` if the gate has not failed since it passed.
    pub changed_since_fail: Option<BTreeSet<String>>,
    /// TEST-FIRST left no enabled test method.
    pub no_tests_written: bool,
    /// A FAIL would block a family, so it must be that of all tests.
    pub confirms: bool,
    /// Rebuild an outdated map of tests and classes, with any verdict.
    pub makes_map: bool,
    /// Judge only this part of the target classes.
    pub shard: Option<Shard>,
    /// `.ralph/state/iter-N/gate`, absolute: logs and HTML reports are kept here.
    pub folder: PathBuf,
    /// Ralph's cache folder, absolute: resolved class paths and PIT's jars.
    pub cache: PathBuf,
    /// Marks the processes of this run.
    pub tag: String,
    /// The environment of children: `PATH`, `HOME`, `JAVA_HOME` …
    pub env: Vec<(String, String)>,
}

impl GateRequest {
    /// The rules that let a changed file count without an existing test: moving or deleting a test is no way to a SKIP.
    /// `is_its_test` tells a test of the file by its path.
    pub(crate) fn counts_without_test(
        &self,
        package: &GatePackage,
        change: &FileChange,
        is_its_test: &dyn Fn(&str) -> bool,
    ) -> bool {
        let full = change.full_path();
        self.no_tests_written
            || self.former_targets.contains(&full)
            || self
                .changed_since_fail
                .as_ref()
                .is_some_and(|changed| changed.contains(&full))
            || package
                .tests_at_base
                .iter()
                .any(|test| is_its_test(&test.to_text()))
    }
}

/// One package with what the family changed in it.
#[derive(Clone, Debug, Default)]
pub struct GatePackage {
    pub name: String,
    /// The folder that is judged, absolute: its own or a checkout.
    pub root: PathBuf,
    /// Its own folder, absolute, where what no commit holds is installed (`node_modules`, `.venv`).
    pub home: PathBuf,
    /// Changes of the family.
    pub changes: Vec<FileChange>,
    /// Classifies a file by its name, if that is known.
    pub classifier: Option<Classifier>,
    /// Changed lines of the changed files, as they are now.
    ///
    /// A file whose lines are unknown is absent.
    pub lines: BTreeMap<RepoPath, ChangedLines>,
    /// The former place of each class that the family moved or renamed.
    pub moved: BTreeMap<RepoPath, FileChange>,
    /// Test files that check less than at the family's base.
    pub weakened: BTreeSet<RepoPath>,
    /// Test files at the family's base.
    pub tests_at_base: Vec<RepoPath>,
    /// Files that differ from HEAD.
    pub dirt: Vec<RepoPath>,
    /// The commit before the family's first attempt, if that is known.
    pub base: Option<Oid>,
    /// The commit that is judged, if it is one.
    pub head: Option<Oid>,
}

impl GatePackage {
    /// True for a line of a file that the family changed, where that is known.
    pub(crate) fn has_changed(&self, file: &RepoPath, line: u32) -> bool {
        match self.lines.get(file) {
            None => false,
            Some(ChangedLines::Whole) => true,
            Some(ChangedLines::Ranges(ranges)) => scope::is_among(ranges, line),
        }
    }
}

/// Access of a gate to the outside.
pub struct GatePorts<'a> {
    /// Starts its processes.
    pub spawn: &'a dyn Spawn,
    /// Receives the progress, one phrase at a time, from any thread.
    pub progress: &'a (dyn Fn(&str) + Sync),
    /// Leads to other commits of the packages.
    pub checkouts: &'a dyn Checkouts,
}

/// Other commits of the packages that a gate judges.
pub trait Checkouts: Sync {
    /// Returns a checkout of a package from before the family's first attempt.
    ///
    /// `None` if it did not exist, or if the gate works in place. An error is a whole sentence.
    fn check_out_base(&self, package: &str) -> Result<Option<PathBuf>, String>;

    /// The path of a package's folder in its repository; empty for one that is a repository, or where that is not known.
    fn in_repository(&self, _root: &Path) -> PathBuf {
        PathBuf::new()
    }

    /// Makes the folder `copy` a repository: that of the package at `root`, with the judged commit as its HEAD. It does not
    /// name the workspace.
    fn add_repository(&self, _root: &Path, _copy: &Path) -> io::Result<()> {
        Ok(())
    }

    /// Returns the state of the checkout's outputs for the build of this key.
    fn output_state(&self, _key: &str) -> OutputState {
        OutputState::Nothing
    }

    /// True if a change of Java files alone can leave outputs that are used again: in a private checkout of one module.
    fn keeps_java_outputs(&self) -> bool {
        false
    }

    /// Removes the outputs below a package's folder: a build is about to begin there.
    fn clear_outputs(&self, _root: &Path) -> io::Result<()> {
        Ok(())
    }

    /// A digest of the paths and contents of the commit's files in a package's folder that are neither Java nor ralph's; `None`
    /// if the gate works in place.
    fn other_files(&self, _root: &Path) -> Option<String> {
        None
    }

    /// The files of a package that tests or mutants left otherwise than a build found them; puts them right if they are
    /// `judged`: known to have killed nothing.
    fn written_files(&self, _root: &Path, _judged: bool) -> io::Result<Vec<RepoPath>> {
        Ok(Vec::new())
    }

    /// Called after a build that succeeded.
    fn note_build(&self, _build: &Build) {}
}

/// Relation of outputs to the sources in the same checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutputState {
    /// Made of these sources: nothing is to be built.
    Current,
    /// Made of what differs from them in Java files of one module alone.
    Java(ChangedJava),
    /// Made of something else, or unknown.
    Nothing,
}

/// Java files that differ from those that outputs were made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedJava {
    /// By their path below `src/main/java`; removed ones too.
    pub main: BTreeSet<PathBuf>,
    /// By their path below `src/test/java`; removed ones too.
    pub tests: BTreeSet<PathBuf>,
}

/// A module's build: its inputs and its outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// A digest of the folder, its files that are not Java, the arguments, the class path, the JDK and Maven.
    pub key: String,
    /// The folders of its classes, absolute.
    pub folders: Vec<PathBuf>,
    /// The digest of the class files in them.
    pub digest: String,
}

/// No other commits are at hand.
#[derive(Clone, Copy, Debug)]
pub struct NoCheckouts;

impl Checkouts for NoCheckouts {
    fn check_out_base(&self, _package: &str) -> Result<Option<PathBuf>, String> {
        Ok(None)
    }
}

/// Returns the number of processes that a gate may use.
pub(crate) fn job_count(settings: &GateSettings) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if settings.jobs == 0 {
        processors
    } else {
        settings.jobs
    }
}

/// The rule that the scores must follow.
pub(crate) fn score_rule(settings: &GateSettings) -> Rule {
    Rule {
        threshold: settings.threshold,
        per: settings.per,
        no_coverage: settings.no_coverage,
    }
}

/// Cause that ends a module, package or gate early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GateAbort {
    /// The family's fault.
    Fail {
        /// Whole sentences.
        reasons: Vec<String>,
    },
    /// No verdict is possible.
    Error {
        /// A whole sentence.
        why: String,
        /// The next action.
        hint: String,
        /// It may pass by itself.
        transient: bool,
    },
}

impl GateAbort {
    pub(crate) fn fail(reason: String) -> Self {
        Self::Fail {
            reasons: vec![reason],
        }
    }

    pub(crate) fn setup(why: String, hint: impl Into<String>) -> Self {
        Self::Error {
            why,
            hint: hint.into(),
            transient: false,
        }
    }

    pub(crate) fn transient(why: String, hint: impl Into<String>) -> Self {
        Self::Error {
            why,
            hint: hint.into(),
            transient: true,
        }
    }
}

impl From<io::Error> for GateAbort {
    /// The disk does not obey.
    fn from(error: io::Error) -> Self {
        let why = text::line(&error.to_string(), 300);
        Self::transient(
            format!("I/O error: {}.", why.trim_end_matches('.')),
            "Look for a full disk or missing rights, then run the gate again.",
        )
    }
}
