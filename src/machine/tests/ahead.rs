//! Gates ahead of need: when they start, whose their verdicts are, and when they are cancelled.

use super::sim::*;
use crate::machine::event::Event;
use crate::machine::facts::{Basis, Claim, Oid};
use crate::machine::policy::{Judge, Policy};
use crate::machine::stop::Stop;
use crate::mutation::{GateReport, Verdict};
use crate::task::Mark;

const FILE: &str = "- [ ] 1. do\n- [ ] 1.REQ-CHECK r\n- [ ] 1.PRE-CR q\n- [ ] 1.PITEST g\n";
const WORK: (&str, &str) = ("src/main/A", "m1");

fn pass() -> GateReport {
    verdict(Verdict::Pass, &["src/main/A"])
}

fn judge(settings: &str, engine: &str) -> Policy {
    let judge = Judge { settings: settings.into(), engine: engine.into() };
    Policy { ahead: [("PITEST".to_owned(), judge)].into(), ..Policy::default() }
}

fn ahead() -> Policy {
    judge("s", "e")
}

/// What the log says of gates ahead.
fn told(sim: &Sim) -> Vec<&str> {
    let words = ["ahead", "await", "cancel", "take", "gate", "put tasks"];
    let about = |line: &&String| words.iter().any(|word| line.starts_with(word));
    sim.log.iter().filter(about).map(String::as_str).collect()
}

/// A run that stops after PRE-CR: the verdict is known, and its turn has not come.
fn stopped_before_its_turn(file: &str) -> Sim {
    let mut sim = Sim::with(file, Policy { iterations: Some(3), ..ahead() });
    sim.agent(Act::commits(&[WORK])).agent(Act::pass()).agent(Act::pass()).gate(pass());
    assert_eq!(sim.run(), Stop::Iterations { count: 3 });
    assert_eq!(told(&sim), ["ahead 1.PITEST"]);
    sim.log.clear();
    sim
}

#[test]
fn a_verdict_found_while_reviewers_work_is_used_when_the_turn_has_come() {
    let mut sim = Sim::with(FILE, ahead());
    sim.agent(Act::commits(&[WORK])).agent(Act::pass()).agent(Act::pass()).gate(pass());
    assert_eq!(sim.run(), Stop::AllDone);
    assert_eq!(
        sim.log,
        [
            "agent 1.",
            "1. ACCEPTED",
            "agent 1.REQ-CHECK",
            "ahead 1.PITEST",
            "1.REQ-CHECK REQ-CHECK PASS",
            "agent 1.PRE-CR",
            "1.PRE-CR PRE-CR PASS",
            "take"
        ]
    );
    let order = &sim.aheads[0].order;
    assert_eq!((order.iteration, order.ahead), (2, true));
    assert!(order.accumulated.touched["p"].iter().any(|path| path.as_str() == "src/main/A"));
    let entry = sim.entries.last().unwrap();
    assert_eq!((entry.iteration, entry.task.as_str()), (4, "1.PITEST"));
    assert_eq!(entry.boxes, ["ticked 1.PITEST"]);
    let crate::machine::effect::Body::Gate { report, .. } = &entry.body else { panic!("{entry:?}") };
    assert_eq!(report.remarks, ["The verdict was found ahead of need, beside iteration 2."]);
    assert_eq!(sim.state.ahead, None, "it is used once");
    sim.replay();
}

#[test]
fn what_is_not_ready_is_waited_for() {
    let mut sim = Sim::with(FILE, ahead());
    sim.ahead_is_quick = false;
    sim.agent(Act::commits(&[WORK])).agent(Act::pass()).agent(Act::pass()).gate(pass());
    assert_eq!(sim.run(), Stop::AllDone);
    assert_eq!(told(&sim), ["ahead 1.PITEST", "await", "take"]);
}

#[test]
fn a_fail_found_ahead_opens_the_work_and_the_next_verdict_is_another() {
    let file = "- [ ] 1. do\n- [ ] 1.REQ-CHECK r\n- [ ] 1.PITEST g\n- [ ] 1.PRE-CR q\n";
    let mut sim = Sim::with(file, ahead());
    sim.agent(Act::commits(&[WORK])).agent(Act::pass()).gate(fail(&["src/main/A"]));
    sim.agent(Act::commits(&[("src/main/A", "m2")])).agent(Act::pass()).gate(pass()).agent(Act::pass());
    assert_eq!(sim.run(), Stop::AllDone);
    assert_eq!(told(&sim), ["ahead 1.PITEST", "take", "ahead 1.PITEST", "take"]);
    assert_ne!(sim.aheads[0].basis.heads, sim.aheads[1].basis.heads);
    assert_eq!(sim.orders[2].reasons, ["Foo has 50%."]);
}

