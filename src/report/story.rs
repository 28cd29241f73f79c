//! Story of each iteration by the records: the words of the agent next to the evidence of git and the gate.
//!
//! Folded like [`super::spent::Spent`]; of each iteration the last words that decided it stand, bounded.

use super::progress::{body_lines, box_changes, plain_line};
use super::spent::{find_activity, parse_seconds};
use super::standard::survivor_lives;
use crate::machine::effect::{EntryBody, ProgressEntry};
use crate::machine::event::Event;
use crate::machine::facts::{Claim, FileChange, Observation};
use crate::machine::state::{Phase, State};
use crate::mutation::{GateReport, Survivor, Verdict};
use crate::source::Kind;
use crate::source::text::{line, names};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Characters of what an agent said.
const SAID: usize = 600;
/// Files of a kind that are named.
const FILES: usize = 5;
/// Lines of an iteration's entry that are kept.
const LINES: usize = 40;
/// Iterations that are kept, the newest.
const ITERATIONS: usize = 20_000;

/// Gives the report that the gate of an iteration left (see [`super::standard`]), if it is there and has this digest.
pub type KeptReports<'a> = &'a dyn Fn(u64, &str) -> Option<Value>;

/// The iterations of a workspace, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Story {
    iterations: Vec<IterationStory>,
    open: IterationStory,
    /// Iterations before those that are kept.
    pub forgotten: u64,
}

/// Content for an iteration. A field, once released, keeps its name and meaning.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Happened {
    /// Its number.
    pub iteration: u64,
    /// The box.
    pub task: String,
    /// Local time of its beginning, and its length.
    pub when: String,
    /// Time of its beginning as RFC 3339 in UTC; empty if unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub began: String,
    /// Last words of the agent: a claim.
    pub said: String,
    /// Changes that git saw, in one sentence; empty for a gate.
    pub seen: String,
    /// The headline of its entry in progress.txt; on a page only the verdict.
    pub headline: String,
    /// The rest of the headline, on a page.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The other lines of that entry.
    pub lines: Vec<String>,
    /// HEAD of each package with new commits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<LinkedCommit>,
    /// Reports that the gate saved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<LinkedReport>,
    /// Writes of ralph to tasks.md: `ticked 2., opened 3.`.
    pub boxes: String,
    /// `good`, `bad`, `person` or `plain`: how it is marked.
    pub class: &'static str,
    /// Rejections of the same box directly before it, for the same reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Happened>,
}

/// A commit, with the address of its page if one is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LinkedCommit {
    pub package: String,
    /// Id of the commit.
    pub id: String,
    /// Address on the forge of the package's remote.
    pub href: Option<String>,
}

/// A report, with its address if the page can link to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LinkedReport {
    /// Path from the workspace.
    pub path: String,
    /// Address relative to the page.
    pub href: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct IterationStory {
    /// Its content.
    pub happened: Happened,
    /// The task file.
    pub spec: String,
    /// The family of its box, as the journal names it.
    pub family: String,
    /// Seconds since 1970 of its first and its last record.
    pub span: (i64, i64),
    /// The gate's score, per cent rounded down, if it measured one.
    pub percent: Option<u64>,
    /// A gate judged.
    pub is_gate: bool,
    /// The entry is a person's act.
    pub by_person: bool,
    /// Changed files that the gate did not judge.
    pub not_judged: Vec<String>,
    /// Survivors of its FAIL, until a PASS of the same box reports their fates.
    pub(super) survivors: Vec<Survivor>,
}

