//! The machine, driven by a simulated world: each rule of design §3 is a case here.

mod commit_only;
mod header;
mod loops;
mod people;
mod random;
mod rework;
mod sim;
mod wider;
