//! GitLab: a Code Quality report, each issue with all fields that GitLab requires.

use super::{About, Note, ReportView, SarifLevel};
use serde_json::{Value, json};

/// A JSON array of issues; empty for a PASS without survivors and for a SKIP that is not a failure.
pub fn render_gitlab(shown: &ReportView<'_>) -> String {
    let issues: Vec<Value> = shown
        .report_notes()
        .iter()
        .filter(|note| !(matches!(note.about, About::Verdict(_)) && note.level == SarifLevel::Note))
        .map(|note| render_issue(shown, note))
        .collect();
    format!("{:#}", Value::Array(issues))
}

fn render_issue(shown: &ReportView<'_>, note: &Note) -> Value {
    let (check, description) = match &note.about {
        About::Verdict(word) => (
            shown.gate.to_owned(),
            format!("{} {word}: {}", shown.gate, note.text),
        ),
        About::Survivor(mutator) => (
            format!("{}.{mutator}", shown.gate),
            format!("A mutant survived: {}", note.text),
        ),
    };
    let severity = match (&note.about, note.level) {
        (About::Verdict(_), SarifLevel::Error) => "critical",
        (About::Survivor(_), SarifLevel::Error) => "major",
        (_, SarifLevel::Warning) => "minor",
        (_, SarifLevel::Note) => "info",
    };
    json!({
        "description": description.replace('\n', "; "),
        "check_name": check,
        "fingerprint": note.fingerprint,
        "severity": severity,
        "location": {
            "path": note.some_file().to_text(),
            "lines": { "begin": note.line },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{fail, folders, hostile, of, shown};
    use super::*;
    use std::collections::BTreeSet;

    fn issues(text: &str) -> Vec<Value> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn an_issue_has_all_that_gitlab_asks_for() {
        let (report, folders) = (fail(), folders());
        let text = render_gitlab(&shown(&report, &folders));
        insta::assert_snapshot!(text, @r#"
        [
          {
            "check_name": "PITEST",
            "description": "PITEST FAIL: The mutation score of class a.Foo of package app is 50% (1/2), below the threshold of 70%.; In addition to those shown, 3 mutants survived.",
            "fingerprint": "4d8a4a65a6a2f216d7f0525eb99b36eeab39dd9f3b01239178c23b3c68f4c623",
            "location": {
              "lines": {
                "begin": 1
              },
              "path": "src/app/src/main/java/a/Foo.java"
            },
            "severity": "critical"
          },
          {
            "check_name": "PITEST.ConditionalsBoundary",
            "description": "A mutant survived: changed conditional boundary; in a.Foo.sum; reached by a.FooTest, a.BarTest and 2 more",
            "fingerprint": "dafcc54b301d03ec453c4021ddd4f67e1267e8490612c3e9e4d942f31ed1e500",
            "location": {
              "lines": {
                "begin": 12
              },
              "path": "src/app/src/main/java/a/Foo.java"
            },
            "severity": "major"
          },
          {
            "check_name": "PITEST.Math",
            "description": "A mutant survived: Replaced 100%, and more; in a.Foo.<init>; no test reaches it",
            "fingerprint": "9e47d0fdfb26faf8720a463ac7886b97107fb2f2caeea997559a857813c79b65",
            "location": {
              "lines": {
                "begin": 20
              },
              "path": "src/app/src/main/java/a/Foo.java"
            },
            "severity": "major"
          }
        ]
        "#);
        let mut prints = BTreeSet::new();
        for issue in issues(&text) {
            assert!(issue["description"].is_string() && issue["check_name"].is_string());
            assert!(
                ["info", "minor", "major", "critical", "blocker"]
                    .contains(&issue["severity"].as_str().unwrap())
            );
            assert!(
                issue["location"]["path"].is_string()
                    && issue["location"]["lines"]["begin"].is_u64()
            );
            assert!(
                prints.insert(issue["fingerprint"].as_str().unwrap().to_owned()),
                "{issue}"
            );
        }
    }

    #[test]
    fn fail_and_error_without_survivors_are_issues_pass_and_skip_are_none() {
        let folders = folders();
        let [pass, fail, skip, error] = of();
        assert_eq!(render_gitlab(&shown(&pass, &folders)), "[]");
        assert_eq!(render_gitlab(&shown(&skip, &folders)), "[]");
        for (report, description) in [
            (
                &fail,
                "PITEST FAIL: The module does not compile.; Foo.java:3: ';' expected",
            ),
            (
                &error,
                "PITEST ERROR: Maven was not found.; hint: Install it.",
            ),
        ] {
            let issues = issues(&render_gitlab(&shown(report, &folders)));
            assert_eq!(issues.len(), 1);
            assert_eq!(issues[0]["description"], description);
            assert_eq!(issues[0]["location"]["path"], ".ralph/config.yaml");
        }
        let strict = ReportView {
            fail_on_skip: true,
            ..shown(&skip, &folders)
        };
        assert_eq!(issues(&render_gitlab(&strict)).len(), 1);
        let hostile = hostile();
        assert_eq!(issues(&render_gitlab(&shown(&hostile, &folders))).len(), 2);
    }
}
