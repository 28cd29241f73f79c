//! Which test classes can reach a class, by the references in class files.
//!
//! Follows every name in a constant pool, through other classes too; reflection is not seen (so
//! the answer decides what is tried first, never what is left out in the end); bounded; a file that is no
//! class file refers to nothing.

use super::class_file;
use super::classes::class_names;
use crate::sys::disk::read_beginning;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Bytes of one class file.
const MAX_BYTES: u64 = 4 << 20;

/// Tests that reach some classes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reaching {
    /// Those that name one of the classes themselves, and the own tests of classes that do: these are
    /// likely to use it much.
    pub(crate) near: BTreeSet<String>,
    /// All.
    pub(crate) all: BTreeSet<String>,
}

/// Top-level classes by internal name, each with the top-level classes that its class files name.
pub(crate) type References = BTreeMap<String, BTreeSet<String>>;

/// Those of `tests` (dotted top-level names) from which one of `targets` (dotted top-level names, nested
/// classes count with them) can be reached. `is_test_of` tells by their simple names whether a test is one of a
/// class.
pub(crate) fn reaching(
    references: &References,
    tests: &BTreeSet<String>,
    targets: &BTreeSet<String>,
    is_test_of: &dyn Fn(&str, &str) -> bool,
) -> Reaching {
    let wanted = &targets.iter().map(|name| name.replace('.', "/")).collect();
    let reached = upstream(references, wanted);
    let naming: Vec<&String> =
        references.iter().filter(|(_, names)| !names.is_disjoint(wanted)).map(|(class, _)| class).collect();
    let is_near = |test: &String| {
        naming.iter().any(|class| {
            let (test_folder, test_name) = test.rsplit_once('/').unwrap_or(("", test));
            let (folder, name) = class.rsplit_once('/').unwrap_or(("", class));
            *class == test || folder == test_folder && is_test_of(test_name, name)
        })
    };
    let with = |is: &dyn Fn(&String) -> bool| {
        tests.iter().filter(|test| is(&test.replace('.', "/"))).cloned().collect()
    };
    Reaching { near: with(&is_near), all: with(&|class| reached.contains(class)) }
}

/// The top-level classes that lead to `wanted`, these included.
fn upstream(references: &References, wanted: &BTreeSet<String>) -> BTreeSet<String> {
    let mut referrers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (class, names) in references {
        for name in names.iter().filter(|name| references.contains_key(*name)) {
            referrers.entry(name).or_default().push(class);
        }
    }
    let mut reached = wanted.clone();
    let mut open: Vec<&str> = wanted.iter().map(String::as_str).collect();
    while let Some(class) = open.pop() {
        for referrer in referrers.get(class).into_iter().flatten() {
            if reached.insert((*referrer).to_owned()) {
                open.push(referrer);
            }
        }
    }
    reached
}

/// The references of the class files in some folders.
pub(crate) fn references(folders: &[&Path]) -> References {
    let mut references = References::new();
    for folder in folders {
        for class in class_names(folder) {
            if let Ok(Some(bytes)) = read_beginning(&folder.join(format!("{class}.class")), MAX_BYTES) {
                let names = class_file::names(&bytes);
                references.entry(top(&class)).or_default().extend(names.iter().map(|name| top(name)));
            }
        }
    }
    references
}

/// The top-level class of an internal name.
fn top(name: &str) -> String {
    name.split_once('$').map_or(name, |(top, _)| top).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{reaching, upstream};
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn references_are_followed_through_other_classes_and_in_circles() {
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let references: BTreeMap<String, BTreeSet<String>> = [
            ("FooTest", &["Foo", "java/lang/String"][..]),
            ("BarTest", &["Bar"]),
            ("Bar", &["Foo", "Baz"]),
            ("Baz", &["Bar"]),
            ("BazTest", &["Baz"]),
            ("OtherTest", &["Other"]),
            ("Foo", &[]),
            ("Other", &["BarTest2"]),
        ]
        .into_iter()
        .map(|(class, refers)| (class.to_owned(), names(refers)))
        .collect();
        let reached = upstream(&references, &names(&["Foo"]));
        assert_eq!(reached, names(&["Foo", "FooTest", "Bar", "BarTest", "Baz", "BazTest"]));
        let tests = names(&["FooTest", "BarTest", "BazTest", "OtherTest"]);
        let is_test_of = |test: &str, class: &str| test.strip_suffix("Test") == Some(class);
        let found = reaching(&references, &tests, &names(&["Foo"]), &is_test_of);
        assert_eq!(found.near, names(&["FooTest", "BarTest"]), "Bar names Foo, so its own test is near");
        assert_eq!(found.all, names(&["FooTest", "BarTest", "BazTest"]));
    }
}
