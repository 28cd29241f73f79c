//! A module measured by PIT itself: tier after tier until every class is settled.
//!
//! A pass needs no more tests than it takes, a failure all that can touch what is judged; a remark tells how many were
//! not asked, and names tests that were left out; a pass rests on kills that controls have met, and a failure needs none;
//! a time-out that decides a verdict was seen with nothing else running; a target most of whose mutants a filter hides
//! has failed.

use super::base_score;
use super::context::ModuleContext;
use super::coverage_map::{AskAll, Chosen, Coverage, CoverageMap, top_level};
use super::maven::digest;
use super::module_state::CompiledModule;
use super::pit::{Aim, MutantFilter, PitRun, PitSession};
use super::reach::near;
use super::report::{MutantId, PitReport, test_class};
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
    pub(crate) fn measure(&self, result: &mut ModuleResult) -> Result<PitReport, GateAbort> {
        let TestClasses {
            asked: all,
            left_out,
        } = self.test_classes()?;
        let session = PitSession::new(self)?;
        self.remark_what_pit_is_not_given(&left_out, result)?;
        let own = self.answerable();
        let settings = self.context.settings;
        // Classes of other modules belong to the same unit: part of the kills would judge it wrongly.
        let in_one = self.rule().per != Per::Class && !self.context.sole_module;
        let tiers = if in_one && settings.tests == TestTiers::OwnFirst {
            TestTiers::All
        } else {
            settings.tests
        };
        let mut merged = PitReport::default();
        let mut last: Option<Tier> = None;
        let mut known: Option<Chosen> = None;
        let is_outdated = || {
            let chosen = self.choose(&session, &all)?;
            Ok::<_, GateAbort>(chosen.is_err_and(|ask| ask.is_outdated))
        };
        let mut following = if self.context.request.makes_map && is_outdated()? {
            Some(Tier {
                makes_map: true,
                ..Tier::all(&all)
            })
        } else {
            tiers::first(tiers, &own, &all)
        };
        loop {
            if let Some(mut tier) = following {
                while self.climb(&session, &mut tier, &mut merged, result)? {
                    tier.makes_map = false;
                }
                last = Some(tier);
                if self.open(&merged).is_empty() {
                    break;
                }
            }
            let choose = || {
                let chosen = self.choose(&session, &all)?;
                known = chosen.clone().ok();
                Ok::<_, GateAbort>(chosen.map(|chosen| chosen.tests))
            };
            let near = || self.near(&session);
            let (after, asked) = (last.as_ref(), &merged.tests);
            following = tiers::next(
                tiers,
                after,
                asked,
                &all,
                self.context.request.confirms,
                choose,
                near,
            )?;
            match (&mut following, &known) {
                (None, _) => break,
                (Some(tier), Some(Chosen { commit, .. })) if tier.is_by_map() => {
                    let suite = text::count(all.len() as u64, "test class");
                    tier.note = format!("of {suite}, by the map made of commit {commit:.8}");
                }
                _ => {}
            }
        }
        self.add_kills_of_other_modules(&mut merged);
        let told = merged.clone().with_unproven();
        if self.open(&told) == self.open(&merged) {
            merged = told;
        }
        if let Some(class) = merged.uncontrolled.difference(&self.open(&merged)).next() {
            return Err(session.unclear(&format!(
                "tests that kill mutants of {class} time out or end the JVM in PIT's worker although nothing was mutated"
            )));
        }
        if let Some(tier) = last {
            session.note_report(tier.name, result);
        }
        let asked = merged.tests.len();
        if let Some(Chosen { commit, .. }) = known
            && asked < all.len()
            && !self.open(&merged).is_empty()
        {
            let (suite, label) = (text::count(all.len() as u64, "test class"), self.label());
            result.remarks.push(format!(
                "{asked} of the {suite} of {label} were asked: by the map made of commit {commit:.8}, no other touches what is judged."
            ));
        }
        Ok(merged)
    }

    /// Counts what tests in other modules have killed of the same classes, and leaves what lives to the next module.
    fn add_kills_of_other_modules(&self, merged: &mut PitReport) {
        let mut known = self.context.survivors.borrow_mut();
        let of_code = known.entry(self.module.code.clone()).or_default();
        for (class, counted) in &mut merged.classes {
            if let Some(living) = of_code.get(class) {
                let killed = counted.left.keys().filter(|id| !living.contains(id));
                let killed = killed
                    .map(|id| (id.identity(), MutantStatus::Killed))
                    .collect();
                counted.improve(&killed);
            }
            // A kill that no control has met, and mutants that are counted alone, prove nothing elsewhere.
            if !merged.uncontrolled.contains(class) && counted.dropped == 0 {
                of_code.insert(class.clone(), counted.left.keys().cloned().collect());
            }
        }
    }

    /// Runs one tier, and its deciding time-outs a second time; true if it must run again without tests that failed
    /// in a control.
    fn climb(
        &self,
        session: &PitSession<'_>,
        tier: &mut Tier,
        merged: &mut PitReport,
        result: &mut ModuleResult,
    ) -> Result<bool, GateAbort> {
        let first = merged.tests.is_empty() && merged.classes.is_empty();
        let filter = if first {
            session.lines()
        } else {
            self.left(session, merged)
        };
        let timeout = session.timeout(&tier.tests);
        let judges =
            first || filter.mutants.is_none() || tier.is_near() || session.is_quick(&tier.tests);
        let aim = if judges { Aim::Judge } else { Aim::Search };
        let run = PitRun {
            timeout,
            aim,
            makes_map: tier.makes_map,
            ..PitRun::new(tier.name, &tier.tests, &filter)
        };
        let note = [if first { "" } else { "what is left" }, &tier.note];
        let note = note
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("; ");
        let mut report = session.run(&run, &note, result)?;
        if tier.makes_map {
            self.keep_map(session, std::mem::take(&mut report.executed))?;
        }
        session.remember(&tier.tests, &report)?;
        let reaching = std::mem::take(&mut report.reaching);
        let mut is_unfit = !report.unfit.is_empty();
        let again = tier.tests.is_superset(&merged.tests);
        merged.tests.extend(tier.tests.iter().cloned());
        if first {
            *merged = PitReport {
                tests: std::mem::take(&mut merged.tests),
                ..report
            };
            base_score::set_base_scores(self, merged, result)?;
        } else {
            let asked: Vec<_> = filter.mutants.iter().flatten().collect();
            let missing = asked
                .iter()
                .filter(|id| !report.statuses.contains_key(&id.identity()))
                .count();
            if missing > 0 {
                return Err(session.unclear(&format!(
                    "{missing} of {} mutants were not found again",
                    asked.len()
                )));
            }
            if judges {
                merged.unproven.clear();
            } else {
                is_unfit = self.prove(session, tier, &mut report, merged, result)?;
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

    /// Has controls meet what a search detected, as far as a pass would rest on it: first beside the test classes that killed, then,
    /// if these do not suffice, beside the whole tier. What decides nothing is set aside. True if a control failed.
    fn prove(
        &self,
        session: &PitSession<'_>,
        tier: &Tier,
        search: &mut PitReport,
        merged: &mut PitReport,
        result: &mut ModuleResult,
    ) -> Result<bool, GateAbort> {
        let mut believed = merged.clone();
        believed.improve(search);
        let settled = &self.open(merged) - &self.open(&believed);
        let mut unproven = search.take_detected();
        let living = merged.living(&settled);
        let deciding: BTreeSet<MutantId> = living
            .filter(|id| unproven.remove(&id.identity()).is_some())
            .cloned()
            .collect();
        merged.unproven = unproven;
        let kills = std::mem::take(&mut search.kills)
            .into_iter()
            .filter(|kill| deciding.contains(&kill.id));
        let killing: BTreeSet<String> = kills
            .filter_map(|kill| test_class(&kill.test, |class| tier.tests.get(class).cloned()))
            .collect();
        for tests in [killing, tier.tests.clone()] {
            let open = &self.open(merged) & &settled;
            let left: Vec<_> = merged
                .living(&open)
                .filter(|id| deciding.contains(id))
                .cloned()
                .collect();
            if left.is_empty() || tests.is_empty() {
                continue;
            }
            let filter = MutantFilter {
                mutants: Some(left),
                ..session.lines()
            };
            let run = PitRun {
                timeout: session.timeout(&tests),
                ..PitRun::new("control", &tests, &filter)
            };
            let report = session.run(&run, &format!("what {} killed", tier.name), result)?;
            merged.improve(&report);
            if !report.unfit.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
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
        let filter = MutantFilter {
            mutants: Some(mutants),
            ..session.lines()
        };
        let run = PitRun {
            alone: true,
            ..PitRun::new("alone", &merged.tests, &filter)
        };
        let note = format!("time-outs of the tier {} that decide", tier.name);
        let report = session.run(&run, &note, result)?;
        merged.improve(&report);
        Ok(!report.unfit.is_empty())
    }

    /// What the next tier is to run: the mutants of open classes that are not killed.
    fn left(&self, session: &PitSession<'_>, merged: &PitReport) -> MutantFilter {
        use MutantStatus::{MemoryError, NoCoverage, RunError, Survived, TimedOut, Unjudged};
        let open = self.open(merged);
        if open
            .iter()
            .any(|class| merged.classes.get(class).is_some_and(|c| c.dropped > 0))
        {
            return session.lines();
        }
        let mut mutants = merged.with(
            &open,
            &[Survived, NoCoverage, RunError, MemoryError, Unjudged],
        );
        // More tests can make a kill of a time-out, and nothing else can pass a class without any kill.
        let unkilled = |class: &&String| {
            merged
                .classes
                .get(*class)
                .is_some_and(|c| c.tally.killed == 0)
        };
        mutants.extend(merged.with(
            &open.iter().filter(unkilled).cloned().collect(),
            &[TimedOut],
        ));
        MutantFilter {
            mutants: Some(mutants),
            ..session.lines()
        }
    }

    fn open(&self, merged: &PitReport) -> BTreeSet<String> {
        tiers::open(self.rule(), &self.module.targets, merged)
    }

    /// The test classes that can touch the targets by the map of who touches what.
    fn choose(
        &self,
        session: &PitSession<'_>,
        all: &BTreeSet<String>,
    ) -> Result<Result<Chosen, AskAll>, GateAbort> {
        let ask_all = |why: &str, is_outdated| {
            Ok(Err(AskAll {
                why: why.to_owned(),
                is_outdated,
            }))
        };
        let Some(CompiledModule {
            state, references, ..
        }) = session.state()?
        else {
            return ask_all("the gate works in place", false);
        };
        let Some(map) = self.maps().recall::<CoverageMap>(&self.map_key()) else {
            return ask_all("there is no coverage map yet", true);
        };
        Ok(map.choose(state, references, &targets(session), all))
    }

    /// The classes of the tests that stand near the targets; none in place.
    fn near(&self, session: &PitSession<'_>) -> Result<BTreeSet<String>, GateAbort> {
        let Some(module) = session.state()? else {
            return Ok(BTreeSet::new());
        };
        let names = TestNames::new(&self.context.settings.test_names);
        Ok(near(
            [&module.references, &module.production_references],
            &targets(session),
            &names,
        ))
    }

    /// Keeps the coverage map that a run over all tests has made.
    fn keep_map(&self, session: &PitSession<'_>, executed: Coverage) -> Result<(), GateAbort> {
        let Some(CompiledModule { state, .. }) = session.state()? else {
            return Ok(());
        };
        let map = CoverageMap::new(state.clone(), executed);
        self.maps().keep(&self.map_key(), &map)
    }

    fn maps(&self) -> DiskCache {
        DiskCache::of(&self.context.request.cache, "coverage-maps")
    }

    /// One map for each module of a workspace.
    fn map_key(&self) -> String {
        digest([self.maven.home.display().to_string()])
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
                self.label(),
                text::names(left_out, 5),
                self.context.request.name
            ));
        }
        if let Some(jdk) = &self.built.project.surefire.jdk
            && !self.java()?.starts_with(jdk)
        {
            let (jdk, label) = (text::line(&jdk.display().to_string(), 300), self.label());
            result.remarks.push(format!("The tests of {label} do not run on the JDK that the build names for them ({jdk}): it is not there, older than 11, or in the package."));
        }
        let not_carried = self.built.project.surefire.not_carried.iter();
        result.remarks.extend(not_carried.map(|name| {
            format!(
                "Surefire's setting {name} of {} is not given to PIT.",
                self.label()
            )
        }));
        Ok(())
    }
}

/// The top-level classes that are judged.
fn targets(session: &PitSession<'_>) -> BTreeSet<String> {
    session
        .owners
        .keys()
        .map(|class| top_level(class).to_owned())
        .collect()
}
