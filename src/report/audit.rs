//! Results of an audit of a history: for each box that was ticked, what a gate says of the commits behind it.
//!
//! Promises: only a gate's PASS makes a box true and only its FAIL untrue; what could not be judged is neither, and is
//! counted apart. Where several boxes were ticked at once, each stands for the changed files that its text names and
//! for those that no text names; what cannot be divided like this holds for all of them.

use super::progress::{gate_headline, gate_lines, plain_line};
use crate::machine::facts::{FileChange, full_path};
use crate::mutation::{GateReport, NoCoverage, Tally, Verdict, WHAT_TO_DO};
use crate::source::text::{count, duration};
use crate::task::spoken_id;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A box that the history ticked. A field, once released, keeps its name and meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PastBox {
    /// Its name: as in the task file, a commit, a tag.
    pub task: String,
    /// Its text; of a commit or tag the first line of the commit's message.
    pub text: String,
    /// The commit before the work; empty if none is known.
    pub base: String,
    /// The commit that ticked it.
    pub commit: String,
    /// When that was, seconds since 1970.
    pub at: i64,
    /// The first line of that commit's message: a claim.
    pub subject: String,
    /// The changes in between, one sentence.
    pub changed: String,
    /// `PASS`, `FAIL`, `SKIP` or `ERROR`; `None` until it was judged.
    pub verdict: Option<String>,
    /// The gate's headline.
    pub headline: String,
    /// Its other lines: reasons, survivors, what was left out.
    pub lines: Vec<String>,
    /// The score, per cent rounded down, if one was measured.
    pub percent: Option<u64>,
    /// The engines that measured, with their versions; empty if none did.
    pub engine: String,
    /// Time of the gate, milliseconds. Boxes that were ticked at once share one gate.
    pub millis: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// HEAD of the repository.
    pub head: String,
    /// `boxes`, `commit` or `tag`: what counts as a box.
    pub by: String,
    pub gate: String,
    /// The boxes, the oldest first.
    pub boxes: Vec<PastBox>,
    /// Unchecked parts, as sentences.
    pub remarks: Vec<String>,
}

impl PastBox {
    /// True if both are the same tick.
    fn is_same(&self, other: &Self) -> bool {
        let own = [&self.task, &self.text, &self.base, &self.commit];
        own == [&other.task, &other.text, &other.base, &other.commit]
    }

    /// Returns its verdict in words: for a line, as the mark of a page, and for the text of a page.
    pub(super) fn verdict_words(&self) -> (&'static str, &'static str, &'static str) {
        match self.verdict.as_deref() {
            Some("PASS") => ("true", "good", "passed"),
            Some("FAIL") => ("untrue", "bad", "failed"),
            Some("SKIP") => ("nothing", "plain", "open"),
            _ => ("unknown", "plain", "open"),
        }
    }

    /// Takes what a gate said.
    pub fn take_report(&mut self, gate: &str, report: &GateReport) {
        // Nobody goes back there to work, and the reports are in a folder that is soon gone.
        let report = &mut GateReport {
            reports: Vec::new(),
            ..report.clone()
        };
        if let Verdict::Fail { reasons } = &mut report.verdict {
            reasons.retain(|reason| reason != WHAT_TO_DO);
        }
        self.verdict = Some(report.verdict.word().to_owned());
        self.headline = gate_headline(gate, report);
        self.lines = gate_lines(gate, report).split_off(1);
        self.percent = (report.coverage.total > 0).then(|| report.coverage.percent_floor());
        self.engine = report.engines();
        self.millis = report.millis;
    }

    fn is(&self, verdict: &str) -> bool {
        self.verdict.as_deref().unwrap_or("ERROR") == verdict
    }
}

impl Audit {
    /// The boxes with these indexes were judged together, on these changes.
    pub fn take_judgement(
        &mut self,
        together: &[usize],
        report: &GateReport,
        changes: &[FileChange],
        no_coverage: NoCoverage,
    ) {
        let named: Vec<BTreeSet<String>> = together
            .iter()
            .map(|at| self.boxes.get(*at).map_or("", |it| it.text.as_str()))
            .map(|text| named_in(text, changes))
            .collect();
        for (at, own) in together.iter().zip(&named) {
            let Some(it) = self.boxes.get_mut(*at) else {
                continue;
            };
            let is_divided = together.len() > 1 && !own.is_empty();
            let own = is_divided.then(|| {
                report_part(
                    report,
                    |file| own.contains(file) || named.iter().all(|files| !files.contains(file)),
                    no_coverage,
                )
            });
            it.take_report(&self.gate, own.as_ref().unwrap_or(report));
        }
    }

