//! A module measured by PIT: tier after tier until every class is settled.
//!
//! A pass runs no more tests than it takes, a failure all that can touch the targets. A pass rests on kills that controls have met, a
//! failure needs none. A time-out that decides a verdict was seen with nothing else running. A note names the tests that were
//! left out.

use super::base_score;
use super::context::ModuleContext;
use super::coverage_map::{CoverageMap, ModuleState};
use super::pit::{FULL_TIMEOUT, PitRun, PitSession};
use super::report::{Aim, CountedMutants, MutantId, PitReport, top_level};
use super::scope::TestNames;
use super::test_classes::TestClasses;
use super::tiers::{self, LikelyTests, NEAR};
use crate::config::TestTiers;
use crate::gate::verdict::ModuleResult;
use crate::gate::{GateAbort, score_rule};
use crate::mutation::{MutantStatus, NoCoverage};
use crate::source::text;
use std::collections::BTreeSet;

/// The kind of facts that the coverage maps are.
const MAPS: &str = "coverage-maps";

impl ModuleContext<'_> {
    /// Runs PIT over the module's targets.
    pub(crate) fn measure_targets(
        &self,
        result: &mut ModuleResult,
    ) -> Result<PitReport, GateAbort> {
        for target in &self.module.targets {
            self.context.findings(self.module, &target.class).is_judged = true;
        }
        let TestClasses { asked, left_out } = self.test_classes()?;
        self.remark_what_pit_is_not_given(&left_out, result)?;
        let mut ladder = Ladder {
            session: PitSession::new(self, self.accountable_tests(), result)?,
            all: asked,
            asked: BTreeSet::new(),
            merged: PitReport::default(),
            state: None,
        };
        let makes_map = self.context.request.makes_map && ladder.likely_tests().makes_map;
        let settings = self.context.settings;
        // Part of the kills would judge a part wrongly, and more tests may lower a score without the mutants that no test reaches.
        let may_change = self.is_part() || settings.no_coverage == NoCoverage::Ignore;
        let order = match settings.tests {
            _ if makes_map => TestTiers::All,
            TestTiers::OwnFirst if may_change => TestTiers::All,
            tiers => tiers,
        };
        let own = &ladder.session.accountable_tests;
        if let Some(tier) = tiers::first_tier(order, own, &ladder.all) {
            ladder.run_tier(PitRun { makes_map, ..tier })?;
        }
        if order == TestTiers::OwnFirst && (ladder.asked.is_empty() || ladder.is_open()) {
            let likely = ladder.likely_tests();
            let confirms = self.context.request.confirms;
            for tier in tiers::after_own(&ladder.asked, &ladder.all, confirms, &likely) {
                ladder.run_tier(tier)?;
                if !ladder.is_open() {
                    break;
                }
            }
        }
        ladder.conclude_ladder()
    }
}

/// A module on its way through the tiers.
struct Ladder<'m> {
    session: PitSession<'m>,
    /// All test classes of the module.
    all: BTreeSet<String>,
    /// Those that have run.
    asked: BTreeSet<String>,
    /// The findings of all runs so far.
    merged: PitReport,
    /// The compiled module, once likely tests were sought: no run may change it. `None` in place.
    state: Option<ModuleState>,
}

