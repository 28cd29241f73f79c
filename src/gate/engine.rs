//! The engines of mutation testing, each by its name, its gate and what it mutates.

use super::files::{self, FileEngine, FileLanguage};
use super::java;
use super::javascript::Stryker;
use super::python::{CosmicRay, Mutmut};
use super::rust::CargoMutants;
use super::scope::GateScope;
use super::verdict::EngineResult;
use super::{GatePorts, GateRequest};
use crate::config::GateSettings;
use crate::report::mutation_test::ToolRefusal;
use crate::source::text;

/// Mutation engine of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MutationEngine {
    /// mutmut, for Python.
    Mutmut,
    /// PIT, for Java.
    Pit,
    /// `StrykerJS`, for JavaScript and TypeScript.
    Stryker,
    /// cargo-mutants, for Rust.
    CargoMutants,
    /// cosmic-ray, for Python if the caller selects it.
    CosmicRay,
}

impl MutationEngine {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Mutmut,
        Self::Pit,
        Self::Stryker,
        Self::CargoMutants,
        Self::CosmicRay,
    ];

    /// The name that callers use.
    pub fn caller_name(self) -> &'static str {
        self.engine_facts().0
    }

    /// The engine of this name.
    pub fn find_by_name(name: &str) -> Result<Self, ToolRefusal> {
        Self::ALL
            .into_iter()
            .find(|engine| engine.caller_name() == name)
            .ok_or_else(|| {
                let names = Self::ALL.map(Self::caller_name).join(", ");
                let what = format!("There is no engine `{}`.", text::line(name, 100));
                ToolRefusal::usage_refusal(what, format!("Leave it out, or name one of {names}."))
            })
    }

    /// Returns the name of its gate.
    ///
    /// `None` for an engine that only a caller selects.
    pub fn gate_name(self) -> Option<&'static str> {
        self.engine_facts().1
    }

    /// The engines of a gate of this name, in the order in which they run.
    pub(super) fn of_gate(name: &str) -> Vec<Self> {
        if name == "MUTATION" {
            return vec![Self::Pit, Self::Mutmut, Self::Stryker, Self::CargoMutants];
        }
        vec![
            Self::ALL
                .into_iter()
                .find(|engine| engine.gate_name() == Some(name))
                .unwrap_or(Self::Pit),
        ]
    }

    /// Returns the scope that it would judge.
    pub(super) fn find_scope(self, request: &GateRequest, settings: &GateSettings) -> GateScope {
        let mut scope = match self.of_files() {
            Some(engine) => files::scope_of(request, settings, engine),
            None => java::find_scope(request, settings),
        };
        if let Some(shard) = request.shard {
            scope.keep_share(shard);
        }
        scope
    }

    /// Judges what the family changed in its language.
    pub(super) fn judge_changes(
        self,
        request: &GateRequest,
        settings: &GateSettings,
        ports: &GatePorts<'_>,
    ) -> EngineResult {
        let scope = self.find_scope(request, settings);
        if !scope.aborts.is_empty() {
            return EngineResult {
                scope,
                ..EngineResult::default()
            };
        }
        let (results, used) = match self.of_files() {
            Some(engine) => files::judge_packages(request, settings, ports, engine, &scope.modules),
            None => java::judge_modules(request, settings, ports, &scope.modules),
        };
        EngineResult {
            scope,
            results,
            used,
        }
    }

    /// True for a file of its language, by its name.
    pub fn mutates_file(self, path: &str) -> bool {
        self.file_language().is_source(path)
    }

    /// True for a file that its gate looks at: one of its language, or a test in another language of the JVM.
    pub(super) fn judges_file(self, path: &str) -> bool {
        self.mutates_file(path) || self == Self::Pit && java::JavaPath::parse_path(path).is_some()
    }

    /// `None` for the engine of classes.
    pub(super) fn of_files(self) -> Option<&'static dyn FileEngine> {
        self.engine_facts().2
    }

    fn engine_facts(
        self,
    ) -> (
        &'static str,
        Option<&'static str>,
        Option<&'static dyn FileEngine>,
    ) {
        match self {
            Self::Mutmut => ("mutmut", Some("MUTMUT"), Some(&Mutmut)),
            Self::Pit => ("pit", Some("PITEST"), None),
            Self::Stryker => ("stryker", Some("STRYKER"), Some(&Stryker)),
            Self::CargoMutants => ("cargo-mutants", Some("CARGO-MUTANTS"), Some(&CargoMutants)),
            Self::CosmicRay => ("cosmic-ray", None, Some(&CosmicRay)),
        }
    }

    pub(super) fn file_language(self) -> &'static FileLanguage {
        self.of_files()
            .map_or(&java::JAVA, FileEngine::file_language)
    }
}
