//! The engines of mutation testing, each by its name, its gate and what it mutates.

use super::files::{self, FileEngine, Language};
use super::java;
use super::javascript::Stryker;
use super::python::{CosmicRay, Mutmut};
use super::rust::CargoMutants;
use super::scope::Scope;
use super::verdict::EngineResult;
use super::{GatePorts, GateRequest};
use crate::config::GateSettings;
use crate::report::mutation_test::Refusal;
use crate::source::text;

/// Mutation engine of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
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

impl Engine {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Mutmut,
        Self::Pit,
        Self::Stryker,
        Self::CargoMutants,
        Self::CosmicRay,
    ];

    /// The name that callers use.
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    /// The engine of this name.
    pub fn named(name: &str) -> Result<Self, Refusal> {
        Self::ALL
            .into_iter()
            .find(|engine| engine.name() == name)
            .ok_or_else(|| {
                let names = Self::ALL.map(Self::name).join(", ");
                let what = format!("There is no engine `{}`.", text::line(name, 100));
                Refusal::usage(what, format!("Leave it out, or name one of {names}."))
            })
    }

    /// Returns the name of its gate.
    ///
    /// `None` for an engine that only a caller selects.
    pub fn gate(self) -> Option<&'static str> {
        self.facts().1
    }

    /// The engines of a gate of this name, in the order in which they run.
    pub(super) fn of_gate(name: &str) -> Vec<Self> {
        if name == "MUTATION" {
            return vec![Self::Pit, Self::Mutmut, Self::Stryker, Self::CargoMutants];
        }
        vec![
            Self::ALL
                .into_iter()
                .find(|engine| engine.gate() == Some(name))
                .unwrap_or(Self::Pit),
        ]
    }

    /// Returns the scope that it would judge.
    pub(super) fn scope(self, request: &GateRequest, settings: &GateSettings) -> Scope {
        match self.of_files() {
            Some(engine) => files::scope_of(request, settings, engine),
            None => java::scope_of(request, settings).0,
        }
    }

    /// Judges what the family changed in its language.
    pub(super) fn judge(
        self,
        request: &GateRequest,
        settings: &GateSettings,
        ports: &GatePorts<'_>,
    ) -> EngineResult {
        match self.of_files() {
            Some(engine) => files::judge(request, settings, ports, engine),
            None => java::judge_modules(request, settings, ports),
        }
    }

    /// True for a file of its language, by its name.
    pub fn mutates(self, path: &str) -> bool {
        self.language().is_source(path)
    }

    /// `None` for the engine of classes.
    pub(super) fn of_files(self) -> Option<&'static dyn FileEngine> {
        self.facts().2
    }

    fn facts(
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

    pub(super) fn language(self) -> &'static Language {
        self.of_files().map_or(&java::JAVA, FileEngine::language)
    }
}
