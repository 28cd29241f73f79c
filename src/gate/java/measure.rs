//! A module measured by PIT: tier after tier until every class is settled.
//!
//! A pass runs no more tests than it takes, a failure all that can touch the targets. A pass rests on kills that controls have met, a
//! failure needs none. A time-out that decides a verdict was seen with nothing else running. A note names the tests that were
//! left out.

use super::base_score;
use super::context::ModuleContext;
use super::coverage_map::{CoverageMap, ExecutedClasses, top_level};
use super::maven::digest_parts;
use super::module_state::CompiledModule;
use super::pit::{Aim, MutantFilter, PitRun, PitSession};
use super::reach::find_near_tests;
use super::report::{MutantId, PitReport};
use super::scope::TestNames;
use super::test_classes::TestClasses;
use super::tiers::{self, LikelyTests, Tier};
use crate::config::TestTiers;
use crate::gate::GateAbort;
use crate::gate::disk_cache::DiskCache;
use crate::gate::verdict::ModuleResult;
use crate::mutation::{MutantStatus, Per};
use crate::source::text;
use std::collections::BTreeSet;

impl ModuleContext<'_> {
    /// Runs PIT over the module's targets.
    pub(crate) fn measure_targets(
        &self,
        result: &mut ModuleResult,
    ) -> Result<PitReport, GateAbort> {
        let TestClasses { asked, left_out } = self.test_classes()?;
        let session = PitSession::new(self)?;
        self.remark_what_pit_is_not_given(&left_out, result)?;
        let mut ladder = Ladder {
            module: self,
            session,
            all: asked,
            merged: PitReport::default(),
            result,
        };
        let order = self.tier_order();
        if self.context.request.makes_map {
            let likely = ladder.likely_tests();
            if likely.makes_map && likely.touching.is_none() {
                ladder.run_tier(Tier {
                    makes_map: true,
                    ..Tier::all_tests(&ladder.all)
                })?;
                return ladder.conclude_ladder();
            }
        }
        let first = tiers::first_tier(order, &self.accountable_tests(), &ladder.all);
        let is_without_own = first.is_none();
        if let Some(tier) = first {
            ladder.run_tier(tier)?;
        }
        if order == TestTiers::OwnFirst && (is_without_own || ladder.is_open()) {
            for tier in ladder.tiers_after_own() {
                ladder.run_tier(tier)?;
                if !ladder.is_open() {
                    break;
                }
            }
        }
        ladder.conclude_ladder()
    }

    /// The order of tests. Classes of other modules may belong to the same unit: part of the kills would judge it wrongly.
    fn tier_order(&self) -> TestTiers {
        let is_part = self.score_rule().per != Per::Class && !self.context.sole_module;
        match self.context.settings.tests {
            TestTiers::OwnFirst if is_part => TestTiers::All,
            tiers => tiers,
        }
    }
}

/// A module on its way through the tiers.
struct Ladder<'a, 'm> {
    module: &'m ModuleContext<'a>,
    session: PitSession<'m>,
    /// All test classes of the module.
    all: BTreeSet<String>,
    /// The findings of all runs so far.
    merged: PitReport,
    result: &'m mut ModuleResult,
}

impl Ladder<'_, '_> {
    fn open_classes(&self) -> BTreeSet<String> {
        self.open_in(&self.merged)
    }

    fn open_in(&self, report: &PitReport) -> BTreeSet<String> {
        tiers::open_classes(
            self.module.score_rule(),
            &self.module.module.targets,
            report,
        )
    }

    fn is_open(&self) -> bool {
        !self.open_classes().is_empty()
    }

    fn tiers_after_own(&self) -> Vec<Tier> {
        let confirms = self.module.context.request.confirms;
        tiers::after_own(
            &self.merged.tests,
            &self.all,
            confirms,
            &self.likely_tests(),
        )
    }

    /// The tests that are likely to kill, as far as the class files and the coverage map show them; none in place.
    fn likely_tests(&self) -> LikelyTests {
        let Some(now) = self.session.module_state() else {
            return LikelyTests::default();
        };
        let judged = self.judged_classes();
        let (maps, key) = self.known_maps();
        let map: Option<CoverageMap> = maps.recall(&key);
        let names = TestNames::new(&self.module.context.settings.test_names);
        let references = [&now.references, &now.production_references];
        LikelyTests {
            touching: map
                .and_then(|map| map.choose_tests(&now.state, &now.references, &judged, &self.all)),
            near: find_near_tests(references, &judged, &names),
            makes_map: true,
        }
    }

