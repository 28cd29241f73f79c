//! The known agent CLIs: one file each in `templates/agents/`, in the order in which they are offered.
//!
//! A preset was observed with the versions that it names. Without versions it follows the CLI's documentation.

use crate::turn::TranscriptFormat;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

const FILES: [&str; 13] = [
    include_str!("../../templates/agents/claude.yaml"),
    include_str!("../../templates/agents/codex.yaml"),
    include_str!("../../templates/agents/gemini.yaml"),
    include_str!("../../templates/agents/opencode.yaml"),
    include_str!("../../templates/agents/kiro-cli.yaml"),
    include_str!("../../templates/agents/copilot.yaml"),
    include_str!("../../templates/agents/amp.yaml"),
    include_str!("../../templates/agents/goose.yaml"),
    include_str!("../../templates/agents/aider.yaml"),
    include_str!("../../templates/agents/qwen.yaml"),
    include_str!("../../templates/agents/hermes.yaml"),
    include_str!("../../templates/agents/cursor-agent.yaml"),
    include_str!("../../templates/agents/pi.yaml"),
];

pub static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    FILES
        .iter()
        .filter_map(|text| serde_yaml::from_str(text).ok())
        .collect()
});

/// A known way to start an agent CLI unattended.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// Its name in `preset:`, and its program.
    pub name: String,
    /// The versions with which it was observed to work.
    pub versions: Vec<String>,
    /// Program and arguments. The prompt is standard input unless an argument holds `{prompt}` or `{prompt_file}`.
    command: Vec<String>,
    /// Arguments that stay after the configured `args:`.
    #[serde(default)]
    last: Vec<String>,
    /// Arguments that choose a model, with `{model}` for its name; empty without such a choice.
    #[serde(default)]
    model: Vec<String>,
    /// Its output with the arguments of `stream`.
    pub format: TranscriptFormat,
    /// Arguments for a transcript as events.
    #[serde(default)]
    stream: Vec<String>,
    /// Environment that the configured `env:` extends.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The variable without which it refuses to start as root. You set it to 1.
    pub root: Option<String>,
    /// Arguments that print the transcript of a finished session, with `{session}` for its id.
    #[serde(default)]
    pub transcript: Vec<String>,
    /// Arguments that print its help, in which each flag of this preset is; empty if unknown.
    #[serde(default)]
    pub help: Vec<String>,
    /// True if it prints the used share of its usage limits.
    #[serde(default)]
    pub reports_quota: bool,
    /// The command for a login.
    pub login: String,
    /// True if it exits with 0 even when its provider refused the request.
    #[serde(default)]
    pub fails_with_zero: bool,
    /// Exit codes for such trouble when no known text is printed.
    #[serde(default)]
    pub exits: BTreeMap<i32, AgentTrouble>,
    /// Its output in trouble that is not the agent's fault, in lower case with plain quotes.
    #[serde(default)]
    pub texts: BTreeMap<AgentTrouble, Vec<String>>,
}

/// The reasons for which an agent CLI could not work, for any task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentTrouble {
    Limit,
    /// An administrator removed the allowance. It does not come back by itself.
    Disabled,
    /// No login, or a refused one.
    Login,
    /// The provider or the network is out.
    Outage,
    /// The model is unknown or not allowed.
    Model,
    /// The provider's policy refuses the request.
    Refused,
    /// It refuses to start with this call.
    Setup,
    /// It detected that the agent repeats itself, and stopped it.
    Loop,
}

impl Preset {
    /// Returns the preset of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Returns the preset whose program prints that format.
    pub fn printing(format: TranscriptFormat) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.format == format)
    }

    /// Returns the flags in its command, without their values.
    pub fn flags(&self) -> impl Iterator<Item = &str> {
        let all = self
            .command
            .iter()
            .chain(&self.stream)
            .chain(&self.model)
            .chain(&self.last);
        all.map(String::as_str)
            .filter(|arg| arg.len() > 1 && arg.starts_with('-'))
    }

    /// True if a model can be chosen.
    pub fn takes_model(&self) -> bool {
        !self.model.is_empty()
    }

    /// Returns the whole argument vector with `args` inserted, for output in that format.
    pub fn argv(
        &self,
        format: TranscriptFormat,
        model: Option<&str>,
        args: &[String],
    ) -> Vec<String> {
        let stream = if format.prints_events() {
            self.stream.as_slice()
        } else {
            &[]
        };
        let model: Vec<String> = model
            .map(|model| {
                self.model
                    .iter()
                    .map(|arg| arg.replace("{model}", model))
                    .collect()
            })
            .unwrap_or_default();
        [&self.command, stream, &model, args, &self.last].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_a_preset_with_a_name_and_texts_that_can_be_found() {
        for text in FILES {
            let preset: Preset =
                serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
            assert_eq!(preset.command[0], preset.name);
            assert_eq!(
                preset.stream.is_empty(),
                !preset.format.prints_events(),
                "{}",
                preset.name
            );
            assert!(
                preset.model.is_empty() || preset.model.iter().any(|arg| arg.contains("{model}"))
            );
            for known in preset.texts.values().flatten() {
                assert!(
                    known.len() >= 12,
                    "{known} is too short to be distinguished from prose"
                );
                assert_eq!(
                    *known,
                    known.to_lowercase().replace('’', "'"),
                    "{}",
                    preset.name
                );
            }
        }
        assert_eq!(PRESETS.len(), FILES.len());
        let untried: Vec<&str> = PRESETS
            .iter()
            .filter(|preset| preset.versions.is_empty())
            .map(|preset| preset.name.as_str())
            .collect();
        assert_eq!(
            untried,
            ["kiro-cli", "amp", "goose", "aider", "cursor-agent"]
        );
    }

    #[test]
    fn a_file_with_an_unknown_key_is_no_preset() {
        let text = FILES[0].replace("\nlogin:", "\nlogins:");
        assert!(serde_yaml::from_str::<Preset>(&text).is_err());
    }
}
