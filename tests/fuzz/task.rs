//! The module that is fuzzed, as the program has it.

#[path = "../../src/task/mod.rs"]
pub mod task;
