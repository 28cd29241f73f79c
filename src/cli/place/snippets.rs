//! The texts of `ralph place --snippet`: rules for agents that write specs.

use clap::ValueEnum;

/// The tool whose rules are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Snippet {
    /// Kiro: save as `.kiro/steering/ralph-gates.md`
    Kiro,
    /// spec-kit: add to `.specify/memory/constitution.md`
    SpecKit,
    /// Any agent that reads AGENTS.md
    Agents,
}

impl Snippet {
    /// The text.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Kiro => include_str!("../../../templates/authoring/kiro-steering.md"),
            Self::SpecKit => include_str!("../../../templates/authoring/spec-kit.md"),
            Self::Agents => include_str!("../../../templates/authoring/agents.md"),
        }
    }
}
