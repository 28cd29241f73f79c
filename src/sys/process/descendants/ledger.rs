//! The ledger of processes of a system that gives orphans to its first process.
//!
//! Promises: a process whose origin was seen has the kinship of its origin, in any session or group. A process whose
//! origin ended unseen is a member only with a sign of membership, and undetermined if its signs are hidden.

use super::super::table::Birth;
use std::collections::BTreeSet;

/// The relation of a process to the supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kinship {
    Member,
    Stranger,
    Undetermined,
}

/// A sign of membership that does not depend on the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// It is in a session of members, or has their tag.
    Present,
    /// It has an environment without the tag, or another owner.
    Absent,
    /// Its environment cannot be read.
    Hidden,
}

/// The processes seen so far, by their unique numbers. They stay in it after their end, for their children.
#[derive(Debug)]
pub(super) struct Ledger {
    members: BTreeSet<u64>,
    strangers: BTreeSet<u64>,
}

impl Ledger {
    /// Creates the ledger of a process that has no children yet. All others that are there are strangers.
    pub(super) fn new(root: u64, present: impl IntoIterator<Item = u64>) -> Self {
        Self {
            members: BTreeSet::from([root]),
            strangers: present.into_iter().filter(|it| *it != root).collect(),
        }
    }

    /// Returns the kinship of a process, and notes it if it is certain.
    ///
    /// Parents come before their children. `sign` is called only for a process whose origin was never seen.
    pub(super) fn judge(&mut self, birth: Birth, sign: impl FnOnce() -> Sign) -> Kinship {
        let known = self
            .noted(birth.unique)
            .or_else(|| self.noted(birth.origin));
        let kinship = known.unwrap_or_else(|| match sign() {
            Sign::Present => Kinship::Member,
            Sign::Absent => Kinship::Stranger,
            Sign::Hidden => Kinship::Undetermined,
        });
        match kinship {
            Kinship::Member => drop(self.members.insert(birth.unique)),
            Kinship::Stranger => drop(self.strangers.insert(birth.unique)),
            // It may show its environment later, after it executed another program.
            Kinship::Undetermined => {}
        }
        kinship
    }

    fn noted(&self, number: u64) -> Option<Kinship> {
        if self.members.contains(&number) {
            Some(Kinship::Member)
        } else if self.strangers.contains(&number) {
            Some(Kinship::Stranger)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Birth, Kinship, Ledger, Sign};

    const SUPERVISOR: u64 = 100;

    fn ledger() -> Ledger {
        Ledger::new(SUPERVISOR, [1, 50, SUPERVISOR])
    }

    fn birth(unique: u64, origin: u64) -> Birth {
        Birth { unique, origin }
    }

    fn no_sign() -> Sign {
        panic!("the origin decides")
    }

    #[test]
    fn descendants_are_members_at_any_depth_and_after_the_end_of_their_parents() {
        let mut ledger = ledger();
        assert_eq!(
            ledger.judge(birth(101, SUPERVISOR), no_sign),
            Kinship::Member
        );
        assert_eq!(ledger.judge(birth(102, 101), no_sign), Kinship::Member);
        // 101 and 102 were not in the table of this look: they ended.
        assert_eq!(ledger.judge(birth(103, 102), no_sign), Kinship::Member);
    }

    #[test]
    fn processes_of_earlier_ones_are_strangers_whatever_they_show() {
        let mut ledger = ledger();
        for (unique, origin) in [(101, 1), (102, 50), (103, 102)] {
            assert_eq!(
                ledger.judge(birth(unique, origin), no_sign),
                Kinship::Stranger,
                "{unique}"
            );
        }
    }

    #[test]
    fn a_process_whose_parent_was_never_seen_is_judged_by_its_signs() {
        for (sign, kinship) in [
            (Sign::Present, Kinship::Member),
            (Sign::Absent, Kinship::Stranger),
            (Sign::Hidden, Kinship::Undetermined),
        ] {
            let mut ledger = ledger();
            assert_eq!(ledger.judge(birth(102, 101), || sign), kinship);
            if sign != Sign::Hidden {
                let child = ledger.judge(birth(103, 102), no_sign);
                assert_eq!(child, kinship, "a child has the kinship of its parent");
            }
        }
    }

    #[test]
    fn a_hidden_process_is_asked_again_and_its_children_are_not_taken_for_strangers() {
        let mut ledger = ledger();
        let hidden = || Sign::Hidden;
        assert_eq!(ledger.judge(birth(102, 101), hidden), Kinship::Undetermined);
        assert_eq!(ledger.judge(birth(103, 102), hidden), Kinship::Undetermined);
        let shown = ledger.judge(birth(102, 101), || Sign::Present);
        assert_eq!(shown, Kinship::Member);
        assert_eq!(ledger.judge(birth(103, 102), no_sign), Kinship::Member);
    }
}
