//! Agents that an open box needs and that could not be started.
//!
//! Owns: which roles are needed.
//!
//! Promises: each missing agent once.
//!
//! Refuses to know: how an agent is found (see `run`).

use super::finding::{Finding, Level};
use crate::cli::run::{Missing, missing_agents};
use crate::cli::workspace::{CONFIG, Workspace};
use crate::config::{Role, role_of};
use crate::machine::choice::is_required_open;
use crate::machine::state::State;
use std::collections::BTreeSet;

/// The missing agents of required open boxes.
pub(super) fn findings(workspace: &Workspace, state: &State) -> Vec<Finding> {
    let missing = missing_agents(workspace, &roles(state)).into_iter();
    let finding = |Missing { fault, key }| {
        let found = Finding::new(Level::Error, "missing-agent", CONFIG, fault.what, fault.hint);
        Finding { key: Some(key), ..found }
    };
    missing.map(finding).collect()
}

/// The roles of required open boxes.
pub(super) fn roles(state: &State) -> BTreeSet<Role> {
    let open = state.book().rows.iter().filter(|row| is_required_open(row));
    open.filter_map(|row| role_of(&row.key.stage)).collect()
}
