//! The known agent CLIs: `templates/agents/`, a file each, in the order in which they are offered. What a preset says
//! was seen with the versions that it names; without any it comes from the CLI's documentation.

use crate::turn::Format;
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

/// The presets.
pub static PRESETS: LazyLock<Vec<Preset>> = LazyLock::new(|| {
    FILES
        .iter()
        .filter_map(|text| serde_yaml::from_str(text).ok())
        .collect()
});

/// A known way to start an agent CLI without a person.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// Its name in `preset:`, and its program.
    pub name: String,
    /// The versions that it was seen to work with.
    pub versions: Vec<String>,
    /// Program and arguments. The prompt is standard input unless an argument holds `{prompt}` or `{prompt_file}`.
    command: Vec<String>,
    /// Arguments that stay behind the configured `args:`.
    #[serde(default)]
    last: Vec<String>,
    /// Arguments that choose a model, with `{model}` in its place; none if there is no such choice.
    #[serde(default)]
    model: Vec<String>,
    /// What it prints with the arguments of `stream`.
    pub format: Format,
    /// Arguments that make it print its transcript as events.
    #[serde(default)]
    stream: Vec<String>,
    /// Environment that the configured `env:` is added to.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The variable without which it refuses to start as root; a person sets it to 1.
    pub root: Option<String>,
    /// Arguments that make it print the transcript of a session that has ended, with `{session}` for its name.
    #[serde(default)]
    pub transcript: Vec<String>,
    /// Arguments that make it print its help, in which each flag of this preset is; none if they are not known.
    #[serde(default)]
    pub help: Vec<String>,
    /// What to type for a login.
    pub login: String,
    /// It exits with 0 when its provider refused the request, too.
    #[serde(default)]
    pub fails_with_zero: bool,
    /// Exit codes that mean such trouble when no known text is printed.
    #[serde(default)]
    pub exits: BTreeMap<i32, Trouble>,
    /// What it prints in trouble that is not the agent's fault: lower case, plain quotes.
    #[serde(default)]
    pub texts: BTreeMap<Trouble, Vec<String>>,
}

/// Why an agent CLI could not work, whatever its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trouble {
    /// A usage limit.
    Limit,
    /// An administrator took the allowance away: it does not come back by itself.
    Disabled,
    /// No login, or one that was refused.
    Login,
    /// The provider or the network is out.
    Outage,
    /// The model is not known, or may not be used.
    Model,
    /// The provider's policy refuses the request.
    Refused,
    /// It refuses to start as it was called.
    Setup,
    /// It found that the agent goes round in circles, and ended it.
    Loop,
}

impl Preset {
    /// The preset of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// The preset whose program prints that format.
    pub fn printing(format: Format) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.format == format)
    }

    /// The flags that it gives its program, those of values left out.
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

    /// Can a model be chosen?
    pub fn takes_model(&self) -> bool {
        !self.model.is_empty()
    }

    /// The whole argument vector with `args` in their place, for output in that format.
    pub fn argv(&self, format: Format, model: Option<&str>, args: &[String]) -> Vec<String> {
        let stream = if format.prints_events() {
            self.stream.as_slice()
        } else {
            &[]
        };
        let choice = |model: &str| {
            self.model
                .iter()
                .map(|arg| arg.replace("{model}", model))
                .collect()
        };
        let model: Vec<String> = model.map(choice).unwrap_or_default();
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
                    "{known} is too short to be told from prose"
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
