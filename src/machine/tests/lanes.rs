//! The tasks that lanes may do, and a run whose lanes offer nothing.

use super::sim::*;
use crate::machine::event::Event;
use crate::machine::lanes::{group, number};
use crate::machine::policy::Policy;
use crate::machine::state::State;
use crate::machine::stop::StopReason;

fn group_of(text: &str, family: &str) -> Vec<String> {
    let mut state = State::default();
    let rows = Sim::new(text).tasks().rows.unwrap();
    state.spec = "tasks.md".to_owned();
    state.take_rows(rows, Vec::new());
    group(state.spec_state(), family)
}

#[test]
fn a_run_of_marked_tasks_ends_at_a_heading_and_at_a_task_without_a_mark() {
    let flat = "- [ ] 1. [P] a\n- [ ] 2.TEST-FIRST t\n- [ ] 2. (P) b\n- [ ] 3. c\n- [ ] 4. [P] d\n";
    assert_eq!(group_of(flat, "1"), ["1", "2"]);
    assert_eq!(group_of(flat, "2"), ["1", "2"]);
    assert_eq!(group_of(flat, "3"), [""; 0]);
    assert_eq!(group_of(flat, "4"), ["4"]);
    let headings = "## A\n- [ ] 1. [P] a\n## B\n- [ ] 2. [P] b\n- [ ] 3. [P] c\n";
    assert_eq!(group_of(headings, "1"), ["1"]);
    assert_eq!(group_of(headings, "3"), ["2", "3"]);
    // A word that only looks like a mark does not count.
    assert_eq!(group_of("- [ ] 1. a[P]\n- [ ] 2. [P]x\n", "1"), [""; 0]);
}

#[test]
fn tasks_below_a_marked_one_belong_to_its_lane() {
    let nested =
        "- [ ] 1. [P] a\n  - [ ] 1.1 x\n  - [ ] 1.2 [P] y\n- [ ] 2. [P] b\n  - [ ] 2.1 z\n";
    for family in ["1", "1.1", "1.2", "2.1"] {
        assert_eq!(group_of(nested, family), ["1", "2"], "{family}");
    }
}

#[test]
fn a_run_whose_lanes_offer_nothing_ticks_the_same_boxes() {
    let text = "- [ ] 1. [P] a\n- [ ] 2. [P] b\n- [ ] 3. c\n";
    let policy = Policy {
        lanes: 2,
        ..rules()
    };
    let mut sim = Sim::with(text, policy);
    for file in ["src/main/A", "src/main/B", "src/main/C"] {
        sim.agent(Act::commits(&[(file, "x")]));
    }
    assert_eq!(sim.run(), StopReason::AllDone);
    let seen = sim
        .facts
        .iter()
        .filter(|fact| matches!(fact, Event::LaneSeen { .. }));
    assert_eq!(seen.count(), 2);
    sim.replay();
}

#[test]
fn a_lane_is_an_agent_with_a_number() {
    assert_eq!(number("lane:12"), Some(12));
    assert_eq!(number("lane:x"), None);
    assert_eq!(number("claude"), None);
}
