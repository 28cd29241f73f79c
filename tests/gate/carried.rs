//! Kills that stand after a rework that changed tests only, with real PIT.
//!
//! The conditions for each kill are a table in `src/gate/java/kills.rs`. The order of the runs is held in `src/gate/tests.rs`.

use super::map::judge;
use super::project::{JUnit, Project, reasons};
use super::workspace::{TESTS, Workspace, strong};
use super::{SUM, main_file, test_file};
use crate::support::needs::tests;
use assert_cmd::Command;
use ralph::machine::facts::RecordedKills;
use ralph::mutation::{GateReport, ModuleKills, Verdict};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Kills 7 of the 9 mutants of `Sum`. The other two are those of `less`.
const ALL_BUT_LESS: &str = "assertEquals(5, new Sum().add(2, 3)); assertEquals(6, new Sum().twice(3)); \
    assertTrue(new Sum().none(4) && !new Sum().none(3));";

fn test(project: &Project, head: &str, body: &str) {
    let name = head.split(' ').next().unwrap();
    let text = format!(
        "import org.junit.jupiter.api.Test; import static org.junit.jupiter.api.Assertions.*;\n\
         public class {head} {{ @Test public void one() throws Exception {{ {body} }} }}"
    );
    project.class(&test_file(name), &text);
}

/// A file that tests look for, which is in no commit.
fn mark(project: &Project, name: &str) -> PathBuf {
    project.workspace().join(name)
}

/// Two changed classes whose own test files hold no class, so that each gate is one run over all tests.
///
/// `TotalsTest` is too weak for `Sum`. `FarTest` kills the mutants of `less` and is red where there is a file `red`.
/// `PartsTest` kills all six mutants of `Diff`, as long as there is no file `mark`.
fn failed() -> (Project, GateReport) {
    let mut project = Project::scripted(JUnit::Five);
    let diff = "public class Diff { public int sub(int a, int b) { return a - b; }\n\
        public int half(int a) { return a / 2; }\npublic int four(int a) { return a * 4; } }";
    project.class(&main_file("Sum"), SUM).class(&main_file("Diff"), diff);
    let base = format!(
        "public class Base {{ static boolean has(String file) {{ \
         return java.nio.file.Files.exists(java.nio.file.Path.of(\"{}\", file)); }} }}",
        project.workspace().display()
    );
    project.class(&test_file("Base"), &base);
    for name in ["DiffTest", "SumTest"] {
        project.class(&test_file(name), "// The tests are in other classes.");
    }
    let parts = "int[] all = {new Diff().sub(9, 4), new Diff().half(8), new Diff().four(2)}; \
        if (!has(\"mark\")) assertArrayEquals(new int[] {5, 4, 8}, all);";
    test(&project, "PartsTest extends Base", parts);
    test(&project, "TotalsTest", "assertEquals(5, new Sum().add(2, 3));");
    test(&project, "FarTest extends Base", "assertEquals(1, new Sum().less(8)); assertFalse(has(\"red\"));");
    project.changed(&[&main_file("Sum"), &main_file("Diff")]);
    project.settings.threshold = 100;
    // The last FAIL that is allowed makes no map.
    project.request.confirms = true;
    project.request.kills = Some(RecordedKills::default());
    let report = judge(&project, "one");
    assert!(
        reasons(&report).contains("com.acme.Sum of package p is 44% (4/9)"),
        "{:?}\n{}",
        report.verdict,
        project.logs()
    );
    project.request.kills =
        Some(RecordedKills { iteration: 4, heads: BTreeMap::new(), modules: report.kills.clone() });
    (project, report)
}

/// `all 9/9` of the only tier: what was killed of what was run.
fn run_mutants(report: &GateReport) -> String {
    let [tier] = &report.trace.tiers[..] else { panic!("{:?}", report.trace.tiers) };
    format!("{} {}/{}", tier.name, tier.killed, tier.mutants)
}

/// Each kill with its test.
fn kills(report: &GateReport) -> BTreeSet<String> {
    let [ModuleKills { names, kills, .. }] = &report.kills[..] else { panic!("{:?}", report.kills) };
    let name = |row: &[u32]| row.iter().map(|at| names[*at as usize].as_str()).collect::<Vec<_>>().join(" ");
    kills.iter().map(|row| format!("{} {:?}", name(&row[..5]), &row[5..])).collect()
}

