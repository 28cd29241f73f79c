//! The package that a gate judges, as its steps see it.

use super::report::CountedMutants;
use crate::config::GateSettings;
use crate::gate::commands::Commands;
use crate::gate::disk_cache::DiskCache;
use crate::gate::scope::Module;
use crate::gate::{GatePackage, GatePorts, GateRequest};
use crate::source::text;
use std::cell::{RefCell, RefMut};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The folder of a class's module, and its name: modules may have classes of one name.
type ClassKey = (PathBuf, String);

/// The findings of the modules of a package that were judged so far.
#[derive(Default)]
pub(crate) struct EarlierModules {
    findings: BTreeMap<ClassKey, CountedMutants>,
    judged: BTreeSet<ClassKey>,
}

/// A package, how it is to be judged and what that may use.
#[derive(Clone, Copy)]
pub(crate) struct PackageContext<'a> {
    pub(crate) request: &'a GateRequest,
    /// The gate's settings.
    pub(crate) settings: &'a GateSettings,
    /// The ports to the outside.
    pub(crate) ports: &'a GatePorts<'a>,
    pub(crate) package: &'a GatePackage,
    /// Starts its programs.
    pub(crate) commands: &'a Commands<'a>,
    /// PIT's threads.
    pub(crate) threads: usize,
    /// No other module has targets.
    pub(crate) sole_module: bool,
    /// The findings of earlier modules, now and at the base.
    pub(crate) earlier: &'a RefCell<EarlierModules>,
}

impl PackageContext<'_> {
    /// The facts of this kind in ralph's cache.
    pub(crate) fn disk_cache(&self, kind: &str) -> DiskCache {
        DiskCache::of_kind(&self.request.cache, kind)
    }

    /// The findings of tests in earlier modules about a class of this one.
    pub(crate) fn findings(&self, module: &Module, class: &str) -> RefMut<'_, CountedMutants> {
        let key = self.class_key(module, class);
        RefMut::map(self.earlier.borrow_mut(), |earlier| {
            earlier.findings.entry(key).or_default()
        })
    }

    /// Notes that a module begins to judge its classes.
    pub(crate) fn note_judged(&self, module: &Module) {
        let classes = module.targets.iter().map(|target| &target.class);
        let keys = classes.map(|class| self.class_key(module, class));
        self.earlier.borrow_mut().judged.extend(keys);
    }

    /// True if an earlier module began to judge a class of this one.
    pub(crate) fn is_judged(&self, module: &Module, class: &str) -> bool {
        let key = self.class_key(module, class);
        self.earlier.borrow().judged.contains(&key)
    }

    fn class_key(&self, module: &Module, class: &str) -> ClassKey {
        (self.package.root.join(&module.code), class.to_owned())
    }

    /// The name of a module in a sentence.
    pub(crate) fn module_label(&self, dir: &str) -> String {
        text::module_name(&self.package.name, dir)
    }
}
