//! Classes that lead to others by the references in class files.
//!
//! Follows every name in a constant pool, through other classes too; reflection is not seen.

use super::scope::TestNames;
use std::collections::{BTreeMap, BTreeSet};

/// Top-level classes by dotted name, each with the top-level classes that its class files name.
pub(crate) type References = BTreeMap<String, BTreeSet<String>>;

/// The classes that lead to one of `wanted`, these included.
pub(crate) fn find_dependents(
    references: &References,
    wanted: &BTreeSet<String>,
) -> BTreeSet<String> {
    let mut leading = wanted.clone();
    loop {
        let more = &leading | &classes_naming(references, &leading);
        if more == leading {
            return leading;
        }
        leading = more;
    }
}

/// Of the tests, those that name one of `wanted`, and the own tests of production classes that do: they are likely to use
/// it much.
pub(crate) fn find_near_tests(
    [tests, production]: [&References; 2],
    wanted: &BTreeSet<String>,
    names: &TestNames,
) -> BTreeSet<String> {
    let callers = classes_naming(production, wanted);
    let mut near = classes_naming(tests, wanted);
    for test in tests.keys() {
        let is_test_of = |class: &String| names.is_test_of(simple_name(test), simple_name(class));
        if callers.iter().any(is_test_of) {
            near.insert(test.clone());
        }
    }
    near
}

/// Returns a class's name without its package.
fn simple_name(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// Returns the classes that name one of `wanted`.
fn classes_naming(references: &References, wanted: &BTreeSet<String>) -> BTreeSet<String> {
    let naming = references
        .iter()
        .filter(|(_, names)| !names.is_disjoint(wanted));
    naming.map(|(class, _)| class.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::{References, TestNames, find_dependents, find_near_tests};
    use std::collections::BTreeSet;

    #[test]
    fn references_are_followed_through_other_classes_and_in_circles() {
        let names = |all: &[&str]| {
            all.iter()
                .map(|name| (*name).to_owned())
                .collect::<BTreeSet<_>>()
        };
        let references: References = [
            ("FooTest", &["Foo", "java.lang.String"][..]),
            ("BarTest", &["Base"]),
            ("Base", &["Foo", "Helper"]),
            ("Helper", &["Base"]),
            ("HelperTest", &["Helper"]),
            ("OtherTest", &["Other"]),
        ]
        .into_iter()
        .map(|(class, refers)| (class.to_owned(), names(refers)))
        .collect();
        let leading = find_dependents(&references, &names(&["Foo"]));
        assert_eq!(
            leading,
            names(&["Foo", "FooTest", "Base", "BarTest", "Helper", "HelperTest"])
        );
        assert_eq!(find_dependents(&references, &names(&[])), names(&[]));
    }

    #[test]
    fn near_are_tests_that_name_a_class_and_own_tests_of_its_callers() {
        let named = |all: &[(&str, &str)]| -> References {
            let entry = |(class, names): &(&str, &str)| {
                (
                    (*class).to_owned(),
                    names.split(' ').map(str::to_owned).collect(),
                )
            };
            all.iter().map(entry).collect()
        };
        let production = named(&[
            ("a.Foo", "a.Foo"),
            ("a.Caller", "a.Foo"),
            ("a.Far", "a.Caller"),
        ]);
        let tests = named(&[
            ("a.FooTest", "a.Foo"),
            ("b.NamesIt", "a.Foo"),
            ("a.CallerTest", "a.Caller"),
            ("a.FarTest", "a.Far"),
        ]);
        let wanted = BTreeSet::from(["a.Foo".to_owned()]);
        let found = find_near_tests(
            [&tests, &production],
            &wanted,
            &TestNames::new(&["{}Test".to_owned()]),
        );
        assert_eq!(
            Vec::from_iter(found),
            ["a.CallerTest", "a.FooTest", "b.NamesIt"]
        );
    }
}
