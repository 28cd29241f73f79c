//! What earlier gates have seen of a module's tests.
//!
//! Owns: how slow tests were and which were red without any mutation, between gates.
//!
//! Promises: what is remembered says only with how much patience tests are asked, and which are looked at
//! before all of them run; the last run that told is believed; bounded.
//!
//! Refuses to know: what is done with it (`session`, `measure`).

use super::Stop;
use super::maven::digest;
use super::memory::Memory;
use super::pit::Whole;
use std::collections::BTreeSet;
use std::path::Path;

/// Red test classes of a module that are remembered; where there are more, none is.
const MOST_RED: usize = 1_000;

/// The tests of one module.
pub(crate) struct KnownTests<'a> {
    /// Ralph's cache folder.
    pub(crate) cache: &'a Path,
    /// `<package>/<folder>` of the module.
    pub(crate) label: String,
    /// Where it stands: what is red in one checkout says nothing of another's module of that name.
    pub(crate) home: &'a Path,
}

impl KnownTests<'_> {
    /// How long the slowest of exactly these tests took, milliseconds.
    pub(crate) fn slowest(&self, tests: &BTreeSet<String>) -> Option<u64> {
        self.slow().recall(&self.slow_key(tests))
    }

    /// Keeps what a run over these test classes says of them.
    pub(crate) fn keep(&self, ran: &BTreeSet<String>, whole: &Whole) -> Result<(), Stop> {
        if let Some(millis) = whole.slowest_test {
            self.slow().keep(&self.slow_key(ran), &millis)?;
        }
        whole.red.as_ref().map_or(Ok(()), |red| self.keep_red(ran, red))
    }

    /// Test classes of which a test was red without any mutation when they last ran.
    pub(crate) fn red(&self) -> BTreeSet<String> {
        self.reds().recall(&self.red_key()).unwrap_or_default()
    }

    /// Of the test classes that ran, these had a red test.
    pub(crate) fn keep_red(&self, ran: &BTreeSet<String>, red: &BTreeSet<String>) -> Result<(), Stop> {
        let before = self.red();
        let mut after: BTreeSet<String> =
            before.difference(ran).chain(red.intersection(ran)).cloned().collect();
        if after.len() > MOST_RED {
            after.clear();
        }
        if after == before {
            return Ok(());
        }
        self.reds().keep(&self.red_key(), &after)
    }

    fn slow(&self) -> Memory {
        Memory::of(self.cache, "slowest-tests")
    }

    fn reds(&self) -> Memory {
        Memory::of(self.cache, "red-tests")
    }

    fn red_key(&self) -> String {
        digest([self.label.as_bytes(), self.home.as_os_str().as_encoded_bytes()].into_iter())
    }

    fn slow_key(&self, tests: &BTreeSet<String>) -> String {
        let parts = std::iter::once(self.label.as_str()).chain(tests.iter().map(String::as_str));
        digest(parts.map(str::as_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::{KnownTests, MOST_RED, Whole};
    use std::collections::BTreeSet;
    use std::path::Path;

    fn known<'a>(cache: &'a Path, label: &str, home: &'a str) -> KnownTests<'a> {
        KnownTests { cache, label: label.to_owned(), home: Path::new(home) }
    }

    fn names(all: &[&str]) -> BTreeSet<String> {
        all.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_last_run_that_told_says_whether_a_test_is_red() {
        let folder = tempfile::tempdir().unwrap();
        let at = |label, home| known(folder.path(), label, home);
        let (here, module, workspace) = (at("p/.", "/a"), at("p/m", "/a"), at("p/.", "/b"));
        let told = |ran: &[&str], red: Option<&[&str]>| {
            let whole = Whole { red: red.map(names), ..Whole::default() };
            here.keep(&names(ran), &whole).unwrap();
            here.red()
        };
        assert_eq!(told(&["A", "B"], Some(&[])), names(&[]));
        assert!(!folder.path().join("red-tests.json").exists(), "what is as it was is not written");
        assert_eq!(told(&["A", "B", "C"], Some(&["A", "B"])), names(&["A", "B"]));
        assert_eq!((module.red(), workspace.red()), (names(&[]), names(&[])));
        assert_eq!(
            told(&["B", "D"], Some(&["D", "Inner"])),
            names(&["A", "D"]),
            "what did not run is no test"
        );
        assert_eq!(
            told(&["A", "D"], None),
            names(&["A", "D"]),
            "a run that leaves red tests out does not tell"
        );
        assert_eq!(told(&["A", "D"], Some(&[])), names(&[]));
        let many: BTreeSet<String> = (0..=MOST_RED).map(|number| number.to_string()).collect();
        here.keep_red(&many, &many).unwrap();
        assert_eq!(here.red(), names(&[]));
    }

    #[test]
    fn the_slowest_is_known_of_the_same_tests_of_the_same_module_only() {
        let folder = tempfile::tempdir().unwrap();
        let (here, other) = (known(folder.path(), "p/.", "/a"), known(folder.path(), "q/.", "/a"));
        here.keep(&names(&["A", "B"]), &Whole { slowest_test: Some(700), ..Whole::default() }).unwrap();
        assert_eq!((here.slowest(&names(&["A", "B"])), here.slowest(&names(&["A"]))), (Some(700), None));
        assert_eq!(other.slowest(&names(&["A", "B"])), None);
    }
}
