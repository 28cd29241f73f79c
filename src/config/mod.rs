//! The configuration: parses a text into settings, and locates the first error.

mod edit;
mod error;
mod explain;
mod fit;
mod kinds;
mod limits;
mod overrides;
mod presets;
mod roles;
mod rules;
mod schema;
mod settings;
mod yaml_tree;

pub use edit::{placement_line, placement_word, with_placement};
pub use error::{ConfigError, FILE, nearest};
pub use explain::{ExplainedSetting, explain};
pub use overrides::{Override, ROOT_VARIABLE, SETTINGS, Setting, ValueSource};
pub use presets::{AgentTrouble, PRESETS, Preset};
pub use roles::{Role, role_of};
pub use schema::drop_integer_formats;
pub use settings::*;
pub use yaml_tree::LONGEST_TEXT;

use crate::source::Problem;
use error::Mistake;
use overrides::OverrideSources;
use serde_yaml::Value;
use settings::AgentKeys;
use std::path::Path;

/// The text that `ralph init` writes: every key, most with their default. Parsing it gives the defaults.
pub const TEMPLATE: &str = include_str!("../../templates/config.yaml");

/// The defaults: those of the template, and those of keys that are comments in it.
const DEFAULTS: &str = concat!(
    include_str!("../../templates/defaults.yaml"),
    include_str!("../../templates/config.yaml")
);

/// The schema file next to it, which its first line names for editors.
pub const SCHEMA_FILE: &str = "config.schema.json";

/// Returns the JSON Schema of the file, which allows every valid file.
///
/// It is looser where a schema cannot express a rule (lengths of time in several units, regular expressions in Rust's
/// syntax, names of agents that `roles:` uses).
pub fn schema() -> serde_json::Value {
    let defaults = yaml_tree::parse(DEFAULTS)
        .ok()
        .and_then(|tree| serde_json::to_value(tree).ok());
    schema::of_file(&defaults.unwrap_or_default())
}

/// Reads the text of `.ralph/config.yaml` and applies the overrides. The empty text gives the defaults.
///
/// `workspace` is the absolute directory that holds `.ralph/`.
///
/// # Errors
/// The first error.
pub fn parse(
    text: &str,
    workspace: &Path,
    overrides: &[Override],
) -> Result<Settings, ConfigError> {
    Reading::of(text, overrides)?.settings(workspace)
}

/// A configuration as trees of values.
struct Reading<'t> {
    text: &'t str,
    /// The values of the file and the overrides.
    written: Value,
    sources: OverrideSources,
    /// The written values over the defaults.
    merged: Value,
}

impl<'t> Reading<'t> {
    fn of(text: &'t str, overrides: &[Override]) -> Result<Self, ConfigError> {
        let mut written = yaml_tree::parse(text)?;
        let mut merged = yaml_tree::parse(DEFAULTS)?;
        let sources = overrides::apply(&mut written, &merged, overrides)?;
        let gate = merged["gates"]["PITEST"].clone();
        for name in rules::names(written.get("gates")) {
            yaml_tree::set(&mut merged, &["gates", name], gate.clone());
            if !written["gates"][name]["run"].is_null() {
                yaml_tree::set(
                    &mut merged,
                    &["gates", name, "where"],
                    schema::COMMAND_FOLDER.into(),
                );
            }
        }
        yaml_tree::lay_over(&mut merged, &written);
        Ok(Self {
            text,
            written,
            sources,
            merged,
        })
    }

    fn settings(&self, workspace: &Path) -> Result<Settings, ConfigError> {
        fit::check(&schema::of_settings(), &self.merged)
            .and_then(|()| rules::check(&self.written))
            .map_err(|mistake| self.located(&mistake))?;
        let mut settings: Settings =
            serde_yaml::from_value(self.merged.clone()).map_err(|error| {
                let what = format!("The settings cannot be read: {error}.");
                Problem::new(
                    String::new(),
                    what,
                    "`ralph generate schema` shows what may be written.",
                )
                .at(FILE, None)
            })?;
        settings.packages_given = self.written.get("packages").is_some();
        for glob in &mut settings.packages {
            let short = glob.trim_start_matches("./").trim_end_matches('/');
            *glob = if short.is_empty() {
                ".".to_owned()
            } else {
                short.to_owned()
            };
        }
        settings.workspace = workspace.to_path_buf();
        settings.spec = workspace.join(settings.spec).components().collect();
        Ok(settings)
    }

