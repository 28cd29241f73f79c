//! What may be written at a key: one format for each kind of value, with its reading, its schema and its mistakes.

use super::error::{Mistake, described, quoted};
use crate::source::text;
use crate::task::Sections;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value as Json, json};
use serde_yaml::Value;
use std::borrow::Cow;
use std::marker::PhantomData;
use std::path::PathBuf;

/// A kind of value.
pub(super) trait Format {
    /// What it is read as.
    type Value: Serialize;

    /// Reads a value of the file.
    fn read(value: &Value) -> Result<Self::Value, Mistake>;

    /// The JSON Schema of such values.
    fn schema() -> Json;

    /// The value as the file would hold it.
    fn write(value: &Self::Value) -> Value {
        serde_yaml::to_value(value).unwrap_or(Value::Null)
    }
}

/// A format as serde and schemars take it: `#[serde(with = "As::<Time>")]`.
pub(super) struct As<F>(PhantomData<F>);

impl<F: Format> As<F> {
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<F::Value, D::Error> {
        F::read(&Value::deserialize(from)?).map_err(D::Error::custom)
    }

    pub(super) fn serialize<S: Serializer>(value: &F::Value, to: S) -> Result<S::Ok, S::Error> {
        F::write(value).serialize(to)
    }
}

impl<F: Format> JsonSchema for As<F> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        std::any::type_name::<F>().into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::try_from(F::schema()).unwrap_or_default()
    }
}

pub(super) fn must_be<T>(wanted: &str, value: &Value, hint: &str) -> Result<T, Mistake> {
    Err(Mistake::new(&format!("must be {wanted}, not {}", described(value)), hint))
}

/// Text without a NUL character.
struct Argument;

impl Format for Argument {
    type Value = String;

    fn read(value: &Value) -> Result<String, Mistake> {
        match value.as_str() {
            None => must_be("text", value, "Put the value in quotes."),
            Some(text) if text.contains('\0') => Err(Mistake::new("contains a NUL character", "Remove it.")),
            Some(text) => Ok(text.to_owned()),
        }
    }

    fn schema() -> Json {
        json!({ "type": "string" })
    }
}

/// A kind of text that is not empty and holds no NUL character.
pub(super) trait TextFormat {
    /// Refuses what is not of this kind.
    fn check(text: &str) -> Result<(), Mistake>;

    /// What the schema says of it.
    fn text_schema() -> Json {
        json!({ "type": "string", "minLength": 1 })
    }
}

impl<F: TextFormat> Format for F {
    type Value = String;

    fn read(value: &Value) -> Result<String, Mistake> {
        let text = Argument::read(value)?;
        if text.is_empty() {
            let hint = "Write a value, or leave the key out for its default.";
            return Err(Mistake::new("must not be empty", hint));
        }
        F::check(&text).map(|()| text)
    }

    fn schema() -> Json {
        F::text_schema()
    }
}

/// Any such text.
pub(super) struct Text;

impl TextFormat for Text {
    fn check(_: &str) -> Result<(), Mistake> {
        Ok(())
    }
}

/// The path of a folder.
pub(super) struct Folder;

impl Format for Folder {
    type Value = PathBuf;

    fn read(value: &Value) -> Result<PathBuf, Mistake> {
        Text::read(value).map(PathBuf::from)
    }

    fn schema() -> Json {
        Text::schema()
    }
}

/// A pattern for the texts of tasks, in the syntax of the `regex-lite` crate: its `(?i)` is no JavaScript, so the
/// schema does not call it a `regex`.
pub(super) struct TaskPattern;

impl TextFormat for TaskPattern {
    fn check(pattern: &str) -> Result<(), Mistake> {
        match regex_lite::Regex::new(pattern) {
            Err(error) => {
                let why = text::line(&error.to_string(), 1_000);
                let what = format!("is not a regular expression: {}", why.trim_end_matches('.'));
                Err(Mistake::new(&what, r"Fix the pattern, such as `(?i)\bcheckpoint\b`."))
            }
            Ok(regex) if regex.is_match("") => Err(Mistake::new(
                "matches every text, so that every task could be ticked without a change",
                "Write a pattern that matches only the texts of checkpoints.",
            )),
            Ok(_) => Ok(()),
        }
    }
}

/// A version as Maven coordinates hold it: it becomes part of an artifact's name.
pub(super) struct Version;

impl Format for Version {
    type Value = String;

    fn read(value: &Value) -> Result<String, Mistake> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let is_version = |text: &&str| {
            text.len() <= 40 && text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(plain)
        };
        match value.as_str().filter(is_version) {
            Some(version) => Ok(version.to_owned()),
            None => must_be("a version", value, &format!("Write it as `\"{}\"`.", super::PIT_VERSION)),
        }
    }

    fn schema() -> Json {
        json!({ "type": "string", "pattern": "^[0-9][A-Za-z0-9._-]{0,39}$" })
    }
}

/// A whole number in a range.
pub(super) struct Whole<T, const LEAST: u64, const MOST: u64>(PhantomData<T>);

impl<T: TryFrom<u64> + Serialize, const LEAST: u64, const MOST: u64> Format for Whole<T, LEAST, MOST> {
    type Value = T;

    fn read(value: &Value) -> Result<T, Mistake> {
        let number = value.as_u64().filter(|number| (LEAST..=MOST).contains(number));
        if let Some(number) = number.and_then(|number| T::try_from(number).ok()) {
            return Ok(number);
        }
        let wanted = if MOST == u64::MAX {
            format!("a whole number, {LEAST} or more")
        } else {
            format!("a whole number from {LEAST} to {MOST}")
        };
        must_be(&wanted, value, "Write the number alone, without quotes or a unit.")
    }

