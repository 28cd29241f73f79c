//! A gate's report as SARIF 2.1.0 for code scanning, with one rule for each mutator that is named.

use super::{About, Note, ReportView, SarifLevel};
use crate::mutation::Verdict;
use crate::source::RepoPath;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The schema of the version that is written.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The log, without a final line end.
pub fn render_sarif(shown: &ReportView<'_>) -> String {
    let notes = shown.report_notes();
    let is_error = matches!(shown.report.verdict, Verdict::Error { .. });
    let mut rules: BTreeMap<String, Value> = BTreeMap::new();
    let mut listed: Vec<(String, &Note)> = Vec::new();
    for note in &notes {
        let is_result = match note.about {
            About::Verdict(_) => note.level == SarifLevel::Error && !is_error,
            About::Survivor(_) => true,
        };
        if is_result {
            let (id, rule) = make_rule(shown.gate, note);
            rules.entry(id.clone()).or_insert(rule);
            listed.push((id, note));
        }
    }
    let results: Vec<Value> = listed
        .iter()
        .map(|(id, note)| result_value(note, id, rules.keys().position(|known| known == id)))
        .collect();
    // The verdict is a notification too, whether or not it is a finding in the code.
    let level = if is_error {
        SarifLevel::Error
    } else {
        SarifLevel::Note
    };
    let notifications: Vec<Value> = notes
        .iter()
        .filter(|note| matches!(note.about, About::Verdict(_)))
        .map(|note| {
            let text = format!("{}: {}", note.title, note.text);
            json!({ "level": level, "message": { "text": text } })
        })
        .collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "ralph",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.into_values().collect::<Vec<_>>(),
            }},
            // Distinguishes the logs of one commit.
            "automationDetails": { "id": format!("ralph/{}/", shown.gate) },
            "columnKind": "unicodeCodePoints",
            "invocations": [{ "executionSuccessful": !is_error, "toolExecutionNotifications": notifications }],
            "results": results,
        }],
    });
    format!("{log:#}")
}

/// The id of a note's rule, by which code scanning keeps alerts, and the rule.
fn make_rule(gate: &str, note: &Note) -> (String, Value) {
    let (id, name, short, full) = match &note.about {
        About::Verdict(word) => (
            format!("{gate}/{word}"),
            format!("{gate}{word}"),
            format!("The gate {gate} ended with {word}"),
            format!("The gate {gate} judged the changed code and ended with {word}."),
        ),
        About::Survivor(mutator) => (
            format!("{gate}/survivor/{mutator}"),
            mutator.clone(),
            format!("A mutant of {mutator} survived"),
            format!(
                "{gate} changed the code with the mutator {mutator}, and no test failed: add an assertion that sees the difference."
            ),
        ),
    };
    let rule = json!({
        "id": id,
        "name": name,
        "shortDescription": { "text": short },
        "fullDescription": { "text": full },
        "help": { "text": full },
        "defaultConfiguration": { "level": note.level },
    });
    (id, rule)
}

fn result_value(note: &Note, id: &str, index: Option<usize>) -> Value {
    let mut region = json!({ "startLine": note.line });
    if !note.source.is_empty() {
        region["snippet"] = json!({ "text": note.source });
    }
    json!({
        "ruleId": id,
        "ruleIndex": index,
        "level": note.level,
        "message": { "text": note.text },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": relative_uri(&note.some_file()), "uriBaseId": "%SRCROOT%" },
            "region": region,
        }}],
        "partialFingerprints": { "ralphFinding/v1": note.fingerprint },
    })
}

/// A relative reference (RFC 3986): everything but unreserved characters and `/` is percent-encoded.
fn relative_uri(path: &RepoPath) -> String {
    path.to_bytes()
        .into_iter()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect::<Vec<_>>()
        .concat()
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