#[test]
fn an_error_found_ahead_is_never_used() {
    for quick in [true, false] {
        let mut sim = Sim::with(FILE, ahead());
        sim.ahead_is_quick = quick;
        let error = Verdict::Error { why: "net".into(), hint: "wait".into(), transient: true };
        sim.agent(Act::commits(&[WORK])).agent(Act::pass()).agent(Act::pass());
        sim.gate(verdict(error, &[])).gate(pass());
        assert_eq!(sim.run(), Stop::AllDone);
        // Nor is it asked for again while reviewers work: it would say the same.
        let waits = if quick { vec![] } else { vec!["await"] };
        assert_eq!(told(&sim), [vec!["ahead 1.PITEST"], waits, vec!["gate 1.PITEST"]].concat());
        assert!(sim.waits.is_empty());
    }
}

#[test]
fn a_gate_that_may_not_run_ahead_does_not() {
    let other = [("MUTMUT".to_owned(), Judge::default())].into();
    for policy in [Policy::default(), Policy { ahead: other, ..Policy::default() }] {
        let mut sim = Sim::with(FILE, policy);
        sim.agent(Act::commits(&[WORK])).agent(Act::pass()).agent(Act::pass()).gate(pass());
        assert_eq!(sim.run(), Stop::AllDone);
        assert_eq!(told(&sim), ["gate 1.PITEST"]);
    }
}

#[test]
fn a_gate_whose_turn_cannot_come_next_does_not_start() {
    // Another stage stands before it, nothing is known of the changes, the run
    // ends before its turn.
    for file in [
        "- [ ] 1. do\n- [ ] 1.REQ-CHECK r\n- [ ] 1.INTEG i\n- [ ] 1.PITEST g\n",
        "- [x] 1. do\n- [ ] 1.REQ-CHECK r\n- [ ] 1.PITEST g\n",
        "- [ ] 1. do\n- [ ] 1.REQ-CHECK r\n- [ ] 2. other\n- [ ] END.PITEST g\n",
    ] {
        let mut sim = Sim::with(file, Policy { idle_iterations: 1, ..ahead() });
        sim.endless = Some(pass());
        if file.starts_with("- [ ]") {
            sim.agent(Act::commits(&[WORK]));
        }
        sim.agent(Act::pass());
        sim.run();
        assert_eq!(sim.aheads, [], "{file}");
        assert!(sim.log.iter().any(|line| line == "1.REQ-CHECK REQ-CHECK PASS"), "{file}");
    }
    let mut sim = Sim::with(FILE, Policy { iterations: Some(2), ..ahead() });
    sim.agent(Act::commits(&[WORK])).agent(Act::pass());
    sim.run();
    assert_eq!(sim.aheads, []);
}

#[test]
fn gates_of_parents_and_of_wider_reach_start_beside_the_last_review_below_them() {
    let parent = "- [ ] 1. all\n  - [ ] 1.1 a\n- [ ] 1.PRE-CR q\n- [ ] 1.PITEST g\n";
    let wider = "# A\n- [ ] 1. a\n- [ ] 1.REQ-CHECK r\n- [ ] G1.PITEST g\n";
    for (file, gate) in [(parent, "1.PITEST"), (wider, "G1.PITEST")] {
        let mut sim = Sim::with(file, ahead());
        sim.agent(Act::commits(&[WORK])).agent(Act::pass()).gate(pass());
        assert_eq!(sim.run(), Stop::AllDone, "{file}");
        assert_eq!(told(&sim), [&format!("ahead {gate}"), "take"], "{file}");
    }
}

