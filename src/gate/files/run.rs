//! The gate of an engine that mutates files, from request to report. Modules are judged one after the other.

use super::copy::{copy_package, list_files, module_folders};
use super::made::find_made_files;
use super::scope::find_scope;
use super::{EngineMeasurement, FileEngine, FileMutant, Work};
use crate::config::{GateSettings, TestTiers};
use crate::gate::commands::{Commands, file_name, fresh_folder, read_text};
use crate::gate::leftovers::{self, TestPlace, spoil_files};
use crate::gate::scope::{GateScope, Module, TargetClass, is_among};
use crate::gate::verdict::{JudgedClass, MAX_SOURCE, ModuleResult, TESTS_NAMED};
use crate::gate::{GateAbort, GatePackage, GatePorts, GateRequest, score_rule};
use crate::mutation::{ClassScore, Mutant, MutantStatus, NoCoverage, Tally, TraceTier};
use crate::report::standard::ReportedMutant;
use crate::source::text;
use crate::sys::clock::Stopwatch;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// The folder of the copies in the gate's.
const WORK: &str = "work";
/// The copy that is mutated.
const MEASURED: &str = "copy";
/// Files of tests that a trace names.
const TRACED: usize = 20;
/// Files whose comments were not obeyed that are named.
const NAMED: usize = 5;

/// Returns the files to judge.
pub(crate) fn scope_of(
    request: &GateRequest,
    settings: &GateSettings,
    engine: &dyn FileEngine,
) -> GateScope {
    let language = engine.file_language();
    let files = request
        .packages
        .iter()
        .map(|package| list_files(package, language));
    let files = files.collect::<Result<Vec<_>, _>>();
    let mut scope = files.map_or_else(GateScope::refuse_all, |files| {
        find_scope(request, language, settings.scope, &files)
    });
    if scope.has_targets() {
        let refusals = request
            .packages
            .iter()
            .filter_map(|package| engine.refuse_package(package));
        scope.aborts.extend(refusals);
    }
    scope
}

/// Judges modules. Returns their results, and the time that they took.
pub(crate) fn judge_packages(
    request: &GateRequest,
    settings: &GateSettings,
    ports: &GatePorts<'_>,
    engine: &dyn FileEngine,
    modules: &[Module],
) -> (Vec<ModuleResult>, Duration) {
    let commands = Commands::new(ports, request, "logs", settings.limit);
    let mut results = Vec::new();
    for module in modules {
        if module.targets.is_empty() && module.changed_tests.is_empty() {
            continue;
        }
        let Some(package) = request.packages.get(module.package) else {
            continue;
        };
        let judge = Judge {
            request,
            settings,
            ports,
            engine,
            commands: &commands,
            package,
            module,
        };
        results.push(judge.judge_module());
    }
    // The logs and reports in the gate's folder are kept for people, the copies are not.
    if let Err(error) = fresh_folder(&request.folder.join(WORK)) {
        results.push(ModuleResult {
            aborts: vec![error],
            ..ModuleResult::default()
        });
    }
    (results, commands.time_used())
}

/// One module with all that judges it.
struct Judge<'a> {
    request: &'a GateRequest,
    settings: &'a GateSettings,
    ports: &'a GatePorts<'a>,
    engine: &'a dyn FileEngine,
    commands: &'a Commands<'a>,
    package: &'a GatePackage,
    module: &'a Module,
}

