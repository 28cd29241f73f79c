//! A module measured by PIT itself: tier after tier until every class is settled.
//!
//! A pass needs no more tests than it takes, a failure all that the settings ask for; a remark names tests that
//! were left out; a time-out that decides a verdict was seen with nothing else running; a target most of whose mutants
//! a filter hides has failed.

use super::context::ModuleContext;
use super::pit::{MutantFilter, PitRun, PitSession};
use super::report::PitReport;
use super::scope::TestNames;
use super::tiers::{self, Tier};
use super::{base_score, reach};
use crate::gate::GateAbort;
use crate::gate::verdict::ModuleResult;
use crate::mutation::{MutantStatus, Per};
use crate::source::text;
use std::collections::BTreeSet;

impl ModuleContext<'_> {
    /// Runs PIT over the module's targets.
    pub(crate) fn measure(&self, result: &mut ModuleResult) -> Result<PitReport, GateAbort> {
        let all = self.test_classes()?;
        let session = PitSession::new(self, self.owners())?;
        self.remark_what_pit_is_not_given(result);
        let own = self.answerable();
        let mut plan = tiers::plan(self.context.settings.tests, &own, &all, || self.reaching(&session, &all));
        if self.rule().per != Per::Class && !self.context.sole_module {
            // Classes of other modules belong to the same unit: part of the kills would judge it wrongly.
            plan = tiers::in_one(plan);
        }
        let mut merged = PitReport::default();
        let mut last = "";
        for tier in &plan {
            if !last.is_empty() && self.open(&merged).is_empty() {
                break;
            }
            while self.climb(&session, tier, &mut merged, result)? {}
            last = tier.name;
        }
        if let Some(class) = merged.uncontrolled.difference(&self.open(&merged)).next() {
            return Err(session.unclear(&format!(
                "tests that kill mutants of {class} time out or end the JVM in PIT's worker although nothing was mutated"
            )));
        }
        session.note_report(last, result);
        Ok(merged)
    }

    /// Runs one tier, and its deciding time-outs a second time; true if it must run again without tests that failed
    /// in a control.
    fn climb(
        &self,
        session: &PitSession<'_>,
        tier: &Tier,
        merged: &mut PitReport,
        result: &mut ModuleResult,
    ) -> Result<bool, GateAbort> {
        let first = merged.tests.is_empty() && merged.classes.is_empty();
        let filter = if first { session.lines() } else { self.left(session, merged) };
        let timeout = session.timeout(&tier.tests);
        let run = PitRun { timeout, ..PitRun::new(tier.name, &tier.tests, &filter) };
        let mut report = session.run(&run, if first { "" } else { "what is left" }, result)?;
        session.remember(&tier.tests, report.slowest_test)?;
        let reaching = std::mem::take(&mut report.reaching);
        let is_unfit = !report.unfit.is_empty();
        let again = tier.tests.is_superset(&merged.tests);
        merged.tests.extend(tier.tests.iter().cloned());
        if first {
            *merged = PitReport { tests: std::mem::take(&mut merged.tests), ..report };
            base_score::set_base_scores(self, merged, result)?;
        } else {
            let asked: Vec<_> = filter.mutants.iter().flatten().collect();
            let missing = asked.iter().filter(|id| !report.statuses.contains_key(&id.identity())).count();
            if missing > 0 {
                return Err(
                    session.unclear(&format!("{missing} of {} mutants were not found again", asked.len()))
                );
            }
            merged.improve(&report);
        }
        if is_unfit && !self.open(merged).is_empty() {
            return Ok(true);
        }
        merged.note_tests(&reaching, again);
        let is_unfit = self.confirm(session, tier, merged, result)?;
        Ok(is_unfit && !self.open(merged).is_empty())
    }

    /// Time-outs that decide are run again, alone, with PIT's own patience; true if a control failed there.
    fn confirm(
        &self,
        session: &PitSession<'_>,
        tier: &Tier,
        merged: &mut PitReport,
        result: &mut ModuleResult,
    ) -> Result<bool, GateAbort> {
        let hanging = tiers::hanging_on_timeouts(self.rule(), &self.module.targets, merged);
        let mutants = merged.with(&hanging, &[MutantStatus::TimedOut]);
        if mutants.is_empty() {
            return Ok(false);
        }
        let filter = MutantFilter { mutants: Some(mutants), ..session.lines() };
        let run = PitRun { alone: true, ..PitRun::new("alone", &merged.tests, &filter) };
        let note = format!("time-outs of the tier {} that decide", tier.name);
        let report = session.run(&run, &note, result)?;
        merged.improve(&report);
        Ok(!report.unfit.is_empty())
    }

    /// What the next tier is to run: the mutants of open classes that are not killed.
    fn left(&self, session: &PitSession<'_>, merged: &PitReport) -> MutantFilter {
        use MutantStatus::{MemoryError, NoCoverage, RunError, Survived, TimedOut, Unjudged};
        let open = self.open(merged);
        if open.iter().any(|class| merged.classes.get(class).is_some_and(|c| c.dropped > 0)) {
            return session.lines();
        }
        let mut mutants = merged.with(&open, &[Survived, NoCoverage, RunError, MemoryError, Unjudged]);
        // More tests can make a kill of a time-out, and nothing else can pass a class without any kill.
        let unkilled = |class: &&String| merged.classes.get(*class).is_some_and(|c| c.tally.killed == 0);
        mutants.extend(merged.with(&open.iter().filter(unkilled).cloned().collect(), &[TimedOut]));
        MutantFilter { mutants: Some(mutants), ..session.lines() }
    }

    fn open(&self, merged: &PitReport) -> BTreeSet<String> {
        tiers::open(self.rule(), &self.module.targets, merged)
    }

    /// The test classes that reach the targets by the references in class files.
    fn reaching(&self, session: &PitSession<'_>, all: &BTreeSet<String>) -> reach::Reaching {
        let targets: BTreeSet<String> = session.owners.keys().cloned().collect();
        let names = TestNames::new(&self.context.settings.test_names);
        let references = reach::references(&self.built.class_folders());
        reach::reaching(&references, all, &targets, &|test, class| names.is_test_of(test, class))
    }

    /// PIT runs the tests of a class's own module only, and not all of Surefire's settings reach it.
    fn remark_what_pit_is_not_given(&self, result: &mut ModuleResult) {
        let not_carried = self.built.project.surefire.not_carried.iter();
        result.remarks.extend(
            not_carried
                .map(|name| format!("Surefire's setting {name} of {} is not given to PIT.", self.label())),
        );
        let here = self.module.inside("src/test/");
        for target in &self.module.targets {
            if !target.tests.is_empty() && !target.tests.iter().any(|test| test.starts_with(&here)) {
                result.remarks.push(format!(
                    "The tests of {} are in another module ({}) and do not run for it.",
                    target.class,
                    text::names(target.tests.iter().map(String::as_str), 3)
                ));
            }
        }
    }

    /// The targets of which filters hid more mutants from PIT than a pass leaves open.
    pub(crate) fn second_look(&self, report: &PitReport, result: &mut ModuleResult) -> Result<(), GateAbort> {
        let session = PitSession::new(self, self.owners())?;
        let all = session.count()?;
        for target in &self.module.targets {
            let all = all.get(&target.class).copied().unwrap_or(0);
            let seen = report.classes.get(&target.class).map_or(0, |counted| counted.tally.mutants());
            let hidden = all.saturating_sub(seen);
            if !self.rule().is_too_much(hidden, all) {
                continue;
            }
            result.failing.insert(target.full_path());
            result.aborts.push(GateAbort::fail(format!(
                "Filters such as the one for @Generated hide {hidden} of the {} of class {} from pitest-maven; engine: direct judges them.",
                text::count(all, "mutant"),
                target.class
            )));
        }
        Ok(())
    }
}
