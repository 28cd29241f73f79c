//! PIT, run directly: ralph's own arguments, the project's class path.
//!
//! The exit code alone proves nothing, a fresh and closed report does; a report folder is empty
//! before each run; a test that fails without any mutation is named by PIT's own process, not by what
//! tests print.

mod command_line;
mod output;
mod plugin;
mod session;
mod tools;
mod watch;

use output::{RED, blame};
pub(crate) use plugin::MutantFilter;

use super::context::ModuleContext;
use super::maven::NETWORK_OR_DISK;
use super::module_state::CompiledModule;
use super::report::{self, Control, FailingTest, Mode, Owners, PitReport};
use crate::gate::GateAbort;
use crate::gate::commands::{Call, fresh_folder};
use crate::gate::leftovers::{self, TestPlace, spoil};
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

/// What a run is to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// How many mutants there are; none is run.
    Count,
    /// Which tests kill, without controls.
    Search,
    /// Which kills stand beside controls.
    Judge,
}

/// The JVM's words for a class that an agent has given other methods or fields than its file has.
const REFUSED: &str = "class redefinition failed";
/// Which part of the gate's limit PIT may be silent: it names each test as it begins, and the plugin counts mutants aloud.
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
    /// What a mutant may take beyond five quarters of the time of its tests, milliseconds.
    pub(crate) timeout: u64,
    /// One JVM per mutant.
    pub(crate) alone: bool,
    /// Leave out tests that fail without any mutation; otherwise they end the run.
    pub(crate) skip_failing: bool,
    /// What for.
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
            skip_failing: false,
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
    answerable: BTreeSet<String>,
    shown: Shown,
    /// See [`PitSession::state`].
    state: OnceCell<Option<CompiledModule>>,
    /// The temporary folder and the home of the tests: new ones for each run that is judged.
    place: RefCell<TestPlace>,
}

/// What earlier runs of a session have shown.
#[derive(Default)]
struct Shown {
    /// Tests that the family answers for and that passed in a run which a failing one would have ended.
    passed: RefCell<BTreeSet<String>>,
    /// Failing tests of others that a remark has named.
    remarked: RefCell<BTreeSet<String>>,
    /// Test classes of others that failed in a control: they are not asked again.
    unfit: RefCell<BTreeSet<String>>,
    /// Tests need something that only one JVM can have: mutants run in one at a time.
    in_one: Cell<bool>,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) enum PitEnd {
    /// A complete report.
    Report(Box<PitReport>),
    /// These tests fail without any mutation.
    Failing(BTreeSet<FailingTest>),
    /// The JVM of the tests died without any mutation, while this test ran (if PIT said).
    Died(Option<String>),
    /// The time was up while the tests ran without any mutation, in this test.
    Hung(Option<String>),
}

