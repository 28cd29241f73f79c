//! The JDK's compiler in Maven's place.
//!
//! Owns: its call with the very arguments that Maven gave to it, and the proof that it makes Maven's classes.
//!
//! Promises: a build is proven when every class file of both sides came out byte for byte as Maven left it,
//! nothing else came out, and nothing lies beside them but copies of resources and `package-info.class`, which
//! Maven makes itself; for that each side is compiled whole, into an empty folder. Later only what changed is
//! compiled, and what could see the change. What is in doubt is `false`; outputs are then not to be used any
//! more, unless they were only looked at for the proof. What came to no end leaves none.
//!
//! Refuses to know: why sources changed, when a proof is due, who builds instead.

mod aside;
mod mentions;
mod origins;
mod part;
mod plugins;
mod side;
#[cfg(test)]
mod tests;

pub(super) use side::java_files;

use super::super::calls::{Calls, disk};
use super::super::{Stale, Stop};
use super::Project;
use super::recipe::{Processed, Recipe};
use crate::gate::jvm;
use aside::Aside;
use part::{Outcome, Part};
use side::{Side, files, is_class};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Services by which classes take part in compiling others.
const COMPILER_SERVICES: [&str; 2] =
    ["META-INF/services/javax.annotation.processing.Processor", plugins::SERVICE];
/// Makes javac tell of every round of annotation processing: there are none without processors.
const TELL_ROUNDS: &str = "-XprintRounds";
const ROUND: &str = "Round ";

/// The compiler for one module.
pub(super) struct Javac<'a> {
    calls: &'a Calls<'a>,
    program: PathBuf,
    home: PathBuf,
    main: Side<'a>,
    tests: Option<Side<'a>>,
    test_classes: &'a Path,
}

impl<'a> Javac<'a> {
    /// The compiler as the recipe calls it; nothing when that is not about the folders that every module has.
    pub(super) fn new(
        calls: &'a Calls<'a>,
        program: PathBuf,
        home: PathBuf,
        project: &'a Project,
        recipe: &'a Recipe,
    ) -> Option<Self> {
        let main = Side {
            call: &recipe.main,
            sources: Path::new(&project.sources),
            classes: Path::new(&project.classes),
            resources: &project.compiling.resources,
        };
        let tests = recipe.tests.as_ref().map(|call| Side {
            call,
            sources: Path::new(&project.test_sources),
            classes: Path::new(&project.test_classes),
            resources: &project.compiling.test_resources,
        });
        let usual = project.compiling.is_usual
            && main.is_at(&home.join("src/main/java"))
            && tests.as_ref().is_none_or(|tests| tests.is_at(&home.join("src/test/java")));
        let test_classes = Path::new(&project.test_classes);
        usual.then_some(Self { calls, program, home, main, tests, test_classes })
    }

    /// Whether others took part in compiling, when it makes the classes that stand there, which Maven made of the
    /// same sources; nothing when it does not. They stand there again afterwards.
    pub(super) fn proves(&self) -> Result<Option<Processed>, Stop> {
        let Some(main) = self.proves_side(&self.main)? else { return Ok(None) };
        let untested =
            || files(self.test_classes).is_ok_and(|files| files.iter().all(|file| !is_class(file)));
        let tests = match &self.tests {
            Some(side) => self.proves_side(side)?,
            None => untested().then_some(false),
        };
        Ok(tests.map(|tests| Processed { main, tests }))
    }

    fn proves_side(&self, side: &Side<'_>) -> Result<Option<bool>, Stop> {
        let aside = Aside::take(side.classes).map_err(|error| disk(&error))?;
        let compiled = self.compile_whole(side)?;
        let same = compiled.is_some() && aside.is_made_again(side).unwrap_or(false);
        aside.restore(side.classes).map_err(|error| disk(&error))?;
        let plugins = || side.argument("-classpath").is_none_or(plugins::any);
        Ok(compiled.filter(|_| same).map(|compiled| compiled.rounds || plugins()))
    }

    /// Compiles what changed of each side, and what sees the change.
    pub(super) fn remake(&self, stale: &Stale) -> Result<bool, Stop> {
        if stale.infos {
            return Ok(false);
        }
        let mut seen = Seen::nothing();
        if !stale.main.is_empty() {
            let Some(by_others) = self.remake_side(&self.main, &stale.main, Seen::nothing())? else {
                return Ok(false);
            };
            // Classes that take part in compiling the tests do so with their code.
            let helped = self.tests.as_ref().is_some_and(Side::is_helped);
            seen = if helped || self.main.takes_part() { Seen::Anything } else { by_others };
        }
        match &self.tests {
            Some(_) if stale.tests.is_empty() && seen == Seen::nothing() => Ok(true),
            Some(side) => Ok(self.remake_side(side, &stale.tests, seen)?.is_some()),
            // Without tests there is nothing that could have to be compiled again.
            None => Ok(stale.tests.is_empty()),
        }
    }

