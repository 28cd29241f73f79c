//! Selects the survivors to show.
//!
//! The same survivors give the same order for any order of the report (PIT's is not stable). One mutant per line is
//! reported, since most mutants of a line have the same result. Those on changed lines come first.

use super::Mutant;
use crate::source::RepoPath;
use serde::{Deserialize, Serialize};

/// Maximum number of survivors in a report.
pub const SURVIVORS_SHOWN: usize = 20;

/// A survivor in a report, with its position, its source line and the tests that reach it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survivor {
    #[serde(flatten)]
    pub mutant: Mutant,
    /// The package of its class; empty in journals of older versions.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub package: String,
    /// Path of its source file in the package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<RepoPath>,
    /// Its source line, trimmed; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// True if the task changed its line.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// Test classes that reach it, at most 5.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<String>,
    /// Number of test classes that reach it.
    #[serde(default)]
    pub tests_total: u64,
}

impl From<Mutant> for Survivor {
    /// Builds a survivor without further data.
    fn from(mutant: Mutant) -> Self {
        Self {
            mutant,
            ..Self::default()
        }
    }
}

/// Returns the survivors for the worker: at most one per line, those on changed lines first.
///
/// At most [`SURVIVORS_SHOWN`] are returned. The others are only counted.
pub fn rank(survivors: impl IntoIterator<Item = Survivor>) -> Vec<Survivor> {
    let mut sorted: Vec<Survivor> = survivors.into_iter().collect();
    sorted.sort_by(|a, b| {
        sort_key(a)
            .cmp(&sort_key(b))
            .then_with(|| a.mutant.cmp(&b.mutant))
    });
    sorted.dedup_by(|a, b| {
        (&a.package, &a.mutant.file, &a.mutant.class, a.mutant.line)
            == (&b.package, &b.mutant.file, &b.mutant.class, b.mutant.line)
    });
    sorted.truncate(SURVIVORS_SHOWN);
    sorted
}

/// Returns the key of the order: changed lines first.
fn sort_key(s: &Survivor) -> (bool, String, String, u32) {
    (
        !s.changed,
        s.package.clone(),
        s.mutant.class.clone(),
        s.mutant.line,
    )
}
