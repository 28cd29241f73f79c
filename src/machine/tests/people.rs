//! People's edits, accept and reopen, loops that are not ralph's; and what a check or gate does to boxes.

use super::sim::*;
use crate::machine::effect::{Effect, EntryBody};
use crate::machine::event::{Check, CheckResult, Event, Trespass};
use crate::machine::facts::ProcessEnd;
use crate::machine::policy::Policy;
use crate::machine::state::TickedBy;
use crate::machine::stop::StopReason;
use crate::mutation::Verdict;
use crate::task::Mark;

const WORK: (&str, &str) = ("src/main/A", "m1");

fn pass() -> crate::mutation::GateReport {
    verdict(Verdict::Pass, &["src/main/A"])
}

#[test]
fn what_a_person_ticked_before_the_first_run_stands_and_is_a_persons() {
    let mut sim = Sim::new("- [x] 1. a\n- [ ] 2. b\n");
    sim.agent(Act::commits(&[WORK]));
    assert_eq!(sim.run(), StopReason::AllDone);
    let by = |sim: &Sim, name: &str| {
        sim.state
            .spec_state()
            .stage(&sim.key(name))
            .unwrap()
            .ticked_by
    };
    assert_eq!(by(&sim, "1."), Some(TickedBy::Person));
    assert_eq!(by(&sim, "2."), Some(TickedBy::Ralph));
}

/// A sim whose first attempt ended so; then a run begins, and `2.` was ticked in the file.
fn ticked_after(end: ProcessEnd, policy: &Policy) -> Sim {
    let mut sim = Sim::with(
        "- [ ] 1. a\n- [ ] 2. b\n",
        Policy {
            iterations: Some(1),
            ..policy.clone()
        },
    );
    sim.agent(Act {
        end: Some(end),
        ..Act::idle()
    });
    sim.run();
    sim.start(policy.clone(), &[]);
    sim.write_box("2.", Mark::DONE);
    sim
}

#[test]
fn after_a_lost_supervisor_edits_are_nobodys_until_a_person_speaks() {
    let mut sim = ticked_after(
        ProcessEnd::Unsupervised {
            why: "killed".into(),
        },
        &rules(),
    );
    sim.feed(&Event::Resumed);
    let seen = Event::Surveyed {
        tasks: sim.tasks(),
        snapshot: sim.snapshot(),
        now: 0,
        inputs: None,
        others: None,
        shared_limits: std::collections::BTreeMap::default(),
    };
    assert_eq!(sim.feed(&seen), [Effect::RestoreTasks { iteration: 2 }]);
    sim.write_box("2.", Mark::OPEN);
    let restored = Event::TasksRestored {
        tasks: sim.tasks(),
        kept: "iter-2/tasks-of-the-agent.md".into(),
        reworded: None,
    };
    let effects = sim.feed(&restored);
    let Some(Effect::Finish(stop @ StopReason::Blocked { .. })) = effects.last() else {
        panic!("{effects:?}")
    };
    assert!(
        stop.to_string()
            .contains("after iteration 1 (ticked: task 2)"),
        "{stop}"
    );
    sim.feed(&Event::RunStopped { stop: stop.clone() });
    let (key, snapshot) = (sim.key("2."), sim.snapshot());
    sim.verb(&Event::BoxAccepted {
        key,
        reason: "it was me".into(),
        snapshot,
    });
    assert_eq!(sim.boxes(), "1._ 2.x");
    sim.write_box("1.", Mark::DONE);
    sim.start(rules(), &[]);
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(
        sim.state
            .spec_state()
            .stage(&sim.key("1."))
            .unwrap()
            .ticked_by,
        Some(TickedBy::Person)
    );
    sim.replay();
}

#[test]
fn after_a_killed_ralph_and_in_older_journals_edits_are_a_persons() {
    let lost = ProcessEnd::Unsupervised {
        why: "killed".into(),
    };
    for (end, policy) in [
        (ProcessEnd::Interrupted, rules()),
        (
            lost,
            Policy {
                watched: false,
                ..rules()
            },
        ),
    ] {
        let mut sim = ticked_after(end, &policy);
        sim.agent(Act::commits(&[WORK]));
        assert_eq!(sim.run(), StopReason::AllDone);
        assert_eq!(
            sim.state
                .spec_state()
                .stage(&sim.key("2."))
                .unwrap()
                .ticked_by,
            Some(TickedBy::Person)
        );
    }
}

