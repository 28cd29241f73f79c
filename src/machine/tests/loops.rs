//! Choice, evidence, limits, leftovers, interruptions, the final gate.

use super::sim::*;
use crate::machine::choice::{NextStep, all_done, choose, next};
use crate::machine::event::{Event, Validation};
use crate::machine::facts::{Claim, ProcessEnd};
use crate::machine::policy::{MOST_WAITS, Policy};
use crate::machine::state::{Phase, State};
use crate::machine::stop::StopReason;
use crate::mutation::Verdict;
use crate::task::{Mark, TaskRules};

const STAGED: &str =
    "- [ ] 1.TEST-FIRST t\n- [ ] 1. do\n- [ ] 1.REQ-CHECK r\n- [ ] 1.PITEST g\n- [ ] 1.PRE-CR q\n";
const TEST: (&str, &str) = ("src/test/A", "t1");
const WORK: (&str, &str) = ("src/main/A", "m1");

/// Task file, and what is chosen: the box, `done`, or `stuck`.
const CHOICES: &[(&str, &str)] = &[
    ("- [ ] 1. a\n- [ ] 2. b\n", "1."),
    ("- [x] 1. a\n- [ ] 2. b\n", "2."),
    ("- [x] 1. a\n- [X] 2. b\n", "done"),
    ("- [ ]* 1. a\n- [ ] 2. b\n", "2."),
    ("- [ ]* 1. a\n", "done"),
    ("- [ ] 1.1 a\n- [ ] 1. parent\n", "1.1."),
    ("- [ ] 1. parent\n  - [ ] 1.1 a\n  - [ ] 1.2 b\n", "1.1."),
    ("- [ ] 1. parent\n  - [x] 1.1 a\n  - [ ]* 1.2 b\n", "1."),
    ("- [ ] 1. parent\n  - [-] 1.1 a\n", "stuck"),
    ("- [~] 1. a\n- [ ] 2. b\n", "2."),
    ("- [-] 1. a\n", "stuck"),
    ("- [ ] 1.PITEST g\n- [ ] 1. a\n", "1."),
    ("- [ ] 1.PITEST g\n- [x] 1. a\n", "1.PITEST"),
    ("- [ ] 1. a\n- [ ] 1.TEST-FIRST t\n", "1.TEST-FIRST"),
    (
        "- [x] 1.TEST-FIRST t\n- [x] 1. a\n- [ ] 1.REQ-CHECK r\n- [ ] 1.PITEST g\n",
        "1.REQ-CHECK",
    ),
    ("- [ ] FINAL f\n- [ ] 1. a\n", "1."),
    ("- [ ] FINAL f\n- [x] 1. a\n- [-] 2. b\n", "stuck"),
    ("- [ ] FINAL f\n- [x] 1. a\n- [ ]* 2. b\n", "FINAL"),
    ("- [ ] END.PITEST g\n- [ ] 1. a\n", "1."),
    (
        "- [ ] END.PITEST g\n- [x] 1. a\n- [ ] FINAL f\n",
        "END.PITEST",
    ),
    (
        "# A\n- [ ] G1.PITEST g\n- [x] 1. a\n# B\n- [ ] 2. b\n",
        "G1.PITEST",
    ),
    (
        "# A\n- [ ] G1.PITEST g\n- [ ] 1. a\n# B\n- [ ] 2. b\n",
        "1.",
    ),
    ("- [ ] 29.INTEG i\n", "29.INTEG"),
    ("- [ ] plain words\n- [ ] plain words\n", "task."),
    ("- [ ] 2. parent\n- [ ] 2.PITEST g\n  - [x] 2.1 a\n", "2."),
    ("```\n- [ ] 9. in a fence\n```\n- [ ] 1. a\n", "1."),
    (
        "- [ ] 1.TEST-FIRST t\n- [ ]* 1. a\n- [ ] 1.REQ-CHECK r\n- [ ] 2. b\n",
        "2.",
    ),
    ("- [ ]* 1. a\n- [ ] 1.PITEST g\n- [ ] FINAL f\n", "FINAL"),
    ("- [ ] 1. a\n- [ ]* 1.REQ-CHECK r\n- [ ] 1.PRE-CR q\n", "1."),
    (
        "- [x] 1. a\n- [ ]* 1.REQ-CHECK r\n- [ ] 1.PRE-CR q\n",
        "1.PRE-CR",
    ),
    ("- [ ] 1. a\n  - [ ]* 1.1 b\n  - [ ] 1.1.PITEST g\n", "1."),
    ("- [ ] APPROVE it\n- [ ] 2. b\n", "a person at tasks.md:1"),
    ("- [x] APPROVE it\n- [ ] 2. b\n", "2."),
    ("- [-] 1. APPROVE it\n- [ ] 2. b\n", "a person at 1."),
    ("- [ ]* APPROVE it\n- [ ] 2. b\n", "2."),
    (
        "- [-] 1. a\n\n**STOP**: wait for approval\n\n- [ ] 2. b\n",
        "a person at tasks.md:3",
    ),
    (
        "- [ ] 1. a\n\n**STOP**: wait for approval\n\n- [ ] 2. b\n",
        "1.",
    ),
    (
        "- [ ] 1. a\n\n**STOP**: wait for approval\n\n- [x] 2. b\n- [ ] 3. c\n",
        "1.",
    ),
    (
        "- [x] 1. a\n\n**STOP**: wait for approval\n\n- [x] 2. b\n- [ ] 3. c\n",
        "3.",
    ),
    (
        "- [ ] ~~1. a~~ [removed]\n- [ ] 1.PITEST g\n- [ ] 2. b\n",
        "2.",
    ),
    ("- [ ] ~~1. a~~\n", "done"),
];

