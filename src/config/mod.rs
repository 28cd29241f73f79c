//! The configuration: text in, settings out.

mod settings;

pub use settings::*;