#[test]
fn a_persons_edits_between_attempts_are_obeyed() {
    let mut sim = Sim::new("- [ ] 1. a\n- [ ] 2. b\n");
    sim.agent(Act::commits(&[WORK]));
    sim.state.policy.iterations = Some(1);
    sim.run();
    sim.write_box("1.", Mark::OPEN);
    sim.write_box("2.", Mark::DONE);
    sim.start(rules(), &[]);
    sim.agent(Act::commits(&[("src/main/A", "m2")]));
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(sim.orders[1].key.written_id(), "1.");
}

#[test]
fn an_accepted_gate_ticks_the_work_that_its_fail_opened() {
    let mut sim = Sim::new("- [ ] 1. a\n- [ ] 1.PITEST g\n");
    sim.state.policy.iterations = Some(2);
    sim.agent(Act::commits(&[WORK])).gate(fail(&["src/main/A"]));
    sim.run();
    assert_eq!(sim.boxes(), "1._ 1.PITEST_");
    let key = sim.key("1.PITEST");
    let snapshot = sim.snapshot();
    sim.verb(&Event::BoxAccepted {
        key,
        reason: "equivalent".into(),
        snapshot,
    });
    assert_eq!(sim.boxes(), "1.x 1.PITESTx");
    assert_eq!(sim.log.last().unwrap(), "1.PITEST ACCEPTED BY A PERSON");
    let by = sim
        .state
        .spec_state()
        .stage(&sim.key("1."))
        .unwrap()
        .ticked_by;
    assert_eq!(by, Some(TickedBy::Person));
}

#[test]
fn an_accepted_box_clears_a_block_and_a_reopened_one_opens_its_parents() {
    let policy = Policy {
        attempts: 1,
        ..rules()
    };
    let mut sim = Sim::with("- [ ] 1. parent\n  - [ ] 1.1 a\n", policy);
    sim.agent(Act::idle());
    assert!(matches!(sim.run(), StopReason::Blocked { .. }));
    let key = sim.key("1.1.");
    let snapshot = sim.snapshot();
    sim.verb(&Event::BoxAccepted {
        key: key.clone(),
        reason: "by hand".into(),
        snapshot,
    });
    assert_eq!(sim.boxes(), "1.x 1.1.x");
    sim.verb(&Event::BoxReopened {
        key,
        reason: "no".into(),
    });
    assert_eq!(sim.boxes(), "1._ 1.1._");
}

#[test]
fn a_task_whose_children_are_all_optional_is_ticked_by_its_own_attempt_alone() {
    let mut sim = Sim::new("- [ ] 1. work\n  - [ ]* 1.1 more\n- [ ] 1.PITEST g\n");
    let (key, snapshot) = (sim.key("1.1."), sim.snapshot());
    sim.verb(&Event::BoxAccepted {
        key: key.clone(),
        reason: "by hand".into(),
        snapshot,
    });
    assert_eq!(sim.boxes(), "1._ 1.1.x 1.PITEST_", "nobody worked on 1.");
    sim.verb(&Event::BoxReopened {
        key,
        reason: "no".into(),
    });
    sim.start(rules(), &[]);
    sim.agent(Act::commits(&[WORK])).gate(fail(&["src/main/B"]));
    sim.agent(Act::commits(&[("src/main/A", "m2")]))
        .gate(pass());
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(
        sim.boxes(),
        "1.x 1.1._ 1.PITESTx",
        "its gate opens it, not the optional task"
    );
}

#[test]
fn a_snapshot_pins_the_base_once_and_opens_gates_of_other_commits() {
    let mut sim = Sim::new("- [x] 1. a\n- [ ] 1.PITEST g\n");
    let pin = |sim: &mut Sim| {
        let snapshot = sim.snapshot();
        sim.verb(&Event::FamilyPinned {
            family: "1".into(),
            snapshot,
        });
    };
    let ask = |sim: &mut Sim, report| {
        let (key, snapshot) = (sim.key("1.PITEST"), sim.snapshot());
        sim.gate(report);
        sim.verb(&Event::GateRequested {
            key,
            snapshot,
            changes: None,
        });
    };
    pin(&mut sim);
    sim.head = 2;
    pin(&mut sim);
    ask(&mut sim, fail(&["src/main/A"]));
    assert_eq!(sim.boxes(), "1._ 1.PITEST_");
    let base = &sim.gates[0].accumulated;
    assert!(
        base.everything && base.bases["p"].0.ends_with('1'),
        "the first call counts: {base:?}"
    );
    sim.head = 3;
    sim.write_box("1.", Mark::DONE);
    ask(&mut sim, pass());
    assert_eq!(sim.boxes(), "1.x 1.PITESTx");
    pin(&mut sim);
    assert_eq!(sim.boxes(), "1.x 1.PITESTx", "the same commit");
    sim.head = 4;
    pin(&mut sim);
    assert_eq!(sim.boxes(), "1.x 1.PITEST_");
}

