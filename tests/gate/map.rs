//! The map of the code that each test executes, with real PIT.

use super::direct_spawn::DirectSpawn;
use super::project::{JUnit, Project};
use super::{SUM, main_file, test_file};
use crate::support::needs::tests;
use ralph::config::TestTiers;
use ralph::gate::{Checkouts, GatePorts, run_gate};
use ralph::mutation::GateReport;
use std::path::{Path, PathBuf};

/// A checkout of commits whose files other than Java have this digest.
struct Commit(&'static str);

impl Checkouts for Commit {
    fn check_out_base(&self, _package: &str) -> Result<Option<PathBuf>, String> {
        Ok(None)
    }

    fn other_files(&self, _root: &Path) -> Option<String> {
        Some(self.0.to_owned())
    }
}

/// Returns `name: tests` for each tier, without idle ones.
fn asked(report: &GateReport) -> Vec<String> {
    let tier = |tier: &ralph::mutation::TraceTier| {
        let names = tier
            .tests
            .iter()
            .map(|test| test.trim_start_matches("com.acme."));
        let named: Vec<&str> = names.filter(|test| !test.starts_with("Idle")).collect();
        format!("{}: {}", tier.name, named.join(" "))
    };
    report.trace.tiers.iter().map(tier).collect()
}

pub(super) fn judge(project: &Project, other_files: &'static str) -> GateReport {
    let ports = GatePorts {
        spawn: &DirectSpawn,
        progress: &|_| {},
        checkouts: &Commit(other_files),
    };
    run_gate(&project.request, &project.settings, &ports)
}

/// Returns a class with a static initialiser.
fn other(name: &str, result: &str) -> String {
    format!(
        "public class Other {{ static final java.util.List<String> NAMES = new java.util.ArrayList<>(java.util.List.of(\"{name}\"));\n\
         public int run(int a) {{ return {result}; }} }}"
    )
}

/// Returns a project where `Sum` is used by its own test, through `User`, and by reflection.
///
/// `Other` does not use it yet. Eight tests are idle.
fn many(junit: JUnit) -> Project {
    let mut project = Project::scripted(junit);
    let (test, assert) = match junit {
        JUnit::Four => ("org.junit.Test", "org.junit.Assert"),
        _ => (
            "org.junit.jupiter.api.Test",
            "org.junit.jupiter.api.Assertions",
        ),
    };
    let write = |name: &str, body: &str| {
        let text = format!(
            "import {test}; import static {assert}.*;\n\
             public class {name} {{ @Test public void one() throws Exception {{ {body} }} }}"
        );
        project.class(&test_file(name), &text);
    };
    project
        .class(&main_file("Sum"), SUM)
        .class(
            &main_file("User"),
            "public class User { public int four(int a) { return new Sum().twice(a) * 2; } }",
        )
        .class(&main_file("Other"), &other("a", "a - 7"));
    write("SumTest", "new Sum().add(2, 3);");
    write("UserTest", "assertEquals(12, new User().four(3));");
    write(
        "FarTest",
        "Class<?> c = Class.forName(\"com.acme.S\" + \"um\"); assertEquals(1, \
         c.getMethod(\"less\", int.class).invoke(c.getConstructor().newInstance(), 8));",
    );
    write("OtherTest", "assertEquals(5, new Other().run(12));");
    for number in 1..9 {
        write(
            &format!("Idle{number}Test"),
            "assertEquals(0, Fixture.of());",
        );
    }
    project.class(
        &test_file("Fixture"),
        "public class Fixture { public static int of() { return 0; } }",
    );
    project.changed(&[&main_file("Sum")]);
    project
}

/// The caller's test, in addition to the own test.
const NEAR: &str = "near: UserTest";

fn a_fail_makes_the_map_and_later_ones_ask_those_that_can_matter_with_the_kills_of_all_tests() {
    let mut project = many(JUnit::Five);
    let first = judge(&project, "one");
    let all = "all: FarTest Fixture OtherTest SumTest UserTest";
    assert_eq!(
        asked(&first),
        ["own: SumTest", NEAR, all],
        "{}",
        project.logs()
    );
    assert!(
        first.trace.tiers[2].note.contains("makes the coverage map"),
        "{:?}",
        first.trace
    );

    // A new caller whose test was never observed to touch the class.
    project.class(&main_file("Other"), &other("a", "new Sum().less(a)"));
    let called = judge(&project, "one");
    assert_eq!(
        asked(&called),
        ["own: SumTest", "touching: FarTest OtherTest UserTest"]
    );
    project.settings.tests = TestTiers::All;
    assert_eq!(
        judge(&project, "one").classes,
        called.classes,
        "one run with all tests"
    );
}

fn a_red_test_of_others_costs_no_map_with_junit_4() {
    let mut project = many(JUnit::Four);
    let red = "import org.junit.Test; import static org.junit.Assert.*;\n\
               public class OfflineTest { @Test public void one() { assertEquals(1, Fixture.of()); } }";
    project.class(&test_file("OfflineTest"), red);
    project.request.makes_map = true;
    let first = judge(&project, "one");
    let tiers: Vec<&str> = first
        .trace
        .tiers
        .iter()
        .map(|tier| tier.name.as_str())
        .collect();
    assert_eq!(tiers, ["all"], "all at once, since the map was requested");
    let second = judge(&project, "one");
    assert_eq!(
        asked(&second),
        ["own: SumTest", "touching: FarTest OfflineTest UserTest"],
        "{}",
        project.logs()
    );
}

tests! {
    maven deep: [
        a_fail_makes_the_map_and_later_ones_ask_those_that_can_matter_with_the_kills_of_all_tests,
        a_red_test_of_others_costs_no_map_with_junit_4,
    ]
}
