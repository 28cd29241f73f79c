//! The example's scripted agent, played through without ralph.
//!
//! Owns: each role gives the evidence of its stage, and the demo shows its events: a missing test, weak tests, a
//! claim, two repairs.
//!
//! Promises: the script runs under the system's `sh` in a fresh copy; nothing outside that copy changes.
//!
//! Refuses to know: prompts, gates, the journal.

use super::{files_below, root, text};
use assert_cmd::Command;
use std::path::Path;
use tempfile::TempDir;

/// A copy of the example whose packages are repositories with one commit.
struct Workspace(TempDir);

impl Workspace {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        for path in files_below(&root()) {
            let target = folder.path().join(&path);
            fs_err::create_dir_all(target.parent().unwrap()).unwrap();
            fs_err::copy(root().join(&path), target).unwrap();
        }
        let workspace = Self(folder);
        for package in ["orders", "manual"] {
            workspace.git(package, &["init", "--quiet"]);
            workspace.git(package, &["add", "--all"]);
            workspace.git(package, &["commit", "--quiet", "--message", "start"]);
        }
        workspace
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the standard output of git in a package.
    fn git(&self, package: &str, args: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Test", "-c", "user.email=test@example.org"])
            .args(args);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        let output = git
            .current_dir(self.path().join("src").join(package))
            .assert()
            .success();
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    }

    fn file(&self, path: &str) -> String {
        fs_err::read_to_string(self.path().join(path)).unwrap()
    }

    fn note(&self, progress: &str) {
        let path = self.path().join("progress.txt");
        let before = fs_err::read_to_string(&path).unwrap_or_default();
        fs_err::write(&path, before + progress).unwrap();
    }

    /// Builds a call of the agent as ralph would start it.
    fn agent(&self, role: &str, task: &str) -> Command {
        let mut agent = Command::new("sh");
        agent
            .arg("agent.sh")
            .current_dir(self.path())
            .write_stdin("a prompt\nof two lines\n");
        agent
            .env("RALPH_WORKSPACE", self.path())
            .env("RALPH_ROLE", role)
            .env("RALPH_TASK", task);
        agent.env("RALPH_VERDICT_TOKEN", "3f9a");
        agent
    }

    /// Runs the agent. Returns its output and `<package>: <status>\t<path>` of its commits.
    fn turn(&self, role: &str, task: &str) -> (String, Vec<String>) {
        let heads = ["orders", "manual"]
            .map(|package| (package, self.git(package, &["rev-parse", "HEAD"])));
        let done = self.agent(role, task).assert().success();
        let printed = String::from_utf8(done.get_output().stdout.clone()).unwrap();
        assert!(
            printed.contains("prompt of 2 lines"),
            "the prompt was not read: {printed}"
        );
        let mut changes = Vec::new();
        for (package, head) in heads {
            assert_eq!(
                self.git(package, &["status", "--porcelain"]),
                "",
                "{role} left dirt in {package}"
            );
            let diff = self.git(package, &["diff", "--name-status", head.trim(), "HEAD"]);
            changes.extend(diff.lines().map(|line| format!("{package}: {line}")));
        }
        (printed, changes)
    }
}

const MAIN: &str = "src/main/java/org/example/orders";
const TEST: &str = "src/test/java/org/example/orders";

fn orders(lines: &[(&str, &str, &str)]) -> Vec<String> {
    lines
        .iter()
        .map(|(status, folder, file)| format!("orders: {status}\t{folder}/{file}"))
        .collect()
}

#[test]
fn the_script_has_no_syntax_error() {
    Command::new("sh")
        .args(["-n", "agent.sh"])
        .current_dir(root())
        .assert()
        .success();
}

