//! Stryker's JSON report (mutation-testing-report-schema 1 and 2).
//!
//! A report that is absent, cut, too large or of another shape is an error; so is a mutant that was not tested.

use crate::gate::GateAbort;
use crate::gate::files::{FileMutant, Place, Position, Work};
use crate::mutation::MutantStatus;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

const ENGINE: &str = "StrykerJS";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    files: BTreeMap<String, File>,
    #[serde(default)]
    test_files: BTreeMap<String, TestFile>,
}

#[derive(Deserialize)]
struct File {
    mutants: Vec<Mutant>,
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
struct Mutant {
    id: String,
    mutator_name: String,
    location: Place,
    status: Status,
    #[serde(default)]
    replacement: Option<String>,
    #[serde(default)]
    covered_by: Vec<String>,
}

#[derive(Clone, Copy, Deserialize)]
enum Status {
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
pub(super) fn read(path: &Path, work: &Work<'_>) -> Result<BTreeMap<String, Vec<FileMutant>>, GateAbort> {
    let report = work.json(ENGINE, path)?;
    let report: Report = report.ok_or_else(|| work.unclear(ENGINE, "it left no report"))?;
    let tests: BTreeMap<String, String> = report
        .test_files
        .into_values()
        .flat_map(|file| file.tests)
        .map(|test| (test.id, test.name))
        .collect();
    let mut files = BTreeMap::new();
    for (path, file) in report.files {
        let lines: Vec<&str> = file.source.lines().collect();
        let mutants =
            file.mutants.iter().map(|mutant| mutant.judged(&path, &lines, &tests)).collect::<Option<_>>();
        let mutants = mutants.ok_or_else(|| work.unclear(ENGINE, "some mutants were not tested"))?;
        files.insert(path, mutants);
    }
    Ok(files)
}

impl Mutant {
    /// `None` if it was not tested.
    fn judged(&self, path: &str, lines: &[&str], tests: &BTreeMap<String, String>) -> Option<FileMutant> {
        let status = match self.status {
            Status::Killed => MutantStatus::Killed,
            Status::Survived => MutantStatus::Survived,
            Status::NoCoverage => MutantStatus::NoCoverage,
            Status::Timeout => MutantStatus::TimedOut,
            Status::CompileError => MutantStatus::NonViable,
            Status::RuntimeError => MutantStatus::RunError,
            Status::Ignored => MutantStatus::Unjudged,
            Status::Pending => return None,
        };
        let description = match &self.replacement {
            Some(new) => self.location.change(lines, new),
            None => self.mutator_name.clone(),
        };
        let Position { line, column } = self.location.start;
        Some(FileMutant {
            id: format!("{path}:{line}:{column} {} {}", self.mutator_name, self.id),
            line,
            function: String::new(),
            mutator: self.mutator_name.clone(),
            description,
            status,
            tests: self.covered_by.iter().filter_map(|id| tests.get(id).cloned()).collect(),
        })
    }
}
