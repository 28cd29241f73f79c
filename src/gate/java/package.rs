//! The package that a gate judges, as its steps see it.

use super::report::CountedMutants;
use crate::config::GateSettings;
use crate::gate::commands::Commands;
use crate::gate::disk_cache::DiskCache;
use crate::gate::scope::Module;
use crate::gate::{GatePackage, GatePorts, GateRequest};
use crate::source::text;
use std::cell::{RefCell, RefMut};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use tempfile::TempDir;

/// The folder of a class's module, and its name: modules may have classes of one name.
type ClassKey = (PathBuf, String);

/// The findings of the modules of a package that were judged so far.
pub(crate) type EarlierModules = BTreeMap<ClassKey, CountedMutants>;

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

    /// A folder of this call alone: several gates may ask for the same thing at the same time.
    pub(crate) fn call_folder(&self, prefix: &str) -> io::Result<TempDir> {
        let cache = &self.request.cache;
        fs_err::create_dir_all(cache)?;
        tempfile::Builder::new().prefix(prefix).tempdir_in(cache)
    }

    /// The findings of tests in earlier modules about a class of this one.
    pub(crate) fn findings(&self, module: &Module, class: &str) -> RefMut<'_, CountedMutants> {
        let key = (self.package.root.join(&module.code), class.to_owned());
        RefMut::map(self.earlier.borrow_mut(), |earlier| {
            earlier.entry(key).or_default()
        })
    }

    /// The name of a module in a sentence.
    pub(crate) fn module_label(&self, dir: &str) -> String {
        text::module_name(&self.package.name, dir)
    }
}
