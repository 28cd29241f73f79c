//! Gates, rework, stale boxes, parents, wider gates, frozen tests.

use super::sim::*;
use crate::machine::facts::ProcessEnd;
use crate::machine::policy::Policy;
use crate::machine::stop::StopReason;
use crate::mutation::{GateReport, Verdict};
use crate::task::Mark;

const STAGED: &str =
    "- [ ] 1.TEST-FIRST t\n- [ ] 1. do\n- [ ] 1.REQ-CHECK r\n- [ ] 1.PITEST g\n- [ ] 1.PRE-CR q\n";
const TEST: (&str, &str) = ("src/test/A", "t1");
const WORK: (&str, &str) = ("src/main/A", "m1");

fn pass() -> GateReport {
    verdict(Verdict::Pass, &["src/main/A"])
}

#[test]
fn a_gates_fail_opens_the_work_and_sends_it_the_reasons() {
    let mut sim = Sim::new(STAGED);
    sim.agent(Act::commits(&[TEST]))
        .agent(Act::commits(&[WORK]))
        .agent(Act::pass());
    sim.gate(fail(&["src/main/A"]));
    sim.agent(Act::commits(&[("src/test/A", "t2")]));
    sim.gate(pass()).agent(Act::pass());
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(sim.orders[3].reasons, ["Foo has 50%."]);
    assert_eq!(sim.orders[3].key.written_id(), "1.");
    assert_eq!(box_changes(&sim.entries[3]), ["unticked task 1"]);
    assert!(sim.notified.contains(&"gate-fail"));
    assert_eq!(sim.gates[0].changed_since_fail, None);
    assert_eq!(
        sim.gates[1].former_targets.iter().collect::<Vec<_>>(),
        ["p/src/main/A"]
    );
    assert_eq!(
        sim.gates[1]
            .changed_since_fail
            .iter()
            .flatten()
            .collect::<Vec<_>>(),
        ["p/src/test/A"]
    );
    // The rework only added tests: the review stays ticked, no second REQ-CHECK ran.
    assert_eq!(
        sim.log
            .iter()
            .filter(|line| line.starts_with("agent 1.REQ"))
            .count(),
        1
    );
}

#[test]
fn a_rework_that_touches_only_tests_does_not_turn_the_gate_into_a_skip() {
    let mut sim = Sim::new("- [ ] 1. do\n- [ ] 1.PITEST g\n");
    sim.agent(Act::commits(&[WORK])).gate(fail(&["src/main/A"]));
    sim.agent(Act::commits(&[TEST])).gate(pass());
    assert_eq!(sim.run(), StopReason::AllDone);
    let touched: Vec<String> = sim.gates[1].accumulated.touched["p"]
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(touched, ["src/main/A", "src/test/A"]);
}

/// Rework: its commits, the reviewed tests that it removes, and the boxes that it unticks.
///
/// PRE-CR precedes PITEST here, so both boxes are ticked when a later review fails.
#[test]
fn an_accepted_rework_opens_the_boxes_that_stand_for_other_content() {
    const FILE: &str =
        "- [ ] 1. do\n- [ ] 1.REQ-CHECK r\n- [ ] 1.PITEST g\n- [ ] 1.PRE-CR q\n- [x] FINAL f\n";
    type Case = (
        &'static str,
        &'static [(&'static str, &'static str)],
        &'static [&'static str],
        bool,
        &'static [&'static str],
    );
    let cases: &[Case] = &[
        (
            "production changed",
            &[("src/main/A", "m2")],
            &[],
            false,
            &["1.REQ-CHECK", "1.PITEST"],
        ),
        (
            "a test added",
            &[("src/test/B", "t")],
            &[],
            false,
            &["1.PITEST"],
        ),
        (
            "test lines removed",
            &[("src/test/A", "t2")],
            &["src/test/A"],
            false,
            &["1.REQ-CHECK", "1.PITEST"],
        ),
        (
            "new production file",
            &[("src/main/B", "b")],
            &[],
            false,
            &["1.REQ-CHECK", "1.PITEST"],
        ),
        (
            "keep-reviews",
            &[("src/main/A", "m2")],
            &[],
            true,
            &["1.PITEST"],
        ),
    ];
    for (what, commits, lost, keep, opened) in cases {
        let policy = Policy {
            keep_reviews: *keep,
            iterations: Some(6),
            ..rules()
        };
        let mut sim = Sim::with(FILE, policy);
        sim.agent(Act::commits(&[WORK, TEST]))
            .agent(Act::pass())
            .gate(pass())
            .agent(Act::fails("naming"));
        sim.agent(Act {
            lost_reviewed: lost.to_vec(),
            ..Act::commits(commits)
        });
        sim.agent(Act::pass()).gate(pass());
        sim.run();
        let entry = sim
            .entries
            .iter()
            .filter(|entry| entry.task == "1.")
            .nth(1)
            .unwrap();
        let mut expected: Vec<String> = opened
            .iter()
            .map(|name| format!("unticked {name}"))
            .collect();
        expected.push("ticked task 1".to_owned());
        let mut boxes = box_changes(entry);
        boxes.sort();
        expected.sort();
        assert_eq!(boxes, expected, "{what}");
        // FINAL vouched for the HEADs that the first survey saw: the first acceptance unticked it.
        assert!(
            box_changes(&sim.entries[0]).contains(&"unticked FINAL".to_owned()),
            "{what}"
        );
    }
}

