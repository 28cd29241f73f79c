use super::*;
use crate::source::RepoPath;
use proptest::prelude::*;

fn tally(killed: u64, survived: u64, no_coverage: u64) -> Tally {
    Tally {
        killed,
        survived,
        no_coverage,
        ..Tally::default()
    }
}

fn score(package: &str, class: &str, tally: Tally) -> ClassScore {
    let path = RepoPath::parse(&format!("src/main/java/{class}.java"));
    ClassScore {
        package: package.to_owned(),
        path,
        class: class.to_owned(),
        tally,
        floor: None,
    }
}

fn rule(threshold: u32, per: Per, no_coverage: NoCoverage) -> Rule {
    Rule {
        threshold,
        per,
        no_coverage,
    }
}

fn mutant(class: &str, line: u32, mutator: &str) -> Mutant {
    Mutant {
        class: class.to_owned(),
        file: "Foo.java".to_owned(),
        line,
        method: "run".to_owned(),
        mutator: mutator.to_owned(),
        description: "negated conditional".to_owned(),
        status: MutantStatus::Survived,
        id: String::new(),
    }
}

#[test]
fn scores_are_compared_as_integers_and_printed_rounded_down() {
    let cases = [
        (7, 10, 70, true, "70% (7/10)"),
        (139, 200, 70, false, "69% (139/200)"),
        (21, 25, 84, true, "84% (21/25)"),
        (21, 25, 85, false, "84% (21/25)"),
        (2, 3, 66, true, "66% (2/3)"),
        (2, 3, 67, false, "66% (2/3)"),
        (0, 0, 0, false, "0% (0/0)"),
        (0, 5, 0, true, "0% (0/5)"),
        (5, 5, 100, true, "100% (5/5)"),
        (
            u64::MAX - 1,
            u64::MAX,
            100,
            false,
            "99% (18446744073709551614/18446744073709551615)",
        ),
    ];
    for (killed, total, threshold, reached, text) in cases {
        let coverage = Coverage { killed, total };
        assert_eq!(
            coverage.reaches(threshold),
            reached,
            "{coverage:?} at {threshold}"
        );
        assert_eq!(coverage.to_string(), text);
    }
}

#[test]
fn each_status_counts_where_the_design_says() {
    let mut all = Tally::default();
    for status in [
        MutantStatus::Killed,
        MutantStatus::Survived,
        MutantStatus::NoCoverage,
        MutantStatus::TimedOut,
        MutantStatus::NonViable,
        MutantStatus::MemoryError,
        MutantStatus::RunError,
        MutantStatus::Equivalent,
    ] {
        all.add(status);
    }
    assert_eq!(
        all.coverage(NoCoverage::Survived),
        Coverage {
            killed: 2,
            total: 4
        }
    );
    assert_eq!(
        all.coverage(NoCoverage::Ignore),
        Coverage {
            killed: 2,
            total: 3
        }
    );
    assert_eq!(all.mutants(), 8);
}

#[test]
fn the_unit_decides_whether_a_strong_class_makes_up_for_a_weak_one() {
    let classes = [
        score("a", "Weak", tally(1, 1, 0)),
        score("a", "Strong", tally(8, 0, 0)),
        score("b", "Poor", tally(1, 3, 0)),
    ];
    let by_class = rule(70, Per::Class, NoCoverage::Survived).judge(&classes);
    assert_eq!(by_class.failing.iter().copied().collect::<Vec<_>>(), [0, 2]);
    assert_eq!(by_class.reached, 1);
    let by_package = rule(70, Per::Package, NoCoverage::Survived).judge(&classes);
    assert_eq!(by_package.failing.iter().copied().collect::<Vec<_>>(), [2]);
    let by_task = rule(70, Per::Task, NoCoverage::Survived).judge(&classes);
    assert_eq!(by_task.below, [] as [String; 0]);
    assert_eq!(
        by_task.coverage,
        Coverage {
            killed: 10,
            total: 14
        }
    );
}

#[test]
fn classes_of_one_name_in_two_places_are_two_units() {
    let mut classes = [
        score("p", "com.acme.App", tally(2, 4, 0)),
        score("p", "com.acme.App", tally(14, 0, 0)),
    ];
    classes[1].path = RepoPath::parse("other/src/main/java/com/acme/App.java");
    let judged = rule(70, Per::Class, NoCoverage::Survived).judge(&classes);
    assert_eq!((judged.below.len(), judged.reached), (1, 1));
    assert_eq!(judged.failing.into_iter().collect::<Vec<_>>(), [0]);
}

