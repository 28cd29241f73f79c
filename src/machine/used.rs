//! What attempts used, as their CLIs count it: a sum.

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
        Self { tokens, micros, priced: self.priced + more.priced }
    }

    pub(super) fn since(self, earlier: Self) -> Self {
        let (tokens, micros) = (self.tokens - earlier.tokens, self.micros - earlier.micros);
        Self { tokens, micros, priced: self.priced - earlier.priced }
    }
}