#[test]
fn a_reviewers_fail_opens_the_work_with_its_reason_and_unfreezes_the_tests() {
    let mut sim = Sim::new("- [ ] 1.TEST-FIRST t\n- [ ] 1. do\n- [ ] 1.REQ-CHECK r\n");
    sim.agent(Act::commits(&[TEST]))
        .agent(Act::commits(&[WORK]))
        .agent(Act::fails("R1 has no test"));
    sim.agent(Act {
        lost_frozen: true,
        ..Act::commits(&[("src/test/A", "t2")])
    })
    .agent(Act::pass());
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(sim.orders[3].reasons, ["R1 has no test"]);
    assert_eq!(
        sim.orders[4].findings,
        ["R1 has no test"],
        "the reviewer sees whether it is fixed"
    );
    assert_eq!((sim.orders[4].reasons.len(), sim.orders[4].attempt), (0, 1));
}

#[test]
fn an_older_prompts_reviewer_speaks_by_boxes_which_are_put_back() {
    let mut sim = Sim::new("- [ ] 1. do\n- [ ] 1.REQ-CHECK r\n");
    sim.agent(Act::commits(&[WORK]));
    sim.agent(Act {
        ticks: vec![("1.", Mark::OPEN)],
        ..Act::idle()
    });
    sim.agent(Act::commits(&[("src/main/A", "m2")]));
    sim.agent(Act {
        ticks: vec![("1.REQ-CHECK", Mark::DONE)],
        ..Act::idle()
    });
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(sim.log[3], "1.REQ-CHECK REQ-CHECK FAIL");
    let mut sim = Sim::new("- [ ] 1. do\n- [ ] 1.REQ-CHECK r\n- [ ] 2. more\n");
    let all = vec![("1.REQ-CHECK", Mark::DONE), ("2.", Mark::DONE)];
    sim.agent(Act::commits(&[WORK])).agent(Act {
        ticks: all,
        ..Act::idle()
    });
    sim.agent(Act::pass())
        .agent(Act::commits(&[("src/main/B", "b")]));
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(
        sim.orders[2].reasons,
        ["The reviewer printed no line that gives its verdict, and changed more boxes than one."]
    );
}

#[test]
fn frozen_tests_alone_open_test_first_once_and_then_block() {
    let mut sim = Sim::new("- [ ] 1.TEST-FIRST t\n- [ ] 1. do\n");
    let breaks = || Act {
        lost_frozen: true,
        ..Act::commits(&[WORK])
    };
    sim.agent(Act::commits(&[TEST]))
        .agent(breaks())
        .agent(breaks())
        .agent(breaks());
    sim.agent(Act::commits(&[("src/test/A", "t2")]));
    sim.agent(breaks()).agent(breaks()).agent(breaks());
    assert!(matches!(sim.run(), StopReason::Blocked { .. }));
    assert_eq!(
        sim.log
            .iter()
            .filter(|line| *line == "agent 1.TEST-FIRST")
            .count(),
        2
    );
    assert!(sim.orders[4].reasons[0].contains("test code of TEST-FIRST was changed"));
    let mut mixed = Sim::new("- [ ] 1.TEST-FIRST t\n- [ ] 1. do\n");
    mixed
        .agent(Act::commits(&[TEST]))
        .agent(Act::idle())
        .agent(breaks())
        .agent(breaks());
    assert!(
        matches!(mixed.run(), StopReason::Blocked { .. }),
        "another reason in the row blocks at once"
    );
}

