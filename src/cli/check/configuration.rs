//! What is wrong with `.ralph/config.yaml`.
//!
//! Owns: mistakes of the configuration as findings.
//!
//! Promises: all of them, each with its line and key.
//!
//! Refuses to know: which keys there are.

use super::finding::{Finding, Level};
use crate::cli::workspace::{CONFIG, Opened};
use crate::config::ConfigError;

/// The mistakes.
pub(super) fn findings(opened: &Opened) -> Vec<Finding> {
    opened.errors.iter().map(finding).collect()
}

fn finding(error: &ConfigError) -> Finding {
    // The message begins with the place, which stands in fields of its own here.
    let what = error.message.split_once(": ").map_or(error.message.as_str(), |(_, what)| what);
    let found = Finding::new(Level::Error, "config-error", CONFIG, what, error.hint.clone());
    let key = Some(error.key.clone()).filter(|key| !key.is_empty());
    Finding { line: error.line, key, ..found }
}
