//! The report that viewers of mutation tests share: JSON as the mutation-testing-report-schema (version 2) has it, and one
//! HTML file with it that needs no other.
//!
//! Promises: what a source or an engine says is data in both; a mutant has its whole line for a place, since not every engine
//! knows columns; the same mutants give the same bytes.

use super::annotations::reached_by;
use crate::machine::facts::full_path;
use crate::mutation::{GateReport, Mutant, MutantStatus, Survivor};
use crate::source::text::{line, names};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The component that shows a report (templates/report/mutation-test-elements.NOTICE).
const ELEMENTS: &str = include_str!("../../templates/report/mutation-test-elements.js");
/// The page around it.
const PAGE: &str = include_str!("../../templates/report/mutation-test.html");
/// Characters of what an engine says.
const CHARS: usize = 500;

/// A file, and its mutants.
#[derive(Clone, Debug, Default)]
pub struct ReportedFile {
    /// Its path, with its package in front.
    pub path: String,
    /// Its text.
    pub source: String,
    pub mutants: Vec<ReportedMutant>,
}

/// A mutant of a file.
#[derive(Clone, Debug, Default)]
pub struct ReportedMutant {
    pub mutant: Mutant,
    /// Some of the tests that reach it.
    pub tests: Vec<String>,
    /// Number of mutants.
    pub tests_total: u64,
}

/// The report as JSON; `threshold` in per cent.
pub fn report_facts(files: &[ReportedFile], threshold: u32) -> Value {
    let mut all = Map::new();
    for file in files {
        let lines: Vec<&str> = file.source.lines().collect();
        let mut mutants: Vec<&ReportedMutant> = file.mutants.iter().collect();
        mutants.sort_by(|a, b| (a.mutant.line, &a.mutant).cmp(&(b.mutant.line, &b.mutant)));
        let shown = all.entry(line(&file.path, CHARS)).or_insert_with(
            || json!({"language": file_language(&file.path), "source": file.source, "mutants": []}),
        );
        if let Some(Value::Array(known)) = shown.get_mut("mutants") {
            let first = known.len() + 1;
            known.extend(
                mutants
                    .iter()
                    .zip(first..)
                    .map(|(mutant, id)| mutant_fact(mutant, id, &lines)),
            );
        }
    }
    json!({
        "schemaVersion": "2",
        "thresholds": {"high": threshold, "low": threshold},
        "framework": {"name": "ralph", "version": env!("CARGO_PKG_VERSION")},
        "files": all,
    })
}

fn mutant_fact(reported: &ReportedMutant, id: usize, lines: &[&str]) -> Value {
    let mutant = &reported.mutant;
    let (status, why) = status_words(mutant.status);
    let reason = why
        .map(str::to_owned)
        .or_else(|| reached_by(&reported.tests, reported.tests_total));
    let mut fact = json!({
        "id": id.to_string(),
        "mutatorName": line(&mutant.mutator, CHARS),
        "description": describe_mutant(mutant),
        "status": status,
        "location": line_span(mutant.line, lines),
    });
    if let Some(reason) = reason {
        fact["statusReason"] = line(&reason, CHARS).into();
    }
    fact
}

fn describe_mutant(mutant: &Mutant) -> String {
    line(
        &format!("{} ({})", mutant.description, mutant.method),
        CHARS,
    )
}

/// Returns whether a survivor of an earlier run lives by this report: the same change of the same line. `None` if that line reads
/// otherwise or is not known, or the report does not tell such a mutant from another.
pub fn survivor_lives(facts: &Value) -> impl Fn(&Survivor) -> Option<bool> {
    let fates = mutant_fates(facts);
    move |survivor| {
        let mutant = &survivor.mutant;
        let path = line(
            &full_path(&survivor.package, survivor.path.as_ref()?),
            CHARS,
        );
        let source = facts["files"][&path]["source"].as_str()?;
        let text = source.lines().nth(mutant.line.checked_sub(1)? as usize)?;
        let (name, description) = (line(&mutant.mutator, CHARS), describe_mutant(mutant));
        let fates = fates.get(&(&*path, mutant.line.into(), &*name, &*description))?;
        let fate = fates
            .first()
            .filter(|fate| fates.iter().all(|other| other == *fate))?;
        let is_same = !survivor.source.is_empty() && text.trim() == survivor.source;
        (is_same && *fate != UNKNOWN).then_some(*fate == ALIVE)
    }
}

