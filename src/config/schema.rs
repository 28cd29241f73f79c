//! The JSON Schema (2020-12) of `.ralph/config.yaml`, for editors and for those who write the file by program.
//!
//! Owns: how each kind of value looks in a schema.
//!
//! Promises: made from the table of keys that the reader reads by, with the defaults of the template: there
//! is nothing to keep in step. What the reader accepts, the schema allows; it is looser only where a schema
//! cannot say it (lengths of time in several units, regular expressions, names of agents that `roles:` uses).
//!
//! Refuses to know: how a value is read.

use super::document::{self, Node};
use super::keys::{Key, Kind, Names, ROOT};
use crate::task::Stage;
use serde_json::{Map, Value, json};

/// What a length of time is made of, as loosely as its reader takes it: digits, and units of less than a day.
const TIME: &str = r"[0-9\s.,:+]|[Pp]?[Tt]|[HMS]|h(?:(?:ou)?rs?)?|m(?:in(?:ute)?s?)?|(?:milli|micro|nano)(?:s|seconds?)?|[munµμ]?s(?:ec(?:ond)?s?)?";
/// A number without a unit, or more hours than a year has.
const NO_TIME: &str = r"^[0-9\s.,+]*$|^\s*(?:[1-9][0-9]{4,}|88[0-9]{2}|89[0-9]{2}|9[0-9]{3})\s*[Hh]";

/// Words of stages that are no names of gates.
const STAGES: [Stage; 6] =
    [Stage::TestFirst, Stage::Implementation, Stage::ReqCheck, Stage::PreCr, Stage::Integ, Stage::Final];

/// The schema.
pub fn schema() -> Value {
    let defaults = document::parse(super::TEMPLATE).unwrap_or(Node::Null);
    let mut schema = map(ROOT, Some(&defaults));
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!("Settings of ralph (.ralph/config.yaml)"));
    schema.insert(
        "description".to_owned(),
        json!("Every key may be left out. `ralph check` knows more than a schema can say."),
    );
    Value::Object(schema)
}

/// One value as JSON; of a key that stands twice the last.
pub(super) fn plain(node: &Node) -> Value {
    match node {
        Node::Null => Value::Null,
        Node::Bool(value) => json!(value),
        Node::Whole(value) => {
            i64::try_from(*value).map_or_else(|_| json!(u64::try_from(*value).ok()), |v| json!(v))
        }
        Node::Real(value) => json!(value),
        Node::Text(text) => json!(text),
        Node::List(items) => Value::Array(items.iter().map(plain).collect()),
        Node::Map(entries) => {
            Value::Object(entries.iter().map(|(key, node)| (key.clone(), plain(node))).collect())
        }
    }
}

/// A map with known keys. One that needs none of them may be left empty (`null`).
fn map(keys: &[Key], defaults: Option<&Node>) -> Map<String, Value> {
    let needed: Vec<&str> = keys.iter().filter(|key| key.needed).map(|key| key.name).collect();
    let properties: Map<String, Value> =
        keys.iter().map(|key| (key.name.to_owned(), property(key, below(defaults, key.name)))).collect();
    let mut schema = object(needed.is_empty());
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema.insert("additionalProperties".to_owned(), json!(false));
    if !needed.is_empty() {
        schema.insert("required".to_owned(), json!(needed));
    }
    schema
}

fn object(may_be_null: bool) -> Map<String, Value> {
    let kind = if may_be_null { json!(["object", "null"]) } else { json!("object") };
    Map::from_iter([("type".to_owned(), kind)])
}

/// The value of that key in the tree of defaults.
fn below<'n>(node: Option<&'n Node>, name: &str) -> Option<&'n Node> {
    let Some(Node::Map(entries)) = node else { return None };
    entries.iter().find(|(key, _)| key == name).map(|(_, node)| node)
}

