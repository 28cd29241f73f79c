//! `limits:`, the limits of runs and attempts.

use super::kinds::time;
use jiff::fmt::serde::unsigned_duration::{optional, required};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use std::time::Duration;

/// Limits; `None` is no limit.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Iterations of one run.
    #[schemars(with = "u64", range(min = 1, max = 1_000_000))]
    pub iterations: Option<u64>,
    /// Attempts in a row for one stage.
    #[schemars(range(min = 1, max = 1000))]
    pub attempts: u32,
    /// Reworks of one task.
    #[schemars(range(min = 0, max = 1000))]
    pub rework: u32,
    /// Wall time of one run.
    #[serde(deserialize_with = "required::deserialize")]
    #[schemars(schema_with = "time")]
    pub wall: Duration,
    /// Wall time of one attempt.
    #[serde(deserialize_with = "required::deserialize")]
    #[schemars(schema_with = "time")]
    pub attempt: Duration,
    /// US dollars that may be used, as the agents' CLIs count.
    pub cost: BudgetSettings,
    /// Tokens that may be used, as the agents' CLIs count.
    pub tokens: BudgetSettings,
    /// The share of a usage limit that may be used, where the agent's CLI reports it.
    pub quota: QuotaSettings,
    /// Time of an attempt without a byte of output.
    #[serde(deserialize_with = "optional::deserialize")]
    #[schemars(schema_with = "time")]
    pub idle: Option<Duration>,
    /// Wall time of one check.
    #[serde(deserialize_with = "required::deserialize")]
    #[schemars(schema_with = "time")]
    pub check: Duration,
}

/// The part of a usage limit that ralph leaves to others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuotaSettings {
    /// The used share at which an agent makes no further attempt until the limit resets.
    #[schemars(schema_with = "percent")]
    pub stop_at: Option<Percent>,
}

/// A share in per cent, 1 to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Percent(pub u8);

impl TryFrom<String> for Percent {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let number = text
            .strip_suffix('%')
            .and_then(|number| number.parse().ok());
        number
            .filter(|percent| (1..=100).contains(percent))
            .map(Self)
            .ok_or_else(|| format!("`{text}` is not a share such as 90%"))
    }
}

/// The text of a [`Percent`] in the file.
fn percent(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "string", "title": "a share of 1% to 100%", "pattern": "^(?:[1-9][0-9]?|100)%$",
        "examples": ["90%"],
    })
}

/// The maximum use; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BudgetSettings {
    /// By one run.
    #[schemars(schema_with = "amount")]
    pub run: Option<Amount>,
    /// By one task with its reviews.
    #[schemars(schema_with = "amount")]
    pub task: Option<Amount>,
    /// By one attempt. ralph stops it if its transcript reports more, otherwise the run ends after it.
    #[schemars(schema_with = "amount")]
    pub attempt: Option<Amount>,
}

/// A number of dollars or tokens, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "f64")]
pub struct Amount(pub u64);

impl From<f64> for Amount {
    /// Converts through decimal text, since a cast could truncate.
    fn from(number: f64) -> Self {
        Self(
            format!("{:.0}", number * 1_000_000.0)
                .parse()
                .unwrap_or(u64::MAX),
        )
    }
}

/// Returns the schema of the number of an [`Amount`].
fn amount(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "number", "title": "a number greater than 0", "exclusiveMinimum": 0, "maximum": 1e12,
        "examples": [20, 0.5],
    })
}
