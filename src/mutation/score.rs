//! Counting mutants and comparing scores.
//!
//! Integers only; nothing measured never reaches a threshold, not even zero; a survivor more
//! never raises a score, a killed mutant more never lowers it.

use super::{Coverage, MutantStatus, NoCoverage, Tally};
use std::fmt;

impl Tally {
    /// Counts one mutant.
    pub fn add(&mut self, status: MutantStatus) {
        let counter = self.counter(status);
        *counter = counter.saturating_add(1);
    }

    /// One mutant has another status than before.
    pub fn move_one(&mut self, from: MutantStatus, to: MutantStatus) {
        let counter = self.counter(from);
        *counter = counter.saturating_sub(1);
        self.add(to);
    }

    fn counter(&mut self, status: MutantStatus) -> &mut u64 {
        match status {
            MutantStatus::Killed => &mut self.killed,
            MutantStatus::Survived => &mut self.survived,
            MutantStatus::NoCoverage => &mut self.no_coverage,
            MutantStatus::TimedOut => &mut self.timed_out,
            MutantStatus::NonViable => &mut self.non_viable,
            MutantStatus::MemoryError | MutantStatus::RunError => &mut self.errors,
            MutantStatus::Equivalent => &mut self.equivalent,
            MutantStatus::Unjudged => &mut self.unjudged,
        }
    }

    /// Adds the counts of another tally.
    pub fn join(&mut self, other: &Self) {
        self.killed = self.killed.saturating_add(other.killed);
        self.survived = self.survived.saturating_add(other.survived);
        self.no_coverage = self.no_coverage.saturating_add(other.no_coverage);
        self.timed_out = self.timed_out.saturating_add(other.timed_out);
        self.non_viable = self.non_viable.saturating_add(other.non_viable);
        self.errors = self.errors.saturating_add(other.errors);
        self.equivalent = self.equivalent.saturating_add(other.equivalent);
        self.unjudged = self.unjudged.saturating_add(other.unjudged);
    }

    /// Killed (time-outs included) of killed and survived; mutants that no test reaches are survivors or
    /// do not count, as `no_coverage` says.
    pub fn coverage(&self, no_coverage: NoCoverage) -> Coverage {
        let killed = self.killed.saturating_add(self.timed_out);
        let uncovered = match no_coverage {
            NoCoverage::Survived => self.no_coverage,
            NoCoverage::Ignore => 0,
        };
        Coverage { killed, total: killed.saturating_add(self.survived).saturating_add(uncovered) }
    }

    /// Mutants that were killed or survived, those that no test reaches among them.
    pub(crate) fn with_verdict(&self) -> u64 {
        self.coverage(NoCoverage::Survived).total
    }

    /// Mutants of any status.
    pub fn mutants(&self) -> u64 {
        self.with_verdict()
            .saturating_add(self.non_viable)
            .saturating_add(self.errors)
            .saturating_add(self.equivalent)
            .saturating_add(self.unjudged)
    }
}

impl fmt::Display for Tally {
    /// `7 killed, 1 timed out, 2 survived, 0 not covered`: what the score is made of.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { killed, timed_out, survived, no_coverage, .. } = self;
        write!(f, "{killed} killed, {timed_out} timed out, {survived} survived, {no_coverage} not covered")
    }
}

impl Coverage {
    /// True when `100 · killed ≥ threshold · total`, compared as integers; never when nothing was measured.
    pub fn reaches(&self, threshold: u32) -> bool {
        self.total > 0 && 100 * u128::from(self.killed) >= u128::from(threshold) * u128::from(self.total)
    }

    /// True when this is a smaller part than the other, compared as integers; where nothing was measured
    /// there is nothing to compare.
    pub fn is_below(&self, other: Self) -> bool {
        if self.total == 0 {
            return false;
        }
        u128::from(self.killed) * u128::from(other.total) < u128::from(other.killed) * u128::from(self.total)
    }

    /// Per cent, rounded down; 0 when nothing was measured.
    pub fn percent_floor(&self) -> u64 {
        if self.total == 0 {
            return 0;
        }
        u64::try_from(100 * u128::from(self.killed) / u128::from(self.total)).unwrap_or(u64::MAX)
    }
}

impl fmt::Display for Coverage {
    /// `84% (21/25)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}% ({}/{})", self.percent_floor(), self.killed, self.total)
    }
}
