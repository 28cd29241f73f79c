//! Lists every setting with its value and source (`ralph check --config`).

use super::Reading;
use super::error::{ConfigError, FILE, dotted};
use super::overrides::{Override, ValueSource};
use super::schema::gate_keys;
use super::yaml_tree::{get, line_of};
use serde::Serialize;
use serde_yaml::Value;
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedSetting {
    pub key: String,
    /// The value in the form of the file, or `null`.
    ///
    /// Values of an agent's environment, which may be secrets, are not shown.
    pub value: serde_json::Value,
    /// Its source.
    pub from: ValueSource,
    /// Its error, a whole sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// The hint to that error, a whole sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Explains a configuration and its overrides: every setting, then an error that belongs to none.
///
/// For a file that cannot be read, it lists only the overrides and the reason. `text`: the file's content, or the
/// error from reading it.
pub fn explain(
    text: Result<&str, ConfigError>,
    workspace: &Path,
    overrides: &[Override],
) -> Vec<ExplainedSetting> {
    let (rows, error) = match text.and_then(|text| Reading::of(text, overrides)) {
        Ok(reading) => (listed(&reading), reading.settings(workspace).err()),
        Err(error) => {
            let mut rows = Reading::of("", overrides)
                .map(|reading| listed(&reading))
                .unwrap_or_default();
            rows.retain(|row| row.from != ValueSource::Default);
            (rows, Some(error))
        }
    };
    match error {
        Some(error) => with_problem(rows, &error, overrides),
        None => rows,
    }
}

/// Returns the rows with the error at its setting, or at the end if it has none.
fn with_problem(
    mut rows: Vec<ExplainedSetting>,
    error: &ConfigError,
    overrides: &[Override],
) -> Vec<ExplainedSetting> {
    let (problem, hint) = (Some(error.to_string()), Some(error.hint.clone()));
    if let Some(row) = rows.iter_mut().find(|row| row.key == error.kind) {
        (row.problem, row.hint) = (problem, hint);
        return rows;
    }
    let cause = overrides
        .iter()
        .find(|given| error.place != FILE && error.place == given.name());
    let from = cause.map_or(ValueSource::File { line: error.line }, Override::source);
    rows.push(ExplainedSetting {
        key: error.kind.clone(),
        value: serde_json::Value::Null,
        from,
        problem,
        hint,
    });
    rows
}

/// Returns every setting, in the order of the defaults, then of the file.
fn listed(reading: &Reading<'_>) -> Vec<ExplainedSetting> {
    let mut rows = Vec::new();
    list(reading, &mut Vec::new(), &reading.merged, &mut rows);
    rows
}

fn list(
    reading: &Reading<'_>,
    path: &mut Vec<String>,
    value: &Value,
    rows: &mut Vec<ExplainedSetting>,
) {
    let is_placement = path.len() == 2 && path[0] == "placement";
    match value {
        Value::Mapping(map) if !is_placement => {
            for (key, below) in map {
                path.push(key.as_str().unwrap_or_default().to_owned());
                list(reading, path, below, rows);
                path.pop();
            }
        }
        value => rows.extend(row(reading, path, value)),
    }
}

/// True for a key that applies to a gate.
fn is_key_of(reading: &Reading<'_>, gate: &str, key: &str) -> bool {
    let run = get(&reading.merged, &["gates", gate, "run"].map(str::to_owned));
    gate_keys(gate, run.is_some_and(|run| !run.is_null())).is_none_or(|known| known.contains(&key))
}

/// Returns a setting; `None` for a default that does not apply to its gate.
fn row(reading: &Reading<'_>, path: &[String], value: &Value) -> Option<ExplainedSetting> {
    let from = match (reading.sources.of(path), get(&reading.written, path)) {
        (Some(given), _) => given.source(),
        (None, Some(_)) => ValueSource::File {
            line: line_of(reading.text, &path.join(".")),
        },
        (None, None) => ValueSource::Default,
    };
    let is_default = from == ValueSource::Default;
    let value = match path {
        [first, _, third, _] if first == "agents" && third == "env" => "(not shown)".into(),
        [first, gate, key] if first == "gates" && is_default && !is_key_of(reading, gate, key) => {
            return None;
        }
        _ => serde_json::to_value(value).unwrap_or_default(),
    };
    Some(ExplainedSetting {
        key: dotted(path),
        value,
        from,
        problem: None,
        hint: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{SETTINGS, Setting};

    fn given(key: &str, value: &str, is_flag: bool) -> Override {
        Override {
            setting: Setting::of(key).expect("one"),
            value: value.to_owned(),
            is_flag,
        }
    }

    fn told(text: &str, given: &[Override]) -> String {
        let lines = explain(Ok(text), Path::new("/w"), given);
        assert!(
            lines.iter().all(|line| line.problem.is_none()),
            "{lines:#?}"
        );
        let kept = lines
            .iter()
            .filter(|line| line.from != ValueSource::Default || line.key.contains("limit"));
        kept.map(|line| {
            let from = match &line.from {
                ValueSource::Default => "default".to_owned(),
                ValueSource::File { line } => format!("line {}", line.expect("a line")),
                ValueSource::Environment { name } | ValueSource::Flag { name } => {
                    (*name).to_owned()
                }
            };
            format!("{}={} ({from})", line.key, line.value)
        })
        .collect::<Vec<_>>()
        .join("\n")
    }

    #[test]
    fn each_setting_is_told_with_its_origin() {
        let text = "limits:\n  wall: 1h\n  attempts: 2\nagents:\n  default:\n    command: [x]\n    env: {KEY: secret}\ngates:\n  LINT: {run: [lint]}\n";
        let given = [
            given("limits.attempts", "4", false),
            given("gates.PITEST.threshold", "80", true),
        ];
        insta::assert_snapshot!(told(text, &given), @r#"
        agents.default.command=["x"] (line 6)
        agents.default.env.KEY="(not shown)" (line 7)
        gates.PITEST.threshold=80 (--set)
        gates.PITEST.limit="60m" (default)
        gates.LINT.limit="60m" (default)
        gates.LINT.run=["lint"] (line 9)
        limits.iterations=null (default)
        limits.attempts=4 (RALPH_LIMITS_ATTEMPTS)
        limits.rework=5 (default)
        limits.wall="1h" (line 2)
        limits.attempt="60m" (default)
        limits.idle=null (default)
        limits.cost.run=null (default)
        limits.cost.task=null (default)
        limits.cost.attempt=null (default)
        limits.tokens.run=null (default)
        limits.tokens.task=null (default)
        limits.tokens.attempt=null (default)
        limits.quota.stop_at=null (default)
        limits.check="10m" (default)
        "#);
    }

    #[test]
    fn every_setting_that_can_be_given_is_listed_with_its_giver() {
        let plain: Vec<String> = explain(Ok(""), Path::new("/w"), &[])
            .into_iter()
            .map(|line| line.key)
            .collect();
        for setting in SETTINGS {
            let listed = plain
                .iter()
                .any(|key| key == setting.key || key.starts_with(&format!("{}.", setting.key)));
            assert!(listed, "{}", setting.key);
        }
        let agent = given("roles", "codex", false);
        let lines = explain(Ok(""), Path::new("/w"), &[agent]);
        let by_variable: Vec<&str> = lines
            .iter()
            .filter(|line| line.from != ValueSource::Default)
            .map(|line| line.key.as_str())
            .collect();
        assert_eq!(by_variable.len(), 7, "{by_variable:?}");
        assert_eq!(by_variable[0], "agents.codex.preset");
    }

    #[test]
    fn nothing_is_missing_without_a_default() {
        let lines = explain(Ok(""), Path::new("/w"), &[]);
        let empty: Vec<&str> = lines
            .iter()
            .filter(|line| line.value.is_null())
            .map(|line| line.key.as_str())
            .collect();
        assert_eq!(
            empty,
            [
                "gates.PITEST.classpath_command",
                "checks.red",
                "checks.green",
                "limits.iterations",
                "limits.idle",
                "limits.cost.run",
                "limits.cost.task",
                "limits.cost.attempt",
                "limits.tokens.run",
                "limits.tokens.task",
                "limits.tokens.attempt",
                "limits.quota.stop_at",
                "hooks.blocked",
                "hooks.done",
                "hooks.gate-fail",
                "hooks.waiting",
                "hooks.stop",
                "hooks.anchor",
                "lanes.command",
                "lanes.setup"
            ]
        );
    }
}
