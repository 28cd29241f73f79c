//! Who touches what: which test classes execute which production classes, and which of them a changed module must ask.
//!
//! Pure. Made from PIT's own coverage of all tests, seen in two opposite orders: coverage credits what runs once for
//! all tests (static initialisers, contexts, singletons) to the first of them only, so where the two differ, all tests
//! may depend on the class. A target is asked of those that touch it in either order: in a run of all tests PIT would
//! ask no others. What the map cannot tell is asked of all tests; a choice that is too small can make a FAIL of a
//! PASS, never a PASS of a FAIL.

use super::reach::{References, leading_to};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What one run over all tests executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Coverage {
    /// The test classes in the order of their ends; true where all their tests were green.
    pub(crate) tests: Vec<(String, bool)>,
    /// The tests that execute each method (`a.Foo$Bar`, `sum(I)V`), as indexes of `tests`.
    pub(crate) methods: BTreeMap<(String, String), BTreeSet<usize>>,
}

/// What is compared of a top-level class with those nested in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClassDigests {
    /// Of its class files.
    pub(crate) whole: String,
    /// Of what stands in them outside of method bodies.
    pub(crate) outside_bodies: String,
}

/// A digest of each method's code, by class (`a.Foo$Bar`) and method (`sum(I)V`).
pub(crate) type Bodies = BTreeMap<(String, String), String>;

const STATIC_INITIALISER: &str = "<clinit>()V";

/// A module as its tests see it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ModuleState {
    /// A digest of everything but the module's own class files: POMs, arguments, JDK, other modules, files that are
    /// not Java.
    pub(crate) conditions: String,
    /// The commit, for people.
    pub(crate) commit: String,
    /// The production classes, by dotted top-level name.
    pub(crate) production: BTreeMap<String, ClassDigests>,
    /// The classes of the tests.
    pub(crate) tests: BTreeMap<String, ClassDigests>,
}

/// The map of one module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CoverageMap {
    /// The module that it is of.
    state: ModuleState,
    /// The test classes that ran, in order, and whether they were green both times.
    tests: BTreeMap<String, bool>,
    /// The production classes that tests execute, by top-level name.
    touched: BTreeMap<String, Touched>,
}

/// Who executes a class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Touched {
    /// The tests that do, as indexes of the map's.
    by: BTreeSet<usize>,
    /// Its methods that run once for all tests, or not the same each time, each with its code, if that could be read.
    once: Vec<((String, String), Option<String>)>,
}

/// The tests that can touch a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// Their classes.
    pub(crate) tests: BTreeSet<String>,
    /// The commit that the map was made of.
    pub(crate) commit: String,
}

/// Why all tests are asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AskAll {
    /// A clause: `there is no map of who touches what`.
    pub(crate) why: String,
    /// A new map could answer better next time.
    pub(crate) is_outdated: bool,
}

impl CoverageMap {
    /// The map of a module, which has these `bodies`, from both runs.
    pub(crate) fn new(state: ModuleState, bodies: &Bodies, first: &Coverage, second: &Coverage) -> Self {
        let names: BTreeSet<&String> =
            first.tests.iter().chain(&second.tests).map(|(name, _)| name).collect();
        let names: Vec<&String> = names.into_iter().collect();
        let early = early_in_both(first, second);
        let is_green = |run: &Coverage, test: &String| run.tests.contains(&(test.clone(), true));
        let tests = names
            .iter()
            .map(|test| ((*test).clone(), is_green(first, test) && is_green(second, test)))
            .collect();
        let touching = |run: &Coverage, method| -> BTreeSet<usize> {
            let ran = run.methods.get(method).into_iter().flatten().filter_map(|index| run.tests.get(*index));
            ran.filter_map(|(name, _)| names.binary_search(&name).ok()).collect()
        };
        let mut touched: BTreeMap<String, Touched> = BTreeMap::new();
        // What an initialiser computes is there before any test runs.
        let initialisers = bodies.keys().filter(|(_, method)| method == STATIC_INITIALISER);
        let methods = first.methods.keys().chain(second.methods.keys()).chain(initialisers);
        for method in methods.collect::<BTreeSet<_>>() {
            let (one, other) = (touching(first, method), touching(second, method));
            let class = touched.entry(top_level(&method.0).to_owned()).or_default();
            // A sole toucher may be the first of many in both orders.
            let may_be_first = one.len() == 1
                && one.iter().any(|index| names.get(*index).is_some_and(|test| early.contains(*test)));
            if one != other || may_be_first || method.1 == STATIC_INITIALISER {
                class.once.push((method.clone(), bodies.get(method).cloned()));
            }
            class.by.extend(one.union(&other));
        }
        Self { state, tests, touched }
    }

