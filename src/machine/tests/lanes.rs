//! The tasks that lanes may do, and a run whose lanes offer nothing.

use super::sim::*;
use crate::machine::event::Event;
use crate::machine::lanes::{LaneUnit, longest_chain, number, open_tasks, unit_of, units};
use crate::machine::policy::{LaneTasks, Policy};
use crate::machine::state::State;
use crate::machine::stop::StopReason;
use crate::task::Mark;

/// The tasks of each open unit, with `!` if a lane may begin it now.
fn units_of(text: &str, take: LaneTasks) -> String {
    let state = state_of(text, take);
    let spec = state.spec_state();
    let open = open_tasks(spec, &units(&spec.rows, take));
    let units = open.iter().map(|unit| {
        let ready = if unit.is_ready { "!" } else { "" };
        format!("{}{ready}", unit.families.join("+"))
    });
    units.collect::<Vec<_>>().join(" ")
}

fn state_of(text: &str, take: LaneTasks) -> State {
    let mut state = State::default();
    let rows = Sim::new(text).tasks().rows.unwrap();
    state.spec = "tasks.md".to_owned();
    state.policy.take = take;
    state.take_rows(rows, Vec::new());
    state
}

fn marked(text: &str) -> String {
    units_of(text, LaneTasks::Marked)
}

#[test]
fn a_run_of_marked_tasks_ends_at_a_heading_and_at_a_task_without_a_mark() {
    let flat = "- [ ] 1. [P] a\n- [ ] 2.TEST-FIRST t\n- [ ] 2. (P) b\n- [ ] 3. c\n- [ ] 4. [P] d\n";
    assert_eq!(marked(flat), "1! 2! 4");
    let done = flat
        .replace("[ ] 1", "[x] 1")
        .replace("[ ] 2", "[x] 2")
        .replace("[ ] 3", "[x] 3");
    assert_eq!(marked(&done), "4!");
    let headings = "## A\n- [ ] 1. [P] a\n## B\n- [ ] 2. [P] b\n- [ ] 3. [P] c\n";
    assert_eq!(marked(headings), "1! 2 3");
    assert_eq!(marked(&headings.replace("[ ] 1", "[x] 1")), "2! 3!");
    // A word that only looks like a mark does not count.
    assert_eq!(marked("- [ ] 1. a[P]\n- [ ] 2. [P]x\n"), "");
    // No lane passes a person.
    let barrier = "- [ ] 1. [P] a\n- [ ] APPROVE it\n- [ ] 2. [P] b\n- [ ] 3. (depends on 1) c\n";
    assert_eq!(marked(barrier), "1! 2 3");
}

#[test]
fn a_task_that_names_its_needs_waits_for_those_alone() {
    let text = "- [ ] 1. a\n- [ ] 2. b\n  - Depends on: none\n- [ ] 3. c (depends on 2)\n- [ ] 4. d (depends on 9)\n- [ ] 5. [P] e\n  - _Depends: 4_\n- [ ] 6. [P] f\n";
    assert_eq!(marked(text), "2! 3 4 5 6");
    assert_eq!(marked(&text.replace("[ ] 2.", "[x] 2.")), "3! 4 5 6");
    let rest = text
        .replace("[ ] 1.", "[x] 1.")
        .replace("[ ] 2.", "[x] 2.")
        .replace("[ ] 3.", "[x] 3.");
    // 4 names a task that is not there. 6 is in the run that begins with 5.
    assert_eq!(marked(&rest), "4 5 6");
    assert_eq!(marked(&rest.replace("[ ] 4.", "[x] 4.")), "5! 6!");
    let circle = "- [ ] 1. a (depends on 2)\n- [ ] 2. b (depends on 1)\n";
    assert_eq!(marked(circle), "1 2");
}

#[test]
fn the_waves_of_kiro_say_what_lanes_may_do() {
    let text = "- [ ] 1. A\n  - [ ] 1.1 a\n  - [ ] 1.2 b\n- [ ] 2. Checkpoint\n- [ ] 3. B\n  - [ ] 3.1 c\n  - [ ] 3.2 d\n\
        ```json\n{\"waves\": [{\"id\": 0, \"tasks\": [\"1.1\", \"1.2\"]}, {\"id\": 1, \"tasks\": [\"3.1\", \"3.2\"]}]}\n```\n";
    assert_eq!(marked(text), "1.1! 1.2! 3.1 3.2");
    let first = text
        .replace("[ ] 1.1", "[x] 1.1")
        .replace("[ ] 1.2", "[x] 1.2")
        .replace("[ ] 1.", "[x] 1.");
    // Kiro would do the checkpoint last. Here it comes before the tasks below it.
    assert_eq!(marked(&first), "3.1 3.2");
    assert_eq!(marked(&first.replace("[ ] 2.", "[x] 2.")), "3.1! 3.2!");
}

#[test]
fn a_lane_does_the_tasks_of_a_work_package_in_their_order() {
    let text = "## WP01\n- [ ] T1 a\n- [ ] T2 b\n\nDependencies: none\n## WP02\n- [ ] T3 [P] c\n- [ ] T4 [P] d\n\nDependencies: WP01\n\
        ## WP03\n- [ ] T5 e\n\nDependencies: WP01\n## WP04\n- [ ] T6 f\n";
    assert_eq!(marked(text), "T1+T2! T3+T4 T5");
    let first = text.replace("[ ] T1", "[x] T1");
    assert_eq!(marked(&first), "T1+T2 T3+T4 T5");
    let first = first.replace("[ ] T2", "[x] T2");
    assert_eq!(marked(&first), "T3+T4! T5!");
    let counted = longest_chain(
        &state_of(text, LaneTasks::Marked).spec_state().rows,
        LaneTasks::Marked,
    );
    assert_eq!((counted.tasks, counted.chain), (6, 5));
}

