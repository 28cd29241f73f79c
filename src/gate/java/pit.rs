//! PIT, run directly: ralph's own arguments, the project's class path.
//!
//! The outcome of a run is read from the results file alone, which ralph's plugin writes in PIT's own process. The exit code alone
//! proves nothing, and what tests print or write is never read as an outcome. A report folder is empty before each run. PIT's log is
//! read for people, and for the test that hangs or ends its JVM: it can only add to a reason that is no pass.

mod command_line;
mod plugin;
mod session;
mod tools;

use super::context::ModuleContext;
use super::maven::NETWORK_OR_DISK;
use super::report::{
    Aim, FailingTest, MutantId, Owners, PitReport, PitResults, PitStage, SealKey, top_level,
};
use super::scope::BUILD_FILES;
use crate::gate::GateAbort;
use crate::gate::commands::{FinishedCall, fresh_folder};
use crate::gate::leftovers::{self, TestPlace, spoil_files};
use crate::gate::verdict::ModuleResult;
use crate::machine::facts::ProcessEnd;
use crate::source::{RepoPath, text};
use crate::sys::file_stat::FileStat;
use crate::sys::walk::{DirEntry, MAX_DEPTH, MAX_ENTRIES, walk};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tools::Tools;

/// PIT's own patience with a mutant; see [`PitRun::timeout`].
pub(crate) const FULL_TIMEOUT: u64 = 4_000;
/// The first patience. A time-out that decides runs again in any case.
const QUICK_TIMEOUT: u64 = 1_000;

/// The JVM's words for a class that an agent has given other methods or fields than its file has.
const REFUSED: &str = "class redefinition failed";
/// PIT's words for a JVM of tests that ended without any mutation.
const MINION_DIED: &str = "Coverage generation minion exited abnormally";
/// PIT's words before the name of a test that begins. Tests can print them, so they decide no pass and no skip.
const GATHERING: &str = "Gathering coverage for test Description [testClass=";
/// The part of the gate's limit for which PIT may be silent: it names each test as it begins, and the plugin prints each second later.
const SILENCE: u32 = 10;

/// One run of PIT over a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PitRun {
    /// Names the call's log and the report's folder.
    pub(crate) name: &'static str,
    /// Test classes to run.
    pub(crate) tests: BTreeSet<String>,
    /// The mutants to run; `None` for all on the lines that are judged.
    pub(crate) mutants: Option<Vec<MutantId>>,
    /// The time that a mutant may take beyond five quarters of the time of its tests, milliseconds.
    pub(crate) timeout: u64,
    /// One JVM per mutant.
    pub(crate) alone: bool,
    /// The purpose.
    pub(crate) aim: Aim,
    /// It writes which tests execute what, for the coverage map.
    pub(crate) makes_map: bool,
}

impl PitRun {
    /// A run over all mutants with controls, in shared JVMs.
    pub(crate) fn new(name: &'static str, tests: BTreeSet<String>) -> Self {
        Self {
            name,
            tests,
            mutants: None,
            timeout: QUICK_TIMEOUT,
            alone: false,
            aim: Aim::Judge,
            makes_map: false,
        }
    }
}

/// A module that is ready to be measured.
pub(crate) struct PitSession<'a> {
    pub(crate) module: &'a ModuleContext<'a>,
    pub(crate) result: &'a mut ModuleResult,
    /// The JVM that runs PIT.
    java: PathBuf,
    tools: Tools,
    plugin: PathBuf,
    /// Classes to mutate, with the target each belongs to.
    pub(crate) owners: Owners,
    /// Test classes whose failure is the family's fault.
    pub(crate) accountable_tests: BTreeSet<String>,
    /// Failing tests of others that a remark has named.
    remarked: BTreeSet<FailingTest>,
    /// Test classes of others that failed in a control: they are not asked again.
    failed_control: BTreeSet<String>,
    /// Tests need something that only one JVM can have: mutants run in one at a time.
    single_jvm: bool,
}

