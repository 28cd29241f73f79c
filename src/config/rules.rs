//! What must hold between keys, beyond the format of each.

use super::error::{Mistake, either, nearest, quoted};
use super::presets::{PRESETS, Preset};
use super::schema::COMMAND_GATE;
use super::settings::AgentKeys;
use super::{AgentSettings, DEFAULT_AGENT, Placement, Role, Settings};
use crate::task::Stage;
use serde_yaml::Value;
use std::collections::BTreeMap;

/// Checks settings that were read from `tree`. Names of agents and gates are looked up in `written`, the tree
/// before anything wrong was taken out of it, so that one mistake is reported once.
pub(super) fn check(settings: &Settings, tree: &Value, written: &Value) -> Result<(), Mistake> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if let Some(name) = settings.agents.keys().find(|name| name.is_empty() || !name.chars().all(plain)) {
        let mistake = Mistake::new("is not a name for an agent", "Use letters, digits, `-`, `_` and `.`.");
        return Err(mistake.at(name).at("agents"));
    }
    roles(settings, &names(tree.get("roles")), &names(written.get("agents")))?;
    for (name, keys) in entries(tree.get("gates")) {
        gate(name, keys).map_err(|mistake| mistake.at(name).at("gates"))?;
    }
    let mut gates = names(written.get("gates"));
    gates.extend((!gates.contains(&"PITEST")).then_some("PITEST"));
    if let Some(gate) = settings.placement.keys().find(|gate| !gates.contains(&gate.as_str())) {
        return Err(Mistake::unknown_key(gate, &gates).at(gate).at("placement"));
    }
    let is_empty =
        |choice: &Placement| matches!(choice, Placement::After(ids) if ids.iter().all(String::is_empty));
    match settings.placement.iter().find(|(_, choice)| is_empty(choice)) {
        Some((gate, _)) => Err(Mistake::new("does not name a task", "Write `{after: [\"2\", \"5\"]}`.")
            .at(gate)
            .at("placement")),
        None => Ok(()),
    }
}

fn entries(map: Option<&Value>) -> impl Iterator<Item = (&str, &Value)> {
    let map = map.and_then(Value::as_mapping);
    map.into_iter().flatten().filter_map(|(key, value)| Some((key.as_str()?, value)))
}

/// The keys of a map; none of anything else.
pub(super) fn names(map: Option<&Value>) -> Vec<&str> {
    entries(map).map(|(key, _)| key).collect()
}

/// Every role that the file names has an agent; without agents, each role may name the default.
fn roles(settings: &Settings, written: &[&str], agents: &[&str]) -> Result<(), Mistake> {
    for role in Role::ALL.into_iter().filter(|role| written.contains(&role.word())) {
        let name = settings.roles.agent(role);
        if agents.contains(&name) || (name == DEFAULT_AGENT && agents.is_empty()) {
            continue;
        }
        let hint = if agents.is_empty() {
            "Name the agent under `agents:` first.".to_owned()
        } else {
            format!("Named there: {}.", either(agents))
        };
        let what = format!("names the agent {}, which `agents:` does not", quoted(name));
        return Err(Mistake::new(&what, &hint).at(role.word()).at("roles"));
    }
    Ok(())
}

/// The name of a gate is `[A-Z][A-Z0-9-]*` and not the word of a stage; its keys are those of a command, or of
/// the mutation gate.
fn gate(name: &str, keys: &Value) -> Result<(), Mistake> {
    let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
    if !name.starts_with(|c: char| c.is_ascii_uppercase()) || !name.chars().all(plain) {
        let hint = "Use capital letters, digits and `-`, a letter first, as in `N.PITEST`.";
        return Err(Mistake::new("is not a name for a gate", hint));
    }
    if !Stage::from(name.to_owned()).is_gate() {
        let hint = "Choose another name for the gate.";
        return Err(Mistake::new("is the word of a stage that is not a gate", hint));
    }
    let written = names(Some(keys));
    let is_command = written.contains(&"run");
    if is_command || name != "PITEST" {
        let takes =
            format!("A gate with `run` takes {} only.", either(&COMMAND_GATE).replace(" or ", " and "));
        if let Some(key) = written.iter().find(|key| !COMMAND_GATE.contains(key)) {
            return Err(Mistake::new(
                "is for the gate that measures mutants (`PITEST` without `run`)",
                &takes,
            )
            .at(key));
        }
        if keys.get("run").is_none_or(Value::is_null) {
            let hint = "Write `{run: [program, argument, …]}`; only `PITEST` has an engine of its own.";
            return Err(Mistake::new("does not say what to run", hint));
        }
    }
    let is_maven = keys.get("engine").and_then(Value::as_str) == Some("maven");
    match written.iter().find(|key| is_maven && matches!(**key, "tests" | "scope")) {
        Some(key) => {
            Err(Mistake::new("needs `engine: direct`", "Leave the key out, or use ralph's own engine.")
                .at(key))
        }
        None => Ok(()),
    }
}

/// An agent has a program, from `command:` or from a preset, never from both.
impl TryFrom<AgentKeys> for AgentSettings {
    type Error = Mistake;

    fn try_from(keys: AgentKeys) -> Result<Self, Mistake> {
        if let Some(name) = keys.env.keys().find(|name| !is_variable(name)) {
            let hint = "Use letters, digits and `_`, no digit first, and not `RALPH_` at the start: ralph sets those.";
            return Err(Mistake::new("is not a name for an environment variable", hint).at(name).at("env"));
        }
        let own = keys.env.into_iter().map(|(name, value)| (name, value.0));
        match (keys.command, keys.preset) {
            (Some(_), None) if keys.args.is_some() => {
                Err(Mistake::new("is not used with `command`", "Put the arguments into `command` itself.")
                    .at("args"))
            }
            (Some(command), None) => Ok(Self { command, env: own.collect(), preset: None }),
            (None, Some(name)) => {
                let Some(preset) = Preset::named(&name) else {
                    return Err(unknown_preset(&name).at("preset"));
                };
                let mut env: BTreeMap<String, String> = preset
                    .env
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                    .collect();
                env.extend(own);
                Ok(Self { command: preset.argv(&keys.args.unwrap_or_default()), env, preset: Some(name) })
            }
            (Some(_), Some(_)) => {
                Err(Mistake::new("is not used with `command`", "Keep one of the two.").at("preset"))
            }
            (None, None) => Err(Mistake::new(
                "does not say how to start the agent",
                "Write `{command: [\"sh\", \"agent.sh\"]}` or `{preset: claude}`.",
            )),
        }
    }
}

fn is_variable(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    first && name.chars().all(plain) && !name.starts_with("RALPH_")
}

fn unknown_preset(name: &str) -> Mistake {
    let known: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    let hint = match nearest(name, &known) {
        Some(near) => format!("Did you mean `{near}`?"),
        None => "Start any other program with `command: [program, argument, …]`.".to_owned(),
    };
    Mistake::new(&format!("must be {}, not {}", either(&known), quoted(name)), &hint)
}
