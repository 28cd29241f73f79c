//! An agent's actions in its turn, read from the transcript that its CLI prints.

mod errors;
mod event;
mod formats;
mod limit_text;
mod live;
mod long_line;
mod quota;
mod reader;
mod shown;
pub mod stop_gate;
#[cfg(test)]
mod tests;
mod usage;
pub mod verify;

pub use errors::CliErrors;
pub use event::{CliError, QuotaWindow, Span, ToolOutcome, TranscriptFormat, TurnEvent};
pub use formats::guess;
pub use limit_text::{LimitText, limit_text};
pub use live::Live;
pub use quota::Quota;
pub use reader::{TranscriptReader, read};
pub use shown::EventRenderer;
pub use usage::Usage;