impl PitSession<'_> {
    /// Runs PIT, with a new temporary folder and a new home for the tests. What its tests and mutants wrote must not have killed.
    fn start_pit(&mut self, run: &PitRun) -> Result<PitReport, GateAbort> {
        let context = self.module.context;
        let checkouts = context.ports.checkouts;
        let root = &context.package.root;
        let place = &TestPlace::new(context.commands.child_environment())?;
        let before = self.module_files()?;
        let report = self.start_once(run, place);
        if let Ok(report) = &report {
            // Other tests may read them and then kill mutants, so all must pass with them.
            let written = checkouts.written_files(root, false)?;
            if !written.is_empty() && !self.run_again("after", run, report, place)?.is_empty() {
                let why = format!(
                    "Tests or mutants of {} wrote files on which tests then failed without any mutation: {}.",
                    self.module.module_label(),
                    text::names(written.iter().map(RepoPath::as_str), 5)
                );
                let hint = "Let these tests work on copies in a temporary folder.";
                return Err(GateAbort::setup(why, hint));
            }
            if run.aim == Aim::Judge && !self.accountable_tests.is_empty() {
                self.judge_leftovers(run, report, &before, place)?;
            }
        }
        checkouts.written_files(root, true)?;
        report
    }

    /// Runs the tests of a run again without mutants. Returns those that fail and that it did not leave out.
    fn run_again(
        &mut self,
        name: &'static str,
        run: &PitRun,
        report: &PitReport,
        place: &TestPlace,
    ) -> Result<BTreeSet<FailingTest>, GateAbort> {
        let again = PitRun {
            name,
            aim: Aim::Count,
            ..run.clone()
        };
        Ok(&self.start_once(&again, place)?.left_out - &report.left_out)
    }

    /// A test that compares with what an earlier run of it wrote kills mutants without any expectation of its own. Such files
    /// are given another text, and then the tests must pass nevertheless.
    fn judge_leftovers(
        &mut self,
        run: &PitRun,
        report: &PitReport,
        before: &BTreeMap<PathBuf, Option<FileStat>>,
        place: &TestPlace,
    ) -> Result<(), GateAbort> {
        let mut made = self.module_files()?;
        made.retain(|file, stat| before.get(file) != Some(stat));
        let mut made: Vec<PathBuf> = made.into_keys().collect();
        made.extend(place.left_files()?);
        if made.is_empty() {
            return Ok(());
        }
        spoil_files(&made)?;
        let failing = self.run_again("leftovers", run, report, place);
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
        let home = &self.module.maven.home;
        let names = made.iter().map(|file| match file.strip_prefix(home) {
            Ok(inside) => inside.display().to_string(),
            Err(_) => place.display_name(file),
        });
        let why = leftovers::reason(&self.module.module_label(), names);
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
        let sources = home.join("src/main");
        let mut files = BTreeMap::new();
        for entry in walk(home, MAX_DEPTH, MAX_ENTRIES, |folder: &DirEntry| {
            let path = folder.path();
            let name = folder.file_name();
            // A production source that tests wrote ends the gate with an ERROR in any case.
            let is_source = path.parent() == Some(sources.as_path()) && name != "resources";
            // Other modules are built and tested at the same time.
            let is_module = BUILD_FILES
                .iter()
                .any(|(build, _)| path.join(build).exists());
            let is_installed = name == ".git" || name == "node_modules";
            !(is_source || is_module || is_installed || classes.contains(&path))
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
    fn start_once(&mut self, run: &PitRun, place: &TestPlace) -> Result<PitReport, GateAbort> {
        let context = self.module.context;
        let what = format!(
            "Mutating {} in {} (tests: {})",
            text::count(self.module.module.targets.len() as u64, "class"),
            self.module.module_label(),
            run.name
        );
        (context.ports.progress)(&what);
        fresh_folder(&self.report_folder(run.name))?;
        let key = SealKey::new()?;
        let argv = self.pit_arguments(run, &key, place)?;
        let mut environment = place.test_variables();
        let surefire = &self.module.built.project.surefire;
        environment.extend(surefire.environment.clone());
        let configured = surefire.working_directory.as_deref().map(Path::new);
        let configured = configured.filter(|folder| folder.is_dir());
        let folder = configured.unwrap_or(&self.module.maven.home);
        let log = context.commands.next_log(run.name)?;
        let silence = Some(context.settings.limit / SILENCE);
        let call =
            context
                .commands
                .run_into(&log, run.name, argv, folder, &environment, silence)?;
        self.read_end(run, &key, &call)
    }

    fn report_folder(&self, name: &str) -> PathBuf {
        self.module.gate_folder("report").join(name)
    }

    /// Reads the end of a run from the results file.
    fn read_end(
        &mut self,
        run: &PitRun,
        key: &SealKey,
        call: &FinishedCall,
    ) -> Result<PitReport, GateAbort> {
        let results = PitResults::read_file(&self.report_folder(run.name), key);
        let is_among_tests = matches!(&results, Ok(results) if results.stage == PitStage::Tests);
        self.check_end(call, is_among_tests)?;
        let results = results.map_err(|why| match call.output.lines().next() {
            // The plugin could not note why.
            Some(first) if !call.end.is_success() => gave_up(call, first),
            _ => gave_up(call, &why),
        })?;
        let is_done = results.stage == PitStage::Done && call.end.is_success();
        let words = results.failure.clone();
        let module = self.module;
        let is_changed = |class: &str, file: &str, line| module.is_changed(class, file, line);
        let mut report = results
            .count_mutants(&self.owners, &is_changed, run.aim)
            .map_err(|why| gave_up(call, &why))?;
        if run.aim != Aim::Count {
            self.note_failing(&report.left_out, session::RED)?;
        }
        if is_among_tests && words.contains(MINION_DIED) {
            let place = self.blame_last_test(&call.output, "kills its JVM")?;
            let what = format!("the JVM of the tests died without any mutation{place}");
            return Err(self.unclear_verdict(&what));
        }
        if !is_done {
            return Err(gave_up(call, &words));
        }
        report.millis = call.millis;
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
        match last_test(log) {
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
}

/// The class of the test that was begun last.
fn last_test(log: &str) -> Option<String> {
    let (_, test) = log
        .lines()
        .rev()
        .find_map(|line| line.split_once(GATHERING))?;
    let class = test.split_once(", name=")?.0;
    Some(text::line(top_level(class), 300))
}

/// PIT gave no verdict, and these are the words for it.
fn gave_up(call: &FinishedCall, words: &str) -> GateAbort {
    if let Some(cause) = NETWORK_OR_DISK.iter().find(|cause| words.contains(**cause)) {
        let why = format!("PIT {} and says: {cause}.", call.end);
        return GateAbort::transient(why, "Check the space on the disk, then run the gate again.");
    }
    let words = if words.is_empty() {
        "it did not finish"
    } else {
        words
    };
    let words = text::line(words, 300);
    GateAbort::setup(
        format!("PIT {}: {}.", call.end, words.trim_end_matches('.')),
        "Look at PIT's log in the gate's folder, then run the gate again.",
    )
}

#[cfg(test)]
mod tests {
    use super::last_test;

    #[test]
    fn a_log_names_the_test_that_was_begun_last() {
        let log = "x PIT >> INFO : MINION : FINE : Gathering coverage for test Description [testClass=a.ATest, name=x]\n\
            x PIT >> INFO : MINION : FINE : Gathering coverage for test Description [testClass=a.BTest$In, name=x]\n";
        assert_eq!(last_test(log).as_deref(), Some("a.BTest"));
        assert_eq!(last_test(""), None);
    }
}
