//! PIT, run directly: ralph's own arguments, the project's class path.
//!
//! The outcome of a run is read from the results file alone, which ralph's plugin writes in PIT's own process. The exit code alone
//! proves nothing, and what tests print or write is never read as an outcome. A report folder is empty before each run. PIT's log is
//! read for people, and for the test that hangs or ends its JVM: it can only add to a reason that is no pass.

mod command_line;
mod output;
mod plugin;
mod session;
mod tools;

use output::{RED, blame_tests};
pub(crate) use plugin::MutantFilter;

use super::context::ModuleContext;
use super::maven::NETWORK_OR_DISK;
use super::module_state::CompiledModule;
pub(crate) use super::report::Aim;
use super::report::{FailingTest, Owners, PitReport, PitResults, PitStage, SealKey};
use super::scope::BUILD_FILES;
use crate::gate::GateAbort;
use crate::gate::commands::{FinishedCall, fresh_folder};
use crate::gate::leftovers::{self, TestPlace, spoil_files};
use crate::machine::facts::ProcessEnd;
use crate::source::{RepoPath, text};
use crate::sys::file_stat::FileStat;
use crate::sys::walk::{DirEntry, MAX_DEPTH, MAX_ENTRIES, walk};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tools::Tools;

/// PIT's own default for [`PitRun::timeout`].
const FULL_TIMEOUT: u64 = 4_000;

/// The JVM's words for a class that an agent has given other methods or fields than its file has.
const REFUSED: &str = "class redefinition failed";
/// PIT's words for a JVM of tests that ended without any mutation.
const MINION_DIED: &str = "Coverage generation minion exited abnormally";
const LOOK: &str = "Look at PIT's log in the gate's folder, then run the gate again.";
/// The part of the gate's limit for which PIT may be silent: it names each test as it begins, and the plugin prints each second later.
const SILENCE: u32 = 10;
/// Milliseconds from which on tests without mutation are long.
const LONG: u64 = 60_000;

/// One run of PIT over a module.
#[derive(Clone, Debug)]
pub(crate) struct PitRun<'a> {
    /// Names the call's log and the report's folder.
    pub(crate) name: &'static str,
    /// Test classes to run.
    pub(crate) tests: &'a BTreeSet<String>,
    /// The mutants to run.
    pub(crate) filter: &'a MutantFilter,
    /// The time that a mutant may take beyond five quarters of the time of its tests, milliseconds.
    pub(crate) timeout: u64,
    /// One JVM per mutant.
    pub(crate) alone: bool,
    /// The purpose.
    pub(crate) aim: Aim,
    /// It writes which tests execute what, for the coverage map.
    pub(crate) makes_map: bool,
}

impl<'a> PitRun<'a> {
    /// A run with PIT's own patience, in shared JVMs.
    pub(crate) fn new(
        name: &'static str,
        tests: &'a BTreeSet<String>,
        filter: &'a MutantFilter,
    ) -> Self {
        Self {
            name,
            tests,
            filter,
            timeout: FULL_TIMEOUT,
            alone: false,
            aim: Aim::Judge,
            makes_map: false,
        }
    }
}

/// A module that is ready to be measured.
pub(crate) struct PitSession<'a> {
    module: &'a ModuleContext<'a>,
    tools: Tools,
    plugin: PathBuf,
    /// Classes to mutate, with the target each belongs to.
    pub(crate) owners: Owners,
    /// Tests whose failure is the family's fault; empty at its base.
    accountable_tests: BTreeSet<String>,
    /// Failing tests of others that a remark has named.
    remarked: RefCell<BTreeSet<String>>,
    /// Test classes of others that failed in a control: they are not asked again.
    failed_control: RefCell<BTreeSet<String>>,
    /// Tests need something that only one JVM can have: mutants run in one at a time.
    single_jvm: Cell<bool>,
    /// See [`PitSession::module_state`].
    state: OnceCell<Option<CompiledModule>>,
}

