//! `StrykerJS` (9.6 and later) over JavaScript and TypeScript.
//!
//! Settings are ralph's own: a project's stryker.config cannot leave code out, reuse an earlier result or lower a threshold. The
//! test runner is the one whose plugin is installed, else the command `npm test`.
//!
//! Stryker's JSON report is one of mutation-testing-report-schema 1 and 2. A report that is absent, cut, too large or of another
//! shape is an error; so is a mutant that was not tested.

use crate::gate::commands::FinishedCall;
use crate::gate::files::{
    EngineMeasurement, FileEngine, FileLanguage, FileMutant, SourcePosition, SourceSpan, Work,
    find_installed, literal_pattern, source_lines, telling_lines,
};
use crate::gate::{GateAbort, job_count};
use crate::machine::facts::ProcessEnd;
use crate::mutation::MutantStatus;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Test runners with a plugin, the preferred one first.
const RUNNERS: [&str; 6] = ["vitest", "jest", "mocha", "jasmine", "karma", "tap"];

const JAVASCRIPT: FileLanguage = FileLanguage {
    name: "JavaScript",
    extensions: &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"],
    builds: &["package.json"],
    tests: &["{}.test", "{}.spec", "{}-test", "{}_test", "{}-spec", "{}"],
    installed: &["node_modules"],
    outputs: &[".stryker-tmp"],
    hides: &[("Stryker (disable|restore)", "Stryker_$1")],
    tells: &["__stryker__", "__STRYKER_ACTIVE_MUTANT__", "__stryker2__"],
};

/// `StrykerJS`.
pub(crate) struct Stryker;

impl FileEngine for Stryker {
    fn file_language(&self) -> &'static FileLanguage {
        &JAVASCRIPT
    }

    fn measure_work(&self, work: &Work<'_>) -> Result<EngineMeasurement, GateAbort> {
        let json = work.report.join("mutation.json");
        let settings = json!({
            "mutate": work.files.iter().map(|file| mutation_range(work, file)).collect::<Vec<_>>(),
            "testFiles": work.tests.iter().map(|file| literal_pattern(file)).collect::<Vec<_>>(),
            "reporters": ["json", "html"],
            "jsonReporter": { "fileName": json },
            "htmlReporter": { "fileName": work.report.join("index.html") },
        });
        let call = run_stryker(work, "stryker", settings, &[])?;
        match not_green(work, &call)? {
            // Only tests that load a mutated file run, and none need load one that holds only types.
            Some(EngineMeasurement::NoTests) if call.output.contains(" with 0 mutant(s)") => {
                return work.tests_alone(self);
            }
            Some(ended) => return Ok(ended),
            None => {}
        }
        read_report(&json, work).map(EngineMeasurement::Mutants)
    }

    fn engine_name(&self) -> &'static str {
        ENGINE
    }

    fn passes_without(&self, work: &Work<'_>) -> Result<bool, GateAbort> {
        let Some(argv) = own_command(work) else {
            return self.is_green(work);
        };
        // With `CI` no runner waits for changes.
        let call = work.run_in_module("tests", argv, &[])?;
        Ok(call.end == (ProcessEnd::Exited { code: 0 }) || self.is_green(work)?)
    }

    fn is_green(&self, work: &Work<'_>) -> Result<bool, GateAbort> {
        let call = run_stryker(
            work,
            "stryker-tests",
            json!({
                "reporters": [],
                "testFiles": work.tests.iter().map(|file| literal_pattern(file)).collect::<Vec<_>>(),
            }),
            &["--dryRunOnly"],
        )?;
        match not_green(work, &call)? {
            Some(EngineMeasurement::Red(_)) => Ok(false),
            _ => Ok(true),
        }
    }

    /// Of the runners those that were tried.
    fn chooses_tests(&self, module: &Path, homes: &[PathBuf]) -> bool {
        find_runner(module, homes) == Some("vitest")
    }
}

