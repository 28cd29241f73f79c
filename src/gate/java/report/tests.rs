use super::{Aim, CountedMutant, FailingTest, Owners, PitReport, PitResults, PitStage, SealKey};
use crate::mutation::{Coverage, Mutant, NoCoverage};
use crate::report::standard::ReportedMutant;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Recorded files of each outcome (tests/gate/results.rs), without times and seals.
const JUDGED: &str = include_str!("../../../../tests/fixtures/gate/judged.json");
const RED: &str = include_str!("../../../../tests/fixtures/gate/red.json");
const DIED: &str = include_str!("../../../../tests/fixtures/gate/died.json");
const UNFIT: &str = include_str!("../../../../tests/fixtures/gate/unfit.json");
const NOTHING: &str = include_str!("../../../../tests/fixtures/gate/nothing.json");

fn key() -> SealKey {
    SealKey::for_test("key")
}

fn owners() -> Owners {
    [
        ("com.acme.Foo", "com.acme.Foo"),
        ("com.acme.Extra", "com.acme.Foo"),
        ("com.acme.Bar", "com.acme.Bar"),
    ]
    .into_iter()
    .map(|(class, target)| (class.to_owned(), target.to_owned()))
    .collect()
}

fn parse(text: impl AsRef<[u8]>) -> Result<PitResults, String> {
    PitResults::parse(text.as_ref(), &key())
}

fn count_as(aim: Aim, text: impl AsRef<[u8]>) -> Result<PitReport, String> {
    parse(text)?.count_mutants(&owners(), &|_, _, line| line == 8, aim)
}

fn recorded(text: &str) -> (PitStage, PitReport) {
    let sealed = key().seal_document(text);
    (
        parse(&sealed).unwrap().stage,
        count_as(Aim::Judge, &sealed).unwrap(),
    )
}

