//! The tests and the mutants that decide, with real PIT.

use super::direct_spawn::DirectSpawn;
use super::project::{JUnit, Project, reasons};
use super::{SUM, main_file, scores, test_file};
use crate::support::needs::tests;
use ralph::config::{ScopeKind, TestTiers};
use ralph::gate::{Checkouts, GatePorts, run_gate};
use ralph::mutation::{Coverage, GateReport, NoCoverage, Verdict};
use ralph::source::{ChangedLines, RepoPath};
use std::path::PathBuf;

const IMPORT: &str =
    "import static org.junit.jupiter.api.Assertions.*; import org.junit.jupiter.api.Test;";

/// Returns a class of four methods.
///
/// `add` is killed by the class's own test, `twice` by a test that reaches it through another class, `less` by one
/// that uses only reflection, `none` by no test.
fn sum() -> Project {
    let mut project = Project::scripted(JUnit::Five);
    let test = |name: &str, body: &str| {
        format!("{IMPORT} class {name} {{ @Test void one() throws Exception {{ {body} }} }}")
    };
    project
        .class(&main_file("Sum"), SUM)
        .class(
            &main_file("User"),
            "public class User { public int four(int a) { return new Sum().twice(new Sum().twice(a)); } }",
        )
        .class(&test_file("SumTest"), &test("SumTest", "assertEquals(5, new Sum().add(2, 3));"))
        .class(&test_file("UserTest"), &test("UserTest", "assertEquals(12, new User().four(3));"))
        .class(
            &test_file("FarTest"),
            &test(
                "FarTest",
                "Class<?> c = Class.forName(\"com.acme.S\" + \"um\"); assertEquals(1, \
                c.getMethod(\"less\", int.class).invoke(c.getConstructor().newInstance(), 8));",
            ),
        );
    project.changed(&[&main_file("Sum")]);
    project
}

/// Returns the same class without known durations of its tests.
fn unknown_sum() -> Project {
    let mut project = sum();
    project.request.cache = project.workspace().join("cache");
    project
}

fn tiers(report: &GateReport) -> Vec<String> {
    report
        .trace
        .tiers
        .iter()
        .map(|tier| format!("{} {}/{}", tier.name, tier.killed, tier.mutants))
        .collect()
}

fn each_tier_runs_only_when_the_one_before_does_not_suffice_and_all_kill_what_one_run_kills() {
    let mut project = sum();
    let all = project.run();
    assert_eq!(
        tiers(&all),
        ["own 2/9", "all 4/7"],
        "a FAIL needs no controls"
    );
    assert!(reasons(&all).contains("is 66% (6/9)"), "{:?}", all.verdict);
    project.settings.tests = TestTiers::All;
    let one = project.run();
    assert_eq!(
        (&one.verdict, &one.classes),
        (&all.verdict, &all.classes),
        "one run with all tests"
    );
    let told: Vec<_> = one
        .survivors
        .iter()
        .map(|s| (s.mutant.clone(), s.source.clone()))
        .collect();
    let tiered: Vec<_> = all
        .survivors
        .iter()
        .map(|s| (s.mutant.clone(), s.source.clone()))
        .collect();
    assert_eq!(told, tiered);
    assert_eq!(one.survivors.len(), 1, "one of a line: {told:?}");
    assert_eq!(
        one.survivors[0].source,
        "public boolean none(int a) { return a > 3; }"
    );
}

fn a_red_test_of_others_stays_out_at_once_and_its_green_neighbours_still_kill() {
    let mut project = unknown_sum();
    let far = test_file("FarTest");
    let green = fs_err::read_to_string(project.root().join(&far)).unwrap();
    let red = green.replace(
        "{ @Test void one",
        "{ @Test void red() { fail(); } @Test void one",
    );
    assert_ne!(red, green);
    project.write(&far, &red);
    project.settings.threshold = 60;
    let good = project.run();
    assert_eq!(good.verdict, Verdict::Pass, "{}", project.logs());
    assert_eq!(tiers(&good), ["own 2/9", "all 4/7", "control 4/4"]);
    assert_eq!(
        good.trace.tiers[2].tests,
        ["com.acme.FarTest", "com.acme.UserTest"],
        "those that killed"
    );
    let told =
        "Unrelated tests of p fail even without mutation and were excluded: com.acme.FarTest.red.";
    assert_eq!(good.remarks, [told]);
    assert_eq!(
        project.logs().matches("-all.log").count(),
        1,
        "{}",
        project.logs()
    );
}