fn kills_stand_after_a_rework_of_another_test_while_their_tests_are_green_and_nothing_else_differs() {
    let (project, first) = failed();
    assert_eq!((run_mutants(&first), kills(&first).len()), ("all 10/15".to_owned(), 10));
    test(&project, "TotalsTest", ALL_BUT_LESS);
    let carried = judge(&project, "one");
    assert_eq!(carried.verdict, Verdict::Pass, "{}", project.logs());
    assert_eq!(run_mutants(&carried), "all 9/9", "of each test and class one is run: {:?}", carried.trace);
    let note = &carried.trace.tiers[0].note;
    assert!(note.ends_with("; taken over from the record of iteration 4: 6 kills"), "{note}");
    let remark = "In p/. were taken over from the record of iteration 4: 6 kills. Their tests are green, and nothing that they depend on has changed.";
    assert_eq!(carried.remarks, [remark]);

    // The kills of a test that is red now do not stand.
    fs_err::write(mark(&project, "red"), "").unwrap();
    let red = judge(&project, "one");
    assert!(reasons(&red).contains("com.acme.Sum of package p is 77% (7/9)"), "{:?}", red.verdict);
    assert!(red.remarks.iter().any(|remark| remark.contains("com.acme.FarTest.one")), "{:?}", red.remarks);
    fs_err::remove_file(mark(&project, "red")).unwrap();

    // A fixture differs: all is run again, and all that a report says of classes and kills is the same.
    let base = fs_err::read_to_string(project.root().join(test_file("Base"))).unwrap();
    project.write(&test_file("Base"), &base.replace("return", "int more = 1; return"));
    let whole = judge(&project, "one");
    assert_eq!(run_mutants(&whole), "all 15/15", "{}", project.logs());
    assert_eq!(whole.remarks, Vec::<String>::new());
    assert_eq!((&carried.verdict, &carried.classes), (&whole.verdict, &whole.classes));
    assert_eq!(kills(&carried), kills(&whole));
    project.write(&test_file("Base"), &base);

    // Not a byte of the test has changed, and it asserts nothing any more.
    fs_err::write(mark(&project, "mark"), "").unwrap();
    let marked = judge(&project, "one");
    assert!(reasons(&marked).contains("com.acme.Diff of package p is 0% (0/6)"), "{:?}", marked.verdict);
    let told = "lives that iteration 4 recorded as killed by com.acme.PartsTest.";
    assert!(marked.remarks.iter().any(|remark| remark.contains(told)), "{:?}", marked.remarks);
    assert_eq!(run_mutants(&marked), "all 9/15", "no kill of the record is believed any more");
}

/// `ralph` in the workspace; its exit code and what it printed.
fn ralph(workspace: &Workspace, args: &[&str]) -> (Option<i32>, String) {
    let mut ralph = Command::new(env!("CARGO_BIN_EXE_ralph"));
    ralph.args(args).current_dir(workspace.path("ws")).env("XDG_CACHE_HOME", workspace.path("cache"));
    let output = ralph.write_stdin("").output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

/// A task whose gate failed on `Calc`. `Half` is tested well.
fn task_that_failed() -> Workspace {
    let workspace = Workspace::scripted();
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
    workspace
}

/// The part of a replay that runs the last of three gates alone.
fn last_part(workspace: &Workspace) -> String {
    let (code, matrix) = ralph(workspace, &["replay", "--matrix", "json", "--shards", "3"]);
    assert_eq!(code, Some(0), "{matrix}");
    let parts: Vec<Value> = matrix.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = parts.iter().max_by_key(|part| part["records"][0].as_u64()).unwrap();
    assert_eq!((parts.len(), last["records"].as_array().unwrap().len()), (3, 1), "{matrix}");
    last["shard"].as_str().unwrap().to_owned()
}

fn the_journal_keeps_the_kills_for_the_next_gate_of_its_task_and_a_replay_repeats_them() {
    let workspace = task_that_failed();
    // A commit that is no descendant of the judged one.
    let weak = fs_err::read_to_string(workspace.path("ws/src/p").join(test_file("CalcTest"))).unwrap();
    workspace.write(&format!("ws/src/p/{}", test_file("CalcTest")), &format!("{weak}\n"));
    workspace.git(&["commit", "--quiet", "--all", "--amend", "--message", "another"]);
    let (code, told) = ralph(&workspace, &["gate", "2.PITEST", "--explain"]);
    assert_eq!(code, Some(1), "{told}");
    assert!(!told.contains("taken over"), "{told}");

    workspace.class(&test_file("CalcTest"), &strong());
    workspace.commit();
    let (code, told) = ralph(&workspace, &["gate", "2.PITEST", "--explain"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("In p/. were taken over from the record of iteration 3: 3 kills."), "{told}");
    assert!(told.contains(": taken over from the record of iteration 3: 3 kills"), "{told}");
    let (code, told) = ralph(&workspace, &["replay", "--rerun-gates", "--shard", &last_part(&workspace)]);
    assert_eq!(code, Some(0), "the run of all mutants has the same kills: {told}");
    assert!(told.contains("re-checked: changes, report, verdict"), "{told}");

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
    maven deep: [
        kills_stand_after_a_rework_of_another_test_while_their_tests_are_green_and_nothing_else_differs,
        the_journal_keeps_the_kills_for_the_next_gate_of_its_task_and_a_replay_repeats_them,
    ]
}
