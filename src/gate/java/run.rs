//! The mutation gate over the changed Java of all packages.
//!
//! Modules of one package are judged one after the other (they share output folders), packages side by side within
//! the configured number of jobs.

use super::module::judge_module;
use super::package::PackageContext;
use crate::config::GateSettings;
use crate::gate::commands::Commands;
use crate::gate::scope::Module;
use crate::gate::verdict::ModuleResult;
use crate::gate::{GatePorts, GateRequest, job_count};
use crate::sys::poison::ignore_poison;
use std::cell::RefCell;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Judges modules. Returns their results, and the time that they took.
pub(crate) fn judge_modules(
    request: &GateRequest,
    settings: &GateSettings,
    ports: &GatePorts<'_>,
    modules: &[Module],
) -> (Vec<ModuleResult>, Duration) {
    let with_targets = modules
        .iter()
        .filter(|module| !module.targets.is_empty())
        .count();
    // The scope lists them package by package.
    let packages: Vec<&[Module]> = modules.chunk_by(|a, b| a.package == b.package).collect();
    let jobs = job_count(settings);
    let side_by_side = jobs.min(packages.len()).max(1);
    let next = AtomicUsize::new(0);
    let done: Mutex<(Vec<ModuleResult>, Duration)> = Mutex::default();
    std::thread::scope(|threads| {
        for _ in 0..side_by_side {
            threads.spawn(|| {
                // A package has the time that those before it in this thread left.
                let mut used = Duration::ZERO;
                while let Some(modules) = packages.get(next.fetch_add(1, Relaxed)) {
                    let index = modules[0].package;
                    let left = settings.limit.saturating_sub(used);
                    let commands = Commands::new(ports, request, format!("logs/{index}"), left);
                    let earlier = RefCell::default();
                    let context = PackageContext {
                        request,
                        settings,
                        package: &request.packages[index],
                        commands: &commands,
                        threads: jobs / side_by_side,
                        sole_module: with_targets == 1,
                        ports,
                        earlier: &earlier,
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
    std::mem::take(&mut *ignore_poison(done.lock()))
}

/// Judges the modules of a package. Each counts what those before it found, so the last result of a class counts.
fn judge_in_turn(context: &PackageContext<'_>, modules: &[Module]) -> Vec<ModuleResult> {
    let mut results: Vec<ModuleResult> = Vec::new();
    for module in modules {
        let mut result = ModuleResult {
            remarks: module.remarks.clone(),
            ..ModuleResult::default()
        };
        if let Err(abort) = judge_module(context, module, &mut result) {
            result.stop_targets(abort, &module.targets);
        }
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
