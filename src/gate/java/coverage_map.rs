//! The coverage map: which test classes execute which production classes, as a hint for the order of tests.
//!
//! Pure. One run of all tests makes it, class by class. A choice that is too small can make a FAIL of a PASS and never a
//! PASS of a FAIL, and a FAIL that blocks a task runs all tests: so coverage that credits a static initialiser to the first
//! test alone, or a class that tests reach by reflection, may cost a rework and no wrong box.

use super::reach::{References, find_dependents};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The production classes that one run over all tests executed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExecutedClasses {
    /// The test classes, and true where all their tests were green.
    pub(crate) tests: BTreeMap<String, bool>,
    /// By top-level class, the tests that execute it.
    pub(crate) classes: BTreeMap<String, BTreeSet<String>>,
}

/// A module as its tests see it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ModuleState {
    /// A digest of POMs, arguments, the JDK and the files that are not Java.
    pub(crate) conditions: String,
    /// Digests of the production classes with those nested in them, by dotted top-level name.
    pub(crate) production: BTreeMap<String, String>,
    /// The same of the classes of the tests.
    pub(crate) tests: BTreeMap<String, String>,
}

/// The map of one module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CoverageMap {
    /// The module that it is of.
    pub(crate) state: ModuleState,
    /// The run of all tests that made it.
    pub(crate) coverage: ExecutedClasses,
}

impl CoverageMap {
    /// Returns those of `all` that can touch one of the `targets` (top-level names); `None` for a map that no longer holds.
    ///
    /// The module is as it is `now`; `references` are those of its tests' class files.
    pub(crate) fn choose_tests(
        &self,
        now: &ModuleState,
        references: &References,
        targets: &BTreeSet<String>,
        all: &BTreeSet<String>,
    ) -> Option<BTreeSet<String>> {
        let then = &self.state;
        if then.conditions != now.conditions {
            return None;
        }
        let mut changed = targets.clone();
        changed.extend(changed_classes(&then.production, &now.production).cloned());
        changed.extend(changed_classes(&then.tests, &now.tests).cloned());
        let ExecutedClasses { tests, classes } = &self.coverage;
        let executing = changed.iter().filter_map(|class| classes.get(class));
        let mut chosen: BTreeSet<String> = executing.flatten().cloned().collect();
        // Suites run tests of other names: they are among the classes that ran none of their own.
        let has_suites = !chosen.is_subset(all);
        for test in all {
            if tests.get(test).map_or(has_suites, |is_green| !is_green) {
                chosen.insert(test.clone());
            }
        }
        // A test that uses a changed class of the tests, or a new class, names it.
        chosen.extend(find_dependents(references, &changed));
        Some(&chosen & all)
    }
}

/// The classes that are not the same in both, added and deleted ones too.
fn changed_classes<'a>(
    then: &'a BTreeMap<String, String>,
    now: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = &'a String> {
    let [then, now] = [then, now].map(|classes| classes.iter().collect::<BTreeSet<_>>());
    let changed = &then ^ &now;
    changed.into_iter().map(|(class, _)| class)
}

