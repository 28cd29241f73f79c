//! PIT over one module, made ready once and run as often as it takes.
//!
//! A red or deadly test is the family's fault only when the family answers for it; tests that it answers
//! for run first where a red one ends the run, by the word of PIT's own process; with part of the tests only a
//! pass is a verdict; what a machine under load makes of tests is asked again alone.

use super::context::ModuleContext;
use super::context::blame;
use super::context::{ChangedOf, lines};
use super::pit::{self, Framework, Keep, Pit, PitEnd, PitResult, PitRun, RedTest, Tools};
use super::report::{Owners, Parsed};
use super::tiers::{self, Tier};
use crate::gate::GateAbort;
use crate::gate::disk_cache::DiskCache;
use crate::gate::verdict::ModuleResult;
use crate::mutation::TraceTier;
use crate::source::text;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// PIT's own default.
pub(crate) const FULL_TIMEOUT: u64 = 4_000;
/// The same for tests that are not known to be slow.
const QUICK_TIMEOUT: u64 = 1_000;
/// Mutants that share a JVM: fewest and most.
const UNIT: (u64, u64) = (32, 200);
/// Bytes of class files for each mutant, by experience.
const BYTES_PER_MUTANT: u64 = 90;

/// Test classes that a trace names.
const NAMED: usize = 20;

/// One run to be made; the fields are those of [`PitRun`].
pub(crate) struct PitRunOrder<'a> {
    pub(crate) name: &'static str,
    pub(crate) tests: &'a BTreeSet<String>,
    pub(crate) keep: &'a Keep,
    pub(crate) timeout: u64,
    pub(crate) alone: bool,
}

/// A module that is ready to be measured.
pub(crate) struct PitSession<'a> {
    place: &'a ModuleContext<'a>,
    tools: Tools,
    plugin: PathBuf,
    /// Classes to mutate, with the target each belongs to.
    pub(crate) owners: Owners,
    changed: ChangedOf,
    /// The family answers for the tests that it changed; not at its base.
    answerable: BTreeSet<String>,
    /// Those of them that are not red: they ran where a red one ends the run.
    passed: RefCell<BTreeSet<String>>,
    /// Red tests of others that a remark names.
    told: RefCell<BTreeSet<String>>,
}

impl<'a> PitSession<'a> {
    pub(crate) fn new(place: &'a ModuleContext<'a>, owners: Owners) -> Result<Self, GateAbort> {
        let context = place.context;
        let framework = Framework::of(&place.built.classpath);
        if framework == Framework::TestNg {
            return Err(GateAbort::setup(
                format!("Module {} tests with TestNG, which the direct engine cannot run.", place.label()),
                "Use gates.<NAME>.engine: maven with pitest-maven and pitest-testng-plugin in the POM.",
            ));
        }
        let tools = Tools::get(
            place.maven,
            context.commands,
            &context.settings.pit_version,
            &framework,
            place.built,
        )?;
        let plugin = pit::plugin(context.commands, &tools, &context.request.cache)?;
        let changed = place.changed_lines();
        let answerable = place.answerable();
        let (passed, told) = (RefCell::default(), RefCell::default());
        Ok(Self { place, tools, plugin, owners, changed, answerable, passed, told })
    }

    /// The same at the family's base, where nobody answers for a red test.
    pub(crate) fn at_base(place: &'a ModuleContext<'a>, owners: Owners) -> Result<Self, GateAbort> {
        Ok(Self { answerable: BTreeSet::new(), ..Self::new(place, owners)? })
    }

    /// The lines that the module's targets are judged by.
    pub(crate) fn lines(&self) -> Keep {
        Keep { lines: lines(&self.place.module.targets), mutants: None }
    }

    /// Runs PIT, with the second runs that its ends ask for.
    pub(crate) fn run(
        &self,
        look: &PitRunOrder<'_>,
        result: &mut ModuleResult,
    ) -> Result<PitResult, GateAbort> {
        let report = self.place.folder("report").join(look.name);
        let answerable: BTreeSet<String> = look.tests.intersection(&self.answerable).cloned().collect();
        let mut run = PitRun {
            name: look.name,
            tests: look.tests,
            skip_red: answerable.is_subset(&self.passed.borrow()),
            alone: look.alone,
            unfiltered: false,
            keep: look.keep,
            unit: self.unit(look),
            timeout: look.timeout,
            report: &report,
        };
        let mut ran = self.start(&run);
        if let PitEnd::Report(whole) = &ran
            && self.blame(&whole.left_out).is_err()
        {
            // Only PIT's own process is believed where a test is to be blamed.
            run.skip_red = false;
            ran = self.start(&run);
        }
        let whole = match ran {
            PitEnd::Red(red) => {
                self.blame(&red)?;
                run.skip_red = true;
                let whole = self.whole(self.start(&run))?;
                PitResult { left_out: red, ..whole }
            }
            PitEnd::Died(test) => {
                self.blame_class(test.as_deref(), "kills its JVM")?;
                if answerable.is_empty() {
                    return Err(self.unclear("a test kills its JVM without any mutation"));
                }
                run.tests = &answerable;
                let whole = self.whole(self.start(&run))?;
                self.must_pass(&whole, test.as_deref())?;
                result.remarks.push(format!(
                    "A test of {} kills its JVM without any mutation{}; the tests of the changed classes alone reach the threshold.",
                    self.place.label(),
                    test.map(|class| format!(" ({class})")).unwrap_or_default()
                ));
                whole
            }
            other => self.whole(other)?,
        };
        self.tell_left_out(&whole.left_out, result);
        self.passed.borrow_mut().extend(answerable.iter().cloned());
        self.repeat_errors(&run, whole, result)
    }

