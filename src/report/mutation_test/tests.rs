use super::*;
use crate::mutation::Mutant;
use proptest::prelude::*;
use serde_json::{Value, json};

fn tally(killed: u64, timed_out: u64, errors: u64, survived: u64) -> Tally {
    Tally {
        killed,
        survived,
        timed_out,
        errors,
        ..Tally::default()
    }
}

fn alive(id: &str, status: MutantStatus) -> Survivor {
    Survivor {
        source: "return a + b".to_owned(),
        ..Survivor::from(Mutant {
            class: "src/calc.py".to_owned(),
            file: "calc.py".to_owned(),
            line: 3,
            method: "add".to_owned(),
            mutator: "mutmut".to_owned(),
            description: "replaced `a + b` by `a - b`".to_owned(),
            status,
            id: id.to_owned(),
        })
    }
}

fn measured() -> TargetMeasurement {
    TargetMeasurement {
        target: "src/calc.py".to_owned(),
        engine: "mutmut",
        exit_code: Some(0),
        tally: Tally {
            no_coverage: 1,
            unjudged: 1,
            non_viable: 1,
            equivalent: 1,
            ..tally(2, 1, 1, 2)
        },
        living: vec![
            alive("m1", MutantStatus::Survived),
            alive("m2", MutantStatus::NoCoverage),
            alive("m3", MutantStatus::Survived),
        ],
        ..TargetMeasurement::default()
    }
}

fn json_of(answer: &Result<TargetMeasurement, ToolRefusal>, most: usize) -> Value {
    serde_json::to_value(Envelope::of(answer, most)).unwrap()
}

#[test]
fn a_time_out_is_no_kill_what_never_ran_counts_nowhere_and_what_no_test_reaches_is_apart() {
    let answer = json_of(&Ok(measured()), 20);
    assert_eq!(
        answer["summary"],
        json!({"killed": 2, "timeout": 1, "suspicious": 1, "survived": 2, "skipped": 3})
    );
    assert_eq!(answer["mutation_score_percent"], json!(33.33));
    assert_eq!(answer["no_tests"], json!({"count": 1, "sample": ["m2"]}));
    assert_eq!(answer["survivors_sample"], json!(["m1", "m3"]));
    assert_eq!(answer["survivors_truncated"], json!(false));
    assert_eq!(
        answer["survivors"][0]["change"],
        json!("replaced `a + b` by `a - b`")
    );
    assert_eq!(answer["remarks"], json!([]));
    let few = json_of(&Ok(measured()), 1);
    assert_eq!(
        (&few["survivors_sample"], &few["survivors_truncated"]),
        (&json!(["m1"]), &json!(true))
    );
}

#[test]
fn a_score_has_two_decimals_and_is_100_only_where_nothing_lives() {
    for (counts, score) in [
        ((1, 0, 0, 0), Some(100.0)),
        ((2, 0, 0, 1), Some(66.67)),
        ((1, 0, 0, 2), Some(33.33)),
        ((1, 1, 1, 1), Some(25.0)),
        ((99_999, 0, 0, 1), Some(99.99)),
        ((0, 0, 0, 5), Some(0.0)),
        ((0, 0, 0, 0), None),
        ((u64::MAX, 0, 0, u64::MAX), Some(50.0)),
    ] {
        let summary = MutantSummary::of(&tally(counts.0, counts.1, counts.2, counts.3));
        assert_eq!(summary.mutation_score(), score, "{counts:?}");
    }
}

#[test]
fn where_most_mutants_are_reached_by_no_test_or_there_are_none_a_remark_says_so() {
    let remarks = |tally: Tally| {
        json_of(
            &Ok(TargetMeasurement {
                tally,
                ..measured()
            }),
            20,
        )["remarks"]
            .clone()
    };
    let most = remarks(Tally {
        no_coverage: 3,
        ..tally(2, 0, 0, 1)
    });
    let said = "No test reaches 3 of 6 mutants: the score is that of the smaller part of the code.";
    assert_eq!(most, json!([said]));
    assert_eq!(
        remarks(Tally {
            no_coverage: 2,
            ..tally(2, 0, 0, 1)
        }),
        json!([])
    );
    let none = json_of(
        &Ok(TargetMeasurement {
            tally: Tally::default(),
            living: Vec::new(),
            ..measured()
        }),
        20,
    );
    assert_eq!(none["mutation_score_percent"], Value::Null);
    assert_eq!(
        none["remarks"],
        json!(["There is nothing to mutate, so nothing is known of the tests."])
    );
}

#[test]
fn a_failure_has_three_keys_always_and_tails_where_something_ran() {
    let refusal = ToolRefusal::usage_refusal("No.", "Do.");
    assert_eq!(
        json_of(&Err(refusal.clone()), 1),
        json!({"success": false, "error": "No.", "remediation": "Do."})
    );
    let printed = Some(("out".to_owned(), String::new()));
    let ran = json_of(&Err(ToolRefusal { printed, ..refusal }), 1);
    assert_eq!(
        ran["partial_stdout_tail"],
        json!(format!("{BEGIN}\nout\n{END}"))
    );
    assert_eq!(
        ran["partial_stderr_tail"],
        json!(format!("{BEGIN}\n\n{END}"))
    );
}