impl Judge<'_> {
    fn judge_module(&self) -> ModuleResult {
        let mut result = ModuleResult::default();
        if let Err(abort) = self.judge_in_steps(&mut result) {
            result.stop_targets(abort, &self.module.targets);
        }
        result
    }

    fn judge_in_steps(&self, result: &mut ModuleResult) -> Result<(), GateAbort> {
        self.module.check_committed(self.package)?;
        let own = self.own_tests();
        if !own.is_empty() && self.settings.tests != TestTiers::All {
            let mut first = ModuleResult::default();
            let ended = self.measure_targets(&mut first, &own);
            if self.settings.tests == TestTiers::Own || ended.is_ok() && self.is_settled(&first) {
                *result = first;
                return ended;
            }
        }
        self.measure_targets(result, &[])
    }

    /// The tests of the targets and those that were changed, by their paths in the module; none if a target has none here, or
    /// if more tests could take from a score.
    fn own_tests(&self) -> Vec<String> {
        let root = self.package.root.join(&self.module.dir);
        if self.settings.no_coverage == NoCoverage::Ignore
            || self.module.targets.is_empty()
            || !self.module.targets.iter().all(|target| {
                let mut tests = target.tests.iter();
                tests.any(|test| self.module.holds_path(test))
            })
            || !self.engine.chooses_tests(&root, &self.install_folders())
        {
            return Vec::new();
        }
        let tests = self.module.targets.iter().flat_map(|target| &target.tests);
        let tests = tests
            .chain(&self.module.changed_tests)
            .filter(|test| self.module.holds_path(test));
        tests
            .map(|test| self.module.path_within(test))
            .collect::<BTreeSet<String>>()
            .into_iter()
            .collect()
    }

    /// True if more tests could not change that these scores are a pass.
    fn is_settled(&self, result: &ModuleResult) -> bool {
        let scores: Vec<ClassScore> = result
            .judged
            .iter()
            .map(|judged| judged.score.clone())
            .collect();
        let judgement = score_rule(self.settings).judge(&scores);
        judgement.reached > 0 && judgement.below.is_empty() && judgement.unknown.is_empty()
    }

    /// Measures the targets with these tests, or with all.
    fn measure_targets(
        &self,
        result: &mut ModuleResult,
        tests: &[String],
    ) -> Result<(), GateAbort> {
        let label = self.module_label();
        let (mut work, hiding) = self.copy_for_tests(self.package, MEASURED)?;
        work.tests = tests.to_vec();
        result.remarks.extend(self.module.remarks.iter().cloned());
        if !hiding.is_empty() {
            result.remarks.push(format!(
                "Comments or attributes that hide code from mutation were not obeyed: {}.",
                text::names(&hiding, NAMED)
            ));
        }
        (self.ports.progress)(&format!("Mutating {label}"));
        let watch = Stopwatch::start();
        let measured = if self.module.targets.is_empty() {
            work.tests_alone(self.engine)?
        } else {
            self.engine.measure_work(&work)?
        };
        match measured {
            EngineMeasurement::Red(tests) => Err(self.blame_failing_tests(&tests)?),
            EngineMeasurement::NoTests => Err(GateAbort::fail(format!(
                "No test of {label} ran, so no mutant was killed."
            ))),
            EngineMeasurement::Mutants(mut mutants) => {
                self.check_leftovers(&work)?;
                let index = work.report.join("index.html");
                result
                    .reports
                    .extend(index.is_file().then(|| index.display().to_string()));
                for target in &self.module.targets {
                    let inside = self.module.path_within(&target.path.to_text());
                    let found = mutants.remove(&inside).unwrap_or_default();
                    result.take_file(target, &found, self.package);
                }
                result
                    .trace
                    .tiers
                    .extend(self.record_phase(result, tests, &watch));
                Ok(())
            }
        }
    }

    /// The folders in which something may be installed.
    fn install_folders(&self) -> Vec<PathBuf> {
        module_folders(&self.module.dir)
            .iter()
            .map(|folder| self.package.home.join(folder))
            .collect()
    }

    /// The name of the module in a sentence.
    fn module_label(&self) -> String {
        text::module_name(&self.package.name, &self.module.dir)
    }

    /// A test that compares with what an earlier run of it wrote kills mutants without any expectation of its own. Such files
    /// are given another text, and then the tests must pass nevertheless.
    fn check_leftovers(&self, measured: &Work<'_>) -> Result<(), GateAbort> {
        let language = self.engine.file_language();
        let made = find_made_files(
            &self.package.root,
            &self.package_in_copy(measured),
            &self.module.dir,
            language,
        )?;
        let beside = measured.place.left_files()?;
        if made.is_empty() && beside.is_empty() {
            return Ok(());
        }
        (self.ports.progress)(&format!(
            "Testing {} with other leftovers",
            self.module_label()
        ));
        let place = Rc::clone(&measured.place);
        let (mut other, _) = self.copy_to(self.package, "leftovers", Rc::clone(&place))?;
        other.tests.clone_from(&measured.tests);
        let copy = self.package_in_copy(&other);
        spoil_files(&beside)?;
        spoil_files(&made.iter().map(|path| copy.join(path)).collect::<Vec<_>>())?;
        if self.engine.is_green(&other)? {
            return Ok(());
        }
        let inside = made.iter().map(|path| path.display().to_string());
        let beside = beside.iter().map(|file| place.display_name(file));
        let label = self.module_label();
        let why = leftovers::reason(&label, inside.chain(beside));
        let (mut fresh, _) = self.copy_for_tests(self.package, "fresh")?;
        fresh.tests.clone_from(&measured.tests);
        if self.engine.is_green(&fresh)? {
            return Err(GateAbort::fail(format!(
                "{why} Commit what they expect, or remove the files before each test."
            )));
        }
        Err(GateAbort::setup(
            format!(
                "The tests of {label} passed once, and fail when they run again without any mutation."
            ),
            "Let the tests work without what an earlier run of them left.",
        ))
    }

    /// The package in a copy.
    fn package_in_copy(&self, work: &Work<'_>) -> PathBuf {
        let depth = Path::new(&self.module.dir).components().count();
        let top = work.folder.ancestors().nth(depth);
        top.unwrap_or(&work.folder).to_owned()
    }

    /// A copy with a new place for the tests.
    fn copy_for_tests(
        &self,
        package: &GatePackage,
        name: &str,
    ) -> Result<(Work<'_>, Vec<String>), GateAbort> {
        let place = Rc::new(TestPlace::new(self.commands.child_environment())?);
        self.copy_to(package, name, place)
    }

    /// The module of a package in a folder of its own; also the files whose comments would have hidden code.
    fn copy_to(
        &self,
        package: &GatePackage,
        name: &str,
        place: Rc<TestPlace>,
    ) -> Result<(Work<'_>, Vec<String>), GateAbort> {
        let module = self.module;
        let folder = file_name(format!("{} {}", self.package.name, module.dir).trim_end());
        let output = self.request.folder.join(WORK).join(name).join(&folder);
        // Some engines take the folder's name for the package's.
        let last = Path::new(&package.home)
            .file_name()
            .map_or_else(|| "package".into(), ToOwned::to_owned);
        let inside = self.ports.checkouts.in_repository(&package.root);
        let top = output.join("copy").join(if inside.as_os_str().is_empty() {
            last
        } else {
            "repository".into()
        });
        let copied = top.join(inside);
        fresh_folder(&output)?;
        let hiding = copy_package(package, &module.dir, self.engine.file_language(), &copied)?;
        self.ports.checkouts.add_repository(&package.root, &top)?;
        let (mut files, mut lines) = (Vec::new(), BTreeMap::new());
        for target in &module.targets {
            let file = module.path_within(&target.path.to_text());
            if let Some(counted) = target.extent.line_ranges() {
                lines.insert(file.clone(), counted.to_vec());
            }
            files.push(file);
        }
        // A later copy of the same module leaves the report of the first.
        let report = if name == MEASURED {
            self.request.folder.join("report").join(&folder)
        } else {
            output.join("report")
        };
        fresh_folder(&report)?;
        let work = Work {
            commands: self.commands,
            settings: self.settings,
            label: self.module_label(),
            folder: copied.join(&module.dir),
            homes: self.install_folders(),
            files,
            lines,
            tests: Vec::new(),
            place,
            output,
            report,
        };
        Ok((work, hiding))
    }

    /// Blames the family for red tests, unless the engine alone calls them so, or they were red before its work.
    fn blame_failing_tests(&self, tests: &[String]) -> Result<GateAbort, GateAbort> {
        let named = if tests.is_empty() {
            String::new()
        } else {
            format!(": {}", tests.join("; "))
        };
        let (name, label) = (self.engine.engine_name(), self.module_label());
        let (own, _) = self.copy_for_tests(self.package, "own")?;
        if self.engine.passes_without(&own)? {
            return Ok(GateAbort::setup(
                format!("{name} calls tests of {label} failing that pass without it{named}."),
                format!(
                    "Change what {name} cannot run (a setting of the tests, the layout of the package), or use another gate; its log is in the gate's folder."
                ),
            ));
        }
        let what = format!("The tests of {label} fail without any mutation{named}.");
        let base = self
            .ports
            .checkouts
            .check_out_base(&self.package.name)
            .map_err(|why| {
                GateAbort::setup(
                    format!("{what} The state before the task could not be checked out: {why}"),
                    "Fix this, or set gates.<NAME>.where: in-place.",
                )
            })?;
        let Some(root) = base.filter(|root| root.join(&self.module.dir).is_dir()) else {
            return Ok(GateAbort::fail(what));
        };
        let (work, _) = self.copy_for_tests(
            &GatePackage {
                root,
                ..self.package.clone()
            },
            "base",
        )?;
        if self.engine.passes_without(&work)? {
            return Ok(GateAbort::fail(what));
        }
        Ok(GateAbort::setup(
            format!("{what} They failed before the task too."),
            "Fix the tests that fail, then try again.",
        ))
    }

    fn record_phase(
        &self,
        result: &ModuleResult,
        tests: &[String],
        watch: &Stopwatch,
    ) -> Option<TraceTier> {
        let mut tally = Tally::default();
        for judged in &result.judged {
            tally.join(&judged.score.tally);
        }
        (tally.mutants() > 0).then(|| TraceTier {
            module: text::module_path(&self.package.name, &self.module.dir),
            name: if tests.is_empty() { "all" } else { "own" }.to_owned(),
            note: self.engine.file_language().name.to_owned(),
            tests: tests.iter().take(TRACED).cloned().collect(),
            tests_total: tests.len() as u64,
            mutants: tally.mutants(),
            killed: tally.killed + tally.timed_out,
            timed_out: tally.timed_out,
            millis: watch.millis(),
            ..TraceTier::default()
        })
    }
}

