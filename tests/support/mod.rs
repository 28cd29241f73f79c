//! What the tests share that need something.

pub(crate) mod needs;
