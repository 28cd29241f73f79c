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
    let mut referrers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (class, names) in references {
        for name in names
            .iter()
            .filter(|name| references.contains_key(*name) || wanted.contains(*name))
        {
            referrers.entry(name).or_default().push(class);
        }
    }
    let mut leading = wanted.clone();
    let mut open: Vec<&str> = wanted.iter().map(String::as_str).collect();
    while let Some(class) = open.pop() {
        for referrer in referrers.get(class).into_iter().flatten() {
            if leading.insert((*referrer).to_owned()) {
                open.push(referrer);
            }
        }
    }
    leading
}

/// Of the tests, those that name one of `wanted`, and the own tests of production classes that do: they are likely to use
/// it much.
pub(crate) fn find_near_tests(
    [tests, production]: [&References; 2],
    wanted: &BTreeSet<String>,
    names: &TestNames,
) -> BTreeSet<String> {
    let callers = classes_naming(production, wanted);
    classes_naming(tests, wanted)
        .into_iter()
        .chain(
            tests
                .keys()
                .filter(|test| {
                    let (package, test) = test.rsplit_once('.').unwrap_or(("", test));
                    let mut beside = callers
                        .iter()
                        .map(|class| class.rsplit_once('.').unwrap_or(("", class)));
                    beside.any(|(other, class)| other == package && names.is_test_of(test, class))
                })
                .cloned(),
        )
        .collect()
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
    fn near_are_tests_that_name_a_class_and_own_tests_of_its_callers_in_their_package() {
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
            ("b.CallerTest", "b.Caller"),
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
