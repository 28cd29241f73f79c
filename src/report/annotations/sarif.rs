//! A gate's report as SARIF, with one rule for each mutator that is named.

use super::{About, Note, ReportView};
use crate::mutation::Verdict;
use crate::report::sarif::{SarifLevel, SarifResult, SarifRule, sarif_log};

/// The log, without a final line end.
pub fn render_sarif(shown: &ReportView<'_>) -> String {
    let notes = shown.report_notes();
    let is_error = matches!(shown.report.verdict, Verdict::Error { .. });
    let results: Vec<SarifResult> = notes
        .iter()
        .filter(|note| match note.about {
            About::Verdict(_) => note.level == SarifLevel::Error && !is_error,
            About::Survivor(_) => true,
        })
        .map(|note| sarif_result(shown.gate, note))
        .collect();
    // The verdict is a notification too, whether or not it is a finding in the code.
    let grade = if is_error {
        SarifLevel::Error
    } else {
        SarifLevel::Note
    };
    let verdicts = notes
        .iter()
        .filter(|note| matches!(note.about, About::Verdict(_)));
    let notifications: Vec<(SarifLevel, String)> = verdicts
        .map(|note| (grade, format!("{}: {}", note.title, note.text)))
        .collect();
    sarif_log(shown.gate, !is_error, &notifications, &results)
}

fn sarif_result(gate: &str, note: &Note) -> SarifResult {
    SarifResult {
        rule: sarif_rule(gate, note),
        grade: note.level,
        text: note.text.clone(),
        file: note.some_file(),
        line: note.line,
        source: note.source.clone(),
        fingerprint: note.fingerprint.clone(),
    }
}

fn sarif_rule(gate: &str, note: &Note) -> SarifRule {
    match &note.about {
        About::Verdict(word) => SarifRule {
            id: format!("{gate}/{word}"),
            name: format!("{gate}{word}"),
            short: format!("The gate {gate} ended with {word}"),
            full: format!("The gate {gate} judged the changed code and ended with {word}."),
        },
        About::Survivor(mutator) => SarifRule {
            id: format!("{gate}/survivor/{mutator}"),
            name: mutator.clone(),
            short: format!("A mutant of {mutator} survived"),
            full: format!(
                "{gate} changed the code with the mutator {mutator}, and no test failed: add an assertion that sees the difference."
            ),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{fail, folders, hostile, of, shown};
    use super::*;
    use serde_json::Value;

    /// The run of a log, after a look at everything that the standard requires of what is written here.
    fn run(text: &str) -> Value {
        let log: Value = serde_json::from_str(text).unwrap();
        assert_eq!(log["version"], "2.1.0");
        let run = log["runs"][0].clone();
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        assert!(run["tool"]["driver"]["name"].is_string());
        for rule in rules {
            assert!(rule["id"].is_string() && rule["shortDescription"]["text"].is_string());
        }
        for result in run["results"].as_array().unwrap() {
            let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
            assert_eq!(rule["id"], result["ruleId"]);
            assert!(
                ["none", "note", "warning", "error"].contains(&result["level"].as_str().unwrap())
            );
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
            let place = &result["locations"][0]["physicalLocation"];
            let uri = place["artifactLocation"]["uri"].as_str().unwrap();
            assert!(
                uri.is_ascii() && !uri.starts_with('/') && !uri.contains([' ', '\\']),
                "{uri}"
            );
            assert!(place["region"]["startLine"].as_u64().unwrap() >= 1);
        }
        assert!(run["invocations"][0]["executionSuccessful"].is_boolean());
        run
    }

    #[test]
    fn survivors_are_results_of_the_rule_of_their_mutator() {
        let (report, folders) = (fail(), folders());
        let run = run(&render_sarif(&shown(&report, &folders)));
        assert_eq!(
            run["results"].as_array().unwrap().len(),
            3,
            "the verdict and two survivors"
        );
        insta::assert_snapshot!(format!("{:#}", run["results"][1]), @r#"
        {
          "level": "error",
          "locations": [
            {
              "physicalLocation": {
                "artifactLocation": {
                  "uri": "src/app/src/main/java/a/Foo.java",
                  "uriBaseId": "%SRCROOT%"
                },
                "region": {
                  "snippet": {
                    "text": "if (a > b) {"
                  },
                  "startLine": 12
                }
              }
            }
          ],
          "message": {
            "text": "changed conditional boundary\nin a.Foo.sum\nreached by a.FooTest, a.BarTest and 2 more"
          },
          "partialFingerprints": {
            "ralphFinding/v1": "dafcc54b301d03ec453c4021ddd4f67e1267e8490612c3e9e4d942f31ed1e500"
          },
          "ruleId": "PITEST/survivor/ConditionalsBoundary",
          "ruleIndex": 1
        }
        "#);
        insta::assert_snapshot!(format!("{:#}", run["tool"]["driver"]["rules"][1]), @r#"
        {
          "defaultConfiguration": {
            "level": "error"
          },
          "fullDescription": {
            "text": "PITEST changed the code with the mutator ConditionalsBoundary, and no test failed: add an assertion that sees the difference."
          },
          "help": {
            "text": "PITEST changed the code with the mutator ConditionalsBoundary, and no test failed: add an assertion that sees the difference."
          },
          "id": "PITEST/survivor/ConditionalsBoundary",
          "name": "ConditionalsBoundary",
          "shortDescription": {
            "text": "A mutant of ConditionalsBoundary survived"
          }
        }
        "#);
        insta::assert_snapshot!(format!("{:#}", run["invocations"]), @r#"
        [
          {
            "executionSuccessful": true,
            "toolExecutionNotifications": [
              {
                "level": "note",
                "message": {
                  "text": "PITEST FAIL: The mutation score of class a.Foo of package app is 50% (1/2), below the threshold of 70%.\nIn addition to those shown, 3 mutants survived."
                }
              }
            ]
          }
        ]
        "#);
    }

    #[test]
    fn an_error_is_a_failed_invocation_and_a_fail_without_survivors_a_result() {
        let folders = folders();
        let [pass, fail, skip, error] =
            of().map(|report| run(&render_sarif(&shown(&report, &folders))));
        for (run, results, successful) in [
            (&pass, 0, true),
            (&fail, 1, true),
            (&skip, 0, true),
            (&error, 0, false),
        ] {
            assert_eq!(run["results"].as_array().unwrap().len(), results, "{run:#}");
            assert_eq!(run["invocations"][0]["executionSuccessful"], successful);
        }
        let told = &error["invocations"][0]["toolExecutionNotifications"][0];
        assert_eq!(told["level"], "error");
        assert_eq!(
            told["message"]["text"],
            "PITEST ERROR: Maven was not found.\nhint: Install it."
        );
        let skip = &of()[2];
        let strict = ReportView {
            fail_on_skip: true,
            ..shown(skip, &folders)
        };
        assert_eq!(
            run(&render_sarif(&strict))["results"][0]["ruleId"],
            "PITEST/SKIP"
        );
    }

    #[test]
    fn a_place_is_a_relative_reference_whatever_the_path_holds() {
        let (report, folders) = (hostile(), folders());
        let run = run(&render_sarif(&shown(&report, &folders)));
        let uri = &run["results"][1]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert_eq!(uri, "src/app/src/main/java/a/F%3A%20%C3%BC%2C%25.java");
    }
}
