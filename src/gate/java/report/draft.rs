//! One mutant of PIT's report, while it is read.

use super::Owners;
use crate::mutation::MutantStatus;
use crate::source::text;
use quick_xml::events::BytesStart;
use std::collections::BTreeMap;

/// The status of a mutant that has been run; `None` for one that was not started.
pub(super) type Status = Option<MutantStatus>;

/// A mutant whose end tag has not been seen.
pub(super) struct Draft {
    pub(super) status: Status,
    pub(super) fields: BTreeMap<&'static str, String>,
    pub(super) indexes: Vec<String>,
}

/// The elements that are read.
pub(super) const FIELDS: [&str; 8] = [
    "sourceFile",
    "mutatedClass",
    "mutatedMethod",
    "methodDescription",
    "lineNumber",
    "mutator",
    "description",
    "killingTest",
];

pub(super) fn status(tag: &BytesStart<'_>) -> Result<Status, String> {
    let attribute = tag
        .try_get_attribute("status")
        .map_err(|error| text::line(&error.to_string(), 200))?;
    let Some(attribute) = attribute else {
        return Err("a mutation has no status".to_owned());
    };
    let status = match attribute.value.as_ref() {
        "KILLED" => MutantStatus::Killed,
        "SURVIVED" => MutantStatus::Survived,
        "NO_COVERAGE" => MutantStatus::NoCoverage,
        "TIMED_OUT" => MutantStatus::TimedOut,
        "MEMORY_ERROR" => MutantStatus::MemoryError,
        // A mutant that the JVM refuses never ran, and a test can have it refused.
        "RUN_ERROR" | "NON_VIABLE" => MutantStatus::RunError,
        "EQUIVALENT" => MutantStatus::Equivalent,
        "NOT_STARTED" => return Ok(None),
        other => {
            return Err(format!(
                "it names the unknown status {}",
                text::line(other, 60)
            ));
        }
    };
    Ok(Some(status))
}

/// The target that a class belongs to: by its own name, or that of the classes around it.
pub(super) fn owner<'a>(owners: &'a Owners, class: &str) -> Option<&'a str> {
    let mut name = class;
    loop {
        if let Some(target) = owners.get(name) {
            return Some(target);
        }
        name = &name[..name.rfind('$')?];
    }
}

pub(super) fn mutator(class: &str) -> String {
    let last = class.rsplit(['.', '$']).next().unwrap_or(class);
    text::line(last.strip_suffix("Mutator").unwrap_or(last), 100)
}
