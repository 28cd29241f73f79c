//! The runs of PIT over one module, with the second runs that their ends ask for.
//!
//! A test that fails or ends its JVM without any mutation is the family's fault only if the family answers for
//! it.
//!
//! A run in which a control failed or has no verdict, or a mutant ended in an error of the JVM, is repeated once.
//!
//! A mutant may take 1.25 times the time of its tests and a constant: 1 s, and PIT's own 4 s in a second run.
//! PIT names each test as it begins, so a tenth of the gate's limit without output is a test that hangs.

use super::super::context::ModuleContext;
use super::super::jvm;
use super::super::report::{FailingTest, PitReport};
use super::tools::Tools;
use super::{FULL_TIMEOUT, PitRun, PitSession, plugin};
use crate::gate::GateAbort;
use crate::gate::verdict::ModuleResult;
use crate::mutation::TraceTier;
use crate::source::text;
use std::collections::BTreeSet;

/// Milliseconds in which a run of PIT begins, reads the classes and ends.
const QUICK: u64 = 3_000;
/// The kind of facts that the times of tests are.
const TIMES: &str = "test-times";
/// Test classes that a trace names.
const NAMED: usize = 20;

/// The ends of the reason against a test, and of the remark about tests of others: they fail before anything is mutated.
pub(super) const RED: [&str; 2] = [
    "fails without any mutation.",
    "fail even without mutation and were excluded",
];
/// The same for tests that fail in a control.
const FAILED_CONTROL: [&str; 2] = [
    "fails in PIT's worker on unmutated code: it detects mutation testing, or passes only once or in one JVM. Make it pass on every run.",
    "fail in PIT's worker on unmutated code, so their classes were excluded",
];

impl<'a> PitSession<'a> {
    /// Gets the tools ready. A failure of an accountable test is the family's fault.
    pub(crate) fn new(
        module: &'a ModuleContext<'a>,
        accountable_tests: BTreeSet<String>,
        result: &'a mut ModuleResult,
    ) -> Result<Self, GateAbort> {
        let tools = Tools::resolve_tools(module)?;
        let java = module.find_java()?;
        Ok(Self {
            module,
            result,
            plugin: plugin::compiled_plugin(module, &java, &tools.pit)?,
            java,
            tools,
            owners: module.class_owners(),
            accountable_tests,
            remarked: BTreeSet::new(),
            failed_control: BTreeSet::new(),
            single_jvm: false,
        })
    }

    /// Runs PIT, with the second runs that its ends ask for, and puts that into the trace.
    pub(crate) fn run_pit(&mut self, mut run: PitRun, note: &str) -> Result<PitReport, GateAbort> {
        run.tests.retain(|test| !self.failed_control.contains(test));
        let report = self.start_pit(&run)?;
        let report = self.repeat_doubtful(&run, report)?;
        // A test that failed in a control has killed nothing; its class is not asked again.
        self.note_failing(&report.failed_control, FAILED_CONTROL)?;
        let failing = report.failed_control.iter().map(|test| &test.class);
        let classes: BTreeSet<String> = failing.cloned().collect();
        if let Some(class) = classes.intersection(&self.failed_control).next() {
            let what = format!("{class} ran although it was to be left out");
            return Err(self.unclear_verdict(&what));
        }
        self.failed_control.extend(classes);
        self.trace_run(&run, &report, note);
        Ok(report)
    }

    /// A failure if the family answers for one of these tests. Others are named, each once.
    pub(super) fn note_failing(
        &mut self,
        failing: &BTreeSet<FailingTest>,
        [blame, remark]: [&str; 2],
    ) -> Result<(), GateAbort> {
        let accountable = failing
            .iter()
            .filter(|test| self.accountable_tests.contains(&test.class));
        let reasons = accountable.map(|test| format!("The test {} {blame}", test.name));
        let reasons: Vec<String> = reasons.take(10).collect();
        if !reasons.is_empty() {
            return Err(GateAbort::Fail { reasons });
        }
        let new = failing - &self.remarked;
        if !new.is_empty() {
            self.result.remarks.push(format!(
                "Unrelated tests of {} {remark}: {}.",
                self.module.module_label(),
                text::names(new.iter().map(|test| test.name.as_str()), 5)
            ));
        }
        self.remarked.extend(new);
        Ok(())
    }

    /// Notes the page of a run in place of any other.
    pub(crate) fn note_report(&mut self, name: &str) {
        let index = self.report_folder(name).join("index.html");
        let page = index.is_file().then(|| index.display().to_string());
        self.result.reports = page.into_iter().collect();
    }

