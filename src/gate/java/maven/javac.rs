//! The JDK's compiler instead of Maven, called with the very arguments that Maven gave to it.
//!
//! Each source set (production code, tests) is compiled whole, into an empty folder. A build is proven when every
//! class file came out byte for byte as Maven left it, and beside the class files lie only copies of resources and
//! `package-info.class`, which Maven makes itself. Where [`Javac::recompile`] answers `false` the outputs must be
//! discarded; [`Javac::proves`] puts them back.

mod source_set;
#[cfg(test)]
mod tests;

pub(super) use source_set::java_files;

use super::Project;
use super::recipe::Recipe;
use crate::gate::commands::Commands;
use crate::gate::java::jvm;
use crate::gate::{ChangedJava, GateAbort};
use source_set::{PreviousClasses, SourceSet, files, is_class};
use std::path::{Path, PathBuf};

/// The compiler for one module.
pub(super) struct Javac<'a> {
    commands: &'a Commands<'a>,
    program: PathBuf,
    home: &'a Path,
    main: SourceSet<'a>,
    tests: Option<SourceSet<'a>>,
    test_classes: &'a Path,
}

impl<'a> Javac<'a> {
    /// The compiler as the recipe calls it; `None` if that call is about other folders than the usual ones.
    pub(super) fn new(
        commands: &'a Commands<'a>,
        program: PathBuf,
        home: &'a Path,
        project: &'a Project,
        recipe: &'a Recipe,
    ) -> Option<Self> {
        let set = |call, [sources, classes]: [&'a String; 2], resources| {
            let (sources, classes) = (Path::new(sources), Path::new(classes));
            SourceSet { call, sources, classes, resources }
        };
        let (of_tests, compiling) = ([&project.test_sources, &project.test_classes], &project.compiling);
        let main = set(&recipe.main, [&project.sources, &project.classes], &compiling.resources[..]);
        let tests = recipe.tests.as_ref().map(|call| set(call, of_tests, &compiling.test_resources));
        let usual = project.compiling.is_usual
            && main.is_at(&home.join("src/main/java"))
            && tests.as_ref().is_none_or(|tests| tests.is_at(&home.join("src/test/java")));
        let test_classes = Path::new(&project.test_classes);
        usual.then_some(Self { commands, program, home, main, tests, test_classes })
    }

    /// True if it makes the classes that Maven has just made of the same sources. Maven's are put back afterwards.
    pub(super) fn proves(&self) -> Result<bool, GateAbort> {
        for set in [Some(&self.main), self.tests.as_ref()].into_iter().flatten() {
            let previous = PreviousClasses::move_away(set.classes)?;
            let same = self.compile(set)? && previous.equal_those_in(set).unwrap_or(false);
            previous.put_back(set.classes)?;
            if !same {
                return Ok(false);
            }
        }
        let no_tests = || files(self.test_classes).map(|files| files.iter().all(|file| !is_class(file)));
        Ok(self.tests.is_some() || no_tests().unwrap_or(false))
    }

    /// Compiles the source sets that changed; the tests also if what they can see of the production code changed.
    pub(super) fn recompile(&self, stale: ChangedJava) -> Result<bool, GateAbort> {
        if stale.infos {
            return Ok(false);
        }
        let mut tests_too = stale.tests;
        if stale.main {
            let Some(previous) = self.replace_classes(&self.main)? else { return Ok(false) };
            // Production classes that take part in compiling the tests do so with their code.
            let help =
                self.main.offers_processors() || self.tests.as_ref().is_some_and(SourceSet::names_processors);
            tests_too |= help || !previous.look_like_those_in(self.main.classes);
        }
        match &self.tests {
            Some(tests) if tests_too => Ok(self.replace_classes(tests)?.is_some()),
            Some(_) => Ok(true),
            None => Ok(!stale.tests),
        }
    }

    /// Compiles a source set; the classes of before, if the new ones are complete.
    fn replace_classes(&self, set: &SourceSet<'_>) -> Result<Option<PreviousClasses>, GateAbort> {
        let previous = PreviousClasses::move_away(set.classes)?;
        let complete = self.compile(set)? && previous.carry_over(set).unwrap_or(false);
        Ok(complete.then_some(previous))
    }

    /// Compiles a source set into its folder, which is empty; false if it cannot be compiled.
    fn compile(&self, set: &SourceSet<'_>) -> Result<bool, GateAbort> {
        let Some(sources) = set.files_to_compile() else { return Ok(false) };
        let mut words = set.call.arguments.clone();
        for source in sources {
            let Some(path) = set.sources.join(source).to_str().map(str::to_owned) else { return Ok(false) };
            words.push(path);
        }
        // A line end within a word would split it in the file of arguments.
        if words.iter().any(|word| word.contains(char::is_control)) {
            return Ok(false);
        }
        if let Some(folder) = set.argument("-s") {
            fs_err::create_dir_all(folder)?;
        }
        let beside = set.classes.parent().unwrap_or(self.home);
        let file = tempfile::NamedTempFile::new_in(beside)?;
        let lines: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        fs_err::write(file.path(), lines.join("\n"))?;
        let mut argv = vec![self.program.display().to_string()];
        argv.extend(jvm::quick([]).iter().map(|option| format!("-J{option}")));
        argv.push("-J-Dfile.encoding=UTF-8".to_owned());
        argv.push(format!("@{}", file.path().display()));
        // Maven's compiler did not read this variable.
        let extra = [("JDK_JAVAC_OPTIONS", "")];
        Ok(self.commands.run("recompile", argv, self.home, &extra)?.end.is_success())
    }
}

/// A word of a file of arguments (the documentation of javac, "Command-Line Argument Files").
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}