impl PitSession<'_> {
    /// Runs PIT, with a new temporary folder and a new home for the tests.
    fn start_pit(&self, run: &PitRun<'_>) -> Result<PitReport, GateAbort> {
        let context = self.module.context;
        let place = &TestPlace::new(context.commands.child_environment())?;
        let is_judged = run.aim == Aim::Judge && !self.accountable_tests.is_empty();
        let before = is_judged.then(|| self.module_files()).transpose()?;
        let report = self.start_once(run, place);
        if let Ok(report) = &report {
            self.judge_written(run, &report.left_out, place)?;
            if let Some(before) = &before {
                self.judge_leftovers(run, &report.left_out, before, place)?;
            }
        }
        context
            .ports
            .checkouts
            .written_files(&context.package.root, true)?;
        report
    }

    /// Files that tests or mutants of a run wrote where other tests read could kill mutants: then the tests, but for those that
    /// it left out, must pass with these files.
    fn judge_written(
        &self,
        run: &PitRun<'_>,
        left_out: &BTreeSet<FailingTest>,
        place: &TestPlace,
    ) -> Result<(), GateAbort> {
        let context = self.module.context;
        let written = context
            .ports
            .checkouts
            .written_files(&context.package.root, false)?;
        if written.is_empty() || self.run_again("after", run, left_out, place)?.is_empty() {
            return Ok(());
        }
        let (label, files) = (
            self.module.module_label(),
            text::names(written.iter().map(RepoPath::as_str), 5),
        );
        let why = format!(
            "Tests or mutants of {label} wrote files on which tests then failed without any mutation: {files}."
        );
        Err(GateAbort::setup(
            why,
            "Let these tests work on copies in a temporary folder.",
        ))
    }

    /// Runs the tests of a run again without mutants. Returns those that fail and that it did not leave out.
    fn run_again(
        &self,
        name: &'static str,
        run: &PitRun<'_>,
        left_out: &BTreeSet<FailingTest>,
        place: &TestPlace,
    ) -> Result<BTreeSet<FailingTest>, GateAbort> {
        let again = PitRun {
            name,
            aim: Aim::Count,
            makes_map: false,
            ..run.clone()
        };
        Ok(&self.start_once(&again, place)?.left_out - left_out)
    }

    /// A test that compares with what an earlier run of it wrote kills mutants without any expectation of its own. Such files
    /// are given another text, and then the tests must pass nevertheless.
    fn judge_leftovers(
        &self,
        run: &PitRun<'_>,
        left_out: &BTreeSet<FailingTest>,
        before: &BTreeMap<PathBuf, Option<FileStat>>,
        place: &TestPlace,
    ) -> Result<(), GateAbort> {
        let home = &self.module.maven.home;
        let mut made = place.left_files()?;
        for (file, stat) in self.module_files()? {
            let inside = file.strip_prefix(home).unwrap_or(&file);
            // A production source that tests wrote ends the gate with an ERROR in any case.
            let is_source =
                inside.starts_with("src/main") && !inside.starts_with("src/main/resources");
            if before.get(&file) != Some(&stat) && !is_source {
                made.push(file);
            }
        }
        if made.is_empty() {
            return Ok(());
        }
        spoil_files(&made)?;
        let failing = self.run_again("leftovers", run, left_out, place);
        // The checkout restores all other files.
        let outputs = Path::new(&self.module.built.project.classes).parent();
        for file in &made {
            if outputs.is_some_and(|outputs| file.starts_with(outputs)) {
                crate::sys::disk::remove(file)?;
            }
        }
        let failing = failing?;
        if failing.is_empty() {
            return Ok(());
        }
        let (inside, beside): (Vec<_>, Vec<_>) =
            made.iter().partition(|file| file.starts_with(home));
        let inside = inside
            .into_iter()
            .filter_map(|file| Some(file.strip_prefix(home).ok()?.display().to_string()));
        let beside = beside.into_iter().map(|file| place.display_name(file));
        let why = leftovers::reason(
            &self.module.module_label(),
            inside.collect(),
            beside.collect(),
        );
        let hint = "Commit what they expect, or remove the files before each test; a cache of tools can be left out by -Djava.io.tmpdir in gates.<NAME>.jvm_args.";
        if failing
            .iter()
            .any(|test| self.accountable_tests.contains(&test.class))
        {
            return Err(GateAbort::fail(format!("{why} {hint}")));
        }
        Err(GateAbort::setup(why, hint))
    }

    /// The files of the module but its class files and what is installed, each with its times and size.
    fn module_files(&self) -> Result<BTreeMap<PathBuf, Option<FileStat>>, GateAbort> {
        let project = &self.module.built.project;
        let classes = [&project.classes, &project.test_classes].map(Path::new);
        let home = &self.module.maven.home;
        let mut files = BTreeMap::new();
        for entry in walk(home, MAX_DEPTH, MAX_ENTRIES, |folder: &DirEntry| {
            // Other modules are built and tested at the same time.
            folder.file_name() != ".git"
                && !is_module(folder.path())
                && folder.file_name() != "node_modules"
                && !classes.contains(&folder.path())
        }) {
            let entry = entry?;
            if entry.file_type().is_file() {
                let stat = FileStat::at(entry.path());
                files.insert(entry.into_path(), stat);
            }
        }
        Ok(files)
    }

    /// Runs PIT once.
    fn start_once(&self, run: &PitRun<'_>, place: &TestPlace) -> Result<PitReport, GateAbort> {
        let context = self.module.context;
        let what = format!(
            "Mutating {} in {} (tests: {})",
            text::count(self.module.module.targets.len() as u64, "class"),
            self.module.module_label(),
            run.name
        );
        (context.ports.progress)(&what);
        fresh_folder(&self.report_folder(run))?;
        let key = SealKey::new()?;
        let argv = self.pit_arguments(run, &key, place)?;
        let mut environment = place.test_variables();
        environment.extend(self.module.built.project.surefire.environment.clone());
        let folder = self.working_directory();
        let log = context.commands.next_log(run.name)?;
        let silence = Some(context.settings.limit / SILENCE);
        let call =
            context
                .commands
                .run_into(&log, run.name, argv, &folder, &environment, silence)?;
        self.read_end(run, &key, &call)
    }

    fn report_folder(&self, run: &PitRun<'_>) -> PathBuf {
        self.module.gate_folder("report").join(run.name)
    }

    /// Reads the end of a run from the results file.
    fn read_end(
        &self,
        run: &PitRun<'_>,
        key: &SealKey,
        call: &FinishedCall,
    ) -> Result<PitReport, GateAbort> {
        let results = PitResults::read_file(&self.report_folder(run), key);
        let is_among_tests = matches!(&results, Ok(results) if results.stage == PitStage::Tests);
        self.check_end(call, is_among_tests)?;
        let results = match results {
            Ok(results) => results,
            Err(why) if call.end.is_success() => return Err(no_verdict(&why)),
            // The plugin could not note why.
            Err(_) => {
                return Err(gave_up(
                    call,
                    call.output.lines().next().unwrap_or("no reason"),
                ));
            }
        };
        let stage = results.stage;
        let words = results.failure.clone();
        let mut report = results
            .count_mutants(
                &self.owners,
                &|class, file, line| self.module.is_changed(class, file, line),
                run.aim,
            )
            .map_err(|why| no_verdict(&why))?;
        if run.aim != Aim::Count {
            blame_tests(&self.accountable_tests, &report.left_out, RED)?;
        }
        if is_among_tests && words.contains(MINION_DIED) {
            let place = self.blame_last_test(&call.output, "kills its JVM")?;
            let what = format!("the JVM of the tests died without any mutation{place}");
            return Err(self.unclear_verdict(&what));
        }
        if !call.end.is_success() {
            return Err(gave_up(call, &words));
        }
        if stage != PitStage::Done {
            return Err(no_verdict("PIT did not finish"));
        }
        report.millis = call.millis;
        // Suites run tests of other names.
        report
            .left_out
            .retain(|test| run.tests.contains(&test.class));
        self.check_agents(&report, &call.output)?;
        Ok(report)
    }

    /// Errors: PIT could not be started, or was ended at a limit; among the tests the one that hangs is blamed.
    fn check_end(&self, call: &FinishedCall, is_among_tests: bool) -> Result<(), GateAbort> {
        match &call.end {
            ProcessEnd::Exited { .. } | ProcessEnd::Signalled { .. } => Ok(()),
            ProcessEnd::TimedOut { .. } | ProcessEnd::Idle { .. } if is_among_tests => {
                let place = self.blame_last_test(&call.output, "does not end")?;
                let why = format!(
                    "The tests of {} were still running without any mutation{place} when their time was up.",
                    self.module.module_label()
                );
                let hint = "Look for a test that hangs, or raise gates.<NAME>.limit: one test may take a tenth of it.";
                Err(GateAbort::transient(why, hint))
            }
            ProcessEnd::TimedOut { .. } | ProcessEnd::Idle { .. } => {
                Err(self.module.context.commands.over_limit())
            }
            other => {
                let why = format!("PIT {}.", text::line(&other.to_string(), 300));
                Err(GateAbort::setup(why, "Install a JDK and set JAVA_HOME."))
            }
        }
    }

    /// A failure if the family answers for the test that was begun last, which `does` it without any mutation; else the place
    /// of that test in a sentence.
    fn blame_last_test(&self, log: &str, does: &str) -> Result<String, GateAbort> {
        match output::last_test(log) {
            Some(class) if self.accountable_tests.contains(&class) => {
                let why = format!("The test class {class} {does} without any mutation.");
                Err(GateAbort::fail(why))
            }
            Some(class) => Ok(format!(" in {class}")),
            None => Ok(String::new()),
        }
    }

    /// Names an agent that changes classes as the likely cause if no mutant took its place.
    fn check_agents(&self, report: &PitReport, log: &str) -> Result<(), GateAbort> {
        let tally = report.tally_mutants();
        let none_ran = tally.errors > 0 && tally.killed + tally.survived + tally.timed_out == 0;
        if !none_ran || !log.contains(REFUSED) {
            return Ok(());
        }
        let why = format!(
            "No mutant can take its place in {}: an agent in the JVM of the tests changes classes as they load ({REFUSED}).",
            self.module.module_label()
        );
        let hint = "Take it out of Surefire's argLine where this gate runs: gates.<NAME>.maven_args can switch a profile on or set a property.";
        Err(self.module.blame_build(why, hint))
    }

    fn working_directory(&self) -> PathBuf {
        let surefire = &self.module.built.project.surefire;
        let configured = surefire.working_directory.as_ref().map(PathBuf::from);
        configured
            .filter(|folder| folder.is_dir())
            .unwrap_or_else(|| self.module.maven.home.clone())
    }
}

fn is_module(folder: &Path) -> bool {
    let mut names = BUILD_FILES.iter();
    names.any(|(name, _)| folder.join(name).exists())
}

fn no_verdict(why: &str) -> GateAbort {
    GateAbort::setup(format!("PIT's results give no verdict: {why}."), LOOK)
}

/// PIT ended badly, and these are its own words for it.
fn gave_up(call: &FinishedCall, words: &str) -> GateAbort {
    let Some(cause) = NETWORK_OR_DISK.iter().find(|cause| words.contains(**cause)) else {
        let why = text::line(words, 300);
        let why = format!("PIT {}: {}.", call.end, why.trim_end_matches('.'));
        return GateAbort::setup(why, LOOK);
    };
    let why = format!("PIT {} and says: {cause}.", call.end);
    GateAbort::transient(why, "Check the space on the disk, then run the gate again.")
}
