//! Validates every configuration that ralph writes or shows against the schema.
//!
//! The JSON Schema validator checks formats.

use super::*;
use crate::config::{SCHEMA_FILE, TEMPLATE, parse, schema};
use boon::{Compiler, Draft, SchemaIndex, Schemas};
use std::path::Path;

/// The schema, and the validator's schemas that hold it. It is checked against its draft.
fn compiled() -> (SchemaIndex, Schemas) {
    let mut compiler = Compiler::new();
    compiler.enable_format_assertions();
    compiler.set_default_draft(Draft::V2020_12);
    compiler
        .add_resource("file:///config.schema.json", schema())
        .expect("a schema");
    let mut schemas = Schemas::new();
    let index = compiler
        .compile("file:///config.schema.json", &mut schemas)
        .unwrap_or_else(|error| panic!("{error:#}"));
    (index, schemas)
}

/// Returns the validator's error for a YAML text.
fn misfit(text: &str) -> Option<String> {
    thread_local!(static COMPILED: (SchemaIndex, Schemas) = compiled());
    let value: Value = serde_yaml::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    COMPILED.with(|(index, schemas)| {
        let validated = schemas.validate(&value, *index);
        validated.err().map(|error| format!("{error:#}"))
    })
}

fn read(text: &str) -> Result<(), String> {
    parse(text, Path::new("/w"), &[])
        .map(drop)
        .map_err(|errors| format!("{errors:?}"))
}

/// True for keys of the root of a configuration.
fn has_keys_of_the_root(text: &str) -> bool {
    let keys = &schema()["properties"];
    let value = serde_yaml::from_str::<Value>(text).unwrap_or_default();
    value
        .as_object()
        .is_some_and(|map| map.keys().any(|key| keys.get(key).is_some()))
}

#[test]
fn every_example_is_read_and_fits_the_schema() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut examples = vec![
        TEMPLATE.to_owned(),
        include_str!("../../../.ralph-example/.ralph/config.yaml").to_owned(),
    ];
    // The examples in the comments of the template, each a key with what is indented below it.
    let lines: Vec<&str> = TEMPLATE.lines().collect();
    for (at, line) in lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.starts_with("# "))
    {
        let below = lines[at + 1..]
            .iter()
            .take_while(|line| line.starts_with("#   ") && !line.starts_with("#   #"));
        let text: Vec<&str> = std::iter::once(line)
            .chain(below)
            .map(|line| &line[2..])
            .collect();
        examples.extend(Some(text.join("\n")).filter(|text| has_keys_of_the_root(text)));
    }
    assert!(examples.len() >= 5, "{examples:#?}");
    let mut pages = vec![root.join("README.md")];
    pages.extend(
        fs_err::read_dir(root.join("docs"))
            .unwrap()
            .map(|entry| entry.unwrap().path()),
    );
    for page in pages.into_iter().filter(|page| page.is_file()) {
        let text = fs_err::read_to_string(page).unwrap();
        let blocks = text
            .split("```yaml\n")
            .skip(1)
            .map(|rest| rest.split("```").next().unwrap().to_owned());
        examples.extend(blocks.filter(|text| has_keys_of_the_root(text)));
    }
    for text in examples {
        assert_eq!(read(&text), Ok(()), "{text}");
        assert_eq!(misfit(&text), None, "{text}");
    }
}

#[test]
fn every_file_that_ralph_writes_names_its_schema_in_the_first_line() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join(".ralph-example/.ralph");
    let config = fs_err::read_to_string(example.join("config.yaml")).unwrap();
    let first = format!("# yaml-language-server: $schema={SCHEMA_FILE}");
    for text in [TEMPLATE, &config] {
        assert_eq!(text.lines().next(), Some(first.as_str()));
    }
    let written = fs_err::read_to_string(example.join(SCHEMA_FILE)).unwrap();
    assert_eq!(
        written,
        format!("{:#}\n", schema()),
        "`ralph generate schema` prints the schema file next to the example"
    );
}