    /// Repeats a run once if a control failed next to another JVM or has no verdict, or if mutants ended in an error of the JVM: with
    /// one JVM at a time, and with PIT's own patience, since the first test in a JVM may be slow. Mutants that ended in an error
    /// get a JVM each, unless a control ended as well: tests that fail or end a control next to another JVM and not alone need
    /// something that one JVM can have (a port, a file). From then on there is one.
    fn repeat_doubtful(&mut self, run: &PitRun, report: PitReport) -> Result<PitReport, GateAbort> {
        let errors = report.tally_mutants().errors;
        let is_beside = self.thread_count() > 1;
        let is_clear = errors == 0 && report.uncontrolled.is_empty();
        let ends_controls = is_beside && report.unclear && errors > 0;
        if run.alone || is_clear && (report.failed_control.is_empty() || !is_beside) {
            return Ok(report);
        }
        let single_jvm = std::mem::replace(&mut self.single_jvm, true);
        let again = self.start_pit(&PitRun {
            alone: errors > 0 && !ends_controls,
            timeout: FULL_TIMEOUT,
            ..run.clone()
        });
        self.single_jvm = single_jvm;
        // A second run that is red clears no test of the first.
        if matches!(again, Err(GateAbort::Fail { .. })) && !report.failed_control.is_empty() {
            return Ok(report);
        }
        let again = again?;
        let failed = report.failed_control.difference(&again.failed_control);
        let mut healed: Vec<&str> = failed.map(|test| test.name.as_str()).collect();
        if ends_controls && again.tally_mutants().errors < errors {
            healed.push("what sets them up");
        }
        if is_beside && !healed.is_empty() {
            self.single_jvm = true;
            self.result.remarks.push(format!(
                "Tests of {} fail while another JVM runs and pass alone, so mutants ran in one JVM at a time: {}. Look for a fixed port, file or database; gates.{}.jobs: 1 saves the first run.",
                self.module.module_label(),
                text::names(healed, 5),
                self.module.context.request.name
            ));
        }
        Ok(again)
    }

    /// Keeps the most that these tests have taken, if one ran.
    pub(crate) fn remember_millis(
        &self,
        tests: &BTreeSet<String>,
        report: &PitReport,
    ) -> Result<(), GateAbort> {
        if report.executed.tests.is_empty() {
            return Ok(());
        }
        let known = self.known_millis(tests).unwrap_or(0);
        let (times, key) = self.module.known_facts(TIMES, tests);
        times.remember(&key, &known.max(report.coverage_millis))
    }

    /// The most that these tests have taken together without mutation, if they have run before.
    pub(super) fn known_millis(&self, tests: &BTreeSet<String>) -> Option<u64> {
        let (times, key) = self.module.known_facts(TIMES, tests);
        times.recall(&key)
    }

    /// True for tests that are known to take so little time that controls cost less than another run.
    pub(crate) fn is_quick(&self, tests: &BTreeSet<String>) -> bool {
        self.known_millis(tests).is_some_and(|all| all < QUICK)
    }

    /// No verdict, and a person must look.
    pub(crate) fn unclear_verdict(&self, what: &str) -> GateAbort {
        GateAbort::setup(
            format!(
                "PIT gave no verdict on {}: {what}.",
                self.module.module_label()
            ),
            "Run the module's tests by hand and fix those that end the JVM or fail at times; gates.<NAME>.jvm_args: [-Xmx4g] gives them memory.",
        )
    }

    /// Puts a run into the trace.
    fn trace_run(&mut self, run: &PitRun, report: &PitReport, note: &str) {
        let tally = report.tally_mutants();
        let context = self.module.context;
        let jdk = jvm::jdk_version(&self.java);
        let jdk = jdk.unwrap_or_else(|| "of an unknown version".to_owned());
        self.result.trace.tiers.push(TraceTier {
            module: text::module_path(&context.package.name, &self.module.module.dir),
            name: run.name.to_owned(),
            engine: format!("PIT {} on JDK {jdk}", context.settings.pit_version),
            note: note.to_owned(),
            tests: run.tests.iter().take(NAMED).cloned().collect(),
            tests_total: run.tests.len() as u64,
            mutants: tally.mutants(),
            killed: tally.killed + tally.timed_out,
            timed_out: tally.timed_out,
            coverage_millis: report.coverage_millis,
            timeout_millis: run.timeout,
            millis: report.millis,
        });
    }
}
