//! What PIT prints.
//!
//! Only lines of PIT's own process name the failing tests that end a run: what tests print has a prefix. Lines that are relayed from the JVM of the tests name those that were left out; a test could forge them.

use super::super::report::FailingTest;
use crate::gate::GateAbort;
use crate::source::text;
use std::collections::BTreeSet;

const RED_HEAD: &str = "PIT >> SEVERE : Tests failing without mutation:";
const RELAYED_RED: &str = "PIT >> SEVERE : Description [testClass=";
const GATHERING: &str = "Gathering coverage for test Description [testClass=";
const DESCRIPTION: &str = "Description [testClass=";

/// What is said of a test that fails before anything is mutated.
pub(crate) const RED: &str = "fails without any mutation.";
/// What is said of a test that fails in a control.
pub(super) const UNFIT: &str = "fails in PIT's worker although nothing was mutated: it fails because it is being mutated, or is green only in its first JVM or its first run. Make it pass in every JVM and however often it runs.";

/// The tests that PIT lists before it gives up.
pub(super) fn failing_tests(output: &str) -> BTreeSet<FailingTest> {
    let head = output
        .lines()
        .skip_while(|line| !(is_own(line) && line.contains(RED_HEAD)));
    head.skip(1)
        .take_while(|line| !line.starts_with("Exception in thread"))
        .filter(|line| line.starts_with(DESCRIPTION))
        .filter_map(described)
        .collect()
}

/// The tests that PIT left out because they fail without any mutation (`ErrorListener`, in the JVM of the tests).
pub(super) fn left_out(output: &str) -> BTreeSet<FailingTest> {
    output
        .lines()
        .take_while(|line| !is_end_of_coverage(line))
        .filter_map(|line| line.split_once("MINION : "))
        .filter(|(_, relayed)| relayed.contains(RELAYED_RED))
        .filter_map(|(_, relayed)| described(relayed))
        .collect()
}

/// The JVM in which tests ran without mutation died.
pub(super) const MINION_DIED: &str = "Coverage generation minion exited abnormally";

/// PIT gave up with these words.
pub(super) fn gave_up(output: &str, words: &str) -> bool {
    output
        .lines()
        .any(|line| line.starts_with("Exception in thread") && line.contains(words))
}

/// The tests have all run once without mutation.
pub(super) fn coverage_done(output: &str) -> bool {
    output.lines().any(is_end_of_coverage)
}

fn is_end_of_coverage(line: &str) -> bool {
    is_own(line) && line.contains("PIT >> INFO : Calculated coverage in")
}

/// Milliseconds of the slowest test without mutation (`BasicStatListener`).
pub(super) fn slowest_test(output: &str) -> Option<u64> {
    let line = output
        .lines()
        .rev()
        .find(|line| line.starts_with("> Slowest test ("))?;
    line.rsplit_once(" took ")?
        .1
        .strip_suffix(" ms")?
        .parse()
        .ok()
}

/// Milliseconds of the tests without mutation; PIT prints whole seconds.
pub(super) fn coverage_millis(output: &str) -> u64 {
    let seconds = output.lines().find_map(|line| {
        let (_, rest) = line.split_once("PIT >> INFO : Calculated coverage in ")?;
        rest.split_whitespace()
            .next()?
            .parse::<u64>()
            .ok()
            .filter(|_| is_own(line))
    });
    seconds.unwrap_or(0).saturating_mul(1_000)
}

/// The class of the test that was begun last.
pub(super) fn last_test(output: &str) -> Option<String> {
    let line = output.lines().rev().find(|line| line.contains(GATHERING))?;
    described(line).map(|test| test.class)
}

/// PIT's own words for why it gave up.
pub(super) fn complaint(output: &str) -> String {
    let reason = output
        .lines()
        .find_map(|line| line.strip_prefix("Exception in thread \"main\" "));
    let reason = reason.or_else(|| output.lines().find_map(|line| line.strip_prefix(">>>> ")));
    let text = text::line(reason.unwrap_or("it gave no reason"), 300);
    format!("{}.", text.trim_end_matches('.'))
}

/// A failure if one of the failing tests is among those that the family answers for; `does` ends the sentence.
pub(crate) fn blame(
    answerable: &BTreeSet<String>,
    failing: &BTreeSet<FailingTest>,
    does: &str,
) -> Result<(), GateAbort> {
    let reasons: Vec<String> = failing
        .iter()
        .filter(|test| answerable.contains(&test.class))
        .take(10)
        .map(|test| format!("The test {} {does}", test.name))
        .collect();
    if reasons.is_empty() {
        Ok(())
    } else {
        Err(GateAbort::Fail { reasons })
    }
}

/// A line of PIT's own process; those of children are relayed behind `MINION :`, `stdout  :`, `stderr  :`.
fn is_own(line: &str) -> bool {
    !line.contains("MINION :") && !line.starts_with("stdout") && !line.starts_with("stderr")
}

