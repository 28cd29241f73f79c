//! The schema against the reader: the same keys, the same values; and against every example that is shown.

use super::super::keys::{COMMAND_GATE, MUTATION};
use super::*;
use crate::config::{parse, schema};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Why a value does not fit; knows exactly the words that the schema uses, and fails at any other.
fn misfit(schema: &Value, value: &Value) -> Option<String> {
    let rules = schema.as_object().expect("a schema is an object");
    rules.iter().find_map(|(word, rule)| broken(word, rule, rules, value))
}

fn broken(word: &str, rule: &Value, rules: &Map<String, Value>, value: &Value) -> Option<String> {
    let all = || rule.as_array().expect("a list");
    let fits = |schema: &Value| misfit(schema, value).is_none();
    let sound = match word {
        "$schema" | "title" | "description" | "default" | "examples" | "format" => true,
        "type" => match rule {
            Value::Array(kinds) => kinds.iter().any(|kind| is_a(value, kind)),
            kind => is_a(value, kind),
        },
        "enum" => all().contains(value),
        "minimum" => value.as_i64().is_none_or(|v| i128::from(v) >= whole(rule)),
        "maximum" => value.as_i64().is_none_or(|v| i128::from(v) <= whole(rule)),
        "minLength" => value.as_str().is_none_or(|v| v.chars().count() as i128 >= whole(rule)),
        "minItems" => value.as_array().is_none_or(|v| v.len() as i128 >= whole(rule)),
        "pattern" => value.as_str().is_none_or(|v| pattern(rule).is_match(v)),
        "not" => !fits(rule),
        "anyOf" => all().iter().any(fits),
        "oneOf" => all().iter().filter(|rule| fits(rule)).count() == 1,
        "required" => {
            value.as_object().is_none_or(|v| all().iter().all(|key| v.contains_key(key.as_str().unwrap())))
        }
        "prefixItems" => value
            .as_array()
            .is_none_or(|items| all().iter().zip(items).all(|(rule, item)| misfit(rule, item).is_none())),
        "items" => {
            let before = rules.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
            value
                .as_array()
                .is_none_or(|items| items.iter().skip(before).all(|item| misfit(rule, item).is_none()))
        }
        "properties" => value.as_object().is_none_or(|entries| {
            entries.iter().all(|(key, value)| rule.get(key).is_none_or(|rule| misfit(rule, value).is_none()))
        }),
        "additionalProperties" => value.as_object().is_none_or(|entries| {
            let known = rules.get("properties").and_then(Value::as_object);
            entries
                .iter()
                .filter(|(key, _)| known.is_none_or(|known| !known.contains_key(*key)))
                .all(|(_, value)| *rule != json!(false) && misfit(rule, value).is_none())
        }),
        "propertyNames" => value
            .as_object()
            .is_none_or(|entries| entries.keys().all(|key| misfit(rule, &json!(key)).is_none())),
        other => panic!("the schema uses `{other}`, which this test does not know"),
    };
    (!sound).then(|| format!("{word}: {rule}"))
}

fn is_a(value: &Value, kind: &Value) -> bool {
    match kind.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type `{other}`"),
    }
}

fn whole(rule: &Value) -> i128 {
    rule.as_i64().unwrap().into()
}

fn pattern(rule: &Value) -> regex_lite::Regex {
    regex_lite::Regex::new(rule.as_str().unwrap()).unwrap()
}

/// Every map of the configuration: text before and after its entries, its keys.
fn maps() -> Vec<(String, String, Vec<&'static Key>)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), String::new(), ROOT.iter().collect::<Vec<_>>())];
    while let Some((before, after, keys)) = open.pop() {
        for key in &keys {
            let rest: Vec<String> = keys
                .iter()
                .filter(|other| other.needed && other.name != key.name)
                .map(|k| sample(k))
                .collect();
            let rest = rest.iter().fold(String::new(), |text, sample| format!("{text}{sample}, "));
            let at = |inner: &str| format!("{before}{rest}{}: {{{inner}", key.name);
            let close = |inner: &str| format!("{inner}}}{after}");
            match key.kind {
                Kind::Map(keys) => open.push((at(""), close(""), keys.iter().collect())),
                Kind::OneOf(_) => panic!("stands under names"),
                Kind::Named(Names::Agent, Kind::OneOf(maps)) => {
                    for keys in *maps {
                        open.push((at("a: {"), close("}"), keys.iter().collect()));
                    }
                }
                Kind::Named(Names::Gate, Kind::WordOr(_, keys)) => {
                    open.push((at("PITEST: {"), close("}"), keys.iter().collect()));
                }
                Kind::Gates(..) => {
                    open.push((at("PITEST: {"), close("}"), MUTATION.iter().collect()));
                    open.push((at("PITEST: {"), close("}"), COMMAND_GATE.iter().collect()));
                    open.push((at("LINT: {"), close("}"), COMMAND_GATE.iter().collect()));
                }
                _ => {}
            }
        }
        found.push((before, after, keys));
    }
    found
}

