//! Which kills of an earlier gate stand in this one, and what the journal keeps of them.
//!
//! Pure. A kill stands only where nothing that it depends on differs: the production classes, files that are not Java,
//! settings, JDK and PIT, and of the tests the class that killed with all that it leads to by references. Whether its
//! test is green now and reaches the mutant, only the run can tell (`templates/pit`). What is kept is bounded: of more,
//! nothing is.

use super::coverage_map::ModuleState;
use super::maven::digest;
use super::reach::{References, led_to};
use super::report::{Kill, MOST_KILLS, MutantId};
use crate::mutation::ModuleKills;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of all names in the kills of a module, and of one.
const MOST_BYTES: usize = 1 << 20;
const LONGEST_NAME: usize = 1_000;

/// What the kills of a module depend on, as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ground {
    production: String,
    conditions: String,
    /// By test class that is asked.
    tests: BTreeMap<String, String>,
}

impl Ground {
    /// `references` are those of the tests' class files, `asked` the test classes, `settings` what the state does not hold.
    pub(crate) fn new(
        state: &ModuleState,
        references: &References,
        asked: &BTreeSet<String>,
        settings: Vec<String>,
    ) -> Self {
        let of = |classes: &BTreeSet<&String>| {
            digest(
                classes.iter().filter_map(|class| Some([class, &state.tests.get(*class)?.whole])).flatten(),
            )
        };
        let led: BTreeMap<&String, BTreeSet<&String>> =
            asked.iter().map(|test| (test, led_to(references, test))).collect();
        // Who is named by no test may serve them all, by reflection or as a service.
        let named: BTreeSet<&String> = led.values().flatten().copied().collect();
        let unnamed = state.tests.keys().filter(|class| !named.contains(class)).collect();
        let production = state.production.iter().flat_map(|(class, digests)| [class, &digests.whole]);
        Self {
            production: digest(production),
            conditions: digest([vec![state.conditions.clone(), of(&unnamed)], settings].concat()),
            tests: led.iter().map(|(test, classes)| ((*test).clone(), of(classes))).collect(),
        }
    }