#[test]
fn boxes_that_a_check_wrote_are_put_back_before_anything_is_decided() {
    let policy = Policy {
        green: true,
        ..rules()
    };
    let mut sim = Sim::with("- [ ] 1. a\n- [ ] 2. b\n", policy);
    sim.agent(Act::commits(&[WORK]));
    sim.state.policy.iterations = Some(1);
    // Up to the check by hand, which then reports that tasks.md changed under it.
    sim.feed(&Event::Resumed);
    let seen = Event::Surveyed {
        tasks: sim.tasks(),
        snapshot: sim.snapshot(),
        now: 0,
        inputs: None,
        others: None,
        shared_limits: std::collections::BTreeMap::default(),
    };
    sim.feed(&seen);
    sim.feed(&Event::AgentSpawned {
        pid: 1,
        started: 1,
        agent: String::new(),
    });
    sim.head = 2;
    let end = ProcessEnd::Exited { code: 0 };
    sim.feed(&Event::AgentEnded(end.clone().into()));
    let change = crate::machine::facts::FileChange {
        package: "p".into(),
        path: crate::source::RepoPath::from_bytes(b"src/main/A"),
        status: crate::machine::facts::FileStatus::Added,
        kind: crate::source::Kind::Production,
        old: None,
        new: Some(crate::machine::facts::Oid::zero()),
    };
    let observation = crate::machine::facts::Observation {
        after: sim.snapshot(),
        stage: vec![change],
        ..Default::default()
    };
    sim.feed(&Event::Observed {
        observation: Box::new(observation),
        claims: vec![],
        tasks_changed: false,
        validation: None,
    });
    sim.write_box("2.", Mark::DONE);
    let result = CheckResult {
        package: "p".into(),
        end,
        tail: String::new(),
        tests: None,
        beside: Vec::new(),
    };
    let effects = sim.feed(&Event::Checked {
        check: Check::Green,
        results: vec![result],
        tasks_changed: true,
        trespass: Trespass::default(),
    });
    assert_eq!(effects, [Effect::RestoreTasks { iteration: 1 }]);
    sim.write_box("2.", Mark::OPEN);
    let restored = Event::TasksRestored {
        tasks: sim.tasks(),
        kept: String::new(),
        reworded: None,
    };
    sim.feed(&restored);
    assert_eq!(sim.run(), StopReason::Iterations { count: 1 });
    assert_eq!(sim.boxes(), "1.x 2._");
}

#[test]
fn boxes_that_a_gate_wrote_are_put_back_before_its_verdict_is_applied() {
    let mut sim = Sim::new("- [x] 1. a\n- [ ] 1.PITEST g\n- [ ] 2. b\n");
    sim.state.policy.iterations = Some(1);
    sim.feed(&Event::Resumed);
    let seen = Event::Surveyed {
        tasks: sim.tasks(),
        snapshot: sim.snapshot(),
        now: 0,
        inputs: None,
        others: None,
        shared_limits: std::collections::BTreeMap::default(),
    };
    sim.feed(&seen);
    sim.write_box("2.", Mark::DONE);
    let effects = sim.feed(&Event::GateEnded {
        report: Box::new(pass()),
        heads: sim.snapshot().heads(),
        changes: vec![],
        left: String::new(),
        tasks_changed: true,
        trespass: Trespass::default(),
    });
    let restore = Effect::RestoreTasks { iteration: 1 };
    assert_eq!(effects.last(), Some(&restore));
    sim.write_box("2.", Mark::OPEN);
    let restored = Event::TasksRestored {
        tasks: sim.tasks(),
        kept: String::new(),
        reworded: None,
    };
    sim.feed(&restored);
    assert_eq!(sim.run(), StopReason::Iterations { count: 1 });
    assert_eq!(sim.boxes(), "1.x 1.PITESTx 2._");
}

#[test]
fn a_task_with_optional_children_alone_is_work_of_its_own_and_is_not_ticked_with_them() {
    let mut sim = Sim::new("- [ ] 1. a\n  - [ ]* 1.1 b\n");
    let key = sim.key("1.1.");
    let snapshot = sim.snapshot();
    sim.verb(&Event::BoxAccepted {
        key,
        reason: "by hand".into(),
        snapshot,
    });
    assert_eq!(sim.boxes(), "1._ 1.1.x");
    sim.start(rules(), &[]);
    sim.agent(Act::commits(&[WORK]));
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(sim.boxes(), "1.x 1.1.x");
}

