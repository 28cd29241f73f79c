//! What integration tests share.

pub(crate) mod direct_spawn;
pub(crate) mod tools;