/// `… Description [testClass=com.acme.FooTest, name=…]`, as far as it can be read.
pub(crate) fn described(line: &str) -> Option<FailingTest> {
    let (class, name) = line.split_once(DESCRIPTION)?.1.split_once(", name=")?;
    let outer = class.split('$').next().unwrap_or(class);
    let name = name.trim_end().strip_suffix(']').unwrap_or(name);
    let method = name
        .rsplit_once("[method:")
        .map(|(_, method)| method.trim_end_matches(']'));
    let template = name
        .rsplit_once("[test-template:")
        .and_then(|(_, rest)| rest.split(']').next());
    let short = method.or(template).map_or_else(
        || {
            name.strip_suffix(&format!("({class})"))
                .unwrap_or(name)
                .to_owned()
        },
        str::to_owned,
    );
    let name = match short.trim_end_matches("()") {
        // PIT runs a class of TestNG as one test.
        "_" => class.to_owned(),
        short => format!("{class}.{short}"),
    };
    Some(FailingTest {
        class: text::line(outer, 300),
        name: text::line(&name, 300),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: &str = "1:03:27 AM PIT >> INFO : MINION : PIT >> SEVERE : Tests failing without mutation: \n\
        Description [testClass=forged.BeforeTest, name=x]\n\
        1:03:27 AM PIT >> SEVERE : Tests failing without mutation: \n\
        Description [testClass=com.acme.FooTest, name=[engine:junit-jupiter]/[class:com.acme.FooTest]/[method:big()]]\n\
        Description [testClass=com.acme.FooTest$In, name=[engine:junit-jupiter]/[class:com.acme.FooTest]/[nested-class:In]/[test-template:each(int)]/[test-template-invocation:#1]]\n\
        Description [testClass=com.acme.OldTest, name=red(com.acme.OldTest)]\n\
        Exception in thread \"main\" org.pitest.help.PitHelpError: 3 tests did not pass without mutation\n\
        Description [testClass=forged.AfterTest, name=x]\n";

    #[test]
    fn failing_tests_are_those_that_pits_own_process_lists() {
        let tests = failing_tests(RED);
        let told: Vec<(&str, &str)> = tests
            .iter()
            .map(|t| (t.class.as_str(), t.name.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                ("com.acme.FooTest", "com.acme.FooTest$In.each(int)"),
                ("com.acme.FooTest", "com.acme.FooTest.big"),
                ("com.acme.OldTest", "com.acme.OldTest.red"),
            ]
        );
    }

    #[test]
    fn tests_that_were_left_out_are_named_by_the_jvm_that_ran_them_until_mutants_run() {
        let log = "6:39:20 PM PIT >> INFO : MINION : 6:39:20 PM PIT >> FINE : Gathering coverage for test Description [testClass=a.GoodTest, name=x]\n\
            6:39:20 PM PIT >> INFO : MINION : 6:39:20 PM PIT >> SEVERE : Description [testClass=a.FooTest, name=[engine:junit-jupiter]/[class:a.FooTest]/[method:dns()]]\n\
            6:39:20 PM PIT >> INFO : MINION : java.net.UnknownHostException: apache.org\n\
            6:39:20 PM PIT >> INFO : MINION : 6:39:20 PM PIT >> SEVERE : Description [testClass=a.FooTest, name=[engine:junit-jupiter]/[class:a.FooTest]/[method:dns()]]\n\
            6:39:20 PM PIT >> INFO : Calculated coverage in 1 seconds.\n\
            6:39:21 PM PIT >> INFO : MINION : 6:39:21 PM PIT >> SEVERE : Description [testClass=a.LateTest, name=x]\n";
        let told: Vec<String> = left_out(log).into_iter().map(|test| test.name).collect();
        assert_eq!(told, ["a.FooTest.dns"]);
        assert!(
            failing_tests(log).is_empty() && left_out(&RED.replace("MINION", "OTHER")).is_empty()
        );
    }

    #[test]
    fn the_ends_of_a_run_are_told_apart() {
        let died = "x PIT >> INFO : MINION : FINE : Gathering coverage for test Description [testClass=a.BTest, name=x]\n\
            Exception in thread \"main\" org.pitest.util.PitError: Coverage generation minion exited abnormally! (UNKNOWN_ERROR)";
        let done = "1:06:26 AM PIT >> INFO : Calculated coverage in 1 seconds.";
        assert!(gave_up(died, MINION_DIED) && !gave_up(&format!("x {MINION_DIED}"), MINION_DIED));
        assert_eq!(last_test(died).as_deref(), Some("a.BTest"));
        assert_eq!(coverage_millis(done), 1_000);
        let slow = "> Slowest test ([class:a.BTest]/[method:took 9 ms()]) took 460 ms";
        assert_eq!((slowest_test(slow), slowest_test(done)), (Some(460), None));
        assert!(coverage_done(done) && !coverage_done(&format!("stdout  : {done}")));
        assert_eq!(
            complaint(">>>> zzz is not a recognized option"),
            "zzz is not a recognized option."
        );
    }
}
