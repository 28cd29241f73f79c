//! Texts that come in from agents and go out to people and CI: bounded, without control characters.

pub mod annotations;
pub mod audit;
pub mod audit_page;
pub mod board;
pub mod estimate;
mod explain;
pub mod film;
pub mod history;
pub mod human;
pub mod morning;
pub mod mutation_test;
pub mod progress;
pub mod replay;
pub mod spent;
pub mod standard;
pub mod story;
pub mod table;
mod validation;
pub mod width;

pub use explain::explain_report;
pub use validation::{MAX_GAPS, read_validation};