    /// Names the red tests of others, each once.
    fn tell_left_out(&self, red: &[RedTest], result: &mut ModuleResult) {
        let mut told = self.told.borrow_mut();
        let new: Vec<&str> = red
            .iter()
            .filter(|test| !self.answerable.contains(&test.class) && told.insert(test.name.clone()))
            .map(|test| test.name.as_str())
            .collect();
        if !new.is_empty() {
            result.remarks.push(format!(
                "Tests of {} that have nothing to do with the changed classes fail without any mutation and were left out: {}.",
                self.place.label(),
                text::names(new, 5)
            ));
        }
    }

    pub(crate) fn tell_report(&self, name: &str, result: &mut ModuleResult) {
        let index = self.place.folder("report").join(name).join("index.html");
        if index.is_file() {
            result.reports.push(index.display().to_string());
        }
    }

    /// How many mutants each target has with the annotation filters off.
    pub(crate) fn count_unfiltered(&self) -> Result<BTreeMap<String, u64>, GateAbort> {
        let report = self.place.folder("report").join("unfiltered");
        let (none, keep) = (BTreeSet::new(), self.lines());
        let run = PitRun {
            name: "unfiltered",
            tests: &none,
            skip_red: true,
            alone: false,
            unfiltered: true,
            keep: &keep,
            unit: 0,
            timeout: FULL_TIMEOUT,
            report: &report,
        };
        let whole = self.whole(self.start(&run))?;
        let count = |(class, counted): (String, super::report::Counted)| {
            (class, counted.pending + counted.tally.mutants())
        };
        Ok(whole.parsed.classes.into_iter().map(count).collect())
    }

    fn start(&self, run: &PitRun<'_>) -> PitEnd {
        let place = self.place;
        let context = place.context;
        let says = |what: String| (context.ports.progress)(&what);
        let what = format!(
            "Mutating {} in {} (tests: {})",
            text::count(place.module.targets.len() as u64, "class"),
            place.label(),
            run.name
        );
        says(what.clone());
        let work = place.folder("work");
        let is_changed = |class: &str, file: &str, line: u32| {
            self.changed.get(class).is_some_and(|(name, ranges)| {
                name == file && ranges.iter().any(|(first, last)| (*first..=*last).contains(&line))
            })
        };
        // A terminal draws over its line, a log would grow by one a second.
        let told = AtomicU64::new(0);
        let count = |done: u64, total: u64| {
            let tenth = 10 * done / total.max(1);
            if told.swap(tenth, Ordering::Relaxed) != tenth {
                says(format!("{what}: {done} of {total} mutants"));
            }
        };
        let subject = Pit {
            home: &place.home,
            built: place.built,
            tools: &self.tools,
            owners: &self.owners,
            jvm_args: &context.settings.jvm_args,
            threads: context.threads,
            work: &work,
            plugin: &self.plugin,
            is_changed: &is_changed,
            progress: &count,
        };
        subject.run(context.commands, run)
    }

    /// So many that every processor has work, and that no JVM is started for a handful.
    fn unit(&self, look: &PitRunOrder<'_>) -> u64 {
        let threads = self.place.context.threads as u64;
        if threads < 2 {
            return 0;
        }
        let mutants = match &look.keep.mutants {
            Some(mutants) => mutants.len() as u64,
            None => self.class_bytes() / BYTES_PER_MUTANT,
        };
        (mutants / (2 * threads)).clamp(UNIT.0, UNIT.1)
    }

    fn class_bytes(&self) -> u64 {
        let classes = Path::new(&self.place.built.project.classes);
        let size = |class: &String| {
            let file = classes.join(format!("{}.class", class.replace('.', "/")));
            fs_err::metadata(file).map_or(0, |data| data.len())
        };
        self.owners.keys().map(size).max().unwrap_or(0)
    }

    /// Mutants without a verdict get one more chance, each in a JVM of its own.
    fn repeat_errors(
        &self,
        run: &PitRun<'_>,
        whole: PitResult,
        result: &mut ModuleResult,
    ) -> Result<PitResult, GateAbort> {
        let count =
            |whole: &PitResult| whole.parsed.classes.values().map(|counted| counted.tally.errors).sum();
        let errors: u64 = count(&whole);
        if errors == 0 || run.alone {
            return Ok(whole);
        }
        let again = self.whole(self.start(&PitRun { alone: true, ..run.clone() }))?;
        let left: u64 = count(&again);
        result.remarks.push(format!(
            "{} of {} ended in an error of the JVM; with one JVM for each mutant {left} did.",
            text::count(errors, "mutant"),
            self.place.label()
        ));
        Ok(again)
    }