#[test]
fn rework_used_up_blocks_the_family() {
    let policy = Policy {
        rework: 2,
        ..rules()
    };
    let mut sim = Sim::with("- [ ] 1. do\n- [ ] 1.PITEST g\n", policy);
    for (at, content) in ["m1", "m2", "m3"].into_iter().enumerate() {
        let _ = at;
        sim.agent(Act::commits(&[("src/main/A", content)]))
            .gate(fail(&["src/main/A"]));
    }
    let StopReason::Blocked { reasons } = sim.run() else {
        panic!()
    };
    assert_eq!(
        reasons,
        ["tasks.md:1: task 1 is blocked: 1.PITEST failed after 2 reworks."]
    );
    let is_last: Vec<bool> = sim.gates.iter().map(|order| order.is_last).collect();
    assert_eq!(
        is_last,
        [false, false, true],
        "only the FAIL that blocks is to be confirmed"
    );
    assert_eq!(sim.boxes(), "1._ 1.PITEST_");
}

#[test]
fn a_gates_error_opens_nothing_and_is_tried_again_only_when_it_may_pass() {
    let error = |transient| {
        verdict(
            Verdict::Error {
                why: "no Maven.".into(),
                hint: "install it".into(),
                transient,
            },
            &[],
        )
    };
    let mut sim = Sim::new("- [x] 1. do\n- [ ] 1.PITEST g\n");
    sim.gate(error(false));
    let StopReason::GateError { gate, hint, .. } = sim.run() else {
        panic!()
    };
    assert_eq!((gate.as_str(), hint.as_str()), ("1.PITEST", "install it"));
    assert_eq!(sim.boxes(), "1.x 1.PITEST_");
    let mut sim = Sim::new("- [x] 1. do\n- [ ] 1.PITEST g\n");
    for _ in 0..4 {
        sim.gate(error(true));
    }
    assert!(matches!(sim.run(), StopReason::GateError { .. }));
    assert_eq!(sim.waits, [60, 300, 1800]);
    let mut sim = Sim::new("- [x] 1. do\n- [ ] 1.PITEST g\n");
    sim.gate(error(true)).gate(pass());
    assert_eq!(sim.run(), StopReason::AllDone);
}

#[test]
fn a_skip_ticks_the_box() {
    let mut sim = Sim::new("- [x] 1. do\n- [ ] 1.PITEST g\n");
    sim.gate(verdict(
        Verdict::Skip {
            why: "no Java".into(),
        },
        &[],
    ));
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(sim.boxes(), "1.x 1.PITESTx");
}

#[test]
fn a_parent_is_ticked_with_its_last_child_without_an_attempt_and_opened_with_any() {
    let text = "- [ ] 1. parent\n  - [ ] 1.1 a\n  - [ ] 1.2 b\n- [ ] 1.REQ-CHECK r\n";
    let mut sim = Sim::new(text);
    sim.agent(Act::commits(&[WORK]))
        .agent(Act::commits(&[("src/main/B", "b")]));
    sim.agent(Act::fails("both are wrong"));
    sim.agent(Act::commits(&[("src/main/A", "m2")]))
        .agent(Act::commits(&[("src/main/B", "b2")]));
    sim.agent(Act::pass());
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(
        box_changes(&sim.entries[1]),
        ["ticked task 1", "ticked task 1.2"]
    );
    assert_eq!(
        box_changes(&sim.entries[2]),
        ["unticked task 1", "unticked task 1.1", "unticked task 1.2"]
    );
    assert!(sim.log.iter().all(|line| line != "agent 1."));
}

#[test]
fn a_parents_gate_opens_the_last_child_that_changed_the_failing_class() {
    let text = "- [ ] 1. parent\n  - [ ] 1.1 a\n  - [ ] 1.2 b\n- [ ] 1.PITEST g\n";
    let mut sim = Sim::new(text);
    sim.agent(Act::commits(&[WORK]))
        .agent(Act::commits(&[("src/main/B", "b")]));
    sim.gate(fail(&["src/main/A"]));
    sim.agent(Act::commits(&[TEST])).gate(pass());
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(
        box_changes(&sim.entries[2]),
        ["unticked task 1", "unticked task 1.1"]
    );
    assert_eq!(sim.gates[0].accumulated.touched["p"].len(), 2);
}

