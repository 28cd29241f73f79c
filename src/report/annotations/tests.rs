//! Reports of each kind, and what all formats share.

use super::*;
use crate::machine::facts::full_path;
use crate::mutation::{ClassScore, Coverage, Mutant, Tally};
use proptest::prelude::*;

pub(in crate::report) fn folders() -> Folders {
    Folders(BTreeMap::from([
        ("app".to_owned(), RepoPath::parse("src/app")),
        (".".to_owned(), RepoPath::from_bytes(b"")),
    ]))
}

pub(in crate::report) fn shown<'a>(report: &'a GateReport, folders: &'a Folders) -> ReportView<'a> {
    ReportView {
        gate: "PITEST",
        report,
        folders,
        fail_on_skip: false,
    }
}

pub(in crate::report) fn survivor(
    line: u32,
    mutator: &str,
    description: &str,
    status: MutantStatus,
) -> Survivor {
    let mutant = Mutant {
        class: "a.Foo".into(),
        file: "Foo.java".into(),
        line,
        method: "sum".into(),
        mutator: mutator.into(),
        description: description.into(),
        status,
        id: String::new(),
    };
    let path = Some(RepoPath::parse("src/main/java/a/Foo.java"));
    Survivor {
        package: "app".into(),
        path,
        ..Survivor::from(mutant)
    }
}

pub(in crate::report) fn class(path: &str) -> ClassScore {
    let tally = Tally {
        killed: 1,
        survived: 1,
        ..Tally::default()
    };
    ClassScore {
        package: "app".into(),
        path: RepoPath::parse(path),
        class: "a.Foo".into(),
        tally,
        floor: None,
    }
}

/// A FAIL with two survivors.
pub(in crate::report) fn fail() -> GateReport {
    let mut first = survivor(
        12,
        "ConditionalsBoundary",
        "changed conditional boundary",
        MutantStatus::Survived,
    );
    first.source = "if (a > b) {".into();
    first.changed = true;
    first.tests = vec!["a.FooTest".into(), "a.BarTest".into()];
    first.tests_total = 4;
    let mut second = survivor(
        20,
        "Math",
        "Replaced 100%, and more",
        MutantStatus::NoCoverage,
    );
    second.mutant.method = "<init>".into();
    let reasons = vec![
        "The mutation score of class a.Foo of package app is 50% (1/2), below the threshold of 70%."
            .to_owned(),
    ];
    GateReport {
        classes: vec![class("src/main/java/a/Foo.java")],
        coverage: Coverage {
            killed: 1,
            total: 2,
        },
        survivors: vec![first, second],
        survivors_total: 5,
        failing: vec!["app/src/main/java/a/Foo.java".into()],
        reports: vec![".ralph/state/iter-7/report/index.html".into()],
        millis: 6_540,
        ..GateReport::from(Verdict::Fail { reasons })
    }
}

/// PASS, FAIL, SKIP and ERROR without survivors.
pub(in crate::report) fn of() -> [GateReport; 4] {
    let pass = GateReport {
        coverage: Coverage {
            killed: 21,
            total: 25,
        },
        ..Verdict::Pass.into()
    };
    let reasons = vec![
        "The module does not compile.".to_owned(),
        "Foo.java:3: ';' expected".to_owned(),
    ];
    let skip = Verdict::Skip {
        why: "No production code that this gate judges was changed.".into(),
    };
    let error = Verdict::Error {
        why: "Maven was not found.".into(),
        hint: "Install it.".into(),
        transient: false,
    };
    [
        pass,
        Verdict::Fail { reasons }.into(),
        skip.into(),
        error.into(),
    ]
}

