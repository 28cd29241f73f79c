//! `ralph`: a loop runner for coding agents that believes only git and deterministic gates.
//!
//! MAP TO BE WRITTEN WHEN THE LAYERS STAND

pub mod config;
pub mod git;
pub mod machine;
pub mod mutation;
pub mod source;
pub mod sys;
pub mod task;
