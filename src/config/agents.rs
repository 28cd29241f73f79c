//! `agents:`: how each agent is started.
//!
//! Owns: the reading of one agent.
//!
//! Promises: an agent has a program, from `command:` or from a preset, never from both.
//!
//! Refuses to know: which agent a role uses.

use super::document::Node;
use super::error::{either, nearest, quoted};
use super::presets::{PRESETS, Preset};
use super::read::{Field, Reader};
use super::{AgentSettings, keys};
use std::collections::BTreeMap;

/// The agents by name.
pub(super) fn agents(read: &mut Reader, field: &Field) -> BTreeMap<String, AgentSettings> {
    let mut agents = BTreeMap::new();
    for (name, field) in read.entries(field) {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(plain) {
            read.wrong_key(&field, "is no name for an agent", "Use letters, digits, `-`, `_` and `.`.");
        } else if let Some(agent) = agent(read, &field) {
            agents.insert(name.to_owned(), agent);
        }
    }
    agents
}

fn agent(read: &mut Reader, field: &Field) -> Option<AgentSettings> {
    const HINT: &str = "Write `{command: [\"sh\", \"agent.sh\"]}` or `{preset: claude}`.";
    if !matches!(field.node, Node::Map(_)) {
        read.wrong(field, "does not say how to start the agent", HINT);
        return None;
    }
    let fields = read.fields(field, keys::AGENT);
    let own = fields.get("env").map_or(Some(BTreeMap::new()), |field| environment(read, field));
    match (fields.get("command"), fields.get("preset")) {
        (Some(command), None) => {
            if let Some(args) = fields.get("args") {
                read.wrong_key(args, "stands beside `command`", "Put the arguments into `command` itself.");
                return None;
            }
            Some(AgentSettings { command: read.argv(command)?, env: own?, preset: None })
        }
        (None, Some(named)) => {
            let preset = preset(read, named)?;
            let args = fields.get("args").map_or(Some(Vec::new()), |field| read.texts(field))?;
            let mut env: BTreeMap<String, String> =
                preset.env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            env.extend(own?);
            Some(AgentSettings { command: preset.argv(&args), env, preset: Some(preset.name.to_owned()) })
        }
        (Some(_), Some(preset)) => {
            read.wrong_key(preset, "stands beside `command`", "Keep one of the two.");
            None
        }
        (None, None) => {
            read.wrong_key(field, "does not say how to start the agent", HINT);
            None
        }
    }
}

fn preset(read: &mut Reader, field: &Field) -> Option<&'static Preset> {
    let name = read.text(field)?;
    let preset = Preset::named(name);
    if preset.is_none() {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        let hint = match nearest(name, &names) {
            Some(near) => format!("Did you mean `{near}`?"),
            None => "Start any other program with `command: [program, argument, …]`.".to_owned(),
        };
        read.wrong(field, &format!("must be {}, not {}", either(&names), quoted(name)), hint);
    }
    preset
}

/// Names and values; whole numbers, `true` and `false` stand for their text.
fn environment(read: &mut Reader, field: &Field) -> Option<BTreeMap<String, String>> {
    let mut env = BTreeMap::new();
    let mut sound = true;
    for (name, field) in read.entries(field) {
        let mut chars = name.chars();
        let first = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        let value = match field.node {
            Node::Whole(value) => Some(value.to_string()),
            Node::Bool(value) => Some(value.to_string()),
            Node::Text(text) if text.is_empty() => Some(String::new()),
            _ => read.text(&field).map(str::to_owned),
        };
        if !first || !chars.all(|c| c.is_ascii_alphanumeric() || c == '_') {
            let hint = "Use letters, digits and `_`, no digit first.";
            read.wrong_key(&field, "is no name for an environment variable", hint);
            sound = false;
        } else if name.starts_with("RALPH_") {
            read.wrong_key(
                &field,
                "is set by ralph itself",
                "Choose a name that does not start with `RALPH_`.",
            );
            sound = false;
        } else if let Some(value) = value {
            env.insert(name.to_owned(), value);
        } else {
            sound = false;
        }
    }
    (sound && matches!(field.node, Node::Map(_) | Node::Null)).then_some(env)
}