/// Returns a mutant of this class for the report, with bounded texts.
fn reported_mutant(class: &str, mutant: &FileMutant) -> ReportedMutant {
    ReportedMutant {
        mutant: Mutant {
            class: class.to_owned(),
            file: class.rsplit('/').next().unwrap_or_default().to_owned(),
            line: mutant.line,
            method: text::line(&mutant.function, 200),
            mutator: text::line(&mutant.mutator, 100),
            description: text::line(&mutant.description, 300),
            status: mutant.status,
            id: text::line(&mutant.id, 300),
        },
        tests: mutant
            .tests
            .iter()
            .take(TESTS_NAMED)
            .map(|test| text::line(test, 200))
            .collect(),
        tests_total: mutant.tests.len() as u64,
    }
}

impl ModuleResult {
    /// Takes over the mutants of a file; one without any has nothing to mutate.
    fn take_file(&mut self, target: &TargetClass, found: &[FileMutant], package: &GatePackage) {
        let lines = target.extent.line_ranges();
        let counted: Vec<&FileMutant> = found
            .iter()
            .filter(|mutant| lines.is_none_or(|lines| is_among(lines, mutant.line)))
            .collect();
        if counted.is_empty() {
            self.nothing.insert(target.class.clone());
            return;
        }
        if counted
            .iter()
            .all(|mutant| mutant.status == MutantStatus::NonViable)
        {
            self.remarks.push(format!(
                "No mutant of {} compiles ({}).",
                target.class,
                counted.len()
            ));
            self.nothing.insert(target.class.clone());
            return;
        }
        let tally: Tally = counted.iter().map(|mutant| mutant.status).collect();
        let mutants = counted
            .into_iter()
            .map(|mutant| reported_mutant(&target.class, mutant))
            .collect();
        let source = read_text(&package.root.join(target.path.to_text()), MAX_SOURCE);
        let (package_name, path) = (target.package.clone(), target.path.clone());
        let score = ClassScore {
            package: package_name,
            path,
            class: target.class.clone(),
            tally,
            floor: None,
        };
        self.judged
            .push(JudgedClass::new(target, package, score, mutants, source));
    }
}
