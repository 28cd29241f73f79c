//! Mutation testing of files, for engines that know no classes: which files count, a copy to work in, the score of each.
//!
//! Promises: a changed production file of the language is judged, or left out with its reason; an engine runs in a fresh copy
//! of the package, so that no report, cache or setting of an earlier run counts; comments and attributes that hide code from it are
//! not obeyed; a mutant without a verdict is never a kill; tests that fail without any mutation are the family's fault unless they
//! failed before its work.

mod copy;
mod place;
mod run;
mod scope;

pub(crate) use copy::copy;
pub(crate) use place::Place;
pub(crate) use run::{judge, scope_of};

use super::GateAbort;
use super::commands::Commands;
use crate::config::GateSettings;
use crate::mutation::MutantStatus;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What is known of a language by the names of its files.
pub(crate) struct Language {
    /// Its name, for people.
    pub(crate) name: &'static str,
    /// Endings of its sources.
    pub(crate) extensions: &'static [&'static str],
    /// Files that make their folder a module.
    pub(crate) builds: &'static [&'static str],
    /// Names of the tests of a file, without their ending; `{}` is its own name, which alone stands for a test in a folder
    /// of tests. None where a file may hold its own tests: then each file counts.
    pub(crate) tests: &'static [&'static str],
    /// Folders of what is installed, which no commit holds.
    pub(crate) installed: &'static [&'static str],
    /// Files and folders that tools made, of which nothing may count.
    pub(crate) outputs: &'static [&'static str],
    /// Words that hide code from the engine, each with one that means nothing to it.
    pub(crate) hides: &'static [(&'static str, &'static str)],
    /// Words by which a program could know that it is mutated.
    pub(crate) tells: &'static [&'static str],
}

/// An engine that mutates files.
pub(crate) trait FileEngine {
    /// The name of its gate.
    fn gate(&self) -> &'static str;
    /// What it mutates.
    fn language(&self) -> &'static Language;
    /// Mutates the files of the work, and runs the tests of its module.
    fn measure(&self, work: &Work<'_>) -> Result<Measured, GateAbort>;
    /// Runs the tests of the module alone; false if one fails.
    fn is_green(&self, work: &Work<'_>) -> Result<bool, GateAbort>;
}

/// One module, copied for an engine.
pub(crate) struct Work<'a> {
    /// Starts its programs.
    pub(crate) commands: &'a Commands<'a>,
    /// The gate's settings.
    pub(crate) settings: &'a GateSettings,
    /// `<package>/<folder>` for messages.
    pub(crate) label: String,
    /// The module in the copy.
    pub(crate) folder: PathBuf,
    /// The folders in which something may be installed, from the module in the package's own folder upward to the package.
    pub(crate) homes: Vec<PathBuf>,
    /// Paths of the files in the module.
    pub(crate) files: Vec<String>,
    /// An empty folder for what the engine writes beside the copy.
    pub(crate) output: PathBuf,
    /// A folder whose content people find afterwards.
    pub(crate) report: PathBuf,
}

impl Work<'_> {
    /// The nearest of these paths that is installed for the module.
    pub(crate) fn installed(&self, paths: &[&str]) -> Option<PathBuf> {
        let all = self.homes.iter().flat_map(|home| paths.iter().map(move |path| home.join(path)));
        all.into_iter().find(|path| path.exists())
    }

    /// How many processes it may use.
    pub(crate) fn jobs(&self) -> usize {
        super::jobs(self.settings)
    }
}

/// The lines of a source file; none if it cannot be read.
pub(crate) fn source_lines(path: &Path) -> Vec<String> {
    let text = super::commands::read_text(path, MAX_SOURCE);
    text.lines().map(str::to_owned).collect()
}

/// Bytes that are read of a source file.
const MAX_SOURCE: u64 = 4 << 20;

/// What an engine found.
pub(crate) enum Measured {
    /// The mutants of each file; one that is absent has none.
    Mutants(BTreeMap<String, Vec<FileMutant>>),
    /// These tests fail without any mutation; sentences or names, bounded.
    Red(Vec<String>),
    /// There was no test to run.
    NoTests,
}

/// A mutant of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileMutant {
    /// The engine's name of it.
    pub(crate) id: String,
    /// 1-based line in the file.
    pub(crate) line: u32,
    /// The function that holds it; empty if that is not known.
    pub(crate) function: String,
    /// The kind of change, in the engine's words.
    pub(crate) mutator: String,
    /// The change itself.
    pub(crate) description: String,
    /// What became of it.
    pub(crate) status: MutantStatus,
    /// The tests that reach it.
    pub(crate) tests: Vec<String>,
}