    /// Those of `all` that can touch one of the `targets` (top-level names), in the module as it is `now`; `references`
    /// are those of its tests' class files, `bodies` the code of its classes.
    pub(crate) fn choose(
        &self,
        now: &ModuleState,
        bodies: &Bodies,
        references: &References,
        targets: &BTreeSet<String>,
        all: &BTreeSet<String>,
    ) -> Result<Chosen, AskAll> {
        let outdated = |why: String| AskAll { why, is_outdated: true };
        if self.state.conditions != now.conditions {
            return Err(outdated("something other than Java has changed since the map".to_owned()));
        }
        let mut changed = targets.clone();
        for class in different(&self.state.production, &now.production) {
            match [&self.state.production, &now.production].map(|state| state.get(class)) {
                [Some(then), Some(now)] if then.outside_bodies == now.outside_bodies => {}
                _ => return Err(outdated(format!("{class} differs from the map outside of method bodies"))),
            }
            let mut once = self.touched.get(class).into_iter().flat_map(|touched| &touched.once);
            if let Some(((_, method), _)) =
                once.find(|(method, then)| then.is_none() || then.as_ref() != bodies.get(method))
            {
                let why = format!("{method} of {class} differs from the map, and runs once for all tests");
                return Err(outdated(why));
            }
            changed.insert(class.clone());
        }
        let names: Vec<&String> = self.tests.keys().collect();
        let touching =
            changed.iter().filter_map(|class| self.touched.get(class)).flat_map(|touched| &touched.by);
        let mut chosen: BTreeSet<&String> = touching.filter_map(|index| names.get(*index).copied()).collect();
        chosen.extend(self.tests.iter().filter(|(_, is_green)| !**is_green).map(|(test, _)| test));
        if chosen.iter().any(|test| !all.contains(*test)) {
            // Suites run tests of other names: they are among the classes that ran none of their own.
            chosen.extend(all.iter().filter(|test| !self.tests.contains_key(*test)));
        }
        // Who uses a class of the tests names it, or is such a class and named: production code cannot.
        for class in different(&self.state.tests, &now.tests) {
            let ran_no_tests = self.state.tests.contains_key(class) && !self.tests.contains_key(class);
            if ran_no_tests && leading_to(references, &BTreeSet::from([class.clone()])).len() < 2 {
                return Err(outdated(format!("{class} differs from the map, and tests reach it by no name")));
            }
            changed.insert(class.clone());
        }
        let leading = leading_to(references, &changed);
        chosen.extend(&leading);
        let chosen: BTreeSet<String> = all.iter().filter(|test| chosen.contains(test)).cloned().collect();
        if 2 * chosen.len() > all.len() {
            let why = format!("{} of {} test classes can touch what is judged", chosen.len(), all.len());
            return Err(AskAll { why, is_outdated: self.state != *now });
        }
        Ok(Chosen { tests: chosen, commit: self.state.commit.clone() })
    }
}

/// The tests that came before some other test in both runs.
fn early_in_both<'a>(first: &'a Coverage, second: &Coverage) -> BTreeSet<&'a String> {
    let place: BTreeMap<&String, usize> =
        second.tests.iter().enumerate().map(|(at, (name, _))| (name, at)).collect();
    let mut last = None;
    let mut early = BTreeSet::new();
    for (name, _) in first.tests.iter().rev() {
        let at = place.get(name).copied();
        if at < last {
            early.insert(name);
        }
        last = last.max(at);
    }
    early
}

