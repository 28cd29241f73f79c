//! PIT, run directly: ralph's own arguments, the project's class path.
//!
//! The exit code alone proves nothing, a fresh and closed report does; a report folder is empty
//! before each run; a test that is red without any mutation is named by PIT's own process, not by what
//! tests print.

mod output;
mod plugin;
mod tools;
mod watch;

pub(crate) use output::RedTest;
pub(crate) use plugin::{Keep, Reaching};
pub(crate) use tools::{Framework, Tools};

use super::maven::{Built, PASSING};
use super::report::{self, IsChanged, MAX_BYTES, Mode, Owners, Parsed};
use crate::gate::GateAbort;
use crate::gate::commands::{Call, Commands, disk, fresh_folder};
use crate::machine::facts::ProcessEnd;
use crate::source::text;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const MAIN: &str = "org.pitest.mutationtest.commandline.MutationCoverageReport";
/// Options of PIT's own JVM: it lives for seconds (measured: docs/gate.md).
const OWN_JVM: [&str; 4] =
    ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Dfile.encoding=UTF-8", "-Djava.awt.headless=true"];
/// Longest single argument; Linux refuses 128 KiB.
const MAX_ARGUMENT: usize = 60_000;

/// One module as PIT sees it.
pub(crate) struct Pit<'a> {
    /// The module's folder.
    pub(crate) home: &'a Path,
    /// Its build.
    pub(crate) built: &'a Built,
    /// PIT's jars and those that the test framework needs.
    pub(crate) tools: &'a Tools,
    /// Classes to mutate, with the target each belongs to.
    pub(crate) owners: &'a Owners,
    /// Arguments for the JVMs of tests, beside the project's own.
    pub(crate) jvm_args: &'a [String],
    /// PIT's threads.
    pub(crate) threads: usize,
    /// Where the lists for PIT are written.
    pub(crate) work: &'a Path,
    /// The compiled plugin.
    pub(crate) plugin: &'a Path,
    /// Lines that the family changed.
    pub(crate) is_changed: IsChanged<'a>,
    /// Is told how many mutants of how many are done.
    pub(crate) progress: &'a (dyn Fn(u64, u64) + Sync),
}

/// What one run is to do.
#[derive(Clone, Debug)]
pub(crate) struct PitRun<'a> {
    /// Name of the call's log.
    pub(crate) name: &'a str,
    /// Test classes to run.
    pub(crate) tests: &'a BTreeSet<String>,
    /// Leave out tests that are red without any mutation; else they end the run.
    pub(crate) skip_red: bool,
    /// One JVM per mutant.
    pub(crate) alone: bool,
    /// Count the mutants with the annotation filters off, run none.
    pub(crate) unfiltered: bool,
    /// The mutants to run.
    pub(crate) keep: &'a Keep,
    /// Mutants that share a JVM; all of a class when 0.
    pub(crate) unit: u64,
    /// What a mutant may take beyond five quarters of the time of its tests, milliseconds.
    pub(crate) timeout: u64,
    /// Where the report goes; emptied first.
    pub(crate) report: &'a Path,
}

/// A whole report with what PIT says beside it.
#[derive(Debug, Default)]
pub(crate) struct PitResult {
    /// The report.
    pub(crate) parsed: Parsed,
    /// The tests that reach what is left.
    pub(crate) reaching: Reaching,
    /// The slowest test without mutation, milliseconds, where PIT names one.
    pub(crate) slowest_test: Option<u64>,
    /// Time of the tests without mutation, milliseconds.
    pub(crate) coverage_millis: u64,
    /// Wall time, milliseconds.
    pub(crate) millis: u64,
    /// Tests that were left out, by the word of the JVM in which they ran: good for a remark, not for blame.
    pub(crate) left_out: Vec<RedTest>,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) enum PitEnd {
    /// A whole report.
    Report(Box<PitResult>),
    /// PIT found nothing to mutate.
    NoMutants,
    /// These tests fail without any mutation.
    Red(Vec<RedTest>),
    /// The JVM of the tests died without any mutation, while this test ran (if PIT said).
    Died(Option<String>),
    /// The time was up while the tests ran without any mutation, in this test.
    Hung(Option<String>),
    /// No verdict.
    Abort(GateAbort),
}

