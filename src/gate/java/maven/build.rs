//! A module's build: by Maven, by the JDK's compiler in its place, or none at all.
//!
//! The compiler replaces Maven only if a proof for all that is not Java exists and only Java files changed since; all that it
//! cannot do, Maven does from nothing.
//!
//! The key of a module covers all files of the package that are not Java, `.mvn` there and above, and the settings of the user.
//! POMs outside of the package are in its checkout, and outputs are used only while no file of that but Java changes.

use super::super::jvm::jdk_version;
use super::project::{self, is_unusual};
use super::recipe::{self, Recipe};
use super::{BUILD_CLASSPATH, Maven, Project, digest_parts, module_home, read_paths};
use crate::config::Recompile;
use crate::gate::scope::Module;
use crate::gate::{GateAbort, OutputState, xml};
use crate::source::digest;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Files above a package, and in the home of the user, that change what Maven does.
const SETTINGS: [&str; 5] = [
    ".mvn/maven.config",
    ".mvn/jvm.config",
    ".mvn/extensions.xml",
    ".m2/settings.xml",
    ".m2/toolchains.xml",
];
/// Writes the effective POM of a module.
const EFFECTIVE_POM: &str = "org.apache.maven.plugins:maven-help-plugin:3.4.0:effective-pom";

/// A module that compiled.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Built {
    /// Its test class path without its own classes.
    pub(crate) classpath: Vec<String>,
    /// Its effective POM.
    pub(crate) project: Project,
    /// The calls by which the JDK's compiler makes what Maven makes; `None` if it was not seen to.
    pub(super) recipe: Option<Recipe>,
    /// A digest of all that its outputs depend on except its sources.
    #[serde(skip)]
    pub(crate) key: String,
}

impl Built {
    /// The folders of its classes, then those of other modules: the entries of the class path that are not
    /// jars.
    pub(crate) fn class_folders(&self) -> Vec<&Path> {
        let own = [&self.project.classes, &self.project.test_classes].map(Path::new);
        let others = self
            .classpath
            .iter()
            .map(Path::new)
            .filter(|entry| entry.is_dir());
        own.into_iter().chain(others).collect()
    }

    /// The same with the production code that a module of this package judges, which may be another module's; `None` if
    /// that is not on its class path.
    pub(crate) fn for_module(&self, module: &Module, package: &Path) -> Option<Self> {
        if module.code == module.dir {
            return Some(self.clone());
        }
        let home = module_home(package, &module.code);
        let file = format!("{}.class", module.targets.first()?.class.replace('.', "/"));
        let mut below = self.classpath.iter().map(Path::new);
        let classes =
            below.find(|entry| entry.starts_with(&home) && entry.join(&file).is_file())?;
        let mut built = self.clone();
        built.project.classes = classes.display().to_string();
        built.project.sources = home.join("src/main/java").display().to_string();
        // Its own production code, which its tests may use, is like any other on the class path.
        built.classpath.push(self.project.classes.clone());
        Some(built)
    }
}

/// The phase in which a module was compiled: its name in the trace, and a note.
pub(crate) type BuildPhase = (&'static str, &'static str);

