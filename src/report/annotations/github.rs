//! GitHub Actions: one workflow command for each annotation, with the escapes of `@actions/core`.

use super::{Note, ReportView, SarifLevel};
use crate::source::RepoPath;
use std::collections::BTreeMap;

/// Annotations of one level that GitHub shows of a step; it drops the others without a word.
const SHOWN: usize = 10;

/// One workflow command for each annotation, without a final line end.
pub fn render_github(shown: &ReportView<'_>) -> String {
    within_limit(shown.report_notes().iter().map(command)).join("\n")
}

/// Returns at most ten commands of each level. The tenth ends with the number of the others.
pub fn within_limit(commands: impl Iterator<Item = String>) -> Vec<String> {
    let all: Vec<String> = commands.collect();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for command in &all {
        *counts.entry(level_of(command)).or_default() += 1;
    }
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut shown = Vec::new();
    for mut command in all {
        let level = level_of(&command);
        let more = counts
            .get(&level)
            .copied()
            .unwrap_or_default()
            .saturating_sub(SHOWN);
        let seen = seen.entry(level).or_default();
        *seen += 1;
        if *seen == SHOWN && more > 0 {
            command.push_str(&escape_data(&format!(
                "\nGitHub shows {SHOWN} of a kind: {more} more are in the report."
            )));
        }
        if *seen <= SHOWN {
            shown.push(command);
        }
    }
    shown
}

fn level_of(command: &str) -> String {
    command.split(' ').next().unwrap_or_default().to_owned()
}

fn command(note: &Note) -> String {
    let name = match note.level {
        SarifLevel::Error => "error",
        SarifLevel::Warning => "warning",
        SarifLevel::Note => "notice",
    };
    let file = note.file.as_ref().map(RepoPath::to_text);
    let place = file.as_deref().map(|file| (file, u64::from(note.line)));
    let text = [note.text.as_str(), note.source.as_str()].join("\n");
    workflow_command(name, place, &note.title, text.trim_end_matches('\n'))
}

/// `::error file=…,line=…,title=…::text`; `name` is `error`, `warning` or `notice`. The text may have several lines.
pub fn workflow_command(name: &str, place: Option<(&str, u64)>, title: &str, text: &str) -> String {
    let place = place.map(|(file, line)| format!("file={},line={line},", escape_property(file)));
    format!(
        "::{name} {}title={}::{}",
        place.unwrap_or_default(),
        escape_property(title),
        escape_data(text)
    )
}

fn escape_data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{fail, folders, hostile, of, shown};
    use super::*;

    #[test]
    fn the_verdict_comes_first_and_each_survivor_stands_on_its_line() {
        let (report, folders) = (fail(), folders());
        insta::assert_snapshot!(render_github(&shown(&report, &folders)), @"
        ::error file=src/app/src/main/java/a/Foo.java,line=1,title=PITEST FAIL::The mutation score of class a.Foo of package app is 50%25 (1/2), below the threshold of 70%25.%0AIn addition to those shown, 3 mutants survived.
        ::error file=src/app/src/main/java/a/Foo.java,line=12,title=PITEST%3A a mutant survived (ConditionalsBoundary)::changed conditional boundary%0Ain a.Foo.sum%0Areached by a.FooTest, a.BarTest and 2 more%0Aif (a > b) {
        ::error file=src/app/src/main/java/a/Foo.java,line=20,title=PITEST%3A a mutant survived (Math)::Replaced 100%25, and more%0Ain a.Foo.<init>%0Ano test reaches it
        ");
    }

    #[test]
    fn the_tenth_of_a_level_says_how_many_more_there_are() {
        let command =
            |at: usize| workflow_command(if at == 0 { "warning" } else { "error" }, None, "a", "b");
        let told = within_limit((0..15).map(command));
        assert_eq!(told.len(), 11);
        assert!(
            told[10].ends_with("::b%0AGitHub shows 10 of a kind: 4 more are in the report."),
            "{}",
            told[10]
        );
        assert_eq!(
            within_limit((1..11).map(command)).last().unwrap(),
            "::error title=a::b"
        );
    }

    #[test]
    fn a_verdict_without_survivors_is_shown_too() {
        let folders = folders();
        let all: Vec<String> = of()
            .iter()
            .map(|report| render_github(&shown(report, &folders)))
            .collect();
        insta::assert_snapshot!(all.join("\n"), @"
        ::notice title=PITEST PASS::PITEST PASS — 84%25 (21/25)
        ::error title=PITEST FAIL::The module does not compile.%0AFoo.java:3: ';' expected
        ::notice title=PITEST SKIP::No production code that this gate judges was changed.
        ::error title=PITEST ERROR::Maven was not found.%0Ahint: Install it.
        ");
        let skip = ReportView {
            fail_on_skip: true,
            ..shown(&of()[2], &folders)
        }
        .report_notes();
        assert!(command(&skip[0]).starts_with("::error title=PITEST SKIP::"));
    }

    #[test]
    fn hostile_text_stays_inside_its_command() {
        let (report, folders) = (hostile(), folders());
        let text = render_github(&shown(&report, &folders));
        assert_eq!(text.lines().count(), 2, "{text}");
        for line in text.lines() {
            assert!(
                line.starts_with("::error ") && !line.contains(|c: char| c.is_control()),
                "{line}"
            );
            let properties = &line[8..line[8..].find("::").unwrap() + 8];
            for property in properties.split(',') {
                let (key, value) = property.split_once('=').unwrap();
                assert!(
                    ["file", "line", "title"].contains(&key) && !value.contains(':'),
                    "{properties}"
                );
            }
        }
        assert!(text.contains("100%25 ::error::"), "{text}");
    }
}
