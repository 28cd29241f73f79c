//! The journal, replayed: every recorded decision made again from the recorded evidence, the evidence looked up again in
//! git, the files that are made from the journal compared with it. No model, no network; nothing is written.
//!
//! Sources of each recorded item:
//!
//! | recorded | source |
//! |---|---|
//! | chain, numbers | computed |
//! | which record comes next, boxes written, checks asked, how a run ended | decided again (`machine::asked`) |
//! | accepted, rejected, blocked: the entries | decided again, compared with progress.txt |
//! | the words of entries and of a run's end | compared where this build of ralph wrote them |
//! | commits, changes, ancestry, lost lines, counted tests, sums over a family | git objects |
//! | heads before an attempt, the diff behind it: the views below `.ralph/state` | the records |
//! | the files that a gate left in its folder | its digest, if the folder is there |
//! | lines of tasks.md, the spec's files, the validator's report, entries of earlier journals | their digests |
//! | the verdict of a gate | as recorded, unless it is run again |
//! | checks, uncommitted files, failed edits, an agent's verdict, a person's edits | as recorded |
//!
//! Promises: a missing file is reported, and is never equal; a difference names the record; bounded.

mod evidence;
mod views;

pub use views::first_other_line;

use super::{Fault, FaultKind, Fold, Places};
use crate::git::Repositories;
use crate::journal::{self, JournalError, Record};
use crate::machine::asked::{Asked, EffectAnswer};
use crate::machine::effect::{Effect, GateOrder};
use crate::machine::event::{BUILD, Check, Event};
use crate::machine::facts::{Claim, FileChange, Oid};
use crate::machine::state::{Phase, SpecState, TickedBy};
use crate::mutation::{GateReport, Verdict};
use crate::report::replay::{BoxLine, FindingGrade, GateLine, ReplayFinding, Replayed, VERDICT};
use crate::source::text::line;
use crate::sys::Disk;
use crate::task::{Row, TaskKey, TaskRules};
use evidence::EvidenceSource;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use views::Views;

/// Most findings of one replay.
const MAX_FINDINGS: usize = 100;
/// Characters of the words of a run's end that a finding shows.
const WORDS: usize = 300;
/// The journal, as findings name it.
pub const JOURNAL: &str = ".ralph/state/journal.jsonl";

/// A recorded verdict of a gate, with its order.
#[derive(Clone, Debug)]
pub struct Judgement {
    pub record: u64,
    /// The order for the gate.
    pub order: GateOrder,
    /// The changes that it judged.
    pub changes: Vec<FileChange>,
    /// The report of the gate.
    pub report: GateReport,
    /// The folder with the gate's outputs, if it exists and is unchanged.
    pub left: Option<PathBuf>,
}

/// All that a replay read.
#[derive(Debug, Default)]
pub struct Run {
    /// The result of the replay.
    pub found: Replayed,
    /// The verdicts of gates, in order; none without a verdict.
    pub judgements: Vec<Judgement>,
    /// The commits that records name, by package.
    pub commits: BTreeMap<String, BTreeSet<Oid>>,
    /// Files whose digests are recorded, relative to the workspace: the spec's files and the copy of each tasks.md.
    pub digested: BTreeSet<PathBuf>,
}

/// A replay of one workspace.
pub struct Replay<'a> {
    disk: &'a dyn Disk,
    places: &'a Places,
    rules: &'a TaskRules,
    evidence: EvidenceSource<'a>,
    fold: Fold,
    asked: Asked,
    /// The order is known to be wrong: what follows is not compared.
    is_lost: bool,
    views: Views,
    /// The evidence behind the last decision on each box, by task file.
    seen: BTreeMap<(String, TaskKey), BoxLine>,
    found: Replayed,
    judgements: Vec<Judgement>,
}

impl<'a> Replay<'a> {
    /// Returns a replay on these repositories.
    ///
    /// `Err` is the reason why there are no repositories.
    pub fn new(
        disk: &'a dyn Disk,
        places: &'a Places,
        rules: &'a TaskRules,
        repositories: Result<&'a mut Repositories, Fault>,
    ) -> Self {
        let mut found = Replayed::default();
        let repositories = repositories
            .map_err(|fault| found.findings.push(unknown_finding(&fault)))
            .ok();
        Self {
            disk,
            places,
            rules,
            evidence: EvidenceSource::new(repositories),
            fold: Fold::default(),
            asked: Asked::default(),
            is_lost: false,
            views: Views::default(),
            seen: BTreeMap::new(),
            found,
            judgements: Vec::new(),
        }
    }

