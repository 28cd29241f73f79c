//! Budgets of money and tokens.

use super::sim::*;
use crate::machine::budget::Allowance;
use crate::machine::policy::{Budget, Policy};
use crate::machine::stop::StopReason;
use crate::turn::Usage;

const TWO: &str = "- [ ] 1. a\n- [ ] 2. b\n";

fn uses(micros: u64, tokens: u64, session: Option<&str>) -> Act {
    let usage = Usage {
        tokens: Some(tokens),
        micros: Some(micros),
        session: session.map(str::to_owned),
        tokens_of_session: session.is_some(),
        micros_of_session: session.is_some(),
    };
    Act {
        used: Some(usage),
        ..Act::commits(&[("src/main/A", "m")])
    }
}

fn with(cost: Budget, tokens: Budget) -> Sim {
    Sim::with(
        TWO,
        Policy {
            cost,
            tokens,
            ..rules()
        },
    )
}

fn stopped(sim: &mut Sim) -> String {
    match sim.run() {
        StopReason::Budget { what } => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_ends_when_its_budget_is_used_up_and_something_is_left_to_do() {
    let cost = Budget {
        run: Some(2_000_000),
        ..Budget::default()
    };
    let mut sim = with(cost, Budget::default());
    sim.agent(uses(2_000_000, 5, None));
    assert_eq!(
        stopped(&mut sim),
        "The run used $2.00 of $2.00 (limits.*.run)."
    );
    assert_eq!(sim.boxes(), "1.x 2._");
    let mut sim = with(cost, Budget::default());
    sim.agent(uses(1_999_999, 5, None))
        .agent(uses(9_000_000, 5, None));
    assert_eq!(sim.run(), StopReason::AllDone, "nothing is left to do");
}

#[test]
fn a_task_and_an_attempt_have_budgets_of_their_own() {
    let mut sim = with(
        Budget::default(),
        Budget {
            task: Some(10),
            ..Budget::default()
        },
    );
    let rejected = |used: Act| Act {
        commits: Vec::new(),
        ..used
    };
    sim.agent(rejected(uses(0, 6, None)))
        .agent(rejected(uses(0, 6, None)));
    assert_eq!(
        stopped(&mut sim),
        "Task 1 used 12 of 10 tokens (limits.*.task)."
    );
    let mut sim = with(
        Budget {
            attempt: Some(1_000_000),
            ..Budget::default()
        },
        Budget::default(),
    );
    sim.agent(uses(1_500_000, 0, None));
    assert_eq!(
        stopped(&mut sim),
        "An attempt of task 1 used $1.50 of $1.00 (limits.*.attempt)."
    );
}

#[test]
fn of_a_session_that_goes_on_only_the_difference_counts() {
    let mut sim = with(Budget::default(), Budget::default());
    sim.agent(uses(100, 10, Some("s")))
        .agent(uses(250, 30, Some("s")));
    assert_eq!(sim.run(), StopReason::AllDone);
    let used = |family: &str| sim.state.spec_state().family(family).unwrap().used;
    assert_eq!((used("1").micros, used("1").tokens), (100, 10));
    assert_eq!(
        (used("2").micros, used("2").tokens, used("2").priced),
        (150, 20, 1)
    );
    let mut sim = with(Budget::default(), Budget::default());
    sim.agent(uses(100, 10, Some("")))
        .agent(uses(250, 30, Some("")));
    assert_eq!(sim.run(), StopReason::AllDone);
    let used = sim.state.spec_state().family("2").unwrap().used;
    assert_eq!(used.micros, 250, "a session without a name does not count");
}

#[test]
fn a_person_may_allow_more_for_the_run_the_task_and_the_attempt() {
    let all = Budget {
        run: Some(1_000_000),
        task: Some(1_000_000),
        attempt: Some(1_000_000),
    };
    let mut sim = Sim::with(
        TWO,
        Policy {
            cost: all,
            budget_asks: true,
            ..rules()
        },
    );
    let rejected = Act {
        commits: Vec::new(),
        ..uses(1_500_000, 0, None)
    };
    sim.agent(rejected).agent(uses(1_000_000, 0, None));
    let dollars = |dollars: u64| Allowance {
        micros: dollars * 1_000_000,
        tokens: 0,
    };
    sim.allows.extend([dollars(1), Allowance::default()]);
    assert_eq!(sim.run(), StopReason::Interrupted { signal: 15 });
    assert_eq!(
        sim.boxes(),
        "1.x 2._",
        "one answer is enough for three budgets"
    );
    assert_eq!(
        sim.notified
            .iter()
            .filter(|event| **event == "waiting")
            .count(),
        3
    );
    assert_eq!(sim.state.run.allowed, dollars(1));
    sim.replay();
}
