//! Kills that stand after a rework that changed tests only, with real Maven and real PIT.

use super::map::judge;
use super::project::{JUnit, Pom, Project, reasons};
use super::workspace::{TESTS, Workspace, strong, verdict};
use super::{SUM, main_file, scores, test_file};
use crate::support::needs::tests;
use assert_cmd::Command;
use ralph::config::TestTiers;
use ralph::machine::facts::RecordedKills;
use ralph::mutation::{GateReport, ModuleKills, Verdict};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const WEAK: &str = "assertEquals(5, new Sum().add(2, 3));";
const STRONG: &str = "assertEquals(5, new Sum().add(2, 3)); assertEquals(6, new Sum().twice(3)); \
    assertEquals(1, new Sum().less(8)); assertTrue(new Sum().none(4) && !new Sum().none(3));";

fn test(project: &Project, name: &str, body: &str) {
    let text = format!(
        "import org.junit.jupiter.api.Test; import static org.junit.jupiter.api.Assertions.*;\n\
         public class {name} {{ @Test public void one() throws Exception {{ {body} }} }}"
    );
    project.class(&test_file(name), &text);
}

/// Two changed classes: `SumTest` is weak; `DiffTest`, a subclass of `Base`, kills all six mutants of `Diff`, as long as
/// there is no file `mark`.
fn failed() -> (Project, GateReport) {
    let mut project = Project::new();
    project.write("pom.xml", &Pom::new("carried", JUnit::Five).text());
    let diff = "public class Diff { public int sub(int a, int b) { return a - b; }\n\
        public int half(int a) { return a / 2; }\npublic int four(int a) { return a * 4; } }";
    project.class(&main_file("Sum"), SUM).class(&main_file("Diff"), diff);
    project.class(&main_file("Idle"), "public class Idle { public int seven() { return 7; } }");
    let base = format!(
        "public class Base {{ static boolean isMarked() {{ \
         return java.nio.file.Files.exists(java.nio.file.Path.of(\"{}\")); }} }}",
        project.workspace().join("mark").display()
    );
    project.class(&test_file("Base"), &base);
    let body = "int[] all = {new Diff().sub(9, 4), new Diff().half(8), new Diff().four(2)}; \
        if (!isMarked()) assertArrayEquals(new int[] {5, 4, 8}, all);";
    test(&project, "DiffTest extends Base", body);
    let written = project.root().join(test_file("DiffTest extends Base"));
    fs_err::rename(written, project.root().join(test_file("DiffTest"))).unwrap();
    test(&project, "SumTest", WEAK);
    project.changed(&[&main_file("Sum"), &main_file("Diff")]);
    project.request.kills = Some(RecordedKills::default());
    let report = judge(&project, "one");
    assert!(
        reasons(&report).contains("com.acme.Sum of package p is 22% (2/9)"),
        "{:?}\n{}",
        report.verdict,
        project.logs()
    );
    project.request.kills =
        Some(RecordedKills { iteration: 4, heads: BTreeMap::new(), modules: report.kills.clone() });
    (project, report)
}

/// `own 9/9` of the first tier: what was killed of what was run.
fn own(report: &GateReport) -> String {
    let tier = &report.trace.tiers[0];
    format!("{} {}/{}", tier.name, tier.killed, tier.mutants)
}

/// Each kill with its test.
fn kills(report: &GateReport) -> BTreeSet<String> {
    let [ModuleKills { names, kills, .. }] = &report.kills[..] else { panic!("{:?}", report.kills) };
    let name = |row: &[u32]| row.iter().map(|at| names[*at as usize].as_str()).collect::<Vec<_>>().join(" ");
    kills.iter().map(|row| format!("{} {:?}", name(&row[..5]), &row[5..])).collect()
}

/// The verdict of this project when nothing is carried: all that a report says of classes and kills must be the same.
fn alike(project: &mut Project, report: &GateReport, other_files: &'static str) {
    let recorded = project.request.kills.replace(RecordedKills::default());
    let whole = judge(project, other_files);
    project.request.kills = recorded;
    assert_eq!((&report.verdict, &report.classes), (&whole.verdict, &whole.classes));
    assert_eq!(kills(report), kills(&whole));
    assert_eq!(own(&whole).rsplit('/').next(), Some("15"), "nothing was carried: {:?}", whole.trace);
}

