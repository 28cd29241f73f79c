//! Texts that come in from agents and go out to people: read without trust, written without surprises.
//!
//! Owns: what makes a foreign text fit to be shown, and the reading of `validation-report.md`.
//!
//! Promises: total over any bytes; what it returns is bounded and holds no control characters.
//!
//! Refuses to know: files, who wrote a text, what follows from it.

pub mod plain;
mod validation;

pub use validation::{MAX_GAPS, ValidationReport, read_validation};
