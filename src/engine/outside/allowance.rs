//! The answer of a person to a run that is over its budget.

use super::Outside;
use crate::engine::Fault;
use crate::machine::budget::Allowance;
use crate::sys::clock::{self, Stopwatch};
use crate::sys::disk::read_beginning;
use std::time::Duration;

/// Bytes of an answer.
const ANSWER_CAP: u64 = 4096;

impl Outside {
    /// Waits for the file that `ralph resume --cost` writes; returns nothing if a signal comes first.
    pub(super) fn wait_for_allowance(&mut self) -> Result<Allowance, Fault> {
        let (began, path) = (Stopwatch::start(), self.parts.places.allowance_file());
        let mut more = Allowance::default();
        while more.is_none() && self.parts.interrupts.first().is_none() {
            // The file is written as a whole, so what cannot be read is not an answer.
            let text = read_beginning(&path, ANSWER_CAP)?.unwrap_or_default();
            more = serde_json::from_slice(&text).unwrap_or_default();
            if more.is_none() {
                self.parts
                    .interrupts
                    .wait_until(clock::monotonic() + Duration::from_secs(1));
            }
        }
        self.paused += began.elapsed();
        Ok(more)
    }
}
