//! Java modules: built by Maven (or javac in its place), measured by PIT.

mod base_score;
mod changed_tests;
mod class_file;
mod class_scores;
mod classes;
mod context;
mod coverage_map;
mod jvm;
mod maven;
mod measure;
mod module;
mod package;
mod pit;
mod report;
mod run;
mod scope;
mod surefire;
mod test_classes;
mod tiers;

pub use maven::{GRADLE_COMMAND, PomLinks, follow_link, pom_links};
#[cfg(test)]
pub(super) use report::SealKey;
pub(super) use run::judge_modules;
pub(super) use scope::{JavaPath, find_scope};

use super::files::FileLanguage;

/// As far as a copy asks.
pub(super) const JAVA: FileLanguage = FileLanguage {
    name: "Java",
    extensions: &["java"],
    builds: &[],
    tests: &[],
    installed: &[],
    outputs: &[],
    hides: &[],
    tells: &[],
};
