//! A module measured by PIT: tier after tier until every class is settled.
//!
//! A pass runs no more tests than it takes, a failure all that can touch the targets. A pass rests on kills that controls have met, a
//! failure needs none. A time-out that decides a verdict was seen with nothing else running. A note counts the tests that did not run
//! and names those that were left out.

use super::base_score;
use super::context::ModuleContext;
use super::coverage_map::{AskAll, CoverageMap, ExecutedClasses, ReachingTests, top_level};
use super::maven::digest_parts;
use super::module_state::CompiledModule;
use super::pit::{Aim, MutantFilter, PitRun, PitSession};
use super::reach::find_near_tests;
use super::report::{MutantId, PitReport};
use super::scope::TestNames;
use super::test_classes::TestClasses;
use super::tiers::{self, Tier};
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
            last: None,
            map_commit: None,
            result,
        };
        let settings = self.tier_order();
        if self.context.request.makes_map && ladder.map_is_outdated()? {
            ladder.run_tier(Tier {
                makes_map: true,
                ..Tier::all_tests(&ladder.all)
            })?;
        } else {
            if let Some(tier) = tiers::first_tier(settings, &self.accountable_tests(), &ladder.all)
            {
                ladder.run_tier(tier)?;
            }
            if settings == TestTiers::OwnFirst && (ladder.last.is_none() || ladder.is_open()) {
                for tier in ladder.tiers_after_own()? {
                    ladder.run_tier(tier)?;
                    if !ladder.is_open() {
                        break;
                    }
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
    /// The name of the last tier.
    last: Option<&'static str>,
    /// The commit of the coverage map by which tests were chosen.
    map_commit: Option<String>,
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

    fn map_is_outdated(&self) -> Result<bool, GateAbort> {
        let chosen = self.choose_by_map()?;
        Ok(chosen.is_err_and(|reason| reason.is_outdated))
    }

    fn tiers_after_own(&mut self) -> Result<Vec<Tier>, GateAbort> {
        let chosen = self.choose_by_map()?;
        self.map_commit = chosen.as_ref().ok().map(|chosen| chosen.commit.clone());
        let near = match self.session.module_state()? {
            Some(module) if chosen.is_err() => {
                let names = TestNames::new(&self.module.context.settings.test_names);
                let references = [&module.references, &module.production_references];
                find_near_tests(references, &self.judged_classes(), &names)
            }
            _ => BTreeSet::new(),
        };
        let confirms = self.module.context.request.confirms;
        Ok(tiers::after_own(
            &self.merged.tests,
            &self.all,
            confirms,
            chosen,
            &near,
        ))
    }

    /// The test classes that can touch the targets by the coverage map.
    fn choose_by_map(&self) -> Result<Result<ReachingTests, AskAll>, GateAbort> {
        let Some(module) = self.session.module_state()? else {
            return Ok(Err(AskAll {
                why: "the gate works in place".to_owned(),
                is_outdated: false,
            }));
        };
        let Some(map) = self.known_maps().recall::<CoverageMap>(&self.map_key()) else {
            return Ok(Err(AskAll {
                why: "there is no coverage map yet".to_owned(),
                is_outdated: true,
            }));
        };
        let judged = self.judged_classes();
        Ok(map.choose_tests(&module.state, &module.references, &judged, &self.all))
    }

    /// Keeps the coverage map that a run over all tests has made.
    fn keep_map(&self, coverage: ExecutedClasses) -> Result<(), GateAbort> {
        let Some(CompiledModule { state, .. }) = self.session.module_state()? else {
            return Ok(());
        };
        let map = CoverageMap {
            state: state.clone(),
            coverage,
        };
        self.known_maps().remember(&self.map_key(), &map)
    }

    fn known_maps(&self) -> DiskCache {
        self.module.context.disk_cache("coverage-maps")
    }

    /// One map for each module of a workspace.
    fn map_key(&self) -> String {
        digest_parts([self.module.maven.home.display().to_string()])
    }

    /// The top-level classes that are judged.
    fn judged_classes(&self) -> BTreeSet<String> {
        let classes = self.session.owners.keys();
        classes.map(|class| top_level(class).to_owned()).collect()
    }

    /// Runs a tier, and again without the tests that failed in a control while these could decide.
    fn run_tier(&mut self, mut tier: Tier) -> Result<(), GateAbort> {
        self.last = Some(tier.name);
        while self.run_tier_once(&tier)? {
            tier.makes_map = false;
        }
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
        let has_controls = is_first
            || filter.mutants.is_none()
            || tier.is_near()
            || self.session.is_quick(&tier.tests);
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
        let mut report = self
            .session
            .run_pit(&run, &tier_note(is_first, tier), self.result)?;
        if tier.makes_map {
            self.keep_map(std::mem::take(&mut report.executed))?;
        }
        self.session.remember_times(&tier.tests, &report)?;
        let reaching = std::mem::take(&mut report.reaching);
        let mut has_failed_control = !report.failed_control.is_empty();
        let is_superset = tier.tests.is_superset(&self.merged.tests);
        self.merged.tests.extend(tier.tests.iter().cloned());
        if is_first {
            report.tests = std::mem::take(&mut self.merged.tests);
            self.merged = report;
            base_score::set_base_scores(self.module, &mut self.merged, self.result)?;
        } else {
            self.check_all_found(&filter, &report)?;
            if has_controls {
                self.merged.unproven.clear();
            } else {
                has_failed_control = self.check_with_controls(tier, &mut report)?;
            }
            self.merged.merge_later(&report);
        }
        if has_failed_control && self.is_open() {
            return Ok(true);
        }
        self.merged.note_tests(&reaching, is_superset);
        Ok(self.recheck_timeouts(tier)? && self.is_open())
    }

    fn check_all_found(&self, filter: &MutantFilter, report: &PitReport) -> Result<(), GateAbort> {
        let wanted: Vec<_> = filter.mutants.iter().flatten().collect();
        let missing = wanted
            .iter()
            .filter(|id| !report.statuses.contains_key(*id))
            .count();
        if missing == 0 {
            return Ok(());
        }
        Err(self.session.unclear_verdict(&format!(
            "{missing} of {} mutants were not found again",
            wanted.len()
        )))
    }

    /// Runs controls with the kills of a search, as far as a pass would rest on them: first next to the test classes that killed,
    /// then, if these do not suffice, next to the whole tier. Kills that decide nothing are set aside. True if a control failed.
    fn check_with_controls(
        &mut self,
        tier: &Tier,
        search: &mut PitReport,
    ) -> Result<bool, GateAbort> {
        let mut believed = self.merged.clone();
        believed.merge_later(search);
        let settled = &self.open_classes() - &self.open_in(&believed);
        let mut unproven = search.take_detected();
        let living = self.merged.living_mutants(&settled);
        let deciding: BTreeSet<MutantId> = living
            .filter(|id| unproven.remove(*id).is_some())
            .cloned()
            .collect();
        self.merged.unproven = unproven;
        let killers = deciding.iter().filter_map(|id| search.killers.get(id));
        let killing: BTreeSet<String> = killers
            .filter(|class| tier.tests.contains(*class))
            .cloned()
            .collect();
        for tests in [&killing, &tier.tests] {
            let open = &self.open_classes() & &settled;
            let remaining: Vec<_> = self
                .merged
                .living_mutants(&open)
                .filter(|id| deciding.contains(id))
                .cloned()
                .collect();
            if remaining.is_empty() || tests.is_empty() {
                continue;
            }
            let filter = MutantFilter {
                mutants: Some(remaining),
                ..self.session.line_filter()
            };
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
        let mutants = self
            .merged
            .with_statuses(&hanging, &[MutantStatus::TimedOut]);
        if mutants.is_empty() {
            return Ok(false);
        }
        let filter = MutantFilter {
            mutants: Some(mutants),
            ..self.session.line_filter()
        };
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
        use MutantStatus::{MemoryError, NoCoverage, RunError, Survived, TimedOut, Unjudged};
        let merged = &self.merged;
        let mut open = self.open_classes();
        let living = [Survived, NoCoverage, RunError, MemoryError, Unjudged];
        let mut mutants = merged.with_statuses(&open, &living);
        // More tests can make a kill of a time-out, and nothing else can pass a class without any kill.
        open.retain(|class| {
            merged
                .classes
                .get(class)
                .is_some_and(|class| class.tally.killed == 0)
        });
        mutants.extend(merged.with_statuses(&open, &[TimedOut]));
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
        if let Some(name) = self.last {
            self.session.note_report(name, self.result);
        }
        let (ran, all) = (self.merged.tests.len(), self.all.len());
        if let Some(commit) = &self.map_commit
            && ran < all
            && !open.is_empty()
        {
            let (suite, label) = (
                text::count(all as u64, "test class"),
                self.module.module_label(),
            );
            self.result.remarks.push(format!(
                "{ran} of the {suite} of {label} ran: by the coverage map of commit {commit:.8}, no other touches what is judged."
            ));
        }
        Ok(self.merged)
    }
}

/// The note of a tier in the trace.
fn tier_note(is_first: bool, tier: &Tier) -> String {
    let parts = [if is_first { "" } else { "what is left" }, &tier.note];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("; ")
}

impl ModuleContext<'_> {
    /// Counts what tests in other modules have killed of the same classes, and leaves what lives to the next module.
    fn add_kills_of_other_modules(&self, merged: &mut PitReport) {
        let mut known = self.context.survivors.borrow_mut();
        let of_code = known.entry(self.module.code.clone()).or_default();
        for (class, counted) in &mut merged.classes {
            if let Some(living) = of_code.get(class) {
                let killed = counted.left.keys().filter(|id| !living.contains(id));
                let killed = killed
                    .map(|id| (id.clone(), MutantStatus::Killed))
                    .collect();
                counted.merge_later(&killed);
            }
            // A kill that no control has met proves nothing elsewhere.
            if !merged.uncontrolled.contains(class) {
                of_code.insert(class.clone(), counted.left.keys().cloned().collect());
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
        if let Some(jdk) = &self.built.project.surefire.jdk
            && !self.find_java()?.starts_with(jdk)
        {
            let (jdk, label) = (
                text::line(&jdk.display().to_string(), 300),
                self.module_label(),
            );
            result.remarks.push(format!("The tests of {label} do not run on the JDK that the build names for them ({jdk}): it is not there, older than 11, or in the package."));
        }
        let not_passed_to_pit = self.built.project.surefire.not_passed_to_pit.iter();
        result.remarks.extend(not_passed_to_pit.map(|name| {
            format!(
                "Surefire's setting {name} of {} is not given to PIT.",
                self.module_label()
            )
        }));
        Ok(())
    }
}
