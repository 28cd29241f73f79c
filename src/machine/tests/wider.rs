//! Gates of wider reach as `ralph place` puts them: what they judge, and whom their FAIL opens.

use super::sim::*;
use crate::machine::event::Event;
use crate::machine::stop::StopReason;
use crate::mutation::Verdict;
use crate::task::{Grammar, Mark, Placement, TaskFile};

const PLAN: &str = "# Plan\n## A\n- [ ] 1. a\n- [ ] 2. b\n## B\n- [ ] 3. c\n- [ ] 3.REQ-CHECK r\n";

fn pass() -> crate::mutation::GateReport {
    verdict(Verdict::Pass, &["src/main/A"])
}

fn placed(text: &str, placements: &[Placement]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for placement in placements {
        let wanted = TaskFile::parse(bytes.clone(), &Grammar::default());
        let surgery = wanted.place_gates("PITEST", placement, false).unwrap();
        assert!(surgery.removed.is_empty());
        bytes = surgery.bytes;
    }
    String::from_utf8(bytes).unwrap()
}

fn touched(sim: &Sim, gate: usize) -> Vec<String> {
    let touched = sim.gates[gate].accumulated.touched.get("p");
    touched
        .into_iter()
        .flatten()
        .map(crate::source::RepoPath::to_text)
        .collect()
}

#[test]
fn a_placed_group_gate_judges_its_heading_whatever_its_number() {
    let text = placed(PLAN, &[Placement::Groups]);
    assert!(
        text.contains("2. b\n- [ ] G2.PITEST\n## B\n") && text.ends_with("r\n- [ ] G3.PITEST\n"),
        "{text}"
    );
    let mut sim = Sim::new(&text);
    sim.agent(Act::commits(&[("src/main/A", "a")]))
        .agent(Act::commits(&[("src/main/B", "b")]))
        .gate(pass());
    sim.agent(Act::commits(&[("src/main/C", "c")]))
        .agent(Act::pass())
        .gate(pass());
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(touched(&sim, 0), ["src/main/A", "src/main/B"]);
    assert_eq!(touched(&sim, 1), ["src/main/C"]);
}

#[test]
fn a_fail_opens_for_each_class_the_last_family_that_changed_it() {
    let mut sim = Sim::new(&placed(PLAN, &[Placement::End]));
    sim.agent(Act::commits(&[("src/main/A", "a"), ("src/main/B", "a")]));
    sim.agent(Act::commits(&[("src/main/B", "b")]));
    sim.agent(Act::commits(&[("src/main/C", "c")]))
        .agent(Act::pass());
    sim.gate(fail(&["src/main/A", "src/main/B"]));
    sim.agent(Act::commits(&[("src/test/A", "t")]))
        .agent(Act::commits(&[("src/test/B", "t")]))
        .gate(pass());
    assert_eq!(sim.run(), StopReason::AllDone);
    let fails = sim
        .entries
        .iter()
        .find(|entry| entry.task == "END.PITEST")
        .unwrap();
    assert_eq!(box_changes(fails), ["unticked task 1", "unticked task 2"]);
    let reworks: Vec<_> = sim
        .orders
        .iter()
        .filter(|order| !order.reasons.is_empty())
        .map(|order| order.key.written_id())
        .collect();
    assert_eq!(reworks, ["1.", "2."]);
    assert_eq!(
        sim.gates[1]
            .changed_since_fail
            .iter()
            .flatten()
            .collect::<Vec<_>>(),
        ["p/src/test/A", "p/src/test/B"]
    );
    assert_eq!(sim.gates.len(), 2, "END is judged again once, after both");
}

