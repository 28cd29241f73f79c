//! Reports of test runs in JUnit's XML, as Surefire, Failsafe, pytest and Jest write them.

use super::xml::{self, Node};
use std::path::Path;

/// Children of a `testcase` that did not run, or did not pass.
const NOT_PASSED: [&str; 3] = ["skipped", "failure", "error"];

/// Returns the number of passed tests.
///
/// `None` for a file that is no whole report.
///
/// A report has at most 32 MiB.
pub fn passed_tests(report: &Path) -> Option<u64> {
    let root = xml::read_file(report)?;
    matches!(root.name.as_str(), "testsuite" | "testsuites").then(|| passed(&root))
}

fn passed(node: &Node) -> u64 {
    if node.name == "testcase" {
        return u64::from(
            !node
                .children
                .iter()
                .any(|child| NOT_PASSED.contains(&child.name.as_str())),
        );
    }
    node.children.iter().map(passed).sum()
}

#[cfg(test)]
mod tests {
    use super::passed_tests;

    const SUREFIRE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="PriceTest" tests="5" errors="1" skipped="1" failures="1"><properties/>
<testcase name="adds"/><testcase name="one"><system-out>&lt;skipped/&gt;</system-out><flakyFailure/></testcase>
<testcase name="off"><skipped message="later"/></testcase><testcase name="no"><failure/></testcase>
<testcase name="boom"><error/></testcase></testsuite>"#;

    fn passed(text: &str) -> Option<u64> {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("TEST-a.xml");
        fs_err::write(&file, text).unwrap();
        passed_tests(&file)
    }

    #[test]
    fn tests_that_were_skipped_or_failed_have_not_passed() {
        assert_eq!(passed(SUREFIRE), Some(2));
        assert_eq!(
            passed(&format!(
                "<testsuites>{}</testsuites>",
                SUREFIRE[39..].repeat(3)
            )),
            Some(6)
        );
        assert_eq!(passed("<testsuite tests='900'/>"), Some(0));
    }

    #[test]
    fn a_report_that_is_cut_or_something_else_says_nothing() {
        for end in (0..SUREFIRE.len()).step_by(7) {
            assert_eq!(passed(&SUREFIRE[..end]), None, "{end}");
        }
        for other in [
            "<html/>",
            "<!DOCTYPE a><testsuite/>",
            "<testsuite/><testsuite/>",
            "\u{0}",
        ] {
            assert_eq!(passed(other), None, "{other}");
        }
    }
}