/// One difference each: the verdict stands for something else, and the gate runs.
#[test]
fn a_verdict_is_used_only_where_everything_it_depends_on_is_the_same() {
    type Change = fn(&mut Basis);
    let differences: [(&str, Option<Change>); 6] = [
        ("nothing", None),
        ("the gate", Some(|basis| basis.key.family = "2.".into())),
        ("a commit", Some(|basis| _ = basis.heads.insert("p".into(), Oid::zero()))),
        ("the scope", Some(|basis| basis.scope.push('x'))),
        ("the settings", Some(|basis| basis.settings.push('x'))),
        ("the engine", Some(|basis| basis.engine.push('x'))),
    ];
    for (what, change) in differences {
        let mut sim = Sim::with(FILE, ahead());
        sim.agent(Act::commits(&[WORK])).agent(Act::pass()).agent(Act::pass()).gate(pass());
        sim.change_basis = change;
        sim.endless = Some(pass());
        assert_eq!(sim.run(), Stop::AllDone, "{what}");
        let is_used = told(&sim).contains(&"take");
        assert_eq!(is_used, change.is_none(), "{what}: {:?}", sim.log);
        assert_eq!(!is_used, told(&sim).contains(&"gate 1.PITEST"), "{what}");
    }
}

#[test]
fn a_verdict_waits_for_the_next_run_unless_something_moved_meanwhile() {
    type Meanwhile = fn(&mut Sim);
    let cases: [(&str, Policy, Meanwhile, &[&str]); 5] = [
        ("nothing", ahead(), |_| {}, &["take"]),
        ("a commit of a person's", ahead(), |sim| sim.head += 1, &["gate 1.PITEST"]),
        ("settings", judge("other", "e"), |_| {}, &["gate 1.PITEST"]),
        ("engine", judge("s", "other"), |_| {}, &["gate 1.PITEST"]),
        ("switched off", Policy::default(), |_| {}, &["gate 1.PITEST"]),
    ];
    for (what, policy, meanwhile, expected) in cases {
        let mut sim = stopped_before_its_turn(FILE);
        meanwhile(&mut sim);
        sim.start(policy, &[]);
        sim.gate(pass());
        assert_eq!(sim.run(), Stop::AllDone, "{what}");
        assert_eq!(told(&sim), expected, "{what}");
        sim.replay();
    }
}

#[test]
fn a_verdict_is_never_another_gates() {
    let file = "- [ ] 1. do\n- [ ] 1.REQ-CHECK r\n- [ ] 1.PRE-CR q\n- [ ] 1.PITEST g\n- [ ] END.PITEST h\n";
    let mut sim = stopped_before_its_turn(file);
    sim.write_box("1.PITEST", Mark::DONE);
    sim.start(ahead(), &[]);
    sim.gate(pass());
    assert_eq!(sim.run(), Stop::AllDone);
    assert_eq!(told(&sim), ["gate END.PITEST"]);
}

#[test]
fn a_verdict_is_not_used_twice_and_never_by_a_person_who_asks_for_the_gate() {
    let mut sim = stopped_before_its_turn(FILE);
    let asked = Event::GateRequested { key: sim.key("1.PITEST"), snapshot: sim.snapshot(), changes: None };
    sim.gate(pass()).verb(&asked);
    assert_eq!(told(&sim), ["gate 1.PITEST"]);
    assert_eq!(sim.state.ahead, None, "it was overtaken");

    let mut sim = stopped_before_its_turn(FILE);
    sim.start(ahead(), &[]);
    assert_eq!(sim.run(), Stop::AllDone);
    assert_eq!(told(&sim), ["take"]);
    let reopened = Event::BoxReopened { key: sim.key("1.PITEST"), reason: "again".into() };
    sim.verb(&reopened);
    sim.start(ahead(), &[]);
    sim.gate(pass());
    assert_eq!(sim.run(), Stop::AllDone);
    assert_eq!(told(&sim), ["take", "gate 1.PITEST"]);
}

#[test]
fn it_is_cancelled_when_a_reviewer_fails_and_started_anew_on_the_new_commit() {
    let mut sim = Sim::with(FILE, ahead());
    sim.ahead_is_quick = false;
    sim.agent(Act::commits(&[WORK])).agent(Act::fails("no"));
    sim.agent(Act::commits(&[("src/main/A", "m2")])).agent(Act::pass()).agent(Act::pass()).gate(pass());
    assert_eq!(sim.run(), Stop::AllDone);
    assert_eq!(told(&sim), ["ahead 1.PITEST", "cancel", "ahead 1.PITEST", "await", "take"]);
    assert_eq!(sim.aheads[1].order.iteration, 4);
}

#[test]
fn it_is_cancelled_when_head_moves_and_started_anew() {
    let mut sim = Sim::with(FILE, ahead());
    sim.ahead_is_quick = false;
    sim.person_commits_after = Some("1.REQ-CHECK");
    sim.agent(Act::commits(&[WORK])).agent(Act::pass()).agent(Act::pass()).gate(pass());
    assert_eq!(sim.run(), Stop::AllDone);
    assert_eq!(told(&sim), ["ahead 1.PITEST", "cancel", "ahead 1.PITEST", "await", "take"]);
}

