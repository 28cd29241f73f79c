//! Collects the errors that a CLI reports about itself after its agent's last words or action.
//!
//! Promise: the agent's words and tool results are excluded, and so is an error from which the CLI recovered.

use super::event::{CliError, TurnEvent};

/// Maximum number of errors kept, the latest ones.
const KEPT: usize = 20;

/// Folds events to the errors after the last sign of work.
#[derive(Clone, Debug, Default)]
pub struct CliErrors {
    errors: Vec<CliError>,
    plain: Vec<String>,
    has_failed: bool,
}

impl CliErrors {
    /// Adds an event.
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

    /// True if the CLI reports its end as a failure, even with exit code 0.
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    /// Returns the errors, latest first.
    pub fn last_first(&self) -> impl Iterator<Item = &CliError> {
        self.errors.iter().rev()
    }

    /// Returns the lines between the events, latest first. Some CLIs print there why they could not start.
    pub fn plain(&self) -> impl Iterator<Item = &str> {
        self.plain.iter().rev().map(String::as_str)
    }
}

fn keep<T: Clone>(kept: &mut Vec<T>, new: &T) {
    kept.push(new.clone());
    kept.drain(..kept.len().saturating_sub(KEPT));
}