/// Ralph's plugin has PIT start the first tests of a mutant, then quick classes as a whole. A JVM's first test is slow, so
/// there are many.
fn tests_of_a_class_that_runs_as_a_whole_kill_what_they_kill_alone_and_a_red_one_kills_nothing() {
    let each = |from: usize, text: &dyn Fn(usize) -> String| {
        (from..from + 12).map(text).collect::<String>()
    };
    let both = |text: &dyn Fn(usize) -> String| each(0, text) + &each(12, text);
    let calls = both(&|i| format!("new Wide().m{i}(1);"));
    let weak = |i: usize| format!("@Test void t{i}() {{ {calls} }}");
    let strong = |i: usize| {
        format!(
            "@Test void t{i}() {{ {calls} assertEquals({}, new Wide().m{i}(1)); }}",
            i + 3
        )
    };
    let methods = both(&|i| format!("int m{i}(int a) {{ return a + {}; }}", i + 2));
    let wide = format!(
        "class WideTest {{ {} @Nested class Inner {{ {} }} }}",
        each(0, &|i| if i < 6 { strong(i) } else { weak(i) }),
        each(12, &|i| if i < 18 { strong(i) } else { weak(i) })
    );
    let yonder = format!(
        "class YonderTest {{ @Test void red() {{ {calls} fail(); }} {} }}",
        both(&weak)
    );
    let import = format!("{IMPORT} import org.junit.jupiter.api.Nested;");
    let mut project = Project::scripted(JUnit::Five);
    project
        .class(
            &main_file("Wide"),
            &format!("public class Wide {{ {methods} }}"),
        )
        .class(&test_file("WideTest"), &format!("{import} {wide}"))
        .class(&test_file("YonderTest"), &format!("{import} {yonder}"));
    project.changed(&[&main_file("Wide")]);
    let report = project.run();
    assert!(
        reasons(&report).contains("is 50% (24/48)"),
        "{:?} {}",
        report.verdict,
        project.logs()
    );
    assert_eq!(tiers(&report), ["own 24/48", "all 0/24"]);
}

fn a_kill_that_needs_another_test_beside_it_meets_its_control_among_all_tests_of_the_tier() {
    let mut project = unknown_sum();
    let test = |name: &str, body: &str| {
        format!("{IMPORT} class {name} {{ static boolean on; @Test void one() {{ {body} }} }}")
    };
    project
        .class(
            &test_file("UserTest"),
            &test("UserTest", "new User().four(3); on = true;"),
        )
        .class(
            &test_file("FarTest"),
            &test(
                "FarTest",
                "int six = new Sum().twice(3); if (UserTest.on) assertEquals(6, six);",
            ),
        );
    project.settings.threshold = 30;
    let report = project.run();
    assert_eq!(
        report.verdict,
        Verdict::Pass,
        "{:?} {}",
        tiers(&report),
        project.logs()
    );
    let [_, search, alone, beside] = &report.trace.tiers[..] else {
        panic!("{:?}", tiers(&report))
    };
    assert!(
        search.killed > 0 && alone.killed == 0 && beside.killed > 0,
        "{:?}",
        tiers(&report)
    );
    assert_eq!((alone.tests_total, beside.tests_total), (1, 3));
}

/// The task's base, in another directory.
struct Base(PathBuf);

impl Checkouts for Base {
    fn check_out_base(&self, _package: &str) -> Result<Option<PathBuf>, String> {
        Ok(Some(self.0.clone()))
    }
}

/// Returns the report on a project with another base.
fn since(base: &Project, project: &Project) -> GateReport {
    let checkouts = Base(base.root());
    let ports = GatePorts {
        spawn: &DirectSpawn,
        progress: &|_| {},
        checkouts: &checkouts,
    };
    run_gate(&project.request, &project.settings, &ports)
}

fn lines_judge_what_changed_and_auto_keeps_the_score_that_the_class_had() {
    let mut project = sum();
    project.settings.scope = ScopeKind::Lines;
    project.settings.tests = TestTiers::All;
    let odd = ChangedLines::Ranges(vec![(6, 6)]);
    project.request.packages[0]
        .lines
        .insert(RepoPath::parse(&main_file("Sum")), odd);
    let weak = project.run();
    assert!(
        reasons(&weak).contains("No test reaches any of the 3 mutants"),
        "{:?}",
        weak.verdict
    );
    assert!(
        weak.survivors
            .iter()
            .all(|survivor| survivor.changed && survivor.mutant.line == 6)
    );

    let line = ChangedLines::Ranges(vec![(3, 3)]);
    project.request.packages[0]
        .lines
        .insert(RepoPath::parse(&main_file("Sum")), line);
    project.settings.scope = ScopeKind::Auto;
    let base = sum();
    let kept = since(&base, &project);
    assert_eq!(kept.verdict, Verdict::Pass, "{}", project.logs());
    assert_eq!(scores(&kept), ["com.acme.Sum 100% (2/2)"]);
    let floor = kept.classes[0].floor.expect("a floor");
    assert_eq!(
        (floor.base, floor.whole.coverage(NoCoverage::Survived)),
        (
            Coverage {
                killed: 6,
                total: 9
            },
            Coverage {
                killed: 6,
                total: 9
            }
        )
    );
    fs_err::remove_file(project.root().join(test_file("FarTest"))).unwrap();
    let fallen = since(&base, &project);
    assert!(
        reasons(&fallen).contains("as a whole is 44% (4/9); it was 66% (6/9) before the task"),
        "{:?}",
        fallen.verdict
    );
    assert!(
        fallen.trace.tiers.iter().all(|tier| tier.name != "base"),
        "the base was measured before: {:?}",
        tiers(&fallen)
    );
}

tests! {
    maven deep: [
        each_tier_runs_only_when_the_one_before_does_not_suffice_and_all_kill_what_one_run_kills,
        tests_of_a_class_that_runs_as_a_whole_kill_what_they_kill_alone_and_a_red_one_kills_nothing,
        a_red_test_of_others_stays_out_at_once_and_its_green_neighbours_still_kill,
        a_kill_that_needs_another_test_beside_it_meets_its_control_among_all_tests_of_the_tier,
        lines_judge_what_changed_and_auto_keeps_the_score_that_the_class_had,
    ]
}
