//! Production code that a test file replaces: a class of the same full name, or a module of the same import name.

use super::java::top_types;
use super::{Kind, SourceOutline};
use std::collections::BTreeSet;

/// Extensions of sources that become classes of the JVM.
const JVM: [&str; 4] = ["java", "kt", "groovy", "scala"];
/// Directories in which the JVM's packages begin.
const SOURCE_ROOTS: [&str; 4] = ["/java/", "/kotlin/", "/groovy/", "/scala/"];
/// Directories from which Python imports, in addition to the package's own.
const PYTHON_ROOTS: [&str; 3] = ["src/", "lib/", "python/"];

/// Returns the ends of paths where production code of the same names would be.
///
/// The names are those that a test file declares and an older version of it did not. `files` are those of the commit:
/// Python's names begin at the topmost directory without `__init__.py`.
pub fn shadowed<'f>(
    path: &str,
    before: Option<&[u8]>,
    now: &[u8],
    files: &'f [(String, Kind)],
) -> Option<&'f str> {
    let bytes = path.as_bytes();
    if bytes.ends_with(b".java") {
        let old: BTreeSet<String> = before
            .map(top_types)
            .unwrap_or_default()
            .into_iter()
            .collect();
        let new: Vec<String> = top_types(now)
            .into_iter()
            .filter(|name| !old.contains(name))
            .collect();
        return production_paths(files)
            .find(|file| new.iter().any(|name| is_class_file(file, name)));
    }
    if bytes.ends_with(b".py") && before.is_none() {
        let is_empty =
            SourceOutline::of(path.as_bytes(), now).is_some_and(|outline| outline.is_empty());
        let module = python_module(path, files);
        // An empty `__init__.py` only makes a directory a package.
        if !is_empty {
            return production_paths(files)
                .find(|file| module_paths(file).any(|known| known == module));
        }
    }
    None
}

fn production_paths(files: &[(String, Kind)]) -> impl Iterator<Item = &str> {
    files
        .iter()
        .filter(|(_, kind)| *kind == Kind::Production)
        .map(|(path, _)| path.as_str())
}

/// True for a source whose directories and name are those of a class.
fn is_class_file(file: &str, class: &str) -> bool {
    let Some((stem, ending)) = file.rsplit_once('.') else {
        return false;
    };
    let rest = stem.strip_suffix(class).filter(|_| JVM.contains(&ending));
    // A class of the unnamed package is at the top of a source directory.
    rest.is_some_and(|rest| {
        if class.contains('/') {
            rest.is_empty() || rest.ends_with('/')
        } else {
            rest.is_empty() || SOURCE_ROOTS.iter().any(|root| rest.ends_with(root))
        }
    })
}

/// Returns the path of a module from where a test runner imports it.
fn python_module<'p>(path: &'p str, files: &[(String, Kind)]) -> &'p str {
    let mut start = path.rfind('/').map_or(0, |at| at + 1);
    while start > 0
        && files
            .iter()
            .any(|(file, _)| *file == format!("{}__init__.py", &path[..start]))
    {
        start = path[..start - 1].rfind('/').map_or(0, |at| at + 1);
    }
    module_of(&path[start..])
}

/// Returns the paths by which a file of production code is imported.
fn module_paths(file: &str) -> impl Iterator<Item = &str> {
    let below = PYTHON_ROOTS
        .iter()
        .filter_map(|root| file.strip_prefix(root));
    std::iter::once(file)
        .chain(below)
        .filter(|file| file.as_bytes().ends_with(b".py"))
        .map(module_of)
}

/// Returns the path of a module. A package is its `__init__.py`.
fn module_of(file: &str) -> &str {
    file.strip_suffix("/__init__.py")
        .or_else(|| file.strip_suffix(".py"))
        .unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shadows(path: &str, before: Option<&str>, now: &str) -> Option<String> {
        let production = [
            "core/src/main/java/p/Price.java",
            "src/main/kotlin/q/Rate.kt",
            "shop/price.py",
            "shop/__init__.py",
            "src/rate.py",
            "lib/shop/__init__.py",
        ];
        let files: Vec<(String, Kind)> = production
            .iter()
            .map(|path| ((*path).to_owned(), Kind::Production))
            .chain(
                [
                    "tests/api/__init__.py",
                    "tests/shop/__init__.py",
                    "tests/deep/shop/__init__.py",
                ]
                .map(|path| (path.to_owned(), Kind::Test)),
            )
            .collect();
        shadowed(path, before.map(str::as_bytes), now.as_bytes(), &files).map(str::to_owned)
    }

    #[test]
    fn a_class_of_the_same_full_name_takes_the_place_of_production_code() {
        let fake =
            "package p;\n/* class Other {} */\npublic final class Price { int of() { return 6; } }";
        assert!(shadows("core/src/test/java/p/Price.java", None, fake).is_some());
        assert!(
            shadows(
                "src/test/java/p/PriceTest.java",
                None,
                "package p; class PriceTest {} class Price {}"
            )
            .is_some()
        );
        assert!(
            shadows(
                "src/test/java/q/Rate.java",
                None,
                "package q; record Rate(int a) {}"
            )
            .is_some()
        );
        assert_eq!(
            shadows("core/src/test/java/p/Price.java", Some(fake), fake),
            None,
            "it was there"
        );
        for honest in [
            "package p; class PriceTest { class Price {} }",
            "package q; class Price {}",
            "class Price {}",
            "package p; class MyPrice {}",
        ] {
            assert_eq!(
                shadows("src/test/java/p/PriceTest.java", None, honest),
                None,
                "{honest}"
            );
        }
    }

    #[test]
    fn a_module_that_is_imported_by_the_same_name_takes_the_place_of_production_code() {
        for path in [
            "tests/rate.py",
            "tests/shop/price.py",
            "tests/shop/__init__.py",
            "tests/deep/shop/price.py",
        ] {
            assert!(
                shadows(path, None, "def of(n):\n    return 6\n").is_some(),
                "{path}"
            );
        }
        for path in [
            "tests/test_rate.py",
            "tests/api/rate.py",
            "tests/price.py",
            "tests/conftest.py",
        ] {
            assert_eq!(
                shadows(path, None, "def of(n):\n    return 6\n"),
                None,
                "{path}"
            );
        }
        assert_eq!(
            shadows("tests/shop/__init__.py", None, "\"\"\"Tests.\"\"\"\n"),
            None
        );
    }
}
