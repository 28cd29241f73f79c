//! Every setting with its value and where it came from (`ralph check --config`).

use super::error::{ConfigError, dotted};
use super::overrides::{Override, Source};
use super::schema::COMMAND_GATE;
use super::yaml_tree::line_of;
use super::{GateSettings, Reading, Settings};
use serde::Serialize;
use serde_yaml::{Mapping, Value};
use std::path::Path;

/// A setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explained {
    /// Dotted.
    pub key: String,
    /// As the file would hold it; `null` if there is none. Values of an agent's environment, which may be
    /// secrets, are not shown.
    pub value: serde_json::Value,
    /// Where it came from.
    pub from: Source,
    /// What is wrong with it, a whole sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What to do about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Explains a configuration under its overrides: every setting, and after them the mistakes that belong to no
/// known setting. Of a file that cannot be read only overrides are listed, and why it cannot be read.
/// `text`: the file's content, or the error from reading it.
pub fn explain(text: Result<&str, ConfigError>, workspace: &Path, overrides: &[Override]) -> Vec<Explained> {
    let reading = Reading::of(text, workspace, overrides);
    let mut listing = Listing { reading: &reading, path: Vec::new(), rows: Vec::new() };
    listing.list(Some(&Settings::default_tree()), Some(&reading.tree));
    let mut rows = listing.rows;
    if !reading.is_readable {
        rows.retain(|row| row.from != Source::Default);
    }
    for error in reading.errors {
        add_error(&mut rows, error, overrides);
    }
    rows
}

/// Puts an error to its setting, or after all if it has none.
fn add_error(rows: &mut Vec<Explained>, error: ConfigError, overrides: &[Override]) {
    let (problem, hint) = (Some(error.shown()), Some(error.hint.clone()));
    if let Some(row) = rows.iter_mut().find(|row| row.problem.is_none() && row.key == error.key) {
        (row.problem, row.hint) = (problem, hint);
        return;
    }
    let is_cause = |given: &&Override| error.message.starts_with(&format!("{}: ", given.name()));
    let from = match overrides.iter().find(is_cause) {
        Some(given) if !error.is_in_file() => given.source.clone(),
        _ => Source::File { line: error.line },
    };
    rows.push(Explained { key: error.key, value: serde_json::Value::Null, from, problem, hint });
}

struct Listing<'r> {
    reading: &'r Reading<'r>,
    path: Vec<String>,
    rows: Vec<Explained>,
}

impl Listing<'_> {
    /// Lists what is at the path and below it, in the order of the defaults, then of the file.
    fn list(&mut self, default: Option<&Value>, written: Option<&Value>) {
        let [defaults, entries] = [default, written].map(|value| value.and_then(Value::as_mapping));
        let is_placement = self.path.len() == 2 && self.path.starts_with(&["placement".to_owned()]);
        if is_placement || (defaults.is_none() && entries.is_none()) {
            return self.add(default, written);
        }
        let keys = defaults.into_iter().chain(entries).flat_map(Mapping::keys).filter_map(Value::as_str);
        let mut listed: Vec<&str> = Vec::new();
        for key in keys {
            let below = entries.and_then(|map| map.get(key));
            self.path.push(key.to_owned());
            let is_unknown = defaults.is_none_or(|map| !map.contains_key(key)) && self.is_wrong();
            if !listed.contains(&key) && !is_unknown {
                listed.push(key);
                let default = self.default_below(defaults, below);
                self.list(default.as_ref(), below);
            }
            self.path.pop();
        }
    }

    /// The default of the path, whose parent has these; a gate that is a command has its own.
    fn default_below(&self, defaults: Option<&Mapping>, written: Option<&Value>) -> Option<Value> {
        let default = defaults.and_then(|map| map.get(self.path.last()?.as_str())).cloned();
        let [first, name] = self.path.as_slice() else { return default };
        let is_command = name != "PITEST" || written.is_some_and(|gate| gate.get("run").is_some());
        if first != "gates" || !is_command {
            return default;
        }
        let mut gate = serde_yaml::to_value(GateSettings::default()).ok()?;
        gate.as_mapping_mut()?.retain(|key, _| key.as_str().is_some_and(|key| COMMAND_GATE.contains(&key)));
        Some(gate)
    }

    fn is_wrong(&self) -> bool {
        let key = dotted(&self.path);
        self.reading.errors.iter().any(|error| error.key == key)
    }

    fn add(&mut self, default: Option<&Value>, written: Option<&Value>) {
        let is_secret =
            matches!(self.path.as_slice(), [first, _, third, _] if first == "agents" && third == "env");
        let value = match written.or(default) {
            Some(_) if is_secret => "(not shown)".into(),
            value => serde_json::to_value(value).unwrap_or_default(),
        };
        let from = match (self.reading.sources.of(&self.path), written) {
            (Some(given), _) => given.source.clone(),
            (None, Some(_)) => Source::File { line: line_of(self.reading.text, &self.path) },
            (None, None) => Source::Default,
        };
        self.rows.push(Explained { key: dotted(&self.path), value, from, problem: None, hint: None });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{SETTINGS, Setting};

    fn told(text: &str, given: &[Override]) -> String {
        let lines = explain(Ok(text), Path::new("/w"), given);
        assert!(lines.iter().all(|line| line.problem.is_none()), "{lines:#?}");
        let from = |source: &Source| match source {
            Source::Default => "default".to_owned(),
            Source::File { line } => format!("line {}", line.expect("a line")),
            Source::Environment { name } | Source::Flag { name } => (*name).to_owned(),
        };
        let kept = lines.iter().filter(|line| line.from != Source::Default || line.key.contains("limit"));
        kept.map(|line| format!("{}={} ({})", line.key, line.value, from(&line.from)))
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn each_setting_is_told_with_its_origin() {
        let text = "limits:\n  wall: 1h\n  attempts: 2\nagents:\n  default:\n    command: [x]\n    env: {KEY: secret}\ngates:\n  LINT: {run: [lint]}\n";
        let given = [
            Override::from_variable(Setting::of("limits.attempts").expect("one"), "4".to_owned()),
            Override::from_flag(Setting::of("gates.PITEST.threshold").expect("one"), "80".to_owned()),
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
        limits.check="10m" (default)
        "#);
    }

    #[test]
    fn every_setting_that_can_be_given_is_listed_with_its_giver() {
        let plain: Vec<String> =
            explain(Ok(""), Path::new("/w"), &[]).into_iter().map(|line| line.key).collect();
        for setting in SETTINGS {
            let listed =
                plain.iter().any(|key| key == setting.key || key.starts_with(&format!("{}.", setting.key)));
            assert!(listed, "{}", setting.key);
        }
        let agent = Override::from_variable(Setting::of("roles").expect("one"), "codex".to_owned());
        let lines = explain(Ok(""), Path::new("/w"), &[agent]);
        let by_variable: Vec<&str> =
            lines.iter().filter(|line| line.from != Source::Default).map(|line| line.key.as_str()).collect();
        assert_eq!(by_variable.len(), 7, "{by_variable:?}");
        assert_eq!(by_variable[0], "agents.codex.preset");
    }

    #[test]
    fn nothing_is_missing_without_a_default() {
        let lines = explain(Ok(""), Path::new("/w"), &[]);
        let empty: Vec<&str> =
            lines.iter().filter(|line| line.value.is_null()).map(|line| line.key.as_str()).collect();
        assert_eq!(
            empty,
            [
                "checks.red",
                "checks.green",
                "limits.iterations",
                "limits.idle",
                "hooks.blocked",
                "hooks.done",
                "hooks.gate-fail",
                "hooks.stop"
            ]
        );
    }
}
