//! `engine: maven`: the POM's own pitest-maven plugin.
//!
//! No report of an earlier run can count: all are removed first, and exactly one must be there
//! afterwards; a build that succeeds without a report is no verdict.

use super::context::ModuleContext;
use super::pit::{RED, blame, described};
use super::report::{self, FailingTest, Mode, Owners, PitReport};
use crate::gate::GateAbort;
use crate::gate::commands::{Call, fresh_folder};
use crate::gate::verdict::ModuleResult;
use crate::source::text;
use crate::sys::walk::{MAX_ENTRIES, walk};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Deepest folder in which a report is looked for.
const MAX_DEPTH: usize = 13;
const GOAL: &str = "org.pitest:pitest-maven:mutationCoverage";
const SNIPPET: &str = "Add to build/plugins of the POM: <plugin><groupId>org.pitest</groupId><artifactId>pitest-maven</artifactId><version>1.25.9</version><dependencies><dependency><groupId>org.pitest</groupId><artifactId>pitest-junit5-plugin</artifactId><version>1.2.3</version></dependency></dependencies></plugin>, or use engine: direct.";

/// Runs the goal and reads its report.
pub(crate) fn measure(module: &ModuleContext<'_>, result: &mut ModuleResult) -> Result<PitReport, GateAbort> {
    let label = module.label();
    if module.built.project.pitest.is_none() {
        return Err(GateAbort::setup(format!("The POM of {label} does not declare pitest-maven."), SNIPPET));
    }
    module.test_classes()?;
    let owners = module.owners();
    let report = run(module, &owners, result, false)?;
    if report.tally().errors == 0 {
        return Ok(report);
    }
    result.remarks.push(format!(
        "Some mutants of {label} ended in an error of the JVM; the run was repeated with one JVM each."
    ));
    run(module, &owners, result, true)
}

fn run(
    module: &ModuleContext<'_>,
    owners: &Owners,
    result: &mut ModuleResult,
    alone: bool,
) -> Result<PitReport, GateAbort> {
    let label = module.label();
    for stale in reports(&module.maven.home) {
        fs_err::remove_file(&stale)?;
    }
    (module.context.ports.progress)(&format!("Running pitest-maven in {label}"));
    let name = if alone { "pitest-alone" } else { "pitest" };
    let arguments = arguments(owners, module.context.threads, alone);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let call = module.maven.goals(name, &arguments)?;
    if call.output.contains("Skipping project because") {
        let hint = "Remove <skip> and skipPitest from the POM, or use engine: direct.";
        return Err(GateAbort::setup(format!("pitest-maven skipped module {label}."), hint));
    }
    if call.output.contains("No mutations found.") || call.output.contains("as no mutations found") {
        return Ok(PitReport::default());
    }
    if !call.end.is_success() && !is_threshold(&call) {
        return Err(failing_or_trouble(module, &call));
    }
    let found = reports(&module.maven.home);
    let [file] = found.as_slice() else {
        let why = format!("pitest-maven left {} reports in {label} instead of one.", found.len());
        let hint = "Remove <reportsDirectory>, <timestampedReports> and a textual <outputFormats> from the POM, or use engine: direct.";
        return Err(GateAbort::setup(why, hint));
    };
    let report = report::read_file(file, owners, &|_, _, _| false, Mode::Full).map_err(|why| {
        let why = format!("The report of pitest-maven in {label} gives no verdict: {why}.");
        GateAbort::setup(why, "Look at the log in the gate's folder.")
    })?;
    if let Some(folder) = file.parent().filter(|folder| folder.join("index.html").is_file()) {
        let kept = module.folder("report");
        fresh_folder(&kept)?;
        copy(folder, &kept)?;
        result.reports = vec![kept.join("index.html").display().to_string()];
    }
    Ok(report)
}

/// The goal's own thresholds failed the build, after its report was written (a POM's wins over `-D`).
fn is_threshold(call: &Call) -> bool {
    call.output
        .lines()
        .filter(|line| line.contains("Failed to execute goal org.pitest:pitest-maven"))
        .any(|line| line.contains(" below threshold of ") || line.contains(" surviving mutants, but only "))
}

/// Copies the regular files of a report.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    for entry in walk(from, MAX_DEPTH, MAX_ENTRIES, |_| true) {
        let entry = entry?;
        let target = to.join(entry.path().strip_prefix(from).unwrap_or(entry.path()));
        if entry.file_type().is_dir() {
            fs_err::create_dir_all(&target)?;
        } else if entry.file_type().is_file() {
            fs_err::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn arguments(owners: &Owners, threads: usize, alone: bool) -> Vec<String> {
    let classes: Vec<String> =
        owners.keys().flat_map(|class| [class.clone(), format!("{class}$*")]).collect();
    let mut arguments = vec![
        "-Dverbosity=NO_SPINNER".to_owned(),
        "test-compile".to_owned(),
        GOAL.to_owned(),
        format!("-DtargetClasses={}", classes.join(",")),
        "-DoutputFormats=XML,HTML".to_owned(),
        "-DtimestampedReports=false".to_owned(),
        "-DfailWhenNoMutations=false".to_owned(),
        "-DskipPitest=false".to_owned(),
        "-DmutationThreshold=0".to_owned(),
        "-DcoverageThreshold=0".to_owned(),
        "-DtestStrengthThreshold=0".to_owned(),
        "-DtimeoutConstant=4000".to_owned(),
        "-DexcludedClasses=ralph.no.such.Class".to_owned(),
        "-DextraFeatures=-CLASSLIMIT".to_owned(),
        format!("-Dthreads={}", threads.max(1)),
    ];
    if alone {
        arguments.push("-DmutationUnitSize=1".to_owned());
    }
    arguments
}

/// A test that fails without any mutation is the family's fault, or forbids a verdict: the goal cannot leave it out.
fn failing_or_trouble(module: &ModuleContext<'_>, call: &Call) -> GateAbort {
    let failing: BTreeSet<FailingTest> = call.output.lines().filter_map(described).collect();
    if call.output.contains("did not pass without mutation") {
        if let Err(abort) = blame(&module.answerable(), &failing, RED) {
            return abort;
        }
        return GateAbort::setup(
            format!(
                "Tests of {} that have nothing to do with the changed classes fail, and pitest-maven does not run beside them: {}.",
                module.label(),
                text::names(failing.iter().map(|test| test.name.as_str()), 5)
            ),
            "Fix these tests, or use engine: direct, which leaves them out.",
        );
    }
    let why = format!("pitest-maven failed in {}.", module.label());
    let failed = GateAbort::setup(why, "Look at the log in the gate's folder.");
    module.maven.trouble(call).map_or(failed, |trouble| module.abort(trouble))
}

/// Every `mutations.xml` below a module.
fn reports(home: &Path) -> Vec<PathBuf> {
    let is_source = |file: &Path| file.strip_prefix(home).is_ok_and(|inside| inside.starts_with("src"));
    walk(home, MAX_DEPTH, MAX_ENTRIES, |folder| folder.file_name() != ".git")
        .flatten()
        .filter(|entry| !entry.file_type().is_dir() && entry.file_name() == "mutations.xml")
        .map(walkdir::DirEntry::into_path)
        .filter(|file| !is_source(file))
        .collect()
}
