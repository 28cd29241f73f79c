//! A history with ticks, audited with real PIT in parts that are joined.

use super::ralph;
use crate::cli::project::Project;
use crate::gate::project::{JUnit, Pom};
use crate::support::needs::tests;

fn class(name: &str, body: &str) -> String {
    format!(
        "package com.acme;\n\npublic class {name} {{\n    public static int of(int a) {{ {body} }}\n}}\n"
    )
}

fn test_class(name: &str, body: &str) -> String {
    format!(
        "package com.acme;\n\nimport static org.junit.jupiter.api.Assertions.*;\nimport org.junit.jupiter.api.Test;\n\n\
         class {name}Test {{\n    @Test\n    void of() {{ {body} }}\n}}\n"
    )
}

/// Ticks this box and commits everything.
fn tick(project: &Project, id: &str) {
    let text = project
        .read("tasks.md")
        .replace(&format!("[ ] {id}"), &format!("[x] {id}"));
    project.write("tasks.md", text);
    project.git("", &["add", "--all"]);
    project.git("", &["commit", "--quiet", "--message", id]);
}

/// Runs the audit, and returns its exit code and output.
fn audit(project: &Project, more: &[&str]) -> (Option<i32>, String) {
    let mut command = ralph();
    command
        .arg("audit")
        .arg("--past")
        .arg(project.path(""))
        .args(more);
    let output = command.output().unwrap();
    assert!(
        !output.stdout.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
    )
}

fn three_ticks_are_true_untrue_and_nothing_to_judge_in_parts_that_are_joined() {
    let project = Project::empty();
    project.write("pom.xml", Pom::new("audited", JUnit::Five).text());
    project.write(".gitignore", "target/\n.parts/\n");
    project.write(
        "tasks.md",
        "- [ ] 1. Add\n- [ ] 2. Tax\n- [ ] 3. Write about it\n",
    );
    project.git("", &["init", "--quiet", "--initial-branch", "main"]);
    tick(&project, "0.");
    project.write(
        "src/main/java/com/acme/Add.java",
        class("Add", "return a + 1;"),
    );
    project.write(
        "src/test/java/com/acme/AddTest.java",
        test_class("Add", "assertEquals(3, Add.of(2));"),
    );
    tick(&project, "1.");
    project.write(
        "src/main/java/com/acme/Tax.java",
        class("Tax", "return a * 19 / 100;"),
    );
    project.write(
        "src/test/java/com/acme/TaxTest.java",
        test_class("Tax", "Tax.of(100);"),
    );
    tick(&project, "2.");
    project.write("README.md", "Adds and taxes.\n");
    tick(&project, "3.");
    for (part, file) in [("1/2", ".parts/1.json"), ("2/2", ".parts/2.json")] {
        let (ended, facts) = audit(&project, &["--shard", part, "--json"]);
        assert!(matches!(ended, Some(0 | 1)), "{facts}");
        project.write(file, facts);
    }
    let parts = project.path(".parts");
    let (code, told) = audit(&project, &["--merge", parts.to_str().unwrap()]);
    assert_eq!(code, Some(1), "{told}");
    assert!(
        told.ends_with("3 boxes ticked, 1 untrue; 1 had nothing to judge\n"),
        "{told}"
    );
    let of = |id: &str| {
        told.lines()
            .find(|line| line.contains(&format!("  {id}")))
            .unwrap_or_default()
            .to_owned()
    };
    assert!(of("task 1 Add").starts_with("true"), "{told}");
    assert!(
        of("task 2 Tax").starts_with("untrue") && of("task 2 Tax").contains("class com.acme.Tax"),
        "{told}"
    );
    assert!(of("task 3 Write").starts_with("nothing"), "{told}");
    assert!(told.contains("- survivor Tax.java:4 "), "{told}");
    assert!(
        !project.has("target") && !project.has(".ralph"),
        "nothing is written"
    );
}

tests! {
    maven deep: [
        three_ticks_are_true_untrue_and_nothing_to_judge_in_parts_that_are_joined,
    ]
}
