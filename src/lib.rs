//! `ralph`: a loop runner for coding agents that trusts only git and deterministic gates.
//!
//! # The map
//!
//! A functional core in an imperative shell. The machine decides everything and touches nothing. The engine appends
//! each event to the journal, gets the next effects from the machine, and performs them. Each adapter owns one outside
//! resource. Layers only look down (`tests/architecture`).
//!
//! ```text
//! record the event ─► journal ─► step(State, Event) ─► effects ─► adapters ─► the next event
//! ```
//!
//! L0, pure: no files, clock, environment, processes
//!
//!   source/     the kind of a path (test, production, build) and the content of a source text
//!   task/       the task file: tasks, ids, stages, the one-byte edit
//!   mutation/   mutants, scores, verdicts
//!   turn/       an agent's actions in its turn, read from its transcript, and the check of its edits
//!   machine/    the rules of the loop: `step`, `decide`, `choose`; read this first
//!
//! L1, text in, values out, and back
//!
//!   config/     `.ralph/config.yaml` to settings, every error with its line
//!   report/     texts for users: the entry in progress.txt; reading validation-report.md
//!
//! L2, adapters, which never depend on each other
//!
//!   sys/        disk, supervised processes, lock, clock, signals
//!   git/        packages, snapshots, the changes of an attempt, their restoration
//!   agent/      prompts, command lines, reading an agent's output
//!   gate/       PIT and other judges
//!   journal/    the write-ahead log, hash-chained
//!
//! L3, the shell
//!
//!   engine/     record, step, perform; read this second
//!
//! L4, the command line
//!
//!   cli/        one verb, one function, one exit code
//!   main.rs     the binary
//!   build.rs    the name of the build

#![cfg_attr(not(target_os = "macos"), forbid(unsafe_code))]

pub mod agent;
pub mod cli;
pub mod config;
pub mod engine;
pub mod gate;
pub mod git;
pub mod journal;
pub mod machine;
pub mod mutation;
pub mod report;
pub mod source;
pub mod sys;
pub mod task;
pub mod turn;