#[test]
fn mutants_that_lose_their_verdict_do_not_raise_the_score_that_a_class_must_keep() {
    let mut class = score("p", "Foo", tally(3, 0, 0));
    let base = tally(7, 3, 0).coverage_at_worst(NoCoverage::Survived);
    let whole = |killed, survived, errors| Tally {
        errors,
        ..tally(killed, survived, 0)
    };
    let mut fallen = |whole| {
        class.floor = Some(Floor { whole, base });
        let judged = rule(70, Per::Class, NoCoverage::Survived).judge(std::slice::from_ref(&class));
        judged.below
    };
    let told = "The mutation score of class Foo of package p as a whole is 60% (6/10); it was 70% (7/10) before the task.";
    assert_eq!(fallen(whole(6, 1, 3)), [told]);
    assert_eq!(fallen(whole(7, 1, 2)), [] as [String; 0]);
    let table = Tally {
        unjudged: 3,
        ..tally(7, 3, 0)
    };
    assert_eq!(fallen(table), [] as [String; 0], "a table hides no work");
    class.floor = Some(Floor {
        whole: tally(0, 0, 10),
        base,
    });
    class.tally = Tally::default();
    let judged = rule(70, Per::Class, NoCoverage::Ignore).judge(&[class]);
    let lost = "The mutation score of class Foo of package p as a whole is 0% (0/0); it was 70% (7/10) before the task.";
    assert_eq!((judged.below, judged.reached), (vec![lost.to_owned()], 0));
}

#[test]
fn unreached_mutants_fail_a_class_and_both_figures_are_told() {
    let classes = [score("p", "com.acme.Foo", tally(3, 0, 2))];
    let strict = rule(70, Per::Class, NoCoverage::Survived).judge(&classes);
    assert_eq!(
        strict.below,
        [
            "The mutation score of class com.acme.Foo of package p is 60% (3/5); 100% (3/3) without the 2 mutants that no test reaches, below the threshold of 70%."
        ]
    );
    assert_eq!(
        rule(70, Per::Class, NoCoverage::Ignore)
            .judge(&classes)
            .reached,
        1
    );
    let sole = rule(70, Per::Class, NoCoverage::Survived).judge(&[score(
        ".",
        "com.acme.Foo",
        tally(0, 1, 0),
    )]);
    assert_eq!(
        sole.below,
        ["The mutation score of class com.acme.Foo is 0% (0/1), below the threshold of 70%."]
    );
    let nothing = [score("p", "com.acme.Foo", tally(0, 0, 2))];
    for no_coverage in [NoCoverage::Survived, NoCoverage::Ignore] {
        let judged = rule(0, Per::Class, no_coverage).judge(&nothing);
        assert_eq!(
            judged.reached,
            usize::from(no_coverage == NoCoverage::Survived)
        );
        let unreached = "No test reaches any of the 2 mutants of class com.acme.Foo of package p.";
        let below: &[&str] = if no_coverage == NoCoverage::Survived {
            &[]
        } else {
            &[unreached]
        };
        assert_eq!(
            judged.below, below,
            "0 of 2 reaches a threshold of 0; 0 of 0 reaches none"
        );
    }
}

#[test]
fn only_errors_are_no_verdict_and_no_mutants_are_nothing() {
    let errors = Tally {
        errors: 3,
        ..Tally::default()
    };
    let judged = rule(0, Per::Class, NoCoverage::Survived).judge(&[score("p", "A", errors)]);
    assert_eq!((judged.reached, judged.unknown.len()), (0, 1));
    let nothing = Tally {
        equivalent: 1,
        non_viable: 2,
        ..Tally::default()
    };
    let judged = rule(0, Per::Class, NoCoverage::Survived).judge(&[score("p", "A", nothing)]);
    assert_eq!(judged, RuleOutcome::default());
}

#[test]
fn one_survivor_of_a_line_is_told_and_those_on_changed_lines_come_first() {
    let changed = |mutant| Survivor {
        changed: true,
        ..Survivor::from(mutant)
    };
    let told = rank([
        mutant("A", 9, "Math").into(),
        mutant("A", 3, "Negate").into(),
        mutant("A", 3, "Math").into(),
        changed(mutant("B", 1, "Math")),
    ]);
    let order: Vec<(&str, u32, &str)> = told
        .iter()
        .map(|s| {
            (
                s.mutant.class.as_str(),
                s.mutant.line,
                s.mutant.mutator.as_str(),
            )
        })
        .collect();
    assert_eq!(
        order,
        [("B", 1, "Math"), ("A", 3, "Math"), ("A", 9, "Math")]
    );
    assert_eq!(
        rank((1..100).map(|line| mutant("A", line, "Math").into())).len(),
        SURVIVORS_SHOWN
    );
}

