//! A module measured by PIT itself: tier after tier until every class is settled.
//!
//! Owns: which runs follow which end: the next tier, time-outs that need another look, targets without
//! mutants.
//!
//! Promises: a pass needs no more tests than it takes, a failure all that the settings ask for; leaving tests
//! out is told; a time-out that decides a verdict was seen with nothing else running; a target whose mutants
//! an annotation hides has failed.
//!
//! Refuses to know: how PIT is called, what Maven did, red tests and broken JVMs (`session` has them).

use super::module::Place;
use super::outcome::Outcome;
use super::pit::{Keep, Reaching, Whole};
use super::report::{Left, MutantId, Parsed};
use super::scope::{Extent, Target, TestNames};
use super::session::{FULL_TIMEOUT, Look, Session};
use super::tiers::{self, Tier};
use super::{Stop, ratchet, reach, words};
use crate::mutation::{MutantStatus, Per, Rule, TraceTier};
use crate::source::ChangedLines;
use std::collections::{BTreeMap, BTreeSet};

/// Test classes that a trace names.
const NAMED: usize = 20;

impl Place<'_> {
    /// Runs PIT over the module's targets.
    pub(crate) fn measure(&self, outcome: &mut Outcome) -> Result<Parsed, Stop> {
        let all = self.test_classes()?;
        let session = Session::new(self, self.owners())?;
        self.tell_what_pit_is_not_given(outcome);
        let own = self.answerable();
        let mut plan = tiers::plan(self.bench.settings.tests, &own, &all, || self.reaching(&session, &all));
        if self.rule().per != Per::Class && !self.bench.sole_module {
            // Classes of other modules belong to the same unit: part of the kills would judge it wrongly.
            plan = tiers::in_one(plan);
        }
        let mut standing = Standing::default();
        let mut last = "";
        for tier in &plan {
            if !last.is_empty() && self.open(&standing).is_empty() {
                break;
            }
            self.climb(&session, tier, &mut standing, outcome)?;
            last = tier.name;
        }
        session.tell_report(last, outcome);
        Ok(standing.parsed)
    }

    /// One tier, with the second looks at its time-outs.
    fn climb(
        &self,
        session: &Session<'_>,
        tier: &Tier,
        standing: &mut Standing,
        outcome: &mut Outcome,
    ) -> Result<(), Stop> {
        let first = standing.tests.is_empty() && standing.parsed.classes.is_empty();
        let keep = if first { session.lines() } else { self.left(session, standing) };
        let asked = keep.mutants.as_ref().map_or(0, Vec::len);
        let timeout = session.timeout(&tier.tests);
        let look = Look { name: tier.name, tests: &tier.tests, keep: &keep, timeout, alone: false };
        let whole = session.run(&look, outcome)?;
        self.trace(outcome, tier, &whole, timeout, if first { "" } else { "what is left" });
        session.remember(&tier.tests, whole.slowest_test)?;
        let again = tier.tests.is_superset(&standing.tests);
        standing.tests.extend(tier.tests.iter().cloned());
        if first {
            standing.parsed = whole.parsed;
            if self.has_ratchet() {
                ratchet::set_floors(self, &mut standing.parsed, outcome)?;
            }
        } else {
            let told =
                keep.mutants.iter().flatten().filter(|id| whole.parsed.statuses.contains_key(&id.identity()));
            let told = told.count();
            if told < asked {
                return Err(
                    session.unclear(&format!("{} of {asked} mutants were not found again", asked - told))
                );
            }
            standing.improve(&whole);
        }
        standing.note_tests(&whole.reaching, again);
        self.confirm(session, tier, standing, outcome)
    }

    /// Time-outs that decide are run again, alone, with PIT's own patience.
    fn confirm(
        &self,
        session: &Session<'_>,
        tier: &Tier,
        standing: &mut Standing,
        outcome: &mut Outcome,
    ) -> Result<(), Stop> {
        let hanging = tiers::hanging_on_timeouts(self.rule(), &self.module.targets, &standing.parsed);
        let mutants = standing.with(&hanging, &[MutantStatus::TimedOut]);
        if mutants.is_empty() {
            return Ok(());
        }
        let keep = Keep { mutants: Some(mutants), ..session.lines() };
        let again = Tier { name: "alone", tests: standing.tests.clone() };
        let look =
            Look { name: again.name, tests: &again.tests, keep: &keep, timeout: FULL_TIMEOUT, alone: true };
        let whole = session.run(&look, outcome)?;
        let note = format!("time-outs of the tier {} that decide", tier.name);
        self.trace(outcome, &again, &whole, FULL_TIMEOUT, &note);
        standing.improve(&whole);
        Ok(())
    }

    /// What the next tier is to be asked: the mutants of open classes that are not killed.
    fn left(&self, session: &Session<'_>, standing: &Standing) -> Keep {
        use MutantStatus::{MemoryError, NoCoverage, RunError, Survived};
        let open = self.open(standing);
        let dropped =
            open.iter().any(|class| standing.parsed.classes.get(class).is_some_and(|c| c.dropped > 0));
        if dropped {
            return session.lines();
        }
        let mutants = standing.with(&open, &[Survived, NoCoverage, RunError, MemoryError]);
        Keep { mutants: Some(mutants), ..session.lines() }
    }

    fn open(&self, standing: &Standing) -> BTreeSet<String> {
        tiers::open(self.rule(), &self.module.targets, &standing.parsed)
    }

    /// The rule of the gate.
    pub(crate) fn rule(&self) -> Rule {
        let settings = self.bench.settings;
        Rule { threshold: settings.threshold, per: settings.per, no_coverage: settings.no_coverage }
    }

    fn has_ratchet(&self) -> bool {
        self.module.targets.iter().any(|target| matches!(target.extent, Extent::Change(_)))
    }

    /// The test classes that reach the targets by the references in class files.
    fn reaching(&self, session: &Session<'_>, all: &BTreeSet<String>) -> reach::Reaching {
        let targets: BTreeSet<String> = session.owners.keys().cloned().collect();
        let names = TestNames::new(&self.bench.settings.test_names);
        reach::reaching(&self.built.class_folders(), all, &targets, &|test, class| {
            names.stand_for(test, class)
        })
    }

    /// PIT runs the tests of a class's own module only, and not all of Surefire's settings reach it.
    fn tell_what_pit_is_not_given(&self, outcome: &mut Outcome) {
        for name in &self.built.project.surefire.not_carried {
            outcome
                .remarks
                .push(format!("Surefire's setting {name} of {} is not given to PIT.", self.label()));
        }
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

    /// Targets without mutants: is there nothing, or is it hidden by an annotation?
    pub(crate) fn second_look(&self, empty: &[&Target], outcome: &mut Outcome) -> Result<(), Stop> {
        if empty.is_empty() {
            return Ok(());
        }
        let wanted: BTreeSet<&str> = empty.iter().map(|target| target.class.as_str()).collect();
        let owners =
            self.owners().into_iter().filter(|(_, target)| wanted.contains(target.as_str())).collect();
        let session = Session::new(self, owners)?;
        let hidden = session.count_unfiltered()?;
        for target in empty {
            let hidden = hidden.get(&target.class).copied().unwrap_or(0);
            if hidden == 0 {
                outcome.nothing.push(target.without_mutants());
                continue;
            }
            outcome.failing.insert(target.full_path());
            outcome.stops.push(Stop::fail(format!(
                "Class {} has no mutants only because an annotation such as @Generated hides {} from PIT.",
                target.class,
                words::count(hidden, "mutant")
            )));
        }
        Ok(())
    }

    /// What the family changed in the targets' files, where it is known.
    pub(crate) fn changed_lines(&self) -> ChangedOf {
        let lines = |target: &Target| {
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

    /// Puts a run into the trace.
    pub(crate) fn trace(&self, outcome: &mut Outcome, tier: &Tier, whole: &Whole, timeout: u64, note: &str) {
        let mut tally = crate::mutation::Tally::default();
        whole.parsed.classes.values().for_each(|counted| tally.join(&counted.tally));
        outcome.trace.tiers.push(TraceTier {
            module: self.label(),
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

/// What is known after the runs so far.
#[derive(Default)]
struct Standing {
    parsed: Parsed,
    /// The tests asked so far.
    tests: BTreeSet<String>,
}

impl Standing {
    fn improve(&mut self, whole: &Whole) {
        for counted in self.parsed.classes.values_mut() {
            counted.improve(&whole.parsed.statuses);
        }
    }

    /// The tests that reach what is left; those of different tiers add up, unless all were asked `again`.
    fn note_tests(&mut self, reaching: &Reaching, again: bool) {
        for counted in self.parsed.classes.values_mut() {
            for (id, left) in &mut counted.left {
                if again {
                    left.tests.clear();
                    left.tests_total = 0;
                }
                if let Some((names, count)) = reaching.get(id) {
                    left.tests.extend(names.iter().cloned());
                    left.tests_total += count;
                }
            }
        }
    }

    fn with(&self, classes: &BTreeSet<String>, statuses: &[MutantStatus]) -> Vec<MutantId> {
        let wanted = self.parsed.classes.iter().filter(|(class, _)| classes.contains(*class));
        wanted
            .flat_map(|(_, counted)| counted.with(statuses))
            .map(|(id, _): (&MutantId, &Left)| id.clone())
            .collect()
    }
}

/// The lines of the targets that are judged by lines, by `folder/File.java` below the source root.
pub(crate) fn lines(targets: &[Target]) -> Option<Vec<(String, u32, u32)>> {
    if targets.iter().all(|target| !matches!(target.extent, Extent::Lines(_))) {
        return None;
    }
    let mut all = Vec::new();
    for target in targets {
        let file = format!("{}.java", target.class.replace('.', "/"));
        match &target.extent {
            Extent::Lines(ranges) => {
                all.extend(ranges.iter().map(|(first, last)| (file.clone(), *first, *last)));
            }
            Extent::Class | Extent::Change(_) => all.push((file, 0, i32::MAX.unsigned_abs())),
        }
    }
    Some(all)
}

/// Changed lines by target class; a class that is not listed has none.
pub(crate) type ChangedOf = BTreeMap<String, (String, Vec<(u32, u32)>)>;
