//! The ends of a run of PIT: reports, tests that hang or end their JVM, mutants without a verdict.

use super::*;
use std::collections::BTreeSet;

#[test]
fn a_whole_report_passes_and_in_place_pit_gets_only_tests_that_have_a_source() {
    let bed = Bed::new();
    let deleted = "p/target/test-classes/DeletedTest.class";
    fs_err::write(bed.folder.path().join(deleted), "").unwrap();
    let whole = || {
        let statuses = ["KILLED", "KILLED", "KILLED", "TIMED_OUT", "EQUIVALENT"];
        vec![pit(OK, "", Some(&report(&statuses)))]
    };
    let (_, commands) = bed.play(whole());
    let all = "DeletedTest,FooTest,OtherTest";
    assert_eq!(asked(&commands), all, "a clean build has made it");
    let in_place = GateSettings {
        folder: GateFolder::InPlace,
        ..settings()
    };
    let (report, commands) = bed.play_with(&in_place, whole());
    assert_eq!(
        (&report.verdict, report.coverage.to_string().as_str()),
        (&Verdict::Pass, "100% (4/4)")
    );
    assert_eq!(asked(&commands), "FooTest,OtherTest");
    assert_eq!(option(&commands[0], "targetClasses"), Some("Foo,Foo$*"));
    assert_eq!(
        option(&commands[0], "includeLaunchClasspath"),
        Some("false")
    );
    assert_eq!(option(&commands[0], "skipFailingTests"), Some("true"));
}

#[test]
fn no_report_a_cut_one_and_a_bad_exit_are_errors_whatever_pit_prints() {
    let bed = Bed::new();
    let whole = report(&["KILLED"]);
    let play = |end: ProcessEnd, output: &str| pit(end, output, Some(&whole));
    let none = pit(OK, ">> Generated 9 mutations Killed 9 (100%)", None);
    assert!(is_error(
        &bed.verdict(vec![none]),
        "there is no results.json",
        false
    ));
    let spoilt: [Spoil; 4] = [
        |file| file[..file.len() - 1].to_owned(),
        |_| String::new(),
        |file| file.replace("SURVIVED", "KILLED"),
        |file| file + "M",
    ];
    let why = "results.json is not whole, or PIT's own process did not write it";
    for spoil in spoilt {
        let run = Pit {
            spoil,
            ..pit(OK, "", Some(&report(&["SURVIVED"])))
        };
        let verdict = bed.verdict(vec![run]);
        assert!(is_error(&verdict, why, false), "{why}: {verdict:?}");
    }
    let half = Pit {
        stage: "mutants",
        ..play(OK, "")
    };
    assert!(is_error(
        &bed.verdict(vec![half]),
        "it did not finish",
        false
    ));
    let thrown = Pit {
        failure: "x.Y: boom",
        ..play(BAD, "Exception in thread \"main\" x.Z: printed by a test")
    };
    assert!(is_error(&bed.verdict(vec![thrown]), ": x.Y: boom.", false));
    let full = Pit {
        failure: "java.io.IOException: No space left on device",
        ..play(BAD, "")
    };
    assert!(is_error(
        &bed.verdict(vec![full]),
        "No space left on device",
        true
    ));
    let early = pit(BAD, ">>>> zzz is not a recognized option", None);
    assert!(is_error(
        &bed.verdict(vec![early]),
        "zzz is not a recognized option.",
        false
    ));
    let killed = play(ProcessEnd::Signalled { signal: 9 }, "");
    assert!(is_error(&bed.verdict(vec![killed]), "signal 9", false));
    let interrupted = play(ProcessEnd::Interrupted, "");
    assert!(is_error(
        &bed.verdict(vec![interrupted]),
        "interrupted",
        true
    ));
}

/// A run that ended among the tests, while PIT's log names `class` as the last.
fn among_tests(end: ProcessEnd, class: &str) -> Pit {
    let log = format!(
        "PIT >> INFO : MINION : Gathering coverage for test Description [testClass={class}, name=x]\n"
    );
    Pit {
        stage: "tests",
        ..pit(end, &log, Some(""))
    }
}

/// The JVM of the tests died.
fn dead(class: &str) -> Pit {
    Pit {
        failure: "x: Coverage generation minion exited abnormally! (X)",
        ..among_tests(BAD, class)
    }
}

#[test]
fn a_hanging_or_deadly_test_fails_the_gate_when_it_is_the_targets_own() {
    let bed = Bed::new();
    let timeout = || ProcessEnd::TimedOut { seconds: 600 };
    let hung = |class| bed.verdict(vec![among_tests(timeout(), class)]);
    assert!(is_fail(&hung("FooTest"), "FooTest does not end"));
    assert!(is_error(
        &hung("OtherTest"),
        "still running without any mutation in OtherTest",
        true
    ));
    let later = Pit {
        stage: "mutants",
        ..among_tests(timeout(), "FooTest")
    };
    assert!(is_error(
        &bed.verdict(vec![later]),
        "over its limit of",
        true
    ));
    let lost = Pit {
        mutants: None,
        ..among_tests(timeout(), "FooTest")
    };
    assert!(is_error(
        &bed.verdict(vec![lost]),
        "over its limit of",
        true
    ));
    let silent = among_tests(ProcessEnd::Idle { seconds: 60 }, "FooTest");
    assert!(is_fail(&bed.verdict(vec![silent]), "FooTest does not end"));
    assert!(is_fail(
        &bed.verdict(vec![dead("FooTest")]),
        "FooTest kills its JVM"
    ));

    assert!(is_error(
        &bed.verdict(vec![dead("OtherTest")]),
        "the JVM of the tests died without any mutation in OtherTest",
        false
    ));
}