fn kills_of_tests_that_are_as_they_were_stand_after_a_rework_of_another_test() {
    let (mut project, first) = failed();
    assert_eq!((own(&first), kills(&first).len()), ("own 8/15".to_owned(), 8));
    test(&project, "SumTest", STRONG);
    let second = judge(&project, "one");
    assert_eq!(second.verdict, Verdict::Pass, "{}", project.logs());
    assert_eq!(own(&second), "own 10/10", "one mutant of Diff is run again: {:?}", second.trace);
    assert_eq!(second.trace.tiers[0].note, "taken over from the record of iteration 4: 5 kills");
    let told = "In p/. were taken over from the record of iteration 4: 5 kills. Their tests are green, and nothing that they depend on has changed.";
    assert_eq!(second.remarks, [told]);
    alike(&mut project, &second, "one");

    // A kill stands as long as nothing changes, also from the second record on.
    project.request.kills.as_mut().unwrap().modules.clone_from(&second.kills);
    let third = judge(&project, "one");
    assert_eq!(own(&third), "own 2/2", "one of each class: {:?}", third.trace);
    alike(&mut project, &third, "one");

    project.settings.tests = TestTiers::All;
    let all = judge(&project, "one");
    assert_eq!((all.trace.tiers[0].mutants, all.kills.len()), (15, 0), "tests: all");
}

fn nothing_stands_where_a_fixture_a_production_class_or_another_file_differs() {
    let (project, _) = failed();
    test(&project, "SumTest", STRONG);
    let base = fs_err::read_to_string(project.root().join(test_file("Base"))).unwrap();
    project.write(&test_file("Base"), &base.replace("return", "int more = 1; return"));
    let fixture = judge(&project, "one");
    assert_eq!(own(&fixture), "own 15/15", "{}", project.logs());
    project.write(&test_file("Base"), &base);
    assert_eq!(own(&judge(&project, "two")), "own 15/15", "a resource");
    project.class(&main_file("Idle"), "public class Idle { public int seven() { return 8; } }");
    let production = judge(&project, "one");
    assert_eq!(own(&production), "own 15/15", "{}", project.logs());
    assert_eq!(production.remarks, Vec::<String>::new());
}

fn a_test_that_was_weakened_loses_its_kills_and_one_that_kills_no_more_is_not_believed() {
    let (mut project, _) = failed();
    test(&project, "SumTest", "new Sum().add(2, 3);");
    let weak = judge(&project, "one");
    assert!(reasons(&weak).contains("com.acme.Sum of package p is 0% (0/9)"), "{:?}", weak.verdict);
    alike(&mut project, &weak, "one");

    // Not a byte of the test has changed, and it asserts nothing any more.
    test(&project, "SumTest", STRONG);
    fs_err::write(project.workspace().join("mark"), "").unwrap();
    let marked = judge(&project, "one");
    assert!(reasons(&marked).contains("com.acme.Diff of package p is 0% (0/6)"), "{:?}", marked.verdict);
    let told = "lives that iteration 4 recorded as killed by com.acme.DiffTest.";
    assert!(marked.remarks.iter().any(|remark| remark.contains(told)), "{:?}", marked.remarks);
    alike(&mut project, &marked, "one");
}

fn kills_of_a_test_that_is_red_now_do_not_stand() {
    let (mut project, _) = failed();
    let mark = format!("java.nio.file.Path.of(\"{}\")", project.workspace().join("red").display());
    let body = format!(
        "assertEquals(1, new Sum().less(8)); assertFalse(java.nio.file.Files.exists({mark})); \
         new Diff().sub(3, 2);"
    );
    test(&project, "FarTest", &body);
    project.settings.threshold = 40;
    let first = judge(&project, "one");
    assert_eq!((&first.verdict, scores(&first)[1].as_str()), (&Verdict::Pass, "com.acme.Sum 44% (4/9)"));
    let modules = first.kills.clone();
    assert_eq!(kills(&first).iter().filter(|kill| kill.contains("FarTest")).count(), 2);
    project.request.kills = Some(RecordedKills { iteration: 4, heads: BTreeMap::new(), modules });
    test(&project, "SumTest", &format!("{WEAK} int more = 1;"));
    let green = judge(&project, "one");
    assert_eq!((&green.verdict, &green.classes), (&first.verdict, &first.classes));
    assert!(green.trace.tiers[1].note.contains("of iteration 4: 1 kill"), "{:?}", green.trace.tiers);
    alike(&mut project, &green, "one");
    fs_err::write(project.workspace().join("red"), "").unwrap();
    let red = judge(&project, "one");
    assert!(reasons(&red).contains("com.acme.Sum of package p is 22% (2/9)"), "{:?}", red.verdict);
    assert!(red.remarks.iter().any(|remark| remark.contains("com.acme.FarTest.one")), "{:?}", red.remarks);
}

