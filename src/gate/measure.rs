//! A module measured by PIT itself, with the second looks that its ends ask for.
//!
//! Owns: which runs follow which end: red tests elsewhere, a JVM that died, mutants without a verdict,
//! targets without mutants.
//!
//! Promises: leaving tests out is told; with part of the tests only a pass is a verdict; a target whose
//! mutants an annotation hides has failed.
//!
//! Refuses to know: how PIT is called, what Maven did.

use super::Stop;
use super::module::Place;
use super::outcome::Outcome;
use super::pit::{Framework, Outcome as Ran, Run, Subject, Tools};
use super::report::{Owners, Parsed};
use super::scope::Target;
use super::words;
use crate::mutation::{Per, Rule};
use std::collections::BTreeSet;
use std::path::Path;

impl Place<'_> {
    /// Runs PIT over the module's targets.
    pub(crate) fn measure(&self, outcome: &mut Outcome) -> Result<Parsed, Stop> {
        let bench = self.bench;
        let tests = self.test_classes()?;
        let framework = Framework::of(&self.built.classpath);
        if framework == Framework::TestNg {
            return Err(Stop::setup(
                format!("Module {} tests with TestNG, which the direct engine cannot run.", self.label()),
                "Use gates.<NAME>.engine: maven with pitest-maven and pitest-testng-plugin in the POM.",
            ));
        }
        let tools = Tools::get(self.maven, bench.calls, &bench.settings.pit_version, &framework, self.built)?;
        let owners = self.owners();
        let work = self.folder("work");
        let subject = self.subject(&tools, &owners, &work);
        for name in &self.built.project.surefire.not_carried {
            outcome
                .remarks
                .push(format!("Surefire's setting {name} of {} is not given to PIT.", self.label()));
        }
        self.tell_distant_tests(outcome);
        (bench.hands.progress)(&format!(
            "Mutating {} in {}",
            count(self.module.targets.len(), "class"),
            self.label()
        ));
        let report = self.folder("report");
        let mut run = Run {
            name: "pit",
            tests: &tests,
            skip_red: false,
            alone: false,
            unfiltered: false,
            report: &report,
        };
        let ran = subject.run(bench.calls, &run);
        let near: BTreeSet<String>;
        let parsed = match ran {
            Ran::Red(red) => {
                self.blame(&red)?;
                outcome.remarks.push(format!(
                    "Tests of {} that have nothing to do with the changed classes fail without any mutation and were left out: {}.",
                    self.label(),
                    words::names(red.iter().map(|test| test.name.as_str()), 5)
                ));
                run.skip_red = true;
                run.name = "pit-without-red";
                self.whole(subject.run(bench.calls, &run))?
            }
            Ran::Died(test) => {
                self.blame_class(test.as_deref(), "kills its JVM")?;
                near = tests.intersection(&self.answerable()).cloned().collect();
                run.tests = &near;
                run.name = "pit-near-tests";
                let parsed = self.whole(subject.run(bench.calls, &run))?;
                self.must_pass(&parsed, test.as_deref())?;
                outcome.remarks.push(format!(
                    "A test of {} kills its JVM without any mutation{}; the tests of the changed classes alone reach the threshold.",
                    self.label(),
                    test.map(|class| format!(" ({class})")).unwrap_or_default()
                ));
                parsed
            }
            other => self.whole(other)?,
        };
        let parsed = self.repeat_errors(&subject, &run, parsed, outcome)?;
        let page = report.join("index.html");
        if page.is_file() {
            outcome.reports.push(super::from_workspace(&page));
        }
        Ok(parsed)
    }

    /// PIT runs the tests of a class's own module only.
    fn tell_distant_tests(&self, outcome: &mut Outcome) {
        let root = if self.module.dir.is_empty() { String::new() } else { format!("{}/", self.module.dir) };
        let here = format!("{root}src/test/");
        for target in &self.module.targets {
            if !target.tests.is_empty() && !target.tests.iter().any(|test| test.starts_with(&here)) {
                outcome.remarks.push(format!(
                    "The tests of {} stand in another module ({}) and do not run for it.",
                    target.class,
                    words::names(target.tests.iter().map(String::as_str), 3)
                ));
            }
        }
    }

    /// Mutants without a verdict get one more chance, each in a JVM of its own.
    fn repeat_errors(
        &self,
        subject: &Subject<'_>,
        run: &Run<'_>,
        parsed: Parsed,
        outcome: &mut Outcome,
    ) -> Result<Parsed, Stop> {
        let errors: u64 = parsed.classes.values().map(|counted| counted.tally.errors).sum();
        if errors == 0 {
            return Ok(parsed);
        }
        let again = Run { alone: true, name: "pit-alone", ..run.clone() };
        let parsed = self.whole(subject.run(self.bench.calls, &again))?;
        let left: u64 = parsed.classes.values().map(|counted| counted.tally.errors).sum();
        outcome.remarks.push(format!(
            "{} of {} ended in an error of the JVM; with one JVM for each mutant {left} did.",
            count(usize::try_from(errors).unwrap_or(usize::MAX), "mutant"),
            self.label()
        ));
        Ok(parsed)
    }

    /// Targets without mutants: is there nothing, or is it hidden by an annotation?
    pub(crate) fn second_look(&self, empty: &[&Target], outcome: &mut Outcome) -> Result<(), Stop> {
        if empty.is_empty() {
            return Ok(());
        }
        let bench = self.bench;
        let wanted: BTreeSet<&str> = empty.iter().map(|target| target.class.as_str()).collect();
        let owners: Owners =
            self.owners().into_iter().filter(|(_, target)| wanted.contains(target.as_str())).collect();
        let framework = Framework::of(&self.built.classpath);
        let tools = Tools::get(self.maven, bench.calls, &bench.settings.pit_version, &framework, self.built)?;
        let (work, report) = (self.folder("work-unfiltered"), self.folder("unfiltered"));
        let subject = self.subject(&tools, &owners, &work);
        let none = BTreeSet::new();
        let run = Run {
            name: "pit-unfiltered",
            tests: &none,
            skip_red: true,
            alone: false,
            unfiltered: true,
            report: &report,
        };
        let parsed = self.whole(subject.run(bench.calls, &run))?;
        for target in empty {
            let hidden = parsed.classes.get(&target.class).map_or(0, |c| c.pending + c.tally.mutants());
            if hidden == 0 {
                outcome.nothing.push(target.class.clone());
                continue;
            }
            outcome.failing.insert(target.full_path());
            outcome.stops.push(Stop::fail(format!(
                "Class {} has no mutants only because an annotation such as @Generated hides {} from PIT.",
                target.class,
                count(usize::try_from(hidden).unwrap_or(usize::MAX), "mutant")
            )));
        }
        Ok(())
    }

    fn subject<'s>(&'s self, tools: &'s Tools, owners: &'s Owners, work: &'s Path) -> Subject<'s> {
        Subject {
            home: &self.home,
            built: self.built,
            tools,
            owners,
            jvm_args: &self.bench.settings.jvm_args,
            threads: self.bench.threads,
            work,
        }
    }

    fn whole(&self, ran: Ran) -> Result<Parsed, Stop> {
        match ran {
            Ran::Report(parsed) => Ok(parsed),
            Ran::NoMutants => Ok(Parsed::default()),
            Ran::Stop(stop) => Err(stop),
            Ran::Red(red) => {
                self.blame(&red)?;
                Err(self.unclear(&format!(
                    "{} did not stay out",
                    words::names(red.iter().map(|t| t.name.as_str()), 5)
                )))
            }
            Ran::Died(test) => {
                self.blame_class(test.as_deref(), "kills its JVM")?;
                Err(self.unclear("the JVM of the tests died without any mutation"))
            }
            Ran::Hung(test) => {
                self.blame_class(test.as_deref(), "does not end")?;
                let named = test.map(|class| format!(" in {class}")).unwrap_or_default();
                let over = self.bench.calls.over_limit();
                Err(match over {
                    Stop::Error { why, hint, transient } => {
                        let why = format!(
                            "{why} The tests of {} were still running without any mutation{named}.",
                            self.label()
                        );
                        Stop::Error { why, hint, transient }
                    }
                    stop @ Stop::Fail { .. } => stop,
                })
            }
        }
    }

    fn unclear(&self, what: &str) -> Stop {
        Stop::setup(
            format!("PIT gave no verdict on module {}: {what}.", self.label()),
            "Run the module's tests by hand and mend those that end the JVM or fail at times.",
        )
    }

    fn blame_class(&self, class: Option<&str>, does: &str) -> Result<(), Stop> {
        match class {
            Some(class) if self.answerable().contains(class) => {
                Err(Stop::fail(format!("The test class {class} {does} without any mutation.")))
            }
            _ => Ok(()),
        }
    }

    /// With part of the tests only a pass is a verdict: more tests can only kill more.
    fn must_pass(&self, parsed: &Parsed, test: Option<&str>) -> Result<(), Stop> {
        let mut trial = Outcome::default();
        trial.take(&self.module.targets, parsed.clone());
        let scores: Vec<_> = trial.judged.into_iter().map(|judged| judged.score).collect();
        let settings = self.bench.settings;
        let rule = Rule { threshold: settings.threshold, per: Per::Class, no_coverage: settings.no_coverage };
        if rule.judge(&scores).below.is_empty() {
            return Ok(());
        }
        let named = test.map(|class| format!(" ({class})")).unwrap_or_default();
        Err(self.unclear(&format!(
            "a test that has nothing to do with the changed classes kills its JVM{named}, and the others do not suffice"
        )))
    }
}

fn count(number: usize, noun: &str) -> String {
    let plural = if noun.ends_with('s') { "es" } else { "s" };
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}{plural}") }
}
