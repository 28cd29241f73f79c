//! Mutation testing of files, for engines that know no classes: which files count, a copy to work in, the score of each.
//!
//! Promises: a changed production file of the language is judged, or left out with its reason; an engine runs in a fresh copy
//! of the package, so that no report, cache or setting of an earlier run counts; comments and attributes that hide code from it are
//! not obeyed; a mutant without a verdict is never a kill; tests that fail without any mutation are the family's fault unless they
//! failed before its work, or pass where the engine has no part in it. The copy is a repository at the judged commit.

mod copy;
mod loaded;
mod made;
mod run;
mod scope;

pub(crate) use copy::copy_package;
pub(crate) use run::{judge_packages, scope_of};

use super::commands::{Commands, FinishedCall};
use super::leftovers::TestPlace;
use super::{GateAbort, GatePackage};
use crate::config::GateSettings;
use crate::machine::facts::ProcessEnd;
use crate::mutation::MutantStatus;
use crate::source::text;
use crate::sys::disk::read_beginning;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Properties of a language that follow from the names of its files.
pub(crate) struct FileLanguage {
    pub(crate) name: &'static str,
    /// Endings of its sources.
    pub(crate) extensions: &'static [&'static str],
    /// Files that make their folder a module.
    pub(crate) builds: &'static [&'static str],
    /// Names of the tests of a file, without their ending.
    ///
    /// `{}` is the file's own name. Alone it marks a test in a folder of tests. Empty where a file
    /// may hold its own tests: then each file counts.
    pub(crate) tests: &'static [&'static str],
    /// Folders of what is installed, which no commit holds.
    pub(crate) installed: &'static [&'static str],
    /// Files and folders that tools made, of which nothing may count.
    pub(crate) outputs: &'static [&'static str],
    /// Patterns of words that hide code from the engine, each with words that mean nothing to it.
    pub(crate) hides: &'static [(&'static str, &'static str)],
    /// Words by which a program could know that it is mutated.
    pub(crate) tells: &'static [&'static str],
}

/// An engine that mutates files.
pub(crate) trait FileEngine {
    /// The language that it mutates.
    fn file_language(&self) -> &'static FileLanguage;
    /// Mutates the files of the work, and runs the tests of its module.
    fn measure_work(&self, work: &Work<'_>) -> Result<EngineMeasurement, GateAbort>;
    fn engine_name(&self) -> &'static str;
    /// Runs the tests of the module alone; false if one fails.
    fn is_green(&self, work: &Work<'_>) -> Result<bool, GateAbort>;
    /// The tests pass as the project runs them itself: what the engine calls failing then fails by its doing.
    fn passes_without(&self, work: &Work<'_>) -> Result<bool, GateAbort> {
        self.is_green(work)
    }
    /// The reason for which a change of a package forbids a verdict.
    fn refuse_package(&self, _package: &GatePackage) -> Option<GateAbort> {
        None
    }
    /// Returns true if the engine can run chosen files of tests.
    fn chooses_tests(&self, _module: &Path, _homes: &[PathBuf]) -> bool {
        false
    }
}

/// One module, copied for an engine.
pub(crate) struct Work<'a> {
    /// Starts its programs.
    pub(crate) commands: &'a Commands<'a>,
    pub(crate) settings: &'a GateSettings,
    /// `<package>/<folder>` for messages.
    pub(crate) label: String,
    /// The module in the copy.
    pub(crate) folder: PathBuf,
    /// The folders in which something may be installed, from the module in the package's own folder upward to the package.
    pub(crate) homes: Vec<PathBuf>,
    /// Paths of the files in the module.
    pub(crate) files: Vec<String>,
    /// Lines by file: only mutants that begin on them count.
    pub(crate) lines: BTreeMap<String, Vec<(u32, u32)>>,
    /// The only files of tests to run, by their paths in the module; empty for all.
    pub(crate) tests: Vec<String>,
    /// The temporary folder and the home of its tests.
    pub(crate) place: Rc<TestPlace>,
    /// An empty folder for files that the engine writes outside of the copy.
    pub(crate) output: PathBuf,
    /// A folder whose content people find afterwards.
    pub(crate) report: PathBuf,
}

impl Work<'_> {
    /// Runs a program in the module, with the temporary folder and the home of its tests.
    pub(crate) fn run_in_module(
        &self,
        name: &str,
        argv: Vec<String>,
        variables: &[(&str, &str)],
    ) -> Result<FinishedCall, GateAbort> {
        let place = self.place.test_variables();
        let mut all: Vec<(&str, &str)> = place
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        all.extend(variables);
        self.commands.run_program(name, argv, &self.folder, &all)
    }

