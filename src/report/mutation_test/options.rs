//! The arguments of `mutation_test`, and their ranges.

use super::Refusal;
use serde_json::Value;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Seconds that a call may take.
pub const TIMEOUT: RangeInclusive<u64> = 10..=14_400;
/// Survivors that are listed.
pub const SURVIVORS: RangeInclusive<u64> = 1..=500;

/// How a target is to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The engine and all that it starts are ended past it.
    pub timeout: Duration,
    /// Survivors that are listed.
    pub survivors: usize,
}

impl Options {
    /// Reads the arguments; 600 seconds and 20 survivors where they are absent or null.
    pub fn read(timeout: Option<&Value>, survivors: Option<&Value>) -> Result<Self, Refusal> {
        let survivors = number("max_survivors_reported", survivors, 20, SURVIVORS)?;
        Ok(Self {
            timeout: Duration::from_secs(number("timeout", timeout, 600, TIMEOUT)?),
            survivors: usize::try_from(survivors).unwrap_or(usize::MAX),
        })
    }
}

fn number(
    name: &str,
    value: Option<&Value>,
    default: u64,
    range: RangeInclusive<u64>,
) -> Result<u64, Refusal> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(default) };
    value.as_u64().filter(|number| range.contains(number)).ok_or_else(|| {
        let (first, last) = range.into_inner();
        Refusal::usage(
            format!("`{name}` must be a whole number from {first} to {last}."),
            format!("Leave it out for {default}, or name a number in the range."),
        )
    })
}
