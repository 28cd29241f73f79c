use super::results_file::{MutantContext, PitStage, ResultsFile, SealKey, read_results};
use super::{Aim, ControlOutcome, FailingTest, Owners, PitReport};
use crate::mutation::{Coverage, Mutant, NoCoverage};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Recorded files of each outcome (tests/gate/results.rs), without times and seals.
const JUDGED: &str = include_str!("../../../../tests/fixtures/gate/judged.tsv");
const RED: &str = include_str!("../../../../tests/fixtures/gate/red.tsv");
const DIED: &str = include_str!("../../../../tests/fixtures/gate/died.tsv");
const UNFIT: &str = include_str!("../../../../tests/fixtures/gate/unfit.tsv");
const NOTHING: &str = include_str!("../../../../tests/fixtures/gate/nothing.tsv");

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

fn read_as(aim: Aim, text: impl AsRef<[u8]>) -> Result<ResultsFile, String> {
    let judging = MutantContext {
        owners: &owners(),
        is_changed: &|_, _, line| line == 8,
        aim,
    };
    read_results(text.as_ref(), &key(), judging)
}

/// A recorded file, sealed.
fn sealed(recorded: &str) -> String {
    let (lines, end) = recorded
        .trim_end()
        .rsplit_once('\n')
        .unwrap_or(("", recorded.trim_end()));
    let end: Vec<&str> = end.split('\t').collect();
    let lines = if lines.is_empty() {
        String::new()
    } else {
        format!("{lines}\n")
    };
    key().seal_lines(&lines, end[1], end[2].parse().unwrap(), 0)
}

fn recorded(text: &str) -> ResultsFile {
    read_as(Aim::Judge, sealed(text)).unwrap()
}

/// A file of a run that came to its end.
fn done(lines: &str) -> String {
    key().seal_lines(lines, "done", 9, 0)
}

fn search(lines: &str) -> Result<PitReport, String> {
    read_as(Aim::Search, done(lines)).map(|file| file.report)
}

fn judged(lines: &str) -> PitReport {
    read_as(Aim::Judge, done(lines)).unwrap().report
}

fn mutant(class: &str, status: &str, index: u32) -> String {
    format!(
        "M\t{class}\t<init>\t(I)V\tx.returns.PrimitiveReturnsMutator\t{index},9\tFoo.java\t7\t{status}\ta.FooTest.one<T>\td\t\t0\t\n"
    )
}

fn survivor(parsed: &PitReport) -> Mutant {
    let mut left = parsed.classes["com.acme.Foo"].left.values();
    left.next().unwrap().mutant.clone()
}