/// The classes that are not the same in both, added and deleted ones too.
fn different<'a>(
    then: &'a BTreeMap<String, ClassDigests>,
    now: &'a BTreeMap<String, ClassDigests>,
) -> impl Iterator<Item = &'a String> {
    let whole = |state: &'a BTreeMap<String, ClassDigests>, class: &String| {
        state.get(class).map(|digests| &digests.whole)
    };
    let all: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    all.into_iter().filter(move |class| whole(then, class) != whole(now, class))
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

    /// What a run in this order sees: `Foo.sum ATest BTest` a line.
    fn coverage(order: &[&str], methods: &str) -> Coverage {
        let number = |test: &str| order.iter().position(|name| *name == test).unwrap();
        let method = |line: &str| {
            let (method, tests) = line.trim().split_once(' ').unwrap();
            let (class, name) = method.split_once('.').unwrap();
            ((class.to_owned(), name.to_owned()), tests.split(' ').map(number).collect())
        };
        Coverage {
            tests: order.iter().map(|test| ((*test).to_owned(), *test != "RedTest")).collect(),
            methods: methods.lines().map(method).collect(),
        }
    }

    /// A module whose classes have these digests: `Foo=1.1`, a change in a body behind the dot; behind a second one, a
    /// change in code that runs once.
    fn state(production: &str, tests: &str) -> ModuleState {
        let classes = |text: &str| {
            let class = |text: &str| {
                let (class, whole) = text.split_once('=').unwrap();
                let outside_bodies = whole.split('.').next().unwrap().to_owned();
                (class.to_owned(), ClassDigests { whole: whole.to_owned(), outside_bodies })
            };
            text.split_whitespace().map(class).collect()
        };
        let [conditions, commit] = ["same", "c0ffee"].map(str::to_owned);
        ModuleState { conditions, commit, production: classes(production), tests: classes(tests) }
    }

    fn bodies(production: &str) -> Bodies {
        let class = |text: &str| {
            let (class, whole) = text.split_once('=').unwrap();
            let once = whole.split('.').nth(2).unwrap_or_default().to_owned();
            let of = |method: &str| ((class.to_owned(), method.to_owned()), once.clone());
            [of("<init>"), of("<clinit>()V")]
        };
        production.split_whitespace().flat_map(class).collect()
    }

    const PRODUCTION: &str = "Foo=1.1 Bar=1.1 Single=1.1";
    const TESTS: &str =
        "ATest=1.1 BTest=1.1 CTest=1.1 DTest=1.1 ETest=1.1 FTest=1.1 RedTest=1.1 Base=1.1 Lone=1.1";
    const ORDER: [&str; 7] = ["ATest", "BTest", "CTest", "DTest", "ETest", "FTest", "RedTest"];

    /// `Foo` is executed by `ATest` and `BTest`, `Bar` by `CTest`; `Single` once for all.
    fn map() -> CoverageMap {
        let same = "Foo.sum ATest BTest\nFoo$In.<init> ATest\nBar.run CTest";
        let first = coverage(&ORDER, &format!("{same}\nSingle.<init> ATest\nBar.<clinit>()V CTest"));
        let turned: Vec<&str> = ORDER.into_iter().rev().collect();
        let second = coverage(&turned, &format!("{same}\nSingle.<init> FTest\nBar.<clinit>()V DTest"));
        CoverageMap::new(state(PRODUCTION, TESTS), &bodies(PRODUCTION), &first, &second)
    }

    /// The tests that are asked about a target of a module; `Base` is named by `DTest`.
    fn asked(target: &str, production: &str, tests: &str) -> String {
        let references =
            [("DTest".to_owned(), names(&["Base"])), ("ETest".to_owned(), names(&["Gone"]))].into();
        let now = state(production, tests);
        let all = now.tests.keys().cloned().collect();
        match map().choose(&now, &bodies(production), &references, &names(&[target]), &all) {
            Ok(chosen) => Vec::from_iter(chosen.tests).join(" "),
            Err(AskAll { why, is_outdated }) => {
                format!("all{}: {why}", if is_outdated { ", and a map" } else { "" })
            }
        }
    }

    #[test]
    fn tests_that_execute_the_target_or_what_has_changed_are_asked_and_those_that_were_red() {
        assert_eq!(asked("Foo", PRODUCTION, TESTS), "ATest BTest RedTest");
        assert_eq!(asked("Foo", "Foo=1.2 Bar=1.1 Single=1.1", TESTS), "ATest BTest RedTest");
        assert_eq!(asked("Bar", PRODUCTION, TESTS), "CTest DTest RedTest");
        let beside = "Foo=1.1 Bar=1.2 Single=1.2";
        assert_eq!(
            asked("Nobody", beside, TESTS),
            "all, and a map: 5 of 9 test classes can touch what is judged"
        );
        let beside = "Foo=1.1 Bar=1.2 Single=1.1";
        assert_eq!(asked("Nobody", beside, TESTS), "CTest DTest RedTest", "its initialiser is as it was");
        assert_eq!(
            asked("Single", PRODUCTION, TESTS),
            "ATest FTest RedTest",
            "the first one in either order"
        );
        assert_eq!(asked("Nobody", PRODUCTION, TESTS), "RedTest");
        let fixture = TESTS.replace("Base=1.1", "Base=2.1");
        assert_eq!(asked("Nobody", PRODUCTION, &fixture), "Base DTest RedTest", "who names it");
        let by_reflection = TESTS.replace("Lone=1.1", "Lone=1.2");
        assert_eq!(
            asked("Nobody", PRODUCTION, &by_reflection),
            "all, and a map: Lone differs from the map, and tests reach it by no name"
        );
        let new = format!("{} NewTest=1.1", TESTS.replace("ETest=1.1", "ETest=1.2"));
        assert_eq!(asked("Nobody", PRODUCTION, &new), "ETest NewTest RedTest");
        assert_eq!(asked("Gone", PRODUCTION, TESTS), "ETest RedTest", "who names the target");
    }

    #[test]
    fn all_are_asked_where_the_map_cannot_tell() {
        let outside = "all, and a map: Bar differs from the map outside of method bodies";
        assert_eq!(asked("Foo", "Foo=1.1 Bar=2.1 Single=1.1", TESTS), outside);
        assert_eq!(asked("Foo", "Foo=1.1 Single=1.1", TESTS), outside, "deleted");
        let added = "all, and a map: New differs from the map outside of method bodies";
        assert_eq!(asked("Foo", &format!("{PRODUCTION} New=1.1"), TESTS), added);
        assert_eq!(
            asked("Foo", "Foo=1.1 Bar=1.1 Single=1.2.1", TESTS),
            "all, and a map: <clinit>()V of Single differs from the map, and runs once for all tests"
        );
        let unknown = map().choose(
            &state("Foo=1.2", ""),
            &Bodies::new(),
            &References::new(),
            &names(&["Foo"]),
            &names(&["ATest"]),
        );
        assert!(unknown.unwrap_err().is_outdated, "an initialiser that cannot be read");
        let most = asked("Foo", "Foo=1.2 Bar=1.2 Single=1.1", TESTS);
        assert_eq!(most, "all, and a map: 5 of 9 test classes can touch what is judged");
        let mut elsewhere = state(PRODUCTION, TESTS);
        elsewhere.conditions = "other".to_owned();
        let choice = map().choose(
            &elsewhere,
            &bodies(PRODUCTION),
            &References::new(),
            &names(&["Foo"]),
            &names(&["ATest"]),
        );
        assert!(choice.unwrap_err().is_outdated);
    }

    #[test]
    fn who_came_early_in_both_orders_may_have_been_the_first_of_many() {
        let varies = |orders: [&[&str]; 2], by: &str| {
            let [first, second] = orders.map(|order| coverage(order, &format!("Foo.sum {by}")));
            let map = CoverageMap::new(ModuleState::default(), &Bodies::new(), &first, &second);
            !map.touched["Foo"].once.is_empty()
        };
        assert!(!varies([&["A", "B", "C"], &["C", "B", "A"]], "B"), "turned round");
        assert!(varies([&["A", "B", "C"], &["A", "B", "C"]], "B"), "the same order");
        assert!(!varies([&["A", "B", "C"], &["A", "B", "C"]], "C"), "the last one");
        assert!(!varies([&["A", "B", "C"], &["A", "B", "C"]], "A B"), "not only the first");
        assert!(varies([&["A", "B", "C"], &["B", "A", "C"]], "B"));
        assert!(!varies([&["A"], &["A"]], "A"));
    }

    #[test]
    fn tests_of_a_suite_under_other_names_stand_for_the_classes_that_ran_none() {
        let run = |order: &[&str]| coverage(order, "Foo.sum lib.Tester\nBar.run ATest");
        let state = state("Foo=1.1 Bar=1.1", "ATest=1.1 BTest=1.1 CTest=1.1 Suite=1.1");
        let map = CoverageMap::new(
            state.clone(),
            &Bodies::new(),
            &run(&["ATest", "BTest", "CTest", "lib.Tester"]),
            &run(&["lib.Tester", "CTest", "BTest", "ATest"]),
        );
        let all = state.tests.keys().cloned().collect();
        let asked = |target| {
            map.choose(&state, &Bodies::new(), &References::new(), &names(&[target]), &all).unwrap().tests
        };
        assert_eq!((asked("Foo"), asked("Bar")), (names(&["Suite"]), names(&["ATest"])));
    }
}
