//! Random agents and gates: invariants that hold for any behaviour.

use super::sim::*;
use crate::machine::event::Validation;
use crate::machine::facts::{Claim, ProcessEnd};
use crate::machine::policy::Policy;
use crate::machine::stop::StopReason;
use crate::mutation::Verdict;
use crate::task::Mark;
use proptest::prelude::*;
use std::collections::BTreeMap;

pub(super) const FILE: &str = "# A\n- [ ] 1. parent\n  - [ ] 1.1.TEST-FIRST t\n  - [ ] 1.1 a\n  - [ ] 1.1.REQ-CHECK r\n  - [ ] 1.1.PITEST g\n  - [ ] 1.2 b\n- [ ] 1.PRE-CR q\n- [ ] 2. c\n- [ ] G1.PITEST g\n- [ ] FINAL f\n";

pub(super) fn act() -> impl Strategy<Value = Act> {
    let claim = prop_oneof![
        3 => Just(None),
        3 => Just(Some(Claim::Pass)),
        1 => Just(Some(Claim::Fail { why: "no".into() })),
        1 => Just(Some(Claim::NothingToDo { why: "none".into() })),
        1 => Just(Some(Claim::Blocked { why: "no".into() })),
    ];
    let end = prop_oneof![
        5 => Just(None),
        1 => Just(Some(ProcessEnd::Exited { code: 1 })),
        1 => Just(Some(ProcessEnd::Limited { why: "limit".into(), reset: None })),
    ];
    let commits = prop_oneof![
        Just(vec![]),
        Just(vec![("src/main/A", "1")]),
        Just(vec![("src/main/A", "2")]),
        Just(vec![("src/test/A", "1")]),
        Just(vec![("src/test/A", "2"), ("src/main/B", "1")]),
    ];
    let ticks = prop_oneof![
        3 => Just(vec![]),
        1 => Just(vec![("2.", Mark::DONE)]),
    ];
    let rare = proptest::bool::weighted(0.15);
    let report = proptest::option::of((0u32..2).prop_map(|fail| Validation {
        pass: 1,
        fail,
        ..Default::default()
    }));
    (claim, end, commits, ticks, rare, rare, rare, report).prop_map(
        |(claim, end, commits, ticks, rewrites, lost_frozen, lost_production, report)| Act {
            end,
            claim,
            commits,
            ticks,
            rewrites,
            lost_frozen,
            lost_production,
            report,
            ..Act::default()
        },
    )
}

pub(super) fn gate_says() -> impl Strategy<Value = crate::mutation::GateReport> {
    prop_oneof![
        Just(verdict(Verdict::Pass, &["src/main/A"])),
        Just(fail(&["src/main/A"])),
        Just(verdict(Verdict::Skip { why: "none".into() }, &[])),
        Just(verdict(
            Verdict::Error {
                why: "net".into(),
                hint: "wait".into(),
                transient: true
            },
            &[]
        )),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn whatever_agents_and_gates_do_the_boxes_are_what_the_entries_say(
        acts in proptest::collection::vec(act(), 0..40),
        verdicts in proptest::collection::vec(gate_says(), 0..20),
        go_on_when_blocked: bool,
        second in proptest::option::of(0u64..4),
    ) {
        let mut policy = Policy { go_on_when_blocked, ..rules() };
        policy.iterations = second.map(|first| first + 3);
        let mut sim = Sim::with(FILE, policy.clone());
        sim.endless = Some(fail(&["src/main/A"]));
        for act in acts {
            sim.agent(act);
        }
        for report in verdicts {
            sim.gate(report);
        }
        let mut stop = sim.run();
        if second.is_some() {
            sim.start(Policy { iterations: None, ..policy }, &[]);
            stop = sim.run();
        }
        sim.replay();

        // Every iteration has one entry, in order.
        let iterations: Vec<u64> = sim.entries.iter().map(|entry| entry.iteration).collect();
        prop_assert_eq!(iterations, (1..=sim.state.iteration).collect::<Vec<_>>());

        // The boxes are exactly what the entries say was written, from a file that was all open.
        let mut told: BTreeMap<String, bool> = BTreeMap::new();
        for change in sim.entries.iter().flat_map(|entry| &entry.boxes) {
            let ticked = change.ticked;
            prop_assert_ne!(told.insert(change.task.clone(), ticked), Some(ticked), "{} twice", change);
        }
        for row in &sim.state.spec_state().rows {
            let name = row.key.written_id();
            prop_assert_eq!(row.mark.is_done(), told.get(&name) == Some(&true), "{}", name);
        }
        prop_assert!(sim.text.matches("[x]").count() == told.values().filter(|ticked| **ticked).count());

        // Attempts in a row stay within the limit.
        prop_assert!(sim.orders.iter().all(|order| order.attempt <= 3));

        // All done means that every box is ticked, FINAL by a report without gaps.
        if stop == StopReason::AllDone {
            prop_assert!(!sim.text.contains("[ ]"));
        }
    }
}