impl Ladder<'_> {
    fn open_classes(&self) -> BTreeSet<String> {
        self.open_in(&self.merged)
    }

    fn open_in(&self, report: &PitReport) -> BTreeSet<String> {
        let module = self.session.module;
        if !module.is_part() {
            let rule = score_rule(module.context.settings);
            return tiers::open_classes(rule, &module.module.targets, report);
        }
        // The kills of other modules may decide about any class.
        let classes = report.classes.iter();
        let left = classes.filter(|(_, counted)| counted.left().next().is_some());
        left.map(|(class, _)| class.clone()).collect()
    }

    fn is_open(&self) -> bool {
        !self.open_classes().is_empty()
    }

    /// The tests that are likely to kill, as far as the class files and the coverage map show them; none in place.
    fn likely_tests(&mut self) -> LikelyTests {
        self.state = ModuleState::read_state(self.session.module);
        let Some(state) = &self.state else {
            return LikelyTests::default();
        };
        let owners = self.session.owners.keys();
        let judged: BTreeSet<String> = owners.map(|class| top_level(class).to_owned()).collect();
        let module = self.session.module;
        let (maps, key) = module.known_facts(MAPS, &BTreeSet::new());
        let map: Option<CoverageMap> = maps.recall(&key);
        let touching = map.and_then(|map| map.choose_tests(state, &judged, &self.all));
        let names = TestNames(&module.context.settings.test_names);
        LikelyTests {
            makes_map: touching.is_none(),
            near: state.find_near_tests(&judged, names),
            touching,
        }
    }

    /// Runs a tier, and again without the tests that failed in a control while these could decide.
    fn run_tier(&mut self, mut tier: PitRun) -> Result<(), GateAbort> {
        while self.run_tier_once(&tier)? {
            tier.makes_map = false;
        }
        self.session.note_report(tier.name);
        Ok(())
    }

    /// Runs a tier, and its deciding time-outs a second time; true if it must run again without tests that failed in a control.
    fn run_tier_once(&mut self, tier: &PitRun) -> Result<bool, GateAbort> {
        let is_first = self.asked.is_empty() && self.merged.classes.is_empty();
        // Kills that do not suffice here may decide together with those of other modules.
        let has_controls = is_first
            || tier.name == NEAR
            || self.session.module.is_part()
            || self.session.is_quick(&tier.tests);
        let aim = if has_controls {
            Aim::Judge
        } else {
            Aim::Search
        };
        let run = PitRun {
            mutants: (!is_first).then(|| self.remaining_mutants()),
            aim,
            ..tier.clone()
        };
        let note = if tier.makes_map {
            "makes the coverage map"
        } else {
            ""
        };
        let mut report = self.session.run_pit(run, note)?;
        self.session.remember_millis(&tier.tests, &report)?;
        if tier.makes_map
            && let Some(state) = self.state.take()
        {
            let coverage = std::mem::take(&mut report.executed);
            let module = self.session.module;
            let (maps, key) = module.known_facts(MAPS, &BTreeSet::new());
            maps.remember(&key, &CoverageMap { state, coverage })?;
        }
        self.asked.extend(tier.tests.iter().cloned());
        let mut has_failed_control = !report.failed_control.is_empty();
        if is_first {
            self.merged = report;
            let PitSession { module, result, .. } = &mut self.session;
            let why = base_score::set_base_scores(module.context, module.module, result)?;
            module.count_earlier_modules(&mut self.merged);
            if let Some(why) = why {
                self.remark_missing_base(why);
            }
        } else {
            self.merged.merge_later(&report, aim);
            if !has_controls {
                has_failed_control = self.check_with_controls(tier)?;
            }
        }
        loop {
            if has_failed_control {
                self.doubt_timeouts();
                if self.is_open() {
                    return Ok(true);
                }
            }
            has_failed_control = self.recheck_timeouts(tier)?;
            if !has_failed_control {
                return Ok(false);
            }
        }
    }

    /// Says that the module's tests have no part in the score to keep, and what follows if that is known.
    fn remark_missing_base(&mut self, why: &str) {
        let PitSession { module, result, .. } = &mut self.session;
        let mut classes = self.merged.classes.values();
        // A module after this one may have a score of them.
        let are_whole = !module.module.shares_targets && classes.all(|one| one.floor.is_none());
        let follows = if are_whole {
            ", so its classes are judged whole"
        } else {
            ""
        };
        let label = module.module_label();
        let remark = format!("The base of {label} cannot be measured{follows}: {why}");
        result.remarks.push(remark);
    }

    /// Forgets which time-outs this module confirmed: a test that failed in a control may be the one that did.
    fn doubt_timeouts(&mut self) {
        for mutant in self.merged.mutants_mut() {
            mutant.is_confirmed = false;
        }
        self.session.module.count_earlier_modules(&mut self.merged);
    }

    /// Runs controls with the kills of a search, as far as a pass would rest on them: first next to the test classes that killed,
    /// then, if these do not suffice, next to the whole tier. Kills that decide nothing are set aside. True if a control failed.
    fn check_with_controls(&mut self, tier: &PitRun) -> Result<bool, GateAbort> {
        let believed = self.merged.clone().with_unproven();
        let settled = &self.open_classes() - &self.open_in(&believed);
        let mut deciding = BTreeSet::new();
        let mut killing = BTreeSet::new();
        let classes = self.merged.classes.iter_mut();
        let settling = classes.filter(|(class, _)| settled.contains(*class));
        for (id, mutant) in settling.flat_map(|(_, counted)| &mut counted.mutants) {
            if mutant.unproven.take().is_some() {
                deciding.insert(id.clone());
                killing.extend(mutant.killer.clone());
            }
        }
        for tests in [&killing & &tier.tests, tier.tests.clone()] {
            let open = &self.open_classes() & &settled;
            let classes = self.merged.classes_in(&open);
            let left = classes.flat_map(CountedMutants::left).map(|(id, _)| id);
            let mutants: Vec<_> = left.filter(|id| deciding.contains(id)).cloned().collect();
            if mutants.is_empty() || tests.is_empty() {
                continue;
            }
            let run = PitRun {
                mutants: Some(mutants),
                ..PitRun::new("control", tests)
            };
            let note = format!("what {} killed", tier.name);
            let report = self.session.run_pit(run, &note)?;
            self.merged.merge_later(&report, Aim::Judge);
            if !report.failed_control.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Runs time-outs that decide a second time, alone, with PIT's own patience; true if a control failed there.
    fn recheck_timeouts(&mut self, tier: &PitRun) -> Result<bool, GateAbort> {
        let module = self.session.module;
        let targets = &module.module.targets;
        let deciding: BTreeSet<String> = if module.is_part() || module.module.shares_targets {
            self.merged.classes.keys().cloned().collect()
        } else {
            let rule = score_rule(module.context.settings);
            tiers::hanging_on_timeouts(rule, targets, &self.merged)
        };
        let mut mutants = Vec::new();
        for (id, mutant) in self.merged.unconfirmed_in(&deciding) {
            // Only the second run can make it a kill again.
            mutant.set_status(MutantStatus::Survived);
            mutants.push(id.clone());
        }
        if mutants.is_empty() {
            return Ok(false);
        }
        let run = PitRun {
            alone: true,
            timeout: FULL_TIMEOUT,
            mutants: Some(mutants),
            ..PitRun::new("alone", self.asked.clone())
        };
        let note = format!("time-outs of the tier {} that decide", tier.name);
        let report = self.session.run_pit(run, &note)?;
        self.merged.merge_later(&report, Aim::Judge);
        for (_, mutant) in self.merged.unconfirmed_in(&deciding) {
            mutant.is_confirmed = true;
        }
        Ok(!report.failed_control.is_empty())
    }

    /// The mutants of open classes that are not killed.
    fn remaining_mutants(&self) -> Vec<MutantId> {
        let open = self.open_classes();
        let living = self.merged.classes_in(&open).flat_map(|counted| {
            // More tests can make a kill of a time-out, and nothing else can pass a class without any kill.
            let all = counted.tally().killed == 0;
            let left = counted.left();
            left.filter(move |(_, mutant)| all || mutant.status() != MutantStatus::TimedOut)
        });
        living.map(|(id, _)| id.clone()).collect()
    }

    /// The counts of the module, once no tier remains.
    fn conclude_ladder(mut self) -> Result<PitReport, GateAbort> {
        self.session.module.leave_to_later_modules(&self.merged);
        let with_unproven = self.merged.clone().with_unproven();
        if self.open_in(&with_unproven) == self.open_classes() {
            self.merged = with_unproven;
        }
        let open = if self.session.module.is_part() {
            BTreeSet::new()
        } else {
            self.open_classes()
        };
        if let Some(class) = self.merged.uncontrolled.difference(&open).next() {
            return Err(self.session.unclear_verdict(&format!(
                "tests that kill mutants of {class} time out or end the JVM in PIT's worker although nothing was mutated"
            )));
        }
        Ok(self.merged)
    }
}

impl ModuleContext<'_> {
    /// Counts what tests in earlier modules have found out about the same classes.
    pub(crate) fn count_earlier_modules(&self, merged: &mut PitReport) {
        for (class, counted) in &mut merged.classes {
            counted.join_earlier(&self.context.findings(self.module, class));
        }
    }

    /// Leaves the sum to the next module.
    pub(crate) fn leave_to_later_modules(&self, merged: &PitReport) {
        for (class, counted) in &merged.classes {
            // A kill that no control has met proves nothing elsewhere.
            if !merged.uncontrolled.contains(class) {
                let mut findings = self.context.findings(self.module, class);
                findings.mutants.clone_from(&counted.mutants);
            }
        }
    }

    /// Not all of Surefire's settings reach PIT.
    fn remark_what_pit_is_not_given(
        &self,
        left_out: &BTreeSet<String>,
        result: &mut ModuleResult,
    ) -> Result<(), GateAbort> {
        if !left_out.is_empty() {
            result.remarks.push(format!(
                "Surefire does not run these test classes of {}, so they were not asked: {}; gates.{}.tests_include names those that are to be asked.",
                self.module_label(),
                text::names(left_out, 5),
                self.context.request.name
            ));
        }
        let surefire = &self.built.project.surefire;
        let mut settings = surefire.not_passed_to_pit.clone();
        if let Some(jdk) = &surefire.jdk
            && !self.find_java()?.starts_with(jdk)
        {
            settings.insert(format!(
                "jvm ({})",
                text::line(&jdk.display().to_string(), 300)
            ));
        }
        if !settings.is_empty() {
            result.remarks.push(format!(
                "Settings of Surefire that PIT does not get in {}: {}.",
                self.module_label(),
                text::names(&settings, 10)
            ));
        }
        Ok(())
    }
}
