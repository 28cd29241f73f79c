//! The statements of a Java source, for measuring how much of one version is in another.
//!
//! Format, comments, imports and order do not count.

use super::members::{enabled_tests, is_part, members};
use crate::source::lines::how_often;
use std::collections::HashMap;

/// Parts of a statement that checks something in a test, in lower case.
const CHECKS: [&str; 6] = ["assert", "verif", "expect", "check", "should", "fail("];

/// The number of occurrences of each statement in a source.
#[derive(Clone, Debug)]
pub struct Statements(HashMap<String, u64>);

impl Statements {
    /// Returns the statements of a class except those that name it: a renamed class keeps its code.
    pub fn of_class(name: &str, source: &[u8]) -> Self {
        let mut all = Self::of(source);
        all.0
            .retain(|statement, _| statement.split(|c| !is_part(c)).all(|word| word != name));
        all
    }

    fn of(source: &[u8]) -> Self {
        let members = members(source);
        let statements = members
            .iter()
            .flat_map(|member| member.words.split([';', '{', '}']));
        Self(how_often(statements.map(str::to_owned)))
    }

    /// Returns the number of characters that an older source contains, if at least half.
    pub fn mostly_from(&self, older: &Self) -> Option<u64> {
        let all: u64 = self
            .0
            .iter()
            .map(|(statement, count)| statement.len() as u64 * count)
            .sum();
        let kept: u64 = self
            .0
            .iter()
            .map(|(statement, count)| statement.len() as u64 * count.min(older.count(statement)))
            .sum();
        (kept > 0 && 2 * kept >= all).then_some(kept)
    }

    fn count(&self, statement: &str) -> &u64 {
        self.0.get(statement).unwrap_or(&0)
    }

    /// True if it has some of these statements more often than the other.
    fn has_more(&self, other: &Self, is_meant: fn(&str) -> bool) -> bool {
        self.0
            .iter()
            .any(|(statement, count)| is_meant(statement) && count > other.count(statement))
    }
}

/// True if `now` weakens the tests of `before`.
///
/// Fewer tests are enabled, an assertion or a row of test data is gone, or a test may end before them.
pub fn is_weakened(before: &[u8], now: &[u8]) -> bool {
    let is_less = enabled_tests(now) < enabled_tests(before);
    let (before, now) = (Statements::of(before), Statements::of(now));
    is_less
        || before.has_more(&now, |statement| {
            let statement = statement.to_lowercase();
            statement.starts_with('"') || CHECKS.iter().any(|word| statement.contains(word))
        })
        || now.has_more(&before, |statement| {
            statement == "return" || statement.ends_with(")return") || statement.contains("assum")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: &str = "package a;\nimport a.Rate;\n/** Licence. */\npublic final class Price {\n\
        private final int net;\n  Price(int net) { this.net = net; }\n\
        int gross(int rate) { return net + net * rate / 100; }\n\
        boolean isFree() { return net == 0; }\n\
        Price plus(Price other) { return new Price(net + other.net); }\n}\n";

    fn shared(name: &str, now: &str) -> Option<u64> {
        let before = Statements::of_class("Price", PRICE.as_bytes());
        Statements::of_class(name, now.as_bytes()).mostly_from(&before)
    }

    #[test]
    fn a_class_is_what_it_was_under_another_name_in_another_format_and_with_some_other_code() {
        assert!(shared("Price", &PRICE.replace("package a", "package b")).is_some());
        let cost = PRICE.replace("Price", "Cost");
        assert!(shared("Cost", &cost).is_some());
        assert!(shared("Cost", &cost.replace("{ ", "{\n  // why\n")).is_some());
        assert!(shared("Cost", &cost.replace("net == 0", "net <= 0")).is_some());
        let part = "class Part { int gross(int rate) { return net + net * rate / 100; } }";
        assert!(
            shared("Part", part).is_some(),
            "a part of a class that was split"
        );
    }

    #[test]
    fn another_class_with_the_same_licence_and_shape_is_another_class() {
        let tax = "package a;\nimport a.Rate;\n/** Licence. */\npublic final class Tax {\n\
            private final String land;\n  Tax(String land) { this.land = land; }\n\
            boolean isFree() { return land.isEmpty(); }\n}\n";
        assert_eq!(shared("Tax", tax), None);
        assert_eq!(shared("Empty", "class Empty { }"), None);
        assert_eq!(shared("Broken", "}{;;"), None);
    }

    const TESTS: &str = "package a;\nclass PriceTest {\n\
        @Test void net() { int a = of(1); assertEquals(1, a); }\n\
        @ParameterizedTest @CsvSource({\"1,2\", \"3,4\"}) void rows(int a, int b) { verify(a, b); }\n}\n";

    fn weakened(now: &str) -> bool {
        assert_ne!(now, TESTS);
        is_weakened(TESTS.as_bytes(), now.as_bytes())
    }

    #[test]
    fn more_tests_other_words_around_assertions_and_format_weaken_nothing() {
        for (from, to) in [
            (
                "assertEquals(1, a);",
                "assertEquals(1, a); assertTrue(a < 2);",
            ),
            ("int a = of(1);", "final int a = of(1);"),
            ("{ int a", "{\n // why\n int a"),
            (
                "@Test void net",
                "@Test void more() { assertNotNull(this); }\n@Test void net",
            ),
            ("}\n}\n", "}\n  int of(int a) { return a; }\n}\n"),
        ] {
            assert!(!weakened(&TESTS.replace(from, to)), "{from} → {to}");
        }
    }

    #[test]
    fn tests_that_check_less_are_weakened() {
        for (from, to) in [
            ("assertEquals(1, a);", ""),
            ("assertEquals(1, a);", "assertNotNull(a);"),
            ("assertEquals(1, a);", "/* assertEquals(1, a); */"),
            ("{ int a", "{ if (true) return; int a"),
            ("{ int a", "{ assumeTrue(false); int a"),
            ("\"1,2\", ", ""),
            ("@Test void", "@Disabled @Test void"),
            ("@Test void", "void"),
        ] {
            assert!(weakened(&TESTS.replace(from, to)), "{from} → {to}");
        }
        assert!(weakened(""));
    }
}
