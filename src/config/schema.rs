//! The JSON Schema (2020-12) of `.ralph/config.yaml`, for editors and for those who write the file by program.

use super::PRESETS;
use crate::task::Stage;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

/// Words of stages, which cannot be names of gates.
const STAGES: [Stage; 6] =
    [Stage::TestFirst, Stage::Implementation, Stage::ReqCheck, Stage::PreCr, Stage::Integ, Stage::Final];

/// The keys of a gate that runs a command.
pub(super) const COMMAND_GATE: [&str; 2] = ["run", "limit"];

/// The schema of such settings, as the file may hold them.
pub(super) fn document<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    ReadAsWritten.transform(&mut schema);
    schema.to_value()
}

/// Keys may be left empty (`limits:`) unless some are required; defaults are shown at each key only.
struct ReadAsWritten;

impl Transform for ReadAsWritten {
    fn transform(&mut self, schema: &mut Schema) {
        let is_object = schema.get("type") == Some(&json!("object"));
        if is_object && schema.get("required").is_none() && schema.get("anyOf").is_none() {
            schema.insert("type".to_owned(), json!(["object", "null"]));
        }
        if is_object {
            schema.remove("default");
        }
        transform_subschemas(self, schema);
    }
}

pub(super) fn presets() -> Vec<&'static str> {
    PRESETS.iter().map(|preset| preset.name).collect()
}

pub(super) fn variable_names(schema: &mut Schema) {
    let names = json!({ "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "not": { "pattern": "^RALPH_" } });
    schema.insert("propertyNames".to_owned(), names);
}

/// An agent has a command, or a preset that may have arguments.
pub(super) fn of_agent(schema: &mut Schema) {
    let forms =
        json!([{ "required": ["command"], "properties": { "args": false } }, { "required": ["preset"] }]);
    schema.insert("oneOf".to_owned(), forms);
}

pub(super) fn gate_names(schema: &mut Schema) {
    let stages: Vec<&str> = STAGES.iter().map(Stage::word).collect();
    let names = json!({ "pattern": "^[A-Z][A-Z0-9-]*$", "not": { "enum": stages } });
    schema.insert("propertyNames".to_owned(), names);
}

/// `PITEST` measures mutants or is a command; every other gate is a command.
pub(super) fn of_gates(schema: &mut Schema) {
    let mut mutation = schema.remove("additionalProperties").unwrap_or_default();
    let mut command = mutation.clone();
    if let Some(keys) = mutation["properties"].as_object_mut() {
        keys.remove("run");
    }
    if let Some(keys) = command["properties"].as_object_mut() {
        keys.retain(|key, _| COMMAND_GATE.contains(&key.as_str()));
    }
    command["required"] = json!(["run"]);
    gate_names(schema);
    schema.insert("properties".to_owned(), json!({ "PITEST": { "oneOf": [mutation, command] } }));
    schema.insert("additionalProperties".to_owned(), command);
}

#[cfg(test)]
mod tests;
