//! JUnit XML, which most CI systems read: one suite for the gate, a test case for its verdict and each judged class.

use super::{ReportView, SarifLevel, describe_survivor};
use crate::machine::facts::full_path;
use crate::mutation::{ClassScore, Verdict};
/// Text without what XML 1.0 does not know (section 2.2, `Char`).
pub(in crate::report) use crate::source::text::block as xml;
use crate::source::text::line;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io;

/// A test case; `end` is its element, message and text unless it passed. XML's own characters apart, texts are clean.
pub(in crate::report) struct Case {
    pub(in crate::report) name: String,
    pub(in crate::report) file: Option<String>,
    pub(in crate::report) end: Option<(&'static str, String, String)>,
}

/// The document, without a final line end. An error is ralph's own fault: nothing is written to a disk.
pub fn render_junit(shown: &ReportView<'_>) -> io::Result<String> {
    let cases: Vec<Case> = std::iter::once(verdict_case(shown))
        .chain(
            shown
                .report
                .classes
                .iter()
                .map(|class| class_case(shown, class)),
        )
        .collect();
    junit_document(shown.gate, shown.report.millis, &cases)
}

/// A document with one suite.
pub(in crate::report) fn junit_document(
    name: &str,
    millis: u64,
    cases: &[Case],
) -> io::Result<String> {
    let count = |kind: &str| {
        cases
            .iter()
            .filter(|case| case.end.as_ref().is_some_and(|(end, _, _)| *end == kind))
            .count()
            .to_string()
    };
    let seconds = std::time::Duration::from_millis(millis).as_secs_f64();
    let counts = [
        ("name", xml(name)),
        ("tests", cases.len().to_string()),
        ("failures", count("failure")),
        ("errors", count("error")),
        ("skipped", count("skipped")),
        ("time", format!("{seconds:.3}")),
    ];
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let attributes = |but: &'static str| {
        let kept = counts.iter().filter(move |(name, _)| *name != but);
        kept.map(|(name, value)| (*name, value.as_str()))
    };
    // The root knows no `skipped`.
    let root = writer
        .create_element("testsuites")
        .with_attributes(attributes("skipped"));
    root.write_inner_content(|writer| {
        let suite = writer
            .create_element("testsuite")
            .with_attributes(attributes(""));
        suite
            .write_inner_content(|writer| {
                cases
                    .iter()
                    .try_for_each(|case| write_case(writer, name, case))
            })
            .map(drop)
    })?;
    String::from_utf8(writer.into_inner()).map_err(io::Error::other)
}

fn write_case(writer: &mut Writer<Vec<u8>>, gate: &str, case: &Case) -> io::Result<()> {
    let group = xml(&format!("ralph.{gate}"));
    let file = case.file.iter().map(|file| ("file", file.as_str()));
    let named = [("classname", group.as_str()), ("name", &case.name)]
        .into_iter()
        .chain(file);
    let element = writer.create_element("testcase").with_attributes(named);
    let Some((kind, message, text)) = &case.end else {
        return element.write_empty().map(drop);
    };
    let written = element.write_inner_content(|writer| {
        let end = writer
            .create_element(*kind)
            .with_attribute(("message", message.as_str()));
        match text.as_str() {
            "" => end.write_empty().map(drop),
            text => end.write_text_content(BytesText::new(text)).map(drop),
        }
    });
    written.map(drop)
}

/// Returns the verdict as a test case. Every report has one.
fn verdict_case(shown: &ReportView<'_>) -> Case {
    let note = shown.verdict_note();
    let first = xml(note.text.lines().next().unwrap_or_default());
    let end = match (&shown.report.verdict, note.level) {
        (Verdict::Pass, _) => None,
        (Verdict::Skip { .. }, level) if level != SarifLevel::Error => {
            Some(("skipped", first, String::new()))
        }
        (Verdict::Error { .. }, _) => Some(("error", first, xml(&note.text))),
        (Verdict::Fail { .. } | Verdict::Skip { .. }, _) => {
            Some(("failure", first, xml(&note.text)))
        }
    };
    Case {
        name: "verdict".to_owned(),
        file: None,
        end,
    }
}

/// A judged class: failed when it must be fixed, skipped when the gate gave no verdict.
fn class_case(shown: &ReportView<'_>, class: &ClassScore) -> Case {
    let counts = class.tally.to_string();
    let end = if matches!(shown.report.verdict, Verdict::Error { .. }) {
        Some((
            "skipped",
            format!("The gate gave no verdict; {counts}."),
            String::new(),
        ))
    } else if shown
        .report
        .failing
        .contains(&full_path(&class.package, &class.path))
    {
        Some(("failure", counts, xml(&survivor_text(shown, class))))
    } else {
        None
    };
    let file = shown.folders.checkout_path(&class.package, &class.path);
    Case {
        name: xml(&format!("{}: {}", class.package, class.class)),
        file: file.map(|file| xml(&file.to_text())),
        end,
    }
}