#[test]
fn a_line_that_stops_ends_the_run_until_a_person_accepts_it_and_again_when_it_is_reworded() {
    let text = "- [ ] 1. a\n\n**STOP**: wait for approval\n\n- [ ] 2. b\n- [ ] 3. c\n";
    let mut sim = Sim::new(text);
    sim.agent(Act::commits(&[WORK]))
        .agent(Act::commits(&[("src/main/A", "m2")]));
    let stop = sim.run();
    assert_eq!(
        stop.to_string(),
        "The run waits for a person at tasks.md:3: **STOP**: wait for approval"
    );
    assert!(
        stop.hint().contains("`ralph accept tasks.md:3 --reason …`"),
        "{}",
        stop.hint()
    );
    assert_eq!(sim.notified, ["blocked"]);
    sim.start(rules(), &[]);
    assert_eq!(sim.run(), stop, "no person has answered");
    let (key, snapshot) = (sim.key("tasks.md:3"), sim.snapshot());
    sim.verb(&Event::BoxAccepted {
        key: key.clone(),
        reason: "seen".into(),
        snapshot,
    });
    assert_eq!(
        sim.text,
        text.replace("[ ] 1.", "[x] 1."),
        "it has no mark in the file"
    );
    sim.start(
        Policy {
            iterations: Some(1),
            ..rules()
        },
        &[],
    );
    sim.run();
    assert_eq!(sim.boxes(), "1.x 2.x 3._");
    sim.text = sim
        .text
        .replace("[x] 2.", "[ ] 2.")
        .replace("wait for approval", "wait for approval of b");
    sim.start(rules(), &[]);
    assert_eq!(
        sim.run().to_string(),
        "The run waits for a person at tasks.md:3: **STOP**: wait for approval of b"
    );
    assert_ne!(sim.key("tasks.md:3"), key);
    sim.replay();
}

#[test]
fn a_pause_decides_nothing() {
    let mut sim = Sim::with(
        "- [ ] 1. a\n- [ ] 2. b\n",
        Policy {
            iterations: Some(1),
            ..rules()
        },
    );
    sim.agent(Act::commits(&[WORK]))
        .agent(Act::commits(&[("src/main/A", "m2")]));
    sim.run();
    sim.start(rules(), &[]);
    let before = sim.state.clone();
    for begins in [true, false, true] {
        assert_eq!(sim.feed(&Event::Paused { begins }), []);
        assert_eq!(sim.state, before);
    }
    assert_eq!(sim.run(), StopReason::AllDone);
    sim.replay();
}

#[test]
fn text_that_was_put_back_is_said_in_the_entry() {
    let mut sim = Sim::new("- [ ] 1. a\n- [ ] 2. b\n");
    sim.agent(Act {
        reworded: Some("2."),
        ticks: vec![("2.", Mark::DONE)],
        ..Act::commits(&[WORK])
    });
    sim.agent(Act {
        reworded: Some(""),
        ticks: vec![("1.", Mark::OPEN)],
        ..Act::commits(&[("src/main/A", "m2")])
    });
    assert_eq!(sim.run(), StopReason::AllDone);
    let said = |at: usize| {
        let EntryBody::Text { lines, .. } = &sim.entries[at].body else {
            panic!("{at}")
        };
        lines.join("\n")
    };
    let why = "in tasks.md was changed during the attempt and restored, because ralph cannot tell who changed it.";
    assert!(
        said(0).contains(&format!("Text of 2. {why}")),
        "{}",
        said(0)
    );
    assert!(said(1).contains(&format!("Text {why}")), "{}", said(1));
    sim.replay();
}

#[test]
fn a_task_to_approve_ends_the_run_until_a_person_accepts_it() {
    let mut sim = Sim::new("- [ ] 1. a\n- [ ] 2. APPROVE the schema\n- [ ] 3. b\n");
    sim.agent(Act::commits(&[WORK]))
        .agent(Act::commits(&[WORK]));
    let stop = sim.run();
    assert_eq!(
        stop.to_string(),
        "The run waits for a person at task 2: APPROVE the schema"
    );
    assert!(
        stop.hint().contains("`ralph accept 2 --reason …`"),
        "{}",
        stop.hint()
    );
    assert_eq!(sim.boxes(), "1.x 2._ 3._");
    let (key, snapshot) = (sim.key("2."), sim.snapshot());
    sim.verb(&Event::BoxAccepted {
        key,
        reason: "seen".into(),
        snapshot,
    });
    sim.start(rules(), &[]);
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(sim.boxes(), "1.x 2.x 3.x");
    sim.replay();
}