/// The same with `--optional`.
const OPTIONAL: &[(&str, &str)] = &[
    ("- [ ]* 1. a\n", "1."),
    ("- [ ]* 1. a\n- [ ] 2. b\n", "1."),
    (
        "- [ ] 1.REQ-CHECK r\n- [ ]* 1. a\n- [ ] 1.TEST-FIRST t\n",
        "1.TEST-FIRST",
    ),
    ("- [ ] 1.REQ-CHECK r\n- [ ]* 1. a\n", "1."),
    ("- [ ]* APPROVE it\n- [ ] 2. b\n", "a person at tasks.md:1"),
    ("- [ ] ~~1. a~~\n- [ ] 2. b\n", "2."),
    (
        "- [x] 1. a\n- [ ]* 1.REQ-CHECK r\n- [ ] 1.PRE-CR q\n",
        "1.REQ-CHECK",
    ),
    (
        "- [x] 1. a\n- [-]* 1.REQ-CHECK r\n- [ ] 1.PRE-CR q\n",
        "1.PRE-CR",
    ),
];

fn state_of(text: &str) -> State {
    let mut state = State::default();
    let rules = TaskRules::default();
    state.take_rows(rules.ordered_boxes(&rules.parse(text), &[]), Vec::new());
    state
}

/// With `--only`: the families, the file, what is taken.
const ONLY: &[(&[&str], &str, &str)] = &[
    (&["2"], "- [ ] 1. a\n- [ ] 2. b\n", "2."),
    (&["2"], "- [ ] 1. a\n- [x] 2. b\n", "the others"),
    (&["2"], "- [x] 1. a\n- [x] 2. b\n", "all"),
    (&["2"], "- [ ]* 1. a\n- [x] 2. b\n", "all"),
    (&["1"], "- [ ] 1. a\n  - [ ] 1.1 b\n- [ ] 2. c\n", "1.1."),
    (
        &["1"],
        "- [ ] 1. a\n  - [x] 1.1 b\n- [ ] 1.PITEST g\n",
        "1.",
    ),
    (&["1.1"], "- [ ] 1. a\n  - [x] 1.1 b\n", "the others"),
    (&["2", "1"], "- [ ] 1. a\n- [ ] 2. b\n", "1."),
    (&["2"], "- [ ] 1. a\n- [-] 2. b\n", "stuck"),
    (&["FINAL"], "- [ ] 1. a\n- [ ] FINAL f\n", "stuck"),
    (
        &["2"],
        "- [x] 1. a\n- [ ] APPROVE it\n- [ ] 2. b\n",
        "a person",
    ),
    (&["1"], "- [ ] 1. a\n- [ ] APPROVE it\n- [ ] 2. b\n", "1."),
    (
        &["1"],
        "- [x] 1. a\n- [ ] APPROVE it\n- [ ] 2. b\n",
        "the others",
    ),
];

