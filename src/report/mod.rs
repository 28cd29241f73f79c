//! Texts for people, made from facts; pure.
//!
//! Owns: what an event, an entry or a report reads like.
//!
//! Promises: the same facts give the same text, live, at replay and in CI.
//!
//! Refuses to know: files, terminals.

pub mod progress;
