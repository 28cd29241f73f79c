//! The test classes that PIT is given.
//!
//! Where the gate works in place, a class file without a source is not a test: that of a deleted test may stay there for weeks.
//! PIT gets tests that Surefire would not run (integration tests) only if the configuration names them. Order and set
//! depend on nothing but the files.
//!
//! Surefire runs a class that its includes, or its own names (`Test*`, `*Test`, `*Tests`, `*TestCase`), take. A class that only
//! Failsafe's names or includes take (`IT*`, `*IT`, `*ITCase`) is left out and named. A class that neither takes runs.

use super::class_file::is_abstract;
use super::classes::counted_files;
use super::context::ModuleContext;
use super::maven::Project;
use super::scope::LANGUAGES;
use super::surefire::Surefire;
use crate::config::GateFolder;
use crate::gate::GateAbort;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Names of the classes that Surefire runs by default, and Failsafe.
const SUREFIRES: [&str; 4] = ["Test*", "*Test", "*Tests", "*TestCase"];
const FAILSAFES: [&str; 3] = ["IT*", "*IT", "*ITCase"];

/// Dotted names of the compiled top-level test classes of a module.
pub(crate) struct TestClasses {
    /// Those that may kill.
    pub(crate) asked: BTreeSet<String>,
    /// Those that Surefire does not run, and that `tests_include` does not name; abstract ones nobody runs.
    pub(crate) left_out: BTreeSet<String>,
}

impl ModuleContext<'_> {
    /// Finds them. Errors: test sources without test classes, since the build then skips its tests.
    pub(crate) fn test_classes(&self) -> Result<TestClasses, GateAbort> {
        let project = &self.built.project;
        // A build has just made all class files.
        let is_clean = self.context.settings.folder == GateFolder::Clean;
        let roots = source_roots(project, &self.maven.home);
        let tests = self.tests().keys().filter(|stem| {
            let name = stem.rsplit('/').next().unwrap_or_default();
            !name.contains('$') && (is_clean || has_source(&roots, stem))
        });
        let is_asked = runs_class(&project.surefire, &self.context.settings.tests_include);
        let (asked, mut left_out) = tests.partition::<BTreeSet<&String>, _>(|stem| is_asked(stem));
        left_out.retain(|stem| !is_abstract(&self.tests()[*stem]));
        if asked.is_empty() && left_out.is_empty() && has_test_sources(&roots)? {
            return Err(self.blame_build(
                format!(
                    "The build of {} makes no test classes although it has test sources.",
                    self.module_label()
                ),
                "Look in the build file (and in .mvn) for maven.test.skip or a skipped testCompile.",
            ));
        }
        let [asked, left_out] = [asked, left_out]
            .map(|stems| stems.iter().map(|stem| stem.replace('/', ".")).collect());
        Ok(TestClasses { asked, left_out })
    }
}

/// True if one of the folders holds the source of a class (`com/acme/FooTest`).
fn has_source(roots: &[PathBuf], stem: &str) -> bool {
    let files = LANGUAGES.map(|(_, end)| format!("{stem}.{end}"));
    let mut roots = roots.iter();
    roots.any(|root| files.iter().any(|file| root.join(file).is_file()))
}

