//! The tests that the family changed, where there is nothing to mutate.
//!
//! An exit code of zero without a test run is no proof when a changed class holds tests.

use super::context::ModuleContext;
use super::maven::TroubleKind;
use super::scope::JavaPath;
use crate::gate::GateAbort;
use crate::gate::commands::{Call, read_text};
use crate::source::text;
use std::path::Path;

/// Marks of a source that holds tests (`JUnit` 3 to 6, `TestNG`, jqwik, Spock).
const MARKS: [&str; 8] = [
    "@Test",
    "@ParameterizedTest",
    "@RepeatedTest",
    "@TestFactory",
    "@TestTemplate",
    "@Property",
    "extends TestCase",
    "spock.lang.",
];

/// Maven's words when tests failed or their JVM died.
const SUREFIRE: &str = "Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin";

/// Runs the changed test classes of a module with its own Maven.
pub(crate) fn pass(context: &ModuleContext<'_>) -> Result<(), GateAbort> {
    let package = context.context.package;
    let classes: Vec<String> = context
        .module
        .changed_tests
        .iter()
        .filter(|path| holds_tests(&package.root.join(path)))
        .filter_map(|path| JavaPath::read(path)?.class())
        .collect();
    if classes.is_empty() {
        return Ok(());
    }
    let call = context.maven.test(&classes)?;
    let name = context.label();
    let summary = summary(&call);
    if call.end.is_success() {
        return match summary {
            Some(Summary { red, .. }) if red > 0 => {
                Err(GateAbort::fail(format!("{red} of the changed tests of {name} fail.")))
            }
            Some(Summary { run, skipped, .. }) if run > skipped => Ok(()),
            Some(Summary { run, .. }) if run > 0 => Err(GateAbort::fail(format!(
                "The changed tests of {name} prove nothing: all {run} were skipped, disabled or assumed away."
            ))),
            _ => Err(GateAbort::setup(
                format!(
                    "The build ran none of the changed test classes of {name}: {}.",
                    text::names(&classes, 5)
                ),
                "Look in the build file for a configuration that skips or excludes them.",
            )),
        };
    }
    let tests_failed = call.output.contains(SUREFIRE) || summary.is_some_and(|summary| summary.red > 0);
    match context.maven.trouble(&call) {
        Some(trouble) if trouble.kind == TroubleKind::Other && tests_failed => {
            let mut reasons = vec![format!("Changed tests of {name} fail.")];
            reasons.extend(failures(&call));
            Err(GateAbort::Fail { reasons })
        }
        Some(trouble) => Err(context.abort(trouble)),
        None => Ok(()),
    }
}

fn holds_tests(file: &Path) -> bool {
    let source = read_text(file, u64::MAX);
    MARKS.iter().any(|mark| source.contains(mark)) && !source.contains("abstract class")
}

/// Surefire's last summary: tests run (the skipped ones among them), failures and errors together.
#[derive(Debug, PartialEq, Eq)]
struct Summary {
    run: u64,
    red: u64,
    skipped: u64,
}

fn summary(call: &Call) -> Option<Summary> {
    call.output.lines().rev().find_map(|line| {
        let line = text::line(line, 400);
        let at = line.find("Tests run: ")?;
        let number = |name: &str| -> Option<u64> {
            let rest = line[at..].split_once(name)?.1;
            rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        let red = number("Failures: ")? + number("Errors: ")?;
        Some(Summary { run: number("Tests run: ")?, red, skipped: number("Skipped: ")? })
    })
}

/// Surefire's lines about failed tests, at most five.
fn failures(call: &Call) -> Vec<String> {
    let lines = call.output.lines().map(|line| text::line(line, 300));
    let block = lines.skip_while(|line| !(line.ends_with("Failures:") || line.ends_with("Errors:")));
    block
        .filter_map(|line| line.strip_prefix("[ERROR] ").map(|text| text.trim().to_owned()))
        .filter(|text| !text.is_empty() && !text.ends_with(':') && !text.starts_with("Tests run"))
        .take_while(|text| !text.starts_with("Failed to execute goal"))
        .take(5)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Summary, failures, summary};
    use crate::gate::commands::Call;
    use crate::machine::facts::ProcessEnd;

    #[test]
    fn the_last_summary_and_the_failed_tests_are_read() {
        let output = "[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0\n[ERROR] Failures: \n\
            [ERROR]   FooTest.red:6 no\n[ERROR] Errors: \n[ERROR]   FooTest.boom:7 NullPointer\n\
            [ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 1\n[ERROR] Failed to execute goal x\n[ERROR] y";
        let call = Call { end: ProcessEnd::Exited { code: 1 }, output: output.to_owned(), millis: 0 };
        assert_eq!(summary(&call), Some(Summary { run: 3, red: 2, skipped: 1 }));
        assert_eq!(failures(&call), ["FooTest.red:6 no", "FooTest.boom:7 NullPointer"]);
    }
}
