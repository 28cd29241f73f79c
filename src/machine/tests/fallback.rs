//! Agents that replace one that is out of quota.

use super::sim::*;
use crate::machine::event::Event;
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
    let mut sim = Sim::with(THREE, agents(names));
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
        told[2].contains("Every agent of 2. is out of quota or reach; `b` is back first."),
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