#[test]
fn only_what_was_named_is_taken_and_nothing_past_a_persons_stop() {
    for (only, text, expected) in ONLY {
        let state = state_of(text);
        let policy = Policy {
            only: only.iter().map(|&family| family.to_owned()).collect(),
            ..Policy::default()
        };
        let found = match next(state.spec_state(), &policy) {
            NextStep::Take(key) => key.written_id(),
            NextStep::Stuck(_) => "stuck".to_owned(),
            NextStep::Approve(_) => "a person".to_owned(),
            NextStep::AllDone => match all_done(state.spec_state(), &policy) {
                StopReason::AllDone => "all".to_owned(),
                StopReason::OnlyDone { .. } => "the others".to_owned(),
                other => panic!("{other}"),
            },
        };
        assert_eq!(found, *expected, "{only:?} {text}");
    }
}

#[test]
fn the_first_open_required_eligible_box_in_document_order_is_chosen() {
    let all = CHOICES
        .iter()
        .map(|case| (false, case))
        .chain(OPTIONAL.iter().map(|case| (true, case)));
    for (optional, (text, expected)) in all {
        let policy = Policy {
            optional,
            ..Policy::default()
        };
        let chosen = match choose(state_of(text).spec_state(), &policy) {
            NextStep::Take(key) => key.written_id(),
            NextStep::AllDone => "done".to_owned(),
            NextStep::Stuck(reasons) => {
                assert!(
                    reasons.iter().all(|reason| reason.contains("tasks.md:")),
                    "{reasons:?}"
                );
                "stuck".to_owned()
            }
            NextStep::Approve(key) => {
                format!(
                    "a person at {}",
                    state_of(text).spec_state().written_name(&key)
                )
            }
        };
        assert_eq!(chosen, *expected, "{text}");
    }
}

#[test]
fn a_family_goes_through_its_stages_to_the_end() {
    let mut sim = Sim::new(STAGED);
    sim.agent(Act::commits(&[TEST]))
        .agent(Act::commits(&[WORK]))
        .agent(Act::pass());
    sim.gate(verdict(Verdict::Pass, &["src/main/A"]))
        .agent(Act::pass());
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(
        sim.boxes(),
        "1.TEST-FIRSTx 1.x 1.REQ-CHECKx 1.PITESTx 1.PRE-CRx"
    );
    assert_eq!(sim.entries.len(), 5);
    assert_eq!(sim.state.iteration, 5);
    assert_eq!(sim.notified, ["done"]);
}

#[test]
fn a_reviewer_between_work_and_gate_does_not_empty_what_the_gate_judges() {
    let mut sim = Sim::new(STAGED);
    sim.agent(Act::commits(&[TEST]))
        .agent(Act::commits(&[WORK]))
        .agent(Act::pass());
    sim.gate(verdict(Verdict::Pass, &[])).agent(Act::pass());
    sim.run();
    let touched: Vec<String> = sim.gates[0].accumulated.touched["p"]
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(touched, ["src/main/A", "src/test/A"]);
}

#[test]
fn an_agent_that_only_ticks_boxes_is_rejected_until_its_family_is_blocked() {
    let mut sim = Sim::new("- [ ] 1. a\n- [ ] 2. b\n");
    for _ in 0..3 {
        let ticks = vec![("1.", Mark::DONE), ("2.", Mark::DONE)];
        sim.agent(Act {
            ticks,
            ..Act::idle()
        });
    }
    assert!(matches!(sim.run(), StopReason::Blocked { .. }));
    assert_eq!(sim.boxes(), "1._ 2._");
    assert_eq!(sim.orders[2].attempt, 3);
    assert_eq!(sim.orders[1].reasons, ["Nothing was committed."]);
    assert_eq!(sim.notified, ["blocked"]);
}

#[test]
fn a_blocked_family_is_passed_over_when_asked_and_taken_again_after_retry() {
    let policy = Policy {
        attempts: 1,
        go_on_when_blocked: true,
        ..rules()
    };
    let mut sim = Sim::with("- [ ] 1. a\n- [ ] 2. b\n", policy.clone());
    sim.agent(Act::idle()).agent(Act::commits(&[WORK]));
    let StopReason::Blocked { reasons } = sim.run() else {
        panic!()
    };
    assert!(reasons[0].contains("task 1 is blocked"), "{reasons:?}");
    assert_eq!(sim.boxes(), "1._ 2.x");
    sim.start(policy, &["1"]);
    sim.agent(Act::commits(&[("src/main/B", "b")]));
    assert_eq!(sim.run(), StopReason::AllDone);
}

