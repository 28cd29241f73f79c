//! The patterns of the configuration, compiled once in each run. Compiling them at each use took a third of the processor
//! time of an iteration.

use super::Outside;
use crate::config::Settings;
use crate::engine::Fault;
use crate::source::{compile_folded_globs, compile_globs};
use crate::sys::disk::NAMES_MAY_IGNORE_CASE;
use globset::GlobSet;

/// The compiled patterns of one configuration.
pub(super) struct Patterns {
    /// `policy.protected`.
    pub protected: GlobSet,
    /// `policy.instructions`.
    pub instructions: GlobSet,
    /// `policy.allow`.
    pub allowed: GlobSet,
    /// Each entry of `spec_files`, in their order.
    pub spec_files: Vec<GlobSet>,
}

impl Patterns {
    fn compile_patterns(settings: &Settings) -> Result<Self, Fault> {
        let Settings {
            policy, spec_files, ..
        } = settings;
        let spec_files = spec_files
            .iter()
            .map(|pattern| compile_setting("spec_files", std::slice::from_ref(pattern)));
        // Under another case an agent could write what a tool then reads under the protected name.
        let compile_guard = |key, patterns| {
            if NAMES_MAY_IGNORE_CASE {
                compile_folded_globs(patterns).map_err(|error| refuse_pattern(key, &error))
            } else {
                compile_setting(key, patterns)
            }
        };
        Ok(Self {
            protected: compile_guard("policy.protected", &policy.protected)?,
            instructions: compile_guard("policy.instructions", &policy.instructions)?,
            allowed: compile_setting("policy.allow", &policy.allow)?,
            spec_files: spec_files.collect::<Result<_, _>>()?,
        })
    }
}

impl Outside {
    pub(super) fn compiled_patterns(&self) -> Result<&Patterns, Fault> {
        if let Some(compiled) = self.patterns.get() {
            return Ok(compiled);
        }
        let compiled = Patterns::compile_patterns(&self.parts.settings)?;
        Ok(self.patterns.get_or_init(|| compiled))
    }
}

/// Compiles the patterns of a key of the configuration.
pub(super) fn compile_setting(key: &str, patterns: &[String]) -> Result<GlobSet, Fault> {
    compile_globs(patterns).map_err(|error| refuse_pattern(key, &error))
}

fn refuse_pattern(key: &str, error: &globset::Error) -> Fault {
    Fault::setup_fault(format!("{key}: {error}."), "fix the pattern")
}