    /// What other classes can see of the change, when the side's classes stand in their place with all that
    /// belongs beside them. `seen` is what the side itself sees of another one's change.
    fn remake_side(
        &self,
        side: &Side<'_>,
        changed: &BTreeSet<PathBuf>,
        seen: Seen,
    ) -> Result<Option<Seen>, Stop> {
        if let Seen::Names(names) = seen
            && let Some(names) = self.remake_part(side, changed, &names)?
        {
            return Ok(Some(Seen::Names(names)));
        }
        let aside = Aside::take(side.classes).map_err(|error| disk(&error))?;
        if self.compile_whole(side)?.is_none() || !aside.carry(side).unwrap_or(false) {
            return Ok(None);
        }
        Ok(Some(if aside.looks_like(side.classes) { Seen::nothing() } else { Seen::Anything }))
    }

    /// The names by which other classes see a difference; nothing when the side is to be compiled whole, and
    /// its classes stand as before.
    fn remake_part(
        &self,
        side: &Side<'_>,
        changed: &BTreeSet<PathBuf>,
        seen: &BTreeSet<String>,
    ) -> Result<Option<BTreeSet<String>>, Stop> {
        let Some(mut part) = Part::of(side, changed) else { return Ok(None) };
        let names = self.compile_part(side, &mut part, changed, seen)?;
        let done = if names.is_some() { part.settle() } else { part.undo() };
        done.map_err(|error| disk(&error))?;
        Ok(names)
    }

    /// Compiles what changed, and again together with what sees a difference, as long as there is more of it.
    fn compile_part(
        &self,
        side: &Side<'_>,
        part: &mut Part<'_>,
        changed: &BTreeSet<PathBuf>,
        seen: &BTreeSet<String>,
    ) -> Result<Option<BTreeSet<String>>, Stop> {
        let mut more = changed.clone();
        if !seen.is_empty() {
            let Some(seeing) = part.seeing(seen) else { return Ok(None) };
            more.extend(seeing);
        }
        loop {
            part.add(more).map_err(|error| disk(&error))?;
            let Some(sources) = part.to_compile() else { return Ok(None) };
            if !sources.is_empty() {
                let arguments = side.arguments_for_part(&part.new_classes(), &part.no_sources());
                let Some(arguments) = arguments else { return Ok(None) };
                // Processors may look at all files at once.
                let compiled = self.call(side, arguments, &sources)?;
                if compiled.is_none_or(|compiled| compiled.rounds) {
                    return Ok(None);
                }
            }
            match part.outcome(seen) {
                Some(Outcome::Whole(names)) => return Ok(Some(names)),
                Some(Outcome::Lacks(files)) => more = files,
                None => return Ok(None),
            }
        }
    }

    /// Compiles a side into its folder, which is empty; nothing when that cannot be done.
    fn compile_whole(&self, side: &Side<'_>) -> Result<Option<Compiled>, Stop> {
        let Some(sources) = side.files_to_compile() else { return Ok(None) };
        self.call(side, side.call.arguments.clone(), &sources)
    }

    /// Calls the compiler; nothing when it was not content.
    fn call(
        &self,
        side: &Side<'_>,
        arguments: Vec<String>,
        sources: &BTreeSet<PathBuf>,
    ) -> Result<Option<Compiled>, Stop> {
        let mut words = arguments;
        words.push(TELL_ROUNDS.to_owned());
        for source in sources {
            let Some(path) = side.sources.join(source).to_str().map(str::to_owned) else { return Ok(None) };
            words.push(path);
        }
        // A word that ends within itself would be read as two.
        if words.iter().any(|word| word.contains(char::is_control)) {
            return Ok(None);
        }
        if let Some(folder) = side.argument("-s") {
            fs_err::create_dir_all(folder).map_err(|error| disk(&error))?;
        }
        let beside = side.classes.parent().unwrap_or(&self.home);
        let file = tempfile::NamedTempFile::new_in(beside).map_err(|error| disk(&error))?;
        let lines: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        fs_err::write(file.path(), lines.join("\n")).map_err(|error| disk(&error))?;
        let mut argv = vec![self.program.display().to_string()];
        argv.extend(jvm::quick([]).iter().map(|option| format!("-J{option}")));
        argv.extend(["-J-Dfile.encoding=UTF-8", "-J-Duser.language=en"].map(str::to_owned));
        argv.push(format!("@{}", file.path().display()));
        // Options for every javac are nobody's business here: Maven's did not read them.
        let extra = [("JDK_JAVAC_OPTIONS".to_owned(), String::new())];
        let call = self.calls.run("recompile", argv, &self.home, &extra)?;
        let rounds = call.output.lines().any(|line| line.starts_with(ROUND));
        Ok(call.end.is_success().then_some(Compiled { rounds }))
    }
}

/// A call of the compiler that came to a good end.
struct Compiled {
    /// Annotations were processed.
    rounds: bool,
}

/// What of a change classes elsewhere can see.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    /// Only what these names lead to.
    Names(BTreeSet<String>),
    /// Nobody knows.
    Anything,
}

impl Seen {
    fn nothing() -> Self {
        Self::Names(BTreeSet::new())
    }
}

/// A word of a file of arguments (the documentation of javac, "Command-Line Argument Files").
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\""))
}
