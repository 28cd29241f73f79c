//! What a run would pass over, and why.
//!
//! Owns: the reasons: no build tool that the mutation gate knows, no tests, no checks, optional boxes.
//!
//! Promises: says only what configuration and files show; nothing of it is wrong by itself.
//!
//! Refuses to know: which changes a task will make.

use super::super::workspace::Workspace;
use super::needs::{Needs, Package};
use super::{Finding, State};
use crate::config::GateEngine;

/// Everything that would be passed over.
pub(super) fn skips(workspace: &Workspace, needs: &Needs) -> Vec<Finding> {
    let settings = &workspace.settings;
    let mut findings = Vec::new();
    let mut skip = |name: &str, what: String, hint: &str| {
        findings.push(Finding::new("skip", name, State::Skipped, what).hint(hint));
    };
    for (name, gate) in &settings.gates {
        if matches!(gate.engine, GateEngine::Command(_)) {
            continue;
        }
        for (package, facts) in &needs.packages {
            if let Some((what, hint)) = unjudged(package, facts) {
                skip(name, what, hint);
            }
        }
    }
    if settings.checks.red.is_none() {
        skip("checks.red", "tests of TEST-FIRST are not asked to fail first".to_owned(), "");
    }
    if settings.checks.green.is_none() {
        let hint = "set checks.green to the command that runs the tests";
        skip("checks.green", "a checkpoint with nothing to commit waits for `ralph accept`".to_owned(), hint);
    }
    if let Ok(state) = workspace.read_state() {
        let optional = state.book().rows.iter().filter(|row| row.optional && row.mark.is_open()).count();
        if optional > 0 {
            let what =
                if optional == 1 { "1 optional box is" } else { &format!("{optional} optional boxes are") };
            skip("optional", format!("{what} left open"), "`ralph run --optional` takes them, too");
        }
    }
    findings
}

/// Why the mutation gate has nothing to say about a package.
fn unjudged(name: &str, package: &Package) -> Option<(String, &'static str)> {
    let other = "`gates.<NAME>.run` makes any command a gate";
    if package.has(&["pom.xml"]) {
        let tests = "classes without a test class are left out until TEST-FIRST writes one";
        return (!package.java_tests).then(|| (format!("{name} has no test class of Java yet"), tests));
    }
    if package.has(&["build.gradle", "build.gradle.kts"]) {
        let what = format!(
            "{name} is built by Gradle, which the mutation gate cannot measure: it gives no verdict there"
        );
        return Some((what, other));
    }
    Some((format!("{name} has no pom.xml: changes there are not mutated"), other))
}
