//! Agents: what they are told, how they are started, and what their output claims.

mod claim;
mod cost;
mod detect;
mod invocation;
mod limit;
mod prompt;
mod reset;

pub use claim::{Heard, MAX_WHY, VerdictLine};
pub use cost::reported_cost;
pub use detect::{KNOWN_AGENTS, detect};
pub use invocation::{AgentCall, CallFacts, agent_call};
pub use limit::usage_limit;
pub use prompt::{PromptError, PromptFacts, PromptPackage, builtin, is_former, names_token, render, try_out};
