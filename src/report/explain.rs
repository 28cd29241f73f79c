//! `ralph gate --explain`: scope, phases, runs of the engine, and where the time went.

use crate::mutation::{GateReport, TracePhase, TraceTier};
use crate::source::text::{after_folder, count, line, some_names};

/// The lines, for people.
pub fn explain_report(name: &str, report: &GateReport) -> Vec<String> {
    let mut lines = vec![format!("How {} came to its verdict", plain_line(name))];
    lines.extend(scope_lines(report));
    lines.extend(tier_lines(report));
    lines.extend(phase_lines(report));
    lines
}

/// Targets and what was left out.
fn scope_lines(report: &GateReport) -> Vec<String> {
    let judged = count(report.classes.len() as u64, "class");
    let left = count(report.left_out.len() as u64, "changed file");
    let mut lines = vec![format!("  scope: {judged} judged, {left} left out")];
    lines.extend(report.classes.iter().map(|class| {
        let tally = &class.tally;
        plain_line(&format!(
            "    {}: {tally}, {} without verdict",
            after_folder(&class.package, &class.class),
            tally.errors
        ))
    }));
    lines.extend(
        report
            .left_out
            .iter()
            .map(|left| plain_line(&format!("    left out {}: {}", left.file, left.why))),
    );
    lines
}

/// The runs of the mutation engine.
fn tier_lines(report: &GateReport) -> Vec<String> {
    let tiers = &report.trace.tiers;
    if tiers.is_empty() {
        return vec!["  runs: the single runs of the mutation engine are not known".to_owned()];
    }
    let mut lines = vec![format!("  runs: {} of the mutation engine", tiers.len())];
    for tier in tiers {
        lines.push(tier_line(tier));
        lines.extend((tier.tests_total > 0).then(|| tests_line(tier)));
    }
    lines
}

fn tier_line(tier: &TraceTier) -> String {
    let TraceTier {
        module,
        name,
        killed,
        ..
    } = tier;
    let timed_out = text_if(tier.timed_out > 0, || {
        format!(", {} of them timed out", tier.timed_out)
    });
    let (mutants, time, note) = (
        count(tier.mutants, "mutant"),
        seconds_text(tier.millis),
        note_text(&tier.note),
    );
    plain_line(&format!(
        "    {}: {mutants} tried, {killed} killed{timed_out}, {time}{note}",
        after_folder(module, name)
    ))
}

fn tests_line(tier: &TraceTier) -> String {
    let named = text_if(!tier.tests.is_empty(), || {
        let tests = some_names(&tier.tests, usize::MAX, tier.tests_total);
        format!(" ({tests})")
    });
    let (coverage, timeout) = (tier.coverage_millis, tier.timeout_millis);
    let coverage = text_if(coverage > 0, || {
        format!(", {} without mutation", seconds_text(coverage))
    });
    let timeout = text_if(timeout > 0, || {
        format!(", time-out constant {}", seconds_text(timeout))
    });
    plain_line(&format!(
        "      asked {}{named}{coverage}{timeout}",
        count(tier.tests_total, "test class")
    ))
}

/// Returns the time of each phase, with its reuse of earlier results.
fn phase_lines(report: &GateReport) -> Vec<String> {
    let phases = &report.trace.phases;
    let mut lines = vec![format!("  time: {} in all", seconds_text(report.millis))];
    lines.extend(phases.iter().map(phase_line));
    if phases.is_empty() {
        lines.push("    the single phases are not known".to_owned());
    }
    lines
}

fn phase_line(phase: &TracePhase) -> String {
    plain_line(&format!(
        "    {} {}{}",
        after_folder(&phase.module, &phase.name),
        seconds_text(phase.millis),
        note_text(&phase.note)
    ))
}

fn text_if(is_known: bool, text: impl Fn() -> String) -> String {
    if is_known { text() } else { String::new() }
}

fn note_text(note: &str) -> String {
    text_if(!note.is_empty(), || format!(": {note}"))
}

fn seconds_text(millis: u64) -> String {
    format!(
        "{:.1} s",
        std::time::Duration::from_millis(millis).as_secs_f64()
    )
}

/// One line with its indentation.
fn plain_line(text: &str) -> String {
    let indent = text.len() - text.trim_start_matches(' ').len();
    format!("{}{}", &text[..indent], line(text, 2_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::{ClassScore, ExcludedFile, Tally, Trace, Verdict};
    use crate::source::RepoPath;

    fn report() -> GateReport {
        let tally = Tally {
            killed: 10,
            survived: 7,
            no_coverage: 1,
            timed_out: 2,
            ..Tally::default()
        };
        let path = RepoPath::parse("src/main/java/a/Foo.java");
        let own = TraceTier {
            module: "app/core".into(),
            name: "own".into(),
            engine: String::new(),
            note: "50% (10/20), not enough".into(),
            tests: vec!["a.FooTest".into()],
            tests_total: 1,
            mutants: 20,
            killed: 10,
            timed_out: 2,
            coverage_millis: 700,
            timeout_millis: 1_500,
            millis: 4_260,
        };
        let all = TraceTier {
            name: "all\u{1b}[31m".into(),
            note: String::new(),
            tests_total: 31,
            mutants: 1,
            timed_out: 0,
            coverage_millis: 0,
            timeout_millis: 0,
            ..own.clone()
        };
        let phase = |module: &str, name: &str, millis, note: &str| TracePhase {
            module: module.into(),
            name: name.into(),
            millis,
            note: note.into(),
        };
        GateReport {
            classes: vec![ClassScore {
                package: "app".into(),
                path,
                class: "a.Foo".into(),
                tally,
                floor: None,
            }],
            left_out: vec![ExcludedFile {
                file: "app/src/main/java/a/Bar.java".into(),
                why: "no test class belongs to it".into(),
            }],
            millis: 9_870,
            trace: Trace {
                phases: vec![
                    phase("", "checkout", 40, "nothing had changed"),
                    phase("app/core", "compile", 2_900, "the class path was kept"),
                ],
                tiers: vec![own, all],
            },
            ..Verdict::Pass.into()
        }
    }

    #[test]
    fn scope_runs_tests_and_times_are_told() {
        insta::assert_snapshot!(explain_report("PITEST", &report()).join("\n"), @"
        How PITEST came to its verdict
          scope: 1 class judged, 1 changed file left out
            app a.Foo: 10 killed, 2 timed out, 7 survived, 1 not covered, 0 without verdict
            left out app/src/main/java/a/Bar.java: no test class belongs to it
          runs: 2 of the mutation engine
            app/core own: 20 mutants tried, 10 killed, 2 of them timed out, 4.3 s: 50% (10/20), not enough
              asked 1 test class (a.FooTest), 0.7 s without mutation, time-out constant 1.5 s
            app/core all: 1 mutant tried, 10 killed, 4.3 s
              asked 31 test classes (a.FooTest and 30 more)
          time: 9.9 s in all
            checkout 0.0 s: nothing had changed
            app/core compile 2.9 s: the class path was kept
        ");
    }

    #[test]
    fn what_is_not_known_is_said_to_be_unknown() {
        let report = GateReport::from(Verdict::Skip { why: "x".into() });
        insta::assert_snapshot!(explain_report("PITEST", &report).join("\n"), @"
        How PITEST came to its verdict
          scope: 0 classes judged, 0 changed files left out
          runs: the single runs of the mutation engine are not known
          time: 0.0 s in all
            the single phases are not known
        ");
    }
}
