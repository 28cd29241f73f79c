//! Which source files a build compiled, if its POM selects some of them.
//!
//! It is not known whether Maven would select a file that was not there when it ran.

use super::Project;
use super::javac::java_files;
use super::recipe::{Recipe, SourceSelection};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The recipe of the build that just ended, limited to the files that it compiled.
pub(super) fn select(mut recipe: Recipe, project: &Project) -> Option<Recipe> {
    let outputs = Path::new(&project.classes).parent()?;
    let read = |goal: &str, sources: &str| {
        let sources = Path::new(sources);
        read(outputs, goal, sources, &java_files(sources).ok()?)
    };
    recipe.main.selection = Some(read("compile", &project.sources)?);
    if let Some(tests) = &mut recipe.tests {
        tests.selection = Some(read("testCompile", &project.test_sources)?);
    }
    Some(recipe)
}

/// Which of the `existing` files, by their path below `sources`, the goal (`compile`, `testCompile`) that just ran
/// compiled; `None` if its list is missing or names others.
fn read(
    outputs: &Path,
    goal: &str,
    sources: &Path,
    existing: &BTreeSet<PathBuf>,
) -> Option<SourceSelection> {
    let runs = outputs
        .join("maven-status/maven-compiler-plugin")
        .join(goal);
    let mut runs: Vec<PathBuf> = fs_err::read_dir(runs)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    let run = runs.pop().filter(|_| runs.is_empty())?;
    let list = fs_err::read_to_string(run.join("inputFiles.lst")).ok()?;
    let inside = |line: &str| {
        Path::new(line)
            .strip_prefix(sources)
            .ok()
            .map(Path::to_owned)
    };
    let compiled: BTreeSet<PathBuf> = list.lines().map(inside).collect::<Option<_>>()?;
    let left_out = existing.difference(&compiled).cloned().collect();
    compiled
        .is_subset(existing)
        .then_some(SourceSelection { compiled, left_out })
}

#[cfg(test)]
mod tests {
    use super::read as read_list;
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    fn files(names: &[&str]) -> BTreeSet<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn what_maven_left_out_stays_out_and_a_new_file_is_unknown() {
        let home = tempfile::tempdir().unwrap();
        let run = home
            .path()
            .join("maven-status/maven-compiler-plugin/testCompile/default-testCompile");
        fs_err::create_dir_all(&run).unwrap();
        fs_err::write(
            run.join("inputFiles.lst"),
            "/w/src/a/ATest.java\n/w/src/BTest.java\n",
        )
        .unwrap();
        let there = files(&["a/ATest.java", "BTest.java", "a/Bench.java"]);
        let read = |goal: &str, sources: &str, there| {
            read_list(home.path(), goal, Path::new(sources), there)
        };
        let selection = read("testCompile", "/w/src", &there).unwrap();
        assert_eq!(
            selection.apply(there.clone()),
            Some(files(&["a/ATest.java", "BTest.java"]))
        );
        assert_eq!(
            selection.apply(files(&["a/ATest.java", "a/Bench.java"])),
            Some(files(&["a/ATest.java"]))
        );
        assert_eq!(selection.apply(files(&["a/ATest.java", "New.java"])), None);
        assert_eq!(read("compile", "/w/src", &there), None, "no list");
        assert_eq!(
            read("testCompile", "/elsewhere", &there),
            None,
            "files of another folder"
        );
        let fewer = files(&["BTest.java"]);
        assert_eq!(
            read("testCompile", "/w/src", &fewer),
            None,
            "a file that is not there"
        );
        fs_err::create_dir(run.with_file_name("other")).unwrap();
        assert_eq!(read("testCompile", "/w/src", &there), None, "two runs");
    }
}
