//! Reworks that kill no listed survivor.

use super::sim::*;
use crate::machine::policy::Policy;
use crate::machine::stop::StopReason;
use crate::mutation::{GateReport, Mutant, Survivor};
use crate::turn::Usage;

const GATED: &str = "- [ ] 1. do\n- [ ] 1.PITEST g\n";

/// A FAIL with these survivors: line, and source.
fn fails(survivors: &[(u32, &str)]) -> GateReport {
    let survivor = |(line, source): &(u32, &str)| Survivor {
        source: (*source).to_owned(),
        package: "p".to_owned(),
        ..Survivor::from(Mutant {
            class: "A".into(),
            file: "A.java".into(),
            line: *line,
            mutator: "Math".into(),
            ..Mutant::default()
        })
    };
    GateReport {
        survivors: survivors.iter().map(survivor).collect(),
        survivors_total: survivors.len() as u64,
        ..fail(&["src/main/A"])
    }
}

fn work(file: &'static str, micros: u64) -> Act {
    let used = Usage {
        micros: Some(micros),
        ..Usage::default()
    };
    Act {
        used: Some(used),
        ..Act::commits(&[(file, "m")])
    }
}

fn ran(reports: Vec<GateReport>, policy: Policy) -> (StopReason, Sim) {
    let mut sim = Sim::with(GATED, policy);
    for (number, report) in reports.into_iter().enumerate() {
        let file = [
            "src/main/A",
            "src/main/B",
            "src/main/C",
            "src/main/D",
            "src/main/E",
        ];
        sim.agent(work(file[number], 250_000 * (number as u64 + 1)));
        sim.gate(report);
    }
    let stop = sim.run();
    sim.replay();
    (stop, sim)
}

#[test]
fn two_reworks_that_kill_no_listed_survivor_block_the_task() {
    let (stop, sim) = ran(
        vec![
            fails(&[(4, "a + b"), (9, "c")]),
            fails(&[(5, "a + b"), (10, "c")]),
            fails(&[(6, "a + b"), (11, "c"), (12, "new")]),
        ],
        rules(),
    );
    let StopReason::Blocked { reasons } = stop else {
        panic!("{stop:?} {:#?}", sim.log)
    };
    let why = "2 reworks in a row killed no survivor that 1.PITEST lists ($0.50 and $0.75). Still alive: A.java:6 Math, A.java:11 Math, A.java:12 Math.";
    assert!(reasons.concat().contains(why), "{reasons:?}");
    let family = sim.state.spec_state().family("1").unwrap();
    assert_eq!(family.blocked.as_deref(), Some(why));
}

#[test]
fn a_killed_survivor_and_removed_code_are_progress() {
    let (two, one, other) = ([(4, "a + b"), (9, "c")], [(9, "c")], [(9, "c"), (20, "d")]);
    let pass = verdict(crate::mutation::Verdict::Pass, &["src/main/A"]);
    let (stop, _) = ran(
        vec![
            fails(&two),
            fails(&two),
            fails(&one),
            fails(&other),
            pass.clone(),
        ],
        rules(),
    );
    assert_eq!(stop, StopReason::AllDone);
    // A FAIL without survivors tells nothing of them, and an older journal has no such rule.
    let (stop, _) = ran(
        vec![fails(&two), fails(&[]), fails(&two), pass.clone()],
        rules(),
    );
    assert_eq!(stop, StopReason::AllDone);
    let older = Policy {
        fruitless: None,
        ..rules()
    };
    let (stop, _) = ran(vec![fails(&two), fails(&two), fails(&two), pass], older);
    assert_eq!(stop, StopReason::AllDone);
}