#[test]
fn the_limits_of_iterations_and_of_idleness_stop_the_run() {
    let policy = Policy {
        iterations: Some(1),
        ..rules()
    };
    let mut sim = Sim::with("- [ ] 1. a\n- [ ] 2. b\n", policy);
    sim.agent(Act::commits(&[WORK]));
    assert_eq!(sim.run(), StopReason::Iterations { count: 1 });
    let policy = Policy {
        attempts: 100,
        ..rules()
    };
    let mut sim = Sim::with("- [ ] 1. a\n", policy);
    for _ in 0..6 {
        sim.agent(Act::idle());
    }
    assert_eq!(sim.run(), StopReason::NoProgress { iterations: 6 });
    assert_eq!(sim.entries.len(), 6);
}

#[test]
fn commits_of_a_rejected_attempt_count_for_the_next_one() {
    let mut sim = Sim::new("- [ ] 1. a\n");
    let fails = Act {
        end: Some(ProcessEnd::Exited { code: 1 }),
        ..Act::commits(&[WORK])
    };
    sim.agent(fails).agent(Act::idle());
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(sim.log[1], "1. REJECTED (attempt 1 of 3)");
}

#[test]
fn tests_taken_away_by_a_rejected_attempt_are_still_owed_by_the_next() {
    let mut sim = Sim::new("- [ ] 1. a\n");
    let removes = || Act {
        tests_delta: -2,
        ..Act::commits(&[WORK])
    };
    sim.agent(removes())
        .agent(Act::commits(&[("src/main/B", "b")]));
    sim.agent(Act {
        tests_delta: 2,
        ..Act::commits(&[TEST])
    });
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(
        sim.orders[2].reasons,
        ["There are 2 fewer enabled tests than before the attempt."]
    );
}

#[test]
fn rewritten_history_is_put_back_and_counts_for_nothing() {
    let mut sim = Sim::new("- [ ] 1. a\n");
    sim.agent(Act {
        rewrites: true,
        ..Act::commits(&[WORK])
    })
    .agent(Act::idle())
    .agent(Act::idle());
    assert!(matches!(sim.run(), StopReason::Blocked { .. }));
    assert_eq!(sim.log[1], "put back");
    assert_eq!(sim.head, 1);
    assert!(
        sim.orders[1].reasons[0].contains("History was rewritten in p"),
        "{:?}",
        sim.orders[1].reasons
    );
    assert!(sim.orders[1].changes.is_empty());
}

#[test]
fn a_reviewer_that_changes_files_is_put_back_and_asked_again() {
    let mut sim = Sim::new("- [x] 1. a\n- [ ] 1.REQ-CHECK r\n");
    let meddles = Act {
        claim: Some(Claim::Pass),
        ..Act::commits(&[WORK])
    };
    sim.agent(meddles).agent(Act::pass());
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(
        sim.log[1..3],
        ["put back", "1.REQ-CHECK REJECTED (attempt 1 of 3)"]
    );
}

#[test]
fn a_persons_uncommitted_work_stops_the_run_before_anything_begins() {
    let mut sim = Sim::new("- [ ] 1. a\n");
    sim.dirt.push("notes");
    assert_eq!(
        sim.run(),
        StopReason::Dirty {
            files: vec!["p/notes".into()]
        }
    );
    assert!(sim.orders.is_empty());
}

#[test]
fn leftovers_stay_for_the_same_stage_and_are_named_in_its_prompt() {
    let mut sim = Sim::new("- [ ] 1. a\n");
    sim.agent(Act {
        leaves: vec!["src/main/B"],
        ..Act::commits(&[WORK])
    });
    sim.agent(Act::commits(&[("src/main/B", "b")]));
    sim.state.policy.attempts = 2;
    let stop = sim.run();
    assert_eq!(sim.orders[1].leftovers, ["p/src/main/B"]);
    assert!(sim.orders[1].reasons[0].contains("left uncommitted: p/src/main/B"));
    // The scripted second attempt commits, and the simulated dirt stays: still left, so it is rejected.
    assert!(matches!(stop, StopReason::Blocked { .. }));
}

