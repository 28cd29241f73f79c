//! The map of who touches what, with real Maven and real PIT.

use super::direct_spawn::DirectSpawn;
use super::project::{JUnit, Pom, Project};
use super::{SUM, main_file, test_file};
use crate::support::needs::tests;
use ralph::config::TestTiers;
use ralph::gate::{Checkouts, GatePorts, run};
use ralph::mutation::{GateReport, Verdict};
use std::path::{Path, PathBuf};

/// A checkout of commits, of which all that is not Java has this digest.
struct Commit(&'static str);

impl Checkouts for Commit {
    fn base(&self, _package: &str) -> Result<Option<PathBuf>, String> {
        Ok(None)
    }

    fn other_files(&self, _root: &Path) -> Option<String> {
        Some(self.0.to_owned())
    }
}

/// `name: the tests that were asked` of each tier, idle ones not named.
fn asked(report: &GateReport) -> Vec<String> {
    let tier = |tier: &ralph::mutation::TraceTier| {
        let names = tier.tests.iter().map(|test| test.trim_start_matches("com.acme."));
        let named: Vec<&str> = names.filter(|test| !test.starts_with("Idle")).collect();
        format!("{}: {}", tier.name, named.join(" "))
    };
    report.trace.tiers.iter().map(tier).collect()
}

pub(super) fn judge(project: &Project, other_files: &'static str) -> GateReport {
    let ports = GatePorts { spawn: &DirectSpawn, progress: &|_| {}, checkouts: &Commit(other_files) };
    run(&project.request, &project.settings, &ports)
}

/// A class with a static initialiser.
fn other(name: &str, result: &str) -> String {
    format!(
        "public class Other {{ static final java.util.List<String> NAMES = new java.util.ArrayList<>(java.util.List.of(\"{name}\"));\n\
         public int run(int a) {{ return {result}; }} }}"
    )
}

/// `Sum` is used by its own test, through `User`, and by reflection; `Other` does not use it yet. Eight tests are idle.
fn many(junit: JUnit) -> Project {
    let mut project = Project::new();
    project.write("pom.xml", &Pom::new("mapped", junit).text());
    let (test, assert) = match junit {
        JUnit::Four => ("org.junit.Test", "org.junit.Assert"),
        _ => ("org.junit.jupiter.api.Test", "org.junit.jupiter.api.Assertions"),
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
        write(&format!("Idle{number}Test"), "assertEquals(0, Fixture.of());");
    }
    project.class(&test_file("Fixture"), "public class Fixture { public static int of() { return 0; } }");
    project.changed(&[&main_file("Sum")]);
    project
}

/// Beside the own test that of the class that calls it.
const NEAR: &str = "near: UserTest";

fn a_pass_by_the_own_tests_of_callers_needs_no_map() {
    let mut project = many(JUnit::Five);
    project.settings.threshold = 10;
    let passed = judge(&project, "one");
    assert_eq!((&passed.verdict, asked(&passed)), (&Verdict::Pass, vec!["own: SumTest".into(), NEAR.into()]));
}

fn a_fail_makes_the_map_and_later_ones_ask_those_that_can_matter_with_the_kills_of_all_tests() {
    let mut project = many(JUnit::Five);
    let first = judge(&project, "one");
    let all = "all: FarTest Fixture OtherTest SumTest UserTest";
    assert_eq!(asked(&first), ["own: SumTest", NEAR, all], "{}", project.logs());
    assert!(first.trace.tiers[2].note.contains("there is no map yet"), "{:?}", first.trace);
    let second = judge(&project, "one");
    assert_eq!(asked(&second), ["own: SumTest", "touching: FarTest UserTest"]);
    assert_eq!((&second.verdict, &second.classes), (&first.verdict, &first.classes));
    let told = "3 of the 13 test classes of p/. were asked: by the map made of commit 00000000, no other touches what is judged.";
    assert_eq!(second.remarks, [told]);

    // A new caller whose test was never seen to touch the class.
    project.class(&main_file("Other"), &other("a", "new Sum().less(a)"));
    let called = judge(&project, "one");
    assert_eq!(asked(&called), ["own: SumTest", "touching: FarTest OtherTest UserTest"]);
    project.settings.tests = TestTiers::All;
    assert_eq!(judge(&project, "one").classes, called.classes, "one run with all tests");
    project.settings.tests = TestTiers::OwnFirst;

    project.request.confirms = true;
    let confirmed = judge(&project, "one");
    assert_eq!(asked(&confirmed)[2..], [all], "a FAIL that blocks is that of all tests");
    project.request.confirms = false;

    // A fixture that now uses the class: everybody who names it is asked, here most of the tests.
    let uses = "public class Fixture { public static int of() { return new Sum().none(5) ? 0 : 1; } }";
    project.class(&test_file("Fixture"), uses);
    let fixed = judge(&project, "one");
    assert_eq!(asked(&fixed), ["own: SumTest", all]);
    assert!(fixed.trace.tiers[1].note.contains("can touch what is judged"), "{:?}", fixed.trace);
    let killed = |report: &GateReport| report.classes[0].tally.killed;
    assert!(killed(&fixed) > killed(&called), "{fixed:?}");
    assert!(judge(&project, "two").trace.tiers[1].note.contains("other than Java"), "a changed resource");
    project.class(&main_file("Other"), &other("b", "new Sum().less(a)"));
    let initialised = judge(&project, "two").trace.tiers.remove(1);
    let once = "<clinit>()V of com.acme.Other differs from the map, and runs once for all tests";
    assert!(initialised.note.contains(once), "{initialised:?}");
}

fn junit_4_turns_its_order_round_too() {
    let mut project = many(JUnit::Four);
    project.request.makes_map = true;
    assert_eq!(
        judge(&project, "one").trace.tiers.len(),
        1,
        "all were asked at once, since the map was asked for"
    );
    let second = judge(&project, "one");
    assert_eq!(asked(&second), ["own: SumTest", "touching: FarTest UserTest"], "{}", project.logs());
}

fn a_red_test_of_others_does_not_cost_the_map_that_was_asked_for() {
    let mut project = many(JUnit::Five);
    let red = "import org.junit.jupiter.api.Test; import static org.junit.jupiter.api.Assertions.*;\n\
               public class OfflineTest { @Test public void one() { assertEquals(1, Fixture.of()); } }";
    project.class(&test_file("OfflineTest"), red);
    project.request.makes_map = true;
    let first = judge(&project, "one");
    let tiers: Vec<&str> = first.trace.tiers.iter().map(|tier| tier.name.as_str()).collect();
    assert_eq!(tiers, ["all", "touching"], "red beside a second run, the test is asked again alone");
    let second = judge(&project, "one");
    assert_eq!(
        asked(&second),
        ["own: SumTest", "touching: FarTest OfflineTest UserTest"],
        "{}",
        project.logs()
    );
}

fn tests_that_bear_no_company_get_their_map_by_two_runs_in_turn() {
    let project = many(JUnit::Five);
    let alone = format!(
        "import org.junit.jupiter.api.Test; import static org.junit.jupiter.api.Assertions.*;\n\
         import java.nio.charset.StandardCharsets; import java.nio.file.*; import java.util.stream.Stream;\n\
         public class SumTest {{\n\
         static boolean isBeside(Path process) {{ try {{\n\
         String words = Files.readString(process.resolve(\"cmdline\"), StandardCharsets.ISO_8859_1);\n\
         return words.contains(\"-Dralph.map=only\") && words.contains(\"{}\");\n\
         }} catch (java.io.IOException e) {{ return false; }} }}\n\
         @Test public void one() throws Exception {{ new Sum().add(2, 3);\n\
         Path own = Path.of(\"/proc\", \"\" + ProcessHandle.current().parent().get().pid());\n\
         if (!isBeside(own)) try (Stream<Path> all = Files.list(Path.of(\"/proc\"))) {{\n\
         assertTrue(all.noneMatch(SumTest::isBeside)); }} }} }}",
        project.workspace().display()
    );
    project.class(&test_file("SumTest"), &alone);
    let first = judge(&project, "one");
    assert!(first.remarks.iter().all(|remark| !remark.contains("no map")), "{:?}", first.remarks);
    let second = judge(&project, "one");
    assert_eq!(asked(&second), ["own: SumTest", "touching: FarTest UserTest"], "{}", project.logs());
}

tests! {
    maven: [
        a_pass_by_the_own_tests_of_callers_needs_no_map,
        tests_that_bear_no_company_get_their_map_by_two_runs_in_turn,
        a_fail_makes_the_map_and_later_ones_ask_those_that_can_matter_with_the_kills_of_all_tests,
        junit_4_turns_its_order_round_too,
        a_red_test_of_others_does_not_cost_the_map_that_was_asked_for,
    ]
}
