//! Open gates that will have nothing to judge.

use super::engines::measures_with;
use super::{Inspection, InspectionFinding, Package, State, Workspace};
use crate::config::GateSettings;
use crate::gate::mutation_test::MutationEngine;
use crate::machine::choice::is_required_open;
use crate::machine::hierarchy;
use crate::machine::state::SpecState;
use crate::source::Kind;
use crate::source::text::{self, count};
use crate::task::{Row, Stage, TaskKey};
use std::collections::HashSet;

/// The settings of the gate of an open box that measures Java.
pub(super) fn open_java_gate<'w>(workspace: &'w Workspace, row: &Row) -> Option<&'w GateSettings> {
    let is_open = row.key.stage.is_gate() && !row.mark.is_done();
    let gate = workspace
        .settings
        .gates
        .get(row.key.stage.stage_word())
        .filter(|_| is_open)?;
    (gate.run.is_none() && measures_with(row.key.stage.stage_word(), MutationEngine::Pit))
        .then_some(gate)
}

/// Open gates over work that was done before ralph ran: what it changed is not known.
pub(super) fn of_old_work(state: &State, shown: &str) -> Vec<InspectionFinding> {
    let book = state.spec_state();
    let mut findings = Vec::new();
    for row in &book.rows {
        let gate = &row.key;
        if !gate.stage.is_gate() || !is_required_open(row) || !judges_only_old(book, gate) {
            continue;
        }
        let what = format!(
            "`{gate}` judges work that was done before ralph ran: what it changed is not known, and a run \
             stops there without a verdict."
        );
        let hint = format!(
            "`ralph gate {gate} --since REV` judges it, REV being the commit before the work; \
             `ralph accept {gate} --reason …` ticks it."
        );
        findings.push(
            InspectionFinding::new_error("gate-of-old-work", shown, what, hint)
                .into_warning()
                .at_line(row.line as usize),
        );
    }
    findings
}

/// True if all work that the gate covers was done before ralph ran.
fn judges_only_old(book: &SpecState, gate: &TaskKey) -> bool {
    let families = hierarchy::covered(book, gate);
    let mut works = families
        .iter()
        .filter_map(|family| hierarchy::work_box(book, family))
        .peekable();
    works.peek().is_some()
        && works.all(|work| {
            book.is_done(&work)
                && book
                    .family(&work.family)
                    .is_none_or(|known| known.changes.is_empty())
        })
}

/// Packages in which a gate that measures Java will find nothing to judge: all, if none has any Java; those with Java
/// files that nothing builds; those with production files and no test, if the gate's task does not write tests first.
pub(super) fn with_nothing_to_judge(
    inspection: &Inspection<'_>,
    packages: &[Package],
) -> Vec<InspectionFinding> {
    let workspace = &inspection.opened.workspace;
    let gates: Vec<&Row> = inspection
        .rows
        .iter()
        .filter(|row| open_java_gate(workspace, row).is_some())
        .collect();
    let is_cut = packages.iter().any(|package| package.is_cut);
    let (Ok(classifier), Some(gate), false) = (workspace.file_classifier(), gates.first(), is_cut)
    else {
        return Vec::new();
    };
    let productive = packages
        .iter()
        .filter(|package| package.has_kind(&classifier, Kind::Production));
    if !packages.iter().any(Package::has_java) {
        let Some(gate) = gates
            .iter()
            .find(|row| Some(row.key.stage.stage_word()) == MutationEngine::Pit.gate_name())
        else {
            return Vec::new();
        };
        let what = format!(
            "Nothing in this package is Java, and `{}` measures nothing else: it will be skipped.",
            gate.key
        );
        let hint =
            "Take the gate out (`ralph place none`), or judge with a command: `gates.<NAME>.run`.";
        return productive
            .map(|package| warn_of_package("no-java", package, &what, hint))
            .collect();
    }
    let settings = open_java_gate(workspace, gate);
    let mut findings = Vec::new();
    for package in packages {
        if settings.is_some_and(|gate| package.is_built_by(gate)) {
            continue;
        }
        let files = package.unbuilt_sources(&classifier);
        let Some(first) = files.first() else { continue };
        let what = format!(
            "No build file (pom.xml) is above {} of this package, such as {}: `{}` and gates like it cannot judge \
             them.",
            count(files.len() as u64, "Java file"),
            text::line(first, 200),
            gate.key
        );
        let hint = "Add the pom.xml, or name what builds them: `gates.<NAME>.classpath_command` (docs/gate.md).";
        findings.push(warn_of_package("no-build-file", package, &what, hint));
    }
    let test_first = inspection
        .rows
        .iter()
        .filter(|row| row.key.stage == Stage::TestFirst);
    let tested: HashSet<&str> = test_first.map(|row| row.key.family.as_str()).collect();
    let Some(gate) = gates
        .iter()
        .find(|row| !tested.contains(row.key.family.as_str()))
    else {
        return findings;
    };
    let bare = productive
        .filter(|package| package.has_java() && !package.has_kind(&classifier, Kind::Test));
    findings.extend(bare.map(|package| {
        let what = format!(
            "This package has production files and no test: `{}` and gates like it leave classes without tests out, \
             so they would judge nothing.",
            gate.key
        );
        let hint = "Begin with tests: `ralph stage` gives tasks a TEST-FIRST stage.";
        warn_of_package("no-tests", package, &what, hint)
    }));
    findings
}

fn warn_of_package(rule: &str, package: &Package, what: &str, hint: &str) -> InspectionFinding {
    InspectionFinding::new_error(rule, package.name.clone(), what, hint).into_warning()
}
