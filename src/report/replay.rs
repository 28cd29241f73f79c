//! Results of a replay, for people, programs and CI: one line per box, then differences and undetermined parts.

use super::annotations::github::{within_limit, workflow_command};
use super::annotations::junit::{Case, junit_document, xml};
use super::progress::plain_line;
use super::width::{pad_text, text_width};
use crate::mutation::{GateReport, Verdict};
use crate::source::Problem;
use crate::source::text::{count, names};
use crate::task::spoken_id;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;

/// Commits of a box that its line names.
const COMMITS: usize = 3;

/// Parts of a gate's box that are trusted until the gate is run again.
pub const VERDICT: &str = "verdict";

/// Weight of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingGrade {
    /// Something is not what the records, git or the rules say that it is.
    Differs,
    /// Something is missing that is needed to tell.
    Unknown,
}

/// Something that is not as it should be: where, what, what to do.
pub type ReplayFinding = Problem<FindingGrade>;

/// A box and its evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BoxLine {
    /// Its name.
    pub task: String,
    /// The task file and the line.
    pub place: String,
    /// It is ticked.
    pub done: bool,
    /// `ralph`, `person`, or empty.
    pub by: &'static str,
    /// The record that decided it last; `None` for a box that no record decided.
    pub record: Option<u64>,
    /// `<package> <commit>` that it stands for.
    pub commits: Vec<String>,
    pub verdict: String,
    /// Parts that were found again: commits, changes, the decision, the gate.
    pub rechecked: Vec<&'static str>,
    /// Parts that are trusted as recorded.
    pub as_recorded: Vec<&'static str>,
}

/// A recorded verdict of a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GateLine {
    pub record: u64,
    pub iteration: u64,
    /// Its box.
    pub task: String,
    /// `PASS`, `FAIL`, `SKIP` or `ERROR`.
    pub verdict: String,
    /// Time, milliseconds.
    pub millis: u64,
    /// The verdict when it was run again and said the same; `None` if it was not, or said something else.
    pub again: Option<String>,
    /// The engine that measured it, with its version and that of its JDK; empty if none did, or that was not recorded.
    pub engine: String,
    /// The engine that measured when it was run again; `None` if it was not.
    pub engine_again: Option<String>,
}

impl GateLine {
    /// A sentence if another engine measured than at the time.
    fn other_engine(&self) -> Option<String> {
        let now = self
            .engine_again
            .as_deref()
            .filter(|now| *now != self.engine)?;
        let [then, now] = [
            (self.engine.as_str(), "an engine that no record names"),
            (now, "no engine"),
        ]
        .map(|(engine, none)| plain_line(if engine.is_empty() { none } else { engine }));
        let (task, record) = (plain_line(&self.task), self.record);
        Some(format!(
            "{task} (record {record}) with {then}, which judged it then; now {now} did."
        ))
    }
}

/// All that a replay found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Records read.
    pub records: u64,
    /// The chain's head: the hash of the last record.
    pub head: String,
    /// The boxes, in the order of their files.
    pub boxes: Vec<BoxLine>,
    /// The verdicts of gates.
    pub gates: Vec<GateLine>,
    /// Differences and undetermined parts.
    pub findings: Vec<ReplayFinding>,
    /// Unchecked parts, as sentences.
    pub unchecked: Vec<String>,
    /// Gates that judged older commits than the last one that ralph saw, whole sentences.
    pub older_gates: Vec<String>,
}

impl Replayed {
    /// The worst that was found; `None` if all is equal.
    pub fn worst_grade(&self) -> Option<FindingGrade> {
        [FindingGrade::Differs, FindingGrade::Unknown]
            .into_iter()
            .find(|grade| self.findings.iter().any(|finding| finding.kind == *grade))
    }

    /// A gate was run again, and said the same.
    pub fn judged_again(&mut self, record: u64, verdict: &str) {
        for gate in self.gates.iter_mut().filter(|gate| gate.record == record) {
            gate.again = Some(plain_line(verdict));
        }
        for line in self
            .boxes
            .iter_mut()
            .filter(|line| line.record == Some(record))
        {
            line.as_recorded.retain(|part| *part != VERDICT);
            line.rechecked.push(VERDICT);
        }
    }

