use super::counted::Left;
use super::{Control, Controls, FailingTest, MAX_EVENT, Mode, Owners, PitReport, read};
use crate::mutation::{Coverage, Mutant, NoCoverage};
use proptest::prelude::*;
use std::collections::BTreeSet;

const REAL: &str = include_str!("../../../../tests/fixtures/gate/mutations.xml");

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

fn full(text: impl AsRef<[u8]>) -> Result<PitReport, String> {
    read(
        text.as_ref(),
        &owners(),
        &|_, _, line| line == 6,
        Mode::Search,
    )
}

fn survivor(parsed: &PitReport) -> Mutant {
    parsed.classes["com.acme.Foo"]
        .left
        .values()
        .next()
        .unwrap()
        .mutant
        .clone()
}

fn mutation(class: &str, status: &str, index: u32, rest: &str) -> String {
    format!(
        "<mutation detected='true' status='{status}' numberOfTestsRun='1'><sourceFile>Foo.java</sourceFile>\
         <mutatedClass>{class}</mutatedClass><mutatedMethod>&lt;init&gt;</mutatedMethod>\
         <methodDescription>(I)V</methodDescription><lineNumber>7</lineNumber>\
         <mutator>org.pitest.mutationtest.engine.gregor.mutators.returns.PrimitiveReturnsMutator</mutator>\
         <indexes><index>{index}</index></indexes><blocks><block>0</block></blocks><killingTest/>{rest}</mutation>\n"
    )
}

fn report(body: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<mutations partial=\"true\">\n{body}</mutations>\n"
    )
}

#[test]
fn a_real_report_is_counted_by_class_with_nested_classes_in_their_outer_one() {
    let parsed = full(REAL).unwrap();
    let foo = &parsed.classes["com.acme.Foo"];
    assert_eq!(
        foo.tally.coverage(NoCoverage::Survived),
        Coverage {
            killed: 2,
            total: 9
        }
    );
    assert_eq!(
        foo.tally.coverage(NoCoverage::Ignore),
        Coverage {
            killed: 2,
            total: 2
        }
    );
    assert_eq!(
        (foo.left.len(), foo.dropped, parsed.classes.len()),
        (7, 0, 1)
    );
    let on_line_6: Vec<&Left> = foo
        .left
        .values()
        .filter(|left| left.mutant.line == 6)
        .collect();
    assert!(
        on_line_6.iter().all(|left| left.changed)
            && foo.changed.mutants() == on_line_6.len() as u64
    );
    let first = &on_line_6[0].mutant;
    assert_eq!(
        (first.file.as_str(), first.line, first.mutator.as_str()),
        ("Foo.java", 6, "ConditionalsBoundary")
    );
}

#[test]
fn a_report_cut_at_any_byte_is_an_error() {
    let third = REAL.match_indices("</mutation>\n").nth(2).unwrap().0;
    let whole = format!("{}</mutation>\n</mutations>", &REAL[..third]);
    for end in 0..whole.len() {
        assert!(
            full(&whole.as_bytes()[..end]).is_err(),
            "cut at {end} of {}",
            whole.len()
        );
    }
    assert!(full(&whole).is_ok());
}

#[test]
fn entities_are_pieces_of_one_text() {
    let text = report(&mutation(
        "com.acme.Foo",
        "SURVIVED",
        1,
        "<description>a &lt;b&gt; &amp;&#x41;<![CDATA[<c>]]></description>",
    ));
    let parsed = full(text).unwrap();
    let survivor = survivor(&parsed);
    assert_eq!(
        (survivor.method.as_str(), survivor.description.as_str()),
        ("<init>", "a <b> &A<c>")
    );
}

#[test]
fn the_same_mutant_counts_once_and_a_contradiction_is_an_error() {
    let twice = mutation("com.acme.Foo", "KILLED", 1, "").repeat(2);
    assert_eq!(
        full(report(&twice)).unwrap().classes["com.acme.Foo"]
            .tally
            .killed,
        1
    );
    let both =
        mutation("com.acme.Foo", "KILLED", 1, "") + &mutation("com.acme.Foo", "SURVIVED", 1, "");
    assert_eq!(
        full(report(&both)).unwrap_err(),
        "it gives one mutant two different statuses"
    );
}

