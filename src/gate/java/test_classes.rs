//! The test classes that PIT is given.
//!
//! A class file without a source is not a test (a deleted test's class file may lie about for
//! weeks); Surefire's excludes hold; order and set depend on nothing but the files.

use super::classes::class_names;
use super::maven::Project;
use crate::gate::commands::read_text;
use globset::{Glob, GlobSet, GlobSetBuilder};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const EXTENSIONS: [&str; 4] = ["java", "kt", "groovy", "scala"];

/// Dotted names of the compiled top-level test classes of a module.
pub(crate) fn find(project: &Project, home: &Path) -> BTreeSet<String> {
    let mut roots = vec![PathBuf::from(&project.test_sources)];
    roots.extend(["java", "kotlin", "groovy", "scala"].map(|language| home.join("src/test").join(language)));
    let excludes = excludes(&project.surefire.excludes);
    let tests = class_names(Path::new(&project.test_classes)).filter(|stem| {
        let nested = stem.rsplit('/').next().is_some_and(|name| name.contains('$'));
        let sourced = EXTENSIONS
            .iter()
            .any(|extension| roots.iter().any(|root| root.join(format!("{stem}.{extension}")).is_file()));
        !nested
            && sourced
            && !excludes.is_match(format!("{stem}.java"))
            && !excludes.is_match(format!("{stem}.class"))
    });
    tests.map(|stem| stem.replace('/', ".")).collect()
}

/// Classes of `folder` that are declared in the source file `stem.java` without being named like it.
pub(crate) fn second_classes(project: &Project, folder: &str, stem: &str) -> Vec<String> {
    let classes = Path::new(&project.classes).join(folder);
    let sources = Path::new(&project.sources).join(folder);
    let source = read_text(&sources.join(format!("{stem}.java")), u64::MAX);
    let entries = fs_err::read_dir(&classes).into_iter().flatten();
    let names = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_suffix(".class").filter(|name| !name.contains('$') && *name != stem).map(str::to_owned)
    });
    let mut found: Vec<String> = names
        .filter(|name| !sources.join(format!("{name}.java")).is_file() && declares(&source, name))
        .map(|name| if folder.is_empty() { name } else { format!("{}.{name}", folder.replace('/', ".")) })
        .collect();
    found.sort();
    found
}

/// True when the text has `class`, `interface`, `enum` or `record` before the name.
fn declares(source: &str, name: &str) -> bool {
    let mut words = source.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')));
    let mut before = "";
    words.by_ref().filter(|word| !word.is_empty()).any(|word| {
        let hit = word == name && matches!(before, "class" | "interface" | "enum" | "record");
        before = word;
        hit
    })
}

fn excludes(patterns: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    let plain = patterns.iter().filter(|pattern| !pattern.starts_with(['%', '!']));
    for pattern in plain {
        let pattern = pattern.split('#').next().unwrap_or_default();
        let anchored = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
        if let Ok(glob) = Glob::new(&anchored) {
            set.add(glob);
        }
    }
    set.build().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{declares, excludes};

    #[test]
    fn a_second_class_is_found_by_its_declaration() {
        let source = "public final class Foo {} // class Other\nclass Helper<T> {}\nrecord Pair(int a) {}";
        assert!(declares(source, "Helper") && declares(source, "Pair"));
        assert!(!declares(source, "T") && !declares(source, "final"));
    }

    #[test]
    fn surefires_excludes_are_path_patterns() {
        let set = excludes(&["**/perf/*.java".to_owned(), "BadTest.java".to_owned(), "%regex[x]".to_owned()]);
        assert!(set.is_match("org/perf/SlowTest.java") && set.is_match("org/BadTest.java"));
        assert!(!set.is_match("org/GoodTest.java"));
    }
}