    /// Returns the error with its line, or with the name of the variable or flag.
    fn located(&self, mistake: &Mistake) -> ConfigError {
        let key = error::dotted(&mistake.path);
        let subject = if key.is_empty() {
            "The file".to_owned()
        } else {
            format!("`{key}`")
        };
        let hint = match key.as_str() {
            "on" => {
                "It is called `hooks` now, because YAML 1.1 reads `on` as `true`: rename the key."
            }
            key if key.starts_with("gates.") && key.ends_with(".engine") => {
                "ralph runs PIT itself: leave the key out. To run the POM's own pitest-maven, write a gate that is a command (`gates.<NAME>.run`)."
            }
            _ => &mistake.hint,
        };
        let hint = hint.to_owned();
        let problem = Problem::new(key, format!("{subject} {}.", mistake.what), hint);
        match self.sources.of(&mistake.path) {
            Some(given) => problem.at(given.name(), None),
            None => problem.at(FILE, yaml_tree::line_of(self.text, &mistake.path.join("."))),
        }
    }
}

/// Returns the line on which the file has a key (`gates.PITEST.threshold`); `None` if it has none.
pub fn key_line(text: &str, key: &str) -> Option<usize> {
    yaml_tree::parse(text).ok().filter(|_| !key.is_empty())?;
    yaml_tree::line_of(text, key)
}

impl Settings {
    /// Returns the configured agent of a role and then its fallbacks, each with its name.
    pub fn agents_for(&self, role: Role) -> impl Iterator<Item = (&str, &AgentSettings)> {
        let name = self.roles.get(&role);
        let fallback = name
            .and_then(|name| self.agents.get(name))
            .map(|agent| &agent.fallback);
        let all = name.into_iter().chain(fallback.into_iter().flatten());
        all.filter_map(|name| self.agents.get_key_value(name))
            .map(|(name, agent)| (name.as_str(), agent))
    }

    /// Returns the placement of each gate; after every task for a gate without a choice.
    pub fn placed(&self) -> Vec<(String, Placement)> {
        self.gates
            .keys()
            .map(|gate| {
                (
                    gate.clone(),
                    self.placement.get(gate).cloned().unwrap_or(Placement::Each),
                )
            })
            .collect()
    }
}

impl Hooks {
    /// Returns the commands with their events.
    pub fn commands(&self) -> impl Iterator<Item = (&'static str, &[String])> {
        let all = [
            ("blocked", &self.blocked),
            ("done", &self.done),
            ("gate-fail", &self.gate_fail),
            ("waiting", &self.waiting),
            ("stop", &self.stop),
            ("anchor", &self.anchor),
        ];
        all.into_iter()
            .filter_map(|(event, argv)| Some((event, argv.as_deref()?)))
    }
}

impl From<AgentKeys> for AgentSettings {
    fn from(keys: AgentKeys) -> Self {
        let preset = keys.preset.as_deref().and_then(Preset::named);
        let own = keys
            .env
            .into_iter()
            .map(|(name, value)| (name, variable_text(&value)));
        let known = preset.map(|preset| preset.env.clone()).unwrap_or_default();
        let format = keys
            .format
            .or(preset.map(|preset| preset.format))
            .unwrap_or_default();
        let args = keys.args.unwrap_or_default();
        let command = match preset {
            Some(preset) => preset.argv(format, keys.model.as_deref(), &args),
            None => keys.command.unwrap_or_default(),
        };
        Self {
            command,
            env: known.into_iter().chain(own).collect(),
            preset: keys.preset,
            format,
            fallback: keys.fallback,
        }
    }
}

#[cfg(test)]
mod tests;