#[test]
fn leftovers_of_another_stage_are_kept_aside_first() {
    let mut sim = Sim::new("- [ ] 1.TEST-FIRST t\n- [ ] 1. a\n");
    sim.agent(Act {
        leaves: vec!["src/main/B"],
        ..Act::commits(&[TEST])
    })
    .agent(Act::commits(&[WORK]));
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(
        sim.log[1..4],
        ["1.TEST-FIRST ACCEPTED", "keep p", "agent 1."]
    );
    assert!(sim.orders[1].leftovers.is_empty());
}

#[test]
fn ralph_commits_for_an_agent_that_may_not_and_never_for_a_reviewer() {
    let policy = Policy {
        ralph_commits: true,
        ..rules()
    };
    let mut sim = Sim::with("- [ ] 1. do it\n- [ ] 1.REQ-CHECK r\n", policy);
    sim.agent(Act {
        leaves: vec!["src/main/A"],
        ..Act::idle()
    });
    sim.agent(Act {
        leaves: vec!["src/main/A"],
        ..Act::pass()
    })
    .agent(Act::pass());
    assert_eq!(sim.run(), StopReason::AllDone);
    let commits: Vec<&String> = sim
        .log
        .iter()
        .filter(|line| line.starts_with("commit"))
        .collect();
    assert_eq!(commits, ["commit `1. do it`"]);
}

#[test]
fn an_interrupted_attempt_is_closed_once_and_not_counted() {
    let mut sim = Sim::new("- [ ] 1. a\n");
    let mut effects = sim.feed(&Event::Resumed);
    let seen = Event::Surveyed {
        tasks: sim.tasks(),
        snapshot: sim.snapshot(),
        now: 0,
        inputs: None,
        others: None,
        shared_limits: std::collections::BTreeMap::default(),
    };
    effects.extend(sim.feed(&seen));
    assert!(matches!(sim.state.phase, Phase::Attempting { .. }));
    sim.start(rules(), &[]);
    sim.agent(Act::commits(&[WORK]));
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(sim.log, ["1. INTERRUPTED", "agent 1.", "1. ACCEPTED"]);
    assert_eq!(sim.orders[0].attempt, 1);
    assert_eq!(sim.orders[0].iteration, 2);
}

#[test]
fn a_gate_cut_short_by_ralphs_end_runs_again_in_a_new_iteration() {
    let mut sim = Sim::new("- [ ] 1. a\n- [ ] 1.PITEST g\n");
    sim.agent(Act::commits(&[WORK]));
    sim.gate(verdict(Verdict::Pass, &[]));
    sim.feed(&Event::Resumed);
    sim.run();
    // The same journal, cut off while the gate ran.
    let mut cut = Sim::new("- [x] 1. a\n- [ ] 1.PITEST g\n");
    cut.feed(&Event::Resumed);
    let seen = Event::Surveyed {
        tasks: cut.tasks(),
        snapshot: cut.snapshot(),
        now: 0,
        inputs: None,
        others: None,
        shared_limits: std::collections::BTreeMap::default(),
    };
    cut.feed(&seen);
    assert!(matches!(cut.state.phase, Phase::Judging { .. }));
    cut.start(rules(), &[]);
    cut.gate(verdict(Verdict::Pass, &[]));
    assert_eq!(cut.run(), StopReason::AllDone);
    assert_eq!(cut.log, ["1.PITEST INTERRUPTED", "gate 1.PITEST"]);
    assert_eq!(
        cut.entries
            .iter()
            .map(|entry| entry.iteration)
            .collect::<Vec<_>>(),
        [1, 2]
    );
}

#[test]
fn a_signal_stops_the_run_between_iterations() {
    let mut sim = Sim::new("- [ ] 1. a\n- [ ] 2. b\n");
    sim.request_stop(15);
    assert_eq!(sim.run(), StopReason::Interrupted { signal: 15 });
    assert!(sim.orders.is_empty());
}

