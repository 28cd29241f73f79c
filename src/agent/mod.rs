//! Agents: what they are told, how they are started, what they say in the end.
//!
//! Owns: prompts, the argument vector and environment of one attempt, the reading of an agent's output.
//!
//! Promises: what an agent printed is a claim of a closed set or nothing; foreign text reaches a prompt
//! only bounded and marked as data.
//!
//! Refuses to know: processes, git, boxes, what follows from a claim.

mod claim;
mod cost;
mod detect;
mod invocation;
mod limit;
mod prompt;
mod reset;

pub use claim::{MAX_WHY, read_claim};
pub use cost::reported_cost;
pub use detect::{KNOWN_AGENTS, detect};
pub use invocation::{AgentCall, CallFacts, agent_call};
pub use limit::usage_limit;
pub use prompt::{PromptError, PromptFacts, PromptPackage, VARIABLES, builtin, render, try_out};