/// `ralph` in the workspace; its exit code and what it printed.
fn ralph(workspace: &Workspace, args: &[&str]) -> (Option<i32>, String) {
    let mut ralph = Command::new(env!("CARGO_BIN_EXE_ralph"));
    ralph.args(args).current_dir(workspace.path("ws")).env("XDG_CACHE_HOME", workspace.path("cache"));
    let output = ralph.write_stdin("").output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

/// A task whose gate failed on `Calc`; `Half` is tested well.
fn task_that_failed() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("ws/tasks.md", "- [ ] 2. Compute\n- [ ] 2.PITEST Do the tests kill?\n");
    let (code, told) = ralph(&workspace, &["snapshot", "2."]);
    assert_eq!(code, Some(0), "{told}");
    workspace
        .class(&main_file("Half"), "public class Half { public int of(int a) { return a / 2; }\npublic int twice(int a) { return a * 2; } }")
        .class(
            &test_file("HalfTest"),
            &format!("{TESTS} public class HalfTest {{ @Test public void halves() {{ assertEquals(4, new Half().of(8)); assertEquals(8, new Half().twice(4)); }} }}"),
        )
        .class(&main_file("Calc"), "public class Calc { public int add(int a, int b) { return a + b; }\npublic int sub(int a, int b) { return a - b - 0; } }");
    workspace.commit();
    let (code, told) = ralph(&workspace, &["gate", "2.PITEST"]);
    assert_eq!(code, Some(1), "{told}");
    assert!(!told.contains("taken over"), "{told}");
    workspace.class(&test_file("CalcTest"), &strong());
    workspace
}

fn the_journal_keeps_the_kills_for_the_next_gate_of_its_task_and_a_replay_repeats_them() {
    let workspace = task_that_failed();
    workspace.commit();
    let (code, told) = ralph(&workspace, &["gate", "2.PITEST", "--explain"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("In p/. were taken over from the record of iteration 2: 3 kills."), "{told}");
    assert!(told.contains(": taken over from the record of iteration 2: 3 kills"), "{told}");
    let alone = workspace.gate("HEAD~2");
    assert_eq!(verdict(&alone).split(' ').next(), Some("pass"), "{alone}");
    assert_eq!((&alone["remarks"], &alone["kills"]), (&Value::Null, &Value::Null), "without a journal");
    let (code, told) = ralph(&workspace, &["replay", "--rerun-gates"]);
    assert_eq!(code, Some(0), "the run of all mutants has the same kills: {told}");
}

fn kills_on_a_commit_that_is_no_ancestor_and_in_a_journal_that_was_edited_do_not_stand() {
    let workspace = task_that_failed();
    workspace.git(&["commit", "--quiet", "--all", "--amend", "--message", "another"]);
    let (code, told) = ralph(&workspace, &["gate", "2.PITEST", "--explain"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(!told.contains("taken over"), "{told}");

    let journal = workspace.path("ws/.ralph/state/journal.jsonl");
    let text = fs_err::read_to_string(&journal).unwrap();
    let edited = text.replacen("com.acme.HalfTest", "com.acme.CalcTest", 1);
    assert_ne!(edited, text);
    fs_err::write(&journal, edited).unwrap();
    let (code, told) = ralph(&workspace, &["gate", "2.PITEST"]);
    assert_eq!(code, Some(4), "{told}");
    assert!(told.contains("The journal was changed by another program"), "{told}");
}

tests! {
    maven: [
        kills_of_tests_that_are_as_they_were_stand_after_a_rework_of_another_test,
        nothing_stands_where_a_fixture_a_production_class_or_another_file_differs,
        a_test_that_was_weakened_loses_its_kills_and_one_that_kills_no_more_is_not_believed,
        kills_of_a_test_that_is_red_now_do_not_stand,
        the_journal_keeps_the_kills_for_the_next_gate_of_its_task_and_a_replay_repeats_them,
        kills_on_a_commit_that_is_no_ancestor_and_in_a_journal_that_was_edited_do_not_stand,
    ]
}
