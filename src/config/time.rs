//! Lengths of time, as the configuration writes them.

use super::error::Mistake;
use super::formats::{Format, must_be};
use jiff::SignedDuration;
use serde_json::{Value as Json, json};
use serde_yaml::Value;
use std::time::Duration;

/// A length of time such as `60m`, `1h 30m`, `90s`; more than nothing, at most a year.
pub(super) struct Time;

/// One year: longer limits are slips of the pen and would overflow clocks.
const LONGEST: u64 = 366 * 24 * 3600;
/// What a length of time is made of, as loosely as its reader takes it: digits, and units of less than a day.
const TIME: &str = r"[0-9\s.,:+]|[Pp]?[Tt]|[HMS]|h(?:(?:ou)?rs?)?|m(?:in(?:ute)?s?)?|(?:milli|micro|nano)(?:s|seconds?)?|[munµμ]?s(?:ec(?:ond)?s?)?";
/// A number without a unit, or more hours than a year has.
const NO_TIME: &str = r"^[0-9\s.,+]*$|^\s*(?:[1-9][0-9]{4,}|88[0-9]{2}|89[0-9]{2}|9[0-9]{3})\s*[Hh]";

impl Format for Time {
    type Value = Duration;

    fn read(value: &Value) -> Result<Duration, Mistake> {
        let hint = "Write a number with a unit: `90s`, `60m`, `1h 30m` or `24h`.";
        let parsed = value.as_str().and_then(|text| text.trim().parse::<SignedDuration>().ok());
        match parsed.and_then(|length| Duration::try_from(length).ok()) {
            None => must_be("a length of time", value, hint),
            Some(length) if length.is_zero() || length.as_secs() > LONGEST => {
                must_be("longer than nothing and at most a year", value, hint)
            }
            Some(length) => Ok(length),
        }
    }

    fn write(value: &Duration) -> Value {
        let seconds = value.as_secs();
        Value::from(match (seconds % 3600, seconds % 60) {
            (0, _) if seconds > 3600 => format!("{}h", seconds / 3600),
            (_, 0) => format!("{}m", seconds / 60),
            _ => format!("{seconds}s"),
        })
    }

    fn schema() -> Json {
        json!({
            "type": "string", "pattern": format!("^(?:{TIME})*[1-9](?:{TIME})*$"), "not": { "pattern": NO_TIME },
            "examples": ["90s", "60m", "1h 30m", "24h"],
        })
    }
}
