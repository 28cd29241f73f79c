//! Agents that replace one that is out of quota.

use super::sim::*;
use crate::machine::event::{Event, QuotaShare};
use crate::machine::facts::ProcessEnd;
use crate::machine::policy::Policy;
use crate::machine::stop::StopReason;
use crate::task::Stage;

const THREE: &str = "- [ ] 1. a\n- [ ] 2. b\n- [ ] 3. c\n";

/// Rules under which these agents do every implementation.
fn agents(names: &[&str]) -> Policy {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Policy {
        agents: [(Stage::Implementation, names)].into(),
        ..rules()
    }
}

fn limited(reset: Option<u64>) -> Act {
    Act {
        end: Some(ProcessEnd::Limited {
            why: "usage".into(),
            reset,
        }),
        ..Act::idle()
    }
}

fn outage() -> Act {
    Act {
        end: Some(ProcessEnd::Outage {
            why: "fetch failed".into(),
        }),
        ..Act::idle()
    }
}

/// An attempt that commits this file.
fn works(file: &'static str) -> Act {
    Act::commits(&[(file, "a")])
}

/// Runs to the end; who made the attempts, and the waits.
fn ran(names: &[&str], acts: Vec<Act>) -> (String, Vec<u64>, Sim) {
    ran_with(agents(names), acts)
}

fn ran_with(policy: Policy, acts: Vec<Act>) -> (String, Vec<u64>, Sim) {
    let mut sim = Sim::with(THREE, policy);
    for act in acts {
        sim.agent(act);
    }
    assert_eq!(sim.run(), StopReason::AllDone);
    sim.replay();
    let who: Vec<&str> = sim
        .orders
        .iter()
        .map(|order| order.agent.as_str())
        .collect();
    (who.join(" "), sim.waits.clone(), sim)
}

#[test]
fn the_first_agent_that_is_not_out_of_quota_makes_the_attempt_and_a_run_waits_for_the_earliest_only()
 {
    let done = || {
        vec![
            works("src/main/A"),
            works("src/main/B"),
            works("src/main/C"),
        ]
    };
    let after = |mut acts: Vec<Act>| {
        acts.extend(done());
        acts
    };
    let late = |acts: Vec<Act>| {
        acts.into_iter()
            .map(|act| Act {
                millis: 100_000,
                ..act
            })
            .collect::<Vec<_>>()
    };
    for (names, acts, who, waits) in [
        (&["a", "b"][..], done(), "a a a", vec![]),
        // Until the reset time the other one, and no wait.
        (
            &["a", "b"],
            after(vec![limited(Some(9000))]),
            "a b b b",
            vec![],
        ),
        // The first one again, once its time has come: an attempt takes 100 seconds.
        (
            &["a", "b"],
            late(after(vec![limited(Some(150))])),
            "a b b a",
            vec![],
        ),
        // Without a time the steps of the ladder: 60 seconds are over after the next attempt.
        (
            &["a", "b"],
            late(after(vec![limited(None)])),
            "a b a a",
            vec![],
        ),
        // An agent that is at its limit again stays out longer, though another one worked meanwhile.
        (
            &["a", "b"],
            late(vec![
                limited(None),
                works("src/main/A"),
                limited(None),
                works("src/main/B"),
                works("src/main/C"),
            ]),
            "a b a b b",
            vec![],
        ),
        // All out: for the earliest, which is not the first one here, and then it is that one's.
        (
            &["a", "b"],
            after(vec![limited(Some(9000)), limited(Some(500))]),
            "a b b b b",
            vec![500],
        ),
        (
            &["a", "b"],
            after(vec![limited(Some(500)), limited(Some(9000))]),
            "a b a a a",
            vec![500],
        ),
        (
            &["a", "b", "c"],
            after(vec![limited(Some(9000)), limited(Some(8000))]),
            "a b c c c",
            vec![],
        ),
        (
            &["a", "b", "c"],
            after(vec![limited(Some(900)), limited(Some(90)), limited(None)]),
            "a b c c c c",
            vec![60],
        ),
        // Alone, it is waited for.
        (
            &["a"],
            after(vec![limited(Some(42)), limited(None)]),
            "a a a a a",
            vec![42, 300],
        ),
        // Most outages are over after a minute; one that is not is another agent's turn, until the first is back.
        (&["a", "b"], after(vec![outage()]), "a a a a", vec![60]),
        (
            &["a", "b"],
            after(vec![outage(), outage()]),
            "a a b b b",
            vec![60],
        ),
        (
            &["a", "b"],
            late(after(vec![outage(), outage()])),
            "a a b b b",
            vec![60],
        ),
        (
            &["a", "b"],
            late(vec![
                limited(Some(90)),
                works("src/main/A"),
                outage(),
                works("src/main/B"),
                works("src/main/C"),
            ]),
            "a b a b b",
            vec![],
        ),
        // No network at all: for the earliest.
        (
            &["a", "b"],
            after(vec![outage(); 4]),
            "a a b a b b b",
            vec![60, 300],
        ),
        (
            &["a"],
            after(vec![outage(), outage()]),
            "a a a a a",
            vec![60, 300],
        ),
    ] {
        let (found, waited, sim) = ran(names, acts);
        assert_eq!((found.as_str(), &waited), (who, &waits), "{:#?}", sim.log);
        assert!(
            sim.orders.iter().all(|order| order.attempt == 1),
            "a limit is no attempt"
        );
        assert_eq!(
            sim.notified
                .iter()
                .filter(|event| **event == "waiting")
                .count(),
            waits.len()
        );
    }
}

