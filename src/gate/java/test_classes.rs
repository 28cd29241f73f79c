//! The test classes that PIT is given.
//!
//! A class file without a source is not a test (a deleted test's class file may lie about for
//! weeks); Surefire's excludes hold; order and set depend on nothing but the files.

use super::class_file::origin;
use super::classes::{class_names, read};
use super::listing::LANGUAGES;
use super::maven::Project;
use globset::{Glob, GlobSet, GlobSetBuilder};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Dotted names of the compiled top-level test classes of a module.
pub(crate) fn find(project: &Project, home: &Path) -> BTreeSet<String> {
    let mut roots = vec![PathBuf::from(&project.test_sources)];
    roots.extend(LANGUAGES.map(|(language, _)| home.join("src/test").join(language)));
    let excludes = excludes(&project.surefire.excludes);
    let tests = class_names(Path::new(&project.test_classes)).filter(|stem| {
        let nested = stem.rsplit('/').next().is_some_and(|name| name.contains('$'));
        let sourced = LANGUAGES
            .iter()
            .any(|(_, end)| roots.iter().any(|root| root.join(format!("{stem}.{end}")).is_file()));
        !nested
            && sourced
            && !excludes.is_match(format!("{stem}.java"))
            && !excludes.is_match(format!("{stem}.class"))
    });
    tests.map(|stem| stem.replace('/', ".")).collect()
}

/// Classes of `folder` that were made from its source file `stem.java`, but for `stem` and what is nested in it.
pub(crate) fn second_classes(project: &Project, folder: &str, stem: &str) -> Vec<String> {
    let classes = Path::new(&project.classes).join(folder);
    let (source, nested) = (Some(format!("{stem}.java")), format!("{stem}$"));
    let is_of_source = |name: &str| {
        let bytes = read(&classes.join(format!("{name}.class"))).unwrap_or_default();
        origin(&bytes).is_some_and(|origin| origin.source == source)
    };
    let names = fs_err::read_dir(&classes).into_iter().flatten().flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        name.strip_suffix(".class").map(str::to_owned)
    });
    let mut found: Vec<String> = names
        .filter(|name| *name != stem && !name.starts_with(&nested) && is_of_source(name))
        .map(|name| if folder.is_empty() { name } else { format!("{}.{name}", folder.replace('/', ".")) })
        .collect();
    found.sort();
    found
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
    use super::excludes;

    #[test]
    fn surefires_excludes_are_path_patterns() {
        let set = excludes(&["**/perf/*.java".to_owned(), "BadTest.java".to_owned(), "%regex[x]".to_owned()]);
        assert!(set.is_match("org/perf/SlowTest.java") && set.is_match("org/BadTest.java"));
        assert!(!set.is_match("org/GoodTest.java"));
    }
}