#[test]
fn a_gate_opens_its_task_and_the_optional_child_when_each_changed_a_failing_class() {
    let text = "- [ ] 1. work\n  - [ ]* 1.1 more\n- [ ] 1.PITEST g\n";
    let mut sim = Sim::with(
        text,
        Policy {
            optional: true,
            ..rules()
        },
    );
    sim.agent(Act::commits(&[WORK]))
        .agent(Act::commits(&[("src/main/B", "b")]));
    sim.gate(fail(&["src/main/A", "src/main/B"]));
    sim.agent(Act::commits(&[("src/main/A", "m2")]))
        .agent(Act::commits(&[("src/main/B", "b2")]))
        .gate(pass());
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(
        box_changes(&sim.entries[2]),
        ["unticked task 1", "unticked task 1.1"]
    );
    assert_eq!(sim.boxes(), "1.x 1.1.x 1.PITESTx");
}

#[test]
fn a_gate_of_wider_reach_judges_its_families_and_opens_the_one_that_is_responsible() {
    let text =
        "# A\n- [ ] 1. a\n- [ ] 2. b\n- [ ] G1.PITEST g\n# B\n- [ ] 3. c\n- [ ] END.PITEST e\n";
    let mut sim = Sim::new(text);
    sim.agent(Act::commits(&[WORK]))
        .agent(Act::commits(&[("src/main/B", "b")]))
        .gate(pass());
    sim.agent(Act::commits(&[("src/main/C", "c")]))
        .gate(fail(&["src/main/B"]));
    sim.agent(Act::commits(&[("src/test/B", "t")]))
        .gate(pass())
        .gate(pass());
    assert_eq!(sim.run(), StopReason::AllDone);
    let touched = |at: usize| sim.gates[at].accumulated.touched["p"].len();
    assert_eq!((touched(0), touched(1)), (2, 3));
    let fails = sim
        .entries
        .iter()
        .find(|entry| entry.task == "END.PITEST")
        .unwrap();
    assert_eq!(box_changes(fails), ["unticked task 2"]);
    let redone = sim
        .entries
        .iter()
        .filter(|entry| entry.task == "2.")
        .nth(1)
        .unwrap();
    assert_eq!(box_changes(redone), ["ticked task 2", "unticked G1.PITEST"]);
}

#[test]
fn a_reworded_implementation_line_starts_its_family_anew() {
    let policy = Policy {
        attempts: 1,
        ..rules()
    };
    let mut sim = Sim::with("- [ ] 1. do\n", policy.clone());
    sim.agent(Act::idle());
    assert!(matches!(sim.run(), StopReason::Blocked { .. }));
    sim.text = "- [ ] 1. do it otherwise\n".into();
    sim.start(policy, &[]);
    sim.agent(Act::commits(&[WORK]));
    assert_eq!(sim.run(), StopReason::AllDone);
    assert!(sim.orders[1].reasons.is_empty());
}

#[test]
fn what_a_person_changes_below_a_task_starts_its_family_again_and_a_stage_beside_it_does_not() {
    let policy = Policy {
        attempts: 2,
        iterations: Some(1),
        ..rules()
    };
    let mut sim = Sim::with("- [ ] 1. do\n  - the usual case\n", policy.clone());
    sim.agent(Act::idle());
    sim.run();
    for (text, attempt) in [
        ("- [ ] 1. do\n  - the usual case\n- [ ] 1.REQ-CHECK r\n", 2),
        (
            "- [ ] 1. do\n  - the usual case, and leap years\n- [ ] 1.REQ-CHECK r\n",
            1,
        ),
    ] {
        sim.text = text.into();
        sim.start(policy.clone(), &[]);
        sim.agent(Act {
            end: Some(ProcessEnd::Interrupted),
            ..Act::idle()
        });
        sim.run();
        assert_eq!(
            sim.orders.last().map(|order| order.attempt),
            Some(attempt),
            "{text}"
        );
    }
}
