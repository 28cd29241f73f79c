//! Which survivors are shown.
//!
//! The same survivors in the same order whatever the order of the report (PIT's is not stable); one mutant of a line is reported, since most mutants of a line
//! share one fate, and those on lines that the family changed come first.

use super::Mutant;
use crate::source::RepoPath;
use serde::{Deserialize, Serialize};

/// Survivors in a report.
pub const SURVIVORS_SHOWN: usize = 20;

/// A survivor as it is reported: with its position, its source line and the tests that reach it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survivor {
    /// The mutant.
    #[serde(flatten)]
    pub mutant: Mutant,
    /// The package of its class; empty in journals of older versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub package: String,
    /// Path of its source file in the package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<RepoPath>,
    /// Its source line, trimmed; empty when it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// It is on a line that the family changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// Test classes that reach it, at most 5.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// How many test classes reach it.
    #[serde(default)]
    pub tests_total: u64,
}

impl From<Mutant> for Survivor {
    /// A survivor of which nothing else is known.
    fn from(mutant: Mutant) -> Self {
        Self {
            mutant,
            ..Self::default()
        }
    }
}

/// What the worker is shown: at most one survivor of each line, those on changed lines first, at most
/// [`SURVIVORS_SHOWN`]; the others are a count.
pub fn rank(survivors: impl IntoIterator<Item = Survivor>) -> Vec<Survivor> {
    let mut sorted: Vec<Survivor> = survivors.into_iter().collect();
    sorted.sort_by(|a, b| {
        let place = |s: &Survivor| {
            (
                !s.changed,
                s.package.clone(),
                s.mutant.class.clone(),
                s.mutant.line,
            )
        };
        place(a)
            .cmp(&place(b))
            .then_with(|| a.mutant.cmp(&b.mutant))
    });
    sorted.dedup_by(|a, b| {
        (&a.package, &a.mutant.file, &a.mutant.class, a.mutant.line)
            == (&b.package, &b.mutant.file, &b.mutant.class, b.mutant.line)
    });
    sorted.truncate(SURVIVORS_SHOWN);
    sorted
}
