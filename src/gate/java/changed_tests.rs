//! The tests that the family changed, where there is nothing to mutate.
//!
//! An exit code of zero without a test run is no proof when a changed class holds tests.

use super::class_file::{is_abstract, named_classes};
use super::classes::ClassFiles;
use super::context::ModuleContext;
use super::maven::TroubleKind;
use super::scope::JavaPath;
use crate::gate::GateAbort;
use crate::gate::commands::FinishedCall;
use crate::source::text;
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
    let summary = read_summary(&call);
    if call.end.is_success() {
        return match summary {
            Some(Summary { red, .. }) if red > 0 => Err(GateAbort::fail(format!(
                "{red} of the changed tests of {name} fail."
            ))),
            Some(Summary { run, skipped, .. }) if run > skipped => Ok(()),
            Some(Summary { run, .. }) if run > 0 => Err(GateAbort::fail(format!(
                "The changed tests of {name} prove nothing: all {run} were skipped, disabled or assumed away."
            ))),
            Some(_)
                if !classes
                    .iter()
                    .any(|class| may_hold_tests(context.tests(), class)) =>
            {
                Ok(())
            }
            _ => Err(GateAbort::setup(
                format!(
                    "The build ran none of the changed test classes of {name}: {}.",
                    text::names(&classes, 5)
                ),
                "Look in the build file for a configuration that skips or excludes them.",
            )),
        };
    }
    // The output of failing tests is no evidence about the build.
    let is_red = summary.is_some_and(|summary| summary.red > 0);
    match context.maven.find_trouble(&call) {
        Some(trouble)
            if is_red || trouble.kind == TroubleKind::Other && call.output.contains(SUREFIRE) =>
        {
            let mut reasons = vec![format!("Changed tests of {name} fail.")];
            reasons.extend(failed_tests(&call));
            Err(GateAbort::Fail { reasons })
        }
        Some(trouble) => {
            let module = context.module;
            let package = &context.context.package.name;
            Err(trouble.into_abort(package, &module.dir, module.build_changed))
        }
        None => Ok(()),
    }
}

/// True unless neither the class nor any class of the tests that it leads to names what makes a test.
fn may_hold_tests(tests: &ClassFiles, class: &str) -> bool {
    let mut open = vec![class.replace('.', "/")];
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

/// Surefire's last summary: tests run (the skipped ones among them), failures and errors together.
#[derive(Debug, PartialEq, Eq)]
struct Summary {
    run: u64,
    red: u64,
    skipped: u64,
}

fn read_summary(call: &FinishedCall) -> Option<Summary> {
    call.output.lines().rev().find_map(|line| {
        let line = text::line(line, 400);
        let at = line.find("Tests run: ")?;
        let number = |name: &str| -> Option<u64> {
            let rest = line[at..].split_once(name)?.1;
            let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
            digits.parse().ok()
        };
        let red = number("Failures: ")? + number("Errors: ")?;
        Some(Summary {
            run: number("Tests run: ")?,
            red,
            skipped: number("Skipped: ")?,
        })
    })
}

/// Surefire's lines about failed tests, at most five.
fn failed_tests(call: &FinishedCall) -> impl Iterator<Item = String> {
    let lines = call.output.lines();
    let indented = lines.filter_map(|line| line.strip_prefix("[ERROR]   "));
    indented.map(|test| text::line(test, 300)).take(5)
}

#[cfg(test)]
mod tests {
    use super::{Summary, failed_tests, read_summary};
    use crate::gate::commands::FinishedCall;
    use crate::machine::facts::ProcessEnd;

    #[test]
    fn the_last_summary_and_the_failed_tests_are_read() {
        let output = "[INFO] Tests run: 1, Failures: 0, Errors: 0, Skipped: 0\n[ERROR] Failures: \n\
            [ERROR]   FooTest.red:6 no\n[ERROR] Errors: \n[ERROR]   FooTest.boom:7 NullPointer\n\
            [ERROR] Tests run: 3, Failures: 1, Errors: 1, Skipped: 1\n[ERROR] Failed to execute goal x\n[ERROR] y";
        let call = FinishedCall {
            end: ProcessEnd::Exited { code: 1 },
            output: output.to_owned(),
            millis: 0,
        };
        let summary = Summary {
            run: 3,
            red: 2,
            skipped: 1,
        };
        assert_eq!(read_summary(&call), Some(summary));
        let failed: Vec<String> = failed_tests(&call).collect();
        assert_eq!(failed, ["FooTest.red:6 no", "FooTest.boom:7 NullPointer"]);
    }
}
