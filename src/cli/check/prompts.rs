//! Prompt templates that no prompt could be made of.
//!
//! Owns: how grave that is.
//!
//! Promises: every role's template is tried; one that an open box needs is an error, any other a warning.
//!
//! Refuses to know: what a template may hold (see `agent`).

use super::finding::{Finding, Level};
use crate::cli::run::needed_roles;
use crate::cli::templates::trouble;
use crate::cli::workspace::Workspace;
use crate::config::Role;
use crate::machine::state::State;

/// The templates that cannot be used. Without a state every role may be needed.
pub(super) fn findings(workspace: &Workspace, state: Option<&State>) -> Vec<Finding> {
    let needed = state.map(needed_roles);
    let is_needed = |role: Role| needed.as_ref().is_none_or(|needed| needed.contains(&role));
    let finding = |role: Role| {
        let error = trouble(workspace, role).err()?;
        let level = if is_needed(role) { Level::Error } else { Level::Warning };
        let found = Finding::new(level, "prompt-template", &error.place, &error.what, &error.hint);
        Some(Finding { line: error.line.map(|line| line as u64), ..found })
    };
    Role::ALL.into_iter().filter_map(finding).collect()
}
