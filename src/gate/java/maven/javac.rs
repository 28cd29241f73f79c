//! The JDK's compiler instead of Maven, called with the very arguments that Maven gave to it.
//!
//! It compiles the sources that a change reaches into a temporary folder. A build is proven when it makes every class file of
//! the module again byte for byte, and all other files among them are copies of resources or `package-info.class`, which
//! Maven makes itself. Where [`Javac::recompile_sources`] answers `false` the outputs must be discarded.

mod reached;
mod source_set;
#[cfg(test)]
mod tests;

use super::recipe::Recipe;
use super::{Maven, Project};
use crate::gate::java::classes::read_file;
use crate::gate::java::jvm;
use crate::gate::{ChangedJava, GateAbort};
use reached::{ClassNames, ReachedSources};
use source_set::{SourceSet, files_below, is_package_info};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The compiler for one module.
pub(super) struct Javac<'a> {
    maven: &'a Maven<'a>,
    main: SourceSet<'a>,
    tests: SourceSet<'a>,
}

impl<'a> Javac<'a> {
    /// The compiler as the recipe calls it; `None` if that call is about other folders than the usual ones.
    pub(super) fn new(
        maven: &'a Maven<'a>,
        project: &'a Project,
        recipe: &'a Recipe,
    ) -> Option<Self> {
        let main = SourceSet {
            arguments: &recipe.main,
            sources: Path::new(&project.sources),
            classes: Path::new(&project.classes),
            resources: &project.resources,
        };
        let tests = SourceSet {
            arguments: &recipe.tests,
            sources: Path::new(&project.test_sources),
            classes: Path::new(&project.test_classes),
            resources: &project.test_resources,
        };
        let is_usual = main.is_at(&maven.home.join("src/main/java"))
            && tests.is_at(&maven.home.join("src/test/java"));
        is_usual.then_some(Self { maven, main, tests })
    }

    /// True if it makes the classes that Maven has just made of the same sources.
    pub(super) fn proves_equal(&self) -> Result<bool, GateAbort> {
        for set in [&self.main, &self.tests] {
            let Some(sources) = set.files_to_compile() else {
                return Ok(false);
            };
            let made = self.compile_set(set, &sources)?;
            if !made.is_some_and(|made| set.has_classes(made.path()).unwrap_or(false)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Compiles what changed; of the tests also what can see that of the production code.
    pub(super) fn recompile_sources(&self, stale: &ChangedJava) -> Result<bool, GateAbort> {
        let mut seen = Some(ClassNames::new());
        for (set, changed) in [(&self.main, &stale.main), (&self.tests, &stale.tests)] {
            if changed.is_empty() && seen.as_ref().is_some_and(ClassNames::is_empty) {
                continue;
            }
            let Some(reached) = ReachedSources::reached_by(set, changed, seen) else {
                return Ok(false);
            };
            if !self.replace_classes(set, &reached)? {
                return Ok(false);
            }
            seen = reached.names;
        }
        Ok(true)
    }

    /// Compiles the part of a source set that is reached; true if its classes are complete.
    fn replace_classes(
        &self,
        set: &SourceSet<'_>,
        reached: &ReachedSources,
    ) -> Result<bool, GateAbort> {
        for file in &reached.classes {
            fs_err::remove_file(set.classes.join(file))?;
        }
        if reached.sources.is_empty() {
            return Ok(true);
        }
        let Some(made) = self.compile_set(set, &reached.sources)? else {
            return Ok(false);
        };
        for file in files_below(made.path())? {
            let (from, to) = (made.path().join(&file), set.classes.join(&file));
            let is_taken = to.exists() && !is_package_info(&file);
            if is_taken || !reached.explains_class(&file, &read_file(&from)?) {
                return Ok(false);
            }
            fs_err::create_dir_all(to.parent().unwrap_or(set.classes))?;
            fs_err::rename(from, to)?;
        }
        Ok(true)
    }

    /// Compiles these sources of a set into a new temporary folder; `None` if they cannot be compiled.
    fn compile_set(
        &self,
        set: &SourceSet<'_>,
        sources: &BTreeSet<PathBuf>,
    ) -> Result<Option<TempDir>, GateAbort> {
        let beside = set.classes.parent().unwrap_or(&self.maven.home);
        let folder = tempfile::tempdir_in(beside)?;
        let mut words = set.arguments.to_vec();
        // javac takes the last of an option that is given twice; classes that are not compiled are on the class path.
        let into = folder.path().display().to_string();
        words.extend(["-d", &into, "-sourcepath", ""].map(str::to_owned));
        for source in sources {
            words.push(set.sources.join(source).display().to_string());
        }
        let file = tempfile::NamedTempFile::new_in(beside)?;
        fs_err::write(file.path(), jvm::argument_file(&words))?;
        let mut argv = vec![self.maven.javac_path().display().to_string()];
        argv.extend(jvm::quick_option([]).map(|option| format!("-J{option}")));
        argv.push("-J-Dfile.encoding=UTF-8".to_owned());
        argv.push(format!("@{}", file.path().display()));
        // Maven's compiler did not read this variable.
        let extra = [("JDK_JAVAC_OPTIONS", "")];
        let commands = self.maven.context.commands;
        let call = commands.run_program("recompile", argv, &self.maven.home, &extra)?;
        Ok(call.end.is_success().then_some(folder))
    }
}