impl Story {
    /// Takes one record: when it was written, its fact, and the state after it.
    pub fn note_record(&mut self, at: &str, event: &Event, after: &State, kept: KeptReports<'_>) {
        if self.open.happened.iteration != after.iteration {
            let happened = Happened {
                iteration: after.iteration,
                ..Happened::default()
            };
            self.open = IterationStory {
                happened,
                ..IterationStory::default()
            };
        }
        let at = parse_seconds(at).unwrap_or(self.open.span.1);
        let open = &mut self.open;
        let began = if open.span.0 == 0 { at } else { open.span.0 };
        open.span = (began, at.max(began));
        match event {
            Event::AgentEnded(agent) => {
                open.happened.said = agent_words(agent.claim.as_ref(), &agent.last_words);
            }
            Event::Observed { observation, .. } => {
                let changes = observation
                    .packages
                    .iter()
                    .flat_map(|package| &package.changes);
                open.happened.seen = committed_text(changes);
                open.happened.commits = new_heads(observation);
            }
            Event::BoxAccepted { .. } | Event::BoxReopened { .. } => open.by_person = true,
            _ => {}
        }
        if let Some((key, _)) = find_activity(after) {
            open.family.clone_from(&key.family);
        }
        if let Phase::Applying {
            entry: Some(entry), ..
        } = &after.phase
            && self.open.happened.headline.is_empty()
        {
            self.close_iteration(entry, event, &after.spec);
            if let Event::GateEnded { report, left, .. } = event
                && report.verdict == Verdict::Pass
            {
                self.note_pass(report, left, kept);
            }
        }
    }

    /// Says at the FAILs before a PASS what became of the survivors that they list.
    fn note_pass(&mut self, report: &GateReport, left: &str, kept: KeptReports<'_>) {
        let Some((own, before)) = self.iterations.split_last_mut() else {
            return;
        };
        let iteration = own.happened.iteration;
        let own = (&own.spec, &own.family, &own.happened.task);
        let failed: Vec<&mut IterationStory> = before
            .iter_mut()
            .filter(|told| (&told.spec, &told.family, &told.happened.task) == own)
            .filter(|told| !told.survivors.is_empty())
            .collect();
        let facts = if failed.is_empty() {
            None
        } else {
            kept(iteration, left)
        }
        .unwrap_or_default();
        let is_alive = survivor_lives(&facts);
        for told in failed {
            let mut by_fate: BTreeMap<&str, Vec<String>> = BTreeMap::new();
            for survivor in std::mem::take(&mut told.survivors) {
                let fate = match is_alive(&survivor) {
                    Some(false) => "killed in rework",
                    Some(true) => "still alive",
                    None if none_lives(report, &survivor) => {
                        "no longer alive, as none judged in its file"
                    }
                    None => "not known whether alive",
                };
                let Survivor { mutant, .. } = &survivor;
                let name = line(
                    &format!("{}:{} {}", mutant.file, mutant.line, mutant.mutator),
                    200,
                );
                by_fate.entry(fate).or_default().push(name);
            }
            told.happened.lines.extend(by_fate.into_iter().map(
                |(fate, names): (_, Vec<String>)| {
                    format!("{fate} (iteration {iteration}): {}", names.join(", "))
                },
            ));
        }
    }

    /// The iterations of a task file that came to an end.
    pub fn iterations_of<'a>(&'a self, spec: &'a str) -> impl Iterator<Item = &'a IterationStory> {
        self.iterations.iter().filter(move |told| told.spec == spec)
    }

