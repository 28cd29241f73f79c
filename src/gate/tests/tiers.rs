//! The tests that run, tier after tier, and time-outs that decide.

use super::*;

#[test]
fn own_tests_that_suffice_are_the_only_ones_that_run() {
    let bed = Bed::new();
    let script = vec![pit(
        OK,
        "",
        Some(&report(&["KILLED", "KILLED", "KILLED", "NO_COVERAGE"])),
    )];
    let (good, commands) = bed.play_with(&own_first(), script);
    assert_eq!(
        (&good.verdict, good.coverage.to_string().as_str()),
        (&Verdict::Pass, "75% (3/4)")
    );
    assert_eq!(asked(&commands), "FooTest");
    assert_eq!(option(&commands[0], "kept"), Some("C\tFoo\n"));
    assert_eq!(
        (good.trace.tiers.len(), good.trace.tiers[0].name.as_str()),
        (1, "own")
    );
}

#[test]
fn what_own_tests_leave_goes_to_the_others_and_the_counts_add_up() {
    let bed = Bed::new();
    let first = report(&["KILLED", "SURVIVED", "NO_COVERAGE", "EQUIVALENT"]);
    let others = |statuses: &[&str]| {
        let rows: Vec<&str> = ["SKIP"].iter().chain(statuses).copied().collect();
        report(&rows)
    };
    let kept = "C\tFoo\nM\tFoo\ta\t()V\tx.MathMutator\t1\nM\tFoo\ta\t()V\tx.MathMutator\t2\n";
    let script = || {
        vec![
            pit(OK, "", Some(&first)),
            pit(OK, "", Some(&others(&["KILLED", "SURVIVED"]))),
        ]
    };
    let (last, commands) = bed.play_last(&own_first(), script());
    assert!(is_fail(&last.verdict, "is 66% (2/3)"), "{last:?}");
    assert_eq!(
        asked(&commands),
        "FooTest | FooTest,OtherTest",
        "the last word is all tests' in one run"
    );
    let (weak, commands) = bed.play_with(&own_first(), script());
    assert!(is_fail(&weak.verdict, "is 66% (2/3)"), "{weak:?}");
    assert_eq!(asked(&commands), "FooTest | FooTest,OtherTest");
    assert_eq!(option(&commands[1], "kept"), Some(kept));
    assert_eq!(
        (weak.survivors_total, weak.survivors[0].mutant.line),
        (1, 2)
    );
    let both = || pit(OK, "", Some(&others(&["KILLED", "KILLED"])));
    let (good, commands) = bed.play_with(
        &own_first(),
        vec![pit(OK, "", Some(&first)), both(), both()],
    );
    let is_search = |argv: &Vec<String>| option(argv, "options") == Some("O\tsearch\nO\tmutants\n");
    assert_eq!(
        commands.iter().map(is_search).collect::<Vec<_>>(),
        [false, true, false]
    );
    assert_eq!(
        option(&commands[2], "kept"),
        Some(kept),
        "what the search killed meets controls"
    );
    assert_eq!(
        (&good.verdict, good.coverage.to_string().as_str()),
        (&Verdict::Pass, "100% (3/3)")
    );
    let script = vec![
        pit(OK, "", Some(&first)),
        pit(OK, "", Some(&others(&["KILLED"]))),
    ];
    // A mutant that a later run loses stays alive.
    let (lost, _) = bed.play_with(&own_first(), script);
    assert!(is_fail(&lost.verdict, "is 66% (2/3)"), "{lost:?}");
    let own = GateSettings {
        tests: TestTiers::Own,
        ..settings()
    };
    let (own, _) = bed.play_with(&own, vec![pit(OK, "", Some(&first))]);
    assert!(is_fail(&own.verdict, "is 33% (1/3)"), "{own:?}");
}

#[test]
fn red_tests_of_others_are_left_out_of_every_run_and_told_once() {
    let bed = Bed::new();
    let all = || without(&["OtherTest", "NowhereTest"], &["KILLED"]);
    let (good, commands) = bed.play_with(
        &own_first(),
        vec![without(&[], &["SURVIVED"]), all(), all()],
    );
    assert_eq!(
        asked(&commands),
        "FooTest | FooTest,OtherTest | FooTest,OtherTest",
        "a search, and its controls"
    );
    assert_eq!(good.verdict, Verdict::Pass);
    let told = "Unrelated tests of p fail even without mutation and were \
        excluded: NowhereTest.red, OtherTest.red.";
    assert_eq!(good.remarks, [told]);
}

#[test]
fn an_own_test_that_is_red_in_company_alone_fails() {
    let bed = Bed::new();
    let script = vec![without(&[], &["SURVIVED"]), red(&["FooTest", "OtherTest"])];
    let (bad, commands) = bed.play_last(&own_first(), script);
    assert_eq!(asked(&commands), "FooTest | FooTest,OtherTest");
    assert!(
        is_fail(&bad.verdict, "The test FooTest.red fails"),
        "{bad:?}"
    );
}

#[test]
fn time_outs_that_decide_are_run_again_alone_when_nothing_else_runs() {
    let bed = Bed::new();
    let first = || pit(OK, "", Some(&report(&["KILLED", "TIMED_OUT", "TIMED_OUT"])));
    let alone = |statuses: &[&str]| pit(OK, "", Some(&report(&[&["SKIP"], statuses].concat())));
    let (good, commands) = bed.play(vec![first(), alone(&["TIMED_OUT", "KILLED"])]);
    assert_eq!(
        (&good.verdict, good.coverage.to_string().as_str()),
        (&Verdict::Pass, "100% (3/3)")
    );
    let told = |argv: &[String]| {
        ["timeoutConst", "mutationUnitSize", "threads"]
            .map(|name| option(argv, name).unwrap_or("").to_owned())
    };
    assert_eq!(
        (told(&commands[0]), told(&commands[1])),
        (
            ["1000", "0", "2"].map(String::from),
            ["4000", "1", "1"].map(String::from)
        )
    );
    let (weak, _) = bed.play(vec![first(), alone(&["SURVIVED", "TIMED_OUT"])]);
    assert!(is_fail(&weak.verdict, "is 66% (2/3)"), "{weak:?}");
    let sure = vec![pit(
        OK,
        "",
        Some(&report(&["KILLED", "KILLED", "KILLED", "TIMED_OUT"])),
    )];
    assert_eq!(
        bed.verdict(sure),
        Verdict::Pass,
        "a time-out that does not decide is not run again"
    );
}
