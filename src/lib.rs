//! `ralph`: a loop runner for coding agents that believes only git and deterministic gates.
//!
//! MAP TO BE WRITTEN WHEN THE LAYERS STAND

pub mod agent;
pub mod config;
pub mod engine;
pub mod gate;
pub mod journal;
pub mod machine;
pub mod mutation;
pub mod report;
pub mod source;
pub mod sys;
pub mod task;
