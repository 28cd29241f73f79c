//! The ledger of processes of a system that gives orphans to its first process.
//!
//! Promises: a process whose origin was seen has the kinship of its origin, in any session or group. A process whose
//! origin ended unseen is a member only with a sign of membership, and undetermined if its signs are hidden.

use super::super::table::{Birth, Process, TableRow};
use crate::sys::ProcessId;
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

/// The living processes of one look at the table, without the supervisor.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) members: Vec<Process>,
    pub(super) undetermined: Vec<ProcessId>,
}

/// The processes seen so far, by their unique numbers. They stay in it after their end, for their children.
#[derive(Debug)]
pub(super) struct Ledger {
    root: u64,
    members: BTreeSet<u64>,
    strangers: BTreeSet<u64>,
}

impl Ledger {
    /// Creates the ledger of a process that has no children yet. All others that are there are strangers.
    pub(super) fn new(root: u64, present: impl IntoIterator<Item = u64>) -> Self {
        Self {
            root,
            members: BTreeSet::from([root]),
            strangers: present.into_iter().filter(|it| *it != root).collect(),
        }
    }

    /// Notes all rows of the table, and returns those that matter.
    ///
    /// `sign` gets a process whose origin was never seen, and the members found so far.
    pub(super) fn survey(
        &mut self,
        mut born: Vec<(Birth, &TableRow)>,
        sign: impl Fn(&TableRow, &[Process]) -> Sign,
    ) -> Survey {
        // A parent has a smaller number than its child.
        born.sort_by_key(|(birth, _)| *birth);
        let mut seen = Survey::default();
        for (birth, row) in born {
            let kinship = self.judge(birth, || sign(row, &seen.members));
            if birth.unique == self.root || row.process.zombie {
                continue;
            }
            match kinship {
                Kinship::Member => seen.members.push(row.process.clone()),
                Kinship::Undetermined => seen.undetermined.push(row.process.id.clone()),
                Kinship::Stranger => {}
            }
        }
        seen
    }

    /// Returns the kinship of a process, and notes it if it is certain.
    ///
    /// Parents come before their children. `sign` is called only for a process whose origin was never seen.
    fn judge(&mut self, birth: Birth, sign: impl FnOnce() -> Sign) -> Kinship {
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
    use super::{Birth, Kinship, Ledger, Process, ProcessId, Sign, TableRow};
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

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

    fn row(unique: u64, zombie: bool) -> TableRow {
        TableRow {
            process: Process {
                id: ProcessId {
                    pid: i32::try_from(unique).unwrap(),
                    started: unique,
                },
                parent: 1,
                zombie,
                stopped: false,
            },
            owner: 501,
        }
    }

    #[test]
    fn a_survey_returns_the_living_members_in_any_order_of_the_table_and_never_the_supervisor() {
        let mut ledger = ledger();
        let births = [
            (103, 102, false),
            (102, 101, true),
            (101, SUPERVISOR, false),
            (SUPERVISOR, 50, false),
            (104, 50, false),
            (106, 105, false),
            (107, 105, true),
        ];
        let rows: Vec<TableRow> = births
            .iter()
            .map(|(unique, _, zombie)| row(*unique, *zombie))
            .collect();
        let born = births
            .iter()
            .zip(&rows)
            .map(|((unique, origin, _), row)| (birth(*unique, *origin), row))
            .collect();
        let seen = ledger.survey(born, |_, members| {
            assert_eq!(members.len(), 2, "older members are known by then");
            Sign::Hidden
        });
        let members: Vec<i32> = seen.members.iter().map(|member| member.id.pid).collect();
        assert_eq!(members, [101, 103]);
        assert_eq!(seen.undetermined, [row(106, false).process.id]);
    }

    /// One step of a machine: a living process forks, or ends, or the supervisor looks at the table.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Fork(prop::sample::Index),
        End(prop::sample::Index),
        Look,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let index = any::<prop::sample::Index>();
        let step = prop_oneof![
            4 => index.clone().prop_map(Step::Fork),
            2 => index.prop_map(Step::End),
            2 => Just(Step::Look),
        ];
        prop::collection::vec(step, 0..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn no_descendant_is_lost_without_a_word_and_no_stranger_is_a_member(steps in steps()) {
            let mut ledger = ledger();
            // The truth, which only the kernel knows: whether a process descends from the supervisor.
            let mut is_descendant = BTreeMap::from([(1, false), (50, false), (SUPERVISOR, true)]);
            let mut origins = BTreeMap::from([(1, 0), (50, 1), (SUPERVISOR, 50)]);
            let mut living = BTreeSet::from([1, 50, SUPERVISOR]);
            let mut next = SUPERVISOR + 1;
            for step in steps.into_iter().chain([Step::Look]) {
                let pick = |index: prop::sample::Index| *index.get(&living.iter().copied().collect::<Vec<_>>());
                match step {
                    Step::Fork(index) => {
                        let parent = pick(index);
                        is_descendant.insert(next, is_descendant[&parent]);
                        origins.insert(next, parent);
                        living.insert(next);
                        next += 1;
                    }
                    Step::End(index) => {
                        let process = pick(index);
                        if process > SUPERVISOR {
                            living.remove(&process);
                        }
                    }
                    Step::Look => {
                        let rows: Vec<TableRow> = living.iter().map(|it| row(*it, false)).collect();
                        let born = living.iter().zip(&rows).map(|(it, row)| (birth(*it, origins[it]), row));
                        let seen = ledger.survey(born.collect(), |_, _| Sign::Hidden);
                        let members: BTreeSet<u64> = seen.members.iter().map(|it| it.id.started).collect();
                        let unknown: BTreeSet<u64> = seen.undetermined.iter().map(|it| it.started).collect();
                        for process in living.iter().filter(|it| **it != SUPERVISOR) {
                            let is_member = members.contains(process);
                            let is_unknown = unknown.contains(process);
                            if is_descendant[process] {
                                prop_assert!(is_member || is_unknown, "{process} is lost");
                            } else {
                                prop_assert!(!is_member, "{process} would be killed");
                            }
                        }
                    }
                }
            }
        }
    }
}
