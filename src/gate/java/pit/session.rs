//! The runs of PIT over one module, with the second runs that their ends ask for.
//!
//! A test that fails or ends its JVM without any mutation is the family's fault only if the family answers for
//! it.
//!
//! A run in which a control failed or has no verdict, or a mutant ended in an error of the JVM, is repeated once.
//!
//! A mutant may take 1.25 times the time of its tests and a constant: 1 s, up to PIT's own 4 s where an earlier run showed slow tests.
//! PIT names each test as it begins, so a tenth of the gate's limit without output is a test that hangs.

use super::super::context::line_ranges;
use super::super::jvm;
use super::super::module_state::CompiledModule;
use super::super::report::{FailingTest, PitReport};
use super::super::{context::ModuleContext, maven};
use super::tools::Tools;
use super::{FULL_TIMEOUT, MutantFilter, PitRun, PitSession, blame_tests, output, plugin};
use crate::gate::GateAbort;
use crate::gate::verdict::ModuleResult;
use crate::mutation::TraceTier;
use crate::source::text;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeSet;

/// [`PitRun::timeout`] for tests that are not known to be slow.
const QUICK_TIMEOUT: u64 = 1_000;
/// Milliseconds in which a run of PIT begins, reads the classes and ends.
const QUICK: u64 = 3_000;
/// The kind of the facts in ralph's cache that are times of tests.
const TIMES: &str = "test-times";
/// Test classes that a trace names.
const NAMED: usize = 20;

impl<'a> PitSession<'a> {
    pub(crate) fn new(module: &'a ModuleContext<'a>) -> Result<Self, GateAbort> {
        let tools = Tools::resolve_tools(module)?;
        let plugin = plugin::compiled_plugin(module, &tools.pit)?;
        let (owners, accountable_tests) = (module.class_owners(), module.accountable_tests());
        Ok(Self {
            module,
            tools,
            plugin,
            owners,
            accountable_tests,
            remarked: RefCell::default(),
            failed_control: RefCell::default(),
            single_jvm: Cell::default(),
            state: OnceCell::new(),
        })
    }

    /// The same at the family's base, where a failing test is not its fault.
    pub(crate) fn at_base(module: &'a ModuleContext<'a>) -> Result<Self, GateAbort> {
        Ok(Self {
            accountable_tests: BTreeSet::new(),
            ..Self::new(module)?
        })
    }

    /// The compiled module, read once: no run may change it. `None` in place.
    pub(crate) fn module_state(&self) -> Option<&CompiledModule> {
        let state = self.state.get_or_init(|| self.module.read_state());
        state.as_ref()
    }

    /// The lines that the module's targets are judged by.
    pub(crate) fn line_filter(&self) -> MutantFilter {
        MutantFilter {
            lines: line_ranges(&self.module.module.targets),
            mutants: None,
        }
    }

    /// Runs PIT, with the second runs that its ends ask for, and puts that into the trace.
    pub(crate) fn run_pit(
        &self,
        asked: &PitRun<'_>,
        note: &str,
        result: &mut ModuleResult,
    ) -> Result<PitReport, GateAbort> {
        let tests = asked
            .tests
            .difference(&self.failed_control.borrow())
            .cloned()
            .collect();
        let asked = &PitRun {
            tests: &tests,
            ..asked.clone()
        };
        let report = self.repeat_doubtful(asked, self.start_pit(asked)?, result)?;
        self.remark_failures(
            &report.left_out,
            "fail even without mutation and were excluded",
            result,
        );
        self.leave_out_failed_controls(&report.failed_control, result)?;
        self.trace_run(result, asked, &report, note);
        Ok(report)
    }

    /// Names the failing tests of others, each once, and says what they `do`.
    fn remark_failures(
        &self,
        failing: &BTreeSet<FailingTest>,
        does: &str,
        result: &mut ModuleResult,
    ) {
        let mut remarked = self.remarked.borrow_mut();
        let new: Vec<&str> = failing
            .iter()
            .filter(|test| {
                !self.accountable_tests.contains(&test.class) && remarked.insert(test.name.clone())
            })
            .map(|test| test.name.as_str())
            .collect();
        if !new.is_empty() {
            result.remarks.push(format!(
                "Unrelated tests of {} {does}: {}.",
                self.module.module_label(),
                text::names(new, 5)
            ));
        }
    }

    /// A test that failed in a control has killed nothing; its class is not asked again.
    fn leave_out_failed_controls(
        &self,
        failing: &BTreeSet<FailingTest>,
        result: &mut ModuleResult,
    ) -> Result<(), GateAbort> {
        blame_tests(&self.accountable_tests, failing, output::FAILED_CONTROL)?;
        self.remark_failures(
            failing,
            "fail in PIT's worker on unmutated code, so their classes were excluded",
            result,
        );
        let mut unfit = self.failed_control.borrow_mut();
        let classes: BTreeSet<String> = failing.iter().map(|test| test.class.clone()).collect();
        if let Some(class) = classes.intersection(&unfit).next() {
            return Err(
                self.unclear_verdict(&format!("{class} ran although it was to be left out"))
            );
        }
        unfit.extend(classes);
        Ok(())
    }

