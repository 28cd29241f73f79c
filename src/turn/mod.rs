//! What an agent did in its turn, read from the transcript that its CLI prints.

mod event;
pub mod verify;

pub use event::{Format, Span, ToolOutcome, TurnEvent};
