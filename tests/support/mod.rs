//! What the tests share that need something.

pub(crate) mod mcp_bridge;
pub(crate) mod needs;
pub(crate) mod tools;
