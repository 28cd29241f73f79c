//! Which source files a build compiles, where its POM picks some of them.
//!
//! A file that was not there when Maven picked is neither compiled nor left out: nobody knows which.

use super::Project;
use super::javac::java_files;
use super::recipe::Recipe;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The recipe of a build that has just been, for the files that it compiled.
pub(super) fn choose(mut recipe: Recipe, project: &Project) -> Option<Recipe> {
    let outputs = Path::new(&project.classes).parent()?;
    let read = |goal: &str, sources: &str| {
        let sources = Path::new(sources);
        Chosen::read(outputs, goal, sources, &java_files(sources).ok()?)
    };
    recipe.main.chosen = Some(read("compile", &project.sources)?);
    if let Some(tests) = &mut recipe.tests {
        tests.chosen = Some(read("testCompile", &project.test_sources)?);
    }
    Some(recipe)
}

/// The source files of one side, by their path below its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chosen {
    compiled: BTreeSet<PathBuf>,
    left_out: BTreeSet<PathBuf>,
}

impl Chosen {
    /// Reads what the goal (`compile`, `testCompile`) that has just run compiled of the files that are `there`,
    /// by their path below `sources`; nothing where its list is not to be had, or names others.
    fn read(outputs: &Path, goal: &str, sources: &Path, there: &BTreeSet<PathBuf>) -> Option<Self> {
        let runs = outputs.join("maven-status/maven-compiler-plugin").join(goal);
        let mut runs: Vec<PathBuf> =
            fs_err::read_dir(runs).ok()?.flatten().map(|entry| entry.path()).collect();
        let run = runs.pop().filter(|_| runs.is_empty())?;
        let list = fs_err::read_to_string(run.join("inputFiles.lst")).ok()?;
        let inside = |line: &str| Path::new(line).strip_prefix(sources).ok().map(Path::to_owned);
        let compiled: BTreeSet<PathBuf> = list.lines().map(inside).collect::<Option<_>>()?;
        let left_out = there.difference(&compiled).cloned().collect();
        compiled.is_subset(there).then_some(Self { compiled, left_out })
    }

    /// Those of the files that are to be compiled; nothing when one is new.
    pub(super) fn of(&self, there: BTreeSet<PathBuf>) -> Option<BTreeSet<PathBuf>> {
        let known = there.iter().all(|file| self.compiled.contains(file) || self.left_out.contains(file));
        known.then(|| there.into_iter().filter(|file| self.compiled.contains(file)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Chosen;
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    fn files(names: &[&str]) -> BTreeSet<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn what_maven_left_out_stays_out_and_a_new_file_is_nobodys() {
        let home = tempfile::tempdir().unwrap();
        let run = home.path().join("maven-status/maven-compiler-plugin/testCompile/default-testCompile");
        fs_err::create_dir_all(&run).unwrap();
        fs_err::write(run.join("inputFiles.lst"), "/w/src/a/ATest.java\n/w/src/BTest.java\n").unwrap();
        let there = files(&["a/ATest.java", "BTest.java", "a/Bench.java"]);
        let read =
            |goal: &str, sources: &str, there| Chosen::read(home.path(), goal, Path::new(sources), there);
        let chosen = read("testCompile", "/w/src", &there).unwrap();
        assert_eq!(chosen.of(there.clone()), Some(files(&["a/ATest.java", "BTest.java"])));
        assert_eq!(chosen.of(files(&["a/ATest.java", "a/Bench.java"])), Some(files(&["a/ATest.java"])));
        assert_eq!(chosen.of(files(&["a/ATest.java", "New.java"])), None);
        assert_eq!(read("compile", "/w/src", &there), None, "no list");
        assert_eq!(read("testCompile", "/elsewhere", &there), None, "files of another folder");
        let fewer = files(&["BTest.java"]);
        assert_eq!(read("testCompile", "/w/src", &fewer), None, "a file that is not there");
        fs_err::create_dir(run.with_file_name("other")).unwrap();
        assert_eq!(read("testCompile", "/w/src", &there), None, "two runs");
    }
}