/// True if one of the folders holds sources.
fn has_test_sources(roots: &[PathBuf]) -> io::Result<bool> {
    for root in roots {
        if !counted_files(root, &is_source)?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_source(file: &Path) -> bool {
    file.extension()
        .is_some_and(|end| LANGUAGES.iter().any(|language| end == language.1))
}

/// The folders of a module that may hold sources of tests.
fn source_roots(project: &Project, home: &Path) -> Vec<PathBuf> {
    let mut roots = vec![PathBuf::from(&project.test_sources)];
    roots.extend(LANGUAGES.map(|(language, _)| home.join("src/test").join(language)));
    roots
}

/// Returns a function that is true for a class (`com/acme/FooTest`) that runs: it is named, or Surefire runs it, or neither
/// Surefire nor Failsafe has a word for it.
fn runs_class(surefire: &Surefire, include: &[String]) -> impl Fn(&str) -> bool + use<> {
    let [named, excludes, includes] = [include, &surefire.excludes, &surefire.includes]
        .map(|patterns| class_patterns(patterns.iter().map(String::as_str)));
    let surefires = class_patterns(SUREFIRES.into_iter());
    let more = surefire.failsafe_includes.iter().map(String::as_str);
    let failsafes = class_patterns(FAILSAFES.into_iter().chain(more));
    move |stem| {
        let runs = if includes.is_empty() {
            surefires.is_match(stem) || !failsafes.is_match(stem)
        } else {
            includes.is_match(stem)
        };
        named.is_match(stem) || runs && !excludes.is_match(stem)
    }
}

/// Surefire's patterns: paths with or without the end of a file's name, names of classes, alone or with their package.
fn class_patterns<'a>(all: impl Iterator<Item = &'a str>) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in all.filter(|pattern| !pattern.starts_with(['%', '!'])) {
        let pattern = pattern.split('#').next().unwrap_or_default();
        let stem = match pattern.rsplit_once('.') {
            // `a.b.*` is what a package holds, `FooSpec.*` a file.
            Some((stem, "*")) if stem.contains('/') || !stem.contains('.') => stem,
            Some((stem, "class")) => stem,
            Some((stem, end)) if LANGUAGES.iter().any(|language| language.1 == end) => stem,
            _ => pattern,
        };
        let anchored = if stem.contains('/') {
            stem.to_owned()
        } else {
            format!("**/{}", stem.replace('.', "/"))
        };
        if let Ok(glob) = GlobBuilder::new(&anchored).literal_separator(true).build() {
            set.add(glob);
        }
    }
    set.build().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{class_patterns, has_test_sources, runs_class, source_roots};
    use crate::gate::java::maven::Project;
    use crate::gate::java::surefire::Surefire;

    fn told(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_folder_that_git_keeps_empty_holds_no_sources() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("src/test/kotlin/com/acme");
        let roots = source_roots(&Project::default(), home.path());
        let has_sources = || has_test_sources(&roots).unwrap();
        assert!(!has_sources());
        fs_err::create_dir_all(&folder).unwrap();
        fs_err::write(folder.join(".gitkeep"), "").unwrap();
        assert!(!has_sources());
        fs_err::write(folder.join("Flow.kt"), "").unwrap();
        assert!(has_sources());
    }

    #[test]
    fn surefires_patterns_are_paths_or_names_of_classes() {
        let set = class_patterns(
            [
                "**/perf/*.java",
                "BadTest.java",
                "%regex[x]",
                "*Spec.*",
                "org.a.Own*",
            ]
            .into_iter(),
        );
        let matches = |stem: &str| set.is_match(stem);
        assert!(matches("org/perf/SlowTest") && matches("org/BadTest") && matches("org/ASpec"));
        assert!(
            matches("org/a/OwnTest") && !matches("org/a/b/OwnTest") && !matches("org/GoodTest")
        );
    }

    #[test]
    fn what_surefire_does_not_run_is_asked_only_by_name() {
        let all = [
            "a/FooTest",
            "a/FooIT",
            "a/ITFoo",
            "a/FooITCase",
            "a/ITFooTest",
            "a/FooSpec",
            "a/it/Flow",
            "a/SlowTest",
        ];
        let asked_of = |surefire: &Surefire, include: &[&str]| -> String {
            let is_asked = runs_class(surefire, &told(include));
            all.iter()
                .filter(|stem| is_asked(stem))
                .map(|stem| &stem[2..])
                .collect::<Vec<_>>()
                .join(" ")
        };
        let mut surefire = Surefire::default();
        assert_eq!(
            asked_of(&surefire, &[]),
            "FooTest ITFooTest FooSpec it/Flow SlowTest"
        );
        assert_eq!(
            asked_of(&surefire, &["FooIT"]),
            "FooTest FooIT ITFooTest FooSpec it/Flow SlowTest"
        );
        surefire.failsafe_includes = told(&["**/it/**", "**/*Test.java"]);
        surefire.excludes = told(&["**/SlowTest.java"]);
        assert_eq!(
            asked_of(&surefire, &[]),
            "FooTest ITFooTest FooSpec",
            "Surefire runs FooTest as well"
        );
        surefire.includes = told(&["**/*IT.java", "**/S*"]);
        assert_eq!(asked_of(&surefire, &["a.it.*"]), "FooIT it/Flow");
        assert_eq!(
            asked_of(&surefire, &["**/SlowTest"]),
            "FooIT SlowTest",
            "named is asked, whatever Surefire excludes"
        );
    }
}