#[test]
fn the_schema_shows_words_ranges_defaults_and_meanings() {
    let schema = schema();
    let mutation = &schema["properties"]["gates"]["properties"]["PITEST"]["oneOf"][0]["properties"];
    assert_eq!(
        mutation["threshold"],
        json!({ "type": ["integer", "null"], "minimum": 0, "maximum": 100, "default": 70, "description": "Per cent of mutants that must be killed." })
    );
    let words: Vec<&Value> = mutation["per"]["oneOf"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| &word["const"])
        .collect();
    assert_eq!(words[..3], ["class", "package", "task"]);
    assert_eq!(
        schema["properties"]["limits"]["properties"]["wall"]["default"],
        json!("24h")
    );
    assert_eq!(schema["additionalProperties"], json!(false));
}

#[test]
fn what_is_refused_does_not_fit_either() {
    for text in [
        "threshold: 70",
        "limits: {wal: 1h}",
        "limits: {attempts: 0}",
        "limits: {attempts: many}",
        "limits: [1]",
        "commit: me",
        "packages: []",
        "packages: [../up]",
        "gates: {PITEST: {threshold: 101}}",
        "gates: {PITEST: {run: [x], threshold: 70}}",
        "gates: {LINT: {threshold: 70}}",
        "gates: {LINT: {run: []}}",
        "gates: {FINAL: {run: [x]}}",
        "gates: {lint: {run: [x]}}",
        "agents: {a: {}}",
        "agents: {a: {command: [x], preset: claude}}",
        "agents: {a: {command: [x], args: [y]}}",
        "agents: {a: {preset: claud}}",
        "agents: {a: {command: [x], env: {RALPH_TASK: y}}}",
        "agents: {a b: {command: [x]}}",
        "hooks: {done: notify-send}",
        "placement: {PITEST: group}",
        "placement: {PITEST: {after: []}}",
        "tasks: {sections: {exclude: ['']}}",
    ] {
        assert!(
            read(text).is_err() && misfit(text).is_some(),
            "{text}: {:?}",
            misfit(text)
        );
    }
    for text in [
        "limits:",
        "gates: {PITEST: }",
        "agents: {a: {preset: codex, env: {A: 1, B: true}}}",
        "hooks: {done: null}",
    ] {
        assert!(
            read(text).is_ok() && misfit(text).is_none(),
            "{text}: {:?} {:?}",
            read(text),
            misfit(text)
        );
    }
}

#[test]
fn a_length_of_time_is_one_for_both_or_for_neither() {
    let fits = |text: &str| misfit(&format!("limits: {{wall: {text:?}}}\n")).is_none();
    let reads = |text: &str| read(&format!("limits: {{wall: {text:?}}}\n")).is_ok();
    for text in [
        "90s",
        "60m",
        "1h 30m",
        "24h",
        "8784h",
        "1.5h",
        "1 hour, 2 minutes",
        "3hrs",
        "4 mins 5 secs",
        "500ms",
        "10 milliseconds",
        "7µs",
        "01:30:00",
        "PT1H30M",
        "pt1h",
        "+5m",
        " 5m ",
        "00001h",
        "2 nanos 1s",
    ] {
        assert!(
            fits(text) || !reads(text),
            "`{text}` is read, and does not fit the schema"
        );
    }
    for text in [
        "2d", "0s", "9000h", "8800 h", "5parsecs", "soon", "", "1w", "0h 0m", "60", "1 year",
    ] {
        assert!(!reads(text), "{text}");
        assert!(!fits(text), "`{text}` is not read, and fits the schema");
    }
    for text in [
        "90s", "60m", "1h 30m", "24h", "8784h", "1.5h", "01:30:00", "PT1H30M",
    ] {
        assert!(fits(text) && reads(text), "{text}");
    }
}
