//! The tests that the family changed, where there is nothing to mutate.
//!
//! An exit code of zero without a test run is no proof when a changed class holds tests.

use super::class_file::{is_abstract, named_classes};
use super::classes::ClassFiles;
use super::context::ModuleContext;
use super::scope::JavaPath;
use crate::gate::GateAbort;
use crate::source::text;
use regex_lite::Regex;
use std::collections::BTreeSet;

/// Names of what makes a class a test, as class files have them (`JUnit` 3 to 6, `TestNG`, jqwik, Spock).
const MARKS: [&str; 8] = [
    "/Test",
    "/ParameterizedTest",
    "/RepeatedTest",
    "/TestFactory",
    "/TestTemplate",
    "/Property",
    "junit/framework/TestCase",
    "spock/lang/Specification",
];

/// Maven's words when tests failed or their JVM died.
const SUREFIRE: &str = "Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin";

/// Runs the changed test classes of a module with its own Maven.
pub(crate) fn run_changed_tests(context: &ModuleContext<'_>) -> Result<(), GateAbort> {
    let classes: Vec<String> = context
        .module
        .changed_tests
        .iter()
        .filter_map(|path| JavaPath::parse_path(path)?.class_name())
        .filter(|class| {
            let file = context.tests().get(&class.replace('.', "/"));
            !file.is_some_and(|bytes| is_abstract(bytes))
        })
        .collect();
    if classes.is_empty() {
        return Ok(());
    }
    let call = context.maven.run_tests(&classes)?;
    let name = context.module_label();
    let summary = read_summary(&call.output);
    let ended = context.maven.check_end(&call);
    let is_transient = matches!(
        ended,
        Err(GateAbort::Error {
            transient: true,
            ..
        })
    );
    // The output of failing tests is no evidence about the build.
    if summary.is_some_and(|[_, red, _]| red > 0)
        || ended.is_err() && call.output.contains(SUREFIRE) && !is_transient
    {
        let mut reasons = vec![format!("Changed tests of {name} fail.")];
        reasons.extend(failed_tests(&call.output));
        return Err(GateAbort::Fail { reasons });
    }
    ended?;
    match summary {
        Some([run, _, skipped]) if run > skipped => Ok(()),
        Some([run, ..]) if run > 0 => Err(GateAbort::fail(format!(
            "The changed tests of {name} prove nothing: all {run} were skipped, disabled or assumed away."
        ))),
        Some(_) if !may_hold_tests(context.tests(), &classes) => Ok(()),
        _ => Err(GateAbort::setup(
            format!(
                "The build ran none of the changed test classes of {name}: {}.",
                text::names(&classes, 5)
            ),
            "Look in the build file for a configuration that skips or excludes them.",
        )),
    }
}

/// True unless neither these classes nor the classes of the tests that they lead to name what makes a test.
fn may_hold_tests(tests: &ClassFiles, classes: &[String]) -> bool {
    let mut open: Vec<String> = classes
        .iter()
        .map(|class| class.replace('.', "/"))
        .collect();
    let mut seen = BTreeSet::new();
    while let Some(class) = open.pop() {
        let Some(bytes) = tests.get(&class).filter(|_| seen.insert(class.clone())) else {
            continue;
        };
        let names = named_classes(bytes);
        if names.is_empty()
            || names
                .iter()
                .any(|name| MARKS.iter().any(|mark| name.ends_with(mark)))
        {
            return true;
        }
        open.extend(names);
    }
    false
}

/// The numbers of Surefire's last summary: tests that ran (the skipped ones among them), red ones, skipped ones.
fn read_summary(output: &str) -> Option<[u64; 3]> {
    let form = r"Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)";
    let last = Regex::new(form).ok()?.captures_iter(output).last()?;
    let (_, numbers): (_, [&str; 4]) = last.extract();
    let [run, failures, errors, skipped] = numbers.map(|number| number.parse::<u64>().ok());
    Some([run?, failures?.checked_add(errors?)?, skipped?])
}

/// Surefire's lines about failed tests, at most five.
fn failed_tests(output: &str) -> impl Iterator<Item = String> {
    let indented = output
        .lines()
        .filter_map(|line| line.strip_prefix("[ERROR]   "));
    indented.map(|test| text::line(test, 300)).take(5)
}

#[cfg(test)]
mod tests {
    use super::{failed_tests, read_summary};

    #[test]
    fn the_last_summary_and_the_failed_tests_are_read() {
        let output = "[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0\n[ERROR] Failures: \n\
            [ERROR]   FooTest.red:6 no\n[ERROR] Errors: \n[ERROR]   FooTest.boom:7 NullPointer\n\
            [ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 1\n[ERROR] Failed to execute goal x\n[ERROR] y";
        assert_eq!(read_summary(output), Some([3, 2, 1]));
        let failed: Vec<String> = failed_tests(output).collect();
        assert_eq!(failed, ["FooTest.red:6 no", "FooTest.boom:7 NullPointer"]);
    }
}
