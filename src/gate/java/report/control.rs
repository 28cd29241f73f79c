//! What shows whether a failure is a kill: the same tests in PIT's worker with nothing mutated.
//!
//! A kill counts only where the control of its class passed; one without a verdict never makes a pass.

use super::{Kill, MOST_KILLS, MutantId, PitReport};
use crate::mutation::MutantStatus;
use std::collections::BTreeMap;

/// What became of a control. The plugin runs it before the mutants of its JVM.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Control {
    /// All tests passed.
    Passed,
    /// It timed out, or its JVM ended.
    Unclear,
    /// This test failed.
    Failed(FailingTest),
}

/// By the dotted name of the mutated class; of several controls the worst.
pub(crate) type Controls = BTreeMap<String, Control>;

/// A test that fails without any mutation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FailingTest {
    /// Dotted name of its outermost class.
    pub(crate) class: String,
    /// Its name as a message gives it.
    pub(crate) name: String,
}

impl PitReport {
    /// Keeps a kill with its test.
    pub(super) fn note_kill(
        &mut self,
        status: MutantStatus,
        id: &MutantId,
        fields: &BTreeMap<&'static str, String>,
    ) {
        if status != MutantStatus::Killed {
            return;
        }
        let Some(test) = fields
            .get("killingTest")
            .filter(|_| self.kills.len() <= MOST_KILLS)
        else {
            return;
        };
        self.kills.push(Kill {
            id: id.clone(),
            test: test.to_owned(),
        });
    }

    /// What a mutant's status is worth beside the control of its class, which belongs to the target `owner`.
    pub(super) fn believed(
        &mut self,
        status: MutantStatus,
        control: Option<&Control>,
        owner: &str,
    ) -> MutantStatus {
        match (status, control) {
            (MutantStatus::Killed | MutantStatus::TimedOut, Some(Control::Failed(test))) => {
                self.unfit.insert(test.clone());
                MutantStatus::Survived
            }
            (MutantStatus::Killed | MutantStatus::TimedOut, Some(Control::Unclear) | None) => {
                self.uncontrolled.insert(owner.to_owned());
                status
            }
            _ => status,
        }
    }
}
