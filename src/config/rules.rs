//! Rules between keys that a schema cannot express.

use super::Preset;
use super::error::{Mistake, either, quoted};
use super::schema::{gate_keys, has_engine};
use super::settings::LANE_WORDS;
use crate::turn::TranscriptFormat;
use serde_yaml::Value;

/// The agent of a role that is not listed.
const DEFAULT_AGENT: &str = "default";

/// Checks the written values, which fit the schema, against each other.
pub(super) fn check(written: &Value) -> Result<(), Mistake> {
    for (name, keys) in entries(written.get("agents")) {
        agent(keys).map_err(|mistake| mistake.at(name).at("agents"))?;
    }
    fallbacks(written.get("agents"))?;
    lane_command(written.get("lanes"))?;
    roles(written.get("roles"), &names(written.get("agents")))?;
    for (name, keys) in entries(written.get("gates")) {
        gate(name, keys).map_err(|mistake| mistake.at(name).at("gates"))?;
    }
    let mut gates = names(written.get("gates"));
    gates.extend((!gates.contains(&"PITEST")).then_some("PITEST"));
    match names(written.get("placement"))
        .iter()
        .find(|gate| !gates.contains(gate))
    {
        Some(gate) => Err(Mistake::unknown_key(gate, &gates).at(gate).at("placement")),
        None => one_level(written.get("placement")),
    }
}

/// Checks that gates for groups use the same groups: a box is in one group.
fn one_level(placement: Option<&Value>) -> Result<(), Mistake> {
    let mut grouped =
        entries(placement).filter(|(_, value)| *value == "groups" || value.get("groups").is_some());
    let first = grouped.next();
    match grouped.find(|(_, value)| first.is_some_and(|(_, level)| level != *value)) {
        Some((gate, _)) => {
            let hint = "Write the same level for all gates of groups: `{PITEST: {groups: 2}, LINT: {groups: 2}}`.";
            Err(
                Mistake::new("has other groups than the gates above it", hint)
                    .at(gate)
                    .at("placement"),
            )
        }
        None => Ok(()),
    }
}

/// Checks that the command of a lane names the tasks, and no unknown placeholder.
fn lane_command(lanes: Option<&Value>) -> Result<(), Mistake> {
    let command = lanes.and_then(|lanes| lanes.get("command")?.as_sequence());
    let Some(command) = command else {
        return Ok(());
    };
    let refuse = |what: &str, hint: &str| Err(Mistake::new(what, hint).at("command").at("lanes"));
    let arguments: Vec<&str> = command.iter().filter_map(Value::as_str).collect();
    let is_word = |text: &str| {
        text.len() > 2
            && text[1..text.len() - 1]
                .bytes()
                .all(|c| c.is_ascii_lowercase())
    };
    for argument in &arguments {
        let words = argument.match_indices('{').filter_map(|(start, _)| {
            let end = argument[start..].find('}')?;
            argument.get(start..=start + end)
        });
        for word in words.filter(|word| is_word(word)) {
            if !LANE_WORDS.contains(&word) {
                let what = format!("has the unknown placeholder {}", quoted(word));
                return refuse(&what, &format!("Use {}.", either(&LANE_WORDS)));
            }
        }
    }
    let [ids, ..] = LANE_WORDS;
    if !arguments.iter().any(|argument| argument.contains(ids)) {
        return refuse(
            "does not name the tasks",
            "Write `{ids}` after `--only`: `[srun, ralph, --root, \"{workspace}\", run, --only, \"{ids}\"]`.",
        );
    }
    Ok(())
}

fn entries(map: Option<&Value>) -> impl Iterator<Item = (&str, &Value)> {
    let map = map.and_then(Value::as_mapping);
    map.into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.as_str()?, value)))
}

/// Returns the keys of a map; none for anything else.
pub(super) fn names(map: Option<&Value>) -> Vec<&str> {
    entries(map).map(|(key, _)| key).collect()
}

