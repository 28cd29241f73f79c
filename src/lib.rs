//! `ralph`: a loop runner for coding agents that believes only git and deterministic gates.
//!
//! # The map
//!
//! A functional core in an imperative shell. The machine decides everything and touches nothing; the
//! engine appends each fact to the journal, asks the machine what follows, and performs it; adapters own
//! one outside thing each. Layers only look down (`tests/architecture.rs`).
//!
//! ```text
//! record the fact ─► journal ─► step(State, Event) ─► effects ─► adapters ─► the next fact
//! ```
//!
//! L0, pure: no files, clock, environment, processes
//!
//!   source/     what a path is (test, production, build) and what a source text holds
//!   task/       the task file: tasks, ids, stages, families, the one-byte edit
//!   mutation/   mutants, scores, verdicts
//!   turn/       what an agent did in its turn, read from its transcript, and whether its edits landed
//!   machine/    the rules of the loop: `step`, `decide`, `choose`; read this first
//!
//! L1, text in, values out, and back
//!
//!   config/     `.ralph/config.yaml` to settings, every mistake with its line
//!   report/     texts for people: the entry in progress.txt; reading validation-report.md
//!
//! L2, adapters, which never meet each other
//!
//!   sys/        disk, supervised processes, lock, clock, signals
//!   git/        packages, snapshots, what an attempt changed, what is put back
//!   agent/      prompts, command lines, the reading of an agent's output
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