    /// A gate was run again, by this engine.
    pub fn measured_again(&mut self, record: u64, engine: &str) {
        for gate in self.gates.iter_mut().filter(|gate| gate.record == record) {
            gate.engine_again = Some(plain_line(engine));
        }
    }

    pub fn verdict_sentence(&self) -> String {
        let Some(worst) = self.worst_grade() else {
            return "Equal: every decision was made again from its evidence.".to_owned();
        };
        let findings = self.findings.iter();
        let worst_of_all = findings.filter(|finding| finding.kind == worst);
        let places = count(worst_of_all.count() as u64, "place");
        match worst {
            FindingGrade::Differs => format!("Differs in {places}."),
            FindingGrade::Unknown => format!("Undetermined in {places}; nothing differs."),
        }
    }

    /// For people: the boxes, what was not looked at, the sum. Findings are errors, and shown as such.
    pub fn replay_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut widths = [0; 3];
        for line in &self.boxes {
            for (width, cell) in widths.iter_mut().zip(line.cells()) {
                *width = text_width(&cell).max(*width);
            }
        }
        for line in &self.boxes {
            let mut text = if line.done { "[x] " } else { "[ ] " }.to_owned();
            for (width, cell) in widths.iter().zip(line.cells()) {
                text.push_str(&pad_text(&cell, *width));
                text.push_str("  ");
            }
            text.push_str(&line.evidence_text());
            lines.push(text.trim_end().to_owned());
        }
        lines.extend(self.older_gates.iter().map(|what| plain_line(what)));
        let engines = self.gates.iter().filter_map(GateLine::other_engine);
        let unchecked = self
            .unchecked
            .iter()
            .map(|what| plain_line(what))
            .chain(engines);
        lines.extend(unchecked.map(|what| format!("not re-checked: {what}")));
        let head = if self.head.is_empty() {
            String::new()
        } else {
            format!(", head {}", self.head)
        };
        lines.push(format!("{}{head}", count(self.records, "record")));
        lines.push(self.verdict_sentence());
        lines
    }

    /// For programs. A field, once released, keeps its name and meaning.
    pub fn replay_facts(&self) -> Value {
        json!({
            "replay": self.worst_grade().map_or(json!("equal"), |grade| json!(grade)),
            "records": self.records,
            "head": self.head,
            "boxes": self.boxes,
            "gates": self.gates,
            "findings": self.findings.iter().map(|finding| {
            json!({
                "grade": finding.kind, "place": finding.place, "line": finding.line, "what": finding.what,
                "hint": finding.hint,
            })
        }).collect::<Vec<_>>(),
            "unchecked": self.unchecked,
            "older_gates": self.older_gates,
        })
    }

    /// Workflow commands of GitHub Actions: the result, then each finding at its line.
    pub fn github_commands(&self) -> Vec<String> {
        let all = workflow_command(
            github_level(self.worst_grade()),
            None,
            "ralph replay",
            &self.verdict_sentence(),
        );
        within_limit(
            std::iter::once(all).chain(self.findings.iter().map(|finding| {
                let line = finding.line.map_or(1, |line| line as u64);
                let place =
                    Some((finding.place.as_str(), line)).filter(|(file, _)| !file.is_empty());
                let text = format!(
                    "{}\nhint: {}",
                    plain_line(&finding.what),
                    plain_line(&finding.hint)
                );
                let level = github_level(Some(finding.kind));
                workflow_command(level, place, "ralph replay", &text)
            })),
        )
    }

    /// JUnit XML: a test case for the replay as a whole and each finding, one for each box. An error is ralph's own fault.
    pub fn junit_report(&self) -> io::Result<String> {
        let mut cases = vec![Case {
            name: "replay".to_owned(),
            file: None,
            end: self.worst_grade().map(|grade| {
                (
                    junit_end(grade),
                    xml(&self.verdict_sentence()),
                    String::new(),
                )
            }),
        }];
        cases.extend(self.findings.iter().map(|finding| {
            let (what, hint) = (
                xml(&plain_line(&finding.to_string())),
                xml(&plain_line(&finding.hint)),
            );
            Case {
                name: xml(&plain_line(&finding.place)),
                file: None,
                end: Some((junit_end(finding.kind), what, hint)),
            }
        }));
        cases.extend(self.boxes.iter().map(|line| {
            let skipped =
                (!line.done).then(|| ("skipped", "The box is open.".to_owned(), String::new()));
            Case {
                name: xml(&plain_line(&line.task)),
                file: None,
                end: skipped,
            }
        }));
        junit_document("replay", 0, &cases)
    }
}

