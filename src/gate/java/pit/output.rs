//! The parts of PIT's log that are shown to people.
//!
//! Tests can print any of these lines: none decides a pass or a skip.

use super::super::coverage_map::top_level;
use super::super::report::FailingTest;
use crate::gate::GateAbort;
use crate::source::text;
use std::collections::BTreeSet;

const GATHERING: &str = "Gathering coverage for test Description [testClass=";

/// The end of a reason: a test fails before anything is mutated.
pub(crate) const RED: &str = "fails without any mutation.";
/// The end of a reason: a test fails in a control.
pub(super) const FAILED_CONTROL: &str = "fails in PIT's worker on unmutated code: it detects mutation testing, or passes only once or in one JVM. Make it pass on every run.";

/// The class of the test that was begun last.
pub(super) fn last_test(log: &str) -> Option<String> {
    let (_, test) = log
        .lines()
        .rev()
        .find_map(|line| line.split_once(GATHERING))?;
    let class = test.split_once(", name=")?.0;
    Some(text::line(top_level(class), 300))
}

/// A failure if one of the failing tests is among those that the family answers for; `does` ends the sentence.
pub(crate) fn blame_tests(
    accountable_tests: &BTreeSet<String>,
    failing: &BTreeSet<FailingTest>,
    does: &str,
) -> Result<(), GateAbort> {
    let reasons: Vec<String> = failing
        .iter()
        .filter(|test| accountable_tests.contains(&test.class))
        .take(10)
        .map(|test| format!("The test {} {does}", test.name))
        .collect();
    if reasons.is_empty() {
        Ok(())
    } else {
        Err(GateAbort::Fail { reasons })
    }
}

#[cfg(test)]
mod tests {
    use super::last_test;

    #[test]
    fn a_log_names_the_test_that_was_begun_last() {
        let log = "x PIT >> INFO : MINION : FINE : Gathering coverage for test Description [testClass=a.ATest, name=x]\n\
            x PIT >> INFO : MINION : FINE : Gathering coverage for test Description [testClass=a.BTest$In, name=x]\n";
        assert_eq!(last_test(log).as_deref(), Some("a.BTest"));
        assert_eq!(last_test(""), None);
    }
}
