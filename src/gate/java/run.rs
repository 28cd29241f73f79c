//! The mutation gate over the changed Java of all packages.
//!
//! Modules of one package are judged one after the other (they share output folders), packages side by side within
//! the configured number of jobs.

use super::listing::{Listing, list};
use super::module::judge;
use super::package::PackageContext;
use super::scope::{TestNames, scope};
use crate::config::GateSettings;
use crate::gate::commands::Commands;
use crate::gate::scope::{Module, Scope};
use crate::gate::verdict::{Judging, ModuleResult};
use crate::gate::{GatePorts, GateRequest, jobs};
use crate::sys::poison::ignore_poison;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

/// What is to be judged, and what the packages hold.
pub(crate) fn scope_of(request: &GateRequest, settings: &GateSettings) -> (Scope, Vec<Listing>) {
    let listings = match request.packages.iter().map(list).collect::<Result<Vec<_>, _>>() {
        Ok(listings) => listings,
        Err(abort) => return (Scope::refused(abort), Vec::new()),
    };
    let (names, command) = (TestNames::new(&settings.test_names), settings.classpath_command.is_some());
    (scope(request, &names, settings.scope, command, &listings), listings)
}

/// Judges the modules of all packages.
pub(crate) fn judge_modules(
    request: &GateRequest,
    settings: &GateSettings,
    ports: &GatePorts<'_>,
) -> Judging {
    let (scope, listings) = scope_of(request, settings);
    if !scope.aborts.is_empty() {
        return Judging { scope, ..Judging::default() };
    }
    let mut packages: BTreeMap<usize, Vec<&Module>> = BTreeMap::new();
    let is_judged = |module: &&Module| !scope.has_targets() || !module.targets.is_empty();
    for module in scope.modules.iter().filter(is_judged) {
        packages.entry(module.package).or_default().push(module);
    }
    let jobs = jobs(settings);
    let side_by_side = jobs.min(packages.len()).max(1);
    let sole_module = scope.modules.iter().filter(|module| !module.targets.is_empty()).count() == 1;
    // Judges the modules of one package, in the time that is left after what this thread has `used`.
    let judge_package = |index: usize, modules: &[&Module], used: Duration| {
        let (package, listing) = request.packages.get(index).zip(listings.get(index))?;
        let left = settings.limit.saturating_sub(used);
        let commands = Commands::new(ports, request, format!("logs/{index}"), left);
        let context = PackageContext {
            request,
            settings,
            package,
            tests: &listing.tests,
            commands: &commands,
            threads: jobs / side_by_side,
            sole_module,
            ports,
        };
        let results: Vec<ModuleResult> = modules.iter().map(|module| judge(&context, module)).collect();
        Some((results, commands.used()))
    };
    let done: Mutex<(Vec<ModuleResult>, Duration)> = Mutex::default();
    let waiting = Mutex::new(packages.into_iter());
    std::thread::scope(|threads| {
        for _ in 0..side_by_side {
            threads.spawn(|| {
                let mut used = Duration::ZERO;
                while let Some((index, modules)) = ignore_poison(waiting.lock()).next() {
                    let Some((results, more)) = judge_package(index, &modules, used) else { continue };
                    used += more;
                    let mut done = ignore_poison(done.lock());
                    done.0.extend(results);
                    done.1 = done.1.max(used);
                }
            });
        }
    });
    drop(waiting);
    let (results, used) = std::mem::take(&mut *ignore_poison(done.lock()));
    Judging { scope, results, used }
}