#[test]
fn a_fail_that_nobodys_attempt_explains_opens_the_last_leaf() {
    let fails = |text: &str, placement: Placement| {
        let text = placed(text, &[placement])
            .replace("[ ]", "[x]")
            .replace("[x] G1", "[ ] G1")
            .replace("[x] END", "[ ] END");
        let mut sim = Sim::new(&text);
        sim.state.policy.iterations = Some(1);
        sim.gate(fail(&["src/main/A"]));
        sim.run();
        sim.boxes()
    };
    assert_eq!(
        fails(PLAN, Placement::End),
        "1.x 2.x 3._ 3.REQ-CHECKx END.PITEST_"
    );
    assert_eq!(
        fails(
            "## A\n- [ ] 1. a\n- [ ] 2. p\n- [ ] 2.1 b\n## B\n- [ ] 3. c\n",
            Placement::Groups
        ),
        "1.x 2._ 2.1._ G1.PITEST_ 3.x G2.PITESTx",
        "a parent is opened with its child, not alone"
    );
    assert_eq!(
        fails("- [ ] 1. a\n  - [ ]* 1.1 b\n", Placement::End),
        "1._ 1.1.x END.PITEST_",
        "required work before optional work"
    );
}

#[test]
fn a_pinned_family_opens_the_gates_over_it_that_judged_other_commits() {
    let mut sim = Sim::new(
        "## A\n- [x] 1. a\n- [x] 1.1 b\n- [ ] 1.PITEST\n- [ ] G1.PITEST\n## B\n- [x] 2. c\n- [ ] G2.PITEST\n- [ ] END.PITEST\n",
    );
    let pin = |sim: &mut Sim, family: &str| {
        let snapshot = sim.snapshot();
        sim.verb(&Event::FamilyPinned {
            family: family.into(),
            snapshot,
        });
    };
    pin(&mut sim, "1.1");
    pin(&mut sim, "2");
    for gate in ["1.PITEST", "G1.PITEST", "G2.PITEST", "END.PITEST"] {
        let (key, snapshot) = (sim.key(gate), sim.snapshot());
        sim.gate(pass());
        sim.verb(&Event::GateRequested {
            key,
            snapshot,
            changes: None,
        });
    }
    assert_eq!(
        sim.boxes(),
        "1.x 1.1.x 1.PITESTx G1.PITESTx 2.x G2.PITESTx END.PITESTx"
    );
    pin(&mut sim, "1.1");
    assert!(!sim.boxes().contains('_'), "the same commit");
    sim.head += 1;
    pin(&mut sim, "1.1");
    assert_eq!(
        sim.boxes(),
        "1.x 1.1.x 1.PITEST_ G1.PITEST_ 2.x G2.PITESTx END.PITEST_"
    );

    // In a loop that is not ralph's, a FAIL opens the family that was begun last.
    let (key, snapshot) = (sim.key("END.PITEST"), sim.snapshot());
    sim.gate(fail(&["src/main/A"]));
    sim.verb(&Event::GateRequested {
        key,
        snapshot,
        changes: None,
    });
    assert_eq!(
        sim.state.spec_state().row(&sim.key("2.")).unwrap().mark,
        Mark::OPEN
    );
}

#[test]
fn a_group_gate_stays_ticked_when_another_group_is_reworked_and_the_end_gate_does_not() {
    let text = placed(PLAN, &[Placement::Groups]) + "- [ ] END.PITEST\n";
    let mut sim = Sim::new(&text);
    sim.agent(Act::commits(&[("src/main/A", "a")]))
        .agent(Act::commits(&[("src/main/B", "b")]))
        .gate(pass());
    sim.agent(Act::commits(&[("src/main/C", "c")]))
        .agent(Act::pass())
        .gate(pass());
    sim.gate(fail(&["src/main/C"]));
    sim.agent(Act::commits(&[("src/test/C", "t")]))
        .gate(pass())
        .gate(pass());
    assert_eq!(sim.run(), StopReason::AllDone);
    let gates: Vec<_> = sim.gates.iter().map(|gate| gate.key.written_id()).collect();
    assert_eq!(
        gates,
        [
            "G2.PITEST",
            "G3.PITEST",
            "END.PITEST",
            "G3.PITEST",
            "END.PITEST"
        ]
    );
}
