//! What is wrong with `.ralph/config.yaml`.
//!
//! Owns: mistakes of the configuration as findings.
//!
//! Promises: all of them, each with its line and key.
//!
//! Refuses to know: which keys there are.

use super::finding::{Finding, Level};
use crate::cli::workspace::{CONFIG, Opened};
use crate::config::{ConfigError, key_line};

/// The mistakes.
pub(super) fn findings(opened: &Opened) -> Vec<Finding> {
    opened.errors.iter().map(finding).collect()
}

fn finding(error: &ConfigError) -> Finding {
    // The message begins with the place, or with the variable or flag: that stands in a field of its own here.
    let (place, what) = error.message.split_once(": ").unwrap_or((CONFIG, &error.message));
    let place = if error.is_in_file() { CONFIG } else { place };
    let found = Finding::new(Level::Error, "config-error", place, what, error.hint.clone());
    let key = Some(error.key.clone()).filter(|key| !key.is_empty());
    // What a variable or flag said stands in no file; code scanning is led to the one that would be read.
    Finding { line: error.line, key, path: Some(CONFIG.into()), ..found }
}

/// Gives findings about a key of the configuration the line on which the file writes it.
pub(super) fn find_lines(findings: &mut [Finding], text: &str) {
    for finding in findings.iter_mut().filter(|finding| finding.file == CONFIG && finding.line.is_none()) {
        finding.line = finding.key.as_deref().and_then(|key| key_line(text, key));
    }
}
