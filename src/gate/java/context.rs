//! The module that a gate judges, as its steps see it.

use super::class_file;
use super::classes::{ClassFiles, is_java, read_classes};
use super::jvm::jdk_version;
use super::maven::{Built, Maven, digest_parts};
use super::package::PackageContext;
use super::report::Owners;
use super::scope::JavaPath;
use crate::gate::commands::file_name;
use crate::gate::disk_cache::DiskCache;
use crate::gate::files::is_older;
use crate::gate::scope::{Module, MutationExtent};
use crate::gate::{GateAbort, GatePackage};
use crate::mutation::{NoCoverage, Per};
use crate::sys::programs::is_program;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The oldest JDK that PIT runs on.
const OLDEST: (u32, u32) = (11, 0);

/// A module that compiled, on its way to a score.
pub(crate) struct ModuleContext<'a> {
    pub(crate) context: &'a PackageContext<'a>,
    pub(crate) module: &'a Module,
    pub(crate) maven: &'a Maven<'a>,
    pub(crate) built: &'a Built,
    /// The class files of its production code, of its tests, and of the other modules on its class path.
    pub(crate) classes: Vec<ClassFiles>,
}

impl<'a> ModuleContext<'a> {
    pub(crate) fn new(maven: &'a Maven<'a>, built: &'a Built) -> Result<Self, GateAbort> {
        let folders = built.class_folders();
        let classes = folders.into_iter().map(read_classes);
        Ok(Self {
            context: maven.context,
            module: maven.module,
            maven,
            built,
            classes: classes.collect::<Result<_, _>>()?,
        })
    }

    /// The class files of its production code.
    pub(crate) fn production(&self) -> &ClassFiles {
        &self.classes[0]
    }

    /// The class files of its tests.
    pub(crate) fn tests(&self) -> &ClassFiles {
        &self.classes[1]
    }

    /// The JVM that runs PIT: of the JDK that a setting names for the tests if PIT runs on it, else Maven's own. A JDK in the package
    /// is the work that is judged.
    pub(crate) fn find_java(&self) -> Result<PathBuf, GateAbort> {
        let commands = self.context.commands;
        let named = self.built.project.surefire.jdk.as_deref();
        let chosen = named
            .filter(|jdk| is_outside(jdk, self.context.package))
            .map(|home| home.join("bin/java"))
            .filter(|java| jdk_version(java).is_some_and(|version| !is_older(&version, OLDEST)));
        let home = commands
            .variable_value("JAVA_HOME")
            .filter(|home| home.starts_with('/'));
        let own = home
            .map(|home| Path::new(home).join("bin/java"))
            .filter(|java| is_program(java));
        let why = "Java was not found: neither through JAVA_HOME nor on the PATH.".to_owned();
        let java = chosen.or(own).or_else(|| commands.find_program("java"));
        java.ok_or_else(|| GateAbort::setup(why, "Install a JDK and set JAVA_HOME."))
    }

    /// The facts of this kind in ralph's cache, and the key of those about this module and these tests.
    pub(crate) fn known_facts(&self, kind: &str, tests: &BTreeSet<String>) -> (DiskCache, String) {
        // The folder tells projects apart whose modules have the same label.
        let home = self.maven.home.display().to_string();
        let key = digest_parts(std::iter::once(&home).chain(tests));
        (self.context.disk_cache(kind), key)
    }

    /// The family's fault when it changed a build file, else a wrong set-up.
    pub(crate) fn blame_build(&self, why: String, hint: &str) -> GateAbort {
        if self.module.build_changed {
            GateAbort::fail(why)
        } else {
            GateAbort::setup(why, hint)
        }
    }

    /// `<package>/<folder>` for messages.
    pub(crate) fn module_label(&self) -> String {
        self.context.module_label(&self.module.dir)
    }

    /// The classes to mutate: targets, and other classes of their source files.
    pub(crate) fn class_owners(&self) -> Owners {
        let targets = self.module.targets.iter().map(|target| &target.class);
        let mut owners: Owners = targets
            .map(|class| (class.clone(), class.clone()))
            .collect();
        for (name, bytes) in self.production() {
            let Some(source) = class_file::source_of(Path::new(name), bytes) else {
                continue;
            };
            let class = name.replace('/', ".");
            let stem = source.with_extension("");
            let target = stem.to_string_lossy().replace('/', ".");
            if is_java(&source)
                && owners.get(&target) == Some(&target)
                && !class.starts_with(&format!("{target}$"))
            {
                owners.entry(class).or_insert(target);
            }
        }
        owners
    }

    /// Dotted names of the targets' own tests and of the tests that the family changed.
    pub(crate) fn accountable_tests(&self) -> BTreeSet<String> {
        let own = self
            .module
            .targets
            .iter()
            .flat_map(|target| target.tests.iter().cloned());
        let changed = self
            .context
            .package
            .changes
            .iter()
            .map(|change| change.path.to_text());
        own.chain(changed)
            .filter_map(|path| {
                JavaPath::parse_path(&path)
                    .filter(|java| java.test)?
                    .class_name()
            })
            .collect()
    }

    /// A folder of this module below the gate's folder: `<what>/<package>[/<module>]`.
    pub(crate) fn gate_folder(&self, what: &str) -> PathBuf {
        let folder = self
            .context
            .request
            .folder
            .join(what)
            .join(file_name(&self.context.package.name));
        let (dir, code) = (&self.module.dir, &self.module.code);
        let name = if dir == code {
            dir.clone()
        } else {
            format!("{code} in {dir}")
        };
        // The package itself has no name.
        folder.join(file_name(&name))
    }

    /// True if what other modules find takes part in the verdict on this one's classes. A class that need not keep a score passes by
    /// the tests of one module, unless more tests can lower its own score.
    pub(crate) fn is_part(&self) -> bool {
        let mut targets = self.module.targets.iter();
        let settings = self.context.settings;
        let may_fall_elsewhere = settings.no_coverage == NoCoverage::Ignore
            || targets.any(|target| matches!(target.extent, MutationExtent::Change(_)));
        self.module.shares_targets && may_fall_elsewhere
            || settings.per != Per::Class && !self.context.sole_module
    }

    /// True for a line of a target's file (by its bare name) that the family changed, where that is known.
    pub(crate) fn is_changed(&self, class: &str, file: &str, line: u32) -> bool {
        let mut targets = self.module.targets.iter();
        targets.any(|target| {
            target.class == class && target.has_changed(self.context.package, file, line)
        })
    }
}

/// True for an absolute path that leads out of a package and of its home.
fn is_outside(jdk: &Path, package: &GatePackage) -> bool {
    let Ok(real) = fs_err::canonicalize(jdk) else {
        return false;
    };
    let mut folders = [&package.root, &package.home].into_iter();
    jdk.is_absolute()
        && !folders
            .any(|folder| fs_err::canonicalize(folder).is_ok_and(|folder| real.starts_with(folder)))
}
