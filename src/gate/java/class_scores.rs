//! From the mutants that PIT counted to the scores of the target classes.

use super::report::{CountedMutants, PitReport};
use crate::gate::GatePackage;
use crate::gate::commands::read_text;
use crate::gate::scope::{MutationExtent, TargetClass};
use crate::gate::verdict::{JudgedClass, MAX_SOURCE, ModuleResult};
use crate::mutation::{ClassScore, Floor, MutantStatus};
use crate::source::text;
use std::collections::BTreeSet;

/// The score of a target: of its changed lines where the score at its base is known and binds the class as a whole.
pub(crate) fn score_target(target: &TargetClass, counted: &CountedMutants) -> ClassScore {
    ClassScore {
        package: target.package.clone(),
        path: target.path.clone(),
        class: target.class.clone(),
        tally: if counted.floor.is_some() && !counted.is_whole {
            counted.changed_tally()
        } else {
            counted.tally()
        },
        floor: counted.floor.map(|base| Floor {
            whole: counted.tally(),
            base,
        }),
    }
}

impl ModuleResult {
    /// Takes over the counts of a package's targets.
    pub(crate) fn add_scores(
        &mut self,
        targets: &[TargetClass],
        report: &PitReport,
        package: &GatePackage,
    ) {
        for target in targets {
            let Some(counted) = report.classes.get(&target.class) else {
                self.nothing.insert(match target.extent {
                    MutationExtent::Lines(_) => format!("the changed lines of {}", target.class),
                    _ => target.class.clone(),
                });
                continue;
            };
            let errors = list_places(
                counted,
                &[MutantStatus::RunError, MutantStatus::MemoryError],
            );
            if !errors.is_empty() {
                self.remarks.push(format!(
                    "Mutants of {} that ended in an error of the JVM stay outside the score: {}.",
                    target.class,
                    text::names(&errors, 5)
                ));
            }
            let unjudged = list_places(counted, &[MutantStatus::Unjudged]);
            if !unjudged.is_empty() {
                self.remarks.push(format!(
                    "Code of {} that runs only while a class is initialised cannot be judged: {}; a method that is called later can.",
                    target.class,
                    text::names(&unjudged, 5)
                ));
            }
            let mutants = counted.mutants.values();
            let mutants = mutants.map(|counted| counted.reported.clone());
            let source = read_text(&package.root.join(target.path.to_text()), MAX_SOURCE);
            let score = score_target(target, counted);
            self.judged.push(JudgedClass::new(
                target,
                package,
                score,
                mutants.collect(),
                source,
            ));
        }
    }
}

/// Returns `file:line` of the mutants with these statuses.
fn list_places(counted: &CountedMutants, statuses: &[MutantStatus]) -> BTreeSet<String> {
    let mutants = counted
        .mutants
        .values()
        .map(|counted| &counted.reported.mutant);
    let listed = mutants.filter(|mutant| statuses.contains(&mutant.status));
    listed
        .map(|mutant| format!("{}:{}", mutant.file, mutant.line))
        .collect()
}
