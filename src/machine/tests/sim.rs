//! A world in memory that answers the machine's effects: a task file, packages whose files are lines.

use crate::machine::budget::Allowance;
use crate::machine::effect::{AgentOrder, Effect, EntryBody, GateOrder, ProgressEntry};
use crate::machine::event::{
    AgentEnd, Check, CheckResult, Event, KeptWork, Mode, StopRequest, TasksSeen, Trespass,
    Validation,
};
use crate::machine::facts::*;
use crate::machine::policy::{FRUITLESS_REWORKS, IDLE_ITERATIONS, MOST_WAITS, Policy};
use crate::machine::state::{Phase, State};
use crate::machine::step;
use crate::machine::stop::StopReason;
use crate::mutation::{ClassScore, Coverage, GateReport, Tally, Verdict};
use crate::source::{Kind, RepoPath};
use crate::task::{BoxClaim, Grammar, Mark, Row, TaskFile, TaskKey, TaskRules, digest};
use std::collections::{BTreeMap, VecDeque};

/// Actions of an agent in one attempt.
#[derive(Clone, Debug, Default)]
pub(super) struct Act {
    pub(super) end: Option<ProcessEnd>,
    pub(super) claim: Option<Claim>,
    pub(super) last_words: String,
    pub(super) millis: u64,
    pub(super) used: Option<crate::turn::Usage>,
    pub(super) quota: Vec<crate::machine::event::QuotaShare>,
    /// Notices of other runs that are there from this attempt on.
    pub(super) notices: BTreeMap<String, u64>,
    /// Committed files: path, new content.
    pub(super) commits: Vec<(&'static str, &'static str)>,
    /// Files left uncommitted.
    pub(super) leaves: Vec<&'static str>,
    /// Boxes that it writes.
    pub(super) ticks: Vec<(&'static str, Mark)>,
    /// Boxes that another process writes after the attempt.
    pub(super) ticks_later: Vec<(&'static str, Mark)>,
    /// Number of surveys that find no tasks.md: another process removes it after the attempt.
    pub(super) removals_later: u32,
    /// Other text of tasks.md that is restored.
    pub(super) reworded: Option<&'static str>,
    pub(super) rewrites: bool,
    pub(super) tests_delta: i64,
    pub(super) lost_frozen: bool,
    pub(super) lost_reviewed: Vec<&'static str>,
    pub(super) lost_production: bool,
    pub(super) stage_tests: u64,
    pub(super) report: Option<Validation>,
}

impl Act {
    pub(super) fn commits(files: &[(&'static str, &'static str)]) -> Self {
        Self {
            commits: files.to_vec(),
            stage_tests: 1,
            ..Self::default()
        }
    }
    pub(super) fn says(claim: Claim) -> Self {
        Self {
            claim: Some(claim),
            ..Self::default()
        }
    }
    pub(super) fn pass() -> Self {
        Self::says(Claim::Pass)
    }
    pub(super) fn fails(why: &str) -> Self {
        Self::says(Claim::Fail { why: why.into() })
    }
    pub(super) fn nothing_to_do() -> Self {
        Self::says(Claim::NothingToDo {
            why: "it is there".into(),
        })
    }
    pub(super) fn idle() -> Self {
        Self::default()
    }
}

/// Returns a gate report with this verdict.
pub(super) fn verdict(verdict: Verdict, classes: &[&str]) -> GateReport {
    let failing = matches!(verdict, Verdict::Fail { .. });
    GateReport {
        verdict,
        classes: classes
            .iter()
            .map(|path| ClassScore {
                package: "p".into(),
                path: RepoPath::from_bytes(path.as_bytes()),
                class: (*path).into(),
                tally: Tally::default(),
                floor: None,
            })
            .collect(),
        coverage: Coverage {
            killed: 8,
            total: 10,
        },
        survivors: Vec::new(),
        survivors_total: 0,
        trace: crate::mutation::Trace::default(),
        left_out: Vec::new(),
        remarks: Vec::new(),
        reports: Vec::new(),
        failing: if failing {
            classes.iter().map(|path| format!("p/{path}")).collect()
        } else {
            vec![]
        },
        millis: 1,
    }
}

pub(super) fn fail(classes: &[&str]) -> GateReport {
    verdict(
        Verdict::Fail {
            reasons: vec!["Foo has 50%.".into()],
        },
        classes,
    )
}

/// The simulated world with the machine's state.
pub(super) struct Sim {
    pub(super) state: State,
    pub(super) text: String,
    pub(super) files: BTreeMap<String, String>,
    pub(super) head: u32,
    pub(super) dirt: Vec<&'static str>,
    pub(super) log: Vec<String>,
    pub(super) entries: Vec<ProgressEntry>,
    pub(super) orders: Vec<AgentOrder>,
    pub(super) gates: Vec<GateOrder>,
    pub(super) notified: Vec<&'static str>,
    pub(super) waits: Vec<u64>,
    /// The answers each time that the run asks. After the last one a signal comes.
    pub(super) allows: VecDeque<Allowance>,
    /// Every fact so far.
    pub(super) facts: Vec<Event>,
    /// Verdict of gates when the script is used up; agents then do nothing.
    pub(super) endless: Option<GateReport>,
    agents: Vec<Act>,
    verdicts: Vec<GateReport>,
    checks: Vec<bool>,
    act: Act,
    before_files: BTreeMap<String, String>,
}

impl Sim {
    pub(super) fn new(text: &str) -> Self {
        Self::with(text, rules())
    }

    pub(super) fn with(text: &str, policy: Policy) -> Self {
        let mut sim = Self {
            state: State::default(),
            text: text.into(),
            files: BTreeMap::new(),
            head: 1,
            dirt: Vec::new(),
            log: Vec::new(),
            entries: Vec::new(),
            orders: Vec::new(),
            gates: Vec::new(),
            notified: Vec::new(),
            waits: Vec::new(),
            allows: VecDeque::new(),
            facts: Vec::new(),
            endless: None,
            agents: Vec::new(),
            verdicts: Vec::new(),
            checks: Vec::new(),
            act: Act::default(),
            before_files: BTreeMap::new(),
        };
        sim.start(policy, &[]);
        sim
    }

    /// A process of ralph starts (again).
    pub(super) fn start(&mut self, policy: Policy, retry: &[&str]) {
        let retry = retry.iter().map(|family| (*family).to_owned()).collect();
        self.feed(&Event::RunStarted {
            spec: "tasks.md".into(),
            policy,
            mode: Mode::Loop,
            retry,
            version: "0".into(),
        });
    }

    pub(super) fn verb(&mut self, event: &Event) {
        self.feed(&Event::RunStarted {
            spec: "tasks.md".into(),
            policy: rules(),
            mode: Mode::Verb,
            retry: vec![],
            version: "0".into(),
        });
        self.play(&Event::Resumed);
        let seen = Event::Surveyed {
            tasks: self.tasks(),
            snapshot: self.snapshot(),
            now: 0,
            inputs: None,
            others: None,
            shared_limits: BTreeMap::new(),
        };
        self.play(&seen);
        self.play(event);
    }

    /// The next agents, gates and checks answer so.
    pub(super) fn agent(&mut self, act: Act) -> &mut Self {
        self.agents.push(act);
        self
    }
    pub(super) fn gate(&mut self, report: GateReport) -> &mut Self {
        self.verdicts.push(report);
        self
    }
    pub(super) fn check(&mut self, passes: bool) -> &mut Self {
        self.checks.push(passes);
        self
    }

    /// Runs until the run stops; why.
    pub(super) fn run(&mut self) -> StopReason {
        self.play(&Event::Resumed);
        match &self.state.phase {
            Phase::Stopped(stop) => stop.clone(),
            phase => panic!("the run did not stop: {phase:?}"),
        }
    }

    /// The facts alone give the same state.
    pub(super) fn replay(&self) {
        let mut state = State::default();
        for event in &self.facts {
            state = step(state, event).expect("possible").0;
        }
        assert_eq!(state, self.state, "a replay decides otherwise");
    }

    fn play(&mut self, first: &Event) {
        let mut queue = VecDeque::from(self.feed(first));
        let mut turns = 0;
        while let Some(effect) = queue.pop_front() {
            turns += 1;
            assert!(turns < 2000, "the loop does not end");
            if let Some(event) = self.answer(effect) {
                queue.extend(self.feed(&event));
            }
        }
    }

    pub(super) fn feed(&mut self, event: &Event) -> Vec<Effect> {
        let bytes = serde_json::to_string(event).expect("an event is JSON");
        let back: Event = serde_json::from_str(&bytes).expect("JSON is the event again");
        assert_eq!(&back, event, "a stored event is read unchanged");
        self.facts.push(event.clone());
        let (state, effects) = step(std::mem::take(&mut self.state), event).expect("possible");
        self.state = state;
        effects
    }

    fn answer(&mut self, effect: Effect) -> Option<Event> {
        Some(match effect {
            Effect::LookAtLane(_) => Event::LaneSeen {
                offer: None,
                why_not: None,
                working: self.state.policy.lanes,
            },
            Effect::Play(_) => unreachable!("no lane offers work"),
            Effect::Survey => {
                for (name, mark) in std::mem::take(&mut self.act.ticks_later) {
                    self.write_box(name, mark);
                    self.act.ticks.push((name, mark));
                }
                let tasks = if self.act.removals_later > 0 {
                    self.act.removals_later -= 1;
                    TasksSeen {
                        problems: vec!["gone".into()],
                        ..TasksSeen::default()
                    }
                } else {
                    self.tasks()
                };
                Event::Surveyed {
                    tasks,
                    snapshot: self.snapshot(),
                    now: 0,
                    inputs: None,
                    others: None,
                    shared_limits: self.act.notices.clone(),
                }
            }
            Effect::StartAgent(order) => {
                self.log.push(format!("agent {}", order.key.written_id()));
                let agent = order.agent.clone();
                self.orders.push(*order);
                self.act = match self.endless {
                    Some(_) if self.agents.is_empty() => Act::idle(),
                    _ => {
                        assert!(
                            !self.agents.is_empty(),
                            "no agent is scripted for {:?}",
                            self.log
                        );
                        self.agents.remove(0)
                    }
                };
                self.before_files = self.files.clone();
                Event::AgentSpawned {
                    pid: 1,
                    started: 1,
                    agent,
                }
            }
            Effect::AwaitAgent => self.finish_agent(),
            Effect::ReapAgent { .. } => Event::AgentEnded(ProcessEnd::Interrupted.into()),
            Effect::Observe {
                request,
                validation,
            } => self.observe(&request, validation),
            Effect::RestoreTasks { .. } => {
                for (name, mark) in std::mem::take(&mut self.act.ticks) {
                    let back = if mark.is_done() {
                        Mark::OPEN
                    } else {
                        Mark::DONE
                    };
                    self.write_box(name, back);
                }
                Event::TasksRestored {
                    tasks: self.tasks(),
                    kept: "iter".into(),
                    reworded: self.act.reworded.take().map(str::to_owned),
                }
            }
            Effect::PutBack { before, .. } => {
                self.log.push("put back".into());
                self.head = before.packages[0]
                    .head
                    .0
                    .trim_start_matches('0')
                    .parse()
                    .unwrap();
                self.files = self.before_files.clone();
                self.dirt.clear();
                Event::WorkPutBack {
                    kept: vec![kept("refs/ralph/rejected/1")],
                    snapshot: self.snapshot(),
                }
            }
            Effect::KeepLeftovers { leftovers, .. } => {
                let packages: Vec<String> = leftovers.keys().cloned().collect();
                self.log.push(format!("keep {}", packages.join(",")));
                self.dirt.clear();
                Event::LeftoversKept {
                    kept: vec![kept("refs/ralph/leftover/1")],
                    snapshot: self.snapshot(),
                }
            }
            Effect::CommitLeft { message, .. } => {
                self.log.push(format!("commit `{message}`"));
                for path in std::mem::take(&mut self.dirt) {
                    self.act.commits.push((path, "left"));
                    self.files.insert(path.into(), "left".into());
                    self.head += 1;
                }
                Event::LeftCommitted {
                    commits: BTreeMap::new(),
                }
            }
            Effect::RunCheck {
                check, packages, ..
            } => self.answer_check(check, &packages),
            Effect::RunGate(order) => {
                self.log.push(format!("gate {}", order.key.written_id()));
                self.gates.push(*order);
                let report = Box::new(self.next_report());
                let heads = self.snapshot().heads();
                Event::GateEnded {
                    report,
                    heads,
                    changes: vec![],
                    left: String::new(),
                    tasks_changed: false,
                    trespass: Trespass::default(),
                }
            }
            Effect::FlipBoxes { flips } => {
                let is_in_file = |key: &TaskKey| {
                    self.rows()
                        .iter()
                        .any(|row| row.key == *key && !row.is_virtual)
                };
                let written: Vec<_> = flips
                    .iter()
                    .filter(|(key, _)| is_in_file(key))
                    .cloned()
                    .collect();
                for (key, mark) in written {
                    self.write_box(&key.written_id(), mark);
                }
                Event::BoxesFlipped { flips }
            }
            Effect::AppendProgress { entry } => {
                if let EntryBody::Text { headline, .. } = &entry.body {
                    self.log.push(format!("{} {headline}", entry.task));
                }
                self.entries.push(entry);
                Event::ProgressAppended
            }
            Effect::AskForBudget => Event::BudgetAllowed {
                more: self.allows.pop_front().unwrap_or_else(|| {
                    self.request_stop(15);
                    Allowance::default()
                }),
            },
            Effect::Wait { seconds, .. } => {
                self.waits.push(seconds);
                Event::Waited
            }
            Effect::Finish(stop) => Event::RunStopped { stop },
            Effect::Notify { event, .. } => {
                self.notified.push(event);
                return None;
            }
            Effect::WriteBefore { .. }
            | Effect::WriteDiff { .. }
            | Effect::SetReportAside { .. } => {
                return None;
            }
        })
    }

    fn next_report(&mut self) -> GateReport {
        match &self.endless {
            Some(report) if self.verdicts.is_empty() => report.clone(),
            _ => {
                assert!(
                    !self.verdicts.is_empty(),
                    "no verdict is scripted for {:?}",
                    self.log
                );
                self.verdicts.remove(0)
            }
        }
    }

    fn answer_check(&mut self, check: Check, packages: &[String]) -> Event {
        let passes = self.checks.remove(0);
        self.log
            .push(format!("check {check:?} in {}", packages.join(",")).to_lowercase());
        let result = CheckResult {
            package: "p".into(),
            end: ProcessEnd::Exited {
                code: i32::from(!passes),
            },
            tail: String::new(),
            beside: Vec::new(),
            tests: None,
        };
        Event::Checked {
            check,
            results: vec![result],
            tasks_changed: false,
            trespass: Trespass::default(),
        }
    }

    fn finish_agent(&mut self) -> Event {
        let stands = |sim: &Self, name: &str| sim.state.spec_state().is_done(&sim.key(name));
        let mut ticks = std::mem::take(&mut self.act.ticks);
        ticks.retain(|(name, mark)| stands(self, name) != mark.is_done());
        self.act.ticks = ticks;
        let act = self.act.clone();
        for (path, content) in &act.commits {
            self.files.insert((*path).into(), (*content).into());
        }
        if !act.commits.is_empty() || act.rewrites {
            self.head += 1;
        }
        self.dirt.extend(act.leaves.iter().copied());
        for (name, mark) in &act.ticks {
            self.write_box(name, *mark);
        }
        Event::AgentEnded(AgentEnd {
            claim: act.claim.clone(),
            last_words: act.last_words.clone(),
            used: act.used.clone(),
            quota: act.quota.clone(),
            millis: act.millis,
            ..act
                .end
                .clone()
                .unwrap_or(ProcessEnd::Exited { code: 0 })
                .into()
        })
    }

    fn observe(&mut self, request: &ObserveRequest, validation: bool) -> Event {
        let act = self.act.clone();
        let changes: Vec<FileChange> = act
            .commits
            .iter()
            .map(|(path, _)| self.change(path))
            .collect();
        let dirt: Vec<Dirt> = act
            .leaves
            .iter()
            .map(|path| dirty(path))
            .filter(|dirt| self.has(dirt))
            .collect();
        let touched = !changes.is_empty() || !dirt.is_empty() || act.rewrites;
        let lost = |path: &str| LostLines {
            package: "p".into(),
            path: RepoPath::from_bytes(path.as_bytes()),
            count: 1,
            first: "x".into(),
        };
        let package = PackageChange {
            name: "p".into(),
            rewritten: act.rewrites,
            changes: changes.clone(),
            dirt,
            tests_delta: act.tests_delta,
            ..PackageChange::default()
        };
        let observation = Observation {
            after: self.snapshot(),
            packages: if touched { vec![package] } else { vec![] },
            family: self.sum(&request.family, &changes),
            stage: self.sum(&request.stage, &changes),
            lost_production: act
                .lost_production
                .then(|| lost("src/main/A"))
                .into_iter()
                .collect(),
            lost_frozen: act
                .lost_frozen
                .then(|| lost("src/test/A"))
                .into_iter()
                .collect(),
            lost_reviewed: act.lost_reviewed.iter().map(|path| lost(path)).collect(),
            stage_tests: act.stage_tests,
            ..Observation::default()
        };
        let claims = act
            .ticks
            .iter()
            .map(|(name, mark)| BoxClaim {
                key: self.key(name),
                from: if mark.is_done() {
                    Mark::OPEN
                } else {
                    Mark::DONE
                },
                to: *mark,
            })
            .collect();
        Event::Observed {
            observation: Box::new(observation),
            claims,
            tasks_changed: !act.ticks.is_empty(),
            validation: if validation { act.report.clone() } else { None },
        }
    }

    fn has(&self, dirt: &Dirt) -> bool {
        self.dirt
            .iter()
            .any(|path| path.as_bytes() == dirt.path.to_bytes())
    }

    fn change(&self, path: &str) -> FileChange {
        let kind = if path.starts_with("src/test") {
            Kind::Test
        } else {
            Kind::Production
        };
        let blob = self
            .files
            .get(path)
            .map(|content| Oid(digest(content.as_bytes())[..40].to_owned()));
        FileChange {
            package: "p".into(),
            path: RepoPath::from_bytes(path.as_bytes()),
            status: FileStatus::Modified,
            kind,
            old: Some(Oid::zero()),
            new: blob,
        }
    }

    fn sum(&self, accumulated: &Accumulated, now: &[FileChange]) -> Vec<FileChange> {
        let mut paths: Vec<String> = accumulated
            .touched
            .values()
            .flatten()
            .map(RepoPath::to_text)
            .chain(now.iter().map(|change| change.path.to_text()))
            .collect();
        paths.sort();
        paths.dedup();
        paths.iter().map(|path| self.change(path)).collect()
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot {
            packages: vec![PackageState {
                name: "p".into(),
                head: Oid(format!("{:0>40}", self.head)),
                branch: Some("refs/heads/main".into()),
                dirt: self.dirt.iter().map(|path| dirty(path)).collect(),
                untracked: vec![],
            }],
        }
    }

    pub(super) fn tasks(&self) -> TasksSeen {
        let file = TaskFile::parse(self.text.clone(), &Grammar::default());
        let skeleton = digest(&file.text_without_marks());
        let spec = self.state.spec_state();
        let rows = self.rows();
        let problems = file
            .find_problems()
            .into_iter()
            .map(|problem| problem.message)
            .collect();
        if spec.skeleton == skeleton {
            let marks = rows
                .iter()
                .zip(&spec.rows)
                .filter(|(now, known)| now.mark != known.mark)
                .map(|(now, _)| (now.key.clone(), now.mark))
                .collect();
            return TasksSeen {
                skeleton,
                marks,
                problems,
                ..TasksSeen::default()
            };
        }
        TasksSeen {
            skeleton,
            rows: Some(rows),
            problems,
            ..TasksSeen::default()
        }
    }

    /// The boxes, lines that stop for a person among them.
    fn rows(&self) -> Vec<Row> {
        let rules = TaskRules::default();
        rules.ordered_boxes(
            &rules.parse(self.text.clone()),
            &self.state.spec_state().rows,
        )
    }

    /// By its name, or by its line: `tasks.md:4`.
    pub(super) fn key(&self, name: &str) -> TaskKey {
        let is_it =
            |row: &Row| row.key.written_id() == name || format!("tasks.md:{}", row.line) == name;
        let row = self.rows().into_iter().find(is_it);
        row.unwrap_or_else(|| panic!("no box {name}")).key
    }

    pub(super) fn write_box(&mut self, name: &str, mark: Mark) {
        let file = TaskFile::parse(self.text.clone(), &Grammar::default());
        if let Some(edit) = file.flip_box(&self.key(name), mark).expect("a box") {
            self.text = String::from_utf8(edit.apply_to(self.text.as_bytes()).unwrap()).unwrap();
        }
    }

    /// `1.TEST-FIRST x, 1. _ …` of all boxes.
    pub(super) fn boxes(&self) -> String {
        let file = TaskFile::parse(self.text.clone(), &Grammar::default());
        let shown = |mark: Mark| if mark.is_open() { '_' } else { mark.0 };
        let all: Vec<String> = file
            .box_rows()
            .iter()
            .map(|row| format!("{}{}", row.key.written_id(), shown(row.mark)))
            .collect();
        all.join(" ")
    }

    pub(super) fn request_stop(&mut self, signal: i32) {
        self.feed(&Event::StopRequested {
            why: StopRequest::Signal { signal },
        });
    }
}

fn dirty(path: &str) -> Dirt {
    Dirt {
        path: RepoPath::from_bytes(path.as_bytes()),
        blob: Some(Oid::zero()),
        untracked: false,
    }
}

fn kept(reference: &str) -> KeptWork {
    KeptWork {
        package: "p".into(),
        reference: reference.into(),
        commit: Oid::zero(),
        unrestored: vec![],
    }
}

/// The rules of a run when nothing is configured.
/// The changes of boxes that an entry lists.
pub(super) fn box_changes(entry: &ProgressEntry) -> Vec<String> {
    entry.boxes.iter().map(ToString::to_string).collect()
}

pub(super) fn rules() -> Policy {
    Policy {
        attempts: 3,
        rework: 5,
        idle_iterations: IDLE_ITERATIONS,
        watched: true,
        outage_hands_over: true,
        waits: Some(MOST_WAITS),
        fruitless: Some(FRUITLESS_REWORKS),
        ..Policy::default()
    }
}
