//! The tests that the family changed, where there is nothing to mutate.
//!
//! An exit code of zero without a test run is no proof when a changed class holds tests.

use super::class_file::{is_abstract, named_classes};
use super::classes::{read_class, read_file};
use super::context::ModuleContext;
use super::maven::TroubleKind;
use super::scope::JavaPath;
use crate::gate::GateAbort;
use crate::gate::commands::FinishedCall;
use crate::source::text;
use std::collections::BTreeSet;
use std::path::Path;

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
    let folder = Path::new(&context.built.project.test_classes);
    let classes: Vec<String> = context
        .module
        .changed_tests
        .iter()
        .filter_map(|path| JavaPath::parse_path(path)?.class_name())
        .filter(|class| !is_abstract(&read_class(folder, class)))
        .collect();
    if classes.is_empty() {
        return Ok(());
    }
    let call = context.maven.run_tests(&classes)?;
    let name = context.module_label();
    let summary = summary(&call);
    if call.end.is_success() {
        return match summary {
            Some(Summary { red, .. }) if red > 0 => Err(GateAbort::fail(format!(
                "{red} of the changed tests of {name} fail."
            ))),
            Some(Summary { run, skipped, .. }) if run > skipped => Ok(()),
            Some(Summary { run, .. }) if run > 0 => Err(GateAbort::fail(format!(
                "The changed tests of {name} prove nothing: all {run} were skipped, disabled or assumed away."
            ))),
            Some(_) if !classes.iter().any(|class| may_hold_tests(folder, class)) => Ok(()),
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
            reasons.extend(failures(&call));
            Err(GateAbort::Fail { reasons })
        }
        Some(trouble) => Err(context.abort_for(trouble)),
        None => Ok(()),
    }
}

/// True unless neither the class nor any class of the tests that it leads to names what makes a test.
fn may_hold_tests(folder: &Path, class: &str) -> bool {
    let mut seen = BTreeSet::from([class.replace('.', "/")]);
    let mut open: Vec<String> = seen.iter().cloned().collect();
    while let Some(class) = open.pop() {
        let Ok(bytes) = read_file(&folder.join(format!("{class}.class"))) else {
            continue;
        };
        let names = named_classes(&bytes);
        if names.is_empty()
            || names
                .iter()
                .any(|name| MARKS.iter().any(|mark| name.ends_with(mark)))
        {
            return true;
        }
        let of_tests = names
            .into_iter()
            .filter(|name| folder.join(format!("{name}.class")).is_file());
        open.extend(of_tests.filter(|name| seen.insert(name.clone())));
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

fn summary(call: &FinishedCall) -> Option<Summary> {
    call.output.lines().rev().find_map(|line| {
        let line = text::line(line, 400);
        let at = line.find("Tests run: ")?;
        let number = |name: &str| -> Option<u64> {
            let rest = line[at..].split_once(name)?.1;
            rest.split(|c: char| !c.is_ascii_digit())
                .next()?
                .parse()
                .ok()
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
fn failures(call: &FinishedCall) -> Vec<String> {
    let lines = call.output.lines().map(|line| text::line(line, 300));
    let block =
        lines.skip_while(|line| !(line.ends_with("Failures:") || line.ends_with("Errors:")));
    block
        .filter_map(|line| {
            line.strip_prefix("[ERROR] ")
                .map(|text| text.trim().to_owned())
        })
        .filter(|text| !text.is_empty() && !text.ends_with(':') && !text.starts_with("Tests run"))
        .take_while(|text| !text.starts_with("Failed to execute goal"))
        .take(5)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Summary, failures, summary};
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
        assert_eq!(
            summary(&call),
            Some(Summary {
                run: 3,
                red: 2,
                skipped: 1
            })
        );
        assert_eq!(
            failures(&call),
            ["FooTest.red:6 no", "FooTest.boom:7 NullPointer"]
        );
    }
}