#[test]
fn a_missing_test_is_found_by_the_reviewer_and_added() {
    let workspace = Workspace::new();
    let (_, changes) = workspace.turn("test-writer", "1.TEST-FIRST");
    assert_eq!(
        changes,
        orders(&[
            ("A", MAIN, "LineTotal.java"),
            ("A", TEST, "LineTotalTest.java")
        ])
    );
    let (_, changes) = workspace.turn("worker", "1.");
    assert_eq!(
        changes,
        orders(&[("M", MAIN, "LineTotal.java")]),
        "the worker leaves the tests alone"
    );

    let (printed, changes) = workspace.turn("req-reviewer", "1.REQ-CHECK");
    assert!(
        printed.ends_with("RALPH-VERDICT 3f9a: FAIL no test covers R1.3\n"),
        "{printed}"
    );
    assert_eq!(changes, [""; 0], "a reviewer changes nothing");
    workspace.note("FAIL no test covers R1.3\n");
    let (_, changes) = workspace.turn("worker", "1.");
    assert_eq!(changes, orders(&[("M", TEST, "LineTotalTest.java")]));

    for (role, task) in [
        ("req-reviewer", "1.REQ-CHECK"),
        ("quality-reviewer", "1.PRE-CR"),
    ] {
        let (printed, changes) = workspace.turn(role, task);
        assert!(
            printed
                .lines()
                .last()
                .unwrap()
                .starts_with("RALPH-VERDICT 3f9a: PASS "),
            "{printed}"
        );
        assert_eq!(changes, [""; 0], "a reviewer changes nothing");
    }
}

#[test]
fn weak_tests_please_the_reviewer_and_are_strengthened_after_the_gate() {
    let workspace = Workspace::new();
    workspace.turn("test-writer", "2.TEST-FIRST");
    let weak = workspace.file(&format!("src/orders/{TEST}/ShippingTest.java"));
    let (printed, changes) = workspace.turn("worker", "2.");
    assert_eq!(changes, orders(&[("M", MAIN, "Shipping.java")]));
    assert!(
        printed.contains("PITEST PASS"),
        "a claim that must count for nothing"
    );
    let claimed = text("tasks.md").replace("- [ ] 2.PITEST", "- [x] 2.PITEST");
    assert_eq!(
        workspace.file("tasks.md"),
        claimed,
        "it ticks a box that is not its own"
    );

    let (printed, _) = workspace.turn("req-reviewer", "2.REQ-CHECK");
    assert!(printed.contains("RALPH-VERDICT 3f9a: PASS"), "{printed}");
    workspace.note("PITEST FAIL — 55% (10/18)\nShipping.java:13 ConditionalsBoundary\n");
    let (printed, changes) = workspace.turn("worker", "2.");
    assert!(
        printed.contains("Shipping.java:13"),
        "it reads the survivors: {printed}"
    );
    assert_eq!(changes, orders(&[("M", TEST, "ShippingTest.java")]));

    let strong = workspace.file(&format!("src/orders/{TEST}/ShippingTest.java"));
    assert!(
        strong.starts_with(weak.trim_end().trim_end_matches('}')),
        "no line of a test is taken away"
    );
    assert_eq!(weak.matches("@Test").count(), 5);
    assert_eq!(strong.matches("@Test").count(), 8);
}

#[test]
fn the_manual_is_written_and_everything_is_validated() {
    let workspace = Workspace::new();
    let (_, changes) = workspace.turn("worker", "3.");
    assert_eq!(changes, ["manual: A\ttariff.md"]);
    let (_, changes) = workspace.turn("validator", "");
    assert_eq!(changes, [""; 0]);
    let report = workspace.file("validation-report.md");
    assert!(
        report.contains("| Requirement | Evidence | Status |"),
        "{report}"
    );
    assert!(report.contains("| R3.1 | tariff.md | PASS |"), "{report}");
    assert!(
        report.contains("| R1.1 | none found | UNKNOWN |"),
        "no evidence is no pass: {report}"
    );
    assert_eq!(
        report.matches("| R").count(),
        1 + 9,
        "one row for each requirement: {report}"
    );
}

#[test]
fn work_that_nobody_scripted_ends_in_an_error() {
    let workspace = Workspace::new();
    for (role, task) in [
        ("worker", "4."),
        ("test-writer", "3.TEST-FIRST"),
        ("stranger", "1."),
    ] {
        workspace.agent(role, task).assert().failure();
    }
    workspace.turn("worker", "3.");
    workspace.turn("test-writer", "1.TEST-FIRST");
    workspace.turn("worker", "1.");
    workspace.agent("worker", "1.").assert().failure();
}
