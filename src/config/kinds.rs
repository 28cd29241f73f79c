//! The kinds of values that several keys share, as parts of the JSON Schema.
//!
//! `title` names a kind in messages, `examples` show how it is written, and `format` requests a check that a schema
//! cannot express.

use super::PRESETS;
use super::roles::WORK;
use crate::turn::TranscriptFormat;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

/// The parts of a duration, as loosely as its parser accepts them: digits, and units of less than a day.
const TIME: &str = r"[0-9\s.,:+]|[Pp]?[Tt]|[HMS]|h(?:(?:ou)?rs?)?|m(?:in(?:ute)?s?)?|(?:milli|micro|nano)(?:s|seconds?)?|[munµμ]?s(?:ec(?:ond)?s?)?";
/// A number without a unit, or more hours than a year has.
const NO_TIME: &str =
    r"^[0-9\s.,+]*$|^\s*(?:[1-9][0-9]{4,}|88[0-9]{2}|89[0-9]{2}|9[0-9]{3})\s*[Hh]";

/// Returns the schema of a duration, above zero and at most a year.
///
/// Examples are `60m`, `1h 30m` and `90s`.
pub(super) fn time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string", "title": "a length of time of at most a year", "format": "length-of-time",
        "pattern": format!("^(?:{TIME})*[1-9](?:{TIME})*$"), "not": { "type": "string", "pattern": NO_TIME },
        "examples": ["90s", "60m", "1h 30m", "24h"],
    })
}

/// Returns the schema of a program with its arguments. An argument may be empty, the program may not.
pub(super) fn argv(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array", "title": "a list of program and arguments (there is no shell)", "minItems": 1,
        "prefixItems": [{ "type": "string", "minLength": 1 }], "items": { "type": "string" },
        "examples": [["sh", "lint.sh"]],
    })
}

/// Returns the schema of a pattern for paths (globset's syntax), relative to a directory.
pub(super) fn glob() -> Value {
    json!({
        "type": "string", "title": "a pattern for paths below the folder, without a leading `/` and without `..`",
        "minLength": 1, "format": "path-pattern", "not": { "pattern": r"^/|(^|/)\.\.(/|$)" },
        "examples": ["services/*", "**/*.java"],
    })
}

/// Returns the schema of a pattern for the texts of headings.
pub(super) fn heading() -> Value {
    json!({
        "type": "string", "title": "a pattern for headings", "minLength": 1, "format": "heading-pattern",
        "examples": ["Definition of Done", "Notes*"],
    })
}

/// Returns the schema of a test class's name, with `{}` for the tested class.
pub(super) fn test_name() -> Value {
    // Letters, digits, `_` and `$`, in any script.
    let part = r"[^\s!-#%-/:-@\[-^`{-~]*";
    json!({
        "type": "string", "title": "the name of a test class, with `{}` for the name of the class under test",
        "pattern": format!(r"^{part}\{{\}}{part}$"), "minLength": 3, "examples": ["{}Test", "Test{}"],
    })
}

/// Returns the names of known agent CLIs.
pub(super) fn presets() -> Vec<&'static str> {
    PRESETS.iter().map(|preset| preset.name.as_str()).collect()
}

/// Returns the names of the formats of transcripts.
pub(super) fn formats() -> Vec<&'static str> {
    TranscriptFormat::NAMES.to_vec()
}

/// Returns the schema of names that match the pattern, with a description for users.
pub(super) fn names(pattern: &str, description: &str) -> Value {
    json!({ "pattern": pattern, "description": description })
}

/// Returns the schema of a passed variable's name.
pub(super) fn variable() -> Value {
    json!({
        "type": "string", "title": "the name of a variable, or its beginning and `*`",
        "pattern": r"^([A-Za-z_][A-Za-z0-9_]*\*?|\*)$", "examples": ["NEXUS_TOKEN", "AWS_*"],
    })
}

/// Sets the schema of an agent's environment. Whole numbers, `true` and `false` are read as text.
pub(super) fn variables(schema: &mut Schema) {
    let mut names = names(
        "^[A-Za-z_][A-Za-z0-9_]*$",
        "letters, digits and `_`, no digit first, and not `RALPH_` at the start: ralph sets those",
    );
    names["not"] = json!({ "pattern": "^RALPH_" });
    schema.insert("propertyNames".to_owned(), names);
    schema.insert(
        "additionalProperties".to_owned(),
        json!({ "type": ["string", "integer", "boolean"] }),
    );
}

/// Sets the schema of keys that are names of gates.
pub(super) fn gate_names(schema: &mut Schema) {
    let mut names = names(
        "^[A-Z][A-Z0-9-]*$",
        "capital letters, digits and `-`, a letter first, as in `N.PITEST`, and no word of another stage",
    );
    names["not"] = json!({ "enum": WORK.map(|(.., stage)| stage.stage_word().to_owned()) });
    schema.insert("propertyNames".to_owned(), names);
}

/// Returns the schema of the agent of each role, by the role's name.
pub(super) fn roles(_: &mut SchemaGenerator) -> Schema {
    let all = WORK.map(|(_, role, stage)| {
        let description = format!("The agent of {}.", stage.stage_word());
        let agent = json!({ "type": "string", "minLength": 1, "description": description });
        (role.to_owned(), agent)
    });
    json_schema!({ "type": "object", "additionalProperties": false, "properties": Map::from_iter(all) })
}