#[test]
fn classes_find_their_target_and_others_do_not_count() {
    let body: String = [
        "com.acme.Foo",
        "com.acme.Foo$In",
        "com.acme.Foo$In$1",
        "com.acme.Extra",
        "com.acme.FooTest",
        "com.acme.Bar",
    ]
    .iter()
    .map(|class| mutation(class, "KILLED", 1, ""))
    .collect();
    let parsed = full(report(&body)).unwrap();
    assert_eq!(parsed.classes["com.acme.Foo"].tally.killed, 4);
    assert_eq!(parsed.classes["com.acme.Bar"].tally.killed, 1);
    assert_eq!(parsed.classes.len(), 2);
}

#[test]
fn a_kill_counts_only_beside_a_control_that_passed() {
    let bad = FailingTest {
        class: "com.acme.FooTest".to_owned(),
        name: "com.acme.FooTest.x".to_owned(),
    };
    let controls: Controls = [
        ("com.acme.Foo", Control::Passed),
        ("com.acme.Foo$In", Control::Failed(bad.clone())),
        ("com.acme.Extra", Control::Unclear),
    ]
    .map(|(class, control)| (class.to_owned(), control))
    .into();
    let read = |body: &str| {
        read(
            report(body).as_bytes(),
            &owners(),
            &|_, _, _| false,
            Mode::Controlled(&controls),
        )
        .unwrap()
    };
    let two = |class| mutation(class, "KILLED", 1, "") + &mutation(class, "TIMED_OUT", 2, "");
    let figures = |parsed: &PitReport, class: &str| {
        let tally = parsed.classes[class].tally;
        (tally.killed, tally.timed_out, tally.survived)
    };
    let parsed = read(&two("com.acme.Foo"));
    assert_eq!(figures(&parsed, "com.acme.Foo"), (1, 1, 0));
    assert!(parsed.unfit.is_empty() && parsed.uncontrolled.is_empty());

    let parsed = read(&(two("com.acme.Foo") + &two("com.acme.Foo$In")));
    assert_eq!(
        figures(&parsed, "com.acme.Foo"),
        (1, 1, 2),
        "the kills of the nested class are none"
    );
    assert_eq!(
        (parsed.unfit, parsed.uncontrolled.len()),
        (BTreeSet::from([bad]), 0)
    );

    let parsed = read(&(two("com.acme.Extra") + &two("com.acme.Bar")));
    assert_eq!(
        figures(&parsed, "com.acme.Bar"),
        (1, 1, 0),
        "they stand, and forbid a pass"
    );
    assert_eq!(
        parsed.uncontrolled.into_iter().collect::<Vec<_>>(),
        ["com.acme.Bar", "com.acme.Foo"],
        "a missing control is none"
    );
    let survivors = mutation("com.acme.Extra", "SURVIVED", 1, "")
        + &mutation("com.acme.Bar", "RUN_ERROR", 2, "");
    assert!(
        read(&survivors).uncontrolled.is_empty(),
        "nothing to believe"
    );
}

#[test]
fn a_kill_is_kept_with_its_test_only_beside_a_control_that_passed() {
    let killed = |class: &str, index, status: &str, test: &str| {
        mutation(class, status, index, "").replace(
            "<killingTest/>",
            &format!("<killingTest>{test}</killingTest>"),
        )
    };
    let controls: Controls = [
        ("com.acme.Foo", Control::Passed),
        ("com.acme.Extra", Control::Unclear),
    ]
    .map(|(c, s)| (c.to_owned(), s))
    .into();
    let body = [
        killed("com.acme.Foo", 1, "KILLED", "a.FooTest.one&lt;T&gt;"),
        killed("com.acme.Foo", 2, "KILLED", "a.FooTest.two"),
        killed("com.acme.Foo", 3, "TIMED_OUT", "a.FooTest.slow"),
        killed("com.acme.Foo", 4, "SURVIVED", "a.FooTest.none"),
        killed("com.acme.Extra", 5, "KILLED", "a.FooTest.unclear"),
        killed("com.acme.Bar", 6, "KILLED", "a.FooTest.uncontrolled"),
    ];
    let text = report(&body.concat());
    let parsed = read(
        text.as_bytes(),
        &owners(),
        &|_, _, _| false,
        Mode::Controlled(&controls),
    )
    .unwrap();
    let told: Vec<_> = parsed
        .kills
        .iter()
        .map(|kill| (kill.id.indexes.concat(), kill.test.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("1".to_owned(), "a.FooTest.one<T>"),
            ("2".to_owned(), "a.FooTest.two")
        ]
    );
}

