//! What cargo-mutants keeps of a run: `mutants.json`, all that it means to test, then `outcomes.json`, what came of each.
//!
//! Results that are absent, cut, too large or of another shape are an error; so is a mutant that was not tested.

use crate::gate::GateAbort;
use crate::gate::files::{FileMutant, Place, Work, source_lines};
use crate::mutation::MutantStatus;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::collections::BTreeMap;
use std::path::Path;

const ENGINE: &str = "cargo-mutants";

const NOT_TESTED: &str = "some mutants were not tested";

#[derive(Deserialize)]
struct Outcomes {
    outcomes: Vec<Outcome>,
}

#[derive(Deserialize)]
struct Outcome {
    scenario: Scenario,
    summary: Summary,
}

#[derive(Deserialize)]
enum Scenario {
    Baseline,
    Mutant(Mutant),
}

#[derive(Deserialize)]
enum Summary {
    Success,
    CaughtMutant,
    MissedMutant,
    Unviable,
    Failure,
    Timeout,
}

#[derive(Deserialize)]
struct Mutant {
    name: String,
    /// From the root of the Cargo workspace.
    file: String,
    function: Option<Function>,
    span: Place,
    replacement: String,
    genre: String,
}

#[derive(Deserialize)]
struct Function {
    function_name: String,
}

/// The mutants of each file of the module that has some; `above` is its folder in the Cargo workspace.
pub(super) fn read(
    folder: &Path,
    work: &Work<'_>,
    above: &str,
) -> Result<BTreeMap<String, Vec<FileMutant>>, GateAbort> {
    let all: Vec<IgnoredAny> = parsed(&folder.join("mutants.json"), work)?;
    let mut files: BTreeMap<String, Vec<FileMutant>> = BTreeMap::new();
    if all.is_empty() {
        return Ok(files);
    }
    let Outcomes { outcomes } = parsed(&folder.join("outcomes.json"), work)?;
    let mut sources: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Outcome { scenario, summary } in outcomes {
        let Scenario::Mutant(mutant) = scenario else { continue };
        let status = status(&summary).ok_or_else(|| work.unclear(ENGINE, NOT_TESTED))?;
        let Some(file) = mutant.file.strip_prefix(above).map(str::to_owned) else { continue };
        let lines = sources.entry(file.clone()).or_insert_with(|| source_lines(&work.folder.join(&file)));
        let found = mutant.judged(status, lines);
        files.entry(file).or_default().push(found);
    }
    let tested: usize = files.values().map(Vec::len).sum();
    if tested == all.len() { Ok(files) } else { Err(work.unclear(ENGINE, NOT_TESTED)) }
}

fn status(summary: &Summary) -> Option<MutantStatus> {
    match summary {
        Summary::CaughtMutant => Some(MutantStatus::Killed),
        Summary::MissedMutant => Some(MutantStatus::Survived),
        Summary::Timeout => Some(MutantStatus::TimedOut),
        Summary::Unviable => Some(MutantStatus::NonViable),
        Summary::Success | Summary::Failure => None,
    }
}

fn parsed<T: DeserializeOwned>(path: &Path, work: &Work<'_>) -> Result<T, GateAbort> {
    work.json(ENGINE, path)?.ok_or_else(|| work.unclear(ENGINE, "it left no results"))
}

impl Mutant {
    fn judged(self, status: MutantStatus, lines: &[String]) -> FileMutant {
        FileMutant {
            line: self.span.start.line,
            function: self.function.map_or_else(String::new, |function| function.function_name),
            mutator: self.genre,
            description: self.span.change(lines, &self.replacement),
            id: self.name,
            status,
            tests: Vec::new(),
        }
    }
}
