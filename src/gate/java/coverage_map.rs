//! The coverage map: which test classes execute which production classes, as a hint for the order of tests.
//!
//! One run of all tests makes it, class by class. A choice that is too small can make a FAIL of a PASS and never a
//! PASS of a FAIL, and a FAIL that blocks a task runs all tests: so coverage that credits a static initialiser to the first
//! test alone, or a class that tests reach by reflection, may cost a rework and no wrong box.
//!
//! A gate that works in place has no map, since files that no commit holds could change what tests do.

use super::class_file;
use super::context::ModuleContext;
use super::maven::digest_parts;
use super::report::{ExecutedClasses, top_level};
use super::scope::TestNames;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Raised when a state changes its meaning.
const VERSION: &str = "5";

/// Top-level classes by dotted name, each with the top-level classes that its class files name.
type References = BTreeMap<String, BTreeSet<String>>;

/// The compiled classes of a module, and the conditions of its tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ModuleState {
    /// A digest of POMs, arguments, the JDK and the files that are not Java.
    conditions: String,
    /// Digests of all classes with those nested in them, by dotted top-level name.
    digests: BTreeMap<String, String>,
    /// The names in the class files of its tests.
    #[serde(skip)]
    tests: References,
    /// The names in those of its production classes.
    #[serde(skip)]
    production: References,
}

/// The map of one module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CoverageMap {
    /// The module that it is of.
    pub(crate) state: ModuleState,
    /// The run of all tests that made it.
    pub(crate) coverage: ExecutedClasses,
}

impl ModuleContext<'_> {
    /// A digest of what its tests depend on, but for its own files.
    pub(crate) fn test_conditions(&self) -> String {
        let settings = self.context.settings;
        let jvm_args = settings.jvm_args.join("\0");
        digest_parts([&self.built.key, &settings.pit_version, &jvm_args])
    }
}

impl ModuleState {
    /// The module as it is now; `None` in place.
    pub(crate) fn read_state(module: &ModuleContext<'_>) -> Option<Self> {
        let context = module.context;
        let files = context.ports.checkouts.other_files(&context.package.root)?;
        let mut state = Self {
            conditions: digest_parts([VERSION, &module.test_conditions(), &files]),
            ..Self::default()
        };
        let sides = [
            (module.production(), &mut state.production),
            (module.tests(), &mut state.tests),
        ];
        for (files, references) in sides {
            for (name, bytes) in files {
                let class = dotted_name(name);
                let named = class_file::named_classes(bytes);
                let names = references.entry(class.clone()).or_default();
                names.extend(named.iter().map(|name| dotted_name(name)));
                let digest = state.digests.entry(class).or_default();
                *digest = digest_parts([digest.as_bytes(), name.as_bytes(), bytes.as_slice()]);
            }
        }
        Some(state)
    }

    /// Returns the tests that are likely to use one of `wanted` much: those that name it, and the own tests of production
    /// classes that name it.
    pub(crate) fn find_near_tests(
        &self,
        wanted: &BTreeSet<String>,
        names: TestNames<'_>,
    ) -> BTreeSet<String> {
        let callers = classes_naming(&self.production, wanted);
        let mut near = classes_naming(&self.tests, wanted);
        for test in self.tests.keys() {
            let name = simple_name(test);
            let mut callers = callers.iter().map(|class| simple_name(class));
            if callers.any(|caller| names.is_test_of(name, caller)) {
                near.insert(test.clone());
            }
        }
        near
    }
}

impl CoverageMap {
    /// Returns those of `all` that can touch one of the `targets` (top-level names) of the module as it is `now`; `None` for
    /// a map that no longer holds.
    pub(crate) fn choose_tests(
        &self,
        now: &ModuleState,
        targets: &BTreeSet<String>,
        all: &BTreeSet<String>,
    ) -> Option<BTreeSet<String>> {
        if self.state.conditions != now.conditions {
            return None;
        }
        let [before, after] = [&self.state, now].map(|state| BTreeSet::from_iter(&state.digests));
        // Added and deleted classes too.
        let changed_since = &before ^ &after;
        let mut changed = targets.clone();
        changed.extend(changed_since.into_iter().map(|(class, _)| class.clone()));
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
        chosen.extend(find_dependents(&now.tests, &changed));
        Some(&chosen & all)
    }
}

/// The classes that lead to one of `wanted`, through other classes too, these included. Reflection is not seen.
fn find_dependents(references: &References, wanted: &BTreeSet<String>) -> BTreeSet<String> {
    let mut leading = wanted.clone();
    loop {
        let more = &leading | &classes_naming(references, &leading);
        if more == leading {
            return leading;
        }
        leading = more;
    }
}

