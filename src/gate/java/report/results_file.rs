//! The results file of a run. Ralph's plugin writes it in PIT's own process as that ends.
//!
//! It is one JSON document and its seal. The document is an array of arrays, each in the order of the fields of a type here. The
//! seal needs a key that no test can know, so nothing that tests write or print is read, and every strict prefix is an error.

use super::counted::MutantId;
use super::{Aim, CountedMutant, FailingTest, Owners, PitReport, top_level};
use crate::mutation::{Mutant, MutantStatus};
use crate::report::standard::ReportedMutant;
use crate::source::text;
use crate::sys::disk::read_beginning;
use crate::task;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read as _};
use std::path::Path;

/// The file's name in the folder of a run.
const FILE: &str = "results.json";
/// Largest file that is read.
const MAX_BYTES: u64 = 1 << 30;
/// Most mutants of one run.
const MAX_MUTANTS: usize = 200_000;

/// The progress of PIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PitStage {
    /// The tests were running without mutation.
    Tests,
    /// The tests had all run.
    Mutants,
    /// PIT came to its end.
    Done,
}

/// A results file that is whole.
#[derive(Debug, Deserialize)]
pub(crate) struct PitResults {
    pub(crate) stage: PitStage,
    /// PIT's own words for why it gave up, or nothing.
    pub(crate) failure: String,
    tests: Vec<TestResult>,
    controls: Vec<ControlResult>,
    mutants: Vec<MutantResult>,
}

/// A test without mutation.
#[derive(Debug, Deserialize)]
struct TestResult {
    class: String,
    name: String,
    is_green: bool,
    millis: u64,
    /// For a map, the top-level classes that it executed and no earlier test of its class.
    executed: Vec<String>,
}

/// A control. The plugin takes it out of PIT's own results.
#[derive(Debug, Deserialize)]
struct ControlResult {
    class: String,
    status: String,
    killer: (String, String),
}

/// A mutant.
#[derive(Debug, Deserialize)]
struct MutantResult {
    id: MutantId,
    file: String,
    line: u32,
    status: MutantStatus,
    /// Class and name of the test that killed it, empty where none did.
    killer: (String, String),
    description: String,
    /// Its code runs while its class is initialised, and perhaps never again.
    is_initial: bool,
    /// The number of test classes that reach it, if it lives, and some of them.
    reached_by: u64,
    test_classes: Vec<String>,
}

/// The secret of one run, in hexadecimal digits: the plugin learns it before any test runs.
#[derive(Debug)]
pub(crate) struct SealKey(String);

impl SealKey {
    /// A new key.
    pub(crate) fn new() -> io::Result<Self> {
        let mut bytes = [0; 32];
        fs_err::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self(task::digest(&bytes)))
    }

    pub(crate) fn key_text(&self) -> &str {
        &self.0
    }

    #[cfg(test)]
    pub(crate) fn for_test(text: &str) -> Self {
        Self(text.to_owned())
    }

    fn compute_seal(&self, document: &[u8]) -> String {
        // The key comes last: a digest that begins with a key can be continued without knowing the key.
        task::digest(&[document, self.0.as_bytes()].concat())
    }

    /// A file with this content and its seal, as the plugin writes it.
    #[cfg(test)]
    pub(crate) fn seal_document(&self, document: &str) -> String {
        format!("{document}{}", self.compute_seal(document.as_bytes()))
    }
}

impl PitResults {
    /// Reads the file in the folder of a run. An error is a phrase that names the first fault.
    pub(crate) fn read_file(folder: &Path, key: &SealKey) -> Result<Self, String> {
        let bytes = read_beginning(&folder.join(FILE), MAX_BYTES)
            .map_err(|error| text::line(&error.to_string(), 300))?;
        Self::parse(&bytes.ok_or_else(|| format!("there is no {FILE}"))?, key)
    }

    pub(super) fn parse(bytes: &[u8], key: &SealKey) -> Result<Self, String> {
        let sealed = bytes.split_last_chunk::<64>();
        let document = sealed
            .filter(|(document, seal)| key.compute_seal(document).as_bytes() == *seal)
            .ok_or_else(|| format!("{FILE} is not whole, or PIT's own process did not write it"))?
            .0;
        let results: Self = serde_json::from_slice(document)
            .map_err(|error| text::line(&error.to_string(), 300))?;
        if results.mutants.len() > MAX_MUTANTS {
            return Err(format!("{FILE} has more than {MAX_MUTANTS} mutants"));
        }
        Ok(results)
    }

