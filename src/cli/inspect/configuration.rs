//! Mistakes in `.ralph/config.yaml`, in flags and in variables.

use super::finding::{Finding, Rule};
use crate::cli::environment::CONFIG;
use crate::cli::workspace::Opened;
use crate::config::{ConfigError, key_line};

const CONFIG_ERROR: Rule = Rule::error("config-error", "The configuration has a mistake");

pub(super) fn findings(opened: &Opened) -> Vec<Finding> {
    opened.errors.iter().map(finding).collect()
}

fn finding(error: &ConfigError) -> Finding {
    // The message begins with the place, or with the variable or flag, which is a field of its own here.
    let (place, what) = error.message.split_once(": ").unwrap_or((CONFIG, &error.message));
    let place = if error.is_in_file() { CONFIG } else { place };
    let key = Some(error.key.clone()).filter(|key| !key.is_empty());
    // What is wrong in a variable or flag is in no file; code scanning is led to the one that would be read.
    let found = CONFIG_ERROR.found(place, what, error.hint.clone()).path(CONFIG);
    Finding { line: error.line, key, ..found }
}

/// Adds the line to findings about a key of the configuration.
pub(crate) fn find_lines(findings: &mut [Finding], text: &str) {
    for finding in findings.iter_mut().filter(|finding| finding.file == CONFIG && finding.line.is_none()) {
        finding.line = finding.key.as_deref().and_then(|key| key_line(text, key));
    }
}