#[test]
fn a_box_whose_own_agents_are_all_out_is_waited_for_before_it_begins() {
    let mut policy = agents(&["a", "b"]);
    policy.agents.insert(Stage::ReqCheck, vec!["a".to_owned()]);
    let mut sim = Sim::with("- [ ] 1. a\n- [ ] 1.REQ-CHECK r\n", policy);
    sim.agent(limited(Some(7000)))
        .agent(Act {
            millis: 1_000_000,
            ..works("src/main/A")
        })
        .agent(Act::pass());
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(sim.waits, [6000]);
    assert_eq!(
        sim.orders
            .iter()
            .map(|order| order.agent.as_str())
            .collect::<Vec<_>>(),
        ["a", "b", "a"]
    );
    assert_eq!(sim.entries.len(), 3, "the wait is no iteration");
    sim.replay();
}

#[test]
fn the_entries_say_who_is_out_and_who_stood_in() {
    let acts = vec![
        limited(Some(7200)),
        works("src/main/A"),
        limited(Some(600)),
        works("src/main/B"),
        works("src/main/C"),
    ];
    let (_, _, sim) = ran(&["a", "b"], acts);
    let told: Vec<String> = sim
        .entries
        .iter()
        .map(|entry| format!("{:?}", entry.body))
        .collect();
    assert!(
        told[0].contains("OUT OF QUOTA")
            && told[0].contains("`b` makes the next attempt; `a` is tried again in 2 h.")
    );
    assert!(!told[0].contains("in place of"), "{}", told[0]);
    assert!(
        told[1].contains("ACCEPTED") && told[1].contains("The agent was `b`, in place of `a`."),
        "{}",
        told[1]
    );
    assert!(
        told[2].contains("Every agent of task 2 is out of quota or reach; `b` is back first."),
        "{}",
        told[2]
    );
    assert!(
        told[2].contains("The next attempt begins in 10 min."),
        "{}",
        told[2]
    );
}

#[test]
fn a_new_run_tries_every_agent_anew() {
    let mut sim = Sim::with(
        THREE,
        Policy {
            iterations: Some(2),
            ..agents(&["a", "b"])
        },
    );
    sim.agent(limited(Some(9000)))
        .agent(works("src/main/A"))
        .agent(works("src/main/B"))
        .agent(works("src/main/C"));
    assert_eq!(sim.run(), StopReason::Iterations { count: 2 });
    sim.start(agents(&["a", "b"]), &[]);
    assert_eq!(sim.run(), StopReason::AllDone);
    assert_eq!(
        sim.orders
            .iter()
            .map(|order| order.agent.as_str())
            .collect::<Vec<_>>(),
        ["a", "b", "a", "a"]
    );
    sim.replay();
}

#[test]
fn facts_of_earlier_versions_name_no_agent_and_no_time() {
    let survey = r#"{"kind":"surveyed","tasks":{"skeleton":"s"},"snapshot":[]}"#;
    let spawned = r#"{"kind":"agent-spawned","pid":1,"started":2}"#;
    let old: Event = serde_json::from_str(survey).expect("an older survey");
    assert!(matches!(old, Event::Surveyed { now: 0, .. }));
    let old: Event = serde_json::from_str(spawned).expect("an older start");
    assert_eq!(
        old,
        Event::AgentSpawned {
            pid: 1,
            started: 2,
            agent: String::new()
        }
    );
    assert_eq!(
        serde_json::to_string(&old).expect("JSON"),
        spawned,
        "and none is added to them"
    );
}

