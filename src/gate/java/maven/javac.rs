//! The JDK's compiler instead of Maven, called with the very arguments that Maven gave to it.
//!
//! It compiles the sources that a change reaches into a temporary folder. A build is proven when it makes every class file of
//! the module again byte for byte, and all other files among them are copies of resources or `package-info.class`, which
//! Maven makes itself. Where [`Maven::recompile_sources`] answers `false` the outputs must be discarded.

mod reached;
mod source_set;
#[cfg(test)]
mod tests;

use super::recipe::Recipe;
use super::{Maven, Project};
use crate::gate::java::classes::{counted_files, read_file};
use crate::gate::java::jvm;
use crate::gate::{ChangedJava, GateAbort};
use reached::{ClassNames, ReachedSources};
use source_set::{SourceSet, is_package_info};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Production code and tests of a module, as the recipe compiles them.
fn source_sets<'a>(project: &'a Project, recipe: &'a Recipe) -> [SourceSet<'a>; 2] {
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
    [main, tests]
}

impl Maven<'_> {
    /// True if javac makes the classes that Maven has just made of the same sources, all in the usual folders.
    pub(super) fn proves_equal(
        &self,
        project: &Project,
        recipe: &Recipe,
    ) -> Result<bool, GateAbort> {
        let usual = ["src/main/java", "src/test/java"];
        for (set, usual) in source_sets(project, recipe).iter().zip(usual) {
            let Some(sources) = set.files_to_compile() else {
                return Ok(false);
            };
            let output = set.argument_value("-d").map(Path::new);
            if set.sources != self.home.join(usual) || output != Some(set.classes) {
                return Ok(false);
            }
            let made = self.compile_set(set, &sources)?;
            if !made.is_some_and(|made| set.has_classes(made.path()).unwrap_or(false)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Compiles what changed; of the tests also what can see that of the production code.
    pub(super) fn recompile_sources(
        &self,
        project: &Project,
        recipe: &Recipe,
        stale: &ChangedJava,
    ) -> Result<bool, GateAbort> {
        let mut seen = Some(ClassNames::new());
        let changed = [&stale.main, &stale.tests];
        for (set, changed) in source_sets(project, recipe).iter().zip(changed) {
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
        for file in counted_files(made.path(), &|_| true)? {
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
        let beside = set.classes.parent().unwrap_or(&self.home);
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
        let mut argv = vec![self.javac_path().display().to_string()];
        argv.extend(jvm::quick_option([]).map(|option| format!("-J{option}")));
        argv.push("-J-Dfile.encoding=UTF-8".to_owned());
        argv.push(format!("@{}", file.path().display()));
        // Maven's compiler did not read this variable.
        let extra = [("JDK_JAVAC_OPTIONS", "")];
        let commands = self.context.commands;
        let call = commands.run_program("recompile", argv, &self.home, &extra)?;
        Ok(call.end.is_success().then_some(folder))
    }
}
