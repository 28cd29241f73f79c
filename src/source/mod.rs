//! Classification of paths and contents of source texts, as pure functions over any bytes.

mod classify;
mod digest;
mod environment;
mod java;
mod lines;
mod misplaced;
mod outline;
mod path;
mod problem;
mod secrets;
mod settings;
mod shadow;
mod shard;
mod test_code;
pub mod text;

pub use classify::{Classifier, compile_folded_globs, compile_globs, is_output, is_source};
pub use digest::{PartsDigest, digest, digest_of, digest_parts, hex};
pub use environment::{environment_for, is_named, is_passed};
pub use java::{Statements, code_lines, is_weakened, top_types, unescaped};
pub use lines::{lost_lines, lost_words};
pub use misplaced::own_test_beside;
pub use outline::{Loads, SourceOutline, file_words, has_outline, is_for_tests_alone, path_words};
pub use path::RepoPath;
pub use problem::Problem;
pub use secrets::Secrets;
pub use settings::is_build_setting;
pub use shadow::shadowed;
pub use shard::{MAX_SHARDS, Shard};
pub use test_code::{
    changed_production, count_tests, is_collected, lost_test_code, tests_before_and_now,
};

use serde::{Deserialize, Serialize};

/// Lines of a file that differ from an older version of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangedLines {
    /// All lines: the file is new.
    Whole,
    /// These lines, first and last of each range, 1-based, in order.
    Ranges(Vec<(u32, u32)>),
}

/// The kind of a file for the loop (docs/design.md "Words").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A test file: by default `**/src/test/**` and each language's own patterns.
    Test,
    /// A production file: by default `**/src/main/**` and each language's own patterns.
    Production,
    /// A build file: `pom.xml`, `build.gradle*`, `package.json`, `Cargo.toml`, `pyproject.toml` …
    Build,
    /// Everything else: documents, resources elsewhere, notes.
    Other,
}