/// An attempt that commits this file, and whose CLI reports these shares.
fn reports(file: &'static str, shares: &[(&str, u8, Option<u64>)]) -> Act {
    let share = |(window, percent, reset): &(&str, u8, Option<u64>)| QuotaShare {
        window: (*window).to_owned(),
        percent: *percent,
        reset: *reset,
    };
    Act {
        quota: shares.iter().map(share).collect(),
        ..works(file)
    }
}

/// Runs three tasks that stop at a share of 90%; returns who made the attempts, and the waits.
fn ran_with_quota(names: &[&str], acts: Vec<Act>) -> (String, Vec<u64>, Sim) {
    let policy = Policy {
        quota: Some(90),
        ..agents(names)
    };
    ran_with(policy, acts)
}

#[test]
fn an_agent_that_used_its_share_of_the_quota_rests_until_the_window_ends() {
    let full = |percent, reset| reports("src/main/A", &[("five_hour", percent, reset)]);
    let rest = || vec![works("src/main/B"), works("src/main/C")];
    let after = |act: Act| [vec![act], rest()].concat();
    for (names, acts, who, waits) in [
        (&["a"][..], after(full(89, Some(500))), "a a a", vec![]),
        (&["a"], after(full(90, Some(500))), "a a a", vec![500]),
        (&["a", "b"], after(full(95, Some(500))), "a b b", vec![]),
        // Until the last of the windows that are used up has ended.
        (
            &["a"],
            after(reports(
                "src/main/A",
                &[
                    ("five_hour", 97, Some(500)),
                    ("seven_day", 91, Some(9000)),
                    ("seven_day_opus", 10, Some(90_000)),
                ],
            )),
            "a a a",
            vec![9000],
        ),
        // Without a known end at growing intervals.
        (
            &["a"],
            vec![
                full(95, None),
                reports("src/main/B", &[("five_hour", 95, None)]),
                works("src/main/C"),
            ],
            "a a a",
            vec![60, 300],
        ),
    ] {
        let (found, waited, sim) = ran_with_quota(names, acts);
        assert_eq!((found.as_str(), &waited), (who, &waits), "{:#?}", sim.log);
        assert!(sim.orders.iter().all(|order| order.attempt == 1));
    }
    let (.., sim) = ran_with_quota(&["a"], after(full(93, Some(7200))));
    let entry = format!("{:?}", sim.entries);
    let said = "`a` reported that 93% of its five_hour limit is used (`limits.quota`). Its next attempt begins in 2 h.";
    assert!(entry.contains(said), "{entry}");
    // Without the setting no share matters.
    let (who, waits, _) = ran(&["a"], after(full(100, Some(500))));
    assert_eq!((who.as_str(), waits), ("a a a", vec![]));
}

#[test]
fn a_run_waits_for_the_limit_that_another_run_with_the_login_reached_and_never_for_ever() {
    let noticed = |until: u64, file| Act {
        notices: [("a".to_owned(), until)].into(),
        ..works(file)
    };
    let done = || [works("src/main/B"), works("src/main/C")].into_iter();
    let acts = |first| std::iter::once(first).chain(done()).collect();
    let (who, waits, sim) = ran(&["a"], acts(noticed(700, "src/main/A")));
    assert_eq!((who.as_str(), waits), ("a a a", vec![700]));
    assert_eq!(
        sim.orders.len(),
        3,
        "no attempt was made to find the limit again"
    );
    let (who, waits, _) = ran(&["a", "b"], acts(noticed(700, "src/main/A")));
    assert_eq!((who.as_str(), waits), ("a b b", vec![]));
    // Notices that another program rewrites each time.
    let mut state = sim.state.clone();
    state.run = crate::machine::state::RunCounters::default();
    let mut held = Vec::new();
    for at in 1..10_u64 {
        let until = state.run.now + 1_000 + at;
        crate::machine::waits::learn_limits(&mut state, &[("a".to_owned(), until)].into());
        let out = state.run.out_of_quota.get("a").unwrap().until;
        held.push(out > state.run.now);
        state.run.now += 2_000;
    }
    assert_eq!(held, [[true; 3].as_slice(), &[false; 6]].concat());
}