    /// Reads the journal and compares everything.
    pub fn run_replay(mut self) -> Result<Run, Fault> {
        let path = self.places.journal_file();
        let Some(bytes) = self.disk.read(&path)? else {
            let what = format!(
                "There is no {}, so there is nothing to replay.",
                self.places.display_path(&path)
            );
            let hint =
                "name the workspace (`--root DIR`), or a bundle (`ralph replay --bundle FILE`)";
            return Err(Fault::new(FaultKind::Unknown, what, hint));
        };
        // A record that cannot follow ends the reading, and is among the findings already: `None`.
        let read: Result<_, Option<JournalError>> = journal::replay(&bytes, |record| {
            self.take_record(&record).map_err(|()| None)
        });
        let is_whole = match read {
            Ok(ending) => {
                let next = ending.records + 1;
                if let Some((line, why)) = ending.unread {
                    let hint = "replay it with the ralph that wrote it";
                    self.found
                        .tell_finding(FindingGrade::Unknown, line, format!("{why}."), hint);
                } else if ending.torn > 0 {
                    self.note_torn(next, bytes.last() == Some(&b'\n'));
                }
                true
            }
            Err(None) => false,
            Err(Some(JournalError::Corrupt { line, what })) => {
                let hint = "compare it with an earlier copy; `ralph replay --since JOURNAL` names the first difference";
                self.found.tell_finding(
                    FindingGrade::Differs,
                    line,
                    format!("The chain is broken: {what}."),
                    hint,
                );
                false
            }
            Err(Some(error)) => return Err(error.into()),
        };
        self.evidence.find_objects(&mut self.found);
        for book in self.fold.state.specs.values() {
            self.found
                .older_gates
                .extend(self.evidence.older_gates(book, &self.fold.state.heads));
        }
        if is_whole {
            self.compare_files()?;
        }
        let mut boxes = Vec::new();
        for (spec, book) in &self.fold.state.specs {
            boxes.extend(book.rows.iter().map(|row| self.box_line(spec, book, row)));
        }
        self.found.boxes = boxes;
        let digested = self.digested_files();
        let more = self.found.findings.len().saturating_sub(MAX_FINDINGS);
        if more > 0 {
            self.found.findings.truncate(MAX_FINDINGS);
            self.found
                .unchecked
                .push(format!("{more} more findings are not shown."));
        }
        Ok(Run {
            found: self.found,
            judgements: self.judgements,
            commits: self.evidence.commits(),
            digested,
        })
    }

    fn digested_files(&self) -> BTreeSet<PathBuf> {
        let mut all = BTreeSet::new();
        for (spec, book) in self
            .fold
            .state
            .specs
            .iter()
            .filter(|(spec, _)| views::is_inside(spec))
        {
            let folder = Path::new(spec).parent().unwrap_or(Path::new(""));
            all.extend(
                book.files
                    .iter()
                    .flatten()
                    .map(|(path, _)| folder.join(path)),
            );
            if !book.skeleton.is_empty() {
                all.insert(
                    self.places
                        .display_path(&self.places.skeleton_file(&book.skeleton))
                        .into(),
                );
            }
        }
        all.retain(|path| path.to_str().is_some_and(views::is_inside));
        all
    }

    fn note_torn(&mut self, line: u64, is_line: bool) {
        let (grade, what) = if is_line {
            (
                FindingGrade::Differs,
                "The last line is no record: it was changed after it was written.",
            )
        } else {
            let what = "The last line is no whole record: ralph was killed while it wrote, or it was cut or changed.";
            (FindingGrade::Unknown, what)
        };
        let hint = "compare it with an earlier copy; `ralph run` drops a record that is not whole";
        self.found.tell_finding(grade, line, what, hint);
    }

    fn note_difference(&mut self, record: u64, what: String) {
        let hint =
            "see `git diff` and the records around it: the journal or the repository was changed";
        self.found
            .tell_finding(FindingGrade::Differs, record, what, hint);
    }