/// Returns a sentence about the first mutant with another fate in two reports, or `None`.
pub fn other_fate(was: &Value, is: &Value) -> Option<String> {
    let (then, now) = (mutant_fates(was), mutant_fates(is));
    let mutant = then
        .keys()
        .chain(now.keys())
        .find(|mutant| then.get(*mutant) != now.get(*mutant))?;
    let [then, now] = [&then, &now].map(|all| {
        all.get(mutant)
            .map_or("not there".to_owned(), |all| all.join(", "))
    });
    let (path, number, name, description) = mutant;
    let mutant = line(&format!("{path}:{number} {name} {description}"), CHARS);
    Some(format!(
        "The mutant {mutant} was {then} then, and is {now} now."
    ))
}

const ALIVE: &str = "alive";
const UNKNOWN: &str = "without a verdict";

/// Returns the fates of mutants by file, line, mutator and description; equal mutants have one fate each.
fn mutant_fates(facts: &Value) -> BTreeMap<(&str, u64, &str, &str), Vec<&'static str>> {
    let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (path, file) in facts["files"].as_object().into_iter().flatten() {
        for mutant in file["mutants"].as_array().into_iter().flatten() {
            let text = |key: &str| mutant[key].as_str().unwrap_or_default();
            let line = mutant["location"]["start"]["line"]
                .as_u64()
                .unwrap_or_default();
            let fate = match text("status") {
                "Killed" | "Timeout" => "killed",
                "Survived" | "NoCoverage" => ALIVE,
                _ => UNKNOWN,
            };
            all.entry((
                path.as_str(),
                line,
                text("mutatorName"),
                text("description"),
            ))
            .or_default()
            .push(fate);
        }
    }
    for fates in all.values_mut() {
        fates.sort_unstable();
    }
    all
}

/// The whole line, without its indentation. Lines and columns count from 1, the end is behind the last character; columns
/// are those of UTF-16, as in a browser.
fn line_span(number: u32, lines: &[&str]) -> Value {
    let number = number.max(1);
    let text = (number as usize)
        .checked_sub(1)
        .and_then(|at| lines.get(at))
        .copied()
        .unwrap_or_default();
    let indent = &text[..text.len() - text.trim_start().len()];
    let start = indent.encode_utf16().count() + 1;
    let end = (text.trim_end().encode_utf16().count() + 1).max(start + 1);
    json!({"start": {"line": number, "column": start}, "end": {"line": number, "column": end}})
}

/// The schema's word, and why where that word does not say it.
fn status_words(status: MutantStatus) -> (&'static str, Option<&'static str>) {
    match status {
        MutantStatus::Killed => ("Killed", None),
        MutantStatus::Survived => ("Survived", None),
        MutantStatus::NoCoverage => ("NoCoverage", None),
        MutantStatus::TimedOut => ("Timeout", None),
        MutantStatus::NonViable => ("CompileError", None),
        MutantStatus::MemoryError => ("RuntimeError", Some("out of memory")),
        MutantStatus::RunError => ("RuntimeError", None),
        MutantStatus::Equivalent => ("Ignored", Some("marked as equivalent")),
        MutantStatus::Unjudged => (
            "Ignored",
            Some("may run only while its class is initialised"),
        ),
    }
}

fn file_language(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("java") => "java",
        Some("py") => "python",
        Some("rs") => "rust",
        Some("ts" | "tsx" | "mts" | "cts") => "typescript",
        Some("js" | "jsx" | "mjs" | "cjs") => "javascript",
        _ => "text",
    }
}

/// Names the report of a gate: `2.PITEST FAIL, 55% of 70%: org.example.Shipping`.
pub fn title(name: &str, report: &GateReport, threshold: u32) -> String {
    let mut title = format!("{name} {}", report.verdict.word());
    if report.coverage.total > 0 {
        let percent = report.coverage.percent_floor();
        let _ = write!(title, ", {percent}% of {threshold}%");
    }
    let failing = report.classes.iter().filter(|class| {
        let file = full_path(&class.package, &class.path);
        report.failing.contains(&file)
    });
    let failing: Vec<&str> = failing.map(|class| class.class.as_str()).collect();
    if !failing.is_empty() {
        let _ = write!(title, ": {}", names(&failing, 3));
    }
    line(&title, CHARS)
}