/// A sound entry for a key that its map needs.
fn sample(key: &Key) -> String {
    match key.kind {
        Kind::Word(words) => format!("{}: {}", key.name, words()[0]),
        Kind::Argv | Kind::Ids => format!("{}: [x]", key.name),
        kind => panic!("no sample of {kind:?}"),
    }
}

fn names_of(keys: &[&Key], out: &mut BTreeSet<String>) {
    for key in keys {
        out.insert(key.name.to_owned());
        if let Kind::Word(words) = key.kind {
            out.extend(words().into_iter().map(str::to_owned));
        }
    }
}

fn read(text: &str) -> Result<(), String> {
    parse(text, Path::new("/w")).map(drop).map_err(|errors| format!("{errors:?}"))
}

fn as_json(text: &str) -> Value {
    plain(&document::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}")))
}

#[test]
fn the_keys_of_the_schema_are_the_keys_of_the_reader() {
    let schema = schema();
    let maps = maps();
    let mut universe = BTreeSet::from(["x".to_owned(), "PITEST".to_owned(), "LINT".to_owned()]);
    for (_, _, keys) in &maps {
        names_of(keys, &mut universe);
    }
    let mut asked = 0;
    for (before, after, keys) in &maps {
        let needed: Vec<String> = keys.iter().filter(|key| key.needed).map(|key| sample(key)).collect();
        for name in &universe {
            let beside: Vec<&String> =
                needed.iter().filter(|sample| !sample.starts_with(&format!("{name}:"))).collect();
            // A flow map as a value is wrong nearly everywhere: what is asked is whether the key is known.
            let text = format!(
                "{{{before}{}{name}: null{after}}}",
                beside.iter().fold(String::new(), |t, s| t + s + ", ")
            );
            let unknown = |why: &String| why.contains(&format!("{name}` is not a known key"));
            let by_reader = read(&text).err().is_none_or(|why| !unknown(&why));
            let by_table = keys.iter().any(|key| key.name == name);
            let alternative = before.contains("agents:") || before.contains("PITEST:");
            assert!(by_reader == by_table || alternative, "{text}: reader {by_reader}, table {by_table}");
            if by_table && read(&text).is_ok() {
                assert_eq!(misfit(&schema, &as_json(&text)), None, "{text}");
            }
            if !by_reader {
                assert!(misfit(&schema, &as_json(&text)).is_some(), "{text}");
            }
            asked += 1;
        }
    }
    assert!(asked > 500, "{asked}");
}

/// Values of every kind, sound somewhere and wrong elsewhere.
const VALUES: &[&str] = &[
    "null",
    "true",
    "-1",
    "0",
    "1",
    "70",
    "100",
    "101",
    "1000",
    "1001",
    "1024",
    "1025",
    "4294967296",
    "1.5",
    "''",
    "default",
    "x",
    "claude",
    "codex",
    "class",
    "task",
    "survived",
    "ignore",
    "direct",
    "maven",
    "own-first",
    "own",
    "lines",
    "auto",
    "clean",
    "in-place",
    "agent",
    "ralph",
    "reopen-reviews",
    "keep-reviews",
    "stop",
    "next",
    "60m",
    "1h 30m",
    "0s",
    "'1.25.9'",
    "'1.2 3'",
    "'('",
    "'(?i)done'",
    "[]",
    "[x]",
    "['']",
    "[x, '']",
    "[1]",
    "['{}Test']",
    "['{}']",
    "['../x']",
    "['/x']",
    "['**/src/**']",
    "{}",
    "{A: 1, B: x, C: true}",
    "{RALPH_X: y}",
    "{1A: x}",
    "{a: {command: [x]}}",
    "{a b: {preset: claude}}",
    "{a: {}}",
    "{a: {command: [x], preset: claude}}",
    "{FINAL: {run: [x]}}",
    "{PITEST: null}",
    "{LINT: null}",
];