    /// Takes one record. An error: nothing can follow on it.
    fn take_record(&mut self, record: &Record) -> Result<(), ()> {
        let event = &record.event;
        let EffectAnswer { effect, should } = self.asked.answer(&self.fold.state, event);
        if let Some(should) = should.filter(|_| !self.is_lost) {
            self.is_lost = true;
            self.note_difference(
                record.seq,
                format!("Recorded is `{}`, and it should be {should}.", event.name()),
            );
        }
        if let Event::RunStarted {
            version, policy, ..
        } = event
        {
            self.views.ended_behind(record.seq - 1);
            self.views.is_ours = version == BUILD;
            if let Err(error) = self.evidence.classify_by(&policy.files) {
                let why = line(&error.to_string(), WORDS);
                let what = format!("A pattern for kinds of files is invalid: {why}.");
                let hint = "the journal was changed: compare it with a copy";
                self.found
                    .tell_finding(FindingGrade::Unknown, record.seq, what, hint);
            }
        }
        if let Some(effect) = &effect {
            self.look_at_evidence(record, effect);
        }
        self.evidence.note_record(record);
        let decided = self.fold.decided.clone();
        match self.fold.take_record(record) {
            Ok(effects) => {
                self.views.note_effects(record.seq, &effects, self.places);
                self.asked.ask(effects);
            }
            Err(fault) => {
                self.note_difference(record.seq, fault.what);
                return Err(());
            }
        }
        if let (Some(Effect::AppendProgress { entry }), Event::ProgressAppended) = (&effect, event)
        {
            self.views
                .note_entry(&self.fold.state.spec, record.seq, entry, &decided);
        }
        if self.found.records == 0 {
            self.views.began.clone_from(&record.at);
        }
        self.found.records = record.seq;
        self.found.head.clone_from(&record.hash);
        Ok(())
    }

    /// Looks at the evidence of a record that answers an effect, before it is folded.
    fn look_at_evidence(&mut self, record: &Record, effect: &Effect) {
        let spec = self.fold.state.spec.clone();
        match (effect, &record.event) {
            (Effect::Observe { request, .. }, Event::Observed { observation, .. }) => {
                let is_same =
                    self.evidence
                        .observe_again(record.seq, request, observation, &mut self.found);
                let Phase::Observing(attempt) = &self.fold.state.phase else {
                    return;
                };
                let mut seen = BoxLine {
                    record: Some(record.seq),
                    ..BoxLine::default()
                };
                (if is_same {
                    &mut seen.rechecked
                } else {
                    &mut seen.as_recorded
                })
                .push("commits");
                seen.rechecked.push("decision");
                if matches!(
                    attempt.claim,
                    Some(Claim::Pass | Claim::Fail { .. } | Claim::NothingToDo { .. })
                ) {
                    seen.as_recorded.push("the agent's verdict");
                }
                self.seen.insert((spec, attempt.key.clone()), seen);
            }
            (Effect::RunCheck { check, .. }, Event::Checked { .. }) => {
                let Phase::Checking { attempt, .. } = &self.fold.state.phase else {
                    return;
                };
                let seen = self.seen.entry((spec, attempt.key.clone())).or_default();
                seen.as_recorded.push(if *check == Check::Green {
                    "checks.green"
                } else {
                    "checks.red"
                });
            }
            (
                Effect::RunGate(order),
                Event::GateEnded {
                    report,
                    changes,
                    left,
                    ..
                },
            ) => {
                let (record, verdict) = (record.seq, report.verdict.word().to_owned());
                let mut seen = BoxLine {
                    record: Some(record),
                    verdict: verdict.clone(),
                    ..BoxLine::default()
                };
                let is_same = self
                    .evidence
                    .judge_again(record, order, changes, &mut self.found);
                (if is_same {
                    &mut seen.rechecked
                } else {
                    &mut seen.as_recorded
                })
                .push("changes");
                let folder = self.places.iteration_folder(order.iteration).join("gate");
                let is_left = evidence::is_as_left(&folder, left);
                match is_left {
                    Some(true) => seen.rechecked.push("report"),
                    Some(false) => {
                        let shown = self.places.display_path(&folder);
                        let what = format!("The files that the gate left in {shown} were changed.");
                        let hint = "restore it from a copy, or run the gate again: `ralph replay --rerun-gates`";
                        self.found
                            .tell_finding(FindingGrade::Differs, record, what, hint);
                    }
                    None => seen.as_recorded.push("report"),
                }
                seen.as_recorded.push(VERDICT);
                if !matches!(report.verdict, Verdict::Error { .. }) {
                    let (order, changes, report) =
                        ((**order).clone(), changes.clone(), (**report).clone());
                    let left = (is_left == Some(true)).then_some(folder);
                    self.judgements.push(Judgement {
                        record,
                        order,
                        changes,
                        report,
                        left,
                    });
                }
                self.seen.insert((spec, order.key.clone()), seen);
                self.found.gates.push(GateLine {
                    record,
                    iteration: order.iteration,
                    task: self.fold.state.spec_state().written_name(&order.key),
                    verdict,
                    millis: report.millis,
                    again: None,
                    engine: report.engines(),
                    engine_again: None,
                });
            }
            (Effect::Finish(should), Event::RunStopped { stop }) if should != stop => {
                let [is, should] = [stop, should].map(|stop| line(&stop.to_string(), WORDS));
                let what = format!("Recorded is the end `{is}`, and it should be `{should}`.");
                if self.views.is_ours {
                    self.note_difference(record.seq, what);
                } else {
                    self.found
                        .unchecked
                        .push(format!("The words of another build of ralph: {what}"));
                }
            }
            _ => {}
        }
    }

