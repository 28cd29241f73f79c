//! PIT over one module, made ready once and run as often as it takes.
//!
//! Owns: what a run needs (jars, plugin, classes, lists) and whose fault a run is that did not end well:
//! red tests, a JVM that died or hung, mutants without a verdict.
//!
//! Promises: a red or deadly test is the family's fault only when the family answers for it; tests that it answers
//! for run first where a red one ends the run, by the word of PIT's own process; with part of the tests only a
//! pass is a verdict; what a machine under load makes of tests is asked again alone.
//!
//! Refuses to know: tiers, thresholds beyond that question.

use super::measure::{ChangedOf, lines};
use super::memory::Memory;
use super::module::Place;
use super::module::blame;
use super::outcome::Outcome;
use super::pit::{self, Framework, Keep, Outcome as Ran, RedTest, Run, Subject, Tools, Whole};
use super::report::{Owners, Parsed};
use super::tiers;
use super::{Stop, words};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What a mutant may take beyond five quarters of the time of its tests, milliseconds; PIT's own default.
pub(crate) const FULL_TIMEOUT: u64 = 4_000;
/// The same for tests that are not known to be slow.
const QUICK_TIMEOUT: u64 = 1_000;
/// Mutants that share a JVM: fewest and most.
const UNIT: (u64, u64) = (32, 200);
/// Bytes of class files for each mutant, by experience.
const BYTES_PER_MUTANT: u64 = 90;

/// One run to be made.
pub(crate) struct Look<'a> {
    /// Its name, for logs and folders.
    pub(crate) name: &'static str,
    /// The test classes.
    pub(crate) tests: &'a BTreeSet<String>,
    /// The mutants.
    pub(crate) keep: &'a Keep,
    /// The time-out constant, milliseconds.
    pub(crate) timeout: u64,
    /// One JVM for each mutant, one after the other.
    pub(crate) alone: bool,
}

/// A module that is ready to be measured.
pub(crate) struct Session<'a> {
    place: &'a Place<'a>,
    tools: Tools,
    plugin: PathBuf,
    /// Classes to mutate, with the target each belongs to.
    pub(crate) owners: Owners,
    changed: ChangedOf,
    /// The family answers for the tests that it changed; not at its base.
    answerable: BTreeSet<String>,
    /// Those of them that are not red: they ran where a red one ends the run.
    passed: RefCell<BTreeSet<String>>,
    /// Red tests of others that were told.
    told: RefCell<BTreeSet<String>>,
}

impl<'a> Session<'a> {
    /// Gets the jars and compiles the plugin.
    pub(crate) fn new(place: &'a Place<'a>, owners: Owners) -> Result<Self, Stop> {
        let bench = place.bench;
        let framework = Framework::of(&place.built.classpath);
        if framework == Framework::TestNg {
            return Err(Stop::setup(
                format!("Module {} tests with TestNG, which the direct engine cannot run.", place.label()),
                "Use gates.<NAME>.engine: maven with pitest-maven and pitest-testng-plugin in the POM.",
            ));
        }
        let tools =
            Tools::get(place.maven, bench.calls, &bench.settings.pit_version, &framework, place.built)?;
        let plugin = pit::plugin(bench.calls, &tools, &bench.request.cache)?;
        let changed = place.changed_lines();
        let answerable = place.answerable();
        let (passed, told) = (RefCell::default(), RefCell::default());
        Ok(Self { place, tools, plugin, owners, changed, answerable, passed, told })
    }

    /// The same at the family's base, where nobody answers for a red test.
    pub(crate) fn at_base(place: &'a Place<'a>, owners: Owners) -> Result<Self, Stop> {
        Ok(Self { answerable: BTreeSet::new(), ..Self::new(place, owners)? })
    }

    /// The lines that the module's targets are judged by.
    pub(crate) fn lines(&self) -> Keep {
        Keep { lines: lines(&self.place.module.targets), mutants: None }
    }