/// The top-level class of a name.
pub(crate) fn top_level(name: &str) -> &str {
    name.split_once('$').map_or(name, |(top, _)| top)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[&str]) -> BTreeSet<String> {
        all.iter().map(|name| (*name).to_owned()).collect()
    }

    /// A run that executed `Foo ATest BTest` per line.
    fn coverage(tests: &[&str], classes: &str) -> ExecutedClasses {
        let class = |line: &str| {
            let (class, tests) = line.trim().split_once(' ').unwrap();
            (
                class.to_owned(),
                tests.split(' ').map(str::to_owned).collect(),
            )
        };
        ExecutedClasses {
            tests: tests
                .iter()
                .map(|test| ((*test).to_owned(), *test != "RedTest"))
                .collect(),
            classes: classes.lines().map(class).collect(),
        }
    }

    /// A module whose classes have these digests: `Foo=1 Bar=2`.
    fn state(production: &str, tests: &str) -> ModuleState {
        let class = |text: &str| {
            let (class, digest) = text.split_once('=').unwrap();
            (class.to_owned(), digest.to_owned())
        };
        let classes = |text: &str| text.split_whitespace().map(class).collect();
        ModuleState {
            conditions: "same".to_owned(),
            production: classes(production),
            tests: classes(tests),
        }
    }

    const PRODUCTION: &str = "Foo=1 Bar=1";
    const TESTS: &str = "ATest=1 BTest=1 CTest=1 DTest=1 ETest=1 FTest=1 RedTest=1 Base=1";

    fn map() -> CoverageMap {
        let tests = [
            "ATest", "BTest", "CTest", "DTest", "ETest", "FTest", "RedTest",
        ];
        CoverageMap {
            state: state(PRODUCTION, TESTS),
            coverage: coverage(&tests, "Foo ATest BTest\nBar CTest"),
        }
    }

    /// The tests that run for a target of a module; `DTest` names `Base`, `ETest` names `New`.
    fn asked(target: &str, production: &str, tests: &str) -> String {
        let references = [
            ("DTest".to_owned(), names(&["Base"])),
            ("ETest".to_owned(), names(&["New"])),
        ]
        .into();
        let now = state(production, tests);
        let all = now.tests.keys().cloned().collect();
        let chosen = map().choose_tests(&now, &references, &names(&[target]), &all);
        Vec::from_iter(chosen.unwrap()).join(" ")
    }

    #[test]
    fn tests_that_execute_the_target_or_what_has_changed_or_name_what_is_new_run_and_those_that_were_red()
     {
        assert_eq!(asked("Foo", PRODUCTION, TESTS), "ATest BTest RedTest");
        assert_eq!(asked("Foo", "Foo=2 Bar=1", TESTS), "ATest BTest RedTest");
        assert_eq!(
            asked("Foo", "Foo=1 Bar=2", TESTS),
            "ATest BTest CTest RedTest"
        );
        assert_eq!(
            asked("Foo", "Foo=1", TESTS),
            "ATest BTest CTest RedTest",
            "Bar was deleted"
        );
        assert_eq!(
            asked("New", &format!("{PRODUCTION} New=1"), TESTS),
            "ETest RedTest"
        );
        assert_eq!(
            asked("Bar", &format!("{PRODUCTION} New=1"), TESTS),
            "CTest ETest RedTest"
        );
        let fixture = TESTS.replace("Base=1", "Base=2");
        assert_eq!(
            asked("Nobody", PRODUCTION, &fixture),
            "Base DTest RedTest",
            "a test that names it"
        );
        assert_eq!(
            asked("Nobody", PRODUCTION, &format!("{TESTS} NewTest=1")),
            "NewTest RedTest"
        );
    }

    #[test]
    fn a_map_holds_only_under_its_conditions() {
        let mut elsewhere = state(PRODUCTION, TESTS);
        elsewhere.conditions = "other".to_owned();
        let choice = map().choose_tests(
            &elsewhere,
            &References::new(),
            &names(&["Foo"]),
            &names(&["ATest"]),
        );
        assert_eq!(choice, None);
    }

    #[test]
    fn tests_of_a_suite_under_other_names_stand_for_the_classes_that_ran_none() {
        let state = state("Foo=1 Bar=1", "ATest=1 BTest=1 CTest=1 Suite=1");
        let coverage = coverage(
            &["ATest", "BTest", "CTest", "lib.Tester"],
            "Foo lib.Tester\nBar ATest",
        );
        let map = CoverageMap {
            state: state.clone(),
            coverage,
        };
        let all = state.tests.keys().cloned().collect();
        let asked = |target| {
            map.choose_tests(&state, &References::new(), &names(&[target]), &all)
                .unwrap()
        };
        assert_eq!(
            (asked("Foo"), asked("Bar")),
            (names(&["Suite"]), names(&["ATest"]))
        );
    }
}