    pub(crate) fn note_report(&self, name: &str, result: &mut ModuleResult) {
        let index = self
            .module
            .gate_folder("report")
            .join(name)
            .join("index.html");
        if index.is_file() {
            result.reports.push(index.display().to_string());
        }
    }

    /// Repeats a run once if a control failed next to another JVM or has no verdict, or if mutants ended in an error of the JVM: with
    /// one JVM at a time, and with PIT's own patience, since the first test in a JVM may be slow. Mutants that ended in an error
    /// get a JVM each, unless a control ended as well: tests that fail or end a control next to another JVM and not alone need
    /// something that one JVM can have (a port, a file). From then on there is one.
    fn repeat_doubtful(
        &self,
        run: &PitRun<'_>,
        report: PitReport,
        result: &mut ModuleResult,
    ) -> Result<PitReport, GateAbort> {
        let errors = report.tally_mutants().errors;
        let is_beside = self.thread_count() > 1;
        let is_clear = errors == 0 && report.uncontrolled.is_empty();
        let ends_controls = is_beside && report.unclear && errors > 0;
        if run.alone || is_clear && (report.failed_control.is_empty() || !is_beside) {
            return Ok(report);
        }
        let single_jvm = self.single_jvm.replace(true);
        let again = self.start_pit(&PitRun {
            alone: errors > 0 && !ends_controls,
            timeout: FULL_TIMEOUT,
            makes_map: false,
            ..run.clone()
        });
        // A second run that is red clears no test of the first.
        if matches!(again, Err(GateAbort::Fail { .. })) && !report.failed_control.is_empty() {
            self.single_jvm.set(single_jvm);
            return Ok(report);
        }
        let again = again?;
        let label = self.module.module_label();
        let errors_again = again.tally_mutants().errors;
        let failed = report.failed_control.difference(&again.failed_control);
        let mut healed: Vec<&str> = failed.map(|test| test.name.as_str()).collect();
        if ends_controls && errors_again < errors {
            healed.push("what sets them up");
        }
        if is_beside && !healed.is_empty() {
            result.remarks.push(format!(
                "Tests of {label} fail while another JVM runs and pass alone, so mutants ran in one JVM at a time: {}. Look for a fixed port, file or database; gates.{}.jobs: 1 saves the first run.",
                text::names(healed, 5),
                self.module.context.request.name
            ));
        } else {
            self.single_jvm.set(single_jvm);
            if errors > 0 {
                result.remarks.push(format!(
                    "{} of {label} ended in an error of the JVM; run again, {errors_again} did.",
                    text::count(errors, "mutant"),
                ));
            }
        }
        Ok(PitReport {
            executed: report.executed,
            ..again
        })
    }

    /// What a mutant may take beyond five quarters of the time of its tests: PIT's own patience when these
    /// tests are known to be slow, less when they are quick or not known yet. Where it decides, a time-out
    /// is looked at again in any case.
    pub(crate) fn mutant_timeout(&self, tests: &BTreeSet<String>) -> u64 {
        let slowest = self.known_times(tests).map(|(slowest, _)| slowest);
        let fit = slowest.map_or(QUICK_TIMEOUT, |test| {
            test.saturating_mul(2).saturating_add(500)
        });
        fit.clamp(QUICK_TIMEOUT, FULL_TIMEOUT)
    }

    /// Keeps how slow the slowest of these tests was, and the most that all of them have taken.
    pub(crate) fn remember_times(
        &self,
        tests: &BTreeSet<String>,
        report: &PitReport,
    ) -> Result<(), GateAbort> {
        let Some(slowest) = report.slowest_test else {
            return Ok(());
        };
        let all = self
            .known_times(tests)
            .map_or(0, |(_, all)| all)
            .max(report.coverage_millis);
        self.module
            .context
            .disk_cache(TIMES)
            .remember(&self.times_key(tests), &(slowest, all))
    }

    /// Milliseconds of the slowest of these tests, and of all, if they have run before.
    pub(super) fn known_times(&self, tests: &BTreeSet<String>) -> Option<(u64, u64)> {
        self.module
            .context
            .disk_cache(TIMES)
            .recall(&self.times_key(tests))
    }

    /// These tests are known to take so little that controls beside a search cost less than another run.
    pub(crate) fn is_quick(&self, tests: &BTreeSet<String>) -> bool {
        self.known_times(tests).is_some_and(|(_, all)| all < QUICK)
    }

    fn times_key(&self, tests: &BTreeSet<String>) -> String {
        // The folder tells projects apart whose modules have the same label.
        let home = self.module.maven.home.display().to_string();
        let parts = std::iter::once(home.as_str()).chain(tests.iter().map(String::as_str));
        maven::digest_parts(parts)
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
    fn trace_run(
        &self,
        result: &mut ModuleResult,
        run: &PitRun<'_>,
        report: &PitReport,
        note: &str,
    ) {
        let tally = report.tally_mutants();
        let context = self.module.context;
        let jdk = self
            .module
            .find_java()
            .ok()
            .and_then(|java| jvm::jdk_version(&java));
        let jdk = jdk.unwrap_or_else(|| "of an unknown version".to_owned());
        result.trace.tiers.push(TraceTier {
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
