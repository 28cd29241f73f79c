//! Validates a tree of values against the JSON Schema of the settings.
//!
//! It reports the first error with its keys.
//!
//! The message uses the words of the schema (`title`, `examples`, the words of a choice).

use super::error::{Mistake, described, either, nearest};
use crate::source::text;
use crate::task::Sections;
use jiff::SignedDuration;
use regex_lite::Regex;
use serde_json::Value as Json;
use serde_yaml::{Mapping, Value};

/// The `maximum` of an amount.
const MOST: f64 = 1e12;

/// Bytes of a command that a hint repeats.
const LONGEST_COMMAND: usize = 200;

/// One year in hours: longer limits are typing errors and would overflow clocks.
const LONGEST_HOURS: i64 = 366 * 24;

/// Returns the first value in the tree that does not fit.
pub(super) fn check(schema: &Json, value: &Value) -> Result<(), Mistake> {
    // A schema that also allows keys is a choice of words with one form that has keys.
    let forms = schema["oneOf"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    match (
        value,
        forms.iter().find(|form| form["properties"].is_object()),
    ) {
        (Value::Mapping(map), Some(_)) if !map.is_empty() => {
            let form = forms.iter().find(|form| {
                let properties = &form["properties"];
                map.keys()
                    .any(|key| properties.get(key.as_str().unwrap_or_default()).is_some())
            });
            return match form {
                Some(form) => check(form, value),
                None => Err(unknown(forms, map)),
            };
        }
        (Value::Mapping(map), _) if is(schema, "object") => {
            return map.iter().try_for_each(|(key, below)| {
                entry(schema, key.as_str().unwrap_or_default(), below)
            });
        }
        (Value::Sequence(items), _)
            if is(schema, "array") && items.len() as u64 >= least(schema, "minItems") =>
        {
            return items
                .iter()
                .enumerate()
                .try_for_each(|(at, item)| list_item(schema, at, item));
        }
        _ => {}
    }
    let words = words(schema);
    let fits = match value {
        Value::Null => is(schema, "object"),
        Value::Bool(_) => is(schema, "boolean"),
        Value::Number(number) => {
            let most = schema["maximum"].as_u64().unwrap_or(u64::MAX);
            let range = least(schema, "minimum")..=most;
            let is_amount = number
                .as_f64()
                .is_some_and(|number| number > 0.0 && number <= MOST);
            is(schema, "number") && is_amount
                || is(schema, "integer")
                    && number
                        .as_u64()
                        .is_some_and(|number| range.contains(&number))
        }
        Value::String(text) if words.is_empty() => is(schema, "string") && text_fits(schema, text),
        Value::String(text) => words.contains(&text.as_str()),
        Value::Sequence(_) | Value::Mapping(_) | Value::Tagged(_) => false,
    };
    if !fits {
        return Err(must_be(schema, value));
    }
    let reason = value
        .as_str()
        .and_then(|text| reason(schema["format"].as_str()?, text));
    reason.map_or(Ok(()), |why| {
        let mistake = must_be(schema, value);
        Err(Mistake {
            what: format!("{}: {}", mistake.what, why.trim_end_matches('.')),
            ..mistake
        })
    })
}

/// Reports keys that fit no form.
fn unknown(forms: &[Json], map: &Mapping) -> Mistake {
    let all = forms
        .iter()
        .filter_map(|form| form["properties"].as_object());
    let known: Vec<&str> = all
        .flat_map(|known| known.keys().map(String::as_str))
        .collect();
    let key = map
        .keys()
        .next()
        .and_then(Value::as_str)
        .unwrap_or_default();
    Mistake::unknown_key(key, &known).at(key)
}

fn entry(schema: &Json, key: &str, value: &Value) -> Result<(), Mistake> {
    let names = &schema["propertyNames"];
    if !names.is_null() && !text_fits(names, key) {
        let hint = format!(
            "Use {}.",
            names["description"].as_str().unwrap_or("another name")
        );
        return Err(Mistake::new("is not a valid name here", &hint).at(key));
    }
    let known = schema["properties"].as_object();
    let below = known
        .and_then(|known| known.get(key))
        .unwrap_or(&schema["additionalProperties"]);
    match below {
        Json::Object(_) if value.is_null() && known.is_some() => Ok(()),
        Json::Object(_) => check(below, value).map_err(|mistake| mistake.at(key)),
        _ => {
            let known: Vec<&str> = known
                .into_iter()
                .flat_map(|known| known.keys().map(String::as_str))
                .collect();
            Err(Mistake::unknown_key(key, &known).at(key))
        }
    }
}

fn list_item(schema: &Json, at: usize, item: &Value) -> Result<(), Mistake> {
    let below = schema["prefixItems"].get(at).unwrap_or(&schema["items"]);
    check(below, item).map_err(|mistake| Mistake {
        what: format!("(item {}) {}", at + 1, mistake.what),
        ..mistake
    })
}

/// Returns the words of a choice.
fn words(schema: &Json) -> Vec<&str> {
    let forms = schema["oneOf"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|form| &form["const"]);
    forms
        .chain(schema["enum"].as_array().into_iter().flatten())
        .filter_map(Json::as_str)
        .collect()
}

/// True for a schema that allows values of this type.
fn is(schema: &Json, name: &str) -> bool {
    let allowed = &schema["type"];
    allowed == name
        || allowed
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one == name))
}