/// A file of a run that came to its end, with these rows.
fn done(controls: &[String], mutants: &[String]) -> String {
    let [controls, mutants] = [controls, mutants].map(|rows| rows.join(","));
    key().seal_document(&format!(r#"["done","",[],[{controls}],[{mutants}]]"#))
}

fn search(mutants: &[String]) -> Result<PitReport, String> {
    count_as(Aim::Search, done(&[], mutants))
}

fn judged(controls: &[String], mutants: &[String]) -> PitReport {
    count_as(Aim::Judge, done(controls, mutants)).unwrap()
}

fn mutant(class: &str, status: &str, index: u32) -> String {
    let mutator = "x.returns.PrimitiveReturnsMutator";
    format!(
        r#"[["{class}","<init>","(I)V","{mutator}",[{index},9]],"Foo.java",7,"{status}",["a.FooTest$In","one"],"d",false,0,[]]"#
    )
}

fn control(class: &str, status: &str, test: &str) -> String {
    format!(r#"["{class}","{status}",["{test}","x({test})"]]"#)
}

fn survivor(parsed: &PitReport) -> Mutant {
    let left = parsed.classes["com.acme.Foo"].left().next();
    left.unwrap().1.reported.mutant.clone()
}

#[test]
fn a_judged_run_is_counted_by_class_with_nested_classes_in_their_outer_one() {
    let (stage, report) = recorded(JUDGED);
    assert_eq!(stage, PitStage::Done);
    let foo = &report.classes["com.acme.Foo"];
    let coverage = |killed, total| Coverage { killed, total };
    assert_eq!(foo.tally().coverage(NoCoverage::Survived), coverage(2, 9));
    assert_eq!(foo.tally().coverage(NoCoverage::Ignore), coverage(2, 7));
    assert_eq!(foo.tally().unjudged, 1, "code of the initialiser");
    assert_eq!((foo.left().count(), report.classes.len()), (8, 1));
    let left = || foo.left().map(|(_, counted)| counted);
    let on_line_8 = || left().filter(|counted| counted.reported.mutant.line == 8);
    assert!(on_line_8().all(|counted| counted.is_changed));
    assert_eq!(foo.changed_tally().mutants(), on_line_8().count() as u64);
    let first = &on_line_8().next().unwrap().reported.mutant;
    assert_eq!(
        (
            first.file.as_str(),
            first.mutator.as_str(),
            first.description.as_str()
        ),
        (
            "Foo.java",
            "ConditionalsBoundary",
            "changed conditional boundary"
        )
    );
    let reached = left().filter(|counted| counted.reported.tests_total > 0);
    let told = |counted: &CountedMutant| {
        let ReportedMutant { mutant, tests, .. } = &counted.reported;
        format!("{} {tests:?}", mutant.method)
    };
    let reaching: Vec<String> = reached.map(told).collect();
    let [big, less] = ["big [\"com.acme.FooTest\"]", "less [\"com.acme.FooTest\"]"];
    assert_eq!(reaching, [big, big, big, less, less]);
    let killers = foo
        .mutants
        .values()
        .filter_map(|counted| counted.killer.as_ref());
    let killers: Vec<&String> = killers.collect();
    assert_eq!(killers, ["com.acme.FooTest", "com.acme.FooTest"]);
}

#[test]
fn tests_of_a_run_are_told_apart_by_their_ends() {
    let test = |class: &str, name: &str| FailingTest {
        class: class.to_owned(),
        name: name.to_owned(),
    };
    let (own, other) = (
        test("com.acme.FooTest", "com.acme.FooTest.twice"),
        test("com.acme.OtherTest", "com.acme.OtherTest.red"),
    );
    let (_, judged) = recorded(JUDGED);
    assert_eq!(judged.left_out, BTreeSet::from([other.clone()]));
    let tests = [("com.acme.FooTest", true), ("com.acme.OtherTest", false)];
    let tests = tests.map(|(test, is_green)| (test.to_owned(), is_green));
    assert_eq!(judged.executed.tests, BTreeMap::from(tests));
    let (stage, red) = recorded(RED);
    assert_eq!(red.left_out, BTreeSet::from([own.clone(), other]));
    assert_eq!(stage, PitStage::Mutants);
    let died = parse(key().seal_document(DIED)).unwrap();
    let words = died.failure;
    assert_eq!(died.stage, PitStage::Tests);
    assert!(
        words.contains("Coverage generation minion exited abnormally"),
        "{words}"
    );
    let (_, unfit) = recorded(UNFIT);
    assert_eq!(unfit.failed_control, BTreeSet::from([own]));
    assert_eq!(
        unfit.tally_mutants().killed,
        0,
        "the kills of that class do not count"
    );
    let (stage, nothing) = recorded(NOTHING);
    assert_eq!(stage, PitStage::Done);
    assert!(nothing.classes.is_empty());
}

#[test]
fn a_map_has_the_top_level_classes_that_a_test_class_executed() {
    let tests = r#"["a.FooTest$In","x",true,1,["a.Foo"]],["a.FooTest","y",true,2,["a.Bar"]],["a.BarTest","z",true,0,["a.Bar"]]"#;
    let file = key().seal_document(&format!(r#"["done","",[{tests}],[],[]]"#));
    let report = count_as(Aim::Search, file).unwrap();
    let classes: Vec<String> = report
        .executed
        .classes
        .iter()
        .map(|(class, tests)| format!("{class} {tests:?}"))
        .collect();
    let both = r#"a.Bar {"a.BarTest", "a.FooTest"}"#;
    assert_eq!(classes, [both, r#"a.Foo {"a.FooTest"}"#]);
    assert_eq!(report.coverage_millis, 3);
}

#[test]
fn a_test_has_the_name_that_its_framework_gives_it() {
    let jupiter = "[engine:junit-jupiter]/[class:a.FooTest]";
    for (class, name, told) in [
        (
            "a.FooTest",
            format!("{jupiter}/[method:big()]"),
            "a.FooTest.big",
        ),
        (
            "a.FooTest$In",
            format!(
                "{jupiter}/[nested-class:In]/[test-template:each(int)]/[test-template-invocation:#1]"
            ),
            "a.FooTest$In.each(int)",
        ),
        ("a.OldTest", "red(a.OldTest)".to_owned(), "a.OldTest.red"),
        ("a.TestNg", "_".to_owned(), "a.TestNg"),
    ] {
        let test = FailingTest::new(class, &name);
        assert_eq!(test.name, told);
        assert_eq!(test.class, class.split('$').next().unwrap());
    }
}

#[test]
fn a_report_cut_or_changed_at_any_byte_is_an_error() {
    let whole = key().seal_document(JUDGED);
    for end in 0..whole.len() {
        assert!(parse(&whole[..end]).is_err(), "cut at {end}");
    }
    for at in 0..whole.len() {
        let mut bytes = whole.clone().into_bytes();
        bytes[at] ^= 1;
        assert!(parse(bytes).is_err(), "changed at {at}");
    }
    assert!(parse(&whole).is_ok());
    let forged = SealKey::for_test("other").seal_document(JUDGED);
    let why = "results.json is not whole, or PIT's own process did not write it";
    for file in [forged, format!("{whole}\n"), format!("\u{feff}{whole}")] {
        assert_eq!(parse(file).unwrap_err(), why);
    }
}

#[test]
fn what_is_not_a_whole_report_of_pit_is_refused_with_its_reason() {
    let ok = mutant("com.acme.Foo", "KILLED", 1);
    for (row, why) in [
        ("1".to_owned(), "expected struct MutantResult"),
        ("[]".to_owned(), "invalid length 0"),
        (ok.replace(",7,", ",\"7\","), "expected u32"),
        (ok.replace(",7,", ",-7,"), "expected u32"),
        (ok.replace("KILLED", "VAPORISED"), "`VAPORISED`"),
        (ok.replace("KILLED", "STARTED"), "`STARTED`"),
        (ok.replace("KILLED", "NOT_STARTED"), "`NOT_STARTED`"),
        (ok.replace("<init>", "a\\x"), "invalid escape"),
        (ok.replace("<init>", "a\n"), "control character"),
        (ok.replace("[]]", "[],0]"), "trailing characters"),
    ] {
        let error = search(std::slice::from_ref(&row)).unwrap_err();
        assert!(error.contains(why), "{error:?} for {row}");
    }
    for (document, why) in [
        ("", "EOF"),
        ("[]", "invalid length 0"),
        (r#"["later","",[],[],[]]"#, "`later`"),
        (r#"["done",0,[],[],[]]"#, "expected a string"),
        (r#"["done","",[],[],[]],"#, "trailing characters"),
        (
            r#"["done","",[["a","b",1,1,[]]],[],[]]"#,
            "expected a boolean",
        ),
        (
            r#"["done","",[],[["a","SURVIVED"]],[]]"#,
            "invalid length 2",
        ),
    ] {
        let error = parse(key().seal_document(document)).unwrap_err();
        assert!(error.contains(why), "{error:?} for {document}");
    }
}

#[test]
fn texts_are_cut_to_a_line_and_wrong_bytes_are_refused() {
    let row = mutant("com.acme.Foo", "SURVIVED", 1).replace(r#""d""#, r#""a\tb\\t\nc\u001bé\/""#);
    let parsed = search(&[row]).unwrap();
    assert_eq!(survivor(&parsed).description, "a b\\t cé/");
    let document = b"[\"done\",\"caf\xe9\",[],[],[]]";
    let seal = key().seal_document("");
    assert!(parse([&document[..], seal.as_bytes()].concat()).is_err());
}

#[test]
fn a_mutant_that_is_named_twice_is_an_error() {
    let killed = mutant("com.acme.Foo", "KILLED", 1);
    for second in ["KILLED", "SURVIVED"] {
        let both = [killed.clone(), mutant("com.acme.Foo", second, 1)];
        assert_eq!(
            search(&both).unwrap_err(),
            "results.json names a mutant twice"
        );
    }
}

#[test]
#[ignore = "deep tier"]
fn more_mutants_than_are_kept_are_no_report() {
    let mutants = (0..200_001).map(|index| mutant("com.acme.Foo", "KILLED", index));
    let mut mutants: Vec<String> = mutants.collect();
    let why = search(&mutants).unwrap_err();
    assert_eq!(why, "results.json has more than 200000 mutants");
    mutants.pop();
    assert!(search(&mutants).is_ok());
}

#[test]
fn classes_find_their_target_and_others_do_not_count() {
    let mutants = [
        "com.acme.Foo",
        "com.acme.Foo$In",
        "com.acme.Foo$In$1",
        "com.acme.Extra",
        "com.acme.FooTest",
        "com.acme.Bar",
    ]
    .map(|class| mutant(class, "KILLED", 1));
    let parsed = search(&mutants).unwrap();
    assert_eq!(parsed.classes["com.acme.Foo"].tally().killed, 4);
    assert_eq!(parsed.classes["com.acme.Bar"].tally().killed, 1);
    assert_eq!(parsed.classes.len(), 2);
}

#[test]
fn a_kill_counts_only_beside_a_control_that_passed() {
    let controls = [
        control("com.acme.Foo", "SURVIVED", ""),
        control("com.acme.Foo$In", "KILLED", "com.acme.FooTest"),
        control("com.acme.Extra", "TIMED_OUT", ""),
    ];
    let two = |class| [mutant(class, "KILLED", 1), mutant(class, "TIMED_OUT", 2)];
    let figures = |parsed: &PitReport, class: &str| {
        let tally = parsed.classes[class].tally();
        (tally.killed, tally.timed_out, tally.survived)
    };
    let parsed = judged(&controls, &two("com.acme.Foo"));
    assert_eq!(figures(&parsed, "com.acme.Foo"), (1, 1, 0));
    assert!(parsed.failed_control.is_empty() && parsed.uncontrolled.is_empty());

    let parsed = judged(
        &controls,
        &[two("com.acme.Foo"), two("com.acme.Foo$In")].concat(),
    );
    assert_eq!(
        figures(&parsed, "com.acme.Foo"),
        (1, 1, 2),
        "the kills of the nested class are none"
    );
    assert_eq!(
        (parsed.failed_control.len(), parsed.uncontrolled.len()),
        (1, 0)
    );

    let parsed = judged(
        &controls,
        &[two("com.acme.Extra"), two("com.acme.Bar")].concat(),
    );
    assert_eq!(
        figures(&parsed, "com.acme.Bar"),
        (1, 1, 0),
        "they stand, and forbid a pass"
    );
    assert_eq!(
        Vec::from_iter(parsed.uncontrolled),
        ["com.acme.Bar", "com.acme.Foo"],
        "without a control no kill is believed"
    );
    assert!(parsed.unclear);
    let survivors = [
        mutant("com.acme.Extra", "SURVIVED", 1),
        mutant("com.acme.Bar", "RUN_ERROR", 2),
    ];
    let parsed = judged(&[], &survivors);
    assert!(parsed.uncontrolled.is_empty(), "nothing to believe");
}

#[test]
fn of_a_class_with_several_controls_the_worst_counts() {
    let of_foo = |status: &str, test: &str| control("com.acme.Foo", status, test);
    let passed = of_foo("SURVIVED", "");
    let failed = of_foo("KILLED", "com.acme.FooTest");
    let killed = mutant("com.acme.Foo", "KILLED", 1);
    let told = |controls: &[&String]| {
        let controls: Vec<String> = controls.iter().copied().cloned().collect();
        let parsed = judged(&controls, std::slice::from_ref(&killed));
        (parsed.failed_control.len(), parsed.uncontrolled.len())
    };
    assert_eq!(told(&[&passed, &passed]), (0, 0));
    assert_eq!(
        told(&[&passed, &failed, &of_foo("RUN_ERROR", ""), &passed]),
        (1, 0)
    );
    for unclear in [
        of_foo("TIMED_OUT", ""),
        of_foo("KILLED", ""),
        of_foo("PASSED", ""),
    ] {
        assert_eq!(told(&[&passed, &unclear, &passed]), (0, 1), "{unclear}");
    }
}

#[test]
fn a_mutant_of_an_initialiser_is_unjudged_unless_it_was_killed() {
    let initial = |status| mutant("com.acme.Foo", status, 1).replace("false", "true");
    for (status, unjudged) in [
        ("NO_COVERAGE", 1),
        ("TIMED_OUT", 1),
        ("RUN_ERROR", 1),
        ("KILLED", 0),
    ] {
        let tally = search(&[initial(status)]).unwrap().tally_mutants();
        assert_eq!(
            (tally.unjudged, tally.killed),
            (unjudged, 1 - unjudged),
            "{status}"
        );
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic_and_none_but_a_sealed_file_is_accepted(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        rows in "[a-z0-9\",\\[\\]]{0,40}",
    ) {
        prop_assert!(parse(bytes).is_err());
        let _ = search(&[rows]);
    }
}
