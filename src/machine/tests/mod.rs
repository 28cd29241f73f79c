//! The machine, driven by a simulated world: each rule of docs/design.md "The loop" is a case here.

mod asked;
mod budgets;
mod commit_only;
mod fallback;
mod header;
mod lanes;
mod loops;
mod people;
mod progress;
mod random;
mod rework;
mod sim;
mod wider;