/// The survivors of a class that the report holds, a paragraph each.
fn survivor_text(shown: &ReportView<'_>, class: &ClassScore) -> String {
    let here = shown.report.survivors.iter().filter(|survivor| {
        survivor.package == class.package && survivor.path.as_ref() == Some(&class.path)
    });
    let mut all = Vec::new();
    for survivor in here {
        let mutant = &survivor.mutant;
        let source = line(&survivor.source, 500);
        let source = if source.is_empty() {
            source
        } else {
            format!("\n{source}")
        };
        all.push(format!(
            "{} {}: {}{source}",
            shown.survivor_place(survivor),
            line(&mutant.mutator, 200),
            describe_survivor(survivor)
        ));
    }
    if all.is_empty() {
        format!("See {} {}.", shown.gate, shown.report.verdict.word())
    } else {
        all.join("\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{fail, folders, hostile, of, shown};
    use super::*;
    use quick_xml::Reader;

    /// Elements in order, with their `message` or `name`; fails on anything that is not well-formed.
    fn elements(text: &str) -> Vec<String> {
        let mut reader = Reader::from_str(text);
        let mut found = Vec::new();
        let mut depth = 0;
        loop {
            let event = reader.read_event().unwrap();
            if matches!(event, Event::Start(_)) {
                depth += 1;
            }
            match event {
                Event::Start(element) | Event::Empty(element) => {
                    let name = element.name().as_ref().to_owned();
                    let attributes: Vec<(String, String)> = element
                        .attributes()
                        .map(Result::unwrap)
                        .map(|a| {
                            let value = a
                                .normalized_value(quick_xml::XmlVersion::Implicit1_0)
                                .unwrap();
                            (a.key.as_ref().to_owned(), value.into_owned())
                        })
                        .collect();
                    let of = |key: &str| {
                        attributes
                            .iter()
                            .find(|(k, _)| k == key)
                            .map(|(_, v)| v.clone())
                    };
                    found.push(format!(
                        "{name} {}",
                        of("message").or(of("name")).unwrap_or_default()
                    ));
                }
                Event::End(_) => depth -= 1,
                Event::Eof => break,
                _ => {}
            }
        }
        assert_eq!(depth, 0);
        found
    }

    #[test]
    fn a_class_is_a_test_case_and_its_survivors_are_its_failure() {
        let (report, folders) = (fail(), folders());
        insta::assert_snapshot!(render_junit(&shown(&report, &folders)).unwrap(), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="PITEST" tests="2" failures="2" errors="0" time="6.540">
          <testsuite name="PITEST" tests="2" failures="2" errors="0" skipped="0" time="6.540">
            <testcase classname="ralph.PITEST" name="verdict">
              <failure message="The mutation score of class a.Foo of package app is 50% (1/2), below the threshold of 70%.">The mutation score of class a.Foo of package app is 50% (1/2), below the threshold of 70%.
        In addition to those shown, 3 mutants survived.</failure>
            </testcase>
            <testcase classname="ralph.PITEST" name="app: a.Foo" file="src/app/src/main/java/a/Foo.java">
              <failure message="1 killed, 0 timed out, 1 survived, 0 not covered">src/app/src/main/java/a/Foo.java:12 ConditionalsBoundary: changed conditional boundary
        in a.Foo.sum
        reached by a.FooTest, a.BarTest and 2 more
        if (a &gt; b) {

        src/app/src/main/java/a/Foo.java:20 Math: Replaced 100%, and more
        in a.Foo.&lt;init&gt;
        no test reaches it</failure>
            </testcase>
          </testsuite>
        </testsuites>
        "#);
    }

    #[test]
    fn each_verdict_has_an_element_of_its_own() {
        let folders = folders();
        let all: Vec<String> = of()
            .iter()
            .map(|report| {
                elements(&render_junit(&shown(report, &folders)).unwrap())[2..].join(" / ")
            })
            .collect();
        insta::assert_snapshot!(all.join("\n"), @"
        testcase verdict
        testcase verdict / failure The module does not compile.
        testcase verdict / skipped No production code that this gate judges was changed.
        testcase verdict / error Maven was not found.
        ");
        let skip = &of()[2];
        let strict = ReportView {
            fail_on_skip: true,
            ..shown(skip, &folders)
        };
        assert!(elements(&render_junit(&strict).unwrap())[3].starts_with("failure "));
    }

    #[test]
    fn hostile_text_is_text() {
        let (report, folders) = (hostile(), folders());
        let text = render_junit(&shown(&report, &folders)).unwrap();
        assert!(
            !text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{fffe}'),
            "{text:?}"
        );
        assert_eq!(
            elements(&text)
                .iter()
                .filter(|one| one.starts_with("testcase "))
                .count(),
            2
        );
    }
}
