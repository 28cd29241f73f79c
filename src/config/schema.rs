//! The JSON Schema (2020-12) of `.ralph/config.yaml`, for editors and for those who write the file by program.

use super::settings::Settings;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

/// The keys of a gate that runs a command.
pub(super) const COMMAND_GATE: [&str; 5] = ["run", "limit", "where", "keep", "env"];
/// Where a command runs if `where` does not say it.
pub(super) const COMMAND_FOLDER: &str = "in-place";

/// The schema of the settings when every key is there.
pub(super) fn of_settings() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<Settings>().to_value()
}

/// The schema of the file, which leaves out what has its default.
pub(super) fn of_file(defaults: &Value) -> Value {
    let mut schema = of_settings();
    leave_out(&mut schema, defaults);
    split_gates(&mut schema["properties"]["gates"]);
    // An agent has a command, or a preset that may have arguments.
    schema["properties"]["agents"]["additionalProperties"]["oneOf"] =
        json!([{ "required": ["command"], "properties": { "args": false } }, { "required": ["preset"] }]);
    schema
}

/// Keys may be left out or left empty, and then have their default.
fn leave_out(schema: &mut Value, default: &Value) {
    let Some(keys) = schema.as_object_mut() else { return };
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
    for (key, below) in keys.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        leave_out(below, &default[key]);
    }
    if let Some(below) = keys.get_mut("additionalProperties") {
        // Every gate has the defaults of this one.
        leave_out(below, &default["PITEST"]);
    }
}

/// `PITEST` measures mutants or is a command; every other gate is a command.
fn split_gates(gates: &mut Value) {
    let mut mutation = gates["additionalProperties"].take();
    let mut command = mutation.clone();
    if let Some(keys) = mutation["properties"].as_object_mut() {
        keys.remove("run");
    }
    if let Some(keys) = command["properties"].as_object_mut() {
        keys.retain(|key, _| COMMAND_GATE.contains(&key.as_str()));
    }
    command["required"] = json!(["run"]);
    command["properties"]["where"]["default"] = json!(COMMAND_FOLDER);
    command["type"] = json!("object");
    gates["properties"] = json!({ "PITEST": { "oneOf": [mutation, command] } });
    gates["additionalProperties"] = command;
}

#[cfg(test)]
mod tests;
