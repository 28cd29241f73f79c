//! PIT over one module, made ready once and run as often as it takes.
//!
//! Owns: what a run needs (jars, plugin, classes, lists) and whose fault a run is that did not end well:
//! red tests, a JVM that died or hung, mutants without a verdict.
//!
//! Promises: a red or deadly test is the family's fault only when the family answers for it; with part of
//! the tests only a pass is a verdict; what a machine under load makes of tests is asked again alone.
//!
//! Refuses to know: tiers, thresholds beyond that question.

use super::known_tests::KnownTests;
use super::measure::{ChangedOf, lines};
use super::module::Place;
use super::module::blame;
use super::outcome::Outcome;
use super::pit::{self, Aim, Framework, Keep, Outcome as Ran, RedTest, Run, Subject, Tools, Whole};
use super::report::{Owners, Parsed};
use super::tiers;
use super::{Stop, words};
use crate::source::ChangedLines;
use std::cell::Cell;
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
    /// Foreign tests are red without any mutation and stay out from now on.
    skip_red: Cell<bool>,
    /// The family answers for the tests that it changed; not at its base.
    answerable: BTreeSet<String>,
    known: KnownTests<'a>,
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
        let known = KnownTests { cache: &bench.request.cache, label: place.label(), home: &place.home };
        Ok(Self { place, tools, plugin, owners, changed, skip_red: Cell::new(false), answerable, known })
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
        let mut run = Run {
            name: look.name,
            tests: look.tests,
            skip_red: self.skip_red.get(),
            alone: look.alone,
            aim: Aim::Kill,
            keep: look.keep,
            unit: self.unit(look),
            timeout: look.timeout,
            report: &report,
        };
        let near: BTreeSet<String>;
        let whole = match self.start_unhurried(&run)? {
            Ran::Red(red) => {
                let red = self.leave_out(&red, outcome)?;
                run.skip_red = true;
                Whole { red: Some(red), ..self.whole(self.start(&run))? }
            }
            Ran::Died(test) => {
                self.blame_class(test.as_deref(), "kills its JVM")?;
                near = look.tests.intersection(&self.answerable).cloned().collect();
                if near.is_empty() {
                    return Err(self.unclear("a test kills its JVM without any mutation"));
                }
                run.tests = &near;
                let whole = Whole { red: None, ..self.whole(self.start(&run))? };
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
        self.repeat_errors(&run, whole, outcome)
    }

    /// Runs tests that were red before without any mutant, so that PIT names those that still are; from then on
    /// red tests stay out. PIT names them only by ending with them: in a run of all tests that would cost a
    /// second one.
    pub(crate) fn probe(&self, tests: &BTreeSet<String>, outcome: &mut Outcome) -> Result<(), Stop> {
        let report = self.place.folder("report").join("probe");
        let run = Run {
            name: "probe",
            tests,
            skip_red: false,
            alone: false,
            aim: Aim::NameRed,
            keep: &self.lines(),
            unit: 0,
            timeout: FULL_TIMEOUT,
            report: &report,
        };
        match self.start_unhurried(&run)? {
            Ran::Red(red) => self.known.keep_red(tests, &self.leave_out(&red, outcome)?),
            Ran::Report(_) | Ran::NoMutants => self.known.keep_red(tests, &BTreeSet::new()),
            // The run that follows has these tests too and says whose fault it is.
            Ran::Died(_) | Ran::Hung(_) | Ran::Stop(_) => Ok(()),
        }
    }

    /// Red tests stay out from now on, unless the family answers for one; their classes.
    fn leave_out(&self, red: &[RedTest], outcome: &mut Outcome) -> Result<BTreeSet<String>, Stop> {
        self.blame(red)?;
        outcome.remarks.push(format!(
            "Tests of {} that have nothing to do with the changed classes fail without any mutation and were left out: {}.",
            self.place.label(),
            words::names(red.iter().map(|test| test.name.as_str()), 5)
        ));
        self.skip_red.set(true);
        Ok(red.iter().map(|test| test.class.clone()).collect())
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
            aim: Aim::Count,
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

    /// A trouble that a machine under load may have caused is looked at again when the loop has arrived.
    fn start_unhurried(&self, run: &Run<'_>) -> Result<Ran, Stop> {
        let pace = self.place.bench.hands.pace;
        let ran = self.start(run);
        if !(is_trouble(&ran) && pace.is_ahead()) {
            return Ok(ran);
        }
        if pace.await_turn() { Ok(self.start(run)) } else { Err(self.cancelled()) }
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
        let again = Whole { red: whole.red, ..self.whole(self.start(&Run { alone: true, ..run.clone() }))? };
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
        let slowest = self.known.slowest(tests);
        let fit = slowest.map_or(QUICK_TIMEOUT, |test| test.saturating_mul(2).saturating_add(500));
        fit.clamp(QUICK_TIMEOUT, FULL_TIMEOUT)
    }

    /// What is known of the module's tests.
    pub(crate) fn known(&self) -> &KnownTests<'a> {
        &self.known
    }

    /// The loop ended, or what was to be judged is no longer what is there.
    pub(crate) fn cancelled(&self) -> Stop {
        Stop::passing(format!("The gate over {} was cancelled.", self.place.label()), "Run the gate again.")
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

/// An end that a machine under load may have caused.
fn is_trouble(ran: &Ran) -> bool {
    matches!(ran, Ran::Red(_) | Ran::Died(_) | Ran::Hung(_))
}

impl Place<'_> {
    /// What the family changed in the targets' files, where it is known.
    fn changed_lines(&self) -> ChangedOf {
        let lines = |target: &super::scope::Target| {
            let ranges = match self.bench.package.lines.get(&target.path)? {
                ChangedLines::Whole => vec![(1, u32::MAX)],
                ChangedLines::Ranges(ranges) => ranges.clone(),
            };
            let path = target.path.to_text();
            let file = path.rsplit('/').next().unwrap_or_default().to_owned();
            Some((target.class.clone(), (file, ranges)))
        };
        self.module.targets.iter().filter_map(lines).collect()
    }
}