    fn schema() -> Json {
        let mut schema = json!({ "type": "integer", "minimum": LEAST });
        if MOST < u64::MAX {
            schema["maximum"] = json!(MOST);
        }
        schema
    }
}

/// `null`, or a value of that format.
pub(super) struct Nullable<F>(PhantomData<F>);

impl<F: Format> Format for Nullable<F> {
    type Value = Option<F::Value>;

    fn read(value: &Value) -> Result<Option<F::Value>, Mistake> {
        if value.is_null() { Ok(None) } else { F::read(value).map(Some) }
    }

    fn schema() -> Json {
        json!({ "anyOf": [{ "type": "null" }, F::schema()] })
    }
}

/// A list of at least so many values of that format.
pub(super) struct Many<F, const LEAST: usize = 0>(PhantomData<F>);

impl<F: Format, const LEAST: usize> Format for Many<F, LEAST> {
    type Value = Vec<F::Value>;

    fn read(value: &Value) -> Result<Vec<F::Value>, Mistake> {
        let Some(items) = value.as_sequence() else {
            return must_be("a list", value, "Write it as `[\"a\", \"b\"]`.");
        };
        if items.len() < LEAST {
            return Err(Mistake::new(
                "must not be empty",
                "Write something into the list, or leave the key out for its default.",
            ));
        }
        let wrong = |at: usize, mistake: Mistake| Mistake {
            what: format!("(item {}) {}", at + 1, mistake.what),
            ..mistake
        };
        items
            .iter()
            .enumerate()
            .map(|(at, item)| F::read(item).map_err(|mistake| wrong(at, mistake)))
            .collect()
    }

    fn schema() -> Json {
        json!({ "type": "array", "minItems": LEAST, "items": F::schema() })
    }
}

/// A program with its arguments: an argument may be empty, the program may not.
pub(super) struct Argv;

impl Format for Argv {
    type Value = Vec<String>;

    fn read(value: &Value) -> Result<Vec<String>, Mistake> {
        const HINT: &str =
            "Write program and arguments as a list: `[\"sh\", \"-c\", \"…\"]`; there is no shell.";
        if !value.is_sequence() {
            return must_be("a list of program and arguments", value, HINT);
        }
        let argv = Many::<Argument>::read(value)?;
        if argv.first().is_none_or(String::is_empty) {
            return Err(Mistake::new("does not name a program", HINT));
        }
        Ok(argv)
    }

    fn schema() -> Json {
        json!({ "type": "array", "minItems": 1, "prefixItems": [Text::schema()], "items": Argument::schema() })
    }
}

/// A pattern for paths (globset's syntax), relative to a folder.
pub(super) struct Glob;

impl TextFormat for Glob {
    fn check(glob: &str) -> Result<(), Mistake> {
        if glob.starts_with('/') || glob.split('/').any(|part| part == "..") {
            let what = format!("leaves the folder that it is relative to: {}", quoted(glob));
            return Err(Mistake::new(&what, "Write a path without a leading `/` and without `..`."));
        }
        globset::Glob::new(glob).map(|_| ()).map_err(|error| {
            let what = format!("is not a pattern for paths: {}: {}", quoted(glob), error.kind());
            Mistake::new(&what, "Fix the pattern; `*`, `**`, `?`, `[ab]` and `{a,b}` may be used.")
        })
    }

    fn text_schema() -> Json {
        json!({ "type": "string", "minLength": 1, "not": { "pattern": r"^/|(^|/)\.\.(/|$)" } })
    }
}

/// A pattern for the texts of headings.
pub(super) struct Heading;

impl TextFormat for Heading {
    fn check(pattern: &str) -> Result<(), Mistake> {
        match Sections::new(&[pattern.to_owned()], &[]) {
            Ok(_) => Ok(()),
            Err((pattern, why)) => Err(Mistake::new(
                &format!("is not a pattern for headings: {}: {why}", quoted(&pattern)),
                "Fix the pattern; `*`, `?`, `[ab]` and `{a,b}` may be used, `\\` takes the next character as it is.",
            )),
        }
    }
}

/// The name of a test class, with `{}` where the name of the class under test is.
pub(super) struct TestName;

impl TextFormat for TestName {
    fn check(name: &str) -> Result<(), Mistake> {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        match name.split_once("{}") {
            Some((before, after)) if name.len() > 2 && before.chars().chain(after.chars()).all(plain) => {
                Ok(())
            }
            _ => Err(Mistake::new(
                &format!("is not the name of a test class: {}", quoted(name)),
                "Write names such as `\"{}Test\"`, where `{}` stands for the name of the class under test.",
            )),
        }
    }

    fn text_schema() -> Json {
        json!({ "type": "string", "minLength": 3, "pattern": r"^[^{}\s]*\{\}[^{}\s]*$" })
    }
}

/// The value of an environment variable; whole numbers, `true` and `false` stand for their text.
pub(super) struct Variable;

impl Format for Variable {
    type Value = String;

    fn read(value: &Value) -> Result<String, Mistake> {
        match value {
            Value::Number(number) if !number.is_f64() => Ok(number.to_string()),
            Value::Bool(value) => Ok(value.to_string()),
            _ => Argument::read(value),
        }
    }

    fn schema() -> Json {
        json!({ "type": ["string", "integer", "boolean"] })
    }
}
