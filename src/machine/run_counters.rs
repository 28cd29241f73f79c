//! Counters of one run; the next run starts with empty ones.

use super::used::{Allowance, Used};
use std::collections::BTreeMap;

/// Counters of one run.
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
    /// The time, seconds since 1970, as far as the facts tell it.
    pub now: u64,
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
}
