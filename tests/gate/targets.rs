//! The choice of targets, through the program: real git, real PIT, and a script that builds.

use super::project::JUnit;
use super::scripted::script_file;
use super::workspace::{TESTS, Workspace, strong, verdict};
use super::{main_file, test_file};
use crate::support::needs::tests;
use serde_json::Value;
use std::collections::BTreeSet;

const HALF: &str = "public class Half { public int of(int a) { return a / 2; } }";

/// Returns the classes `Calc` and `Half`, whose mutants their committed tests kill.
fn tested() -> Workspace {
    let workspace = Workspace::scripted();
    workspace.class(&test_file("CalcTest"), &strong()).class(&main_file("Half"), HALF).class(
        &test_file("HalfTest"),
        &format!(
            "{TESTS} public class HalfTest {{ @Test public void halves() {{ assertEquals(4, new Half().of(8)); }} }}"
        ),
    );
    workspace.commit();
    workspace
}

/// Returns `com.acme.Calc 2/4` of each judged class.
fn scores(report: &Value) -> Vec<String> {
    let score = |class: &Value| {
        let tally = &class["tally"];
        let killed = tally["killed"].as_u64().unwrap();
        let lost = ["survived", "no_coverage"].map(|name| tally[name].as_u64().unwrap_or(0));
        format!(
            "{} {killed}/{}",
            class["class"].as_str().unwrap(),
            killed + lost.iter().sum::<u64>()
        )
    };
    report["classes"]
        .as_array()
        .unwrap_or_else(|| panic!("{report}"))
        .iter()
        .map(score)
        .collect()
}

/// `Calc` becomes `Sum` without its test, and `Half` becomes `Part` with it.
fn a_class_that_is_renamed_or_moved_with_or_without_its_test_is_judged() {
    let workspace = tested();
    let calc = "public class Calc { public int add(int a, int b) { return a + b; }\n\n// why\n  public int sub(int a, int b) { return a - b; } }";
    workspace.git(&["rm", "--quiet", &main_file("Calc"), &test_file("CalcTest")]);
    workspace.class(&main_file("Sum"), &calc.replace("Calc", "Sum"));
    for (old, new) in [
        (main_file("Half"), main_file("Part")),
        (test_file("HalfTest"), test_file("PartTest")),
    ] {
        let text = fs_err::read_to_string(workspace.path("ws/src/p").join(&old)).unwrap();
        workspace.git(&["rm", "--quiet", &old]);
        workspace.write(&format!("ws/src/p/{new}"), &text.replace("Half", "Part"));
    }
    workspace.commit();
    let report = workspace.gate("HEAD~1");
    assert_eq!(verdict(&report), "fail 2/6", "{report}");
    assert_eq!(
        scores(&report),
        ["com.acme.Part 2/2", "com.acme.Sum 0/4"],
        "{report}"
    );
    assert_eq!(
        report["failing"],
        Value::from(vec![format!("p/{}", main_file("Sum"))])
    );

    // By lines it is judged by its new line, the one with its name, which also holds `add`.
    workspace.class(&test_file("SumTest"), &strong().replace("Calc", "Sum"));
    workspace.commit();
    workspace.set_scripted("scope: lines");
    let report = workspace.gate("HEAD~2");
    assert_eq!(
        scores(&report),
        ["com.acme.Part 2/2", "com.acme.Sum 2/2"],
        "{report}"
    );
}

/// The test of `Calc` loses an assertion, and that of `Half` is removed.
fn a_class_is_judged_when_its_own_test_alone_is_weakened() {
    let workspace = tested();
    workspace.class(
        &test_file("CalcTest"),
        &strong().replace("assertEquals(1, new Calc().sub(3, 2));", ""),
    );
    workspace.git(&["rm", "--quiet", &test_file("HalfTest")]);
    workspace.commit();
    let report = workspace.gate("HEAD~1");
    assert_eq!(report["verdict"], "fail", "{report}");
    assert_eq!(
        scores(&report),
        ["com.acme.Calc 2/4", "com.acme.Half 0/2"],
        "{report}"
    );
    let failing = ["Calc", "Half"].map(|class| format!("p/{}", main_file(class)));
    assert_eq!(report["failing"], Value::from(failing.to_vec()), "{report}");
    is_the_sum_of_its_parts(&workspace, &report);
    workspace.set_scripted("scope: lines");
    let report = workspace.gate("HEAD~1");
    assert!(
        report
            .to_string()
            .contains("as a whole is 50% (2/4); it was 100% (4/4) before"),
        "{report}"
    );
}