#[test]
fn a_usage_limit_waits_for_its_reset_or_longer_and_longer_and_is_no_attempt() {
    let mut sim = Sim::new("- [ ] 1. a\n");
    let limited = |reset| Act {
        end: Some(ProcessEnd::Limited {
            why: "usage".into(),
            reset,
        }),
        ..Act::idle()
    };
    for reset in [Some(42), None, None, None, None] {
        sim.agent(limited(reset));
    }
    sim.agent(Act::commits(&[WORK]));
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(sim.waits, [42, 300, 1800, 7200, 7200]);
    assert!(sim.orders.iter().all(|order| order.attempt == 1));
    assert_eq!(
        sim.notified,
        [
            "waiting", "waiting", "waiting", "waiting", "waiting", "done"
        ]
    );
}

#[test]
fn an_agent_that_prints_limits_for_ever_ends_the_run() {
    let limited = Act {
        end: Some(ProcessEnd::Limited {
            why: "usage".into(),
            reset: Some(1),
        }),
        ..Act::idle()
    };
    let mut sim = Sim::new("- [ ] 1. a\n");
    for _ in 0..MOST_WAITS {
        sim.agent(limited.clone());
    }
    sim.agent(Act::commits(&[]));
    for _ in 0..=MOST_WAITS {
        sim.agent(limited.clone());
    }
    let StopReason::NotSetUp { why, hint } = sim.run() else {
        panic!("{:#?}", sim.log)
    };
    assert_eq!(
        why,
        "The agent reached a usage limit: usage That is 25 times in a row."
    );
    assert!(hint.ends_with("`ralph run` continues"), "{hint}");
    assert_eq!(
        sim.waits.len(),
        48,
        "an attempt in between counts from nothing"
    );
    sim.replay();
}

#[test]
fn an_outage_waits_longer_and_longer_and_is_no_attempt() {
    let mut sim = Sim::new("- [ ] 1. a\n");
    for _ in 0..5 {
        sim.agent(ended(ProcessEnd::Outage {
            why: "fetch failed".into(),
        }));
    }
    sim.agent(Act::commits(&[WORK]));
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(sim.waits, [60, 300, 1800, 7200, 7200]);
    assert!(sim.orders.iter().all(|order| order.attempt == 1));
}

#[test]
fn what_was_committed_before_an_outage_is_evidence_for_the_next_attempt() {
    let mut sim = Sim::new("- [ ] 1. a\n");
    let outage = ProcessEnd::Outage {
        why: "fetch failed".into(),
    };
    sim.agent(Act {
        end: Some(outage),
        ..Act::commits(&[WORK])
    })
    .agent(Act::idle());
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(
        sim.orders
            .iter()
            .map(|order| order.attempt)
            .collect::<Vec<_>>(),
        [1, 1]
    );
    sim.replay();
}

#[test]
fn what_only_a_person_can_set_up_is_tried_once_more_and_stops_the_run() {
    let end = || {
        ended(ProcessEnd::NotSetUp {
            why: "Not logged in".into(),
            hint: "log in".into(),
        })
    };
    let mut sim = Sim::new("- [ ] 1. a\n");
    sim.agent(end())
        .agent(Act::idle())
        .agent(end())
        .agent(end());
    let stop = sim.run();
    assert_eq!(stop.hint(), "log in");
    assert_eq!(
        stop.to_string(),
        "The agent cannot work as it is set up: Not logged in"
    );
    assert!(sim.waits.is_empty());
    let attempts: Vec<u32> = sim.orders.iter().map(|order| order.attempt).collect();
    assert_eq!(
        attempts,
        [1, 1, 2, 2],
        "not counted, and only two in a row stop"
    );
}

#[test]
fn what_a_policy_refuses_is_a_counted_attempt() {
    let mut sim = Sim::new("- [ ] 1. a\n");
    for _ in 0..3 {
        sim.agent(ended(ProcessEnd::Refused {
            why: "Usage Policy".into(),
        }));
    }
    let StopReason::Blocked { reasons } = sim.run() else {
        panic!()
    };
    assert!(
        reasons[0].contains("The agent was refused by its provider's policy: Usage Policy"),
        "{reasons:?}"
    );
}

