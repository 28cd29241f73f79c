//! A module's build: by Maven, by the JDK's compiler in its place, or none at all.
//!
//! The compiler replaces Maven only if a proof of these very outputs exists and only
//! Java files changed since; whatever it cannot do, Maven does from nothing. A class path is asked for once.

use super::super::classes::{self, files_digest};
use super::super::xml;
use super::goals::reads_no_java;
use super::javac::{Javac, sources_by_class};
use super::project::{self, is_foreign};
use super::recipe::{self, Recipe};
use super::trouble::{MavenTrouble, TroubleKind};
use super::{BUILD_CLASSPATH, Maven, Project, cache, module_home, read_paths};
use crate::config::Recompile;
use crate::gate::scope::Module;
use crate::gate::{ChangedJava, GateAbort, OutputState};
use crate::source::text::module_name;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Proofs that may fail in a row before none is tried any more: one may have been killed.
const REFUSALS: u32 = 3;
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

    /// The digest of its class files, as a build's is.
    fn class_digest(&self) -> Result<String, GateAbort> {
        files_digest(&self.class_folders(), &classes::counts_for_tests)
    }
}

/// The phase in which a module was compiled: its name in the trace, and a note.
pub(crate) type BuildPhase = (&'static str, &'static str);

/// Maven's builds, without and with the proof that the JDK's compiler can make the next.
const KNOWN: [&str; 2] = [
    "the class path was known",
    "the class path was known; javac was seen to make the same classes",
];
const RESOLVED: [&str; 2] = [
    "compiled and resolved",
    "compiled and resolved; javac was seen to make the same classes",
];
/// The JDK's compiler compiled what had changed.
pub(crate) const RECOMPILED: BuildPhase = (
    "compile",
    "javac compiled what had changed: Maven was not called",
);

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
        let known = known.filter(|(jars, _)| !is_extended && cache::has_jars(jars));
        if let Some((classpath, project)) = known {
            let built = self.keyed_build(&key, classpath, project);
            match self.context.ports.checkouts.output_state(&built.key) {
                OutputState::Current => {
                    return Ok(Ok((
                        built,
                        ("compile", "nothing had changed: Maven was not called"),
                    )));
                }
                OutputState::Java(stale) if self.recompile_changes(&built, &stale)? => {
                    return Ok(Ok((built, RECOMPILED)));
                }
                OutputState::Java(_) | OutputState::Nothing => {}
            }
            // A proof needs both sides in one build.
            let is_kept = !self.is_provable(&built);
            self.clear_outputs(is_kept.then_some(&built.key))?;
            let call =
                self.call_maven("test-compile", &self.folder, &["-o", "-q", "test-compile"])?;
            match self.find_trouble(&call) {
                None => {
                    let proven = self.prove_compiler(&built, &call.output)?;
                    return Ok(Ok((built, ("compile", KNOWN[usize::from(proven)]))));
                }
                Some(trouble) if trouble.kind == TroubleKind::Compile => {
                    return Ok(Err(trouble));
                }
                Some(_) => {}
            }
        }
        self.clear_outputs(None)?;
        self.resolve_and_compile(&key)
    }

    /// The build that also names the class path and the effective POM.
    fn resolve_and_compile(
        &self,
        key: &str,
    ) -> Result<Result<(Built, BuildPhase), MavenTrouble>, GateAbort> {
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
        let (classpath, mut project) = self.read_project(&classpath, &effective)?;
        project.surefire.jdk = project
            .surefire
            .jdk
            .take()
            .or_else(|| recipe::find_toolchain(&call.output));
        self.context
            .disk_cache("modules")
            .remember(key, &(&classpath, &project))?;
        let built = self.keyed_build(key, classpath, project);
        let proven = self.prove_compiler(&built, &call.output)?;
        Ok(Ok((built, ("resolve", RESOLVED[usize::from(proven)]))))
    }

    /// A module with the key of its outputs; `module` is the key of the module itself.
    fn keyed_build(&self, module: &str, classpath: Vec<String>, project: Project) -> Built {
        // Outputs made without the other goals must not serve a gate that wants those goals to run.
        let javac_alone = self.context.settings.recompile == Recompile::Javac;
        let mode = if javac_alone {
            "without other goals"
        } else {
            ""
        };
        let tests = format!("{:?}", project.surefire);
        let key = cache::build_key(module, &[&self.options, mode, &tests], &classpath);
        Built {
            classpath,
            project,
            key,
        }
    }

    /// Maven is going to build: it must not find what it would not have made.
    pub(super) fn clear_outputs(&self, key: Option<&str>) -> Result<(), GateAbort> {
        Ok(self
            .context
            .ports
            .checkouts
            .clear_outputs(&self.root, key)?)
    }

    /// Compiles without Maven what changed; false if that is not proven to be the same.
    fn recompile_changes(&self, built: &Built, stale: &ChangedJava) -> Result<bool, GateAbort> {
        let (proofs, digest) = (
            self.context.disk_cache("recompilable"),
            built.class_digest()?,
        );
        let proof = proofs
            .recall(&built.key)
            .filter(|proof: &Proof| proof.digest == digest);
        let recipe = proof
            .and_then(|p| p.recipe)
            .filter(|recipe| self.may_replace_maven(recipe, built));
        let javac = recipe
            .as_ref()
            .and_then(|recipe| self.find_compiler(built, recipe));
        let is_done = javac.map_or(Ok(false), |javac| javac.recompile_sources(stale))?;
        if is_done {
            proofs.remember(
                &built.key,
                &Proof {
                    recipe,
                    refusals: 0,
                    digest: built.class_digest()?,
                },
            )?;
        }
        Ok(is_done)
    }

    /// True if the JDK's compiler may yet be seen to make what Maven makes, for a change that could use it.
    fn is_provable(&self, built: &Built) -> bool {
        self.context.ports.checkouts.keeps_java_outputs()
            && self.context.settings.recompile != Recompile::Maven
            && self.refusal_count(built) < REFUSALS
    }

    fn refusal_count(&self, built: &Built) -> u32 {
        self.context
            .disk_cache("recompilable")
            .recall(&built.key)
            .map_or(0, |proof: Proof| proof.refusals)
    }

    /// Looks whether the JDK's compiler makes what Maven just made, for the changes to come.
    fn prove_compiler(&self, built: &Built, log: &str) -> Result<bool, GateAbort> {
        if !self.is_provable(built) {
            return Ok(false);
        }
        let recipe = recipe::read_log(log).filter(|recipe| self.may_replace_maven(recipe, built));
        let recipe = recipe.and_then(|recipe| limit_to_compiled(recipe, &built.project));
        let javac = recipe
            .as_ref()
            .and_then(|recipe| self.find_compiler(built, recipe));
        let proven = javac.map_or(Ok(false), |javac| javac.proves_equal())?;
        let refusals = if proven {
            0
        } else {
            self.refusal_count(built) + 1
        };
        let proof = Proof {
            recipe: recipe.filter(|_| proven),
            refusals,
            digest: built.class_digest()?,
        };
        self.context
            .disk_cache("recompilable")
            .remember(&built.key, &proof)?;
        Ok(proven)
    }

    fn find_compiler<'b>(&'b self, built: &'b Built, recipe: &'b Recipe) -> Option<Javac<'b>> {
        Javac::new(
            self.context.commands,
            self.javac_path(),
            &self.home,
            &built.project,
            recipe,
        )
    }

    fn may_replace_maven(&self, recipe: &Recipe, built: &Built) -> bool {
        let otherwise = &built.project.compiling.configured_otherwise;
        match self.context.settings.recompile {
            _ if self
                .maven_args()
                .iter()
                .any(|argument| is_foreign(argument)) =>
            {
                false
            }
            Recompile::Auto => recipe
                .goals
                .iter()
                .all(|goal| reads_no_java(goal, self.maven_args(), otherwise)),
            Recompile::Javac => true,
            Recompile::Maven => false,
        }
    }

    fn maven_args(&self) -> &[String] {
        &self.context.settings.maven_args
    }

    fn variable_value(&self, name: &str) -> Option<&str> {
        self.context.commands.variable_value(name)
    }

    /// The compiler of the JDK that Maven's start script takes.
    pub(super) fn javac_path(&self) -> PathBuf {
        match self.variable_value("JAVA_HOME") {
            Some(home) => PathBuf::from(home).join("bin/javac"),
            None => self
                .context
                .commands
                .find_program("javac")
                .unwrap_or_default(),
        }
    }

    /// The class path and the effective POM that Maven wrote.
    fn read_project(
        &self,
        classpath: &Path,
        effective: &Path,
    ) -> Result<(Vec<String>, Project), GateAbort> {
        if !classpath.is_file() {
            return Err(self.blame_missing("class path"));
        }
        let project =
            xml::read_file(effective).and_then(|root| project::read_project(&root, &self.home));
        let project = project.ok_or_else(|| self.blame_missing("effective POM"))?;
        Ok((read_paths(classpath), project))
    }

    /// Returns the abort for a file that Maven did not write.
    fn blame_missing(&self, file: &str) -> GateAbort {
        GateAbort::setup(
            format!(
                "Maven ended well but wrote no {file} for {}.",
                module_name(&self.context.package.name, self.dir)
            ),
            "Look in the POM for a configuration that skips maven-dependency-plugin or maven-help-plugin.",
        )
    }
}

/// Limits a recipe to the source files that Maven has just compiled, if the POM picks some.
fn limit_to_compiled(mut recipe: Recipe, project: &Project) -> Option<Recipe> {
    if project.compiling.picks_sources {
        let tests = recipe
            .tests
            .as_mut()
            .map(|call| (call, &project.test_classes));
        for (call, classes) in std::iter::once((&mut recipe.main, &project.classes)).chain(tests) {
            let sources = sources_by_class(Path::new(classes))?;
            call.compiled = Some(sources.into_keys().collect());
        }
    }
    Some(recipe)
}

/// The record of a build that the JDK's compiler could have made.
#[derive(Serialize, Deserialize)]
struct Proof {
    /// How; `None` if the compiler does not make Maven's classes, or may not take its place.
    recipe: Option<Recipe>,
    /// The number of refusals in a row.
    refusals: u32,
    /// The class files that this was seen of.
    digest: String,
}
