//! What a CLI says of its own trouble, since its agent last said or did something.
//!
//! Promise: neither the agent's words nor a tool's results are among it, and an error that was got over is none.

use super::event::{CliError, TurnEvent};

/// Errors that are kept, the last ones.
const KEPT: usize = 20;

/// Folds events to the errors after the last sign of work.
#[derive(Clone, Debug, Default)]
pub struct CliErrors {
    errors: Vec<CliError>,
    plain: Vec<String>,
    has_failed: bool,
}

impl CliErrors {
    /// Takes in what an event tells.
    pub fn tell(&mut self, event: &TurnEvent) {
        if event.is_work() {
            *self = Self::default();
        }
        match event {
            TurnEvent::Unread { line } if !line.starts_with('{') => keep(&mut self.plain, line),
            TurnEvent::Finished { ok, .. } => self.has_failed = !ok,
            TurnEvent::Trouble(error) => keep(&mut self.errors, error),
            _ => {}
        }
    }

    /// The CLI calls its end a failure, whatever its exit code.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// The errors, the last one first.
    pub fn last_first(&self) -> impl Iterator<Item = &CliError> {
        self.errors.iter().rev()
    }

    /// Lines between the events, the last one first: some CLIs say there why they did not even begin.
    pub fn plain(&self) -> impl Iterator<Item = &str> {
        self.plain.iter().rev().map(String::as_str)
    }
}

fn keep<T: Clone>(kept: &mut Vec<T>, new: &T) {
    kept.push(new.clone());
    kept.drain(..kept.len().saturating_sub(KEPT));
}