    /// What the journal keeps of these kills; `None` if that is nothing, or too much.
    pub(crate) fn record(&self, kills: &[Kill]) -> Option<ModuleKills> {
        let is_plain = |name: &str| name.len() <= LONGEST_NAME && !name.contains(char::is_control);
        let plain = kills.iter().filter(|kill| kill.names().into_iter().all(is_plain));
        let known: Vec<(&Kill, (&String, &String))> =
            plain.filter_map(|kill| Some((kill, self.test_class(&kill.test)?))).collect();
        let names: BTreeSet<&str> = known.iter().flat_map(|(kill, _)| kill.names()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let is_too_much =
            kills.len() > MOST_KILLS || names.iter().map(|name| name.len()).sum::<usize>() > MOST_BYTES;
        if known.is_empty() || is_too_much {
            return None;
        }
        let row = |kill: &Kill| -> Option<Vec<u32>> {
            let places =
                kill.names().into_iter().map(|name| names.binary_search(&name).ok()?.try_into().ok());
            places.chain(kill.id.indexes.iter().map(|index| index.parse().ok())).collect()
        };
        Some(ModuleKills {
            production: self.production.clone(),
            conditions: self.conditions.clone(),
            tests: known.iter().map(|(_, (class, digest))| ((*class).clone(), (*digest).clone())).collect(),
            kills: known.iter().filter_map(|(kill, _)| row(kill)).collect(),
            names: names.into_iter().map(str::to_owned).collect(),
        })
    }

    /// The recorded kills of a module that stand as far as files can tell, each with the class of its test.
    pub(crate) fn standing(&self, recorded: &ModuleKills) -> Vec<(String, Kill)> {
        if recorded.production != self.production || recorded.conditions != self.conditions {
            return Vec::new();
        }
        let name = |place: &u32| recorded.names.get(usize::try_from(*place).ok()?).cloned();
        let kill = |row: &Vec<u32>| {
            let [class, method, descriptor, mutator, test, indexes @ ..] = &row[..] else { return None };
            let id = MutantId {
                class: name(class)?,
                method: name(method)?,
                descriptor: name(descriptor)?,
                mutator: name(mutator)?,
                indexes: indexes.iter().map(u32::to_string).collect(),
            };
            let test = name(test)?;
            let (class, digest) = self.test_class(&test)?;
            (recorded.tests.get(class) == Some(digest)).then(|| (class.clone(), Kill { id, test }))
        };
        recorded.kills.iter().filter_map(kill).collect()
    }

    /// The test class of a test, with its digest.
    fn test_class(&self, test: &str) -> Option<(&String, &String)> {
        test_class(test, |class| self.tests.get_key_value(class))
    }
}

/// The class of a test that `find` knows, by PIT's name of the test: `a.FooTest$In.[engine:junit-jupiter]/…`, `a.FooTest.sums(a.FooTest)`.
pub(crate) fn test_class<T>(test: &str, find: impl Fn(&str) -> Option<T>) -> Option<T> {
    let ends = test.match_indices(['.', '$']).map(|(at, _)| at);
    ends.filter_map(|end| find(&test[..end])).next_back()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::java::coverage_map::ClassDigests;

    fn names(all: &str) -> BTreeSet<String> {
        all.split_whitespace().map(str::to_owned).collect()
    }

    /// What a module holds, in words: its classes with their digests, which of the tests name which, who is asked.
    #[derive(Clone)]
    struct Module {
        conditions: &'static str,
        settings: &'static str,
        production: &'static str,
        tests: &'static str,
        references: &'static str,
        asked: &'static str,
    }

    /// `FooTest` leads to `Base`, its superclass, and that to `Deep`; nobody names `Lone`.
    const AS_RECORDED: Module = Module {
        conditions: "same",
        settings: "same",
        production: "Foo=1 Bar=1",
        tests: "FooTest=1 BarTest=1 Base=1 Deep=1 Lone=1",
        references: "FooTest:Foo FooTest:Base Base:Deep Deep:Base BarTest:Bar Lone:Foo",
        asked: "FooTest BarTest",
    };

    impl Module {
        fn ground(&self) -> Ground {
            let classes = |text: &str| {
                let class = |word: &str| {
                    let (class, whole) = word.split_once('=').unwrap();
                    let whole = whole.to_owned();
                    (class.to_owned(), ClassDigests { outside_bodies: whole.clone(), whole })
                };
                text.split_whitespace().map(class).collect::<BTreeMap<_, _>>()
            };
            let (production, tests) = (classes(self.production), classes(self.tests));
            let mut references: References =
                tests.keys().map(|class| (class.clone(), BTreeSet::new())).collect();
            for (from, to) in self.references.split_whitespace().map(|word| word.split_once(':').unwrap()) {
                references.entry(from.to_owned()).or_default().insert(to.to_owned());
            }
            let [conditions, commit] = [self.conditions, "c0ffee"].map(str::to_owned);
            let state = ModuleState { conditions, commit, production, tests };
            Ground::new(&state, &references, &names(self.asked), vec![self.settings.to_owned()])
        }
    }

    fn kill(method: &str, test: &str) -> Kill {
        let text = |text: &str| text.to_owned();
        let id = MutantId {
            class: text("Foo$In"),
            method: text(method),
            descriptor: text("(I)V"),
            mutator: text("m.Math"),
            indexes: vec![text("4"), text("19")],
        };
        Kill { id, test: text(test) }
    }

    fn kills() -> Vec<Kill> {
        vec![
            kill("one", "FooTest.[engine:junit-jupiter]/[class:FooTest]/[method:a.b()]"),
            kill("two", "FooTest$In.[engine:junit-jupiter]/[class:FooTest]/[nested-class:In]"),
            kill("three", "BarTest.sums(BarTest)"),
        ]
    }

    /// The methods whose kills stand in a module that is now like this.
    fn standing(now: &Module) -> String {
        let recorded = AS_RECORDED.ground().record(&kills()).unwrap();
        let standing = now.ground().standing(&recorded);
        standing
            .iter()
            .map(|(class, kill)| format!("{} by {class}", kill.id.method))
            .collect::<Vec<_>>()
            .join(", ")
    }

    #[test]
    fn a_kill_stands_only_where_each_condition_holds() {
        const ALL: &str = "one by FooTest, two by FooTest, three by BarTest";
        const OF_BAR: &str = "three by BarTest";
        const OF_FOO: &str = "one by FooTest, two by FooTest";
        let was = AS_RECORDED;
        let with = |tests| Module { tests, ..was.clone() };
        for (what, now, expected) in [
            ("nothing differs", was.clone(), ALL),
            (
                "another file that is not Java, POM, JDK or class path",
                Module { conditions: "x", ..was.clone() },
                "",
            ),
            ("another setting, or PIT", Module { settings: "x", ..was.clone() }, ""),
            ("a target differs", Module { production: "Foo=2 Bar=1", ..was.clone() }, ""),
            ("another production class differs", Module { production: "Foo=1 Bar=2", ..was.clone() }, ""),
            ("a production class came", Module { production: "Foo=1 Bar=1 New=1", ..was.clone() }, ""),
            ("a production class went", Module { production: "Foo=1", ..was.clone() }, ""),
            ("the test differs", with("FooTest=2 BarTest=1 Base=1 Deep=1 Lone=1"), OF_BAR),
            ("its superclass differs", with("FooTest=1 BarTest=1 Base=2 Deep=1 Lone=1"), OF_BAR),
            ("what that names differs", with("FooTest=1 BarTest=1 Base=1 Deep=2 Lone=1"), OF_BAR),
            ("what that names went", with("FooTest=1 BarTest=1 Base=1 Lone=1"), OF_BAR),
            ("the other test differs", with("FooTest=1 BarTest=2 Base=1 Deep=1 Lone=1"), OF_FOO),
            ("what nobody names differs", with("FooTest=1 BarTest=1 Base=1 Deep=1 Lone=2"), ""),
            ("what nobody names went", with("FooTest=1 BarTest=1 Base=1 Deep=1"), ""),
            ("what nobody names came", with("FooTest=1 BarTest=1 Base=1 Deep=1 Lone=1 Lone2=1"), ""),
            ("the test is asked no more", Module { asked: "FooTest", ..was.clone() }, ""),
            (
                "the test went",
                Module { asked: "FooTest", tests: "FooTest=1 Base=1 Deep=1 Lone=1", ..was.clone() },
                OF_FOO,
            ),
            (
                "a new test that names what others do, and what only it does",
                Module {
                    asked: "FooTest BarTest NewTest",
                    tests: "FooTest=1 BarTest=1 Base=1 Deep=1 Lone=1 NewTest=1 Fixture=1",
                    references: "FooTest:Base Base:Deep Deep:Base NewTest:Base NewTest:Fixture",
                    ..was.clone()
                },
                ALL,
            ),
        ] {
            assert_eq!(standing(&now), expected, "{what}");
        }
    }

    #[test]
    fn a_record_keeps_each_mutant_and_test_through_the_journal_and_reads_what_is_odd_as_nothing() {
        let ground = AS_RECORDED.ground();
        let recorded = ground.record(&kills()).unwrap();
        let mut read: ModuleKills = serde_json::from_str(&serde_json::to_string(&recorded).unwrap()).unwrap();
        assert_eq!(read, recorded);
        let all: Vec<Kill> = ground.standing(&read).into_iter().map(|(_, kill)| kill).collect();
        assert_eq!(all, kills());
        read.kills = vec![vec![], vec![0, 0, 0, 0], vec![0, 0, 0, 0, 99, 1], vec![0, 0, 0, 0, 0, 1]];
        assert!(ground.standing(&read).is_empty(), "{:?}", ground.standing(&read));
    }

    #[test]
    fn what_is_kept_is_bounded_and_names_a_known_test_in_one_line() {
        let record = |kills: &[Kill]| AS_RECORDED.ground().record(kills);
        let count = |kills: &[Kill]| record(kills).map_or(0, |kept| kept.kills.len());
        let odd = [
            kill("four", "OtherTest.x()"),
            kill("five", "FooTest.a\tb"),
            kill("six", &format!("FooTest.{}", "x".repeat(LONGEST_NAME))),
            kill("seven", "FooTestMore.x()"),
        ];
        assert_eq!(record(&odd), None);
        assert_eq!(count(&[kills(), odd.to_vec()].concat()), 3);
        let many = |of: usize, length: usize| -> Vec<Kill> {
            (0..of).map(|at| kill(&format!("m{at:0length$}"), "FooTest.x()")).collect()
        };
        assert_eq!((count(&many(MOST_KILLS, 5)), count(&many(MOST_KILLS + 1, 5))), (MOST_KILLS, 0));
        assert_eq!((count(&many(1_000, 900)), count(&many(1_200, 900))), (1_000, 0));
    }
}