#[test]
fn a_judged_run_is_counted_by_class_with_nested_classes_in_their_outer_one() {
    let file = recorded(JUDGED);
    assert_eq!((file.stage, &file.failure), (PitStage::Done, &None));
    let report = file.report;
    let foo = &report.classes["com.acme.Foo"];
    let coverage = |killed, total| Coverage { killed, total };
    assert_eq!(
        foo.tally.coverage(NoCoverage::Survived),
        coverage(2, 10),
        "code of the initialiser is counted until the session takes it out"
    );
    assert_eq!(foo.tally.coverage(NoCoverage::Ignore), coverage(2, 7));
    assert_eq!((foo.left.len(), report.classes.len()), (8, 1));
    let on_line_8 = || foo.left.values().filter(|left| left.mutant.line == 8);
    assert!(on_line_8().all(|left| left.changed));
    assert_eq!(foo.changed.mutants(), on_line_8().count() as u64);
    let first = &on_line_8().next().unwrap().mutant;
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
    let reaching: Vec<String> = report
        .reaching
        .iter()
        .map(|(id, reached)| format!("{} {:?} {}", id.method, reached.names, reached.is_initial))
        .collect();
    let [initial, big, less] = [
        "<clinit> [] true",
        "big [\"com.acme.FooTest\"] false",
        "less [\"com.acme.FooTest\"] false",
    ];
    assert_eq!(reaching, [initial, big, big, big, less, less]);
    assert!(report.killers.is_empty());
    let search = read_as(Aim::Search, sealed(JUDGED)).unwrap().report;
    let killers: Vec<&String> = search.killers.values().collect();
    let twice = "com.acme.FooTest.[engine:junit-jupiter]/[class:com.acme.FooTest]/[method:twice()]";
    assert_eq!(killers, [twice, twice]);
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
    let judged = recorded(JUDGED).report;
    assert_eq!(judged.left_out, BTreeSet::from([other.clone()]));
    let tests = [("com.acme.FooTest", true), ("com.acme.OtherTest", false)];
    let tests = tests.map(|(test, is_green)| (test.to_owned(), is_green));
    assert_eq!(judged.executed.tests, BTreeMap::from(tests));
    let red = recorded(RED);
    assert_eq!(red.report.left_out, BTreeSet::from([own.clone(), other]));
    assert_eq!(red.stage, PitStage::Mutants);
    let died = recorded(DIED);
    let words = died.failure.unwrap_or_default();
    assert_eq!(died.stage, PitStage::Tests);
    assert!(
        words.contains("Coverage generation minion exited abnormally"),
        "{words}"
    );
    let unfit = recorded(UNFIT).report;
    assert_eq!(unfit.failed_control, BTreeSet::from([own]));
    assert_eq!(
        unfit.tally_mutants().killed,
        0,
        "the kills of that class are none"
    );
    let nothing = recorded(NOTHING);
    assert_eq!(nothing.stage, PitStage::Done);
    assert!(nothing.report.classes.is_empty());
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
fn a_report_cut_at_any_byte_is_an_error() {
    let whole = sealed(JUDGED);
    for end in 0..whole.len() {
        assert!(read_as(Aim::Judge, &whole[..end]).is_err(), "cut at {end}");
    }
    for at in 0..whole.len() {
        let mut bytes = whole.clone().into_bytes();
        bytes[at] ^= 1;
        assert!(read_as(Aim::Judge, bytes).is_err(), "changed at {at}");
    }
    assert!(read_as(Aim::Judge, &whole).is_ok());
    let forged =
        SealKey::for_test("other").seal_lines(&mutant("com.acme.Foo", "KILLED", 1), "done", 9, 0);
    let why = read_as(Aim::Judge, forged).unwrap_err();
    assert_eq!(why, "PIT's own process did not write it");
}

#[test]
fn what_is_not_a_whole_report_of_pit_is_refused_with_its_reason() {
    let ok = mutant("com.acme.Foo", "KILLED", 1);
    let form = "it has a line of an unknown form";
    let order = "it has a line of an unknown kind or out of order";
    for (lines, why) in [
        ("junk\n".to_owned(), order),
        ("\n".to_owned(), order),
        (format!("{ok}C\ta\tSURVIVED\t\t\n"), order),
        (format!("{ok}T\ta\tb\tgreen\t1\n"), order),
        ("T\ta\tb\tblue\t1\n".to_owned(), form),
        ("T\ta\tb\tgreen\tx\n".to_owned(), "x is not a number"),
        ("X\ta\tb\n".to_owned(), "b is not a number"),
        ("X\ta\t0\n".to_owned(), "it names an unknown test"),
        ("C\ta\tSURVIVED\n".to_owned(), form),
        ("M\ta\n".to_owned(), "a mutant is not whole"),
        (ok.replace("\t7\t", "\tseven\t"), "seven is not a number"),
        (
            ok.replace("KILLED", "VAPORISED"),
            "it names the unknown status VAPORISED",
        ),
        (
            ok.replace("KILLED", "STARTED"),
            "it names the unknown status STARTED",
        ),
        (
            ok.replace("KILLED", "NOT_STARTED"),
            "it has a mutant that was not started",
        ),
        (ok.replace("<init>", "a\\x"), "it has an unknown escape"),
        (
            ok.replace("Foo.java", &"x".repeat(5 << 20)),
            "longer than 4 MiB",
        ),
    ] {
        let error = search(&lines).unwrap_err();
        assert!(error.contains(why), "{error:?} for {lines:.80}");
    }
    let ends = |content: &str| {
        let seal = done("");
        read_as(Aim::Search, seal.replace("E\tdone\t9\t0\t0", content)).unwrap_err()
    };
    assert_eq!(
        ends("E\tdone\t9\t0\t1"),
        "PIT's own process did not write it"
    );
    let end = |stage, found| read_as(Aim::Search, key().seal_lines("", stage, found, 0));
    assert!(end("later", 9).is_err() && end("done", -1).is_err() && end("done", 0).is_ok());
}

#[test]
fn fields_have_their_tabs_line_ends_and_backslashes_escaped() {
    let line = mutant("com.acme.Foo", "SURVIVED", 1).replace("\td\t", "\ta\\tb\\\\t\\nc\u{1b}é\t");
    let parsed = search(&line).unwrap();
    assert_eq!(survivor(&parsed).description, "a b\\t cé");
}

#[test]
fn wrong_bytes_are_refused_and_a_mark_of_byte_order_is_no_text() {
    let whole = done(&mutant("com.acme.Foo", "SURVIVED", 1).replace("\td\t", "\tcafé\t"));
    let cut: Vec<u8> = whole.bytes().filter(|byte| *byte != 0xc3).collect();
    assert_eq!(read_as(Aim::Search, cut).unwrap_err(), "it is not UTF-8");
    let marked = format!("\u{feff}{whole}");
    assert!(read_as(Aim::Search, marked).is_err());
}

#[test]
fn the_same_mutant_counts_once_and_a_contradiction_is_an_error() {
    let killed = mutant("com.acme.Foo", "KILLED", 1);
    let twice = search(&killed.repeat(2)).unwrap();
    assert_eq!(twice.classes["com.acme.Foo"].tally.killed, 1);
    let both = killed + &mutant("com.acme.Foo", "SURVIVED", 1);
    let why = search(&both).unwrap_err();
    assert_eq!(why, "it gives one mutant two different statuses (line 2)");
}

#[test]
#[ignore = "deep tier"]
fn more_mutants_than_are_kept_are_no_report() {
    let most = |count: u32| -> String {
        let mutants = (0..count).map(|index| mutant("com.acme.Foo", "KILLED", index));
        mutants.collect()
    };
    let why = search(&most(200_001)).unwrap_err();
    assert_eq!(why, "it has more than 200000 mutants (line 200001)");
}

#[test]
fn classes_find_their_target_and_others_do_not_count() {
    let lines: String = [
        "com.acme.Foo",
        "com.acme.Foo$In",
        "com.acme.Foo$In$1",
        "com.acme.Extra",
        "com.acme.FooTest",
        "com.acme.Bar",
    ]
    .iter()
    .map(|class| mutant(class, "KILLED", 1))
    .collect();
    let parsed = search(&lines).unwrap();
    assert_eq!(parsed.classes["com.acme.Foo"].tally.killed, 4);
    assert_eq!(parsed.classes["com.acme.Bar"].tally.killed, 1);
    assert_eq!(parsed.classes.len(), 2);
}

#[test]
fn a_kill_counts_only_beside_a_control_that_passed() {
    let controls = "C\tcom.acme.Foo\tSURVIVED\t\t\nC\tcom.acme.Foo$In\tKILLED\tcom.acme.FooTest\tx(com.acme.FooTest)\n\
        C\tcom.acme.Extra\tTIMED_OUT\t\t\n";
    let two = |class| mutant(class, "KILLED", 1) + &mutant(class, "TIMED_OUT", 2);
    let figures = |parsed: &PitReport, class: &str| {
        let tally = parsed.classes[class].tally;
        (tally.killed, tally.timed_out, tally.survived)
    };
    let parsed = judged(&(controls.to_owned() + &two("com.acme.Foo")));
    assert_eq!(figures(&parsed, "com.acme.Foo"), (1, 1, 0));
    assert!(parsed.failed_control.is_empty() && parsed.uncontrolled.is_empty());

    let parsed = judged(&(controls.to_owned() + &two("com.acme.Foo") + &two("com.acme.Foo$In")));
    assert_eq!(
        figures(&parsed, "com.acme.Foo"),
        (1, 1, 2),
        "the kills of the nested class are none"
    );
    assert_eq!(
        (parsed.failed_control.len(), parsed.uncontrolled.len()),
        (1, 0)
    );

    let parsed = judged(&(controls.to_owned() + &two("com.acme.Extra") + &two("com.acme.Bar")));
    assert_eq!(
        figures(&parsed, "com.acme.Bar"),
        (1, 1, 0),
        "they stand, and forbid a pass"
    );
    assert_eq!(
        Vec::from_iter(parsed.uncontrolled),
        ["com.acme.Bar", "com.acme.Foo"],
        "a missing control is none"
    );
    assert!(parsed.unclear);
    let survivors =
        mutant("com.acme.Extra", "SURVIVED", 1) + &mutant("com.acme.Bar", "RUN_ERROR", 2);
    assert!(
        judged(&survivors).uncontrolled.is_empty(),
        "nothing to believe"
    );
}

#[test]
fn of_a_class_with_several_controls_the_worst_counts() {
    let line = |status: &str, class: &str| format!("C\tcom.acme.Foo\t{status}\t{class}\ta\n");
    let passed = line("SURVIVED", "");
    let failed = line("KILLED", "com.acme.FooTest");
    let killed = mutant("com.acme.Foo", "KILLED", 1);
    let told = |controls: &[&String]| {
        let lines: String = controls.iter().copied().chain([&killed]).cloned().collect();
        let parsed = judged(&lines);
        (parsed.failed_control.len(), parsed.uncontrolled.len())
    };
    assert_eq!(told(&[&passed, &passed]), (0, 0));
    assert_eq!(
        told(&[&passed, &failed, &line("RUN_ERROR", ""), &passed]),
        (1, 0)
    );
    for unclear in [
        line("TIMED_OUT", ""),
        line("KILLED", ""),
        line("PASSED", ""),
    ] {
        assert_eq!(told(&[&passed, &unclear, &passed]), (0, 1), "{unclear}");
    }
    assert!(ControlOutcome::Passed < ControlOutcome::Unclear);
}

#[test]
fn a_run_of_the_tests_alone_has_mutants_that_were_not_started() {
    let line = mutant("com.acme.Foo", "NOT_STARTED", 1);
    let file = read_as(Aim::Count, done(&line)).unwrap();
    assert_eq!(file.report.tally_mutants().mutants(), 0);
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic_and_none_but_a_sealed_file_is_accepted(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        lines in "([TXCMFE](\t[a-z0-9,\\\\]{0,4}){0,14}\n){0,6}",
    ) {
        prop_assert!(read_as(Aim::Judge, bytes).is_err());
        let _ = search(&lines);
    }
}
