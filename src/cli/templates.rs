//! The prompt templates of the workspace's own, looked at before anything begins.
//!
//! Owns: which templates are tried.
//!
//! Promises: one error for each template that no prompt could be made of.
//!
//! Refuses to know: what a template may hold, how it is read.

use super::workspace::Workspace;
use crate::agent::{PromptError, try_out};
use crate::config::Role;
use crate::engine::own_template;

/// What keeps the agent of a role from being told by the workspace's own template, if it has one.
pub(super) fn trouble(workspace: &Workspace, role: Role) -> Result<(), PromptError> {
    match own_template(&workspace.places, role)? {
        Some(text) => try_out(&text, role),
        None => Ok(()),
    }
}