#[test]
fn the_last_words_of_a_rejected_attempt_reach_the_next_prompt_and_the_person() {
    let mut sim = Sim::new("- [ ] 1. a\n");
    let says = |words: &str| Act {
        last_words: words.to_owned(),
        ..Act::idle()
    };
    sim.agent(says("All done."))
        .agent(says("Tabs or spaces?"))
        .agent(says(""));
    let StopReason::Blocked { .. } = sim.run() else {
        panic!()
    };
    assert_eq!(
        sim.orders[1].reasons[1],
        "Its last words: \"All done.\" (.ralph/state/iter-1/)."
    );
    let asked = "The agent asked: \"Tabs or spaces?\" It gets no answer while ralph runs (.ralph/state/iter-2/).";
    assert_eq!(sim.orders[2].reasons[1], asked);
    let mut sim = Sim::with(
        "- [ ] 1. a\n",
        Policy {
            attempts: 1,
            ..rules()
        },
    );
    sim.agent(says("Tabs or spaces?"));
    let StopReason::Blocked { reasons } = sim.run() else {
        panic!()
    };
    assert!(
        reasons[0].contains("The agent asked: \"Tabs or spaces?\""),
        "{reasons:?}"
    );
    // No message is repeated.
    let mut sim = Sim::new("- [ ] 1. a\n");
    let refused = Some(ProcessEnd::Refused {
        why: "against the Usage Policy".into(),
    });
    sim.agent(Act {
        end: refused,
        ..says("the Usage Policy")
    })
    .agent(Act::commits(&[WORK]));
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(
        sim.orders[1].reasons.len(),
        1,
        "{:?}",
        sim.orders[1].reasons
    );
}

fn ended(end: ProcessEnd) -> Act {
    Act {
        end: Some(end),
        ..Act::idle()
    }
}

#[test]
fn a_checkpoint_is_ticked_only_when_green_passes_everywhere() {
    let text = "- [ ] 1. Checkpoint: all tests pass\n";
    let green = Policy {
        green: true,
        ..rules()
    };
    let mut sim = Sim::with(text, green.clone());
    sim.agent(Act::nothing_to_do()).check(true);
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(sim.log[1], "check green in ");
    let mut sim = Sim::with(text, green);
    sim.agent(Act::nothing_to_do()).check(false);
    assert!(matches!(sim.run(), StopReason::Blocked { .. }));
    let mut sim = Sim::new(text);
    sim.agent(Act::nothing_to_do());
    assert!(matches!(sim.run(), StopReason::Blocked { .. }));
    let mut sim = Sim::new("- [ ] 1. Build it\n");
    sim.agent(Act::nothing_to_do());
    assert!(matches!(sim.run(), StopReason::Blocked { .. }));
    assert_eq!(sim.boxes(), "1._");
}

#[test]
fn an_agent_that_says_blocked_hands_its_task_to_a_person() {
    let blocked = || {
        Act::says(Claim::Blocked {
            why: "R2 and R3\ncontradict each other".into(),
        })
    };
    let mut sim = Sim::new("- [ ] 1. a\n- [ ] 1.REQ-CHECK r\n- [ ] 2. b\n");
    sim.agent(Act {
        commits: vec![WORK],
        ..blocked()
    });
    let StopReason::Blocked { reasons } = sim.run() else {
        panic!()
    };
    let why = "the agent says: R2 and R3 contradict each other";
    assert_eq!(reasons, [format!("tasks.md:1: task 1 is blocked: {why}")]);
    assert_eq!(
        sim.boxes(),
        "1._ 1.REQ-CHECK_ 2._",
        "what it committed ticks nothing"
    );
    let next = Policy {
        go_on_when_blocked: true,
        ..rules()
    };
    let mut sim = Sim::with("- [ ] 1. a\n- [ ] 1.REQ-CHECK r\n- [ ] 2. b\n", next);
    sim.agent(Act::commits(&[WORK]))
        .agent(blocked())
        .agent(Act::commits(&[("src/main/B", "b")]));
    assert!(matches!(sim.run(), StopReason::Blocked { .. }));
    assert_eq!(sim.boxes(), "1.x 1.REQ-CHECK_ 2.x");
    assert_eq!(sim.notified, ["blocked", "blocked"]);
}

#[test]
fn a_stage_without_words_is_asked_for_with_those_of_its_task() {
    let mut sim =
        Sim::new("- [ ] 1.TEST-FIRST\n- [ ] 1. Count the words\n- [ ] 1.REQ-CHECK Every case?\n");
    sim.agent(Act::commits(&[TEST]))
        .agent(Act::commits(&[WORK]))
        .agent(Act::pass());
    assert_eq!(sim.run(), StopReason::AllDone);
    let texts: Vec<&str> = sim.orders.iter().map(|order| order.text.as_str()).collect();
    assert_eq!(texts, ["Count the words", "Count the words", "Every case?"]);
}