#[test]
fn time_outs_alone_and_too_many_mutants_without_a_verdict_are_no_pass() {
    let judge = |killed, timed_out, survived, errors, unjudged| {
        let tally = Tally {
            killed,
            survived,
            timed_out,
            errors,
            unjudged,
            ..Tally::default()
        };
        let judged = rule(70, Per::Class, NoCoverage::Survived).judge(&[score("p", "A", tally)]);
        (judged.reached, judged.below.join(""))
    };
    assert_eq!(judge(1, 9, 0, 0, 0).0, 1);
    let only = "No test kills a mutant of class A of package p: all 9 kills are time-outs.";
    assert_eq!(judge(0, 9, 0, 0, 0), (0, only.to_owned()));
    assert_eq!(
        judge(7, 0, 0, 2, 4).0,
        1,
        "30% are as many as a pass may leave"
    );
    let (reached, told) = judge(6, 0, 0, 2, 4);
    assert_eq!(reached, 0);
    assert!(
        told.starts_with("6 mutants of class A of package p without a verdict"),
        "{told}"
    );
    assert_eq!(judge(1, 0, 0, 0, 3).0, 1, "the table of an enum");
    assert!(
        judge(0, 0, 0, 0, 4).1.starts_with("4 mutants of class A"),
        "not a skip"
    );
    assert!(judge(1, 0, 9, 9, 0).1.contains("below the threshold"));
    assert_eq!(
        judge(4, 0, 0, 5, 0),
        (0, String::new()),
        "most errors are no verdict on the rest"
    );
    assert!(
        judge(4, 0, 0, 5, 2).1.starts_with("7 mutants of class A"),
        "code that is hidden is the family's"
    );
}

fn any_tally() -> impl Strategy<Value = Tally> {
    (
        0..50u64,
        0..50u64,
        0..50u64,
        0..50u64,
        0..9u64,
        0..9u64,
        0..9u64,
    )
        .prop_map(|(k, s, n, t, v, e, q)| Tally {
            killed: k,
            survived: s,
            no_coverage: n,
            timed_out: t,
            non_viable: v,
            errors: e,
            equivalent: q,
            ..Tally::default()
        })
}

proptest! {
    #[test]
    fn a_survivor_more_never_raises_a_score_and_a_kill_more_never_lowers_it(
        tally in any_tally(), threshold in 0u32..=100
    ) {
        for no_coverage in [NoCoverage::Survived, NoCoverage::Ignore] {
            let before = tally.coverage(no_coverage);
            for worse in [MutantStatus::Survived, MutantStatus::NoCoverage] {
                let mut more = tally;
                more.add(worse);
                let after = more.coverage(no_coverage);
                prop_assert!(after.percent_floor() <= before.percent_floor());
                prop_assert!(before.total == 0 || before.reaches(threshold) || !after.reaches(threshold));
            }
            let mut more = tally;
            more.add(MutantStatus::Killed);
            prop_assert!(more.coverage(no_coverage).percent_floor() >= before.percent_floor());
            prop_assert!(!before.reaches(threshold) || more.coverage(no_coverage).reaches(threshold));
        }
    }

    #[test]
    fn errors_invalid_and_equivalent_mutants_change_no_score(tally in any_tally()) {
        for neutral in [MutantStatus::MemoryError, MutantStatus::RunError, MutantStatus::NonViable, MutantStatus::Equivalent] {
            let mut more = tally;
            more.add(neutral);
            prop_assert_eq!(more.coverage(NoCoverage::Survived), tally.coverage(NoCoverage::Survived));
            prop_assert_eq!(more.mutants(), tally.mutants() + 1);
        }
    }

    #[test]
    fn reaching_agrees_with_the_rule_of_three(killed in 0u64..400, total in 1u64..400, threshold in 0u32..=100) {
        let killed = killed.min(total);
        let coverage = Coverage { killed, total };
        let exact = (total * u64::from(threshold)).div_ceil(100);
        prop_assert_eq!(coverage.reaches(threshold), killed >= exact);
    }

    #[test]
    fn counting_one_by_one_and_joining_agree(left in any_tally(), right in any_tally()) {
        let mut joined = left;
        joined.join(&right);
        prop_assert_eq!(joined.mutants(), left.mutants() + right.mutants());
        prop_assert_eq!(joined.coverage(NoCoverage::Survived).total,
            left.coverage(NoCoverage::Survived).total + right.coverage(NoCoverage::Survived).total);
    }
}