#[test]
fn the_schema_allows_what_the_reader_accepts_and_little_more() {
    let schema = schema();
    let mut looser: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let (mut both, mut neither) = (0, 0);
    for (before, after, keys) in maps() {
        for key in &keys {
            let beside: Vec<String> =
                keys.iter().filter(|k| k.needed && k.name != key.name).map(|k| sample(k)).collect();
            let beside = beside.iter().fold(String::new(), |text, sample| format!("{text}{sample}, "));
            for value in VALUES {
                let text = format!("{{{before}{beside}{}: {value}{after}}}", key.name);
                match (read(&text), misfit(&schema, &as_json(&text))) {
                    (Ok(()), Some(why)) => panic!("{text} is refused by the schema: {why}"),
                    (Ok(()), None) => both += 1,
                    (Err(_), Some(_)) => neither += 1,
                    (Err(_), None) => {
                        let place =
                            before.replace("LINT", "PITEST").replace(['{', ' '], "").replace(':', ".");
                        looser.entry(format!("{place}{}", key.name)).or_default().insert(value);
                    }
                }
            }
        }
    }
    assert!(both > 200 && neither > 1000, "{both}, {neither}");
    // A name of an agent that `agents:` does not know.
    looser.retain(|place, _| !place.starts_with("roles."));
    let told: Vec<String> = looser
        .into_iter()
        .map(|(place, values)| format!("{place}: {}", values.into_iter().collect::<Vec<_>>().join(" · ")))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    checkpoints: '('
    ");
}

#[test]
fn every_example_fits_and_says_what_it_means() {
    let schema = schema();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut examples = vec![
        crate::config::TEMPLATE.to_owned(),
        include_str!("../../../.ralph-example/.ralph/config.yaml").to_owned(),
    ];
    // The examples that stand in the template as comments, each a key with what is indented below it.
    let lines: Vec<&str> = crate::config::TEMPLATE.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let starts = |line: &str| {
            line.strip_prefix("# ")
                .is_some_and(|rest| ROOT.iter().any(|key| rest.starts_with(&format!("{}:", key.name))))
        };
        if starts(line) {
            let below = lines[at + 1..]
                .iter()
                .take_while(|line| line.starts_with("#   ") && !line.starts_with("#   #"));
            let text: Vec<&str> = std::iter::once(line).chain(below).map(|line| &line[2..]).collect();
            examples.push(text.join("\n"));
        }
    }
    assert!(examples.len() >= 5, "{examples:#?}");
    let mut pages = vec![root.join("README.md")];
    pages.extend(fs_err::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path()));
    for page in pages {
        let text = fs_err::read_to_string(page).unwrap();
        let blocks = text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
        let is_ours = |text: &String| {
            document::parse(text).is_ok_and(|node| matches!(&node, Node::Map(entries) if entries.iter().any(|(name, _)| ROOT.iter().any(|key| key.name == name))))
        };
        examples.extend(blocks.filter(is_ours));
    }
    for text in examples {
        assert_eq!(read(&text), Ok(()), "{text}");
        assert_eq!(misfit(&schema, &as_json(&text)), None, "{text}");
    }
}

#[test]
fn the_schema_shows_words_ranges_defaults_and_meanings() {
    let schema = schema();
    let mutation = &schema["properties"]["gates"]["properties"]["PITEST"]["oneOf"][0]["properties"];
    assert_eq!(
        mutation["threshold"],
        json!({ "type": "integer", "minimum": 0, "maximum": 100, "default": 70, "description": "Per cent of mutants that must be killed." })
    );
    assert_eq!(mutation["per"]["enum"], json!(["class", "package", "task"]));
    assert_eq!(schema["properties"]["limits"]["properties"]["wall"]["default"], json!("24h"));
    assert_eq!(schema["additionalProperties"], json!(false));
}

#[test]
fn a_length_of_time_is_one_for_both_or_for_neither() {
    let schema = schema();
    let fits = |text: &str| misfit(&schema, &json!({ "limits": { "wall": text } })).is_none();
    let reads = |text: &str| parse(&format!("limits: {{wall: {text:?}}}\n"), Path::new("/w")).is_ok();
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
        assert!(fits(text) || !reads(text), "`{text}` is read, and no value for the schema");
    }
    for text in ["2d", "0s", "9000h", "8800 h", "5parsecs", "soon", "", "1w", "0h 0m", "60", "1 year"] {
        assert!(!reads(text), "{text}");
        assert!(!fits(text), "`{text}` is not read, and a value for the schema");
    }
    for text in ["90s", "60m", "1h 30m", "24h", "8784h", "1.5h", "01:30:00", "PT1H30M"] {
        assert!(fits(text) && reads(text), "{text}");
    }
}