/// What is mutated of a file: where lines are known, from the first of them on, since Stryker would leave out a block that only
/// begins on them.
fn mutation_range(work: &Work<'_>, file: &str) -> String {
    let pattern = literal_pattern(file);
    let first = work
        .lines
        .get(file)
        .and_then(|ranges| ranges.iter().map(|(first, _)| *first).min());
    match first {
        // Lines cannot be given with a pattern.
        Some(first) if pattern == file => {
            format!(
                "{file}:{first}-{}",
                source_lines(&work.folder.join(file)).len() + 1
            )
        }
        _ => pattern,
    }
}

/// Runs Stryker with these settings added to those of every run.
fn run_stryker(
    work: &Work<'_>,
    name: &str,
    settings: Value,
    arguments: &[&str],
) -> Result<FinishedCall, GateAbort> {
    let Some(stryker) = find_installed(&work.homes, &["node_modules/.bin/stryker"]) else {
        return Err(GateAbort::setup(
            format!("StrykerJS is not installed in {}.", work.label),
            "Run `npm install --save-dev @stryker-mutator/core` there, with the plugin of its test runner (`@stryker-mutator/vitest-runner`), and commit package.json and the lock file.",
        ));
    };
    work.check_place(ENGINE, &stryker)?;
    let runner = find_runner(&work.folder, &work.homes);
    let mut all = json!({
        "testRunner": runner.unwrap_or("command"),
        "coverageAnalysis": if runner.is_some() { "perTest" } else { "off" },
        "concurrency": job_count(work.settings),
        "incremental": false,
        "ignoreStatic": false,
        "thresholds": { "high": 80, "low": 60, "break": null },
        "allowConsoleColors": false,
        // The copy is Stryker's alone. In a sandbox of its own tests would find no repository.
        "inPlace": true,
        "tempDirName": work.output.join("sandbox"),
        "cleanTempDir": "always",
    });
    if let (Some(all), Value::Object(settings)) = (all.as_object_mut(), settings) {
        all.extend(settings);
    }
    let file = work.output.join("stryker.json");
    fs_err::write(&file, all.to_string())?;
    let mut argv = vec![
        stryker.display().to_string(),
        "run".to_owned(),
        file.display().to_string(),
    ];
    argv.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    work.run_in_module(name, argv, &[])
}

/// The project's command for its tests: `npm test` if there is one, else the test runner.
fn own_command(work: &Work<'_>) -> Option<Vec<String>> {
    let package = crate::gate::commands::read_text(&work.folder.join("package.json"), 1 << 20);
    let package: Value = serde_json::from_str(&package).unwrap_or_default();
    if package["scripts"]["test"].is_string() && work.commands.find_program("npm").is_some() {
        return Some(vec!["npm".to_owned(), "test".to_owned()]);
    }
    let runner = find_runner(&work.folder, &work.homes)?;
    let program = find_installed(&work.homes, &[&format!("node_modules/.bin/{runner}")])?
        .display()
        .to_string();
    match runner {
        "vitest" => Some(vec![program, "run".to_owned()]),
        "jest" | "mocha" | "jasmine" | "tap" => Some(vec![program]),
        _ => None,
    }
}

/// The runner whose plugin is installed; with several, one that the module's package.json names.
fn find_runner(module: &Path, homes: &[PathBuf]) -> Option<&'static str> {
    let named = crate::gate::commands::read_text(&module.join("package.json"), 1 << 20);
    let installed: Vec<&&str> = RUNNERS
        .iter()
        .filter(|runner: &&&str| {
            find_installed(
                homes,
                &[&format!("node_modules/@stryker-mutator/{runner}-runner")],
            )
            .is_some()
        })
        .collect();
    installed
        .iter()
        .find(|runner: &&&&str| named.contains(&format!("\"{runner}\"")))
        .or(installed.first())
        .map(|runner| **runner)
}

