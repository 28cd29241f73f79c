//! A module measured by PIT itself: tier after tier until every class is settled.
//!
//! A pass needs no more tests than it takes, a failure all that the settings ask for; leaving tests
//! out is told; a time-out that decides a verdict was seen with nothing else running; a target whose mutants
//! an annotation hides has failed.

use super::context::ModuleContext;
use super::pit::{Keep, PitResult, Reaching};
use super::pit_session::{FULL_TIMEOUT, PitRunOrder, PitSession};
use super::report::{Left, MutantId, Parsed};
use super::scope::TestNames;
use super::tiers::{self, Tier};
use super::{base_score, reach};
use crate::gate::GateAbort;
use crate::gate::scope::{Extent, Target};
use crate::gate::verdict::ModuleResult;
use crate::mutation::{MutantStatus, Per};
use crate::source::text;
use std::collections::BTreeSet;

impl ModuleContext<'_> {
    /// Runs PIT over the module's targets.
    pub(crate) fn measure(&self, result: &mut ModuleResult) -> Result<Parsed, GateAbort> {
        let all = self.test_classes()?;
        let session = PitSession::new(self, self.owners())?;
        self.tell_what_pit_is_not_given(result);
        let own = self.answerable();
        let mut plan = tiers::plan(self.context.settings.tests, &own, &all, || self.reaching(&session, &all));
        if self.rule().per != Per::Class && !self.context.sole_module {
            // Classes of other modules belong to the same unit: part of the kills would judge it wrongly.
            plan = tiers::in_one(plan);
        }
        let mut merged = MergedResult::default();
        let mut last = "";
        for tier in &plan {
            if !last.is_empty() && self.open(&merged).is_empty() {
                break;
            }
            self.climb(&session, tier, &mut merged, result)?;
            last = tier.name;
        }
        session.tell_report(last, result);
        Ok(merged.parsed)
    }

    /// One tier, with the second looks at its time-outs.
    fn climb(
        &self,
        session: &PitSession<'_>,
        tier: &Tier,
        merged: &mut MergedResult,
        result: &mut ModuleResult,
    ) -> Result<(), GateAbort> {
        let first = merged.tests.is_empty() && merged.parsed.classes.is_empty();
        let keep = if first { session.lines() } else { self.left(session, merged) };
        let asked = keep.mutants.as_ref().map_or(0, Vec::len);
        let timeout = session.timeout(&tier.tests);
        let look = PitRunOrder { name: tier.name, tests: &tier.tests, keep: &keep, timeout, alone: false };
        let whole = session.run(&look, result)?;
        session.trace(result, tier, &whole, timeout, if first { "" } else { "what is left" });
        session.remember(&tier.tests, whole.slowest_test)?;
        let again = tier.tests.is_superset(&merged.tests);
        merged.tests.extend(tier.tests.iter().cloned());
        if first {
            merged.parsed = whole.parsed;
            if self.has_base_scores() {
                base_score::set_base_scores(self, &mut merged.parsed, result)?;
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
            merged.improve(&whole);
        }
        merged.note_tests(&whole.reaching, again);
        self.confirm(session, tier, merged, result)
    }

    /// Time-outs that decide are run again, alone, with PIT's own patience.
    fn confirm(
        &self,
        session: &PitSession<'_>,
        tier: &Tier,
        merged: &mut MergedResult,
        result: &mut ModuleResult,
    ) -> Result<(), GateAbort> {
        let hanging = tiers::hanging_on_timeouts(self.rule(), &self.module.targets, &merged.parsed);
        let mutants = merged.with(&hanging, &[MutantStatus::TimedOut]);
        if mutants.is_empty() {
            return Ok(());
        }
        let keep = Keep { mutants: Some(mutants), ..session.lines() };
        let again = Tier { name: "alone", tests: merged.tests.clone() };
        let look = PitRunOrder {
            name: again.name,
            tests: &again.tests,
            keep: &keep,
            timeout: FULL_TIMEOUT,
            alone: true,
        };
        let whole = session.run(&look, result)?;
        let note = format!("time-outs of the tier {} that decide", tier.name);
        session.trace(result, &again, &whole, FULL_TIMEOUT, &note);
        merged.improve(&whole);
        Ok(())
    }

    /// What the next tier is to be asked: the mutants of open classes that are not killed.
    fn left(&self, session: &PitSession<'_>, merged: &MergedResult) -> Keep {
        use MutantStatus::{MemoryError, NoCoverage, RunError, Survived};
        let open = self.open(merged);
        let dropped =
            open.iter().any(|class| merged.parsed.classes.get(class).is_some_and(|c| c.dropped > 0));
        if dropped {
            return session.lines();
        }
        let mutants = merged.with(&open, &[Survived, NoCoverage, RunError, MemoryError]);
        Keep { mutants: Some(mutants), ..session.lines() }
    }

    fn open(&self, merged: &MergedResult) -> BTreeSet<String> {
        tiers::open(self.rule(), &self.module.targets, &merged.parsed)
    }

    fn has_base_scores(&self) -> bool {
        self.module.targets.iter().any(|target| matches!(target.extent, Extent::Change(_)))
    }

    /// The test classes that reach the targets by the references in class files.
    fn reaching(&self, session: &PitSession<'_>, all: &BTreeSet<String>) -> reach::Reaching {
        let targets: BTreeSet<String> = session.owners.keys().cloned().collect();
        let names = TestNames::new(&self.context.settings.test_names);
        reach::reaching(&self.built.class_folders(), all, &targets, &|test, class| {
            names.stand_for(test, class)
        })
    }

    /// PIT runs the tests of a class's own module only, and not all of Surefire's settings reach it.
    fn tell_what_pit_is_not_given(&self, result: &mut ModuleResult) {
        for name in &self.built.project.surefire.not_carried {
            result
                .remarks
                .push(format!("Surefire's setting {name} of {} is not given to PIT.", self.label()));
        }
        let root = if self.module.dir.is_empty() { String::new() } else { format!("{}/", self.module.dir) };
        let here = format!("{root}src/test/");
        for target in &self.module.targets {
            if !target.tests.is_empty() && !target.tests.iter().any(|test| test.starts_with(&here)) {
                result.remarks.push(format!(
                    "The tests of {} stand in another module ({}) and do not run for it.",
                    target.class,
                    text::names(target.tests.iter().map(String::as_str), 3)
                ));
            }
        }
    }

    /// Targets without mutants: is there nothing, or is it hidden by an annotation?
    pub(crate) fn second_look(&self, empty: &[&Target], result: &mut ModuleResult) -> Result<(), GateAbort> {
        if empty.is_empty() {
            return Ok(());
        }
        let wanted: BTreeSet<&str> = empty.iter().map(|target| target.class.as_str()).collect();
        let owners =
            self.owners().into_iter().filter(|(_, target)| wanted.contains(target.as_str())).collect();
        let session = PitSession::new(self, owners)?;
        let hidden = session.count_unfiltered()?;
        for target in empty {
            let hidden = hidden.get(&target.class).copied().unwrap_or(0);
            if hidden == 0 {
                result.nothing.push(target.without_mutants());
                continue;
            }
            result.failing.insert(target.full_path());
            result.aborts.push(GateAbort::fail(format!(
                "Class {} has no mutants only because an annotation such as @Generated hides {} from PIT.",
                target.class,
                text::count(hidden, "mutant")
            )));
        }
        Ok(())
    }
}

/// What is known after the runs so far.
#[derive(Default)]
struct MergedResult {
    parsed: Parsed,
    /// The tests asked so far.
    tests: BTreeSet<String>,
}

impl MergedResult {
    fn improve(&mut self, whole: &PitResult) {
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
