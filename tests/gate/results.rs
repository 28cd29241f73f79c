//! The recorded results files for the unit tests of the reader equal those of PIT with ralph's plugin.

use super::project::{JUnit, Project};
use super::{main_file, test_file};
use crate::support::needs::tests;
use ralph::config::TestTiers;
use serde_json::Value;
use std::path::Path;

/// `twice` is killed, `big` and `Foo$In` are reached and not killed, `none` is not reached, `BASE` runs at class
/// initialisation.
const FOO: &str = "public class Foo {\n static final int BASE = Math.abs(6) * 7;\n\
    int twice(int a) {\n return a * 2;\n }\n boolean big(int a) {\n return a > 10;\n }\n\
    int none(int a) {\n return a - 1;\n }\n static class In {\n int less(int a) { return a - BASE; }\n }\n}";
const FOO_TEST: &str = "import static org.junit.jupiter.api.Assertions.*; import org.junit.jupiter.api.*; \
    import org.junit.jupiter.params.*; import org.junit.jupiter.params.provider.*;\n\
    class FooTest { @Test void twice() { assertEquals(6, new Foo().twice(3)); }\n\
    @ParameterizedTest @ValueSource(ints = {1, 20}) void big(int a) { new Foo().big(a); new Foo.In().less(a); } }";
const OTHER_TEST: &str =
    "class OtherTest { @org.junit.jupiter.api.Test void red() { throw new AssertionError(); } }";

/// Returns the document of the run of all tests, a row per line, without times and the seal.
///
/// Both differ from run to run.
fn recorded(project: &mut Project) -> String {
    project.settings.tests = TestTiers::All;
    let report = project.run();
    let file = project.request.folder.join("report/p/all/results.json");
    let text = fs_err::read_to_string(file)
        .unwrap_or_else(|error| panic!("{error}: {report:?}\n{}", project.logs()));
    let document = &text[..text.len() - 64];
    let mut document: Vec<Value> = serde_json::from_str(document).unwrap();
    let lists = document.split_off(2);
    let rows = |list: &Value| -> Vec<Value> { serde_json::from_value(list.clone()).unwrap() };
    let [mut tests, controls, mutants] = [0, 1, 2].map(|index| rows(&lists[index]));
    for test in &mut tests {
        test[3] = 0.into();
    }
    let [tests, controls, mut mutants] = [tests, controls, mutants]
        .map(|rows| rows.iter().map(Value::to_string).collect::<Vec<_>>());
    // The order of mutants is decided by PIT.
    mutants.sort();
    let [tests, controls, mutants] = [tests, controls, mutants].map(|rows| rows.join(",\n"));
    let [stage, failure] = [&document[0], &document[1]];
    format!("[{stage},{failure},\n[{tests}],\n[{controls}],\n[{mutants}]]\n")
}

fn check(name: &str, project: &mut Project) {
    let now = recorded(project);
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/gate")
        .join(name);
    // `UPDATE_FIXTURES=1` records the files again. Review the diff.
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        fs_err::write(&file, &now).unwrap();
    }
    let before = fs_err::read_to_string(&file).unwrap_or_default();
    assert!(
        now == before,
        "PIT writes something else than {name}:\n{now}"
    );
}

fn project(foo_test: &str, other_test: &str) -> Project {
    let mut project = Project::scripted(JUnit::Five);
    project
        .class(&main_file("Foo"), FOO)
        .class(&test_file("FooTest"), foo_test)
        .class(&test_file("OtherTest"), other_test);
    project.changed(&[&main_file("Foo")]);
    project
}

fn the_recorded_results_are_what_pit_writes() {
    let mut judged = project(FOO_TEST, OTHER_TEST);
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("%p").display().to_string();
    let args = &mut judged.settings.jvm_args;
    args.push(format!("-Xlog:redefine+class+load:file={log}"));
    check("judged.json", &mut judged);
    let mut defined = String::new();
    for log in fs_err::read_dir(logs.path()).unwrap() {
        defined += &fs_err::read_to_string(log.unwrap().path()).unwrap();
    }
    assert_eq!(
        defined.matches("redefined name=com.acme.Foo").count(),
        9,
        "once for each of seven mutants that a test reaches and two controls: {defined}"
    );
    let red = FOO_TEST.replace("assertEquals(6", "assertEquals(7");
    check("red.json", &mut project(&red, OTHER_TEST));
    let died = FOO_TEST.replace("assertEquals(6,", "Runtime.getRuntime().halt(3 +");
    check("died.json", &mut project(&died, OTHER_TEST));
    // It passes only in its first JVM.
    let once = FOO_TEST.replace(
        "void twice() {",
        "void twice() throws Exception { java.nio.file.Files.createFile(java.nio.file.Path.of(System.getProperty(\"basedir\"), \"once\"));",
    );
    check("unfit.json", &mut project(&once, OTHER_TEST));
    let mut empty = project(FOO_TEST, OTHER_TEST);
    empty.class(&main_file("Foo"), "public interface Foo { }");
    empty.class(
        &test_file("FooTest"),
        "class FooTest { @org.junit.jupiter.api.Test void none() { } }",
    );
    check("nothing.json", &mut empty);
}

tests! {
    maven deep: [
        the_recorded_results_are_what_pit_writes,
    ]
}