#[test]
fn tests_and_mutants_without_memory_are_told_where_more_can_be_asked_for() {
    let bed = Bed::new();
    let Verdict::Error {
        why,
        hint,
        transient,
    } = bed.verdict(vec![dead("OtherTest")])
    else {
        panic!()
    };
    assert!(
        why.contains("died without any mutation") && hint.contains("jvm_args") && !transient,
        "{why} {hint}"
    );
    let starved = || pit(OK, "", Some(&report(&["MEMORY_ERROR"])));
    let (none, commands) = bed.play(vec![starved(), starved()]);
    let Verdict::Error { hint, .. } = &none.verdict else {
        panic!("{none:?}")
    };
    assert!(
        hint.contains("jvm_args") && !hint.contains("System.exit"),
        "{hint}"
    );
    assert_eq!(told_jvms(&commands), ["quick 2", "quick 1"]);
}

#[test]
fn tests_that_take_longer_than_a_minute_get_a_jvm_without_options_of_ralphs_from_then_on() {
    let bed = Bed::new();
    let took = |seconds: u64| {
        let (_, commands) = bed.play(vec![Pit {
            tests: format!(r#"["FooTest","a()",true,{seconds}000,[]]"#),
            ..pit(OK, "", Some(&report(&["KILLED"])))
        }]);
        told_jvms(&commands)
    };
    assert_eq!(
        [took(60), took(61), took(30), took(30)].concat(),
        ["quick 2", "quick 2", "plain 2", "plain 2"]
    );
}

#[test]
fn a_gate_that_failed_does_not_end_without_anything_to_judge() {
    let bed = Bed::new();
    let mut request = bed.request();
    request.packages.clear();
    let verdict = |request: &GateRequest| {
        let (report, _) = bed.play_request(request, &settings(), Vec::new());
        report.verdict
    };
    let why = "No production code that this gate judges was changed.";
    assert_eq!(
        verdict(&request),
        Verdict::Skip {
            why: why.to_owned()
        }
    );
    request.changed_since_fail = Some(BTreeSet::new());
    let told = format!("This gate failed, and now it has nothing to judge: {why}");
    assert!(is_fail(&verdict(&request), &told));
}

#[test]
fn red_tests_elsewhere_are_left_out_and_told_and_own_ones_fail() {
    let bed = Bed::new();
    let own = vec![red(&["FooTest"])];
    assert!(is_fail(
        &bed.verdict(own),
        "The test FooTest.red fails without any mutation."
    ));
    let both = bed.verdict(vec![without(&["FooTest", "OtherTest"], &["KILLED"])]);
    assert!(is_fail(&both, "The test FooTest.red fails") && !is_fail(&both, "OtherTest"));
    let printed = "1:00:00 AM PIT >> SEVERE : Tests failing without mutation: \n\
        Description [testClass=FooTest, name=red(FooTest)]\n";
    let run = pit(OK, printed, Some(&report(&["KILLED"])));
    assert_eq!(
        bed.verdict(vec![run]),
        Verdict::Pass,
        "text of a test is no failure"
    );
}

#[test]
fn mutants_without_a_verdict_get_one_run_alone_and_then_stay_outside_the_score() {
    let bed = Bed::new();
    let first = report(&["KILLED", "RUN_ERROR", "MEMORY_ERROR"]);
    let (better, commands) = bed.play(vec![
        pit(OK, "", Some(&first)),
        pit(
            OK,
            "",
            Some(&report(&["KILLED", "SURVIVED", "MEMORY_ERROR"])),
        ),
    ]);
    assert!(is_fail(&better.verdict, "is 50% (1/2)"), "{better:?}");
    assert!(
        better
            .remarks
            .iter()
            .any(|remark| remark
                .ends_with("in an error of the JVM stay outside the score: Foo.java:2.")),
        "{:?}",
        better.remarks
    );
    assert_eq!(
        (
            option(&commands[0], "mutationUnitSize"),
            option(&commands[1], "mutationUnitSize")
        ),
        (Some("0"), Some("1"))
    );
    let [killed, error] = ["KILLED", "RUN_ERROR"];
    let most = || {
        pit(
            OK,
            "",
            Some(&report(&[killed, killed, error, error, error, error])),
        )
    };
    let why = "Most mutants of class Foo of package p have no verdict: 4 mutants ended in an error of the process that ran \
        the tests, and 2 did not.";
    assert!(is_error(&bed.verdict(vec![most(), most()]), why, false));
    let only_errors = || pit(OK, "", Some(&report(&["RUN_ERROR"])));
    assert!(is_error(
        &bed.verdict(vec![only_errors(), only_errors()]),
        " have no verdict: ",
        false
    ));
}

#[test]
fn a_target_without_mutants_is_no_target_since_no_filter_hides_what_is_written() {
    let bed = Bed::new();
    let empty = || pit(OK, "", Some(&report(&[])));
    let (skip, commands) = bed.play(vec![empty()]);
    assert!(matches!(skip.verdict, Verdict::Skip { .. }), "{skip:?}");
    let off = option(&commands[0], "features").unwrap_or_default();
    assert!(
        ["-FANN", "-FRECORD", "-FLOGCALL", "-FSTATI"]
            .iter()
            .all(|filter| off.contains(filter)),
        "{off}"
    );
}