    /// Takes what a part of the same audit found of these boxes.
    pub fn join_part<'a>(&mut self, share: impl Iterator<Item = &'a usize>, part: Vec<PastBox>) {
        let mut part: Vec<PastBox> = part
            .into_iter()
            .filter(|found| {
                ["PASS", "FAIL", "SKIP", "ERROR"]
                    .iter()
                    .any(|word| found.is(word))
            })
            .collect();
        for at in share {
            let Some(it) = self.boxes.get_mut(*at).filter(|it| it.verdict.is_none()) else {
                continue;
            };
            if let Some(found) = part.iter().position(|found| it.is_same(found)) {
                *it = part.swap_remove(found);
            }
        }
    }

    /// Marks the boxes that are not judged as undetermined, for this reason.
    pub fn end_undetermined(&mut self, why: &str, hint: &str) {
        let (why, hint) = (why.to_owned(), hint.to_owned());
        let report = GateReport::from(Verdict::Error {
            why,
            hint,
            transient: true,
        });
        for it in self.boxes.iter_mut().filter(|it| it.verdict.is_none()) {
            it.take_report(&self.gate, &report);
        }
    }

    /// Counts the boxes with this verdict.
    pub fn count_verdict(&self, verdict: &str) -> u64 {
        self.boxes.iter().filter(|it| it.is(verdict)).count() as u64
    }

    /// One sentence: `31 boxes ticked, 9 untrue; 2 had nothing to judge, 1 could not be judged`.
    pub fn headline_text(&self) -> String {
        let (noun, what) = match self.by.as_str() {
            "boxes" => ("box", "ticked"),
            other => (other, "judged"),
        };
        let all = count(self.boxes.len() as u64, noun);
        let beside = [
            ("SKIP", "had nothing to judge"),
            ("ERROR", "could not be judged"),
        ];
        let beside = beside
            .map(|(word, what)| (self.count_verdict(word), what))
            .into_iter()
            .filter(|(many, _)| *many > 0);
        let beside: Vec<String> = beside
            .map(|(many, what)| format!("{many} {what}"))
            .collect();
        let beside = if beside.is_empty() {
            String::new()
        } else {
            format!("; {}", beside.join(", "))
        };
        format!(
            "{all} {what}, {} untrue{beside}",
            self.count_verdict("FAIL")
        )
    }

    /// For people: a line for each box, what speaks against those that are untrue, what was not looked at, the sum.
    pub fn audit_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for it in &self.boxes {
            let commit = plain_line(it.commit.get(..10).unwrap_or(&it.commit));
            let what = plain_line(&format!(
                "{} {}: {}",
                spoken_id(&it.task),
                it.text,
                it.headline
            ));
            lines.push(format!("{:<7}  {commit}  {what}", it.verdict_words().0));
            if it.is("FAIL") || it.is("ERROR") {
                lines.extend(
                    it.lines
                        .iter()
                        .map(|line| format!("    {}", plain_line(line))),
                );
            }
        }
        lines.extend(
            self.remarks
                .iter()
                .map(|what| format!("not audited: {}", plain_line(what))),
        );
        lines.push(self.headline_text());
        lines
    }

    /// For programs. A field, once released, keeps its name and meaning.
    pub fn audit_facts(&self) -> Value {
        let audit = match (self.count_verdict("FAIL"), self.count_verdict("ERROR")) {
            (0, 0) => "true",
            (0, _) => "unknown",
            _ => "untrue",
        };
        json!({
            "audit": audit,
            "ticked": self.boxes.len(),
            "untrue": self.count_verdict("FAIL"),
            "nothing": self.count_verdict("SKIP"),
            "unknown": self.count_verdict("ERROR"),
            "head": self.head,
            "by": self.by,
            "gate": self.gate,
            "boxes": self.boxes,
            "remarks": self.remarks,
        })
    }

    /// Time that gates took, for people; boxes that were ticked at once share one.
    pub fn gate_time(&self) -> String {
        let gates: BTreeSet<(&str, &str, u64)> = self
            .boxes
            .iter()
            .map(|it| (it.base.as_str(), it.commit.as_str(), it.millis))
            .collect();
        duration(gates.iter().map(|(_, _, millis)| millis).sum::<u64>() / 1_000)
    }
}