/// Returns the report as a page with this title.
pub fn render_html(facts: &Value, title: &str) -> String {
    let mut shown = String::new();
    for c in title.chars() {
        // A brace could be taken for a placeholder of the template.
        if "&<>\"{".contains(c) {
            let _ = write!(shown, "&#{};", u32::from(c));
        } else {
            shown.push(c);
        }
    }
    // In a script nothing but these can end it, or begin a comment.
    let data = facts
        .to_string()
        .replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029");
    PAGE.replace("{{ title }}", &shown)
        .replacen("{{ elements }}", ELEMENTS, 1)
        .replacen("{{ facts }}", &data, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::{ClassScore, Coverage, Tally, Verdict};
    use crate::source::RepoPath;

    fn mutant(number: u32, status: MutantStatus) -> ReportedMutant {
        let mutant = Mutant {
            class: "a.Foo".into(),
            file: "Foo.java".into(),
            line: number,
            method: "net".into(),
            mutator: "Math".into(),
            description: "Replaced </script><script>alert(1)//\u{2028}".into(),
            status,
            id: String::new(),
        };
        ReportedMutant {
            mutant,
            tests: vec!["a.FooTest".into()],
            tests_total: 3,
        }
    }

    fn files() -> Vec<ReportedFile> {
        use MutantStatus as S;
        let all = [
            S::Killed,
            S::Survived,
            S::NoCoverage,
            S::TimedOut,
            S::NonViable,
            S::MemoryError,
            S::RunError,
            S::Equivalent,
            S::Unjudged,
        ];
        let mutants = all
            .into_iter()
            .zip([2, 1, 1, 3, 0, 9, 2, 2, 2])
            .map(|(status, line)| mutant(line, status));
        let source = "class Foo {\n  \"ä😀</script>\";  \n\n}\n<!-- <script>".to_owned();
        vec![
            ReportedFile {
                path: "app/src/Foo.java".into(),
                source,
                mutants: mutants.collect(),
            },
            ReportedFile {
                path: "web/a.ts".into(),
                ..ReportedFile::default()
            },
        ]
    }

    #[test]
    fn the_report_is_what_the_published_schema_says() {
        let schema = include_str!("../../tests/fixtures/mutation-testing-report-schema.json");
        let schema: Value = serde_json::from_str(schema).unwrap();
        let mut compiler = boon::Compiler::new();
        compiler.add_resource("schema.json", schema).unwrap();
        let mut schemas = boon::Schemas::new();
        let index = compiler.compile("schema.json", &mut schemas).unwrap();
        let facts = report_facts(&files(), 80);
        schemas
            .validate(&facts, index)
            .unwrap_or_else(|error| panic!("{error:#}"));
        let mut wrong = facts.clone();
        wrong["files"]["app/src/Foo.java"]["mutants"][0]["status"] = "killed".into();
        assert!(schemas.validate(&wrong, index).is_err());

        let mutants = facts["files"]["app/src/Foo.java"]["mutants"]
            .as_array()
            .unwrap();
        assert_eq!(mutants.len(), 9);
        let killed = mutants
            .iter()
            .find(|one| one["status"] == "Killed")
            .unwrap();
        // Two columns of blanks; the smile counts twice.
        assert_eq!(
            killed["location"],
            json!({"start": {"line": 2, "column": 3}, "end": {"line": 2, "column": 18}})
        );
        assert_eq!(killed["statusReason"], "reached by a.FooTest and 2 more");
        let none = mutants
            .iter()
            .find(|one| one["status"] == "RuntimeError")
            .unwrap();
        assert!(
            none["location"]["end"]["column"].as_u64()
                > none["location"]["start"]["column"].as_u64()
        );
    }

    #[test]
    fn tests_that_are_not_named_are_counted_once() {
        let tests = (1..=7).map(|number| format!("a.Foo{number}Test")).collect();
        let reported = ReportedMutant {
            tests,
            tests_total: 9,
            ..mutant(1, MutantStatus::Survived)
        };
        let reason = mutant_fact(&reported, 1, &[])["statusReason"].clone();
        let named = "a.Foo1Test, a.Foo2Test, a.Foo3Test, a.Foo4Test, a.Foo5Test";
        assert_eq!(reason, format!("reached by {named} and 4 more"));
    }

    #[test]
    fn the_title_names_task_verdict_score_and_failing_classes() {
        let class = |path: &str| ClassScore {
            package: "app".into(),
            path: RepoPath::parse(path),
            class: path.replace('/', "."),
            tally: Tally::default(),
            floor: None,
        };
        let (killed, total) = (10, 18);
        let reasons = vec!["Too few.".to_owned()];
        let mut report = GateReport::from(Verdict::Fail { reasons });
        assert_eq!(title("PITEST", &report, 70), "PITEST FAIL");
        report.coverage = Coverage { killed, total };
        report.classes = vec![class("a/Foo"), class("a/Bar")];
        report.failing = vec!["app/a/Foo".to_owned()];
        assert_eq!(
            title("2.PITEST", &report, 70),
            "2.PITEST FAIL, 55% of 70%: a.Foo"
        );
    }

    #[test]
    fn nothing_in_a_report_ends_the_script_of_its_page() {
        let title = "</title><script>\" onload=x {{ facts }}";
        let page = render_html(&report_facts(&files(), 80), title);
        assert_eq!(page.matches("<script>").count(), 2, "the page has two");
        assert!(page.contains("&#34; onload=x &#123;&#123; facts }}"));
        let data = page.split(".report = ").last().unwrap();
        assert_eq!(data.matches("</script").count(), 1, "its own end");
        assert!(!data.contains("<!--") && !data.contains('\u{2028}'));
        let json = data.split(";\n</script>").next().unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(json).unwrap(),
            report_facts(&files(), 80)
        );
        assert!(!ELEMENTS.to_lowercase().contains("</script"));
    }

    #[test]
    fn a_survivor_is_found_again_by_the_same_change_of_the_same_line() {
        use MutantStatus as S;
        let source = "class Foo {\n  int a = b + c + d;\n}\n".to_owned();
        let of = |statuses: &[MutantStatus]| {
            let mutants = statuses.iter().map(|status| mutant(2, *status)).collect();
            report_facts(
                &[ReportedFile {
                    path: "app/src/Foo.java".into(),
                    source: source.clone(),
                    mutants,
                }],
                80,
            )
        };
        let survivor = Survivor {
            package: "app".into(),
            path: Some(RepoPath::parse("src/Foo.java")),
            source: "int a = b + c + d;".into(),
            ..Survivor::from(mutant(2, MutantStatus::Survived).mutant)
        };
        for (statuses, expected) in [
            (&[S::Killed][..], Some(false)),
            (&[S::TimedOut, S::Killed], Some(false)),
            (&[S::Survived], Some(true)),
            (&[S::NoCoverage], Some(true)),
            // Two that are alike, and one that has no verdict.
            (&[S::Killed, S::Survived], None),
            (&[S::RunError], None),
            (&[], None),
        ] {
            assert_eq!(
                survivor_lives(&of(statuses))(&survivor),
                expected,
                "{statuses:?}"
            );
        }
        let killed = of(&[S::Killed]);
        let other = |change: fn(&mut Survivor)| {
            let mut survivor = survivor.clone();
            change(&mut survivor);
            survivor_lives(&killed)(&survivor)
        };
        assert_eq!(other(|it| it.source = "int a = b - c;".into()), None);
        assert_eq!(other(|it| it.source.clear()), None);
        assert_eq!(other(|it| it.mutant.line = 3), None);
        assert_eq!(other(|it| it.mutant.method = "gross".into()), None);
        assert_eq!(other(|it| it.package = "web".into()), None);
        assert_eq!(survivor_lives(&Value::Null)(&survivor), None);
    }

    #[test]
    fn the_mutant_is_named_that_two_reports_tell_otherwise() {
        let one = |status| {
            let mutants = vec![mutant(1, MutantStatus::Killed), mutant(2, status)];
            report_facts(
                &[ReportedFile {
                    path: "app/Foo.java".into(),
                    source: String::new(),
                    mutants,
                }],
                80,
            )
        };
        let (killed, lived) = (one(MutantStatus::Killed), one(MutantStatus::Survived));
        assert_eq!(other_fate(&killed, &one(MutantStatus::TimedOut)), None);
        let told = other_fate(&killed, &lived).unwrap();
        assert!(
            told.starts_with("The mutant app/Foo.java:2 Math Replaced "),
            "{told}"
        );
        assert!(
            told.ends_with(" was killed then, and is alive now."),
            "{told}"
        );
        let none = report_facts(&[], 80);
        assert!(
            other_fate(&lived, &none)
                .unwrap()
                .ends_with("was killed then, and is not there now.")
        );
        assert!(
            other_fate(&none, &lived)
                .unwrap()
                .ends_with("was not there then, and is killed now.")
        );
    }

    #[test]
    fn classes_of_one_file_stand_together() {
        let mut twice = files();
        twice[1].path = "app/src/Foo.java".into();
        twice[1].mutants = vec![mutant(1, MutantStatus::Killed)];
        let facts = report_facts(&twice, 80);
        let mutants = facts["files"]["app/src/Foo.java"]["mutants"]
            .as_array()
            .unwrap();
        assert_eq!((mutants.len(), &mutants[9]["id"]), (10, &json!("10")));
    }
}
