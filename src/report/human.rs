//! A gate's report for the person who asked for it: every survivor at `file:line`, which terminals and editors open.

use super::annotations::{ReportView, reach_text};
use super::progress::{plain_line, surrounding_lines, verdict_lines};
use crate::mutation::Survivor;
use crate::source::text::{after_folder, line};

pub fn report_lines(shown: &ReportView<'_>) -> Vec<String> {
    let report = shown.report;
    let mut lines: Vec<String> = report
        .classes
        .iter()
        .map(|it| {
            plain_line(&format!(
                "{}: {}",
                after_folder(&it.package, &it.class),
                it.tally
            ))
        })
        .collect();
    lines.extend(verdict_lines(shown.gate, report));
    for survivor in &report.survivors {
        lines.extend(survivor_lines(shown, survivor));
    }
    let more = report.survivors_hidden();
    if more > 0 {
        lines.push(format!("… and {more} more survivors"));
    }
    lines.extend(surrounding_lines(report));
    lines
}

/// `file:line`, what the mutation did; the source line; the tests that reach it.
fn survivor_lines(shown: &ReportView<'_>, survivor: &Survivor) -> Vec<String> {
    let mutant = &survivor.mutant;
    let changed = if survivor.changed {
        ", on a changed line"
    } else {
        ""
    };
    let mut lines = vec![plain_line(&format!(
        "{}: {} ({}{changed})",
        shown.survivor_place(survivor),
        mutant.description,
        mutant.mutator
    ))];
    let source = line(&survivor.source, 300);
    if !source.is_empty() {
        lines.push(format!("    {source}"));
    }
    lines.extend(reach_text(survivor).map(|reach| format!("    {reach}")));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::annotations::tests::{fail, folders, hostile, shown};

    #[test]
    fn a_survivor_has_its_place_its_source_line_and_its_tests() {
        let (report, folders) = (fail(), folders());
        insta::assert_snapshot!(report_lines(&shown(&report, &folders)).join("\n"), @"
        app a.Foo: 1 killed, 0 timed out, 1 survived, 0 not covered
        PITEST FAIL — The mutation score of class a.Foo of package app is 50% (1/2), below the threshold of 70%.
        - report: .ralph/state/iter-7/report/index.html
        src/app/src/main/java/a/Foo.java:12: changed conditional boundary (ConditionalsBoundary, on a changed line)
            if (a > b) {
            reached by a.FooTest, a.BarTest and 2 more
        src/app/src/main/java/a/Foo.java:20: Replaced 100%, and more (Math)
            no test reaches it
        … and 3 more survivors
        ");
    }

    #[test]
    fn hostile_text_makes_no_line_of_its_own() {
        let (report, folders) = (hostile(), folders());
        let lines = report_lines(&shown(&report, &folders));
        assert_eq!(lines.len(), 5, "{lines:#?}");
        assert!(
            lines.iter().all(|line| !line.contains(char::is_control)),
            "{lines:#?}"
        );
    }
}
