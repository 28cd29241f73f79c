//! Shared parts of the tests that need programs or files.

pub(crate) mod mcp_bridge;
pub(crate) mod needs;
pub(crate) mod tools;
