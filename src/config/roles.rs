//! The roles of agents, and which agent has which.

use super::{AgentSettings, Roles, Settings};
use crate::task::Stage;
use serde::Serialize;

/// Who does what: the role of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// TEST-FIRST.
    TestWriter,
    /// Implementation.
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

impl Role {
    /// All roles, in the order of the stages.
    pub const ALL: [Self; 6] = [
        Self::TestWriter,
        Self::Worker,
        Self::ReqReviewer,
        Self::QualityReviewer,
        Self::IntegrationTester,
        Self::Validator,
    ];

    /// The role's name in `roles:`, in `RALPH_ROLE` and of its prompt template.
    pub const fn word(self) -> &'static str {
        match self {
            Self::TestWriter => "test-writer",
            Self::Worker => "worker",
            Self::ReqReviewer => "req-reviewer",
            Self::QualityReviewer => "quality-reviewer",
            Self::IntegrationTester => "integration-tester",
            Self::Validator => "validator",
        }
    }
}

/// The role of the agent that does a stage; `None` for a gate, which has no agent.
pub fn role_of(stage: &Stage) -> Option<Role> {
    match stage {
        Stage::TestFirst => Some(Role::TestWriter),
        Stage::Implementation => Some(Role::Worker),
        Stage::ReqCheck => Some(Role::ReqReviewer),
        Stage::PreCr => Some(Role::QualityReviewer),
        Stage::Integ => Some(Role::IntegrationTester),
        Stage::Final => Some(Role::Validator),
        Stage::Gate(_) => None,
    }
}

impl Roles {
    /// The name of a role's agent.
    pub(super) fn agent(&self, role: Role) -> &str {
        match role {
            Role::TestWriter => &self.test_writer,
            Role::Worker => &self.worker,
            Role::ReqReviewer => &self.req_reviewer,
            Role::QualityReviewer => &self.quality_reviewer,
            Role::IntegrationTester => &self.integration_tester,
            Role::Validator => &self.validator,
        }
    }
}

impl Settings {
    /// The agent that does a role, with its name; `None` if no agent of that name is configured.
    pub fn agent_for(&self, role: Role) -> Option<(&str, &AgentSettings)> {
        let agent = self.agents.get_key_value(self.roles.agent(role));
        agent.map(|(name, agent)| (name.as_str(), agent))
    }
}