/// How a run ended that left no mutants to count; `None` if it came to its end.
fn not_green(work: &Work<'_>, call: &FinishedCall) -> Result<Option<EngineMeasurement>, GateAbort> {
    if call.end == (ProcessEnd::Exited { code: 0 }) {
        return Ok(None);
    }
    if call
        .output
        .contains("There were failed tests in the initial test run")
    {
        // A line with one tab for each, below a sentence that says so.
        let below = call
            .output
            .split_once("failed in the initial test run")
            .map_or("", |(_, below)| below);
        let failed = telling_lines(below, |line| {
            line.starts_with('\t') && !line.starts_with("\t\t")
        });
        return Ok(Some(EngineMeasurement::Red(failed)));
    }
    if call.output.contains("No tests were executed") || call.output.contains("No tests were found")
    {
        return Ok(Some(EngineMeasurement::NoTests));
    }
    // Node ends a crash with the second form.
    let errors = telling_lines(&call.output, |line| {
        line.contains("ERROR") || line.starts_with("Error: ")
    });
    Err(work.no_verdict(ENGINE, call, &errors, "npx stryker run"))
}

const ENGINE: &str = "StrykerJS";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StrykerReport {
    files: BTreeMap<String, File>,
    #[serde(default)]
    test_files: BTreeMap<String, TestFile>,
}

#[derive(Deserialize)]
struct File {
    mutants: Vec<StrykerMutant>,
    source: String,
}

#[derive(Deserialize)]
struct TestFile {
    tests: Vec<Test>,
}

#[derive(Deserialize)]
struct Test {
    id: String,
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StrykerMutant {
    id: String,
    mutator_name: String,
    location: SourceSpan,
    status: StrykerStatus,
    #[serde(default)]
    replacement: Option<String>,
    #[serde(default)]
    covered_by: Vec<String>,
}

#[derive(Clone, Copy, Deserialize)]
enum StrykerStatus {
    Killed,
    Survived,
    NoCoverage,
    Timeout,
    CompileError,
    RuntimeError,
    Ignored,
    Pending,
}

/// The mutants of each file of the report.
pub(super) fn read_report(
    path: &Path,
    work: &Work<'_>,
) -> Result<BTreeMap<String, Vec<FileMutant>>, GateAbort> {
    let report = work.read_json_results(ENGINE, path)?;
    let report: StrykerReport =
        report.ok_or_else(|| work.unclear_result(ENGINE, "it left no report"))?;
    let tests: BTreeMap<String, String> = report
        .test_files
        .into_values()
        .flat_map(|file| file.tests)
        .map(|test| (test.id, test.name))
        .collect();
    let mut files = BTreeMap::new();
    for (path, file) in report.files {
        let lines: Vec<&str> = file.source.lines().collect();
        let mutants = file
            .mutants
            .iter()
            .map(|mutant| mutant.to_file_mutant(&path, &lines, &tests))
            .collect::<Option<_>>();
        let mutants =
            mutants.ok_or_else(|| work.unclear_result(ENGINE, "some mutants were not tested"))?;
        files.insert(path, mutants);
    }
    Ok(files)
}

impl StrykerMutant {
    /// `None` if it was not tested.
    fn to_file_mutant(
        &self,
        path: &str,
        lines: &[&str],
        tests: &BTreeMap<String, String>,
    ) -> Option<FileMutant> {
        let status = match self.status {
            StrykerStatus::Killed => MutantStatus::Killed,
            StrykerStatus::Survived => MutantStatus::Survived,
            StrykerStatus::NoCoverage => MutantStatus::NoCoverage,
            StrykerStatus::Timeout => MutantStatus::TimedOut,
            StrykerStatus::CompileError => MutantStatus::NonViable,
            StrykerStatus::RuntimeError => MutantStatus::RunError,
            StrykerStatus::Ignored => MutantStatus::Unjudged,
            StrykerStatus::Pending => return None,
        };
        let description = match &self.replacement {
            Some(new) => self.location.describe_change(lines, new),
            None => self.mutator_name.clone(),
        };
        let SourcePosition { line, column } = self.location.start;
        Some(FileMutant {
            id: format!("{path}:{line}:{column} {} {}", self.mutator_name, self.id),
            line,
            function: String::new(),
            mutator: self.mutator_name.clone(),
            description,
            status,
            tests: self
                .covered_by
                .iter()
                .filter_map(|id| tests.get(id).cloned())
                .collect(),
        })
    }
}
