//! The kinds of values that several keys share, as parts of the JSON Schema: `title` names a kind in messages, the
//! `examples` show how it is written, `format` asks for a look beyond what a schema can say.

use super::PRESETS;
use super::roles::WORK;
use crate::turn::Format;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

/// What a length of time is made of, as loosely as its reader takes it: digits, and units of less than a day.
const TIME: &str = r"[0-9\s.,:+]|[Pp]?[Tt]|[HMS]|h(?:(?:ou)?rs?)?|m(?:in(?:ute)?s?)?|(?:milli|micro|nano)(?:s|seconds?)?|[munµμ]?s(?:ec(?:ond)?s?)?";
/// A number without a unit, or more hours than a year has.
const NO_TIME: &str =
    r"^[0-9\s.,+]*$|^\s*(?:[1-9][0-9]{4,}|88[0-9]{2}|89[0-9]{2}|9[0-9]{3})\s*[Hh]";

/// A length of time such as `60m`, `1h 30m`, `90s`; more than nothing, at most a year.
pub(super) fn time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string", "title": "a length of time of at most a year", "format": "length-of-time",
        "pattern": format!("^(?:{TIME})*[1-9](?:{TIME})*$"), "not": { "type": "string", "pattern": NO_TIME },
        "examples": ["90s", "60m", "1h 30m", "24h"],
    })
}

/// A program with its arguments: an argument may be empty, the program may not.
pub(super) fn argv(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array", "title": "a list of program and arguments (there is no shell)", "minItems": 1,
        "prefixItems": [{ "type": "string", "minLength": 1 }], "items": { "type": "string" },
        "examples": [["sh", "lint.sh"]],
    })
}

/// A pattern for paths (globset's syntax), relative to a folder.
pub(super) fn glob() -> Value {
    json!({
        "type": "string", "title": "a pattern for paths below the folder, without a leading `/` and without `..`",
        "minLength": 1, "format": "path-pattern", "not": { "pattern": r"^/|(^|/)\.\.(/|$)" },
        "examples": ["services/*", "**/*.java"],
    })
}

/// A pattern for the texts of headings.
pub(super) fn heading() -> Value {
    json!({
        "type": "string", "title": "a pattern for headings", "minLength": 1, "format": "heading-pattern",
        "examples": ["Definition of Done", "Notes*"],
    })
}

/// The name of a test class, with `{}` where the name of the class under test is.
pub(super) fn test_name() -> Value {
    // Letters, digits, `_` and `$`, in whatever script.
    let part = r"[^\s!-#%-/:-@\[-^`{-~]*";
    json!({
        "type": "string", "title": "the name of a test class, with `{}` for the name of the class under test",
        "pattern": format!(r"^{part}\{{\}}{part}$"), "minLength": 3, "examples": ["{}Test", "Test{}"],
    })
}

/// Names of known agent CLIs.
pub(super) fn presets() -> Vec<&'static str> {
    PRESETS.iter().map(|preset| preset.name.as_str()).collect()
}

/// Names of the formats of transcripts.
pub(super) fn formats() -> Vec<&'static str> {
    Format::NAMES.to_vec()
}

/// Names that match the pattern, described for people.
pub(super) fn names(pattern: &str, description: &str) -> Value {
    json!({ "pattern": pattern, "description": description })
}

/// The name of a variable that is handed on.
pub(super) fn variable() -> Value {
    json!({
        "type": "string", "title": "the name of a variable, or its beginning and `*`",
        "pattern": r"^([A-Za-z_][A-Za-z0-9_]*\*?|\*)$", "examples": ["NEXUS_TOKEN", "AWS_*"],
    })
}

/// The environment of an agent; whole numbers, `true` and `false` stand for their text.
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

/// Keys that are names of gates.
pub(super) fn gate_names(schema: &mut Schema) {
    let mut names = names(
        "^[A-Z][A-Z0-9-]*$",
        "capital letters, digits and `-`, a letter first, as in `N.PITEST`, and no word of another stage",
    );
    names["not"] = json!({ "enum": WORK.map(|(.., stage)| stage.word().to_owned()) });
    schema.insert("propertyNames".to_owned(), names);
}

/// The agent of each role, by the role's name.
pub(super) fn roles(_: &mut SchemaGenerator) -> Schema {
    let agent = |stage: &str| json!({ "type": "string", "minLength": 1, "description": format!("The agent of {stage}.") });
    let all = WORK.map(|(_, role, stage)| (role.to_owned(), agent(stage.word())));
    json_schema!({ "type": "object", "additionalProperties": false, "properties": Map::from_iter(all) })
}
