//! Counters of one run; the next run starts with empty ones.

use super::event::QuotaShare;
use super::used::{Allowance, Used};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunCounters {
    /// Iterations that ended.
    pub iterations: u64,
    /// Iterations in a row in which no box, HEAD or verdict changed.
    pub idle: u32,
    /// Waits in a row for the same trouble (a usage limit, an outage, a gate without verdict).
    pub waits: u32,
    /// Attempts in a row whose CLI could not work as it is set up.
    pub not_set_up: u32,
    /// Usage of its attempts.
    pub used: Used,
    /// The allowance beyond the budget of the run.
    pub allowed: Allowance,
    /// The agent of the iteration; empty for a gate, and in journals that do not name it.
    pub agent: String,
    /// Agents that reached a usage limit, or met outages in a row, until they worked again.
    pub out_of_quota: BTreeMap<String, OutOfQuota>,
    /// The shares of usage limits that the CLI of the attempt reported.
    pub quota: Vec<QuotaShare>,
    /// Limits in a row that were learned from other runs, since an attempt last worked.
    pub learned: u32,
    /// The time, seconds since 1970, as far as the facts tell it.
    pub now: u64,
    /// Lanes that worked when ralph last looked at them. Their agents can edit tasks.md at any time.
    pub working_lanes: u32,
    /// The excess of the last attempt over its budget, a whole sentence.
    pub over: Option<String>,
}

/// An agent that is set aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfQuota {
    /// When it is back, seconds since 1970.
    pub until: u64,
    /// It printed that time itself.
    pub exact: bool,
    /// So many times in a row.
    pub times: u32,
    /// The reason.
    pub cause: RestCause,
}

/// The reason for which an agent is set aside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RestCause {
    /// Its own usage limit or outage.
    #[default]
    Own,
    /// Its CLI reported that the share of `limits.quota` is used.
    Share {
        /// The window of the limit.
        window: String,
        /// The used share.
        percent: u8,
    },
    /// Another agent with the same login, mostly of another run, reached a usage limit.
    Elsewhere,
}

impl RestCause {
    /// Returns a sentence about the agent of that name; `None` if the end of its attempt says it.
    pub fn sentence(&self, name: &str) -> Option<String> {
        match self {
            Self::Own => None,
            Self::Share { window, percent } => Some(format!(
                "`{name}` reported that {percent}% of its {window} limit is used (`limits.quota`)."
            )),
            Self::Elsewhere => Some(format!(
                "Another agent with the login of `{name}` reached a usage limit."
            )),
        }
    }
}
