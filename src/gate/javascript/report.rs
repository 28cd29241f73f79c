//! Stryker's JSON report (mutation-testing-report-schema 1 and 2).
//!
//! A report that is absent, cut, too large or of another shape is an error; so is a mutant that was not tested.

use crate::gate::GateAbort;
use crate::gate::files::{FileMutant, Place, Work};
use crate::mutation::MutantStatus;
use crate::sys::disk::read_beginning;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The largest report that is read, bytes.
const MAX_REPORT: u64 = 256 << 20;

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
    let unclear = |why: &str| {
        GateAbort::setup(
            format!("StrykerJS ended without a verdict on {}: {why}.", work.label),
            "Look into what Stryker printed, then try again.",
        )
    };
    let bytes = read_beginning(path, MAX_REPORT + 1)?.ok_or_else(|| unclear("it left no report"))?;
    if bytes.len() as u64 > MAX_REPORT {
        return Err(unclear("its report is larger than 256 MiB"));
    }
    let report: Report = serde_json::from_slice(&bytes)
        .map_err(|error| unclear(&format!("its report cannot be read ({error})")))?;
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
        files.insert(path, mutants.ok_or_else(|| unclear("some mutants were not tested"))?);
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
        let (line, column) = (self.location.line(), self.location.column());
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