    /// A FAIL if an engine is a file of the package itself, and not of what is installed in it.
    pub(crate) fn check_place(&self, engine: &str, file: &Path) -> Result<(), GateAbort> {
        let file = fs_err::canonicalize(file)?;
        for home in self.homes.last().into_iter().chain([&self.folder]) {
            let home = fs_err::canonicalize(home)?;
            let Ok(inside) = file.strip_prefix(&home) else {
                continue;
            };
            let is_installed = inside
                .components()
                .any(|part| INSTALLED.iter().any(|name| part.as_os_str() == *name));
            if !is_installed {
                return Err(GateAbort::fail(format!(
                    "{engine} would be {} of {}: a file of the package is no engine.",
                    text::line(&inside.display().to_string(), 300),
                    self.label
                )));
            }
        }
        Ok(())
    }

    /// There is nothing to mutate: what the tests alone say.
    pub(crate) fn tests_alone(
        &self,
        engine: &dyn FileEngine,
    ) -> Result<EngineMeasurement, GateAbort> {
        let green = engine.is_green(self)?;
        Ok(if green {
            EngineMeasurement::Mutants(BTreeMap::new())
        } else {
            EngineMeasurement::Red(Vec::new())
        })
    }

    /// An engine came to no end that counts; `told` is what it said of that.
    pub(crate) fn no_verdict(
        &self,
        engine: &str,
        call: &FinishedCall,
        told: &[String],
        by_hand: &str,
    ) -> GateAbort {
        let end = text::line(&call.end.to_string(), 100);
        let said = if told.is_empty() {
            "its output names no error".to_owned()
        } else {
            told.join(" ")
        };
        GateAbort::setup(
            format!(
                "{engine} gave no verdict on {} ({end}): {said}.",
                self.label
            ),
            format!("Run `{by_hand}` in the package by hand."),
        )
    }

    /// Returns the error for an engine that left no result.
    pub(crate) fn unclear_result(&self, engine: &str, why: &str) -> GateAbort {
        GateAbort::setup(
            format!("{engine} ended without a verdict on {}: {why}.", self.label),
            format!("Look into what {engine} printed, then try again."),
        )
    }

    /// A file of results; `None` if it is absent.
    pub(crate) fn read_results(
        &self,
        engine: &str,
        path: &Path,
    ) -> Result<Option<Vec<u8>>, GateAbort> {
        let bytes = read_beginning(path, MAX_RESULTS + 1)?;
        let is_cut = bytes
            .as_ref()
            .is_some_and(|bytes| bytes.len() as u64 > MAX_RESULTS);
        if is_cut {
            Err(self.unclear_result(engine, "its results are larger than 256 MiB"))
        } else {
            Ok(bytes)
        }
    }

    /// The same, as JSON.
    pub(crate) fn read_json_results<T: DeserializeOwned>(
        &self,
        engine: &str,
        path: &Path,
    ) -> Result<Option<T>, GateAbort> {
        let Some(bytes) = self.read_results(engine, path)? else {
            return Ok(None);
        };
        let read = serde_json::from_slice(&bytes);
        read.map(Some).map_err(|error| {
            let why = text::line(&error.to_string(), 200);
            self.unclear_result(engine, &format!("its results cannot be read ({why})"))
        })
    }
}

/// The nearest of these paths in these folders.
pub(crate) fn find_installed(homes: &[PathBuf], paths: &[&str]) -> Option<PathBuf> {
    let mut all = homes
        .iter()
        .flat_map(|home| paths.iter().map(move |path| home.join(path)));
    all.find(|path| path.exists())
}

