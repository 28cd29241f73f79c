//! The usage of an attempt, as its CLI counts.

use super::event::{Span, TurnEvent};
use crate::source::text::line;
use serde::{Deserialize, Serialize};

/// The highest amount that is accepted, in dollars.
const MOST: f64 = 1_000_000.0;

/// The usage of an attempt, summed from its events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of every kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Cost in millionths of a US dollar.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub micros: Option<u64>,
    /// The session, which a later attempt may continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// True if the tokens are those of the whole session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tokens_of_session: bool,
    /// True if the cost is that of the whole session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub micros_of_session: bool,
}

impl Usage {
    /// Adds an event.
    pub fn tell(&mut self, event: &TurnEvent) {
        match event {
            TurnEvent::Session { id } => self.session = Some(line(id, 100)),
            TurnEvent::Used {
                tokens,
                dollars,
                span,
            } => {
                let sum = |so_far: &mut Option<u64>, of_session: &mut bool, more: Option<u64>| {
                    let Some(more) = more else { return };
                    let before = so_far.filter(|_| *span == Span::Step).unwrap_or(0);
                    *so_far = Some(before.saturating_add(more));
                    *of_session = *span == Span::Session;
                };
                sum(&mut self.tokens, &mut self.tokens_of_session, *tokens);
                sum(
                    &mut self.micros,
                    &mut self.micros_of_session,
                    dollars.and_then(micros),
                );
            }
            _ => {}
        }
    }

    /// Returns the tokens and the cost of this attempt alone. `earlier` is the attempt before it in the same session.
    pub fn since(&self, earlier: Option<&Self>) -> (Option<u64>, Option<u64>) {
        let earlier =
            earlier.filter(|earlier| self.session.is_some() && earlier.session == self.session);
        (
            subtract(
                self.tokens,
                self.tokens_of_session,
                earlier.and_then(|earlier| earlier.tokens),
            ),
            subtract(
                self.micros,
                self.micros_of_session,
                earlier.and_then(|earlier| earlier.micros),
            ),
        )
    }
}

/// Subtracts the earlier total of a session from its total.
fn subtract(now: Option<u64>, of_session: bool, before: Option<u64>) -> Option<u64> {
    // A lower total does not continue the earlier one.
    let before = before
        .filter(|before| of_session && now >= Some(*before))
        .unwrap_or(0);
    now.map(|now| now - before)
}

/// Rounds to whole millionths, through decimal text, since a cast could truncate.
fn micros(dollars: f64) -> Option<u64> {
    (0.0..=MOST)
        .contains(&dollars)
        .then(|| format!("{:.0}", dollars * 1_000_000.0).parse().ok())
        .flatten()
}
