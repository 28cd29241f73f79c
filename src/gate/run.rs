//! A gate from request to report.
//!
//! Owns: the lanes in which packages are judged side by side.
//!
//! Promises: every request ends in a report; modules of one package are built one after the other (they
//! share output folders), packages side by side within the configured number of jobs.
//!
//! Refuses to know: what a module's steps are.

use super::calls::Calls;
use super::command::{self, Said};
use super::listing::{Listing, list};
use super::module::{Bench, judge};
use super::outcome::{Outcome, conclude};
use super::scope::{Module, Scope, TestNames, scope};
use super::{GateRequest, Hands, Stop, words};
use crate::config::{GateEngine, GateSettings};
use crate::mutation::{GateReport, Verdict};
use crate::sys::poison::ignore_poison as whole;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

/// Runs a gate. Never panics, never fails: every trouble is a verdict.
pub fn run(request: &GateRequest, settings: &GateSettings, hands: &Hands<'_>) -> GateReport {
    match &settings.engine {
        GateEngine::Command(argv) => run_command(request, settings, argv, hands),
        GateEngine::Direct | GateEngine::Maven => run_mutation(request, settings, hands),
    }
}

fn run_mutation(request: &GateRequest, settings: &GateSettings, hands: &Hands<'_>) -> GateReport {
    let listings: Result<Vec<Listing>, Stop> = request.packages.iter().map(list).collect();
    let listings = match listings {
        Ok(listings) => listings,
        Err(stop) => return conclude(settings, &Scope::default(), vec![Outcome::stopped(stop)], 0),
    };
    let scope = scope(request, &TestNames::new(&settings.test_names), settings.scope, &listings);
    if !scope.stops.is_empty() {
        return conclude(settings, &scope, Vec::new(), 0);
    }
    let mut lanes: BTreeMap<usize, Vec<&Module>> = BTreeMap::new();
    let judged = |module: &&Module| !scope.has_targets() || !module.targets.is_empty();
    for module in scope.modules.iter().filter(judged) {
        lanes.entry(module.package).or_default().push(module);
    }
    let jobs = jobs(settings);
    let side_by_side = jobs.min(lanes.len()).max(1);
    let sole_module = scope.modules.iter().filter(|module| !module.targets.is_empty()).count() == 1;
    let bench =
        Lane { request, settings, listings: &listings, threads: jobs / side_by_side, sole_module, hands };
    let done: Mutex<Vec<Outcome>> = Mutex::new(Vec::new());
    let millis: Mutex<u64> = Mutex::new(0);
    let waiting = Mutex::new(lanes.into_iter());
    std::thread::scope(|threads| {
        for _ in 0..side_by_side {
            threads.spawn(|| {
                let mut used = Duration::ZERO;
                while let Some((package, modules)) = whole(waiting.lock()).next() {
                    let outcomes = bench.judge(package, &modules, &mut used);
                    whole(done.lock()).extend(outcomes);
                }
                let mut longest = whole(millis.lock());
                *longest = (*longest).max(u64::try_from(used.as_millis()).unwrap_or(u64::MAX));
            });
        }
    });
    let outcomes = std::mem::take(&mut *whole(done.lock()));
    let millis = *whole(millis.lock());
    conclude(settings, &scope, outcomes, millis)
}

/// What all lanes share.
struct Lane<'a> {
    request: &'a GateRequest,
    settings: &'a GateSettings,
    listings: &'a [Listing],
    threads: usize,
    sole_module: bool,
    hands: &'a Hands<'a>,
}

impl Lane<'_> {
    /// Judges the modules of one package; `used` is what this lane has used of the gate's time.
    fn judge(&self, index: usize, modules: &[&Module], used: &mut Duration) -> Vec<Outcome> {
        let request = self.request;
        let (Some(package), Some(listing)) = (request.packages.get(index), self.listings.get(index)) else {
            return Vec::new();
        };
        let logs = request.folder.join("logs").join(index.to_string());
        let left = self.settings.limit.saturating_sub(*used);
        let calls = Calls::new(self.hands, &request.env, logs, &request.tag, left);
        let bench = Bench {
            request,
            settings: self.settings,
            package,
            tests: &listing.tests,
            calls: &calls,
            threads: self.threads,
            sole_module: self.sole_module,
            hands: self.hands,
        };
        let outcomes = modules.iter().map(|module| judge(&bench, module)).collect();
        *used += calls.used();
        outcomes
    }
}

fn run_command(
    request: &GateRequest,
    settings: &GateSettings,
    argv: &[String],
    hands: &Hands<'_>,
) -> GateReport {
    let calls = Calls::new(hands, &request.env, request.folder.join("logs"), &request.tag, settings.limit);
    let mut outcome = Outcome::default();
    let mut passed = false;
    let mut skipped: Vec<String> = Vec::new();
    for package in request.packages.iter().filter(|package| !package.changes.is_empty()) {
        (hands.progress)(&format!("Running {} in {}", words::line(&request.name, 100), package.name));
        match command::run(&calls, &request.name, argv, package) {
            Said::Pass => passed = true,
            Said::Skip(why) => skipped.push(why),
            Said::Stop(stop) => {
                if matches!(stop, Stop::Fail { .. }) {
                    let production =
                        package.changes.iter().filter(|c| c.kind == crate::source::Kind::Production);
                    outcome.failing.extend(production.map(crate::machine::facts::FileChange::full_path));
                }
                outcome.stops.push(stop);
            }
        }
    }
    let millis = u64::try_from(calls.used().as_millis()).unwrap_or(u64::MAX);
    let mut report = conclude(settings, &Scope::default(), vec![outcome], millis);
    if matches!(report.verdict, Verdict::Skip { .. }) {
        report.verdict = if passed {
            Verdict::Pass
        } else if skipped.is_empty() {
            Verdict::Skip { why: "No package was changed.".to_owned() }
        } else {
            Verdict::Skip {
                why: format!(
                    "{}.",
                    words::names(skipped.iter().map(String::as_str), 5).trim_end_matches('.')
                ),
            }
        };
    }
    report
}

fn jobs(settings: &GateSettings) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if settings.jobs == 0 { processors } else { settings.jobs }
}
