//! Replays of simulated runs: each event answers a pending effect, and a changed decision does not.

use super::random::{FILE, act, gate_says};
use super::sim::*;
use crate::machine::asked::Asked;
use crate::machine::event::{Check, Event};
use crate::machine::policy::Policy;
use crate::machine::state::State;
use crate::machine::step;
use crate::machine::stop::StopReason;
use crate::task::{Mark, Stage};
use proptest::prelude::*;

/// Returns the number of the first event that answers no pending effect, from 1.
fn first_difference(facts: &[Event]) -> Option<usize> {
    let (mut state, mut asked) = (State::default(), Asked::default());
    for (at, fact) in facts.iter().enumerate() {
        let answer = asked.answer(&state, fact);
        let Ok((next, effects)) = step(state, fact) else {
            return Some(at + 1);
        };
        if answer.should.is_some() {
            return Some(at + 1);
        }
        state = next;
        asked.ask(effects);
    }
    None
}

/// The fact with another decision in it; `None` if it holds none.
fn decided_otherwise(fact: &Event) -> Option<Event> {
    let mut fact = fact.clone();
    match &mut fact {
        Event::RunStopped { stop } => {
            *stop = if *stop == StopReason::AllDone {
                StopReason::Wall
            } else {
                StopReason::AllDone
            };
        }
        Event::BoxesFlipped { flips } => {
            let (_, mark) = flips.first_mut()?;
            *mark = if mark.is_done() {
                Mark::OPEN
            } else {
                Mark::DONE
            };
        }
        Event::Checked { check, .. } => {
            *check = if *check == Check::Red {
                Check::Green
            } else {
                Check::Red
            }
        }
        Event::GateEnded { heads, .. } => heads.clear(),
        Event::AgentSpawned { agent, .. } => agent.push('x'),
        _ => return None,
    }
    Some(fact)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn every_run_is_what_was_asked_for_and_a_changed_decision_is_not(
        acts in proptest::collection::vec(act(), 0..30),
        verdicts in proptest::collection::vec(gate_says(), 0..20),
        second in proptest::option::of(0u64..4),
        which in any::<prop::sample::Index>(),
    ) {
        let mut policy = rules();
        let agents = vec!["a".to_owned(), "b".to_owned()];
        policy.agents = [(Stage::Implementation, agents.clone()), (Stage::ReqCheck, agents)].into();
        policy.iterations = second.map(|first| first + 3);
        let mut sim = Sim::with(FILE, policy.clone());
        sim.endless = Some(fail(&["src/main/A"]));
        for act in acts {
            sim.agent(act);
        }
        for report in verdicts {
            sim.gate(report);
        }
        sim.run();
        if second.is_some() {
            sim.start(Policy { iterations: None, ..policy }, &[]);
            sim.run();
        }
        let facts = sim.facts.clone();
        prop_assert_eq!(first_difference(&facts), None);

        // A decision that was changed, at its place.
        let decisions: Vec<(usize, Event)> =
            facts.iter().enumerate().filter_map(|(at, fact)| Some((at, decided_otherwise(fact)?))).collect();
        let (at, forged) = decisions[which.index(decisions.len())].clone();
        let mut changed = facts.clone();
        changed[at] = forged;
        prop_assert_eq!(first_difference(&changed), Some(at + 1));

        // A fact that was taken out, or told twice, is missed at the next one; the last one is the anchor's.
        let at = which.index(facts.len() - 1);
        let mut cut = facts.clone();
        cut.remove(at);
        // A run without its end is a run that was killed: the next start reports it.
        if !matches!(facts[at], Event::RunStopped { .. }) {
            let found = first_difference(&cut);
            prop_assert!(found.is_some(), "{:?} can be left out", facts[at].name());
        }
        let mut twice = facts.clone();
        twice.insert(at, facts[at].clone());
        // A process that started and did nothing leaves such a record.
        let may_repeat = matches!(facts[at], Event::RunStarted { .. });
        prop_assert!(may_repeat || first_difference(&twice).is_some(), "{:?} twice", facts[at].name());
    }
}

#[test]
fn what_people_and_signals_say_is_asked_for_by_nobody() {
    let mut sim = Sim::new("- [ ] 1. a\n- [ ] 2. b\n");
    sim.agent(Act::commits(&[("src/main/A", "1")]))
        .agent(Act::commits(&[("src/main/A", "2")]));
    sim.run();
    let key = sim.key("2.");
    let (reason, snapshot) = ("the rounding is wrong".to_owned(), sim.snapshot());
    sim.verb(&Event::BoxReopened {
        key: key.clone(),
        reason: reason.clone(),
    });
    sim.verb(&Event::BoxAccepted {
        key,
        reason,
        snapshot,
    });
    assert_eq!(first_difference(&sim.facts), None);
    // In a run of the loop there is no manual acceptance.
    let accepted = sim
        .facts
        .iter()
        .position(|fact| matches!(fact, Event::BoxAccepted { .. }))
        .unwrap();
    let mut inside = sim.facts.clone();
    let forged = inside.remove(accepted);
    inside.insert(3, forged);
    assert_eq!(first_difference(&inside), Some(4));
}
