//! PIT, run directly: ralph's own arguments, the project's class path.
//!
//! The exit code alone proves nothing, a fresh and closed report does; a report folder is empty
//! before each run; a test that fails without any mutation is named by PIT's own process, not by what
//! tests print.

mod output;
mod plugin;
mod session;
mod tools;
mod watch;

pub(crate) use output::{RED, blame, described};
pub(crate) use plugin::MutantFilter;

use super::context::ModuleContext;
use super::jvm;
use super::maven::NETWORK_OR_DISK;
use super::report::{self, FailingTest, Mode, Owners, PitReport};
use crate::gate::GateAbort;
use crate::gate::commands::{Call, fresh_folder};
use crate::machine::facts::ProcessEnd;
use crate::source::text;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tools::Tools;

/// PIT's own default for [`PitRun::timeout`].
const FULL_TIMEOUT: u64 = 4_000;
/// Mutants that share a JVM: fewest and most.
const UNIT: (u64, u64) = (32, 200);
/// Bytes of class files for each mutant, by experience.
const BYTES_PER_MUTANT: u64 = 90;
const MAIN: &str = "org.pitest.mutationtest.commandline.MutationCoverageReport";
/// Options of PIT's own JVM: it lives for seconds (measured: docs/gate.md).
const OWN_JVM: [&str; 4] =
    ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dfile.encoding=UTF-8", "-Djava.awt.headless=true"];
/// PIT's filters that may hide written code, and have no place in Java; the plugin sees to what of them is right.
const FEATURES: &str = "-FANN,-FRECORD,-FLOGCALL,-FSTATI,-FKOTLIN,-FGROOVY";
/// Longest single argument; Linux refuses 128 KiB.
const MAX_ARGUMENT: usize = 60_000;

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
    /// Only count the mutants.
    pub(crate) dry: bool,
}

