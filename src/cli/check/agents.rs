//! Agents that an open box needs and that could not be started.
//!
//! Owns: which roles are needed.
//!
//! Promises: each missing agent once.
//!
//! Refuses to know: how an agent is found (see `run`).

use super::finding::{Finding, Level};
use crate::cli::run::{Missing, missing_agents, needed_roles};
use crate::cli::workspace::{CONFIG, Workspace};
use crate::machine::state::State;

/// The missing agents of required open boxes.
pub(super) fn findings(workspace: &Workspace, state: &State) -> Vec<Finding> {
    let missing = missing_agents(workspace, &needed_roles(state)).into_iter();
    let finding = |Missing { fault, key }| {
        let found = Finding::new(Level::Error, "missing-agent", CONFIG, fault.what, fault.hint);
        Finding { key: Some(key), ..found }
    };
    missing.map(finding).collect()
}
