//! The modules that are fuzzed, as the program has them.

#[path = "../../src/source/mod.rs"]
pub mod source;
#[path = "../../src/task/mod.rs"]
pub mod task;