impl<'a> PitRun<'a> {
    /// A run with PIT's own patience, in shared JVMs.
    pub(crate) fn new(name: &'static str, tests: &'a BTreeSet<String>, filter: &'a MutantFilter) -> Self {
        Self { name, tests, filter, timeout: FULL_TIMEOUT, alone: false, skip_failing: false, dry: false }
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
    /// Those of them that passed in a run which a failing one would have ended.
    passed: RefCell<BTreeSet<String>>,
    /// Failing tests of others that a remark has named.
    remarked: RefCell<BTreeSet<String>>,
    /// Test classes of others that failed in a control: they are not asked again.
    unfit: RefCell<BTreeSet<String>>,
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
    /// Runs PIT once.
    fn start(&self, run: &PitRun<'_>) -> Result<PitEnd, GateAbort> {
        let context = self.module.context;
        let what = format!(
            "Mutating {} in {} (tests: {})",
            text::count(self.module.module.targets.len() as u64, "class"),
            self.module.label(),
            run.name
        );
        (context.ports.progress)(&what);
        let progress = |done, total| (context.ports.progress)(&format!("{what}: {done} of {total} mutants"));
        fresh_folder(&self.report_folder(run))?;
        let argv = self.arguments(run)?;
        let environment = self.module.built.project.surefire.environment.clone().into_iter();
        let environment: Vec<(String, String)> = environment.collect();
        let log = context.commands.next_log(run.name)?;
        let call = watch::while_running(&log, &progress, || {
            context.commands.run_into(&log, run.name, argv, &self.working_directory(), &environment)
        })?;
        self.read(run, &call)
    }

    fn report_folder(&self, run: &PitRun<'_>) -> PathBuf {
        self.module.folder("report").join(run.name)
    }

    fn read(&self, run: &PitRun<'_>, call: &Call) -> Result<PitEnd, GateAbort> {
        match &call.end {
            ProcessEnd::Exited { .. } | ProcessEnd::Signalled { .. } => {}
            ProcessEnd::TimedOut { .. } if !output::coverage_done(&call.output) => {
                return Ok(PitEnd::Hung(output::last_test(&call.output)));
            }
            ProcessEnd::TimedOut { .. } => return Err(self.module.context.commands.over_limit("")),
            other => {
                return Err(GateAbort::setup(
                    format!("PIT {}.", text::line(&other.to_string(), 300)),
                    "Install a JDK and set JAVA_HOME.",
                ));
            }
        }
        if output::found_nothing(&call.output) {
            return Ok(PitEnd::Report(Box::default()));
        }
        let failing = output::failing_tests(&call.output);
        if !failing.is_empty() {
            return Ok(PitEnd::Failing(failing));
        }
        if output::minion_died(&call.output) {
            return Ok(PitEnd::Died(output::last_test(&call.output)));
        }
        if !call.end.is_success() {
            let Some(words) = NETWORK_OR_DISK.iter().find(|words| call.output.contains(**words)) else {
                return Err(GateAbort::setup(
                    format!("PIT {}: {}", call.end, output::complaint(&call.output)),
                    "Look at PIT's log in the gate's folder.",
                ));
            };
            return Err(GateAbort::passing(
                format!("PIT {} and its log says: {words}.", call.end),
                "Check the space on the disk, then run the gate again.",
            ));
        }
        let is_changed = |class: &str, file: &str, line: u32| self.module.is_changed(class, file, line);
        let folder = self.report_folder(run);
        let controls = plugin::controls(&folder);
        let mode = if run.dry { Mode::Dry } else { Mode::Controlled(&controls) };
        let report = report::read_file(&folder.join("mutations.xml"), &self.owners, &is_changed, mode);
        let report = report.map_err(|why| {
            GateAbort::setup(
                format!("PIT's report gives no verdict: {why}."),
                "Look at PIT's log in the gate's folder, then run the gate again.",
            )
        })?;
        Ok(PitEnd::Report(Box::new(PitReport {
            reaching: plugin::reaching(&folder),
            slowest_test: output::slowest_test(&call.output),
            coverage_millis: output::coverage_millis(&call.output),
            millis: call.millis,
            left_out: left_out(run, call),
            ..report
        })))
    }

    fn arguments(&self, run: &PitRun<'_>) -> Result<Vec<String>, GateAbort> {
        let context = self.module.context;
        let java = jvm::java(context.commands)?;
        let project = &self.module.built.project;
        let launch = format!("{}:{}", self.tools.pit.join(":"), self.plugin.display());
        let classpath = self.write("classpath", &self.classpath().join("\n"))?;
        let mut argv = vec![java.display().to_string()];
        argv.extend(OWN_JVM.map(str::to_owned));
        if !run.filter.is_all() {
            let text = run.filter.text().map_err(|name| {
                GateAbort::setup(
                    format!("The name {name} cannot be given to PIT."),
                    "Set tests: all and scope: class.",
                )
            })?;
            argv.push(format!(
                "-Dralph.keep={}",
                self.write(&format!("{}.keep", run.name), &text)?.display()
            ));
        }
        argv.extend(["-cp".to_owned(), launch, MAIN.to_owned()]);
        let mut option = |name: &str, value: &str| argv.extend([format!("--{name}"), value.to_owned()]);
        option("reportDir", &self.report_folder(run).display().to_string());
        for classes in chunks(self.owners.keys().flat_map(|class| [class.clone(), format!("{class}$*")])) {
            option("targetClasses", &classes);
        }
        for tests in chunks(run.tests.iter().cloned()) {
            option("targetTests", &tests);
        }
        if run.tests.is_empty() {
            option("targetTests", "ralph.no.test");
        }
        option("sourceDirs", &format!("{},{}", project.sources, project.test_sources));
        option("classPathFile", &classpath.display().to_string());
        option("includeLaunchClasspath", "false");
        option("mutableCodePaths", &project.classes);
        option("outputFormats", "XML,HTML,RALPH");
        option("timestampedReports", "false");
        option("verbosity", "VERBOSE_NO_SPINNER");
        option("threads", &if run.alone { 1 } else { context.threads.max(1) }.to_string());
        option("skipFailingTests", if run.skip_failing { "true" } else { "false" });
        option("timeoutConst", &run.timeout.to_string());
        option("mutationEngine", plugin::ENGINE);
        let unit = if run.alone { 1 } else { self.unit(run) };
        option("mutationUnitSize", &unit.to_string());
        option("features", FEATURES);
        if run.dry {
            option("dryRun", "true");
        }
        let surefire = &project.surefire;
        for (name, groups) in
            [("includedGroups", &surefire.groups), ("excludedGroups", &surefire.excluded_groups)]
        {
            if let Some(groups) = groups {
                option(name, &groups.replace(' ', ","));
            }
        }
        let file = self.write("jvm-args", &self.jvm_arguments())?.display().to_string();
        // PIT splits one of the options at commas, the other at white space.
        let name = if file.contains(char::is_whitespace) { "jvmArgs" } else { "argLine" };
        option(name, &format!("@{file}"));
        Ok(argv)
    }

    /// So many that every processor has work, and that no JVM is started for a handful; and their control.
    fn unit(&self, run: &PitRun<'_>) -> u64 {
        let threads = self.module.context.threads as u64;
        if threads < 2 || run.dry {
            return 0;
        }
        let mutants = match &run.filter.mutants {
            Some(mutants) => mutants.len() as u64,
            None => self.class_bytes() / BYTES_PER_MUTANT,
        };
        (mutants / (2 * threads)).clamp(UNIT.0, UNIT.1) + 1
    }

    fn class_bytes(&self) -> u64 {
        let classes = Path::new(&self.module.built.project.classes);
        let size = |class: &String| {
            let file = classes.join(format!("{}.class", class.replace('.', "/")));
            fs_err::metadata(file).map_or(0, |data| data.len())
        };
        self.owners.keys().map(size).max().unwrap_or(0)
    }

    /// Test classes, classes, dependencies, then what of PIT the tests' JVM needs, and ralph's engine.
    fn classpath(&self) -> Vec<String> {
        let project = &self.module.built.project;
        let mut entries = vec![project.test_classes.clone(), project.classes.clone()];
        entries.extend(self.module.built.classpath.iter().cloned());
        entries.extend(project.surefire.more_classpath.iter().cloned());
        entries.extend(self.tools.child.iter().cloned());
        entries.push(self.plugin.display().to_string());
        entries
    }

    /// An argument file (JDK `java @argfiles`): the only way to hand PIT's children a space.
    fn jvm_arguments(&self) -> String {
        let surefire = &self.module.built.project.surefire;
        // A mutant undoes what the compiler knows of its class: quick code pays more than good code.
        let own = surefire.jvm_args.iter().chain(&self.module.context.settings.jvm_args).map(String::as_str);
        let mut all: Vec<String> = jvm::quick(own).into_iter().map(str::to_owned).collect();
        all.extend([
            format!("-Dbasedir={}", self.module.maven.home.display()),
            "-Dfile.encoding=UTF-8".to_owned(),
        ]);
        all.extend(surefire.jvm_args.iter().cloned());
        all.extend(surefire.properties.iter().map(|(name, value)| format!("-D{name}={value}")));
        all.extend(self.module.context.settings.jvm_args.iter().cloned());
        let quoted = all.iter().map(|argument| {
            let escaped =
                argument.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\r', "");
            format!("\"{escaped}\"\n")
        });
        quoted.collect()
    }

    fn working_directory(&self) -> PathBuf {
        let configured = self.module.built.project.surefire.working_directory.as_ref().map(PathBuf::from);
        configured.filter(|folder| folder.is_dir()).unwrap_or_else(|| self.module.maven.home.clone())
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, GateAbort> {
        let folder = self.module.folder("work");
        fs_err::create_dir_all(&folder)?;
        let file = folder.join(name);
        fs_err::write(&file, text)?;
        Ok(file)
    }
}

/// Of the tests that a run left out, those of classes that it was given.
fn left_out(run: &PitRun<'_>, call: &Call) -> BTreeSet<FailingTest> {
    let mut failing = if run.skip_failing { output::left_out(&call.output) } else { BTreeSet::new() };
    failing.retain(|test| run.tests.contains(&test.class));
    failing
}

/// Joined by commas, each piece short enough for one argument.
fn chunks(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut chunks: Vec<String> = Vec::new();
    for name in names {
        match chunks.last_mut() {
            Some(last) if last.len() + name.len() < MAX_ARGUMENT => {
                last.push(',');
                last.push_str(&name);
            }
            _ => chunks.push(name),
        }
    }
    chunks
}
