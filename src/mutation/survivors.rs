//! Which survivors are shown.
//!
//! Owns: the bound on what is kept while a report streams by, and the order in which survivors are told.
//!
//! Promises: memory bounded whatever the report holds; the same survivors in the same order whatever the
//! order of the report (PIT's is not stable); one mutant per line comes before the second of any line,
//! since most mutants of a line share one fate.
//!
//! Refuses to know: thresholds, where survivors are printed.

use super::Mutant;
use std::collections::BTreeMap;

/// Survivors that a report tells (design §4, "at most 20").
pub const SURVIVORS_SHOWN: usize = 20;

/// Survivors kept of one class while its report is read.
const KEPT_PER_CLASS: usize = 400;

/// Keeps a bounded sample of the survivors of one class and counts all.
#[derive(Clone, Debug, Default)]
pub struct SurvivorSieve {
    kept: BTreeMap<(u32, Mutant), usize>,
    total: u64,
}

impl SurvivorSieve {
    /// Takes one survivor in; the one on the highest line falls out when there are too many.
    pub fn add(&mut self, mutant: Mutant) {
        self.total = self.total.saturating_add(1);
        *self.kept.entry((mutant.line, mutant)).or_default() += 1;
        if self.kept.len() > KEPT_PER_CLASS {
            self.kept.pop_last();
        }
    }

    /// How many were taken in.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Those that were kept, by line.
    pub fn into_mutants(self) -> impl Iterator<Item = Mutant> {
        self.kept
            .into_iter()
            .flat_map(|((_, mutant), times)| std::iter::repeat_n(mutant, times))
            .take(KEPT_PER_CLASS)
    }
}

/// The first [`SURVIVORS_SHOWN`] of these survivors: one of each line first, then the second of each, by
/// class and line.
pub fn rank(survivors: impl IntoIterator<Item = Mutant>) -> Vec<Mutant> {
    let mut sorted: Vec<(String, u32, Mutant)> =
        survivors.into_iter().map(|mutant| (mutant.class.clone(), mutant.line, mutant)).collect();
    sorted.sort();
    let mut seen: BTreeMap<(String, u32), u32> = BTreeMap::new();
    let mut ranked: Vec<(u32, Mutant)> = sorted
        .into_iter()
        .map(|(class, line, mutant)| {
            let nth = seen.entry((class, line)).or_default();
            *nth += 1;
            (*nth, mutant)
        })
        .collect();
    ranked.sort_by_key(|(nth, _)| *nth);
    ranked.into_iter().take(SURVIVORS_SHOWN).map(|(_, mutant)| mutant).collect()
}