    /// Keeps the coverage map that a run over all tests has made.
    fn keep_map(&self, coverage: ExecutedClasses) -> Result<(), GateAbort> {
        let Some(CompiledModule { state, .. }) = self.session.module_state() else {
            return Ok(());
        };
        let map = CoverageMap {
            state: state.clone(),
            coverage,
        };
        let (maps, key) = self.known_maps();
        maps.remember(&key, &map)
    }

    /// The maps, and the key of the module's own in a workspace.
    fn known_maps(&self) -> (DiskCache, String) {
        let home = self.module.maven.home.display().to_string();
        let maps = self.module.context.disk_cache("coverage-maps");
        (maps, digest_parts([home]))
    }

    /// The top-level classes that are judged.
    fn judged_classes(&self) -> BTreeSet<String> {
        let classes = self.session.owners.keys();
        classes.map(|class| top_level(class).to_owned()).collect()
    }

    /// Runs a tier, and again without the tests that failed in a control while these could decide.
    fn run_tier(&mut self, mut tier: Tier) -> Result<(), GateAbort> {
        while self.run_tier_once(&tier)? {
            tier.makes_map = false;
        }
        // The page of the last tier alone is kept.
        self.result.reports.clear();
        self.session.note_report(tier.name, self.result);
        Ok(())
    }

    /// Runs a tier, and its deciding time-outs a second time; true if it must run again without tests that failed in a control.
    fn run_tier_once(&mut self, tier: &Tier) -> Result<bool, GateAbort> {
        let is_first = self.merged.tests.is_empty() && self.merged.classes.is_empty();
        let filter = if is_first {
            self.session.line_filter()
        } else {
            self.remaining_mutants()
        };
        let has_controls = is_first || tier.is_near() || self.session.is_quick(&tier.tests);
        let run = PitRun {
            timeout: self.session.mutant_timeout(&tier.tests),
            aim: if has_controls {
                Aim::Judge
            } else {
                Aim::Search
            },
            makes_map: tier.makes_map,
            ..PitRun::new(tier.name, &tier.tests, &filter)
        };
        let note = if tier.makes_map {
            "makes the coverage map"
        } else {
            ""
        };
        let mut report = self.session.run_pit(&run, note, self.result)?;
        if tier.makes_map {
            self.keep_map(std::mem::take(&mut report.executed))?;
        }
        self.session.remember_times(&tier.tests, &report)?;
        let mut has_failed_control = !report.failed_control.is_empty();
        let is_superset = tier.tests.is_superset(&self.merged.tests);
        self.merged.tests.extend(tier.tests.iter().cloned());
        if is_first {
            report.tests = std::mem::take(&mut self.merged.tests);
            self.merged = std::mem::take(&mut report);
            base_score::set_base_scores(self.module, &mut self.merged, self.result)?;
            self.module.add_kills_of_other_modules(&mut self.merged);
        } else if has_controls {
            self.merged.forget_unproven();
            self.merged.merge_later(&report);
        } else {
            has_failed_control = self.check_with_controls(tier, &report)?;
        }
        if has_failed_control && self.is_open() {
            return Ok(true);
        }
        self.merged.note_tests(&report, is_superset);
        Ok(self.recheck_timeouts(tier)? && self.is_open())
    }

