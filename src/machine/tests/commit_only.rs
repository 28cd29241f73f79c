//! The evidence behind a tick, remembered from the tick to its end.

use super::sim::{Act, Sim, rules};
use crate::machine::commit_only::is_commit_only;
use crate::machine::event::Event;
use crate::machine::policy::Policy;
use crate::task::{Stage, TaskKey};

fn is_commit_only_of(sim: &Sim, family: &str) -> bool {
    is_commit_only(
        sim.state.spec_state(),
        &TaskKey {
            family: family.into(),
            stage: Stage::Implementation,
        },
    )
}

fn work() -> Act {
    Act::commits(&[("src/main/A.java", "a\n")])
}

#[test]
fn a_tick_remembers_whether_green_was_asked() {
    for green in [false, true] {
        let mut sim = Sim::with("- [ ] 1. A\n", Policy { green, ..rules() });
        sim.agent(work()).check(true).run();
        assert_eq!(sim.text, "- [x] 1. A\n");
        assert_eq!(
            is_commit_only_of(&sim, "1"),
            !green,
            "checks.green: {green}"
        );
        sim.replay();
    }
}

#[test]
fn a_tick_after_green_is_forgotten_with_the_box_and_a_persons_tick_has_none() {
    let key = TaskKey {
        family: "1".into(),
        stage: Stage::Implementation,
    };
    let mut sim = Sim::with(
        "- [ ] 1. A\n",
        Policy {
            green: true,
            ..rules()
        },
    );
    sim.agent(work()).check(true).run();
    sim.verb(&Event::BoxReopened {
        key: key.clone(),
        reason: "wrong".into(),
    });
    assert!(
        !sim.state
            .spec_state()
            .stage(&key)
            .is_some_and(|stage| stage.green)
    );
    sim.start(rules(), &[]);
    sim.agent(Act::commits(&[("src/main/A.java", "b\n")])).run();
    assert_eq!(sim.text, "- [x] 1. A\n");
    assert!(is_commit_only_of(&sim, "1"), "this time no check ran");
}