#[test]
fn it_goes_on_while_a_reviewer_is_asked_again() {
    let mut sim = Sim::with(FILE, ahead());
    sim.ahead_is_quick = false;
    let limited = Some(crate::machine::facts::ProcessEnd::Limited { why: "limit".into(), reset: None });
    sim.agent(Act::commits(&[WORK])).agent(Act::idle()).agent(Act { end: limited, ..Act::idle() });
    sim.agent(Act::pass()).agent(Act::pass()).gate(pass());
    assert_eq!(sim.run(), Stop::AllDone);
    assert_eq!(told(&sim), ["ahead 1.PITEST", "await", "take"]);
}

#[test]
fn nothing_of_it_outlives_the_run_however_that_stops() {
    // After an entry (blocked by the reviewer's FAIL), and before an iteration (a signal).
    let blocked = Policy { rework: 0, ..ahead() };
    let mut sim = Sim::with(FILE, blocked);
    sim.ahead_is_quick = false;
    sim.agent(Act::commits(&[WORK])).agent(Act::fails("no"));
    assert!(matches!(sim.run(), Stop::Blocked { .. }));
    assert_eq!(told(&sim), ["ahead 1.PITEST", "cancel"]);

    let mut sim = Sim::with(FILE, ahead());
    sim.ahead_is_quick = false;
    sim.stop_after = Some("1.REQ-CHECK");
    sim.agent(Act::commits(&[WORK])).agent(Act::pass());
    assert_eq!(sim.run(), Stop::Interrupted { signal: 2 });
    assert_eq!(told(&sim), ["ahead 1.PITEST", "cancel"]);
    assert_eq!(sim.state.ahead, None);
    // What a person writes after the end is theirs.
    sim.write_box("1.PRE-CR", Mark::DONE);
    sim.start(ahead(), &[]);
    sim.gate(pass());
    assert_eq!(sim.run(), Stop::AllDone);
    assert_eq!(sim.orders.len(), 2, "PRE-CR was ticked by a person");
}

#[test]
fn what_a_gate_writes_to_tasks_md_between_iterations_is_put_back() {
    for (quick, stop) in [(false, false), (true, false), (false, true)] {
        let mut sim = Sim::with(FILE, ahead());
        sim.ahead_is_quick = quick;
        sim.ahead_ticks = Some("1.PITEST");
        if stop {
            sim.stop_after = Some("1.REQ-CHECK");
        }
        sim.agent(Act::commits(&[WORK])).agent(Act::pass()).agent(Act::pass()).gate(pass());
        let end = sim.run();
        assert!(told(&sim).contains(&"put tasks.md back"), "{:?}", sim.log);
        if stop {
            assert_eq!(end, Stop::Interrupted { signal: 2 });
            assert_eq!(sim.boxes(), "1.x 1.REQ-CHECKx 1.PRE-CR_ 1.PITEST_");
        } else {
            // The one that runs on is not trusted any more.
            assert_eq!(end, Stop::AllDone);
            assert_eq!(told(&sim).contains(&"cancel"), !quick);
            assert_eq!(sim.entries.last().unwrap().boxes, ["ticked 1.PITEST"]);
        }
    }
}

#[test]
fn a_run_that_was_killed_takes_its_gate_with_it() {
    let mut sim = Sim::with(FILE, ahead());
    sim.agent(Act::commits(&[WORK])).agent(Act::says(Claim::Pass));
    sim.ahead_is_quick = false;
    sim.die_after = Some("agent 1.REQ-CHECK");
    sim.run_to_death();
    assert!(sim.state.ahead.is_some(), "the journal knows of it");
    sim.start(ahead(), &[]);
    assert_eq!(sim.state.ahead, None, "it is forgotten");
    sim.agent(Act::pass()).agent(Act::pass()).gate(pass());
    assert_eq!(sim.run(), Stop::AllDone);
    assert_eq!(told(&sim), ["ahead 1.PITEST", "ahead 1.PITEST", "await", "take"]);
    let numbers: Vec<u64> = sim.aheads.iter().map(|ahead| ahead.order.iteration).collect();
    assert_eq!(numbers, [2, 3], "its folder and its tag are new");
    sim.replay();
}