impl PitSession<'_> {
    /// Runs PIT.
    fn start(&self, run: &PitRun<'_>) -> Result<PitEnd, GateAbort> {
        let context = self.module.context;
        self.place
            .replace(TestPlace::new(context.commands.environment())?);
        let before = self.module_files()?;
        let end = self.start_once(run)?;
        if let PitEnd::Report(report) = &end {
            self.judge_written(run, &report.left_out)?;
            if run.aim == Aim::Judge && !self.answerable.is_empty() {
                self.judge_leftovers(run, &report.left_out, &before)?;
            }
        }
        context
            .ports
            .checkouts
            .written(&context.package.root, true)?;
        Ok(end)
    }

    /// What tests or mutants of a run wrote where other tests read could kill mutants: then the tests, but for those that it
    /// left out, must pass beside it.
    fn judge_written(
        &self,
        run: &PitRun<'_>,
        left_out: &BTreeSet<FailingTest>,
    ) -> Result<(), GateAbort> {
        let context = self.module.context;
        let written = context
            .ports
            .checkouts
            .written(&context.package.root, false)?;
        if written.is_empty() {
            return Ok(());
        }
        let after = PitRun {
            name: "after",
            aim: Aim::Count,
            makes_map: false,
            ..run.clone()
        };
        if matches!(self.start_once(&after)?, PitEnd::Report(after) if after.left_out.is_subset(left_out))
        {
            return Ok(());
        }
        let (label, files) = (
            self.module.label(),
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

    /// A test that compares with what an earlier run of it wrote kills mutants without any expectation of its own. Such files
    /// are given another text, and then the tests must pass nevertheless.
    fn judge_leftovers(
        &self,
        run: &PitRun<'_>,
        left_out: &BTreeSet<FailingTest>,
        before: &BTreeMap<PathBuf, Option<FileStat>>,
    ) -> Result<(), GateAbort> {
        let mut made = self.place.borrow().files()?;
        let now = self.module_files()?;
        let changed = now
            .into_iter()
            .filter(|(file, stat)| before.get(file) != Some(stat));
        made.extend(changed.map(|(file, _)| file));
        if made.is_empty() {
            return Ok(());
        }
        spoil(&made)?;
        let after = PitRun {
            name: "leftovers",
            aim: Aim::Count,
            makes_map: false,
            ..run.clone()
        };
        let end = self.start_once(&after);
        // The checkout restores all other files.
        let outputs = Path::new(&self.module.built.project.classes).parent();
        let kept = made
            .iter()
            .filter(|file| outputs.is_some_and(|outputs| file.starts_with(outputs)));
        for file in kept {
            crate::sys::disk::remove(file)?;
        }
        let failing = match end? {
            PitEnd::Report(after) if after.left_out.is_subset(left_out) => return Ok(()),
            PitEnd::Report(after) => &after.left_out - left_out,
            PitEnd::Failing(failing) => failing,
            PitEnd::Died(_) | PitEnd::Hung(_) => BTreeSet::new(),
        };
        let (label, home) = (self.module.label(), &self.module.maven.home);
        let (inside, beside): (Vec<_>, Vec<_>) =
            made.iter().partition(|file| file.starts_with(home));
        let inside = inside
            .into_iter()
            .filter_map(|file| Some(file.strip_prefix(home).ok()?.display().to_string()));
        let beside = beside
            .into_iter()
            .map(|file| self.place.borrow().shown(file));
        let names = leftovers::names(inside.collect(), beside.collect());
        let why = format!(
            "Tests of {label} compare with what an earlier run of them wrote, so they kill mutants without an expectation of their own: they fail where these files have another text: {names}."
        );
        let hint = "Commit what they expect, or remove the files before each test; a cache of tools can be left out by -Djava.io.tmpdir in gates.<NAME>.jvm_args.";
        if failing
            .iter()
            .any(|test| self.answerable.contains(&test.class))
        {
            return Err(GateAbort::fail(format!("{why} {hint}")));
        }
        Err(GateAbort::setup(why, hint))
    }

    /// The files of the module but its class files and what is installed, each with its times and size.
    fn module_files(&self) -> Result<BTreeMap<PathBuf, Option<FileStat>>, GateAbort> {
        let project = &self.module.built.project;
        let classes = [&project.classes, &project.test_classes].map(Path::new);
        // Other modules are built and tested at the same time.
        let is_module = |folder: &Path| {
            ["pom.xml", "build.gradle", "build.gradle.kts"]
                .iter()
                .any(|name| folder.join(name).exists())
        };
        let is_entered = |folder: &DirEntry| {
            folder.file_name() != ".git"
                && !is_module(folder.path())
                && folder.file_name() != "node_modules"
                && !classes.contains(&folder.path())
        };
        let home = &self.module.maven.home;
        let mut files = BTreeMap::new();
        for entry in walk(home, MAX_DEPTH, MAX_ENTRIES, is_entered) {
            let entry = entry?;
            if entry.file_type().is_file() {
                let stat = FileStat::at(entry.path());
                files.insert(entry.into_path(), stat);
            }
        }
        Ok(files)
    }

    /// Runs PIT once.
    fn start_once(&self, run: &PitRun<'_>) -> Result<PitEnd, GateAbort> {
        let context = self.module.context;
        let what = format!(
            "Mutating {} in {} (tests: {})",
            text::count(self.module.module.targets.len() as u64, "class"),
            self.module.label(),
            run.name
        );
        (context.ports.progress)(&what);
        let progress =
            |done, total| (context.ports.progress)(&format!("{what}: {done} of {total} mutants"));
        fresh_folder(&self.report_folder(run))?;
        let argv = self.arguments(run)?;
        let environment = self
            .module
            .built
            .project
            .surefire
            .environment
            .clone()
            .into_iter();
        let environment: Vec<(String, String)> = self
            .place
            .borrow()
            .variables()
            .into_iter()
            .chain(environment)
            .collect();
        let folder = self.working_directory();
        let log = context.commands.next_log(run.name)?;
        let silence = Some(context.settings.limit / SILENCE);
        let call = watch::while_running(&log, &progress, || {
            context
                .commands
                .run_into(&log, run.name, argv, &folder, &environment, silence)
        })?;
        self.read(run, &call)
    }

    fn report_folder(&self, run: &PitRun<'_>) -> PathBuf {
        self.module.folder("report").join(run.name)
    }

    fn read(&self, run: &PitRun<'_>, call: &Call) -> Result<PitEnd, GateAbort> {
        match &call.end {
            ProcessEnd::Exited { .. } | ProcessEnd::Signalled { .. } => {}
            ProcessEnd::TimedOut { .. } | ProcessEnd::Idle { .. }
                if !output::coverage_done(&call.output) =>
            {
                return Ok(PitEnd::Hung(output::last_test(&call.output)));
            }
            ProcessEnd::TimedOut { .. } | ProcessEnd::Idle { .. } => {
                return Err(self.module.context.commands.over_limit());
            }
            other => {
                let why = format!("PIT {}.", text::line(&other.to_string(), 300));
                return Err(GateAbort::setup(why, "Install a JDK and set JAVA_HOME."));
            }
        }
        let failing = output::failing_tests(&call.output);
        if !failing.is_empty() {
            return Ok(PitEnd::Failing(failing));
        }
        if output::gave_up(&call.output, output::MINION_DIED) {
            return Ok(PitEnd::Died(output::last_test(&call.output)));
        }
        if !call.end.is_success() {
            let Some(words) = NETWORK_OR_DISK
                .iter()
                .find(|words| call.output.contains(**words))
            else {
                let why = format!("PIT {}: {}", call.end, output::complaint(&call.output));
                return Err(GateAbort::setup(
                    why,
                    "Look at PIT's log in the gate's folder.",
                ));
            };
            let why = format!("PIT {} and its log says: {words}.", call.end);
            return Err(GateAbort::passing(
                why,
                "Check the space on the disk, then run the gate again.",
            ));
        }
        let folder = self.report_folder(run);
        // PIT ends well and without a report where it finds no mutant; the plugin counts what it found.
        if !folder.join(report::FILE).exists() && plugin::found_nothing(&folder) {
            return Ok(PitEnd::Report(Box::default()));
        }
        let is_changed =
            |class: &str, file: &str, line: u32| self.module.is_changed(class, file, line);
        let controls = plugin::controls(&folder);
        let mode = match run.aim {
            Aim::Count => Mode::Dry,
            Aim::Search => Mode::Search,
            Aim::Judge => Mode::Controlled(&controls),
        };
        let report = report::read_file(&folder.join(report::FILE), &self.owners, &is_changed, mode);
        let report = report.map_err(|why| {
            let why = format!("PIT's report gives no verdict: {why}.");
            GateAbort::setup(
                why,
                "Look at PIT's log in the gate's folder, then run the gate again.",
            )
        })?;
        let tally = report.tally();
        let none_ran = tally.errors > 0 && tally.killed + tally.survived + tally.timed_out == 0;
        if none_ran && call.output.contains(REFUSED) {
            let why = format!(
                "No mutant can take its place in {}: an agent in the JVM of the tests changes classes as they load ({REFUSED}).",
                self.module.label()
            );
            let hint = "Take it out of Surefire's argLine where this gate runs: gates.<NAME>.maven_args can switch a profile on or set a property.";
            return Err(self.module.fault(why, hint));
        }
        Ok(PitEnd::Report(Box::new(PitReport {
            reaching: plugin::reaching(&folder),
            slowest_test: output::slowest_test(&call.output),
            coverage_millis: output::coverage_millis(&call.output),
            millis: call.millis,
            left_out: left_out(run, call),
            seen: run.makes_map.then(|| plugin::coverage(&folder)).flatten(),
            unclear: controls
                .values()
                .any(|control| *control == Control::Unclear),
            ..report
        })))
    }

    fn working_directory(&self) -> PathBuf {
        let configured = self
            .module
            .built
            .project
            .surefire
            .working_directory
            .as_ref()
            .map(PathBuf::from);
        configured
            .filter(|folder| folder.is_dir())
            .unwrap_or_else(|| self.module.maven.home.clone())
    }
}

/// Of the tests that a run left out, those of classes that it was given.
fn left_out(run: &PitRun<'_>, call: &Call) -> BTreeSet<FailingTest> {
    let mut failing = if run.skip_failing {
        output::left_out(&call.output)
    } else {
        BTreeSet::new()
    };
    failing.retain(|test| run.tests.contains(&test.class));
    failing
}
