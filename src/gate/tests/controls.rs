//! Controls that fail or give no verdict.

use super::*;

const OWN_FAILED: &str = r#"["Foo","KILLED",["FooTest","a(FooTest)"]]"#;

const TIMED_OUT: &str = r#"["Foo","TIMED_OUT",["",""]]"#;

const ENDED: &str = r#"["Foo","RUN_ERROR",["",""]]"#;

#[test]
fn a_test_that_fails_in_a_control_is_blamed_or_left_out_where_its_kills_decide() {
    let bed = Bed::new();
    let own = bed.verdict(vec![
        beside(OWN_FAILED, &["KILLED"]),
        beside(OWN_FAILED, &["KILLED"]),
    ]);
    assert!(
        is_fail(
            &own,
            "The test FooTest.a fails in PIT's worker on unmutated code"
        ),
        "{own:?}"
    );

    let first = || beside(PASSED, &["KILLED", "SURVIVED", "SURVIVED"]);
    let rest = |control, statuses: &[&str]| beside(control, &[&["SKIP"], statuses].concat());
    let red = || rest(OTHER_FAILED, &["KILLED", "KILLED"]);
    for file in [
        "src/test/java/LaterTest.java",
        "target/test-classes/LaterTest.class",
    ] {
        fs_err::write(bed.folder.path().join("p").join(file), "").unwrap();
    }
    // The search, its controls, these in one JVM at a time, the search without the one that failed.
    let script = vec![
        first(),
        red(),
        red(),
        red(),
        rest(PASSED, &["KILLED", "SURVIVED"]),
    ];
    let (weak, commands) = bed.play_with(&own_first(), script);
    assert!(is_fail(&weak.verdict, "is 66% (2/3)"), "{weak:?}");
    let all = "FooTest,LaterTest,OtherTest";
    assert_eq!(
        asked(&commands),
        format!("FooTest | {all} | {all} | {all} | FooTest,LaterTest")
    );
    assert_eq!(
        told_jvms(&commands),
        ["quick 2", "quick 2", "quick 2", "quick 1", "quick 2"]
    );
    let kept = "C\tFoo\nM\tFoo\ta\t()V\tx.MathMutator\t1\nM\tFoo\ta\t()V\tx.MathMutator\t2\n";
    assert_eq!(option(&commands[4], "kept"), Some(kept));
    let told = "Unrelated tests of p fail in PIT's worker on unmutated code, \
        so their classes were excluded: OtherTest.a.";
    assert_eq!(weak.remarks, [told]);

    let (stays, _) = bed.play_with(
        &own_first(),
        vec![first(), red(), red(), red(), red(), red(), red()],
    );
    assert!(
        is_error(
            &stays.verdict,
            "OtherTest ran although it was to be left out",
            false
        ),
        "{stays:?}"
    );
}

#[test]
fn what_fails_in_a_control_beside_another_jvm_and_not_alone_is_run_in_one_from_then_on() {
    let bed = Bed::new();
    let first = || beside(OWN_FAILED, &["KILLED", "KILLED", "KILLED"]);
    let script = vec![
        first(),
        beside(PASSED, &["KILLED", "SURVIVED", "SURVIVED"]),
        beside(PASSED, &["SKIP", "KILLED", "SURVIVED"]),
    ];
    let (weak, commands) = bed.play_with(&own_first(), script);
    assert!(is_fail(&weak.verdict, "is 66% (2/3)"), "{weak:?}");
    assert_eq!(told_jvms(&commands), ["quick 2", "quick 1", "quick 1"]);
    let told = "Tests of p fail while another JVM runs and pass alone, so mutants ran in one JVM at a time: FooTest.a. Look for a \
        fixed port, file or database; gates.PITEST.jobs: 1 saves the first run.";
    assert_eq!(weak.remarks, [told]);
    let ended = beside(ENDED, &["KILLED", "RUN_ERROR", "RUN_ERROR"]);
    let (weak, commands) = bed.play(vec![
        ended,
        beside(PASSED, &["KILLED", "SURVIVED", "SURVIVED"]),
    ]);
    assert!(is_fail(&weak.verdict, "is 33% (1/3)"), "{weak:?}");
    assert_eq!(
        (told_jvms(&commands).join(", "), weak.remarks.len()),
        ("quick 2, quick 1".to_owned(), 1)
    );
    // With one job no JVM ran next to it, so the test itself is to blame.
    let alone = GateSettings {
        jobs: 1,
        ..own_first()
    };
    let (blamed, _) = bed.play_with(&alone, vec![first()]);
    assert!(
        is_fail(&blamed.verdict, "The test FooTest.a fails in PIT's worker"),
        "{blamed:?}"
    );
    // A second run that is red clears no test.
    let blamed = bed.verdict(vec![first(), red(&["FooTest"])]);
    assert!(
        is_fail(&blamed, "The test FooTest.a fails in PIT's worker"),
        "{blamed:?}"
    );
}

#[test]
fn a_control_without_a_verdict_is_run_again_with_patience_and_then_forbids_a_pass() {
    let bed = Bed::new();
    let (good, commands) = bed.play(vec![
        beside(TIMED_OUT, &["KILLED"]),
        beside(PASSED, &["KILLED"]),
    ]);
    assert_eq!(
        (&good.verdict, good.remarks.len()),
        (&Verdict::Pass, 0),
        "{good:?}"
    );
    let told = |argv: &[String]| {
        ["timeoutConst", "mutationUnitSize"].map(|name| option(argv, name).unwrap_or("").to_owned())
    };
    assert_eq!(
        (told(&commands[0]), told(&commands[1])),
        (
            ["1000", "0"].map(String::from),
            ["4000", "0"].map(String::from)
        )
    );
    assert_eq!(told_jvms(&commands), ["quick 2", "quick 1"]);
    for control in [TIMED_OUT, ENDED, r#"["Other","SURVIVED",["",""]]"#, ""] {
        let (unclear, _) = bed.play(vec![
            beside(control, &["KILLED"]),
            beside(control, &["KILLED"]),
        ]);
        assert!(
            is_error(&unclear.verdict, "although nothing was mutated", false),
            "{control}: {unclear:?}"
        );
        let weak = || beside(control, &["TIMED_OUT", "SURVIVED"]);
        assert!(
            is_fail(&bed.verdict(vec![weak(), weak()]), "is 50% (1/2)"),
            "{control}"
        );
    }
}