    fn close_iteration(&mut self, entry: &ProgressEntry, event: &Event, spec: &str) {
        let told = &mut self.open;
        spec.clone_into(&mut told.spec);
        if let Event::BoxAccepted { key, .. } | Event::BoxReopened { key, .. } = event {
            told.family.clone_from(&key.family);
        }
        if let EntryBody::Gate { report, .. } = &entry.body {
            told.is_gate = true;
            told.percent = (report.coverage.total > 0).then(|| report.coverage.percent_floor());
            told.not_judged = report
                .left_out
                .iter()
                .map(|left| line(&left.file, 200))
                .collect();
            told.survivors.clone_from(&report.survivors);
            told.happened.reports = linked_reports(report);
        }
        let class = if told.by_person {
            "person"
        } else if entry.boxes.iter().any(|change| !change.ticked) {
            "bad"
        } else if entry.boxes.is_empty() {
            "plain"
        } else {
            "good"
        };
        let mut lines = body_lines(entry);
        // The page links to these.
        let reports = &told.happened.reports;
        lines.retain(|line| {
            let path = line.strip_prefix("- report: ");
            !path.is_some_and(|path| reports.iter().any(|report| report.path == path))
        });
        let more = lines.len().saturating_sub(LINES);
        lines.truncate(LINES);
        lines.extend((more > 0).then(|| format!("… and {more} more lines in progress.txt")));
        // The page has a list of its own.
        let happened = &mut told.happened;
        happened.task = line(&entry.task, 200);
        happened.class = class;
        happened.boxes = box_changes(entry).unwrap_or_default();
        happened.lines = lines
            .split_off(1.min(lines.len()))
            .into_iter()
            .map(|line: String| line.trim_start().trim_start_matches("- ").to_owned())
            .collect();
        happened.headline = lines.pop().unwrap_or_default();
        if self.iterations.len() == ITERATIONS {
            self.iterations.remove(0);
            self.forgotten += 1;
        }
        self.iterations.push(told.clone());
    }
}

/// HEAD of each package with new commits.
fn new_heads(observation: &Observation) -> Vec<LinkedCommit> {
    let moved = observation.packages.iter().filter(|it| it.head_moved);
    let heads = moved.filter_map(|it| observation.after.package(&it.name));
    heads
        .map(|package| LinkedCommit {
            package: line(&package.name, 200),
            id: line(&package.head.0, 64),
            href: None,
        })
        .collect()
}

fn linked_reports(report: &GateReport) -> Vec<LinkedReport> {
    let paths = report.reports.iter().map(|path| plain_line(path));
    paths
        .map(|path| LinkedReport { path, href: None })
        .collect()
}

/// True if a gate judged a survivor's file, and none of the mutants that it judged there lives or is without a verdict.
fn none_lives(report: &GateReport, survivor: &Survivor) -> bool {
    let place = (&survivor.package, survivor.path.as_ref());
    let mut classes = report
        .classes
        .iter()
        .filter(|it| (&it.package, Some(&it.path)) == place)
        .peekable();
    classes.peek().is_some()
        && classes
            .map(|class| class.floor.map_or(class.tally, |floor| floor.whole))
            .all(|all| all.survived + all.no_coverage + all.errors + all.unjudged == 0)
}

/// The agent's words: what it said as its verdict, else what it said last.
pub(super) fn agent_words(claim: Option<&Claim>, last_words: &str) -> String {
    match claim {
        Some(Claim::Pass) => "PASS".to_owned(),
        Some(Claim::Fail { why }) => line(&format!("FAIL {why}"), SAID),
        Some(Claim::NothingToDo { why }) => line(&format!("NOTHING-TO-DO {why}"), SAID),
        Some(Claim::Blocked { why }) => line(&format!("BLOCKED {why}"), SAID),
        Some(Claim::Unclear { .. }) | None => line(last_words, SAID),
    }
}

/// Describes the commits by the kind of file.
pub(super) fn committed_text<'a>(changes: impl Iterator<Item = &'a FileChange>) -> String {
    let mut files: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for change in changes {
        let kind = match change.kind {
            Kind::Production => "production",
            Kind::Test => "tests",
            Kind::Build => "build",
            Kind::Other => "other",
        };
        files.entry(kind).or_default().push(change.full_path());
    }
    if files.is_empty() {
        return "nothing was committed".to_owned();
    }
    files
        .into_iter()
        .map(|(kind, files): (&str, Vec<String>)| format!("{kind}: {}", names(files, FILES)))
        .collect::<Vec<_>>()
        .join("; ")
}

impl IterationStory {
    /// Returns its duration.
    pub fn iteration_seconds(&self) -> u64 {
        u64::try_from(self.span.1 - self.span.0).unwrap_or(0)
    }
}