#[test]
fn people_read_the_score_the_places_and_what_is_hidden() {
    let Envelope::Success(success) = Envelope::of(&Ok(measured()), 1) else {
        panic!("no success")
    };
    insta::assert_snapshot!(success.answer_lines().join("\n"), @"
    src/calc.py: 33.33 % (mutmut: 2 killed, 2 survived, 1 timed out, 1 suspicious, 3 skipped, 1 reached by no test)
      calc.py:3 replaced `a + b` by `a - b`
      and 1 more; --max-survivors shows more of them
      No test reaches m2.
    ");
}

#[test]
fn arguments_outside_of_their_range_are_refused_and_absent_ones_have_defaults() {
    let read =
        |timeout: Value, survivors: Value| Options::read_options(Some(&timeout), Some(&survivors));
    let defaults = Options {
        timeout: Duration::from_secs(600),
        survivors: 20,
    };
    assert_eq!(Options::read_options(None, None), Ok(defaults));
    assert_eq!(read(Value::Null, Value::Null), Ok(defaults));
    for (timeout, survivors) in [
        (json!(10), json!(1)),
        (json!(14_400), json!(500)),
        (json!(60.0), json!("20")),
    ] {
        assert!(read(timeout, survivors).is_ok());
    }
    for bad in [
        json!(9),
        json!(14_401),
        json!(-600),
        json!(1.5),
        json!("600 s"),
        json!(true),
        json!([]),
        json!({}),
    ] {
        assert_eq!(
            read(bad.clone(), 1.into()).unwrap_err().error,
            "`timeout` must be a whole number from 10 to 14400.",
            "{bad}"
        );
    }
    for bad in [json!(0), json!(501), json!("1.5")] {
        assert!(
            read(600.into(), bad)
                .unwrap_err()
                .error
                .contains("max_survivors_reported")
        );
    }
}

#[test]
fn answers_fit_the_schema_that_callers_are_told() {
    let schema = serde_json::to_value(schemars::schema_for!(Envelope)).unwrap();
    assert_eq!(schema["type"], "object");
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("envelope.json", schema).unwrap();
    let compiled = compiler.compile("envelope.json", &mut schemas).unwrap();
    let refused = Err(ToolRefusal {
        printed: Some(Default::default()),
        ..ToolRefusal::unknown_refusal("a", "b")
    });
    for answer in [
        Ok(measured()),
        Ok(TargetMeasurement {
            tally: Tally::default(),
            ..measured()
        }),
        refused,
    ] {
        schemas.validate(&json_of(&answer, 2), compiled).unwrap();
    }
    assert!(
        schemas
            .validate(&json!({"success": true}), compiled)
            .is_err()
    );
}

proptest! {
    #[test]
    fn nothing_that_is_printed_ends_the_mark_or_is_longer_than_its_bound(
        parts in proptest::collection::vec("<{1,5}|END_UNTRUSTED_ENGINE_OUTPUT>>>|UNTRUSTED_ENGINE_OUTPUT|\\PC{0,40}|[\\x00-\\x1f]{1,3}|é{400}", 0..30),
    ) {
        let printed = parts.concat() + END;
        let tail = untrusted_output(&printed);
        prop_assert_eq!(tail.matches(END).count(), 1);
        prop_assert_eq!(tail.matches(BEGIN).count(), 1);
        prop_assert!(tail.starts_with(BEGIN) && tail.ends_with(END));
        prop_assert!(tail.len() <= TAIL + BEGIN.len() + END.len() + 2);
        let refusal = ToolRefusal { printed: None, ..ToolRefusal::unknown_refusal(printed.clone(), printed) };
        let all = json_of(&Err(refusal), 1).to_string();
        prop_assert!(!all.contains("<<<"));
    }

    #[test]
    fn a_survivor_more_never_raises_a_score_and_a_kill_more_never_lowers_it(
        killed in 0_u64..5_000, survived in 0_u64..5_000, timeout in 0_u64..50,
    ) {
        let score = |killed, survived| MutantSummary::of(&tally(killed, timeout, 0, survived)).mutation_score().unwrap_or(0.0);
        prop_assert!(score(killed, survived + 1) <= score(killed, survived).max(0.0));
        prop_assert!(score(killed + 1, survived) >= score(killed, survived));
        prop_assert!(score(killed, survived + 1) < 100.0);
    }
}

#[test]
fn of_a_line_that_was_drawn_again_only_the_last_frame_is_shown() {
    let frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴"]
        .map(|frame| [frame, " Generating mutants\r"].concat())
        .concat();
    let bar = ["0", "7", "16"]
        .map(|done| ["\r⠴ ", done, "/16  🎉 ", done].concat())
        .concat();
    let stdout = format!("{frames}\n    done in 12ms\r\n{bar}");
    let answer = json_of(
        &Ok(TargetMeasurement {
            stdout,
            ..measured()
        }),
        20,
    );
    let expected =
        format!("{BEGIN}\n⠴ Generating mutants\n    done in 12ms\n⠴ 16/16  🎉 16\n{END}");
    assert_eq!(answer["stdout_tail"], json!(expected));
}
