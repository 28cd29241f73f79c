//! What the steps of a gate know about the package and the module that they judge.

use super::maven::{Built, Maven, display_dir};
use super::report::Owners;
use super::scope::JavaPath;
use super::test_classes;
use crate::config::GateSettings;
use crate::gate::commands::Commands;
use crate::gate::scope::{Extent, Module, Target};
use crate::gate::{GateAbort, GatePackage, GatePorts, GateRequest};
use crate::mutation::Rule;
use crate::source::ChangedLines;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a lane needs to judge a module.
pub(crate) struct PackageContext<'a> {
    /// The request.
    pub(crate) request: &'a GateRequest,
    /// The gate's settings.
    pub(crate) settings: &'a GateSettings,
    /// The package.
    pub(crate) package: &'a GatePackage,
    /// Test sources of the package.
    pub(crate) tests: &'a BTreeSet<String>,
    /// Starts its programs.
    pub(crate) commands: &'a Commands<'a>,
    /// PIT's threads.
    pub(crate) threads: usize,
    /// No other module has targets.
    pub(crate) sole_module: bool,
    /// What it may use of the outside.
    pub(crate) ports: &'a GatePorts<'a>,
}

impl<'a> PackageContext<'a> {
    /// Maven in the package's folder, here or in another checkout.
    pub(crate) fn maven(&self, root: &Path) -> Result<Maven<'a>, GateAbort> {
        Maven::find(self.commands, &self.package.name, root, self.settings, &self.request.cache)
    }
}

/// A module that compiled, on its way to a score.
pub(crate) struct ModuleContext<'a> {
    pub(crate) package: &'a PackageContext<'a>,
    pub(crate) module: &'a Module,
    pub(crate) maven: &'a Maven<'a>,
    pub(crate) built: &'a Built,
    pub(crate) home: PathBuf,
}

impl ModuleContext<'_> {
    /// Compiled test classes; if there are none although there are test sources, the build skips its tests.
    pub(crate) fn test_classes(&self) -> Result<BTreeSet<String>, GateAbort> {
        let tests = test_classes::find(&self.built.project, &self.home);
        let root = if self.module.dir.is_empty() { String::new() } else { format!("{}/", self.module.dir) };
        let below = format!("{root}src/test/java/");
        let has_sources = self.package.tests.iter().any(|test| test.starts_with(&below));
        if tests.is_empty() && has_sources {
            self.fault(
                format!(
                    "The build of module {} makes no test classes although it has test sources.",
                    self.label()
                ),
                "Look in the POM and in .mvn for maven.test.skip or a skipped testCompile.",
            )?;
        }
        Ok(tests)
    }

    /// The family's fault when it changed a build file, else a wrong set-up.
    pub(crate) fn fault(&self, why: String, hint: &str) -> Result<(), GateAbort> {
        Err(if self.module.build_changed { GateAbort::fail(why) } else { GateAbort::setup(why, hint) })
    }

    /// `<package>/<folder>` for messages.
    pub(crate) fn label(&self) -> String {
        format!("{}/{}", self.package.package.name, display_dir(&self.module.dir))
    }

    /// The classes to mutate: targets, and other classes of their source files.
    pub(crate) fn owners(&self) -> Owners {
        let mut owners = Owners::new();
        for target in &self.module.targets {
            owners.insert(target.class.clone(), target.class.clone());
            if let Some(java) = JavaPath::read(&target.path.to_text()) {
                for class in test_classes::second_classes(&self.built.project, &java.folder, &java.stem) {
                    owners.entry(class).or_insert_with(|| target.class.clone());
                }
            }
        }
        owners
    }

    /// Dotted names of the targets' own tests and of the tests that the family changed.
    pub(crate) fn answerable(&self) -> BTreeSet<String> {
        let own = self.module.targets.iter().flat_map(|target| target.tests.iter().cloned());
        let changed = self.package.package.changes.iter().map(|change| change.path.to_text());
        own.chain(changed)
            .filter_map(|path| JavaPath::read(&path).filter(|java| java.test)?.class())
            .collect()
    }

    /// A folder of this module below the gate's folder: `<what>/<package>[/<module>]`.
    pub(crate) fn folder(&self, what: &str) -> PathBuf {
        let folder = self.package.request.folder.join(what).join(folder_name(&self.package.package.name));
        if self.module.dir.is_empty() { folder } else { folder.join(folder_name(&self.module.dir)) }
    }

    /// The rule of the gate.
    pub(crate) fn rule(&self) -> Rule {
        let settings = self.package.settings;
        Rule { threshold: settings.threshold, per: settings.per, no_coverage: settings.no_coverage }
    }

    /// What the family changed in the targets' files, where it is known.
    pub(crate) fn changed_lines(&self) -> ChangedOf {
        let lines = |target: &Target| {
            let ranges = match self.package.package.lines.get(&target.path)? {
                ChangedLines::Whole => vec![(1, u32::MAX)],
                ChangedLines::Ranges(ranges) => ranges.clone(),
            };
            let path = target.path.to_text();
            let file = path.rsplit('/').next().unwrap_or_default().to_owned();
            Some((target.class.clone(), (file, ranges)))
        };
        self.module.targets.iter().filter_map(lines).collect()
    }
}

/// A name as one path component.
fn folder_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    name.chars().map(plain).collect()
}

/// The lines of the targets that are judged by lines, by `folder/File.java` below the source root.
pub(crate) fn lines(targets: &[Target]) -> Option<Vec<(String, u32, u32)>> {
    if targets.iter().all(|target| !matches!(target.extent, Extent::Lines(_))) {
        return None;
    }
    let mut all = Vec::new();
    for target in targets {
        let file = format!("{}.java", target.class.replace('.', "/"));
        match &target.extent {
            Extent::Lines(ranges) => {
                all.extend(ranges.iter().map(|(first, last)| (file.clone(), *first, *last)));
            }
            Extent::Class | Extent::Change(_) => all.push((file, 0, i32::MAX.unsigned_abs())),
        }
    }
    Some(all)
}

/// Changed lines by target class; a class that is not listed has none.
pub(crate) type ChangedOf = BTreeMap<String, (String, Vec<(u32, u32)>)>;