#[test]
fn test_first_may_have_nothing_to_do_when_a_gate_follows_and_the_gate_is_told() {
    let mut sim = Sim::new("- [ ] 1.TEST-FIRST t\n- [ ] 1. a\n- [ ] 1.PITEST g\n");
    sim.agent(Act::nothing_to_do())
        .agent(Act::commits(&[WORK]))
        .gate(verdict(Verdict::Pass, &[]));
    assert_eq!(sim.run(), StopReason::AllDone);
    assert!(sim.gates[0].no_tests_written);
    let mut sim = Sim::new("- [ ] 1.TEST-FIRST t\n- [ ] 1. a\n");
    sim.agent(Act::nothing_to_do());
    assert!(matches!(sim.run(), StopReason::Blocked { .. }));
}

#[test]
fn red_and_green_are_asked_when_configured_and_red_only_before_the_first_implementation() {
    let policy = Policy {
        red: true,
        green: true,
        ..rules()
    };
    let mut sim = Sim::with("- [ ] 1.TEST-FIRST t\n- [ ] 1. a\n", policy);
    sim.agent(Act::commits(&[TEST])).check(true);
    sim.agent(Act::idle()).check(false);
    sim.agent(Act::commits(&[WORK])).check(false);
    sim.agent(Act::idle()).check(true);
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(
        sim.log,
        [
            "agent 1.TEST-FIRST",
            "check red in p",
            "1.TEST-FIRST REJECTED (attempt 1 of 3)",
            "agent 1.TEST-FIRST",
            "check red in p",
            "1.TEST-FIRST ACCEPTED",
            "agent 1.",
            "check green in p",
            "1. REJECTED (attempt 1 of 3)",
            "agent 1.",
            "check green in p",
            "1. ACCEPTED",
        ]
    );
}

#[test]
fn the_final_gate_counts_cells_and_boxes() {
    let report = |fail, unknown| Act {
        report: Some(Validation {
            pass: 3,
            fail,
            unknown,
            gaps: vec!["R2 FAIL".into(); fail as usize],
            ..Validation::default()
        }),
        ..Act::idle()
    };
    let mut sim = Sim::new("- [x] 1. a\n- [ ] FINAL f\n");
    sim.agent(Act::idle()).agent(report(0, 0));
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(sim.log[1], "FINAL REJECTED (attempt 1 of 3)");
    assert_eq!(sim.log[3], "FINAL COMPLETE");
    let mut sim = Sim::new("- [x] 1. a\n- [ ] FINAL f\n");
    sim.agent(report(1, 0));
    assert_eq!(
        sim.run(),
        StopReason::Gaps {
            gaps: vec!["R2 FAIL".into()]
        }
    );
    assert_eq!(sim.boxes(), "1.x FINALx");
    sim.start(rules(), &[]);
    assert!(
        matches!(sim.run(), StopReason::Gaps { .. }),
        "a later run says it again"
    );
    let mut sim = Sim::new("- [x] 1. a\n- [ ] FINAL f\n");
    sim.agent(report(0, 1));
    assert!(matches!(sim.run(), StopReason::Gaps { .. }));
}

#[test]
fn final_goes_on_with_the_loop_when_its_agent_added_open_tasks() {
    let mut sim = Sim::new("- [x] 1. a\n- [ ] FINAL f\n");
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
    sim.feed(&Event::AgentEnded(ProcessEnd::Exited { code: 0 }.into()));
    let observation = crate::machine::facts::Observation {
        after: sim.snapshot(),
        ..Default::default()
    };
    sim.feed(&Event::Observed {
        observation: Box::new(observation),
        claims: vec![],
        tasks_changed: true,
        validation: Some(Validation {
            pass: 1,
            ..Validation::default()
        }),
    });
    sim.text.push_str("- [ ] 2. a gap\n");
    let restored = Event::TasksRestored {
        tasks: sim.tasks(),
        kept: String::new(),
        reworded: None,
    };
    sim.feed(&restored);
    sim.agent(Act::commits(&[WORK]));
    let report = Validation {
        pass: 2,
        ..Validation::default()
    };
    sim.agent(Act {
        report: Some(report),
        ..Act::idle()
    });
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(sim.log[0], "FINAL FINAL WAITS");
}