impl Maven<'_> {
    /// Compiles the module with its tests and the modules of the reactor that it needs.
    pub(crate) fn build_module(&self) -> Result<(Built, BuildPhase), GateAbort> {
        if let Some(argv) = self.command {
            return self.build_by_command(argv);
        }
        let key = self.module_key();
        let known: Option<Built> = self.context.disk_cache("modules").recall(&key);
        let is_refused = known.as_ref().is_some_and(|built| built.recipe.is_none());
        // An extension of Maven's core may take versions, and with them settings of the tests, from git.
        let is_extended = self
            .root
            .ancestors()
            .any(|at| at.join(".mvn/extensions.xml").is_file());
        if let Some(mut built) = known.filter(|_| !is_extended) {
            built.key = build_key(&key, &built.project, &built.classpath);
            match self.context.ports.checkouts.output_state(&built.key) {
                OutputState::Current => {
                    let note = "nothing had changed: Maven was not called";
                    return Ok((built, ("compile", note)));
                }
                OutputState::Java(stale) => {
                    if let Some(recipe) = &built.recipe
                        && self.recompile_sources(&built.project, recipe, &stale)?
                    {
                        let note = "javac compiled what had changed: Maven was not called";
                        return Ok((built, ("compile", note)));
                    }
                }
                OutputState::Nothing => {}
            }
        }
        self.build_by_maven(&key, is_refused)
    }

    /// The build from nothing, which also names the class path and the effective POM. A compiler that `is_refused` is not
    /// tried again.
    fn build_by_maven(
        &self,
        key: &str,
        is_refused: bool,
    ) -> Result<(Built, BuildPhase), GateAbort> {
        self.context.ports.checkouts.clear_outputs(self.root)?;
        let work = self.context.call_folder("module-")?;
        let classpath = work.path().join("classpath");
        let effective = work.path().join("effective.xml");
        let to_classpath = format!("-Dmdep.outputFile={}", classpath.display());
        let to_effective = format!("-Doutput={}", effective.display());
        let goals = [
            "-q",
            "test-compile",
            BUILD_CLASSPATH,
            EFFECTIVE_POM,
            &to_classpath,
            &to_effective,
        ];
        let call = self.call_for_module("resolve", &goals)?;
        self.check_end(&call)?;
        let project =
            xml::read_file(&effective).and_then(|root| project::read_project(&root, &self.home));
        let Some(mut project) = project.filter(|_| classpath.is_file()) else {
            let module = self.context.module_label(&self.module.dir);
            return Err(GateAbort::setup(
                format!(
                    "Maven ended well but wrote no class path or no effective POM for {module}."
                ),
                "Look in the POM for a configuration that skips maven-dependency-plugin or maven-help-plugin.",
            ));
        };
        let jdk = project.surefire.jdk.take();
        project.surefire.jdk = jdk.or_else(|| recipe::find_toolchain(&call.output));
        let classpath = read_paths(&classpath);
        let recipe = if is_refused {
            None
        } else {
            self.prove_compiler(&project, &call.output)?
        };
        let note = if recipe.is_some() {
            "compiled and resolved; javac was seen to make the same classes"
        } else {
            "compiled and resolved"
        };
        let built = Built {
            key: build_key(key, &project, &classpath),
            classpath,
            project,
            recipe,
        };
        self.context.disk_cache("modules").remember(key, &built)?;
        Ok((built, ("resolve", note)))
    }

    /// Looks whether the JDK's compiler makes what Maven just made, and returns its calls for the changes to come; `None`
    /// if it does not, or may not take Maven's place.
    fn prove_compiler(&self, project: &Project, log: &str) -> Result<Option<Recipe>, GateAbort> {
        let settings = self.context.settings;
        let Some(recipe) = recipe::read_log(log) else {
            return Ok(None);
        };
        let may_replace_maven = match settings.recompile {
            Recompile::Auto => recipe.reads_no_other_java(&settings.maven_args),
            Recompile::Javac => true,
            Recompile::Maven => false,
        };
        let is_proven = may_replace_maven
            && self.context.ports.checkouts.keeps_java_outputs()
            && project.compiles_plainly
            && !settings.maven_args.iter().any(|one| is_unusual(one))
            && self.proves_equal(project, &recipe)?;
        Ok(is_proven.then_some(recipe))
    }

    /// The key of the module.
    fn module_key(&self) -> String {
        let root = self.root;
        let environment = self.context.commands.child_environment();
        let settings = self.context.settings;
        let checkouts = self.context.ports.checkouts;
        let mut parts = vec![
            root.display().to_string(),
            self.module.dir.clone(),
            self.program.display().to_string(),
            self.options.clone(),
            settings.maven_args.join("\0"),
            // Another version may refuse the compiler by other rules.
            env!("CARGO_PKG_VERSION").to_owned(),
            // Outputs made without the other goals must not serve a gate that wants those goals to run, and a compiler that was
            // not tried is not one that was refused.
            format!("{:?}{}", settings.recompile, checkouts.keeps_java_outputs()),
            self.jdk_state(),
        ];
        parts.extend(
            environment
                .iter()
                .map(|(name, value)| format!("{name}={value}")),
        );
        parts.extend(checkouts.other_files(root));
        let home = environment.get("HOME").map(Path::new);
        for folder in root.ancestors().chain(home) {
            for name in SETTINGS {
                let file = folder.join(name);
                let content = fs_err::read(&file).unwrap_or_default();
                parts.extend([file.display().to_string(), digest(&content)]);
            }
        }
        digest_parts(parts)
    }

    /// The compiler and the version of its JDK.
    pub(super) fn jdk_state(&self) -> String {
        let javac = self.javac_path();
        let place = fs_err::canonicalize(&javac).unwrap_or_default();
        let version = jdk_version(&javac).unwrap_or_default();
        format!("{}\0{version}", place.display())
    }

    /// The compiler of the JDK that Maven's start script takes.
    pub(super) fn javac_path(&self) -> PathBuf {
        let commands = self.context.commands;
        match commands.variable_value("JAVA_HOME") {
            Some(home) => PathBuf::from(home).join("bin/javac"),
            None => commands.find_program("javac").unwrap_or_default(),
        }
    }
}

/// The key of a module's outputs: the module's own, the settings of its tests, and every jar as it is.
pub(super) fn build_key(module: &str, project: &Project, classpath: &[String]) -> String {
    let mut parts = vec![module.to_owned(), format!("{:?}", project.surefire)];
    for entry in classpath {
        parts.push(entry.clone());
        // A folder of the reactor may not be there before the build: it counts by its name alone.
        let jar = fs_err::metadata(entry)
            .ok()
            .filter(std::fs::Metadata::is_file);
        let jar = jar.map(|data| format!("{:?}", (data.len(), data.modified().ok())));
        parts.push(jar.unwrap_or_default());
    }
    digest_parts(parts)
}

#[cfg(test)]
mod tests {
    use super::{Project, build_key};

    #[test]
    fn a_jar_that_changes_makes_another_build_and_a_folder_that_the_build_makes_does_not() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name).display().to_string();
        let classpath = [at("a.jar"), at("sibling/target/classes")];
        let key = || build_key("m", &Project::default(), &classpath);
        fs_err::write(&classpath[0], "1").unwrap();
        let before = key();
        fs_err::create_dir_all(&classpath[1]).unwrap();
        assert_eq!(key(), before);
        fs_err::write(&classpath[0], "22").unwrap();
        assert_ne!(key(), before);
    }
}
