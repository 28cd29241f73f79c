//! Texts that come in from agents and go out to people: read without trust, written without surprises.
//!
//! Owns: what makes a foreign text fit to be shown, the reading of `validation-report.md`, the entry in
//! progress.txt, what `ralph status` shows ([`board`]), a gate's report for people ([`human`], [`explain`])
//! and for CI ([`annotations`]), the frame of SARIF logs ([`sarif`]).
//!
//! Promises: total over any bytes; what it returns is bounded and holds no control characters; the same
//! facts give the same text, live, at replay and in CI.
//!
//! Refuses to know: files, who wrote a text, what follows from it.

pub mod annotations;
pub mod board;
mod explain;
pub mod human;
pub mod progress;
pub mod sarif;
pub mod spent;
pub mod table;
mod validation;
pub mod width;

pub use explain::explain;
pub use validation::{MAX_GAPS, ValidationReport, read_validation};
