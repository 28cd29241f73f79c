//! The end of an agent: of its process, its words and its use.

use super::facts::{Claim, ProcessEnd};
use crate::turn::Usage;
use serde::{Deserialize, Serialize};

/// The share of a usage limit that was used when an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaShare {
    /// The window of the limit in the CLI's words: `five_hour`.
    pub window: String,
    /// Per cent, rounded down.
    pub percent: u8,
    /// Seconds until the window ends, if the CLI reported that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<u64>,
}

/// The end of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentEnd {
    /// The end of the process.
    pub end: ProcessEnd,
    /// The claim of the agent.
    pub claim: Option<Claim>,
    /// The last thing that it, or its CLI, said: one line, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub last_words: String,
    /// Its transcript is known, and holds no use of a tool.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_talked: bool,
    /// Usage as its CLI counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<Usage>,
    /// The shares of usage limits that its CLI reported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quota: Vec<QuotaShare>,
    /// Processes that it left behind, and that were killed.
    #[serde(default)]
    pub leftover_processes: u32,
    /// Wall time, milliseconds.
    #[serde(default)]
    pub millis: u64,
}

impl From<ProcessEnd> for AgentEnd {
    /// An end of which nothing else is known.
    fn from(end: ProcessEnd) -> Self {
        let (claim, last_words, used) = (None, String::new(), None);
        Self {
            end,
            claim,
            last_words,
            only_talked: false,
            used,
            quota: Vec::new(),
            leftover_processes: 0,
            millis: 0,
        }
    }
}