    /// Counts the mutants of the classes to mutate; `is_changed` is true for a line (target class, bare file name, 1-based line)
    /// that the family changed.
    pub(crate) fn count_mutants(
        self,
        owners: &Owners,
        is_changed: &dyn Fn(&str, &str, u32) -> bool,
        aim: Aim,
    ) -> Result<PitReport, String> {
        let mut report = PitReport::default();
        for test in self.tests {
            report.add_test(test);
        }
        // By the dotted name of the mutated class.
        let mut passed = BTreeSet::new();
        let mut unclear = BTreeSet::new();
        let mut failed = BTreeMap::new();
        for control in self.controls {
            let (class, name) = control.killer;
            match (control.status.as_str(), class.is_empty()) {
                ("SURVIVED", true) => passed.insert(control.class),
                ("KILLED", false) => {
                    let test = FailingTest::new(&class, &name);
                    failed.insert(control.class, test).is_none()
                }
                _ => unclear.insert(control.class),
            };
        }
        report.unclear = !unclear.is_empty();
        for mutant in self.mutants {
            let class = &mutant.id.class;
            let Some(owner) = find_owner(owners, class) else {
                continue;
            };
            let mut status = match mutant.status {
                // A mutant that the JVM refuses never ran, and a test can have it refused.
                MutantStatus::NonViable => MutantStatus::RunError,
                status => status,
            };
            if aim == Aim::Judge && matches!(status, MutantStatus::Killed | MutantStatus::TimedOut)
            {
                if let Some(test) = failed.get(class) {
                    report.failed_control.insert(test.clone());
                    status = MutantStatus::Survived;
                } else if unclear.contains(class) || !passed.contains(class) {
                    report.uncontrolled.insert(owner.clone());
                }
            }
            // One that lived may not have run.
            if mutant.is_initial && status != MutantStatus::Killed {
                status = MutantStatus::Unjudged;
            }
            let is_changed = is_changed(owner, &mutant.file, mutant.line);
            let counted = report.classes.entry(owner.clone()).or_default();
            let id = mutant.id.clone();
            let mutant = mutant.into_counted(status, is_changed);
            if counted.mutants.insert(id, mutant).is_some() {
                return Err(format!("{FILE} names a mutant twice"));
            }
        }
        Ok(report)
    }
}

impl PitReport {
    fn add_test(&mut self, test: TestResult) {
        self.coverage_millis = self.coverage_millis.saturating_add(test.millis);
        if !test.is_green {
            self.left_out
                .insert(FailingTest::new(&test.class, &test.name));
        }
        let class = top_level(&test.class);
        for executed in test.executed {
            let tests = self.executed.classes.entry(executed).or_default();
            tests.insert(class.to_owned());
        }
        let tests = &mut self.executed.tests;
        *tests.entry(class.to_owned()).or_insert(true) &= test.is_green;
    }
}

impl MutantResult {
    /// The mutant with this status.
    fn into_counted(self, status: MutantStatus, is_changed: bool) -> CountedMutant {
        let mutant = Mutant {
            class: text::line(&self.id.class, 300),
            file: text::line(&self.file, 200),
            line: self.line,
            method: text::line(&self.id.method, 200),
            mutator: mutator_name(&self.id.mutator),
            description: text::line(&self.description, 300),
            status,
            id: String::new(),
        };
        let tests = self.test_classes.iter().take(5);
        let killer = Some(self.killer.0).filter(|class| !class.is_empty());
        CountedMutant {
            reported: ReportedMutant {
                mutant,
                tests: tests.map(|name| text::line(name, 200)).collect(),
                tests_total: self.reached_by,
            },
            is_changed,
            killer: killer.map(|class| top_level(&class).to_owned()),
            ..CountedMutant::default()
        }
    }
}

/// The target that a class belongs to: by its own name, or that of the classes around it.
fn find_owner<'a>(owners: &'a Owners, class: &str) -> Option<&'a String> {
    let outer = class.rmatch_indices('$').map(|(at, _)| &class[..at]);
    let mut names = std::iter::once(class).chain(outer);
    names.find_map(|name| owners.get(name))
}

fn mutator_name(class: &str) -> String {
    let last = class.rsplit(['.', '$']).next().unwrap_or(class);
    text::line(last.strip_suffix("Mutator").unwrap_or(last), 100)
}
