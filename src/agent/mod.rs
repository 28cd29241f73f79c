//! Agents: what they are told, how they are started, and what their output claims.

mod claim;
mod detect;
mod invocation;
mod prompt;
mod reset;
mod trouble;

pub use claim::{Heard, MAX_WHY, VerdictLine, blocked_line};
pub use detect::detect;
pub use invocation::{AgentCall, CallFacts, agent_call};
pub use prompt::{PromptError, PromptFacts, PromptPackage, builtin, is_former, names_token, render, try_out};
pub use trouble::{Printed, last_words, trouble};