    /// Compares the files that are made from the journal.
    fn compare_files(&mut self) -> Result<(), Fault> {
        self.views.ended_behind(self.found.records);
        self.views
            .compare_state(self.places, self.disk, &mut self.found)?;
        let state = &self.fold.state;
        if let Phase::Applying {
            entry: Some(entry), ..
        } = &state.phase
        {
            self.views
                .note_entry(&state.spec, 0, entry, &self.fold.decided);
        }
        for (spec, book) in &state.specs {
            if !views::is_inside(spec) {
                self.found
                    .unchecked
                    .push(format!("{spec} lies outside of the workspace."));
                continue;
            }
            let tasks = self.places.workspace.join(spec);
            let copy = self.disk.read(&self.places.skeleton_file(&book.skeleton))?;
            let bytes = super::tasks::read_bounded(self.disk, &tasks)?;
            views::compare_tasks((spec, book), (bytes, copy), self.rules, &mut self.found);
            views::compare_spec_files((spec, book), self.places, &mut self.found);
            let progress = tasks.with_file_name("progress.txt");
            let bytes = self.disk.read(&progress)?.unwrap_or_default();
            self.views.compare_entries(
                (spec, book),
                &self.places.display_path(&progress),
                &bytes,
                &mut self.found,
            );
        }
        Ok(())
    }

    fn box_line(&self, spec: &str, book: &SpecState, row: &Row) -> BoxLine {
        let (stage, done) = (book.stage(&row.key), row.mark.is_done());
        let mut line = self
            .seen
            .get(&(spec.to_owned(), row.key.clone()))
            .cloned()
            .unwrap_or_default();
        let by = match stage.and_then(|stage| stage.ticked_by).filter(|_| done) {
            Some(TickedBy::Ralph) => "ralph",
            Some(TickedBy::Person) => "person",
            None => "",
        };
        if by == "person" {
            (line.rechecked, line.as_recorded) = (Vec::new(), vec!["a person's word"]);
        }
        if line.verdict.is_empty() {
            stage
                .and_then(|stage| stage.verdict)
                .unwrap_or_default()
                .clone_into(&mut line.verdict);
        }
        let heads = stage
            .and_then(|stage| stage.stands_for.as_ref())
            .filter(|_| done);
        let heads = heads.into_iter().flat_map(|content| &content.heads);
        let commits =
            heads.map(|(name, head)| format!("{name} {}", head.0.get(..10).unwrap_or_default()));
        let (task, place) = (book.written_name(&row.key), format!("{spec}:{}", row.line));
        BoxLine {
            task,
            place,
            done,
            by,
            commits: commits.collect(),
            ..line
        }
    }
}

impl Replayed {
    /// Notes what was found about a record.
    fn tell_finding(
        &mut self,
        grade: FindingGrade,
        record: u64,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.findings
            .push(ReplayFinding::new(grade, what, hint).at(JOURNAL, record.try_into().ok()));
    }
}

/// A fault as something that keeps a replay from telling.
fn unknown_finding(fault: &Fault) -> ReplayFinding {
    ReplayFinding::new(FindingGrade::Unknown, fault.to_string(), fault.hint.clone())
}
