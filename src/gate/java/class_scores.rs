//! From the mutants that PIT counted to the scores of the target classes.

use super::report::{Counted, PitReport};
use crate::gate::commands::read_text;
use crate::gate::scope::{Extent, Target};
use crate::gate::verdict::{Judged, ModuleResult};
use crate::mutation::{ClassScore, Floor, MutantStatus, Survivor};
use crate::report::standard::{ReportedFile, ReportedMutant};
use crate::source::text;
use std::collections::BTreeSet;
use std::path::Path;

/// Test classes that are named for a survivor.
const TESTS_NAMED: usize = 5;
/// Bytes that are read of a source file, for its lines in a message.
const MAX_SOURCE: u64 = 4 << 20;

/// The score of a target: of its changed lines where the score at its base binds the class as a whole.
pub(crate) fn score(target: &Target, counted: &Counted) -> ClassScore {
    let floor = counted.floor.filter(|_| matches!(target.extent, Extent::Change(_)));
    ClassScore {
        package: target.package.clone(),
        path: target.path.clone(),
        class: target.class.clone(),
        tally: if floor.is_some() { counted.changed } else { counted.tally },
        floor: floor.map(|base| Floor { whole: counted.tally, base }),
    }
}

impl Judged {
    /// `root` is the package's folder.
    fn new(target: &Target, counted: &Counted, root: &Path) -> Self {
        let source_text = read_text(&root.join(target.path.to_text()), MAX_SOURCE);
        let lines: Vec<&str> = source_text.lines().collect();
        let source =
            |line: u32| Some(text::line(lines.get(usize::try_from(line).ok()?.checked_sub(1)?)?, 160));
        let survived = counted.with(&[MutantStatus::Survived, MutantStatus::NoCoverage]);
        let survivors = survived.map(|(_, left)| Survivor {
            package: target.package.clone(),
            path: Some(target.path.clone()),
            source: source(left.mutant.line).unwrap_or_default(),
            changed: left.changed,
            tests: left.tests.iter().take(TESTS_NAMED).cloned().collect(),
            tests_total: left.tests_total,
            ..Survivor::from(left.mutant.clone())
        });
        let survivors_total = counted.tally.survived + counted.tally.no_coverage;
        let settled = counted.settled.iter();
        let settled = settled.map(|mutant| ReportedMutant {
            mutant: mutant.clone(),
            tests: Vec::new(),
            tests_total: 0,
        });
        let left = counted.left.values().map(|left| ReportedMutant {
            mutant: left.mutant.clone(),
            tests: left.tests.clone(),
            tests_total: left.tests_total,
        });
        let mutants = settled.chain(left).collect();
        let survivors = survivors.collect();
        let file = ReportedFile { path: target.full_path(), mutants, source: source_text };
        Self { score: score(target, counted), survivors, survivors_total, file }
    }
}

impl ModuleResult {
    /// Takes over the counts of the targets of a package in this folder; returns those without any mutant.
    pub(crate) fn take<'t>(
        &mut self,
        targets: &'t [Target],
        report: &PitReport,
        root: &Path,
    ) -> Vec<&'t Target> {
        let mut empty = Vec::new();
        for target in targets {
            let Some(counted) = report.classes.get(&target.class) else {
                empty.push(target);
                continue;
            };
            let lines = |statuses: &[MutantStatus]| -> Vec<String> {
                let left = counted.with(statuses);
                left.map(|(_, left)| format!("{}:{}", left.mutant.file, left.mutant.line)).collect()
            };
            let errors = lines(&[MutantStatus::RunError, MutantStatus::MemoryError]);
            if !errors.is_empty() {
                self.remarks.push(format!(
                    "Mutants of {} that ended in an error of the JVM stay outside the score: {}.",
                    target.class,
                    text::names(errors.iter().map(String::as_str), 5)
                ));
            }
            let unjudged: BTreeSet<String> = lines(&[MutantStatus::Unjudged]).into_iter().collect();
            if !unjudged.is_empty() {
                self.remarks.push(format!(
                    "Code of {} that runs only while a class is initialised cannot be judged: {}; a method that is called later can.",
                    target.class,
                    text::names(unjudged.iter().map(String::as_str), 5)
                ));
            }
            self.judged.push(Judged::new(target, counted, root));
        }
        empty
    }
}
