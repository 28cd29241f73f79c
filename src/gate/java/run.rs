//! The mutation gate over the changed Java of all packages.
//!
//! Modules of one package are judged one after the other (they share output folders), packages side by side within
//! the configured number of jobs.

use super::listing::list_package;
use super::module::judge_module;
use super::package::PackageContext;
use super::scope::find_scope;
use crate::config::GateSettings;
use crate::gate::commands::Commands;
use crate::gate::scope::{GateScope, Module, TargetClass};
use crate::gate::verdict::{EngineResult, ModuleResult};
use crate::gate::{GatePorts, GateRequest, job_count, score_rule};
use crate::mutation::{Per, Rule};
use crate::sys::poison::ignore_poison;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Finds the classes to judge.
pub(crate) fn scope_of(request: &GateRequest, settings: &GateSettings) -> GateScope {
    let listings: Result<Vec<_>, _> = request.packages.iter().map(list_package).collect();
    let listings = match listings {
        Ok(listings) => listings,
        Err(abort) => return GateScope::refuse_all(abort),
    };
    let mut scope = find_scope(request, settings, &listings);
    if let Some(shard) = request.shard {
        scope.keep_share(shard);
    }
    scope
}

/// Judges the modules of all packages.
pub(crate) fn judge_modules(
    request: &GateRequest,
    settings: &GateSettings,
    ports: &GatePorts<'_>,
) -> EngineResult {
    let scope = scope_of(request, settings);
    if !scope.aborts.is_empty() {
        return EngineResult {
            scope,
            ..EngineResult::default()
        };
    }
    let mut packages: BTreeMap<usize, Vec<&Module>> = BTreeMap::new();
    // Changed tests run even where other modules have the targets; PIT runs them where this one has.
    for module in &scope.modules {
        let has_more = !module.changed_tests.is_empty()
            && !scope.modules.iter().any(|other| {
                other.package == module.package
                    && other.dir == module.dir
                    && !other.targets.is_empty()
            });
        if scope.has_targets() && module.targets.is_empty() && !has_more {
            continue;
        }
        packages.entry(module.package).or_default().push(module);
    }
    // The class's own module is first among those with tests of it.
    for modules in packages.values_mut() {
        modules.sort_by_key(|module| module.dir != module.code);
    }
    let jobs = job_count(settings);
    let side_by_side = jobs.min(packages.len()).max(1);
    let sole_module = scope
        .modules
        .iter()
        .filter(|module| !module.targets.is_empty())
        .count()
        == 1;
    let packages: Vec<(usize, Vec<&Module>)> = packages.into_iter().collect();
    let done: Mutex<(Vec<ModuleResult>, Duration)> = Mutex::default();
    let next = AtomicUsize::new(0);
    std::thread::scope(|threads| {
        for _ in 0..side_by_side {
            threads.spawn(|| {
                // A package has the time that those before it in this thread left.
                let mut used = Duration::ZERO;
                while let Some((index, modules)) = packages.get(next.fetch_add(1, Relaxed)) {
                    let left = settings.limit.saturating_sub(used);
                    let commands = Commands::new(ports, request, format!("logs/{index}"), left);
                    let survivors = RefCell::default();
                    let context = PackageContext {
                        request,
                        settings,
                        package: &request.packages[*index],
                        commands: &commands,
                        threads: jobs / side_by_side,
                        sole_module,
                        ports,
                        survivors: &survivors,
                    };
                    let results = judge_in_turn(&context, modules);
                    used += commands.time_used();
                    let mut done = ignore_poison(done.lock());
                    done.0.extend(results);
                    done.1 = done.1.max(used);
                }
            });
        }
    });
    let (results, used) = std::mem::take(&mut *ignore_poison(done.lock()));
    EngineResult {
        scope,
        results,
        used,
    }
}

/// True for a class that the tests of other modules have brought to the threshold.
fn is_settled(rule: Rule, results: &[ModuleResult], target: &TargetClass) -> bool {
    let mut judged = results.iter().flat_map(|result| &result.judged);
    let earlier = judged.find(|judged| judged.score.path == target.path);
    rule.per == Per::Class
        && earlier.is_some_and(|earlier| {
            let judgement = rule.judge(std::slice::from_ref(&earlier.score));
            judgement.reached > 0
        })
}

/// Judges the modules of a package. A class with tests of its own in several modules is judged by the kills of all: later
/// modules run only for classes that the tests so far leave below the threshold, and the last result of a class counts.
fn judge_in_turn(context: &PackageContext<'_>, modules: &[&Module]) -> Vec<ModuleResult> {
    let mut results: Vec<ModuleResult> = Vec::new();
    let rule = score_rule(context.settings);
    for module in modules {
        let mut module = (*module).clone();
        let had_targets = !module.targets.is_empty();
        module
            .targets
            .retain(|target| !is_settled(rule, &results, target));
        if had_targets
            && module.targets.is_empty()
            && module.changed_tests.is_empty()
            && module.unplaced.is_empty()
        {
            continue;
        }
        let result = judge_module(context, &module);
        for earlier in &mut results {
            earlier.judged.retain(|judged| {
                let mut again = result.judged.iter();
                !again.any(|again| again.score.path == judged.score.path)
            });
        }
        results.push(result);
    }
    results
}
