//! Settings from environment variables and flags, applied over the file (flags > environment > file).

use super::error::{ConfigError, either, quoted};
use super::kinds::presets;
use super::rules::names;
use super::yaml_tree::set;
use super::{Preset, Role};
use crate::source::Problem;
use serde::Serialize;
use serde_yaml::Value;

/// A setting that can be overridden.
#[derive(Debug, PartialEq, Eq)]
pub struct Setting {
    /// The key, dotted. `roles` covers all roles at once.
    pub key: &'static str,
    pub variable: &'static str,
    pub flag: &'static str,
    /// True if it decides how work is done or judged, and not only its location. Agents may not choose it.
    pub judges: bool,
}

/// The variable for `--root`, which is not a key.
pub const ROOT_VARIABLE: &str = "RALPH_ROOT";

/// All settings. No variable has a name that ralph sets for an agent (`RALPH_TASK`, `RALPH_STAGE` …).
pub const SETTINGS: &[Setting] = &[
    Setting {
        key: "spec",
        variable: "RALPH_SPEC",
        flag: "--spec",
        judges: false,
    },
    Setting {
        key: "roles",
        variable: "RALPH_AGENT",
        flag: "--agent",
        judges: true,
    },
    judging("gates.PITEST.threshold", "RALPH_THRESHOLD"),
    judging("gates.PITEST.jobs", "RALPH_JOBS"),
    judging("gates.PITEST.limit", "RALPH_GATE_LIMIT"),
    judging("limits.iterations", "RALPH_LIMITS_ITERATIONS"),
    judging("limits.attempts", "RALPH_LIMITS_ATTEMPTS"),
    judging("limits.rework", "RALPH_LIMITS_REWORK"),
    judging("limits.wall", "RALPH_LIMITS_WALL"),
    judging("limits.attempt", "RALPH_LIMITS_ATTEMPT"),
    judging("limits.idle", "RALPH_LIMITS_IDLE"),
    judging("limits.check", "RALPH_LIMITS_CHECK"),
    judging("limits.cost.run", "RALPH_LIMITS_COST_RUN"),
    judging("limits.cost.task", "RALPH_LIMITS_COST_TASK"),
    judging("limits.cost.attempt", "RALPH_LIMITS_COST_ATTEMPT"),
    judging("limits.tokens.run", "RALPH_LIMITS_TOKENS_RUN"),
    judging("limits.tokens.task", "RALPH_LIMITS_TOKENS_TASK"),
    judging("limits.tokens.attempt", "RALPH_LIMITS_TOKENS_ATTEMPT"),
    judging("limits.quota.stop_at", "RALPH_LIMITS_QUOTA_STOP_AT"),
    judging("commit", "RALPH_COMMIT"),
    judging("on_blocked", "RALPH_ON_BLOCKED"),
    judging("on_budget", "RALPH_ON_BUDGET"),
    judging("verifier", "RALPH_VERIFIER"),
    judging("stages", "RALPH_STAGES"),
];

const fn judging(key: &'static str, variable: &'static str) -> Setting {
    Setting {
        key,
        variable,
        flag: "--set",
        judges: true,
    }
}

impl Setting {
    /// Returns the setting of that key.
    pub fn of(key: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.key == key)
    }
}

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ValueSource {
    Default,
    /// `.ralph/config.yaml`.
    File {
        /// 1-based.
        line: Option<usize>,
    },
    /// A variable of the environment.
    Environment {
        name: &'static str,
    },
    /// A flag.
    Flag {
        name: &'static str,
    },
}

/// A value from outside the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    pub setting: &'static Setting,
    /// The value as typed.
    pub value: String,
    /// True if it is a flag of this call, false if it is from the environment.
    pub is_flag: bool,
}

impl Override {
    /// Returns the name of the variable or flag.
    pub fn name(&self) -> &'static str {
        if self.is_flag {
            self.setting.flag
        } else {
            self.setting.variable
        }
    }

    pub(super) fn source(&self) -> ValueSource {
        let name = self.name();
        if self.is_flag {
            ValueSource::Flag { name }
        } else {
            ValueSource::Environment { name }
        }
    }
}

/// The overridden paths with their sources. A path covers everything below it.
#[derive(Clone, Debug, Default)]
pub(super) struct OverrideSources(Vec<(Vec<String>, Override)>);

impl OverrideSources {
    /// Returns the override of a path; `None` for a value of the file.
    pub(super) fn of(&self, path: &[String]) -> Option<&Override> {
        self.0
            .iter()
            .rev()
            .find(|(covered, _)| path.starts_with(covered))
            .map(|(_, given)| given)
    }

    fn add(&mut self, path: &[&str], given: &Override) {
        self.0.push((
            path.iter().map(|key| (*key).to_owned()).collect(),
            given.clone(),
        ));
    }
}

/// Applies the overrides to the tree of the file. The last one for a key wins.
///
/// Fails for an agent that does not exist.
pub(super) fn apply(
    tree: &mut Value,
    defaults: &Value,
    overrides: &[Override],
) -> Result<OverrideSources, ConfigError> {
    let mut sources = OverrideSources::default();
    for given in overrides {
        if given.setting.key == "roles" {
            set_all_roles(tree, given, &mut sources)?;
            continue;
        }
        let path: Vec<&str> = given.setting.key.split('.').collect();
        let default = path.iter().try_fold(defaults, |value, key| value.get(*key));
        set(tree, &path, typed(given.value.trim(), default));
        sources.add(&path, given);
    }
    Ok(sources)
}

/// Parses the text as the default's type if possible. The key's format refuses other texts.
fn typed(text: &str, default: Option<&Value>) -> Value {
    match (default, text.parse::<u64>()) {
        (Some(Value::Null), _) if text == "null" => Value::Null,
        (Some(Value::Null | Value::Number(_)), Ok(number)) => number.into(),
        (Some(Value::Null), Err(_)) => text
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite())
            .map_or_else(|| text.into(), Value::from),
        _ => text.into(),
    }
}

/// Sets one agent for every role: one of `agents:`, otherwise a preset.
fn set_all_roles(
    tree: &mut Value,
    given: &Override,
    sources: &mut OverrideSources,
) -> Result<(), ConfigError> {
    let name = given.value.as_str();
    let mut known = names(tree.get("agents"));
    if !known.contains(&name) {
        if Preset::named(name).is_none() {
            known.extend(presets());
            known.dedup();
            let what = format!(
                "{} is neither an agent of `agents:` nor a preset.",
                quoted(name)
            );
            let hint = format!("Name {}.", either(&known));
            return Err(Problem::new("roles".to_owned(), what, hint).at(given.name(), None));
        }
        set(tree, &["agents", name, "preset"], name.into());
        sources.add(&["agents", name], given);
    }
    for role in Role::all() {
        set(tree, &["roles", role.word()], name.into());
    }
    sources.add(&["roles"], given);
    Ok(())
}

#[cfg(test)]
mod tests;