#[test]
fn what_is_not_a_whole_report_of_pit_is_refused_with_its_reason() {
    let ok = mutation("com.acme.Foo", "KILLED", 1, "");
    let deep = "<a>".repeat(20) + &"</a>".repeat(20);
    let long = format!(
        "<description>{}</description>",
        "x".repeat(usize::try_from(MAX_EVENT).unwrap() + 70_000)
    );
    let cases = [
        (String::new(), "it is empty"),
        ("  \n".to_owned(), "it is empty"),
        (
            "<html></html>".to_owned(),
            "its root element is html, not mutations",
        ),
        (
            report(&ok) + "<mutations></mutations>",
            "a second element follows its root",
        ),
        (report(&ok) + "junk", "it holds text outside its elements"),
        (report("junk"), "it holds text outside its elements"),
        (
            report("<mutant/>"),
            "it holds an element mutant where a mutation was due",
        ),
        (report("<mutation></mutation>"), "a mutation has no status"),
        (
            report("<mutation status='KILLED'></mutation>"),
            "a mutation has no mutatedClass",
        ),
        (
            report(&mutation("com.acme.Foo", "VAPORISED", 1, "")),
            "it names the unknown status VAPORISED",
        ),
        (
            report(&mutation("com.acme.Foo", "STARTED", 1, "")),
            "it names the unknown status STARTED",
        ),
        (
            report(&mutation("com.acme.Foo", "NOT_STARTED", 1, "")),
            "it has a mutant that was not started",
        ),
        (
            report(&mutation("com.acme.Foo", "KILLED", 1, &deep)),
            "it is nested deeper than 16 elements",
        ),
        (
            report(&mutation("com.acme.Foo", "KILLED", 1, &long)),
            "one of its elements is longer than 1 MiB",
        ),
        (
            report(&ok).replace("<lineNumber>7", "<lineNumber>x"),
            "a line number is not a number",
        ),
        (report("&evil;"), "it names the unknown entity evil"),
        (
            "<!DOCTYPE x [<!ENTITY evil SYSTEM 'file:///etc/passwd'>]>".to_owned() + &report(&ok),
            "it has a DOCTYPE, which PIT never writes",
        ),
    ];
    for (text, why) in cases {
        let error = full(&text).unwrap_err();
        assert!(
            error.contains(why),
            "{error:?} for {}",
            text.chars().take(200).collect::<String>()
        );
    }
}

#[test]
fn a_dry_run_counts_what_would_be_run() {
    let body = mutation("com.acme.Foo", "NOT_STARTED", 1, "")
        + &mutation("com.acme.Foo", "NOT_STARTED", 2, "");
    let parsed = read(
        report(&body).as_bytes(),
        &owners(),
        &|_, _, _| false,
        Mode::Dry,
    )
    .unwrap();
    assert_eq!(parsed.classes["com.acme.Foo"].pending, 2);
    assert_eq!(parsed.classes["com.acme.Foo"].tally.mutants(), 0);
}

#[test]
fn wrong_bytes_are_refused_and_a_mark_of_byte_order_is_no_text() {
    let text = report(&mutation(
        "com.acme.Foo",
        "SURVIVED",
        1,
        "<description>café</description>",
    ));
    let mut bytes = b"\xef\xbb\xbf".to_vec();
    bytes.extend(text.bytes());
    assert_eq!(survivor(&full(&bytes).unwrap()).description, "café");
    let wrong: Vec<u8> = bytes.into_iter().filter(|byte| *byte != 0xc3).collect();
    let why = full(&wrong).unwrap_err();
    assert!(why.to_lowercase().contains("utf-8"), "{why}");
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic_and_none_but_a_report_is_accepted(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(full(&bytes).is_err());
    }

    #[test]
    fn a_report_with_one_byte_changed_never_gains_kills(at in 0usize..2_000, byte in any::<u8>()) {
        let mut bytes = REAL.as_bytes().to_vec();
        let at = at % bytes.len();
        bytes[at] = byte;
        if let Ok(parsed) = full(&bytes) {
            let killed: u64 = parsed.classes.values().map(|c| c.tally.killed).sum();
            prop_assert!(killed <= 2);
        }
    }
}
