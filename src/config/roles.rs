//! The roles of agents, and the work of each.

use crate::task::Stage;
use serde::{Deserialize, Serialize};

/// The role of an agent, which decides its work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// TEST-FIRST.
    TestWriter,
    /// Implementation.
    #[default]
    Worker,
    /// REQ-CHECK.
    ReqReviewer,
    /// PRE-CR.
    QualityReviewer,
    /// INTEG.
    IntegrationTester,
    /// FINAL.
    Validator,
}

/// Each role with its name and its stage, in the order of the stages. A gate has no agent.
pub(super) const WORK: [(Role, &str, Stage); 6] = [
    (Role::TestWriter, "test-writer", Stage::TestFirst),
    (Role::Worker, "worker", Stage::Implementation),
    (Role::ReqReviewer, "req-reviewer", Stage::ReqCheck),
    (Role::QualityReviewer, "quality-reviewer", Stage::PreCr),
    (Role::IntegrationTester, "integration-tester", Stage::Integ),
    (Role::Validator, "validator", Stage::Final),
];

impl Role {
    /// Returns all roles, in the order of the stages.
    pub fn all() -> [Self; 6] {
        WORK.map(|(role, ..)| role)
    }

    /// Returns the role's name in `roles:`, in `RALPH_ROLE` and of its prompt template.
    pub fn word(self) -> &'static str {
        WORK[self as usize].1
    }

    /// Returns its stage.
    pub fn stage(self) -> Stage {
        WORK[self as usize].2.clone()
    }
}

/// Returns the role of a stage's agent; `None` for a gate, which has no agent.
pub fn role_of(stage: &Stage) -> Option<Role> {
    WORK.into_iter()
        .find(|(.., own)| own == stage)
        .map(|(role, ..)| role)
}