/// The changed files that a box's text names: by their path or name, or a class by its name, which has a capital letter.
fn named_in(text: &str, changes: &[FileChange]) -> BTreeSet<String> {
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '.' | '/' | '$'))
        .map(|word| word.trim_matches(['.', '-', '/']))
        .collect();
    let named = changes.iter().filter(|change| {
        let path = change.path.to_text();
        let file = path.rsplit('/').next().unwrap_or_default();
        let stem = file.split('.').next().unwrap_or_default();
        let is_class = stem.chars().any(char::is_uppercase);
        words.iter().any(|word| {
            *word == file
                || path.ends_with(&format!("/{word}")) && word.contains('.')
                || is_class && word.split(['.', '/', '$']).any(|part| part == stem)
        })
    });
    named
        .map(|change| full_path(&change.package, &change.path))
        .collect()
}

/// Returns the part of a report for some of its files. A FAIL whose reason names no class holds for all.
fn report_part(
    report: &GateReport,
    stands: impl Fn(&str) -> bool,
    no_coverage: NoCoverage,
) -> GateReport {
    let mut part = report.clone();
    let is_about = |reason: &str, stands: &dyn Fn(&str) -> bool| {
        let mut failing = report.classes.iter().filter(|class| {
            let file = full_path(&class.package, &class.path);
            report.failing.contains(&file) && stands(&file)
        });
        failing.any(|class| reason.contains(&format!(" {} ", class.class)))
    };
    match &report.verdict {
        Verdict::Pass => {}
        Verdict::Fail { reasons }
            if reasons
                .iter()
                .all(|reason| reason == WHAT_TO_DO || is_about(reason, &|_| true)) =>
        {
            let own: Vec<String> = reasons
                .iter()
                .filter(|reason| is_about(reason, &stands))
                .cloned()
                .collect();
            part.verdict = if own.is_empty() {
                Verdict::Pass
            } else {
                Verdict::Fail { reasons: own }
            };
        }
        _ => return part,
    }
    part.classes
        .retain(|class| stands(&full_path(&class.package, &class.path)));
    part.failing.retain(|file| stands(file));
    part.left_out.retain(|left| stands(&left.file));
    part.survivors.retain(|it| {
        it.path
            .as_ref()
            .is_none_or(|path| stands(&full_path(&it.package, path)))
    });
    part.survivors_total = part.survivors.len() as u64;
    let mut all = Tally::default();
    part.classes.iter().for_each(|class| all.join(&class.tally));
    part.coverage = all.coverage(no_coverage);
    if part.classes.is_empty() {
        part.verdict = Verdict::Skip {
            why: "None of the files that it names was judged.".to_owned(),
        };
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::facts::FileStatus;
    use crate::mutation::{ClassScore, Mutant, MutantStatus, Survivor};
    use crate::source::{Kind, RepoPath};

    const FOO: &str = "src/main/java/a/Foo.java";
    const BAR: &str = "src/main/java/a/Bar.java";

    fn changes() -> Vec<FileChange> {
        let change = |path: &str| FileChange {
            package: "app".into(),
            path: RepoPath::parse(path),
            status: FileStatus::Modified,
            kind: Kind::Production,
            old: None,
            new: None,
        };
        [FOO, BAR, "src/main.rs"].map(change).into()
    }

    fn class(path: &str, killed: u64, survived: u64) -> ClassScore {
        let class = path
            .trim_start_matches("src/main/java/")
            .trim_end_matches(".java")
            .replace('/', ".");
        let tally = Tally {
            killed,
            survived,
            ..Tally::default()
        };
        ClassScore {
            package: "app".into(),
            path: RepoPath::parse(path),
            class,
            tally,
            floor: None,
        }
    }

    /// Foo fails, Bar does not.
    fn foo_fails(reason: &str) -> GateReport {
        let survivor = Survivor {
            package: "app".into(),
            path: Some(RepoPath::parse(FOO)),
            ..Survivor::from(Mutant {
                class: "a.Foo".into(),
                file: "Foo.java".into(),
                line: 3,
                method: "sum".into(),
                mutator: "Math".into(),
                description: "replaced".into(),
                status: MutantStatus::Survived,
                id: String::new(),
            })
        };
        GateReport {
            classes: vec![class(FOO, 1, 3), class(BAR, 4, 0)],
            failing: vec![format!("app/{FOO}")],
            survivors: vec![survivor],
            survivors_total: 1,
            ..GateReport::from(Verdict::Fail {
                reasons: vec![reason.to_owned(), WHAT_TO_DO.to_owned()],
            })
        }
    }

    const OF_FOO: &str = "The mutation score of class a.Foo of package app is 25% (1/4).";

    /// Verdicts of boxes that were ticked at once.
    fn together(texts: &[&str], report: &GateReport) -> Vec<String> {
        let boxes = texts.iter().map(|text| PastBox {
            text: (*text).to_owned(),
            ..PastBox::default()
        });
        let mut audit = Audit {
            gate: "PITEST".into(),
            boxes: boxes.collect(),
            ..Audit::default()
        };
        let all: Vec<usize> = (0..texts.len()).collect();
        audit.take_judgement(&all, report, &changes(), NoCoverage::Survived);
        audit.boxes.iter().map(|it| it.headline.clone()).collect()
    }

    #[test]
    fn boxes_that_were_ticked_at_once_stand_for_what_they_name() {
        let told = together(
            &["Write `Foo`", "a.Bar is done", "Tidy up"],
            &foo_fails(OF_FOO),
        );
        let fail = format!("PITEST FAIL — {OF_FOO}");
        assert_eq!(told, [&fail, "PITEST PASS — 100% (4/4)", &fail]);
        // A single box represents all, with any names.
        assert_eq!(
            together(&["a.Bar is done"], &foo_fails(OF_FOO)),
            [fail.as_str()]
        );
        // Foo, which no box names, belongs to all.
        let told = together(
            &["Bar.java", "the main menu, and src/main.rs"],
            &foo_fails(OF_FOO),
        );
        assert_eq!(told, [fail.as_str(), fail.as_str()]);
        let told = together(&["Foo", "Bar", "main.rs"], &foo_fails(OF_FOO));
        assert_eq!(
            told[2],
            "PITEST SKIP — None of the files that it names was judged."
        );
    }

    #[test]
    fn a_reason_that_is_about_no_class_is_everybodys() {
        let why = "The test a.FooBarTest is red without any mutation.";
        let told = together(&["Foo", "Bar"], &foo_fails(why));
        assert_eq!(
            told,
            [
                format!("PITEST FAIL — {why}"),
                format!("PITEST FAIL — {why}")
            ]
        );
        let error = Verdict::Error {
            why: "No JDK.".into(),
            hint: String::new(),
            transient: false,
        };
        assert_eq!(
            together(&["Foo", "Bar"], &error.into()),
            ["PITEST ERROR — No JDK."; 2]
        );
    }

    #[test]
    fn only_a_pass_is_true_and_only_a_fail_untrue() {
        let of = |verdict: Option<&str>| PastBox {
            verdict: verdict.map(str::to_owned),
            ..PastBox::default()
        };
        let mut audit = Audit {
            by: "boxes".into(),
            ..Audit::default()
        };
        audit.boxes = [
            Some("PASS"),
            Some("FAIL"),
            Some("SKIP"),
            Some("ERROR"),
            None,
        ]
        .map(of)
        .into();
        assert_eq!(
            audit.headline_text(),
            "5 boxes ticked, 1 untrue; 1 had nothing to judge, 2 could not be judged"
        );
        assert_eq!(audit.audit_facts()["audit"], "untrue");
        audit.boxes.truncate(1);
        assert_eq!(
            (
                audit.headline_text().as_str(),
                &audit.audit_facts()["audit"]
            ),
            ("1 box ticked, 0 untrue", &"true".into())
        );
        audit.by = "commit".into();
        assert_eq!(audit.headline_text(), "1 commit judged, 0 untrue");
    }

    #[test]
    fn a_part_judges_only_boxes_of_the_same_tick_that_are_open_and_with_a_verdict_that_there_is() {
        let tick = |task: &str, verdict: Option<&str>| PastBox {
            task: task.to_owned(),
            verdict: verdict.map(str::to_owned),
            ..PastBox::default()
        };
        let boxes = vec![tick("1.", None), tick("2.", Some("FAIL")), tick("3.", None)];
        let mut audit = Audit {
            boxes,
            ..Audit::default()
        };
        let part = [
            ("1.", "PASS"),
            ("2.", "PASS"),
            ("3.", "FINE"),
            ("4.", "PASS"),
        ];
        audit.join_part(
            (0..audit.boxes.len()).collect::<Vec<_>>().iter(),
            part.map(|(task, verdict)| tick(task, Some(verdict))).into(),
        );
        let verdicts: Vec<_> = audit.boxes.iter().map(|it| it.verdict.as_deref()).collect();
        assert_eq!(verdicts, [Some("PASS"), Some("FAIL"), None]);
    }
}
