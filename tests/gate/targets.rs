//! What is a target, through the program: real git, real Maven, real PIT.

use super::workspace::{Workspace, strong, verdict};
use super::{main_file, test_file};
use crate::support::needs::tests;

/// The class `Calc`, all of whose mutants its committed test kills.
fn tested() -> Workspace {
    let workspace = Workspace::new();
    workspace.class(&test_file("CalcTest"), &strong());
    workspace.commit();
    workspace
}

fn a_class_that_is_renamed_or_moved_with_or_without_its_test_is_judged() {
    let workspace = tested();
    let calc = "public class Calc { public int add(int a, int b) { return a + b; }\n\n// why\n  public int sub(int a, int b) { return a - b; } }";
    workspace.git(&["rm", "--quiet", &main_file("Calc"), &test_file("CalcTest")]);
    workspace.class(&main_file("Sum"), &calc.replace("Calc", "Sum"));
    workspace.commit();
    let report = workspace.gate("HEAD~1");
    assert_eq!(verdict(&report), "fail 0/4", "{report}");
    assert_eq!(report["failing"][0], format!("p/{}", main_file("Sum")));

    workspace.class(&test_file("SumTest"), &strong().replace("Calc", "Sum"));
    workspace.commit();
    assert_eq!(verdict(&workspace.gate("HEAD~2")), "pass 4/4");

    // By lines it is judged by what it did not have before: the line with its name, on which `add` stands.
    workspace.write("ws/.ralph/config.yaml", "gates:\n  PITEST: {scope: lines}\n");
    assert_eq!(verdict(&workspace.gate("HEAD~2")), "pass 2/2");
}

fn a_class_is_judged_when_its_own_test_alone_is_weakened() {
    let workspace = tested();
    workspace.class(&test_file("CalcTest"), &strong().replace("assertEquals(1, new Calc().sub(3, 2));", ""));
    workspace.commit();
    let report = workspace.gate("HEAD~1");
    assert_eq!(verdict(&report), "fail 2/4", "{report}");
    workspace.write("ws/.ralph/config.yaml", "gates:\n  PITEST: {scope: lines}\n");
    let report = workspace.gate("HEAD~1");
    assert!(report.to_string().contains("as a whole is 50% (2/4); it was 100% (4/4) before"), "{report}");
    workspace.git(&["rm", "--quiet", &test_file("CalcTest")]);
    workspace.commit();
    assert_eq!(workspace.gate("HEAD~1")["failing"][0], format!("p/{}", main_file("Calc")));
}

fn a_line_of_which_only_a_comment_or_the_indentation_changed_has_no_mutants() {
    let workspace = tested();
    workspace.write("ws/.ralph/config.yaml", "gates:\n  PITEST: {scope: lines}\n");
    workspace.class(
        &main_file("Calc"),
        "public class Calc { public int add(int a, int b) { return a + b; } // why\n\
        \tpublic int sub(int a, int b) { return a - b; } }",
    );
    workspace.commit();
    let report = workspace.gate("HEAD~1");
    assert_eq!(verdict(&report), "skip 0/0", "{report}");
    assert!(report["why"].to_string().contains("the changed lines of com.acme.Calc"), "{report}");
}

tests! {
    maven: [
        a_class_that_is_renamed_or_moved_with_or_without_its_test_is_judged,
        a_class_is_judged_when_its_own_test_alone_is_weakened,
        a_line_of_which_only_a_comment_or_the_indentation_changed_has_no_mutants,
    ]
}
