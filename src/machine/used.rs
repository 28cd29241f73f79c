//! Usage of attempts as their CLIs count it: a sum, and its limits.

use super::policy::{Budget, Policy};
use crate::turn::Usage;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Tokens and money together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Tokens of every kind.
    pub tokens: u64,
    /// Millionths of a US dollar.
    pub micros: u64,
    /// Attempts that told their cost.
    pub priced: usize,
}

impl Used {
    /// The sum.
    #[must_use]
    pub fn and(self, more: Self) -> Self {
        let tokens = self.tokens.saturating_add(more.tokens);
        let micros = self.micros.saturating_add(more.micros);
        Self {
            tokens,
            micros,
            priced: self.priced + more.priced,
        }
    }

    /// Returns the difference; `None` if more was used earlier.
    pub(super) fn since(self, earlier: Self) -> Option<Self> {
        Some(Self {
            tokens: self.tokens.checked_sub(earlier.tokens)?,
            micros: self.micros.checked_sub(earlier.micros)?,
            priced: self.priced.checked_sub(earlier.priced)?,
        })
    }
}

/// An allowance beyond a budget, given by a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// Tokens of every kind.
    pub tokens: u64,
    /// Millionths of a US dollar.
    pub micros: u64,
}

impl Allowance {
    /// Returns true if nothing is allowed.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Returns the sum.
    #[must_use]
    pub fn and(self, more: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(more.tokens),
            micros: self.micros.saturating_add(more.micros),
        }
    }
}

impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.micros, self.tokens) {
            (micros, 0) => f.write_str(&dollars(micros)),
            (0, tokens) => write!(f, "{tokens} tokens"),
            (micros, tokens) => write!(f, "{} and {tokens} tokens", dollars(micros)),
        }
    }
}

/// The most that may be used; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Most {
    pub tokens: Option<u64>,
    /// Millionths of a US dollar.
    pub micros: Option<u64>,
}

impl Most {
    /// Returns the limits of a run, a task or an attempt.
    pub(super) fn of(policy: &Policy, part: impl Fn(&Budget) -> Option<u64>) -> Self {
        Self {
            tokens: part(&policy.tokens),
            micros: part(&policy.cost),
        }
    }

    /// Returns the same with what a person allowed beyond it.
    pub(super) fn with(self, allowed: Allowance) -> Self {
        Self {
            tokens: self.tokens.map(|most| most.saturating_add(allowed.tokens)),
            micros: self.micros.map(|most| most.saturating_add(allowed.micros)),
        }
    }

    /// `$5.20 of $5.00`, where it is used up.
    pub(super) fn over(self, used: Used) -> Option<String> {
        let money = self.micros.filter(|most| used.micros >= *most);
        let money = money.map(|most| format!("{} of {}", dollars(used.micros), dollars(most)));
        let tokens = self.tokens.filter(|most| used.tokens >= *most);
        money.or_else(|| tokens.map(|most| format!("{} of {most} tokens", used.tokens)))
    }

    /// The same for an attempt that runs. Figures of a whole session may count an earlier attempt, and wait for its end.
    pub fn over_while_it_runs(self, usage: &Usage) -> Option<String> {
        let tokens = usage.tokens.filter(|_| !usage.tokens_of_session);
        let micros = usage.micros.filter(|_| !usage.micros_of_session);
        self.over(Used {
            tokens: tokens.unwrap_or(0),
            micros: micros.unwrap_or(0),
            priced: 0,
        })
    }
}

/// An amount for people, rounded up to cents: `$1.05`.
pub fn dollars(micros: u64) -> String {
    let cents = micros.div_ceil(10_000);
    format!("${}.{:02}", cents / 100, cents % 100)
}
