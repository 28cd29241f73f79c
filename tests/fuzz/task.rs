//! The fuzzed modules, as in the program.

#[path = "../../src/source/mod.rs"]
pub mod source;
#[path = "../../src/task/mod.rs"]
pub mod task;