    /// Runs controls with the kills of a search, as far as a pass would rest on them: first next to the test classes that killed,
    /// then, if these do not suffice, next to the whole tier. Kills that decide nothing are set aside. True if a control failed.
    fn check_with_controls(&mut self, tier: &Tier, search: &PitReport) -> Result<bool, GateAbort> {
        self.merged.merge_search(search);
        let believed = self.merged.clone().with_unproven();
        let settled = &self.open_classes() - &self.open_in(&believed);
        let (mut deciding, mut killing) = (BTreeSet::new(), BTreeSet::new());
        let classes = self.merged.classes.iter_mut();
        let settling = classes.filter(|(class, _)| settled.contains(*class));
        for (id, mutant) in settling.flat_map(|(_, counted)| &mut counted.mutants) {
            if mutant.unproven.take().is_some() {
                deciding.insert(id.clone());
                killing.extend(mutant.killer.clone());
            }
        }
        killing = &killing & &tier.tests;
        for tests in [&killing, &tier.tests] {
            let open = &self.open_classes() & &settled;
            let left = self.merged.left_in(&open).map(|(id, _)| id);
            let remaining: Vec<_> = left.filter(|id| deciding.contains(id)).cloned().collect();
            if remaining.is_empty() || tests.is_empty() {
                continue;
            }
            let filter = self.filter_mutants(remaining);
            let run = PitRun {
                timeout: self.session.mutant_timeout(tests),
                ..PitRun::new("control", tests, &filter)
            };
            let note = format!("what {} killed", tier.name);
            let report = self.session.run_pit(&run, &note, self.result)?;
            self.merged.merge_later(&report);
            if !report.failed_control.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Runs time-outs that decide a second time, alone, with PIT's own patience; true if a control failed there.
    fn recheck_timeouts(&mut self, tier: &Tier) -> Result<bool, GateAbort> {
        let (rule, targets) = (self.module.score_rule(), &self.module.module.targets);
        let hanging = tiers::hanging_on_timeouts(rule, targets, &self.merged);
        let left = self.merged.left_in(&hanging);
        let timed_out = left.filter(|(_, mutant)| mutant.status() == MutantStatus::TimedOut);
        let mutants: Vec<MutantId> = timed_out.map(|(id, _)| id.clone()).collect();
        if mutants.is_empty() {
            return Ok(false);
        }
        let filter = self.filter_mutants(mutants);
        let run = PitRun {
            alone: true,
            ..PitRun::new("alone", &self.merged.tests, &filter)
        };
        let note = format!("time-outs of the tier {} that decide", tier.name);
        let report = self.session.run_pit(&run, &note, self.result)?;
        self.merged.merge_later(&report);
        Ok(!report.failed_control.is_empty())
    }

    /// The mutants of open classes that are not killed.
    fn remaining_mutants(&self) -> MutantFilter {
        let open = self.open_classes();
        let classes = open
            .iter()
            .filter_map(|class| self.merged.classes.get(class));
        let living = classes.flat_map(|counted| {
            // More tests can make a kill of a time-out, and nothing else can pass a class without any kill.
            let all = counted.tally().killed == 0;
            let left = counted.left();
            left.filter(move |(_, mutant)| all || mutant.status() != MutantStatus::TimedOut)
        });
        let mutants = living.map(|(id, _)| id.clone()).collect();
        self.filter_mutants(mutants)
    }

    /// These mutants, as far as their lines are judged.
    fn filter_mutants(&self, mutants: Vec<MutantId>) -> MutantFilter {
        MutantFilter {
            mutants: Some(mutants),
            ..self.session.line_filter()
        }
    }

    /// The counts of the module, once no tier remains.
    fn conclude_ladder(mut self) -> Result<PitReport, GateAbort> {
        self.module.add_kills_of_other_modules(&mut self.merged);
        let with_unproven = self.merged.clone().with_unproven();
        if self.open_in(&with_unproven) == self.open_classes() {
            self.merged = with_unproven;
        }
        let open = self.open_classes();
        if let Some(class) = self.merged.uncontrolled.difference(&open).next() {
            return Err(self.session.unclear_verdict(&format!(
                "tests that kill mutants of {class} time out or end the JVM in PIT's worker although nothing was mutated"
            )));
        }
        Ok(self.merged)
    }
}

impl ModuleContext<'_> {
    /// Counts what tests in other modules have killed of the same classes, and leaves the sum to the next module.
    fn add_kills_of_other_modules(&self, merged: &mut PitReport) {
        let mut known = self.context.earlier_kills.borrow_mut();
        for (class, counted) in &mut merged.classes {
            let key = (self.module.code.clone(), class.clone());
            let (killed, floor) = known.entry(key).or_default();
            for id in &*killed {
                if let Some(mutant) = counted.mutants.get_mut(id) {
                    mutant.join_status(MutantStatus::Killed);
                }
            }
            // At the base, the tests of all modules killed at least what those of one did.
            let floors = [counted.floor, *floor].into_iter();
            counted.floor = floors.flatten().max_by_key(|floor| floor.killed);
            *floor = counted.floor;
            // A kill that no control has met proves nothing elsewhere.
            if !merged.uncontrolled.contains(class) {
                let mutants = counted.mutants.iter();
                let all = mutants.filter(|(_, mutant)| mutant.status() == MutantStatus::Killed);
                *killed = all.map(|(id, _)| id.clone()).collect();
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
