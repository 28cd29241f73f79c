//! The JSON Schema (2020-12) of `.ralph/config.yaml`, for editors and for programs that write the file.

use super::settings::Settings;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// The keys of a gate that runs a command.
const COMMAND_GATE: [&str; 5] = ["run", "limit", "where", "keep", "env"];
/// The gates with engines that mutate files.
const FILE_GATES: [&str; 3] = ["MUTMUT", "STRYKER", "CARGO-MUTANTS"];
/// The keys of such a gate.
const FILE_GATE: [&str; 9] = [
    "threshold",
    "per",
    "no_coverage",
    "scope",
    "jobs",
    "limit",
    "where",
    "keep",
    "env",
];
/// The gates that measure mutants of classes, and those of every language.
const ALL_KEYS: [&str; 2] = ["PITEST", "MUTATION"];

/// Returns the keys of a gate by its engine, or of a command; `None` for all but `run`.
pub(super) fn gate_keys(gate: &str, is_command: bool) -> Option<&'static [&'static str]> {
    let of_engine = (!ALL_KEYS.contains(&gate)).then_some(&FILE_GATE[..]);
    if is_command || !has_engine(gate) {
        Some(&COMMAND_GATE)
    } else {
        of_engine
    }
}

/// True for a gate that need not be a command.
pub(super) fn has_engine(gate: &str) -> bool {
    ALL_KEYS.contains(&gate) || FILE_GATES.contains(&gate)
}

/// The default of `where` for a command.
pub(super) const COMMAND_FOLDER: &str = "in-place";

/// Returns the schema of the settings when every key is set.
pub(super) fn of_settings() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<Settings>()
        .to_value();
    drop_integer_formats(&mut schema);
    schema
}

/// Removes the formats of Rust's integers (`uint64`), which JSON Schema does not know and strict clients refuse.
pub fn drop_integer_formats(schema: &mut Value) {
    match schema {
        Value::Object(keys) => {
            if keys
                .get("format")
                .and_then(Value::as_str)
                .is_some_and(|format| format.trim_start_matches('u').starts_with("int"))
            {
                keys.remove("format");
            }
            keys.values_mut().for_each(drop_integer_formats);
        }
        Value::Array(all) => all.iter_mut().for_each(drop_integer_formats),
        _ => {}
    }
}

/// Returns the schema of the file, in which keys with defaults are optional.
pub(super) fn of_file(defaults: &Value) -> Value {
    let mut schema = of_settings();
    // A name and no address: no server has to answer while a file is checked.
    schema["$id"] = json!("urn:ralph-loop:config");
    leave_out(&mut schema, defaults);
    split_gates(&mut schema["properties"]["gates"]);
    // An agent has a command, or a preset that may have arguments.
    schema["properties"]["agents"]["additionalProperties"]["oneOf"] = json!([{ "required": ["command"], "properties": { "args": false, "model": false } }, { "required": ["preset"] }]);
    schema
}

/// Makes keys optional: a missing or empty key has its default.
fn leave_out(schema: &mut Value, default: &Value) {
    let Some(keys) = schema.as_object_mut() else {
        return;
    };
    keys.remove("required");
    if let Some(kind) = keys.get_mut("type").filter(|kind| kind.is_string()) {
        *kind = json!([kind, "null"]);
    }
    if let Some(Value::Array(forms)) = keys.get_mut("oneOf") {
        forms.push(json!({ "type": "null" }));
    }
    if let Some(Value::Array(words)) = keys.get_mut("enum") {
        words.push(Value::Null);
    }
    if !default.is_object() && !default.is_null() {
        keys.insert("default".to_owned(), default.clone());
    }
    for (key, below) in keys
        .get_mut("properties")
        .and_then(Value::as_object_mut)
        .into_iter()
        .flatten()
    {
        leave_out(below, &default[key]);
    }
    if let Some(below) = keys.get_mut("additionalProperties") {
        // Every gate has the defaults of this one.
        leave_out(below, &default["PITEST"]);
    }
}

/// Separates gates with an engine, which may also be commands, from all others, which are commands.
fn split_gates(gates: &mut Value) {
    let all = gates["additionalProperties"].take();
    let mut command = keep_keys(all.clone(), |key| COMMAND_GATE.contains(&key));
    command["required"] = json!(["run"]);
    command["properties"]["where"]["default"] = json!(COMMAND_FOLDER);
    command["type"] = json!("object");
    let mut files = keep_keys(all.clone(), |key| FILE_GATE.contains(&key));
    files["properties"]["scope"]["enum"] = json!(["class", "lines", null]);
    gates["properties"] = json!({});
    for gate in ALL_KEYS {
        let engine = keep_keys(all.clone(), |key| key != "run");
        gates["properties"][gate] = json!({ "oneOf": [engine, command] });
    }
    for gate in FILE_GATES {
        gates["properties"][gate] = json!({ "oneOf": [files, command] });
    }
    gates["additionalProperties"] = command;
}

fn keep_keys(mut gate: Value, is_key: impl Fn(&str) -> bool) -> Value {
    if let Some(keys) = gate["properties"].as_object_mut() {
        keys.retain(|key, _| is_key(key));
    }
    gate
}

#[cfg(test)]
mod tests;