/// How a gate that was run again judged otherwise: its verdict; under the same tiers also its mutants, as the reports that it
/// left tell (`mutant`, see [`super::standard::other_fate`]), its classes and survivors.
pub fn judged_otherwise(
    was: &GateReport,
    is: &GateReport,
    mutant: impl FnOnce() -> Option<String>,
) -> Option<(FindingGrade, String)> {
    let (word, now) = (was.verdict.word(), is.verdict.word());
    if let Verdict::Error { why, .. } = &is.verdict {
        return Some((
            FindingGrade::Unknown,
            format!("{word} then, and no verdict now: {}", plain_line(why)),
        ));
    }
    if word != now {
        return Some((FindingGrade::Differs, format!("{word} then, {now} now.")));
    }
    let [tiers_then, tiers_now] = [was, is].map(|report| {
        let tiers = report.trace.tiers.iter();
        tiers
            .map(|tier| (&tier.module, &tier.name))
            .collect::<Vec<_>>()
    });
    if tiers_then != tiers_now {
        return None;
    }
    if let Some(what) = mutant() {
        return Some((FindingGrade::Differs, what));
    }
    let [then, today] = [was, is].map(count_mutants);
    if let Some(class) = then
        .keys()
        .chain(today.keys())
        .find(|class| then.get(*class) != today.get(*class))
    {
        let [then, today] = [&then, &today].map(|all| match all.get(class) {
            Some((killed, lived)) => format!("{killed} killed and {lived} not"),
            None => "not judged".to_owned(),
        });
        return Some((
            FindingGrade::Differs,
            format!("{}: {then} then, {today} now.", plain_line(class.1)),
        ));
    }
    let is_whole = was.survivors_hidden() == 0 && is.survivors_hidden() == 0;
    was.survivors
        .iter()
        .find(|survivor| {
            let mut now = is.survivors.iter();
            is_whole && !now.any(|now| now.mutant == survivor.mutant)
        })
        .map(|survivor| {
            let mutant = &survivor.mutant;
            let place = plain_line(&format!(
                "{}:{} {} {}",
                mutant.file, mutant.line, mutant.mutator, mutant.description
            ));
            (
                FindingGrade::Differs,
                format!("The mutant {place} survived then, and is killed now."),
            )
        })
}

/// The level of GitHub's commands.
fn github_level(grade: Option<FindingGrade>) -> &'static str {
    match grade {
        None => "notice",
        Some(FindingGrade::Unknown) => "warning",
        Some(FindingGrade::Differs) => "error",
    }
}

/// The element of JUnit for a finding of this grade.
fn junit_end(grade: FindingGrade) -> &'static str {
    match grade {
        FindingGrade::Differs => "failure",
        FindingGrade::Unknown => "error",
    }
}

/// Killed and surviving mutants by class.
fn count_mutants(report: &GateReport) -> BTreeMap<(&str, &str), (u64, u64)> {
    let classes = report.classes.iter();
    classes
        .map(|class| {
            let tally = &class.tally;
            let killed = tally.killed + tally.timed_out;
            let alive = tally.survived + tally.no_coverage;
            ((&*class.package, &*class.class), (killed, alive))
        })
        .collect()
}

impl BoxLine {
    /// Returns its name, who ticked it, and its verdict, for a table.
    fn cells(&self) -> [String; 3] {
        let by = self.by.to_owned();
        [spoken_id(&self.task), by, self.verdict.clone()]
    }

    /// Its commits, what was re-checked, and what is believed.
    fn evidence_text(&self) -> String {
        let commits = names(&self.commits, COMMITS);
        let (rechecked, believed) = (self.rechecked.join(", "), self.as_recorded.join(", "));
        let parts = [
            ("", commits),
            ("re-checked: ", rechecked),
            ("as recorded: ", believed),
        ];
        let known = parts.iter().filter(|(_, part)| !part.is_empty());
        known
            .map(|(what, part)| format!("{what}{part}"))
            .collect::<Vec<_>>()
            .join("; ")
    }
}