/// Everything that a format could trip over.
pub(in crate::report) fn hostile() -> GateReport {
    let evil =
        "100% ::error::\r\n::set-output name=x::y <a b='\"'>]]>&\u{0}\u{1b}[31m\u{fffe}\u{202e}";
    let path = "src/main/java/a/F: ü,%.java";
    let mut one = survivor(0, evil, evil, MutantStatus::Survived);
    one.path = Some(RepoPath::from_bytes(path.as_bytes()));
    one.source = evil.into();
    one.tests = vec![evil.into()];
    let mut class = class("x");
    class.path = RepoPath::from_bytes(path.as_bytes());
    class.class = evil.into();
    let failing = vec![full_path("app", &class.path)];
    GateReport {
        classes: vec![class],
        survivors: vec![one],
        failing,
        ..Verdict::Fail {
            reasons: vec![evil.to_owned()],
        }
        .into()
    }
}

#[test]
fn a_survivor_keeps_its_fingerprint_when_its_line_moves_and_two_alike_are_two() {
    let folders = folders();
    let mut report = fail();
    report.survivors[1] = report.survivors[0].clone();
    let prints = |report: &GateReport| -> Vec<String> {
        shown(report, &folders)
            .report_notes()
            .into_iter()
            .map(|note| note.fingerprint)
            .collect()
    };
    let before = prints(&report);
    assert_eq!(before.len(), 3);
    assert_ne!(before[1], before[2]);
    report
        .survivors
        .iter_mut()
        .for_each(|survivor| survivor.mutant.line += 7);
    assert_eq!(prints(&report), before);
    report.survivors[0].source = "if (a >= b) {".into();
    assert_ne!(prints(&report)[1], before[1]);
}

#[test]
fn a_package_stands_where_its_folder_is() {
    let folders = Folders(BTreeMap::from([
        ("a".to_owned(), RepoPath::parse("src/a")),
        ("a/b".to_owned(), RepoPath::parse("libs/b")),
        (".".to_owned(), RepoPath::from_bytes(b"")),
    ]));
    let at = |full: &str| folders.full_path(full).map(|path| path.to_text());
    assert_eq!(at("a/x.java").as_deref(), Some("src/a/x.java"));
    assert_eq!(at("a/b/x.java").as_deref(), Some("libs/b/x.java"));
    assert_eq!(at("./src/x.java").as_deref(), Some("src/x.java"));
    assert_eq!(at("c/x.java"), None);
}

#[test]
fn survivors_of_a_pass_are_notices_and_those_beside_an_error_warnings() {
    let folders = folders();
    for (verdict, level) in [
        (Verdict::Pass, SarifLevel::Note),
        (
            Verdict::Fail {
                reasons: Vec::new(),
            },
            SarifLevel::Error,
        ),
        (
            Verdict::Error {
                why: "x".into(),
                hint: "y".into(),
                transient: true,
            },
            SarifLevel::Warning,
        ),
    ] {
        let report = GateReport { verdict, ..fail() };
        let notes = shown(&report, &folders).report_notes();
        assert_eq!(notes.len(), 3, "all of them");
        assert!(
            notes[1..].iter().all(|note| note.level == level),
            "{notes:?}"
        );
    }
}

proptest! {
    #[test]
    fn no_text_breaks_a_format(text in any::<String>(), line in any::<u32>()) {
        let folders = folders();
        let mut report = hostile();
        report.verdict = Verdict::Fail { reasons: vec![text.clone()] };
        report.survivors[0].mutant.description.clone_from(&text);
        report.survivors[0].mutant.line = line;
        report.survivors[0].source.clone_from(&text);
        report.classes[0].class.clone_from(&text);
        let shown = shown(&report, &folders);
        prop_assert_eq!(github::render_github(&shown).lines().count(), 2);
        let issues: Vec<serde_json::Value> = serde_json::from_str(&gitlab::render_gitlab(&shown)).unwrap();
        prop_assert_eq!(issues.len(), 2);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&sarif::render_sarif(&shown)).is_ok());
        let xml = junit::render_junit(&shown).unwrap();
        let mut reader = quick_xml::Reader::from_str(&xml);
        while reader.read_event().unwrap() != quick_xml::events::Event::Eof {}
    }
}
