//! The state of a module before the family's first attempt, and the score that a class had there (config `scope: auto`).
//!
//! A class without a score at its base, or with a part of it unknown, is judged whole, and a remark says why; what is
//! remembered belongs to exactly these class files, tests and settings; where one of these files cannot be
//! read there is no verdict.

use super::classes::files_digest;
use super::context::ModuleContext;
use super::maven::{Built, Maven, digest_parts, module_home};
use super::package::PackageContext;
use super::pit::{FULL_TIMEOUT, PitRun, PitSession};
use super::report::{CountedMutants, MutantId, PitReport};
use crate::config::TestTiers;
use crate::gate::scope::{BuildTool, Module, MutationExtent};
use crate::gate::verdict::ModuleResult;
use crate::gate::{GateAbort, GatePackage};
use crate::mutation::MutantStatus;
use std::collections::BTreeSet;

/// Raised when what is remembered changes its meaning.
const VERSION: &str = "5";

/// The state of a module's base.
pub(crate) enum Base {
    /// The gate works in place, or the module did not exist.
    Absent,
    /// It could not be checked out, or does not build: a whole sentence.
    Unusable(String),
    /// It compiled. The package has the base's root.
    Built(Box<(GatePackage, Built)>),
}

/// Checks the base out and builds a module of it.
pub(crate) fn build_base(context: &PackageContext<'_>, module: &Module) -> Result<Base, GateAbort> {
    let root = match context
        .ports
        .checkouts
        .check_out_base(&context.package.name)
    {
        Ok(Some(root)) => root,
        Ok(None) => return Ok(Base::Absent),
        Err(why) => return Ok(Base::Unusable(why)),
    };
    let home = module_home(&root, &module.dir);
    if !home.join("pom.xml").is_file() && (module.tool == BuildTool::Maven || !home.is_dir()) {
        return Ok(Base::Absent);
    }
    let label = context.module_label(&module.dir);
    (context.ports.progress)(&format!("Compiling {label} as it was before the task"));
    let package = GatePackage {
        root,
        ..context.package.clone()
    };
    let context = &PackageContext {
        package: &package,
        ..*context
    };
    match Maven::find_command(context, module)?.build_module() {
        Ok((built, _)) => Ok(Base::Built(Box::new((package, built)))),
        Err(
            abort @ GateAbort::Error {
                transient: true, ..
            },
        ) => Err(abort),
        Err(_) => Ok(Base::Unusable("it does not build.".to_owned())),
    }
}

/// Measures the tests of a module at its base, and leaves the scores to all modules with tests of the same classes. A class that
/// is judged by its change must keep its score. Returns the reason if these tests have no part in it.
pub(crate) fn set_base_scores(
    context: &PackageContext<'_>,
    module: &Module,
    result: &mut ModuleResult,
) -> Result<Option<&'static str>, GateAbort> {
    let mut base = module.clone();
    // The family did not change it there.
    base.build_changed = false;
    base.targets
        .retain(|target| matches!(target.extent, MutationExtent::Change(_)));
    if base.targets.is_empty() {
        return Ok(None);
    }
    let built = match build_base(context, module)? {
        Base::Built(built) => built,
        Base::Absent => return Ok(Some("there is none.")),
        Base::Unusable(why) => {
            for target in &base.targets {
                context.findings(module, &target.class).is_whole = true;
            }
            result.remarks.push(format!(
                "The base of {} cannot be measured, so its classes are judged whole: {why}",
                context.module_label(&module.dir)
            ));
            return Ok(None);
        }
    };
    let Some(report) = measure_base(context, &base, &built, result)? else {
        return Ok(Some("its tests did not reach it."));
    };
    for target in &base.targets {
        let counted = report.classes.get(&target.class);
        // A class without a mutant at its base had no score to lose.
        let tally = counted.map(CountedMutants::tally).unwrap_or_default();
        let floor = tally.coverage_at_worst(context.settings.no_coverage);
        context.findings(module, &target.class).floor = Some(floor);
    }
    Ok(None)
}

/// The base as tests of this module and of earlier ones judge it; `None` if this module's did not reach the code there.
fn measure_base(
    context: &PackageContext<'_>,
    base: &Module,
    (package, built): &(GatePackage, Built),
    result: &mut ModuleResult,
) -> Result<Option<PitReport>, GateAbort> {
    let Some(built) = built.for_module(base, &package.root) else {
        return Ok(None);
    };
    let context = &PackageContext {
        package,
        ..*context
    };
    let maven = Maven::find_command(context, base)?;
    let module = ModuleContext::new(&maven, &built)?;
    let mut tests = module.test_classes()?.asked;
    if context.settings.tests == TestTiers::Own {
        tests = &tests & &module.accountable_tests();
    }
    let disk_cache = context.disk_cache("base-scores");
    let key = score_key(&module, &tests)?;
    let mut report = PitReport::default();
    if let Some(known) = disk_cache.recall::<Vec<(String, MutantId, MutantStatus)>>(&key) {
        for (class, id, status) in known {
            let counted = report.classes.entry(class).or_default();
            counted.mutants.entry(id).or_default().set_status(status);
        }
    } else {
        let mut session = PitSession::new(&module, BTreeSet::new(), result)?;
        // A test that fails in a control is left out of the next run, as it is of the task's own.
        loop {
            let run = PitRun {
                timeout: FULL_TIMEOUT,
                ..PitRun::new("base", tests.clone())
            };
            report = session.run_pit(run, "the family's base")?;
            if report.failed_control.is_empty() {
                break;
            }
        }
        let statuses = report.classes.iter().flat_map(|(class, counted)| {
            let mutants = counted.mutants.iter();
            mutants.map(move |(id, mutant)| (class, id, mutant.status()))
        });
        disk_cache.remember(&key, &statuses.collect::<Vec<_>>())?;
    }
    module.count_earlier_modules(&mut report);
    module.leave_to_later_modules(&report);
    Ok(Some(report))
}

/// A digest of the files in the directories of its classes, and of all else that affects the scores.
fn score_key(module: &ModuleContext<'_>, tests: &BTreeSet<String>) -> Result<String, GateAbort> {
    let project = &module.built.project;
    let mut parts = vec![
        VERSION.to_owned(),
        module.test_conditions(),
        format!("{:?}", module.context.settings.no_coverage),
        files_digest(&[&project.classes, &project.test_classes], &|_| true)?,
    ];
    parts.extend(tests.iter().cloned());
    let targets = module.module.targets.iter();
    parts.extend(targets.map(|target| target.class.clone()));
    Ok(digest_parts(parts))
}