/// Checks that an agent has a program, from `command:` or from a preset, never from both.
fn agent(keys: &Value) -> Result<(), Mistake> {
    let has = |key: &str| keys.get(key).is_some_and(|value| !value.is_null());
    let preset = keys["preset"].as_str().and_then(Preset::named);
    let format = keys["format"]
        .as_str()
        .and_then(TranscriptFormat::named)
        .filter(|format| *format != TranscriptFormat::Text);
    match (has("command"), has("preset")) {
        (true, true) => refuse_with_command("preset", "Keep one of the two."),
        (true, false) if has("args") => {
            refuse_with_command("args", "Put the arguments into `command` itself.")
        }
        (true, false) if has("model") => {
            refuse_with_command("model", "Put the arguments into `command` itself.")
        }
        (false, true) if has("model") && !preset.is_some_and(Preset::takes_model) => {
            let hint = "Remove the key. `args` may hold any argument of the CLI.";
            Err(
                Mistake::new("is not used with this preset, whose CLI takes none", hint)
                    .at("model"),
            )
        }
        // A preset prints its own format, or plain text.
        (false, true)
            if !preset
                .is_some_and(|preset| format.is_none_or(|format| format == preset.format)) =>
        {
            Err(Mistake::new(
                "is not what this preset prints",
                "Leave the key out, or write `text`.",
            )
            .at("format"))
        }
        (false, false) => Err(Mistake::new(
            "has neither `command` nor `preset`",
            "Write `{command: [\"sh\", \"agent.sh\"]}` or `{preset: claude}`.",
        )),
        _ => Ok(()),
    }
}

fn refuse_with_command(key: &str, hint: &str) -> Result<(), Mistake> {
    Err(Mistake::new("is not used with `command`", hint).at(key))
}

/// Checks that every role has an agent. Without agents, each role may name the default.
fn roles(written: Option<&Value>, agents: &[&str]) -> Result<(), Mistake> {
    for (role, name) in entries(written) {
        let Some(name) = name.as_str().filter(|name| !agents.contains(name)) else {
            continue;
        };
        if name == DEFAULT_AGENT && agents.is_empty() {
            continue;
        }
        let what = format!("names the agent {}, which `agents:` does not", quoted(name));
        return Err(Mistake::new(&what, &named_there(agents))
            .at(role)
            .at("roles"));
    }
    Ok(())
}

fn named_there(agents: &[&str]) -> String {
    if agents.is_empty() {
        return "Name the agent under `agents:` first.".to_owned();
    }
    format!("Named there: {}.", either(agents))
}

/// Checks that fallbacks name other agents.
fn fallbacks(agents: Option<&Value>) -> Result<(), Mistake> {
    for (name, keys) in entries(agents) {
        let mut others = names(agents);
        others.retain(|other| *other != name);
        for fallback in keys
            .get("fallback")
            .and_then(Value::as_sequence)
            .into_iter()
            .flatten()
        {
            let Some(fallback) = fallback.as_str() else {
                continue;
            };
            if !others.contains(&fallback) {
                let what = format!(
                    "names {}, which is no other agent of `agents:`",
                    quoted(fallback)
                );
                return Err(Mistake::new(&what, &named_there(&others))
                    .at("fallback")
                    .at(name)
                    .at("agents"));
            }
        }
    }
    Ok(())
}

/// Checks that the keys of a gate are those of a command, or of its engine.
fn gate(name: &str, keys: &Value) -> Result<(), Mistake> {
    let written = names(Some(keys));
    let is_command = keys.get("run").is_some_and(|run| !run.is_null());
    if let Some(known) = gate_keys(name, is_command)
        && let Some(key) = written.iter().find(|key| !known.contains(key))
    {
        let what = if is_command || !has_engine(name) {
            "is for a gate that measures mutants (`PITEST`, `MUTMUT`, `STRYKER`, `CARGO-MUTANTS`, `MUTATION` without `run`)"
        } else {
            "is for `PITEST`"
        };
        let known: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
        return Err(
            Mistake::new(what, &format!("This gate takes {} only.", known.join(", "))).at(key),
        );
    }
    if !is_command && !has_engine(name) {
        let hint = "Write `{run: [program, argument, …]}`; only `PITEST`, `MUTMUT`, `STRYKER`, `CARGO-MUTANTS` and `MUTATION` have engines of their own.";
        return Err(Mistake::new("has no command to run", hint));
    }
    if name != "PITEST" && keys.get("scope").and_then(Value::as_str) == Some("auto") {
        let what = "is `auto`, which needs the score of a class before the task";
        return Err(Mistake::new(what, "Write `class` or `lines`.").at("scope"));
    }
    Ok(())
}