#[cfg(test)]
impl From<Vec<IterationStory>> for Story {
    fn from(iterations: Vec<IterationStory>) -> Self {
        Self {
            iterations,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::{ClassScore, Mutant, MutantStatus, Tally};
    use crate::source::RepoPath;
    use serde_json::json;

    fn survivor(file: &str, number: u32) -> Survivor {
        Survivor {
            package: "app".into(),
            path: Some(RepoPath::parse(file)),
            source: "a + b".into(),
            ..Survivor::from(Mutant {
                class: "a.Foo".into(),
                file: file.into(),
                line: number,
                method: "sum".into(),
                mutator: "Math".into(),
                description: "replaced".into(),
                status: MutantStatus::Survived,
                id: String::new(),
            })
        }
    }

    fn class(file: &str, tally: Tally) -> ClassScore {
        let (package, path) = ("app".to_owned(), RepoPath::parse(file));
        ClassScore {
            package,
            path,
            class: "a.Foo".into(),
            tally,
            floor: None,
        }
    }

    fn told(iteration: u64, task: &str, survivors: Vec<Survivor>) -> IterationStory {
        let happened = Happened {
            iteration,
            task: task.into(),
            ..Happened::default()
        };
        IterationStory {
            happened,
            survivors,
            ..IterationStory::default()
        }
    }

    #[test]
    fn survivors_of_each_fail_before_a_pass_are_told_with_what_the_facts_show() {
        let all = || {
            [
                ("Foo.java", 1),
                ("Foo.java", 2),
                ("Bar.java", 1),
                ("Baz.java", 1),
            ]
        };
        let failed = all().map(|(file, line)| survivor(file, line)).to_vec();
        let mut story = Story::from(vec![
            told(1, "2.PITEST", vec![survivor("Foo.java", 1)]),
            told(2, "1.PITEST", vec![survivor("Foo.java", 1)]),
            told(3, "1.PITEST", failed),
            told(4, "1.PITEST", Vec::new()),
        ]);
        // The report has the mutants of Foo; of Bar none lives, of Baz one has no verdict.
        let mutant = |line: u32, status: &str| json!({"location": {"start": {"line": line}}, "mutatorName": "Math", "description": "replaced (sum)", "status": status});
        let kept = json!({"files": {"app/Foo.java": {
            "source": "a + b\n  a + b\n", "mutants": [mutant(1, "Killed"), mutant(2, "Survived")],
        }}});
        let mut report = GateReport::from(Verdict::Pass);
        report.classes = vec![
            class(
                "Foo.java",
                Tally {
                    killed: 3,
                    survived: 1,
                    ..Tally::default()
                },
            ),
            class(
                "Bar.java",
                Tally {
                    killed: 3,
                    timed_out: 1,
                    ..Tally::default()
                },
            ),
            class(
                "Baz.java",
                Tally {
                    killed: 3,
                    errors: 1,
                    ..Tally::default()
                },
            ),
        ];
        story.note_pass(&report, "digest", &|iteration, left| {
            assert_eq!((iteration, left), (4, "digest"));
            Some(kept.clone())
        });
        let lines: Vec<&[String]> = story
            .iterations
            .iter()
            .map(|told| told.happened.lines.as_slice())
            .collect();
        assert_eq!(lines[0], [""; 0], "another box");
        assert_eq!(
            lines[1],
            ["killed in rework (iteration 4): Foo.java:1 Math"]
        );
        assert_eq!(
            lines[2],
            [
                "killed in rework (iteration 4): Foo.java:1 Math",
                "no longer alive, as none judged in its file (iteration 4): Bar.java:1 Math",
                "not known whether alive (iteration 4): Baz.java:1 Math",
                "still alive (iteration 4): Foo.java:2 Math",
            ]
        );
        // They are reported once, and without a report by class alone.
        story.note_pass(&report, "", &|_, _| panic!("nothing is left to tell"));
        story.iterations[2].survivors = vec![survivor("Bar.java", 1), survivor("Foo.java", 1)];
        story.note_pass(&report, "", &|_, _| None);
        assert_eq!(story.iterations[2].happened.lines[4..].len(), 2);
    }
}
