//! SARIF 2.1.0 for code scanning: the frame that all of ralph's logs share.

use crate::source::RepoPath;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The schema of the version that is written.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The level of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SarifLevel {
    /// It must be fixed.
    Error,
    /// It is worth a look.
    Warning,
    /// For information.
    Note,
}

/// Common part of results.
#[derive(Clone, Debug)]
pub struct SarifRule {
    /// Stable: alerts are kept by it.
    pub id: String,
    /// One word.
    pub name: String,
    /// A line.
    pub short: String,
    /// Whole sentences.
    pub full: String,
}

/// One finding.
#[derive(Clone, Debug)]
pub struct SarifResult {
    pub rule: SarifRule,
    /// Its level.
    pub grade: SarifLevel,
    /// The finding, as sentences.
    pub text: String,
    /// The file, relative to what is checked out.
    pub file: RepoPath,
    /// 1-based; 1 where only the file is known.
    pub line: u32,
    /// The line itself; empty when it is not known.
    pub source: String,
    /// The same as long as the finding is.
    pub fingerprint: String,
}

/// The log of one run, without a final line end. `category` distinguishes logs of one commit; `notifications` are
/// messages about the run itself.
pub fn sarif_log(
    category: &str,
    is_successful: bool,
    notifications: &[(SarifLevel, String)],
    results: &[SarifResult],
) -> String {
    let mut rules: BTreeMap<&str, Value> = BTreeMap::new();
    for result in results {
        rules
            .entry(&result.rule.id)
            .or_insert_with(|| rule_value(result));
    }
    let notifications: Vec<Value> = notifications.iter().map(|(grade, text): &(SarifLevel, String)| json!({ "level": grade, "message": { "text": text } })).collect();
    let results: Vec<Value> = results
        .iter()
        .map(|found| {
            let index = rules.keys().position(|known| *known == found.rule.id);
            result_value(found, index)
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
            "automationDetails": { "id": format!("ralph/{category}/") },
            "columnKind": "unicodeCodePoints",
            "invocations": [{ "executionSuccessful": is_successful, "toolExecutionNotifications": notifications }],
            "results": results,
        }],
    });
    format!("{log:#}")
}

fn rule_value(result: &SarifResult) -> Value {
    let rule = &result.rule;
    json!({
        "id": rule.id,
        "name": rule.name,
        "shortDescription": { "text": rule.short },
        "fullDescription": { "text": rule.full },
        "help": { "text": rule.full },
        "defaultConfiguration": { "level": result.grade },
    })
}

fn result_value(found: &SarifResult, index: Option<usize>) -> Value {
    let mut region = json!({ "startLine": found.line });
    if !found.source.is_empty() {
        region["snippet"] = json!({ "text": found.source });
    }
    json!({
        "ruleId": found.rule.id,
        "ruleIndex": index,
        "level": found.grade,
        "message": { "text": found.text },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": relative_uri(&found.file), "uriBaseId": "%SRCROOT%" },
            "region": region,
        }}],
        "partialFingerprints": { "ralphFinding/v1": found.fingerprint },
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