/// The largest file of results that is read, bytes.
const MAX_RESULTS: u64 = 256 << 20;
/// Folders of what is installed in a package.
const INSTALLED: [&str; 3] = ["node_modules", ".venv", "venv"];
/// Lines of an output that name tests or causes.
const TOLD: usize = 5;

/// Returns the first lines of an output that explain an error, for people.
pub(crate) fn telling_lines(output: &str, is_told: impl Fn(&str) -> bool) -> Vec<String> {
    output
        .lines()
        .filter(|line| is_told(line))
        .take(TOLD)
        .map(|line| text::line(line, 300))
        .collect()
}

/// An error unless a call printed the name of an engine with a version that is not too old.
pub(crate) fn installed_version(
    call: &FinishedCall,
    engine: &str,
    place: &str,
    oldest: (u32, u32),
    hint: &str,
) -> Result<(), GateAbort> {
    let version = call
        .output
        .lines()
        .find_map(|line| line.strip_prefix(engine)?.strip_prefix(' '));
    let Some(version) = version.filter(|_| call.end == ProcessEnd::Exited { code: 0 }) else {
        return Err(GateAbort::setup(
            format!("{engine} is not installed{place}."),
            hint,
        ));
    };
    if is_older(version, oldest) {
        let (version, (major, minor)) = (text::line(version, 40), oldest);
        let why =
            format!("{engine} {version} is too old for a verdict; {major}.{minor} is the oldest.");
        return Err(GateAbort::setup(why, hint));
    }
    Ok(())
}

/// True for a version before that one, and for what is no version.
pub(crate) fn is_older(version: &str, than: (u32, u32)) -> bool {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) < than
}

/// A path as a pattern that matches it alone.
pub(crate) fn literal_pattern(path: &str) -> String {
    path.chars().fold(String::new(), |mut pattern, c| {
        pattern.extend("*?[]{}()!+@\\".contains(c).then_some('\\'));
        pattern.push(c);
        pattern
    })
}

/// The lines of a source file; none if it cannot be read.
pub(crate) fn source_lines(path: &Path) -> Vec<String> {
    let text = super::commands::read_text(path, super::verdict::MAX_SOURCE);
    text.lines().map(str::to_owned).collect()
}

/// Result of an engine.
pub(crate) enum EngineMeasurement {
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
    pub(crate) description: String,
    pub(crate) status: MutantStatus,
    /// The tests that reach it.
    pub(crate) tests: Vec<String>,
}

/// Characters that are shown of what was replaced.
const SHOWN: usize = 100;

/// From the start to behind the end.
#[derive(Deserialize)]
pub(crate) struct SourceSpan {
    pub(crate) start: SourcePosition,
    end: SourcePosition,
}

/// Both count from 1.
#[derive(Clone, Copy, Deserialize)]
pub(crate) struct SourcePosition {
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl SourceSpan {
    /// Describes the change that the mutant made to these lines.
    pub(crate) fn describe_change(&self, lines: &[impl AsRef<str>], new: &str) -> String {
        match self.replaced_code(lines) {
            old if new.is_empty() => format!("removed `{old}`"),
            old => format!("replaced `{old}` by `{}`", shorten_code(new)),
        }
    }

    /// Returns the mutated source text; of several lines the first, and `…`.
    fn replaced_code(&self, lines: &[impl AsRef<str>]) -> String {
        let Self { start, end } = self;
        let line = (start.line as usize)
            .checked_sub(1)
            .and_then(|index| lines.get(index))
            .map_or("", AsRef::as_ref);
        let from = line.chars().skip((start.column as usize).saturating_sub(1));
        if start.line == end.line {
            shorten_code(
                &from
                    .take(end.column.saturating_sub(start.column) as usize)
                    .collect::<String>(),
            )
        } else {
            format!("{} …", shorten_code(&from.collect::<String>()))
        }
    }
}

fn shorten_code(code: &str) -> String {
    let one = code.split_whitespace().collect::<Vec<_>>().join(" ");
    if one.chars().count() > SHOWN {
        one.chars().take(SHOWN).chain("…".chars()).collect()
    } else {
        one
    }
}