/// Checks that two parts judge a class each, and that joined they are the whole.
fn is_the_sum_of_its_parts(workspace: &Workspace, whole: &Value) {
    let since = ["--since", "HEAD~1"];
    let parts = ["1/2", "2/2"]
        .map(|shard| workspace.answer(&[&since[..], &["--shard", shard]].concat(), &[]));
    for (part, score) in parts.iter().zip(scores(whole)) {
        assert_eq!(scores(&part["report"]), [score], "{part}");
    }
    for (number, part) in parts.iter().enumerate() {
        workspace.write(&format!("parts/{number}.json"), &part.to_string());
    }
    let folder = workspace.path("parts");
    let folder = folder.to_str().unwrap();
    let joined =
        workspace.answer(&[&since[..], &["--merge", folder]].concat(), &[])["report"].clone();
    for key in [
        "verdict",
        "classes",
        "coverage",
        "survivors",
        "failing",
        "left_out",
    ] {
        assert_eq!(joined[key], whole[key], "{key}: {joined}");
    }
    let reasons = |report: &Value| -> BTreeSet<String> {
        let all = report["reasons"].as_array().unwrap().iter();
        all.map(Value::to_string).collect()
    };
    assert_eq!(reasons(&joined), reasons(whole));
    assert_eq!(joined["reports"], Value::Null, "they are on other machines");
}

fn a_line_of_which_only_a_comment_or_the_indentation_changed_has_no_mutants() {
    let workspace = tested();
    workspace.set_scripted("scope: lines");
    workspace.class(
        &main_file("Calc"),
        "public class Calc { public int add(int a, int b) { return a + b; } // why\n\
        \tpublic int sub(int a, int b) { return a - b; } }",
    );
    workspace.commit();
    let report = workspace.gate("HEAD~1");
    assert_eq!(verdict(&report), "skip 0/0", "{report}");
    assert!(
        report["why"]
            .to_string()
            .contains("the changed lines of com.acme.Calc"),
        "{report}"
    );
}

/// The build decides about directories. Code below `src/test` or elsewhere that it compiles into production is no SKIP.
fn code_that_the_build_compiles_into_production_is_never_skipped() {
    let workspace = Workspace::scripted();
    let build = fs_err::read_to_string(script_file(JUnit::Four)).unwrap();
    let build = build
        .replace("find src/main", "find src/main src/test/prod extra")
        .replace("find src/test -name", "find src/test/java -name");
    workspace.write("build.sh", &build);
    let command = format!("[sh, {}]", workspace.path("build.sh").display());
    workspace.set_gate(&format!("classpath_command: {command}"));
    let [inside, outside] =
        ["src/test/prod", "extra"].map(|sources| format!("{sources}/com/acme/Extra.java"));
    let extra = "public class Extra { int times(int q) { return q * 7; } }";
    workspace.class(&inside, extra);
    workspace.class(
        "extra/com/acme/Other.java",
        &extra.replace("Extra", "Other"),
    );
    workspace.commit();
    workspace.class(&inside, &extra.replace('7', "9"));
    workspace.commit();
    let report = workspace.gate("HEAD~1");
    assert_eq!(report["verdict"], "error", "{report}");
    let why = "makes production classes from src/test/prod/com/acme/Extra.java";
    assert!(report["why"].to_string().contains(why), "{report}");

    // Second classes of a file count too, and a file that no class file was made from does not.
    let other = outside.replace("Extra", "Other");
    workspace.class(
        &other,
        "class Second { int times(int q) { return q * 9; } }",
    );
    workspace.class("docs/com/acme/Sample.java", "class Sample { }");
    workspace.commit();
    let report = workspace.gate("HEAD~1");
    let why = "makes production classes from extra/com/acme/Other.java, and this gate";
    assert!(report["why"].to_string().contains(why), "{report}");
}

tests! {
    maven deep: [
        code_that_the_build_compiles_into_production_is_never_skipped,
        a_line_of_which_only_a_comment_or_the_indentation_changed_has_no_mutants,
        a_class_that_is_renamed_or_moved_with_or_without_its_test_is_judged,
        a_class_is_judged_when_its_own_test_alone_is_weakened,
    ]
}
