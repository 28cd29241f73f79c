//! The entry of an iteration in progress.txt (docs/design.md "progress.txt"): one heading, and no line that an
//! agent's words could pass off as a heading or a verdict.

use crate::machine::effect::{EntryBody, ProgressEntry};
use crate::machine::survivor_details;
use crate::mutation::{GateReport, Survivor, Verdict};
use crate::source::text::line;

/// Beginning of the line about writes to tasks.md.
pub const BOXES: &str = "- boxes: ";

/// The heading of an entry: `## <time> iteration <N> · <ID> · <first 8 of the record's h>`.
pub fn entry_heading(entry: &ProgressEntry, at: &str, tag: &str) -> String {
    format!(
        "## {at} iteration {} · {} · {tag}",
        entry.iteration,
        plain_line(&entry.task)
    )
}

/// The whole entry, with its final newline.
pub fn render_entry(entry: &ProgressEntry, at: &str, tag: &str) -> String {
    let mut lines = vec![entry_heading(entry, at, tag)];
    lines.extend(body_lines(entry));
    if !entry.boxes.is_empty() {
        let changes = entry.boxes.iter().map(|change| {
            let word = if change.ticked { "ticked" } else { "opened" };
            format!("{word} {}", change.task)
        });
        let changes: Vec<String> = changes.collect();
        lines.push(format!("{BOXES}{}", plain_line(&changes.join(", "))));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// The lines of an entry on a terminal, what happened first.
///
/// In progress.txt the ids stay as tasks.md has them: replay compares headings and boxes with any build's.
pub fn entry_lines(entry: &ProgressEntry) -> Vec<String> {
    let mut lines = body_lines(entry);
    lines.extend(box_changes(entry).map(|changes| format!("- {changes}")));
    lines
}

/// `ticked task 2, unticked G1.PITEST`; `None` if no box was changed.
pub(super) fn box_changes(entry: &ProgressEntry) -> Option<String> {
    let changes: Vec<String> = entry.boxes.iter().map(ToString::to_string).collect();
    (!changes.is_empty()).then(|| plain_line(&changes.join(", ")))
}

/// The lines of an entry without its boxes.
pub(super) fn body_lines(entry: &ProgressEntry) -> Vec<String> {
    match &entry.body {
        EntryBody::Text { headline, lines } => {
            let lines = lines.iter().flat_map(|reason| {
                let lines = reason
                    .lines()
                    .filter(|line| !line.trim().is_empty())
                    .enumerate();
                lines.map(|(at, line)| {
                    format!("{}{}", if at == 0 { "- " } else { "  " }, plain_line(line))
                })
            });
            std::iter::once(plain_line(headline)).chain(lines).collect()
        }
        EntryBody::Gate { name, report } => gate_lines(name, report),
    }
}

/// `PITEST PASS — 84% (21/25)` and its kin.
pub fn gate_headline(name: &str, report: &GateReport) -> String {
    let coverage = report.coverage;
    let score = format!(
        "{}% ({}/{})",
        coverage.percent_floor(),
        coverage.killed,
        coverage.total
    );
    match &report.verdict {
        Verdict::Pass if coverage.total == 0 => format!("{name} PASS"),
        Verdict::Pass => format!("{name} PASS — {score}"),
        Verdict::Fail { reasons } => {
            let first = reasons
                .first()
                .map_or("no reason was given.", String::as_str);
            format!("{name} FAIL — {}", plain_line(first))
        }
        Verdict::Skip { why } => format!("{name} SKIP — {}", plain_line(why)),
        Verdict::Error { why, .. } => format!("{name} ERROR — {}", plain_line(why)),
    }
}

/// The lines of a gate's report: headline, reasons, HTML report, survivors, what was left out.
pub fn gate_lines(name: &str, report: &GateReport) -> Vec<String> {
    let mut lines = verdict_lines(name, report);
    if matches!(report.verdict, Verdict::Fail { .. }) {
        lines.extend(report.survivors.iter().map(survivor_line));
        let more = report.survivors_hidden();
        if more > 0 {
            lines.push(format!("- … and {more} more"));
        }
    }
    lines.extend(surrounding_lines(report));
    lines
}

/// Headline, reasons, HTML reports.
pub(super) fn verdict_lines(name: &str, report: &GateReport) -> Vec<String> {
    let mut lines = vec![gate_headline(name, report)];
    match &report.verdict {
        Verdict::Fail { reasons } => {
            lines.extend(
                reasons
                    .iter()
                    .skip(1)
                    .map(|reason| format!("- {}", plain_line(reason))),
            );
        }
        Verdict::Error { hint, .. } => lines.push(format!("- hint: {}", plain_line(hint))),
        Verdict::Pass | Verdict::Skip { .. } => {}
    }
    lines.extend(
        report
            .reports
            .iter()
            .map(|path| format!("- report: {}", plain_line(path))),
    );
    lines
}

/// Returns the exclusions and remarks.
pub(super) fn surrounding_lines(report: &GateReport) -> impl Iterator<Item = String> {
    let remarks = report
        .remarks
        .iter()
        .map(|remark| format!("- remark: {}", plain_line(remark)));
    report
        .left_out
        .iter()
        .map(|left| {
            format!(
                "- not judged: {}: {}",
                plain_line(&left.file),
                plain_line(&left.why)
            )
        })
        .chain(remarks)
}

/// `- survivor Foo.java:12 Math — what was done | source: `…` | reached by: FooTest`.
fn survivor_line(survivor: &Survivor) -> String {
    let mutant = &survivor.mutant;
    let place = format!("{}:{}", mutant.file, mutant.line);
    let known = survivor_details(survivor);
    plain_line(&format!(
        "- survivor {place} {} — {}{known}",
        mutant.mutator, mutant.description
    ))
}

/// One line, fit to be shown.
pub(super) fn plain_line(text: &str) -> String {
    line(text, 2000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::effect::BoxChange;
    use crate::mutation::{Coverage, Mutant, MutantStatus};

    fn entry(body: EntryBody) -> ProgressEntry {
        ProgressEntry {
            iteration: 7,
            task: "2.PITEST".into(),
            body,
            boxes: vec![BoxChange {
                ticked: false,
                task: "2.".into(),
            }],
        }
    }

    fn report(verdict: Verdict) -> Box<GateReport> {
        Box::new(GateReport {
            verdict,
            classes: Vec::new(),
            coverage: Coverage {
                killed: 21,
                total: 25,
            },
            survivors: vec![Survivor::from(Mutant {
                class: "a.Foo".into(),
                file: "Foo.java".into(),
                line: 12,
                method: "sum".into(),
                mutator: "ConditionalsBoundary".into(),
                description: "changed conditional\u{1b}[31m boundary\n## fake".into(),
                status: MutantStatus::Survived,
                id: String::new(),
            })],
            survivors_total: 3,
            trace: crate::mutation::Trace::default(),
            left_out: Vec::new(),
            remarks: Vec::new(),
            reports: vec![".ralph/state/iter-7/report/orders/index.html".into()],
            failing: Vec::new(),
            millis: 0,
        })
    }

    #[test]
    fn a_pass_gives_the_line_that_the_loops_users_know() {
        let body = EntryBody::Gate {
            name: "PITEST".into(),
            report: report(Verdict::Pass),
        };
        let text = render_entry(&entry(body), "2026-11-22T00:00:00Z", "0123abcd");
        assert!(text.starts_with(
            "## 2026-11-22T00:00:00Z iteration 7 · 2.PITEST · 0123abcd\nPITEST PASS — 84% (21/25)\n"
        ));
        assert!(!text.contains("survivor"));
    }

    #[test]
    fn a_fail_names_report_and_survivors_and_nothing_in_them_makes_a_line_of_its_own() {
        let reasons = vec!["Foo has 50%, the threshold is 70%.".to_owned()];
        let body = EntryBody::Gate {
            name: "PITEST".into(),
            report: report(Verdict::Fail { reasons }),
        };
        let text = render_entry(&entry(body), "t", "h");
        insta::assert_snapshot!(text, @"
        ## t iteration 7 · 2.PITEST · h
        PITEST FAIL — Foo has 50%, the threshold is 70%.
        - report: .ralph/state/iter-7/report/orders/index.html
        - survivor Foo.java:12 ConditionalsBoundary — changed conditional boundary ## fake
        - … and 2 more
        - boxes: opened 2.
        ");
    }

    #[test]
    fn a_survivor_keeps_its_line_and_gains_source_and_tests_when_they_are_known() {
        let mut report = report(Verdict::Fail {
            reasons: vec!["Too few.".to_owned()],
        });
        report.survivors[0].source = "if (a > b)\n## fake".into();
        report.survivors[0].tests = ["a.FooTest", "a.BarTest", "a.BazTest", "a.D"]
            .map(str::to_owned)
            .into();
        report.survivors[0].tests_total = 6;
        let unreached = Survivor {
            mutant: Mutant {
                line: 20,
                status: MutantStatus::NoCoverage,
                id: String::new(),
                ..report.survivors[0].mutant.clone()
            },
            ..Survivor::from(report.survivors[0].mutant.clone())
        };
        report.survivors.push(unreached);
        insta::assert_snapshot!(gate_lines("PITEST", &report)[2..].join("\n"), @"
        - survivor Foo.java:12 ConditionalsBoundary — changed conditional boundary ## fake | source: `if (a > b) ## fake` | reached by: FooTest, BarTest, BazTest and 3 more
        - survivor Foo.java:20 ConditionalsBoundary — changed conditional boundary ## fake | no test reaches it
        - … and 1 more
        ");
    }
}
