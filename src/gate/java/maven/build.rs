//! A module's build: by Maven, by the JDK's compiler in its place, or none at all.
//!
//! The compiler replaces Maven only if a proof for all that is not Java exists and only Java files changed since; all that it
//! cannot do, Maven does from nothing.

use super::super::xml;
use super::javac::Javac;
use super::project::{self, is_unusual};
use super::recipe::{self, Recipe};
use super::trouble::MavenTrouble;
use super::{BUILD_CLASSPATH, Maven, Project, cache, module_home, read_paths};
use crate::config::Recompile;
use crate::gate::scope::Module;
use crate::gate::{ChangedJava, GateAbort, OutputState};
use crate::source::text::module_name;
use std::path::{Path, PathBuf};

/// The calls by which the JDK's compiler makes what Maven makes; `None` if it was seen not to.
type Proof = Option<Recipe>;
/// The kind of facts that proofs are.
const PROOFS: &str = "recompilable";
/// Writes the effective POM of a module.
const EFFECTIVE_POM: &str = "org.apache.maven.plugins:maven-help-plugin:3.4.0:effective-pom";

/// A module that compiled.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    /// Its test class path without its own classes.
    pub(crate) classpath: Vec<String>,
    /// Its effective POM.
    pub(crate) project: Project,
    /// A digest of all that its outputs depend on beside its sources.
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
        let class = format!("{}.class", module.targets.first()?.class.replace('.', "/"));
        let mut built = self.clone();
        built
            .project
            .classes
            .clone_from(self.classpath.iter().find(|entry| {
                Path::new(entry).starts_with(&home) && Path::new(entry).join(&class).is_file()
            })?);
        built.project.sources = home.join("src/main/java").display().to_string();
        built.classpath.push(self.project.classes.clone());
        Some(built)
    }
}

/// The phase in which a module was compiled: its name in the trace, and a note.
pub(crate) type BuildPhase = (&'static str, &'static str);

impl Maven<'_> {
    /// Compiles the module with its tests and the modules of the reactor that it needs. The inner error is the reason why
    /// it does not compile.
    pub(crate) fn build_module(
        &self,
    ) -> Result<Result<(Built, BuildPhase), MavenTrouble>, GateAbort> {
        if let Some(argv) = self.command {
            return self.build_by_command(argv);
        }
        let key = self.module_key();
        let known: Option<(Vec<String>, Project)> = self.context.disk_cache("modules").recall(&key);
        // An extension of Maven's core may take versions, and with them settings of the tests, from git.
        let is_extended = self
            .root
            .ancestors()
            .any(|at| at.join(".mvn/extensions.xml").is_file());
        if let Some((classpath, project)) = known.filter(|_| !is_extended) {
            let built = self.keyed_build(&key, classpath, project);
            match self.context.ports.checkouts.output_state(&built.key) {
                OutputState::Current => {
                    let note = "nothing had changed: Maven was not called";
                    return Ok(Ok((built, ("compile", note))));
                }
                OutputState::Java(stale) if self.recompile_changes(&built, &stale)? => {
                    let note = "javac compiled what had changed: Maven was not called";
                    return Ok(Ok((built, ("compile", note))));
                }
                OutputState::Java(_) | OutputState::Nothing => {}
            }
        }
        self.build_by_maven(&key)
    }

    /// The build from nothing, which also names the class path and the effective POM.
    fn build_by_maven(
        &self,
        key: &str,
    ) -> Result<Result<(Built, BuildPhase), MavenTrouble>, GateAbort> {
        self.context.ports.checkouts.clear_outputs(&self.root)?;
        let work = self.call_folder("module-")?;
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
        let call = self.call_offline_first("resolve", &self.folder, &goals)?;
        if let Some(trouble) = self.find_trouble(&call) {
            return Ok(Err(trouble));
        }
        let project =
            xml::read_file(&effective).and_then(|root| project::read_project(&root, &self.home));
        let Some(mut project) = project.filter(|_| classpath.is_file()) else {
            let module = module_name(&self.context.package.name, self.dir);
            return Err(GateAbort::setup(
                format!(
                    "Maven ended well but wrote no class path or no effective POM for {module}."
                ),
                "Look in the POM for a configuration that skips maven-dependency-plugin or maven-help-plugin.",
            ));
        };
        let jdk = project.surefire.jdk.take();
        project.surefire.jdk = jdk.or_else(|| recipe::find_toolchain(&call.output));
        let module = (read_paths(&classpath), project);
        self.context.disk_cache("modules").remember(key, &module)?;
        let built = self.keyed_build(key, module.0, module.1);
        let note = if self.prove_compiler(&built, &call.output)? {
            "compiled and resolved; javac was seen to make the same classes"
        } else {
            "compiled and resolved"
        };
        Ok(Ok((built, ("resolve", note))))
    }

    /// A module with the key of its outputs; `module` is the key of the module itself.
    fn keyed_build(&self, module: &str, classpath: Vec<String>, project: Project) -> Built {
        // Outputs made without the other goals must not serve a gate that wants those goals to run.
        let mode = format!("{:?}", self.context.settings.recompile);
        let tests = format!("{:?}", project.surefire);
        let key = cache::build_key(module, &[&self.options, &mode, &tests], &classpath);
        Built {
            classpath,
            project,
            key,
        }
    }

    /// Compiles without Maven what changed; false if that is not proven to be the same.
    fn recompile_changes(&self, built: &Built, stale: &ChangedJava) -> Result<bool, GateAbort> {
        let proof: Option<Proof> = self.context.disk_cache(PROOFS).recall(&built.key);
        let recipe = proof.flatten();
        let javac = recipe
            .as_ref()
            .and_then(|recipe| self.find_compiler(built, recipe));
        javac.map_or(Ok(false), |javac| javac.recompile_sources(stale))
    }

    /// Looks once whether the JDK's compiler makes what Maven just made, for the changes to come.
    fn prove_compiler(&self, built: &Built, log: &str) -> Result<bool, GateAbort> {
        let proofs = self.context.disk_cache(PROOFS);
        let is_refused = proofs.recall::<Proof>(&built.key) == Some(None);
        if is_refused || !self.context.ports.checkouts.keeps_java_outputs() {
            return Ok(false);
        }
        let mut recipe = recipe::read_log(log);
        let javac = recipe
            .as_ref()
            .and_then(|recipe| self.find_compiler(built, recipe));
        let proven = javac.map_or(Ok(false), |javac| javac.proves_equal())?;
        recipe = recipe.filter(|_| proven);
        proofs.remember(&built.key, &recipe)?;
        Ok(proven)
    }

    /// The compiler, if it may take Maven's place.
    fn find_compiler<'b>(&'b self, built: &'b Built, recipe: &'b Recipe) -> Option<Javac<'b>> {
        let settings = self.context.settings;
        let may_replace_maven = match settings.recompile {
            Recompile::Auto => recipe.reads_no_other_java(),
            Recompile::Javac => true,
            Recompile::Maven => false,
        };
        let is_plain = built.project.compiles_plainly
            && !settings.maven_args.iter().any(|one| is_unusual(one));
        let javac = Javac::new(self, &built.project, recipe);
        javac.filter(|_| may_replace_maven && is_plain)
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
