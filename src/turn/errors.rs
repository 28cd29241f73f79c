//! What a CLI says of its own trouble, since its agent last said or did something.
//!
//! Promise: neither the agent's words nor a tool's results are among it, and an error that was got over is none.

use super::event::TurnEvent;

/// Errors that are kept, the last ones.
const KEPT: usize = 20;

/// An error of the CLI itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliError {
    /// Its words.
    pub message: String,
    /// The HTTP status, if named.
    pub status: Option<u64>,
    /// When a usage limit ends, seconds since 1970.
    pub resets_at: Option<i64>,
    /// The CLI calls it a usage limit.
    pub is_limit: bool,
    /// It tries again: an error only where it was ended while it did.
    pub is_retry: bool,
}

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
        let error = |message: &String, status: Option<u64>| CliError {
            message: message.clone(),
            status,
            resets_at: None,
            is_limit: false,
            is_retry: false,
        };
        if event.is_work() {
            *self = Self::default();
        }
        let error = match event {
            TurnEvent::Unread { line } if !line.starts_with('{') => {
                self.plain.push(line.clone());
                self.plain.drain(..self.plain.len().saturating_sub(KEPT));
                return;
            }
            TurnEvent::Finished { ok, .. } => {
                self.has_failed = !ok;
                return;
            }
            TurnEvent::Failed { message, status } => error(message, *status),
            TurnEvent::Retrying { message, status } => CliError { is_retry: true, ..error(message, *status) },
            TurnEvent::Limited { message, status, resets_at } => {
                CliError { resets_at: *resets_at, is_limit: true, ..error(message, *status) }
            }
            _ => return,
        };
        self.errors.push(error);
        self.errors.drain(..self.errors.len().saturating_sub(KEPT));
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