#[test]
fn groups_and_all_take_tasks_without_marks() {
    let text = "## A\n- [ ] 1. a\n- [ ] 2. b\n## B\n- [ ] 3. c\n  - [ ] 3.1 x\n- [ ] 4. d (depends on 1)\n- [ ] G2.PITEST\n## C\n- [ ] 5. e\n- [ ] FINAL\n";
    assert_eq!(units_of(text, LaneTasks::Groups), "1+2! 3+4 5");
    assert_eq!(units_of(text, LaneTasks::All), "1! 2! 3! 4 5");
    assert_eq!(marked(text), "4");
}

#[test]
fn tasks_below_a_marked_one_belong_to_its_lane() {
    let nested =
        "- [ ] 1. [P] a\n  - [ ] 1.1 x\n  - [ ] 1.2 [P] y\n- [ ] 2. [P] b\n  - [ ] 2.1 z\n";
    assert_eq!(marked(nested), "1! 2!");
    let state = state_of(nested, LaneTasks::Marked);
    let all = units(&state.spec_state().rows, LaneTasks::Marked);
    for (family, unit) in [("1", "1"), ("1.1", "1"), ("1.2", "1"), ("2.1", "2")] {
        let found = unit_of(&all, &state.spec_state().rows, family);
        assert_eq!(found.map(LaneUnit::name), Some(unit), "{family}");
    }
}

#[test]
fn the_longest_chain_counts_tasks_that_follow_each_other() {
    let chain = |text: &str, take| {
        let counted = longest_chain(&state_of(text, take).spec_state().rows, take);
        (counted.tasks, counted.chain)
    };
    let flat = "- [ ] 1. [P] a\n- [ ] 2. [P] b\n- [ ] 3. c\n- [ ] 4. [P] d\n- [ ] 5. [P] e\n";
    assert_eq!(chain(flat, LaneTasks::Marked), (5, 3));
    assert_eq!(chain(flat, LaneTasks::All), (5, 1));
    let named = "- [ ] 1. a\n- [ ] 2. b (depends on 1)\n- [ ] 3. c (depends on 1)\n- [ ] 4. d (depends on 2, 3)\n- [ ] 5. e (depends on 8)\n";
    assert_eq!(chain(named, LaneTasks::Marked), (5, 4));
    let nested = "## A\n- [ ] 1. a\n  - [ ] 1.1 x\n  - [ ] 1.2 y\n- [ ]* 2. z\n## B\n- [ ] 3. c\n";
    assert_eq!(chain(nested, LaneTasks::Groups), (3, 2));
    assert_eq!(chain(nested, LaneTasks::Marked), (3, 3));
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
fn a_tick_of_no_attempt_counts_only_while_no_lane_works() {
    for (lanes, agents) in [(2, 3), (0, 2)] {
        let text = "- [ ] 1. [P] a\n- [ ] 2. [P] b\n- [ ] 3. c\n";
        let mut sim = Sim::with(text, Policy { lanes, ..rules() });
        sim.agent(Act {
            ticks_later: vec![("3.", Mark::DONE)],
            ..Act::commits(&[("src/main/A", "x")])
        });
        for file in ["src/main/B", "src/main/C"] {
            sim.agent(Act::commits(&[(file, "x")]));
        }
        assert_eq!(sim.run(), StopReason::AllDone);
        assert_eq!(sim.orders.len(), agents, "{lanes}: {:?}", sim.log);
        sim.replay();
    }
}

#[test]
fn a_removed_task_file_is_restored_while_lanes_work_and_ends_the_run_if_it_is_removed_again() {
    let gone = vec!["gone".to_owned()];
    for (lanes, removals, end) in [
        (2, 1, StopReason::AllDone),
        (2, 9, StopReason::NoProgress { iterations: 3 }),
        (0, 1, StopReason::Refused { problems: gone }),
    ] {
        let text = "- [ ] 1. [P] a\n- [ ] 2. [P] b\n- [ ] 3. c\n";
        let policy = Policy {
            idle_iterations: 3,
            lanes,
            ..rules()
        };
        let mut sim = Sim::with(text, policy);
        sim.agent(Act {
            removals_later: removals,
            ..Act::commits(&[("src/main/A", "x")])
        });
        for file in ["src/main/B", "src/main/C"] {
            sim.agent(Act::commits(&[(file, "x")]));
        }
        assert_eq!(sim.run(), end, "{lanes} {removals}");
        sim.replay();
    }
}

#[test]
fn work_of_bundles_is_looked_for_at_its_own_task_alone() {
    let text = "- [ ] 1. a\n- [ ] 2. [P] b\n- [ ] 3. [P] c\n";
    let policy = Policy {
        taken: vec!["1".to_owned(), "9".to_owned()],
        ..rules()
    };
    let mut sim = Sim::with(text, policy);
    for file in ["src/main/A", "src/main/B", "src/main/C"] {
        sim.agent(Act::commits(&[(file, "x")]));
    }
    assert_eq!(sim.run(), StopReason::AllDone);
    let seen = |fact: &&Event| matches!(fact, Event::LaneSeen { .. });
    assert_eq!(sim.facts.iter().filter(seen).count(), 1);
    sim.replay();
}

#[test]
fn a_lane_is_an_agent_with_a_number() {
    assert_eq!(number("lane:12"), Some(12));
    assert_eq!(number("lane:x"), None);
    assert_eq!(number("claude"), None);
}