    /// Runs PIT, with the second runs that its ends ask for.
    pub(crate) fn run(&self, look: &Look<'_>, outcome: &mut Outcome) -> Result<Whole, Stop> {
        let report = self.place.folder("report").join(look.name);
        let answerable: BTreeSet<String> = look.tests.intersection(&self.answerable).cloned().collect();
        let mut run = Run {
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
        if let Ran::Report(whole) = &ran
            && self.blame(&whole.left_out).is_err()
        {
            // Only PIT's own process is believed where a test is to be blamed.
            run.skip_red = false;
            ran = self.start(&run);
        }
        let whole = match ran {
            Ran::Red(red) => {
                self.blame(&red)?;
                run.skip_red = true;
                let whole = self.whole(self.start(&run))?;
                Whole { left_out: red, ..whole }
            }
            Ran::Died(test) => {
                self.blame_class(test.as_deref(), "kills its JVM")?;
                if answerable.is_empty() {
                    return Err(self.unclear("a test kills its JVM without any mutation"));
                }
                run.tests = &answerable;
                let whole = self.whole(self.start(&run))?;
                self.must_pass(&whole, test.as_deref())?;
                outcome.remarks.push(format!(
                    "A test of {} kills its JVM without any mutation{}; the tests of the changed classes alone reach the threshold.",
                    self.place.label(),
                    test.map(|class| format!(" ({class})")).unwrap_or_default()
                ));
                whole
            }
            other => self.whole(other)?,
        };
        self.tell_left_out(&whole.left_out, outcome);
        self.passed.borrow_mut().extend(answerable.iter().cloned());
        self.repeat_errors(&run, whole, outcome)
    }

    /// Names the red tests of others, each once.
    fn tell_left_out(&self, red: &[RedTest], outcome: &mut Outcome) {
        let mut told = self.told.borrow_mut();
        let new: Vec<&str> = red
            .iter()
            .filter(|test| !self.answerable.contains(&test.class) && told.insert(test.name.clone()))
            .map(|test| test.name.as_str())
            .collect();
        if !new.is_empty() {
            outcome.remarks.push(format!(
                "Tests of {} that have nothing to do with the changed classes fail without any mutation and were left out: {}.",
                self.place.label(),
                words::names(new, 5)
            ));
        }
    }

    /// Names the HTML report of the run of this name.
    pub(crate) fn tell_report(&self, name: &str, outcome: &mut Outcome) {
        let index = self.place.folder("report").join(name).join("index.html");
        if index.is_file() {
            outcome.reports.push(index.display().to_string());
        }
    }

    /// How many mutants each target has with the annotation filters off.
    pub(crate) fn count_unfiltered(&self) -> Result<BTreeMap<String, u64>, Stop> {
        let report = self.place.folder("report").join("unfiltered");
        let (none, keep) = (BTreeSet::new(), self.lines());
        let run = Run {
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

    fn start(&self, run: &Run<'_>) -> Ran {
        let place = self.place;
        let bench = place.bench;
        let says = |what: String| (bench.hands.progress)(&what);
        let what = format!(
            "Mutating {} in {} (tests: {})",
            words::count(place.module.targets.len() as u64, "class"),
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
        let subject = Subject {
            home: &place.home,
            built: place.built,
            tools: &self.tools,
            owners: &self.owners,
            jvm_args: &bench.settings.jvm_args,
            threads: bench.threads,
            work: &work,
            plugin: &self.plugin,
            is_changed: &is_changed,
            progress: &count,
        };
        subject.run(bench.calls, run)
    }

    /// So many that every processor has work, and that no JVM is started for a handful.
    fn unit(&self, look: &Look<'_>) -> u64 {
        let threads = self.place.bench.threads as u64;
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
    fn repeat_errors(&self, run: &Run<'_>, whole: Whole, outcome: &mut Outcome) -> Result<Whole, Stop> {
        let count = |whole: &Whole| whole.parsed.classes.values().map(|counted| counted.tally.errors).sum();
        let errors: u64 = count(&whole);
        if errors == 0 || run.alone {
            return Ok(whole);
        }
        let again = self.whole(self.start(&Run { alone: true, ..run.clone() }))?;
        let left: u64 = count(&again);
        outcome.remarks.push(format!(
            "{} of {} ended in an error of the JVM; with one JVM for each mutant {left} did.",
            words::count(errors, "mutant"),
            self.place.label()
        ));
        Ok(again)
    }

    fn whole(&self, ran: Ran) -> Result<Whole, Stop> {
        match ran {
            Ran::Report(whole) => Ok(*whole),
            Ran::NoMutants => {
                Ok(Whole { parsed: Parsed { is_bare: true, ..Parsed::default() }, ..Whole::default() })
            }
            Ran::Stop(stop) => Err(stop),
            Ran::Red(red) => {
                self.blame(&red)?;
                let names = words::names(red.iter().map(|test| test.name.as_str()), 5);
                Err(self.unclear(&format!("{names} did not stay out")))
            }
            Ran::Died(test) => {
                self.blame_class(test.as_deref(), "kills its JVM")?;
                Err(self.unclear("the JVM of the tests died without any mutation"))
            }
            Ran::Hung(test) => {
                self.blame_class(test.as_deref(), "does not end")?;
                let named = test.map(|class| format!(" in {class}")).unwrap_or_default();
                let over = self.place.bench.calls.over_limit();
                Err(match over {
                    Stop::Error { why, hint, transient } => {
                        let label = self.place.label();
                        let why = format!(
                            "{why} The tests of {label} were still running without any mutation{named}."
                        );
                        Stop::Error { why, hint, transient }
                    }
                    stop @ Stop::Fail { .. } => stop,
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
    pub(crate) fn remember(&self, tests: &BTreeSet<String>, slowest: Option<u64>) -> Result<(), Stop> {
        slowest.map_or(Ok(()), |millis| self.slowest().keep(&self.key(tests), &millis))
    }

    fn slowest(&self) -> Memory {
        Memory::of(&self.place.bench.request.cache, "slowest-tests")
    }

    fn key(&self, tests: &BTreeSet<String>) -> String {
        let label = self.place.label();
        let parts = std::iter::once(label.as_str()).chain(tests.iter().map(String::as_str));
        super::maven::digest(parts.map(str::as_bytes))
    }

    /// No verdict, and a person must look.
    pub(crate) fn unclear(&self, what: &str) -> Stop {
        Stop::setup(
            format!("PIT gave no verdict on module {}: {what}.", self.place.label()),
            "Run the module's tests by hand and mend those that end the JVM or fail at times.",
        )
    }

    /// A failure when a red test is one that the family answers for.
    fn blame(&self, red: &[RedTest]) -> Result<(), Stop> {
        blame(&self.answerable, red)
    }

    fn blame_class(&self, class: Option<&str>, does: &str) -> Result<(), Stop> {
        match class {
            Some(class) if self.answerable.contains(class) => {
                Err(Stop::fail(format!("The test class {class} {does} without any mutation.")))
            }
            _ => Ok(()),
        }
    }

    /// With part of the tests only a pass is a verdict: more tests can only kill more.
    fn must_pass(&self, whole: &Whole, test: Option<&str>) -> Result<(), Stop> {
        let place = self.place;
        if tiers::open(place.rule(), &place.module.targets, &whole.parsed).is_empty() {
            return Ok(());
        }
        let named = test.map(|class| format!(" ({class})")).unwrap_or_default();
        Err(self.unclear(&format!(
            "a test that has nothing to do with the changed classes kills its JVM{named}, and the others do not suffice"
        )))
    }
}