fn least(schema: &Json, key: &str) -> u64 {
    schema[key].as_u64().unwrap_or(0)
}

fn text_fits(schema: &Json, text: &str) -> bool {
    let refused = schema["not"]["enum"]
        .as_array()
        .is_some_and(|words| words.iter().any(|word| word == text));
    text.chars().count() as u64 >= least(schema, "minLength")
        && !text.contains('\0')
        && !refused
        && matches_pattern(&schema["pattern"], text) != Some(false)
        && matches_pattern(&schema["not"]["pattern"], text) != Some(true)
}

/// Matches a text against a pattern of the schema, if there is one.
fn matches_pattern(pattern: &Json, text: &str) -> Option<bool> {
    let regex = Regex::new(pattern.as_str()?);
    Some(regex.is_ok_and(|regex| regex.is_match(text)))
}

/// Returns why a text of that format cannot be used; `None` if it can.
fn reason(format: &str, text: &str) -> Option<String> {
    match format {
        "path-pattern" => globset::Glob::new(text)
            .err()
            .map(|error| error.kind().to_string()),
        "heading-pattern" => Sections::new(&[text.to_owned()], &[])
            .err()
            .map(|(_, why)| why),
        "task-pattern" => match Regex::new(text) {
            Err(error) => Some(text::line(&error.to_string(), 1_000)),
            Ok(regex) => regex
                .is_match("")
                .then(|| "every task could be ticked without a change".to_owned()),
        },
        "length-of-time" => {
            let range = SignedDuration::from_nanos(1)..=SignedDuration::from_hours(LONGEST_HOURS);
            match text.parse::<SignedDuration>() {
                Err(error) => Some(text::line(&error.to_string(), 1_000)),
                Ok(length) => {
                    (!range.contains(&length)).then(|| "it is too short or too long".to_owned())
                }
            }
        }
        _ => None,
    }
}

fn must_be(schema: &Json, value: &Value) -> Mistake {
    let words = words(schema);
    let examples = schema["examples"].as_array().into_iter().flatten();
    let examples: Vec<String> = examples.map(|example| format!("`{example}`")).collect();
    let examples = command_of(schema, value).map_or(examples, |command| vec![command]);
    let hint = match nearest(value.as_str().unwrap_or_default(), &words) {
        Some(near) => format!("Did you mean `{near}`?"),
        None if !examples.is_empty() => format!("Write it as {}.", examples.join(" or ")),
        None if !words.is_empty() => {
            "Write one of these words, or leave the key out for its default.".to_owned()
        }
        None if is(schema, "object") => "Write `key: value` lines below it.".to_owned(),
        None if is(schema, "array") => {
            "Write it as `[\"a\", \"b\"]`, or leave the key out for its default.".to_owned()
        }
        None if is(schema, "integer") && !is(schema, "string") => {
            "Write the number alone, without quotes or a unit.".to_owned()
        }
        None => "Write a value in quotes, or leave the key out for its default.".to_owned(),
    };
    let is_empty = value.as_str() == Some("") || value.as_sequence().is_some_and(Vec::is_empty);
    if is_empty && words.is_empty() && (is(schema, "string") || is(schema, "array")) {
        return Mistake::new("must not be empty", &hint);
    }
    Mistake::new(
        &format!(
            "must be {}, not {}",
            wanted(schema, &words),
            described(value)
        ),
        &hint,
    )
}

/// Returns the list for a command that was written as one line: its words, or `sh -c` where only a shell can read it.
fn command_of(schema: &Json, value: &Value) -> Option<String> {
    let line = value.as_str().map(str::trim)?;
    let takes_command = is(schema, "array") && schema["examples"][0].is_array();
    if !takes_command || line.is_empty() || line.len() > LONGEST_COMMAND {
        return None;
    }
    let needs_shell =
        line.contains(|c: char| c.is_control() || "'\"\\`$&|;<>(){}[]*?~#=!".contains(c));
    let words: Vec<&str> = if needs_shell {
        vec!["sh", "-c", line]
    } else {
        line.split_whitespace().collect()
    };
    let words: Vec<String> = words
        .iter()
        .map(|word| Json::from(*word).to_string())
        .collect();
    Some(format!("`[{}]`", words.join(", ")))
}

/// Describes the values that fit.
fn wanted(schema: &Json, words: &[&str]) -> String {
    match (schema["type"].as_str(), schema["title"].as_str()) {
        _ if !words.is_empty() => either(words),
        (Some("object"), _) => "keys with values".to_owned(),
        (_, Some(title)) => title.to_owned(),
        (Some("array"), _) => "a list".to_owned(),
        (Some("integer"), _) => format!(
            "a whole number from {} to {}",
            schema["minimum"], schema["maximum"]
        ),
        _ => "text".to_owned(),
    }
}