    fn whole(&self, ran: PitEnd) -> Result<PitResult, GateAbort> {
        match ran {
            PitEnd::Report(whole) => Ok(*whole),
            PitEnd::NoMutants => Ok(PitResult {
                parsed: Parsed { is_bare: true, ..Parsed::default() },
                ..PitResult::default()
            }),
            PitEnd::Abort(abort) => Err(abort),
            PitEnd::Red(red) => {
                self.blame(&red)?;
                let names = text::names(red.iter().map(|test| test.name.as_str()), 5);
                Err(self.unclear(&format!("{names} did not stay out")))
            }
            PitEnd::Died(test) => {
                self.blame_class(test.as_deref(), "kills its JVM")?;
                Err(self.unclear("the JVM of the tests died without any mutation"))
            }
            PitEnd::Hung(test) => {
                self.blame_class(test.as_deref(), "does not end")?;
                let named = test.map(|class| format!(" in {class}")).unwrap_or_default();
                let over = self.place.context.commands.over_limit();
                Err(match over {
                    GateAbort::Error { why, hint, transient } => {
                        let label = self.place.label();
                        let why = format!(
                            "{why} The tests of {label} were still running without any mutation{named}."
                        );
                        GateAbort::Error { why, hint, transient }
                    }
                    abort @ GateAbort::Fail { .. } => abort,
                })
            }
        }
    }

    /// What a mutant may take beyond five quarters of the time of its tests: PIT's own patience when these
    /// tests are known to be slow, less when they are quick or not known yet. Where it decides, a time-out
    /// is looked at again in any case.
    pub(crate) fn timeout(&self, tests: &BTreeSet<String>) -> u64 {
        let slowest: Option<u64> = self.slowest().recall(&self.key(tests));
        let fit = slowest.map_or(QUICK_TIMEOUT, |test| test.saturating_mul(2).saturating_add(500));
        fit.clamp(QUICK_TIMEOUT, FULL_TIMEOUT)
    }

    /// Keeps how slow the slowest of these tests was.
    pub(crate) fn remember(&self, tests: &BTreeSet<String>, slowest: Option<u64>) -> Result<(), GateAbort> {
        slowest.map_or(Ok(()), |millis| self.slowest().keep(&self.key(tests), &millis))
    }

    fn slowest(&self) -> DiskCache {
        DiskCache::of(&self.place.context.request.cache, "slowest-tests")
    }

    fn key(&self, tests: &BTreeSet<String>) -> String {
        let label = self.place.label();
        let parts = std::iter::once(label.as_str()).chain(tests.iter().map(String::as_str));
        super::maven::digest(parts.map(str::as_bytes))
    }

    /// No verdict, and a person must look.
    pub(crate) fn unclear(&self, what: &str) -> GateAbort {
        GateAbort::setup(
            format!("PIT gave no verdict on module {}: {what}.", self.place.label()),
            "Run the module's tests by hand and fix those that end the JVM or fail at times.",
        )
    }

    /// A failure when a red test is one that the family answers for.
    fn blame(&self, red: &[RedTest]) -> Result<(), GateAbort> {
        blame(&self.answerable, red)
    }

    fn blame_class(&self, class: Option<&str>, does: &str) -> Result<(), GateAbort> {
        match class {
            Some(class) if self.answerable.contains(class) => {
                Err(GateAbort::fail(format!("The test class {class} {does} without any mutation.")))
            }
            _ => Ok(()),
        }
    }

    /// With part of the tests only a pass is a verdict: more tests can only kill more.
    fn must_pass(&self, whole: &PitResult, test: Option<&str>) -> Result<(), GateAbort> {
        let place = self.place;
        if tiers::open(place.rule(), &place.module.targets, &whole.parsed).is_empty() {
            return Ok(());
        }
        let named = test.map(|class| format!(" ({class})")).unwrap_or_default();
        Err(self.unclear(&format!(
            "a test that has nothing to do with the changed classes kills its JVM{named}, and the others do not suffice"
        )))
    }

    /// Puts a run into the trace.
    pub(crate) fn trace(
        &self,
        result: &mut ModuleResult,
        tier: &Tier,
        whole: &PitResult,
        timeout: u64,
        note: &str,
    ) {
        let mut tally = crate::mutation::Tally::default();
        whole.parsed.classes.values().for_each(|counted| tally.join(&counted.tally));
        result.trace.tiers.push(TraceTier {
            module: self.place.label(),
            name: tier.name.to_owned(),
            note: note.to_owned(),
            tests: tier.tests.iter().take(NAMED).cloned().collect(),
            tests_total: tier.tests.len() as u64,
            mutants: tally.mutants(),
            killed: tally.killed + tally.timed_out,
            timed_out: tally.timed_out,
            coverage_millis: whole.coverage_millis,
            timeout_millis: timeout,
            millis: whole.millis,
        });
    }
}