/// Returns the classes that name one of `wanted`.
fn classes_naming(references: &References, wanted: &BTreeSet<String>) -> BTreeSet<String> {
    let naming = references
        .iter()
        .filter(|(_, names)| !names.is_disjoint(wanted));
    naming.map(|(class, _)| class.clone()).collect()
}

/// Returns a class's name without its package.
fn simple_name(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

/// The dotted name of the top-level class of an internal name.
fn dotted_name(internal: &str) -> String {
    top_level(internal).replace('/', ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[&str]) -> BTreeSet<String> {
        all.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Classes with the names in their files, separated by white space.
    fn references(all: &[(&str, &str)]) -> References {
        let entry = |(class, named): &(&str, &str)| {
            let named = named.split_whitespace().map(str::to_owned);
            ((*class).to_owned(), named.collect())
        };
        all.iter().map(entry).collect()
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

    /// A module whose classes have these digests: `Foo=1 Bar=2`; `DTest` names `Base`, `ETest` names `New`.
    fn state(digests: &str) -> ModuleState {
        let class = |text: &str| {
            let (class, digest) = text.split_once('=').unwrap();
            (class.to_owned(), digest.to_owned())
        };
        ModuleState {
            conditions: "same".to_owned(),
            digests: digests.split_whitespace().map(class).collect(),
            tests: references(&[("DTest", "Base"), ("ETest", "New")]),
            production: References::new(),
        }
    }

    const PRODUCTION: &str = "Foo=1 Bar=1";
    const TESTS: &str = "ATest=1 BTest=1 CTest=1 DTest=1 ETest=1 FTest=1 RedTest=1 Base=1";

    fn map() -> CoverageMap {
        let tests = [
            "ATest", "BTest", "CTest", "DTest", "ETest", "FTest", "RedTest",
        ];
        CoverageMap {
            state: state(&format!("{PRODUCTION} {TESTS}")),
            coverage: coverage(&tests, "Foo ATest BTest\nBar CTest"),
        }
    }

    /// The tests that run for a target of a module.
    fn asked(target: &str, production: &str, tests: &str) -> String {
        let all = state(tests).digests.into_keys().collect();
        let now = state(&format!("{production} {tests}"));
        let chosen = map().choose_tests(&now, &names(&[target]), &all);
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
        let mut elsewhere = map().state;
        elsewhere.conditions = "other".to_owned();
        let choice = map().choose_tests(&elsewhere, &names(&["Foo"]), &names(&["ATest"]));
        assert_eq!(choice, None);
    }

    #[test]
    fn tests_of_a_suite_under_other_names_stand_for_the_classes_that_ran_none() {
        let state = state("Foo=1 Bar=1 ATest=1 BTest=1 CTest=1 Suite=1");
        let coverage = coverage(
            &["ATest", "BTest", "CTest", "lib.Tester"],
            "Foo lib.Tester\nBar ATest",
        );
        let map = CoverageMap {
            state: state.clone(),
            coverage,
        };
        let all = names(&["ATest", "BTest", "CTest", "Suite"]);
        let asked = |target| map.choose_tests(&state, &names(&[target]), &all).unwrap();
        assert_eq!(
            (asked("Foo"), asked("Bar")),
            (names(&["Suite"]), names(&["ATest"]))
        );
    }

    #[test]
    fn references_are_followed_through_other_classes_and_in_circles() {
        let references = references(&[
            ("FooTest", "Foo java.lang.String"),
            ("BarTest", "Base"),
            ("Base", "Foo Helper"),
            ("Helper", "Base"),
            ("HelperTest", "Helper"),
            ("OtherTest", "Other"),
        ]);
        let leading = find_dependents(&references, &names(&["Foo"]));
        assert_eq!(
            leading,
            names(&["Foo", "FooTest", "Base", "BarTest", "Helper", "HelperTest"])
        );
        assert_eq!(find_dependents(&references, &names(&[])), names(&[]));
    }

    #[test]
    fn near_are_tests_that_name_a_class_and_own_tests_of_its_callers() {
        let state = ModuleState {
            production: references(&[
                ("a.Foo", "a.Foo"),
                ("a.Caller", "a.Foo"),
                ("a.Far", "a.Caller"),
            ]),
            tests: references(&[
                ("a.FooTest", "a.Foo"),
                ("b.NamesIt", "a.Foo"),
                ("a.CallerTest", "a.Caller"),
                ("a.FarTest", "a.Far"),
            ]),
            ..ModuleState::default()
        };
        let patterns = ["{}Test".to_owned()];
        let near = state.find_near_tests(&names(&["a.Foo"]), TestNames(&patterns));
        assert_eq!(near, names(&["a.CallerTest", "a.FooTest", "b.NamesIt"]));
    }
}