fn property(key: &Key, default: Option<&Node>) -> Value {
    let mut schema = value(&key.kind, default);
    if let Value::Object(schema) = &mut schema {
        schema.insert("description".to_owned(), json!(key.about));
        if let Some(default) = default.filter(|default| !matches!(default, Node::Map(_))) {
            schema.insert("default".to_owned(), plain(default));
        }
    }
    schema
}

fn value(kind: &Kind, default: Option<&Node>) -> Value {
    let text = || json!({ "type": "string", "minLength": 1 });
    match kind {
        Kind::Text => text(),
        Kind::Version => json!({ "type": "string", "pattern": "^[0-9][A-Za-z0-9._-]{0,39}$" }),
        Kind::Regex => json!({ "type": "string", "minLength": 1, "format": "regex" }),
        Kind::Time => {
            json!({
                "type": "string", "pattern": format!("^(?:{TIME})*[1-9](?:{TIME})*$"), "not": { "pattern": NO_TIME },
                "examples": ["90s", "60m", "1h 30m", "24h"],
            })
        }
        Kind::Whole(from, to) if *to >= u64::from(u32::MAX) => json!({ "type": "integer", "minimum": from }),
        Kind::Whole(from, to) => json!({ "type": "integer", "minimum": from, "maximum": to }),
        Kind::Word(words) => json!({ "enum": words() }),
        Kind::Texts => json!({ "type": "array", "items": text() }),
        Kind::Ids => json!({ "type": "array", "minItems": 1, "items": text() }),
        Kind::TestNames => json!({
            "type": "array",
            "minItems": 1,
            "items": { "type": "string", "minLength": 3, "pattern": r"^[^{}\s]*\{\}[^{}\s]*$" },
        }),
        Kind::Globs(may_be_empty) => json!({
            "type": "array",
            "minItems": i32::from(!may_be_empty),
            "items": { "type": "string", "minLength": 1, "not": { "pattern": r"^/|(^|/)\.\.(/|$)" } },
        }),
        Kind::Argv => json!({
            "type": "array", "minItems": 1, "prefixItems": [text()], "items": { "type": "string" },
        }),
        Kind::Variable => json!({ "type": ["string", "integer", "boolean"] }),
        Kind::OrNull(kind) => json!({ "anyOf": [{ "type": "null" }, value(kind, None)] }),
        Kind::Map(keys) => Value::Object(map(keys, default)),
        Kind::OneOf(maps) => json!({ "oneOf": maps.iter().map(|keys| map(keys, None)).collect::<Vec<_>>() }),
        Kind::WordOr(words, keys) => json!({ "oneOf": [{ "enum": words() }, map(keys, None)] }),
        Kind::Named(names, kind) => named(*names, kind),
        Kind::Gates(mutation, command) => gates(mutation, command, default),
    }
}

fn named(names: Names, kind: &Kind) -> Value {
    let names = match names {
        Names::Gate => gate_names(),
        Names::Agent => json!({ "pattern": "^[A-Za-z0-9._-]+$" }),
        Names::Variable => json!({ "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "not": { "pattern": "^RALPH_" } }),
    };
    let mut schema = object(true);
    schema.insert("propertyNames".to_owned(), names);
    schema.insert("additionalProperties".to_owned(), value(kind, None));
    Value::Object(schema)
}

fn gate_names() -> Value {
    let stages: Vec<&str> = STAGES.iter().map(Stage::word).collect();
    json!({ "pattern": "^[A-Z][A-Z0-9-]*$", "not": { "enum": stages } })
}

fn gates(mutation: &[Key], command: &[Key], default: Option<&Node>) -> Value {
    let pitest = json!({ "oneOf": [map(mutation, below(default, "PITEST")), map(command, None)] });
    let mut schema = object(true);
    schema.insert("propertyNames".to_owned(), gate_names());
    schema.insert("properties".to_owned(), json!({ "PITEST": pitest }));
    schema.insert("additionalProperties".to_owned(), Value::Object(map(command, None)));
    Value::Object(schema)
}

#[cfg(test)]
mod tests;