impl Pit<'_> {
    /// Runs PIT once.
    pub(crate) fn run(&self, commands: &Commands<'_>, run: &PitRun<'_>) -> PitEnd {
        let prepared = fresh_folder(run.report).and_then(|()| self.arguments(commands, run));
        let call = prepared.and_then(|argv| {
            let surefire = &self.built.project.surefire;
            let environment: Vec<(String, String)> = surefire.environment.clone().into_iter().collect();
            let log = commands.next_log(run.name)?;
            watch::while_running(&log, self.progress, || {
                commands.run_into(&log, run.name, argv, &self.working_directory(), &environment)
            })
        });
        match call {
            Ok(call) => self.read(commands, run, &call),
            Err(abort) => PitEnd::Abort(abort),
        }
    }

    fn read(&self, commands: &Commands<'_>, run: &PitRun<'_>, call: &Call) -> PitEnd {
        match &call.end {
            ProcessEnd::Exited { .. } | ProcessEnd::Signalled { .. } => {}
            ProcessEnd::TimedOut { .. } if !output::coverage_done(&call.output) => {
                return PitEnd::Hung(output::last_test(&call.output));
            }
            ProcessEnd::TimedOut { .. } => return PitEnd::Abort(commands.over_limit()),
            other => {
                return PitEnd::Abort(GateAbort::setup(
                    format!("PIT {}.", text::line(&other.to_string(), 300)),
                    "Install a JDK and set JAVA_HOME.",
                ));
            }
        }
        if output::found_nothing(&call.output) {
            return PitEnd::NoMutants;
        }
        let red = output::red_tests(&call.output);
        if !red.is_empty() {
            return PitEnd::Red(red);
        }
        if output::minion_died(&call.output) {
            return PitEnd::Died(output::last_test(&call.output));
        }
        let report = run.report.join("mutations.xml");
        if let Some(words) =
            PASSING.iter().find(|words| !call.end.is_success() && call.output.contains(**words))
        {
            return PitEnd::Abort(GateAbort::passing(
                format!("PIT {} and its log says: {words}.", call.end),
                "Check the space on the disk, then run the gate again.",
            ));
        }
        if !call.end.is_success() {
            return PitEnd::Abort(GateAbort::setup(
                format!("PIT {}: {}", call.end, output::complaint(&call.output)),
                "Look at PIT's log in the gate's folder.",
            ));
        }
        let mode = if run.unfiltered { Mode::Dry } else { Mode::Full };
        match read_report(&report, self.owners, self.is_changed, mode) {
            Ok(parsed) => PitEnd::Report(Box::new(PitResult {
                parsed,
                reaching: plugin::reaching(run.report),
                slowest_test: output::slowest_test(&call.output),
                coverage_millis: output::coverage_millis(&call.output),
                millis: call.millis,
                left_out: left_out(run, call),
            })),
            Err(why) => PitEnd::Abort(GateAbort::setup(
                format!("PIT's report gives no verdict: {why}."),
                "Look at PIT's log in the gate's folder, then run the gate again.",
            )),
        }
    }

    fn arguments(&self, commands: &Commands<'_>, run: &PitRun<'_>) -> Result<Vec<String>, GateAbort> {
        let java = java(commands)?;
        let project = &self.built.project;
        let launch = format!("{}:{}", self.tools.pit.join(":"), self.plugin.display());
        let classpath = self.write("classpath", &self.classpath().join("\n"))?;
        let mut argv = vec![java.display().to_string()];
        argv.extend(OWN_JVM.map(str::to_owned));
        if !run.keep.is_all() {
            let text = run.keep.text().map_err(|name| {
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
        option("reportDir", &run.report.display().to_string());
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
        option("threads", &if run.alone { 1 } else { self.threads.max(1) }.to_string());
        option("skipFailingTests", if run.skip_red { "true" } else { "false" });
        option("timeoutConst", &run.timeout.to_string());
        option("mutationUnitSize", &if run.alone { 1 } else { run.unit }.to_string());
        if run.unfiltered {
            option("dryRun", "true");
            option("features", "-FANN");
        }
        let surefire = &project.surefire;
        if let Some(groups) = &surefire.groups {
            option("includedGroups", &groups.split([' ', ',']).collect::<Vec<_>>().join(","));
        }
        if let Some(groups) = &surefire.excluded_groups {
            option("excludedGroups", &groups.split([' ', ',']).collect::<Vec<_>>().join(","));
        }
        let file = self.write("jvm-args", &self.jvm_arguments())?.display().to_string();
        // PIT splits one of the options at commas, the other at white space.
        let name = if file.contains(char::is_whitespace) { "jvmArgs" } else { "argLine" };
        option(name, &format!("@{file}"));
        Ok(argv)
    }

    /// Test classes, classes, dependencies, then what of PIT the tests' JVM needs.
    fn classpath(&self) -> Vec<String> {
        let project = &self.built.project;
        let mut entries = vec![project.test_classes.clone(), project.classes.clone()];
        entries.extend(self.built.classpath.iter().cloned());
        entries.extend(project.surefire.more_classpath.iter().cloned());
        entries.extend(self.tools.child.iter().cloned());
        entries
    }

    /// An argument file (JDK `java @argfiles`): the only way to hand PIT's children a space.
    fn jvm_arguments(&self) -> String {
        let surefire = &self.built.project.surefire;
        // A mutant undoes what the compiler knows of its class: quick code pays more than good code.
        let own = surefire.jvm_args.iter().chain(self.jvm_args).map(String::as_str);
        let mut all: Vec<String> = super::jvm::quick(own).into_iter().map(str::to_owned).collect();
        all.extend([format!("-Dbasedir={}", self.home.display()), "-Dfile.encoding=UTF-8".to_owned()]);
        all.extend(surefire.jvm_args.iter().cloned());
        all.extend(surefire.properties.iter().map(|(name, value)| format!("-D{name}={value}")));
        all.extend(self.jvm_args.iter().cloned());
        let quoted = all.iter().map(|argument| {
            let escaped =
                argument.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\r', "");
            format!("\"{escaped}\"\n")
        });
        quoted.collect()
    }

    fn working_directory(&self) -> PathBuf {
        let configured = self.built.project.surefire.working_directory.as_ref().map(PathBuf::from);
        configured.filter(|folder| folder.is_dir()).unwrap_or_else(|| self.home.to_owned())
    }

    fn write(&self, name: &str, text: &str) -> Result<PathBuf, GateAbort> {
        crate::gate::commands::make_folder(self.work)?;
        let file = self.work.join(name);
        fs_err::write(&file, text).map_err(|error| disk(&error))?;
        Ok(file)
    }
}

/// Of the tests that a run left out, those of classes that it was given.
fn left_out(run: &PitRun<'_>, call: &Call) -> Vec<RedTest> {
    let mut red = if run.skip_red { output::left_out(&call.output) } else { Vec::new() };
    red.retain(|test| run.tests.contains(&test.class));
    red
}

/// Reads a report file; an error is a phrase.
pub(crate) fn read_report(
    file: &Path,
    owners: &Owners,
    is_changed: IsChanged<'_>,
    mode: Mode,
) -> Result<Parsed, String> {
    let data = fs_err::symlink_metadata(file).map_err(|_| "there is no mutations.xml".to_owned())?;
    if !data.is_file() {
        return Err("mutations.xml is no regular file".to_owned());
    }
    if data.len() > MAX_BYTES {
        return Err("mutations.xml is larger than 4 GiB".to_owned());
    }
    let file = fs_err::File::open(file).map_err(|error| text::line(&error.to_string(), 300))?;
    report::read(file, owners, is_changed, mode)
}

/// Ralph's plugin for PIT, compiled for these jars.
pub(crate) fn plugin(commands: &Commands<'_>, tools: &Tools, cache: &Path) -> Result<PathBuf, GateAbort> {
    plugin::classes(commands, &java(commands)?, &tools.pit, cache)
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

/// The JVM that runs PIT.
pub(crate) fn java(commands: &Commands<'_>) -> Result<PathBuf, GateAbort> {
    let home = commands.variable("JAVA_HOME").filter(|home| home.starts_with('/'));
    let own = home
        .map(|home| Path::new(home).join("bin/java"))
        .filter(|java| crate::gate::commands::is_executable(java));
    own.or_else(|| commands.find("java")).ok_or_else(|| {
        GateAbort::setup(
            "Java is not there: neither JAVA_HOME nor the PATH leads to it.".to_owned(),
            "Install a JDK and set JAVA_HOME.",
        )
    })
}
