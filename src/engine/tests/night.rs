//! A night without a person: three task files, two agents, and every kind of trouble, on a virtual clock.
//!
//! Each attempt and each gate has a number, and the number decides its end. So a night has the same story each time.

use super::double::{CrashDisk, Death, Double, Fate, Pace, Shared};
use crate::engine::{Engine, Fault, Follow, Places, Readings, Replay, World, read_journal};
use crate::machine::effect::{AgentOrder, Effect};
use crate::machine::event::{AgentEnd, Event, Mode, QuotaShare, StopRequest};
use crate::machine::facts::{Claim, Observation, ObserveRequest, ProcessEnd, Snapshot};
use crate::machine::policy::{MOST_WAITS, Policy};
use crate::machine::state::{Phase, State};
use crate::machine::stop::StopReason;
use crate::report::board::{Beside, Board};
use crate::report::morning::{Page, PageContext};
use crate::report::replay::FindingGrade;
use crate::sys::ProcessId;
use crate::task::{Stage, TaskRules};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

const SPECS: [&str; 3] = ["parser", "store", "web"];
/// 2026-01-12 22:00:00 UTC.
const EVENING: i64 = 1_768_255_200;
/// Iterations of one run: then it is the next task file's turn.
const TURN: u64 = 25;

fn places(spec: &str) -> Places {
    Places {
        workspace: PathBuf::from("/w"),
        spec: PathBuf::from("/w").join(spec),
    }
}

/// The part of a night that outlives a process of ralph.
#[derive(Debug, Default)]
struct Script {
    /// Seconds since 1970.
    now: i64,
    attempts: u64,
    gates: u64,
    waits: u64,
    /// A person pauses the run until then.
    paused_until: i64,
    /// Another run reached the limit of the first agent, until then.
    notice_until: i64,
    /// The kinds of trouble so far.
    troubles: BTreeSet<&'static str>,
}

struct NightWorld {
    double: Double,
    script: Rc<RefCell<Script>>,
}

impl NightWorld {
    /// Commits a part of the work of this order.
    fn work(&self, order: &AgentOrder, attempt: u64) {
        let spec = self.double.tasks.parent().unwrap().file_name().unwrap();
        let path = format!("src/main/{}/{}", spec.display(), order.key.family);
        let content = u32::try_from(attempt).unwrap();
        self.double.shared.borrow_mut().commit(path.leak(), content);
    }

    /// Adds a task to the file, as a person does between attempts.
    fn add_task(&self) {
        let mut shared = self.double.shared.borrow_mut();
        let mut text = shared.files[&self.double.tasks].clone();
        text.extend_from_slice(b"- [ ] 90. What a person thought of at night\n");
        shared.synced.insert(self.double.tasks.clone(), text.len());
        shared.files.insert(self.double.tasks.clone(), text);
    }

    fn await_agent(&mut self) -> AgentEnd {
        let order = self.double.shared.borrow_mut().running.take().unwrap();
        let script = Rc::clone(&self.script);
        let mut script = script.borrow_mut();
        script.attempts += 1;
        let attempt = script.attempts;
        let seconds = 60 + attempt % 7 * 40;
        script.now += i64::try_from(seconds).unwrap();
        if attempt % 60 == 40 {
            script.paused_until = script.now + 1_800;
        }
        if attempt % 70 == 15 {
            script.notice_until = script.now + 900;
            script.troubles.insert("limit of another run");
        }
        let why = "You've hit your limit".to_owned();
        let is_review = order.key.stage.is_review();
        let (trouble, end) = match attempt {
            at if at % 23 == 5 => {
                let reset = Some(3_600);
                ("limit with a time", ProcessEnd::Limited { why, reset })
            }
            at if at % 47 == 11 => ("limit", ProcessEnd::Limited { why, reset: None }),
            at if at % 53 == 8 || at % 53 == 9 => {
                let why = "503 Service Unavailable".to_owned();
                ("outage", ProcessEnd::Outage { why })
            }
            at if at % 31 == 10 => ("crash", ProcessEnd::Signalled { signal: 11 }),
            at if at % 61 == 14 => ("time limit", ProcessEnd::TimedOut { seconds }),
            _ => ("", ProcessEnd::Exited { code: 0 }),
        };
        let is_hostile = attempt % 37 == 3;
        if is_hostile {
            self.double.tick_all();
            script.troubles.insert("boxes ticked by an agent");
        } else if end.is_success() && !is_review {
            self.work(&order, attempt);
        }
        let mut ended = AgentEnd {
            millis: seconds * 1_000,
            ..end.into()
        };
        if trouble.is_empty() && is_review {
            ended.claim = Some(Claim::Pass);
            if attempt % 17 == 6 {
                let why = "An edge case is missing.".to_owned();
                ended.claim = Some(Claim::Fail { why });
                script.troubles.insert("review that fails");
            }
        }
        if trouble.is_empty() && attempt % 43 == 19 {
            script.troubles.insert("share of the quota");
            ended.quota.push(QuotaShare {
                window: "five_hour".to_owned(),
                percent: 93,
                reset: Some(1_200),
            });
        }
        script.troubles.insert(trouble);
        ended
    }

    fn wait(&mut self, seconds: u64) {
        let mut script = self.script.borrow_mut();
        script.now += i64::try_from(seconds).unwrap();
        script.waits += 1;
        let wait = script.waits;
        drop(script);
        if wait == 2 {
            self.add_task();
            self.script.borrow_mut().troubles.insert("edit of a person");
        }
    }
}

impl World for NightWorld {
    fn current_time(&mut self) -> String {
        let now = self.script.borrow().now;
        jiff::Timestamp::from_second(now).unwrap().to_string()
    }
    fn boot_id(&self) -> String {
        self.double.boot_id()
    }
    fn stop_request(&mut self) -> Option<StopRequest> {
        None
    }
    fn is_paused(&self) -> bool {
        let script = self.script.borrow();
        script.now < script.paused_until
    }
    fn take_snapshot(&mut self) -> Result<Snapshot, Fault> {
        self.double.take_snapshot()
    }
    fn shared_limits(&mut self) -> BTreeMap<String, u64> {
        let until = u64::try_from(self.script.borrow().notice_until).unwrap();
        [("first".to_owned(), until)].into()
    }
    fn start_agent(&mut self, order: &AgentOrder, read: &Readings) -> Result<ProcessId, Fault> {
        self.double.start_agent(order, read)
    }
    fn observe_attempt(&mut self, request: &ObserveRequest) -> Result<Observation, Fault> {
        self.double.observe_attempt(request)
    }
    fn abandon_agent(&mut self) {
        self.double.abandon_agent();
    }
    fn perform_effect(&mut self, effect: Effect) -> Result<Option<Event>, Fault> {
        Ok(Some(match effect {
            Effect::AwaitAgent => Event::AgentEnded(self.await_agent()),
            Effect::RunGate(order) => {
                let mut script = self.script.borrow_mut();
                script.gates += 1;
                script.now += 300;
                let strong = script.gates % 6 != 4;
                if !strong {
                    script.troubles.insert("gate that fails");
                }
                drop(script);
                self.double.judge(&order, strong)
            }
            Effect::Wait { seconds, .. } => {
                self.wait(seconds);
                Event::Waited
            }
            effect => return self.double.perform_effect(effect),
        }))
    }
    fn wait_seconds(&mut self, seconds: u64, _: bool) {
        let mut script = self.script.borrow_mut();
        script.now += i64::try_from(seconds).unwrap();
        script.troubles.insert("pause");
    }
    fn redact_text(&self, text: &str) -> String {
        text.to_owned()
    }
    fn tell_event(&mut self, _: &Event, _: &State) {}
}

/// The whole workspace, in memory.
struct Night {
    shared: Rc<RefCell<Shared>>,
    script: Rc<RefCell<Script>>,
    /// Processes of ralph so far.
    processes: usize,
}

impl Night {
    fn new(tasks: usize) -> Self {
        let shared = Rc::new(RefCell::new(Shared::default()));
        shared.borrow_mut().head = 1;
        for spec in SPECS {
            let mut text = format!("# Tasks of the {spec}\n\n");
            for task in 1..=tasks {
                writeln!(text, "- [ ] {task}. Write part {task} of the {spec}").unwrap();
                writeln!(text, "- [ ] {task}.REQ-CHECK r\n- [ ] {task}.PITEST g").unwrap();
            }
            let path = places(spec).tasks_file();
            shared.borrow_mut().synced.insert(path.clone(), text.len());
            shared.borrow_mut().files.insert(path, text.into_bytes());
        }
        let script = Script {
            now: EVENING,
            ..Script::default()
        };
        Self {
            shared,
            script: Rc::new(RefCell::new(script)),
            processes: 0,
        }
    }

    /// Runs one process of ralph on a task file. Most are killed, lose their power, or find the disk full.
    fn run(&mut self, spec: &str, retry: Vec<String>) -> Result<StopReason, Fault> {
        let number = self.processes;
        self.processes += 1;
        let at = 17 + number * 41 % 190;
        let trouble = ["kill -9", "power failure", "full disk", ""][number % 4];
        let death = (number % 4 < 2).then_some(Death {
            at,
            bytes: [0, 40, usize::MAX][number % 3],
            power: (trouble == "power failure").then_some(Fate::LOST),
            lies: None,
        });
        let mut disk = CrashDisk::new(&self.shared, death);
        disk.full_from = (trouble == "full disk").then_some(at);
        let mut world = NightWorld {
            double: Double {
                shared: Rc::clone(&self.shared),
                pace: Pace::Slow,
                tasks: places(spec).tasks_file(),
                progress: places(spec).progress_file(),
            },
            script: Rc::clone(&self.script),
        };
        let end = run_engine(&mut disk, &mut world, spec, retry);
        let mut script = self.script.borrow_mut();
        script.now += 30;
        if end.is_err() {
            script.troubles.insert(trouble);
        }
        end
    }

    fn text(&self, path: &Path) -> String {
        String::from_utf8(self.shared.borrow().files[path].clone()).unwrap()
    }

    /// Runs all task files to their end, in turns.
    fn run_all(&mut self) {
        let mut open: Vec<(&str, Vec<String>)> = SPECS.map(|spec| (spec, vec![])).into();
        while let Some((spec, retry)) = open.first_mut() {
            assert!(self.processes < 400, "it does not end");
            match self.run(spec, std::mem::take(retry)) {
                // A process that died on a task file is followed by one that finishes its iteration.
                Err(_) => {}
                Ok(StopReason::AllDone) => drop(open.remove(0)),
                Ok(StopReason::Iterations { .. }) => open.rotate_left(1),
                Ok(StopReason::Blocked { reasons }) => {
                    let family = reasons[0].split('.').next().unwrap();
                    *retry = vec![family.to_owned()];
                    self.script.borrow_mut().troubles.insert("blocked task");
                }
                Ok(stop) => panic!("{spec}: {stop:?}"),
            }
        }
    }
}

fn run_engine(
    disk: &mut CrashDisk,
    world: &mut NightWorld,
    spec: &str,
    retry: Vec<String>,
) -> Result<StopReason, Fault> {
    let agents = || vec!["first".to_owned(), "second".to_owned()];
    let stages = [Stage::Implementation, Stage::ReqCheck];
    let policy = Policy {
        attempts: 5,
        rework: 9,
        iterations: Some(TURN),
        idle_iterations: 6,
        watched: true,
        outage_hands_over: true,
        waits: Some(MOST_WAITS),
        quota: Some(90),
        agents: stages.map(|stage| (stage, agents())).into(),
        ..Policy::default()
    };
    let mut engine = Engine::open_journal(disk, world, places(spec), TaskRules::default())?;
    let started = Event::RunStarted {
        spec: places(spec).spec_name(),
        policy,
        mode: Mode::Loop,
        retry,
        version: crate::machine::event::BUILD.to_owned(),
    };
    engine.drive_effects(vec![started, Event::Resumed])?;
    match &engine.current_state().phase {
        Phase::Stopped(stop) => Ok(stop.clone()),
        phase => panic!("no stop: {phase:?}"),
    }
}

/// Every box is ticked, each iteration has one entry and at most one agent, and the journal replays equal.
fn check(night: &Night) -> u64 {
    let started = night.shared.borrow().started.clone();
    assert!(started.is_sorted_by(|one, next| one < next), "{started:?}");
    let mut entries = Vec::new();
    for spec in SPECS {
        let tasks = night.text(&places(spec).tasks_file());
        assert!(!tasks.contains("[ ]"), "{spec}: {tasks}");
        let progress = night.text(&places(spec).progress_file());
        let numbers = progress
            .lines()
            .filter(|line| line.starts_with("## "))
            .map(|line| line.split(' ').nth(3).unwrap().parse::<u64>().unwrap());
        entries.extend(numbers);
    }
    entries.sort_unstable();
    let iterations = *entries.last().unwrap();
    assert!(entries.into_iter().eq(1..=iterations), "one entry each");
    for spec in SPECS {
        let found = differences(night, spec);
        assert!(found.is_empty(), "{found:#?}");
        let disk = CrashDisk::new(&night.shared, None);
        let state = read_journal(&disk, &places(spec)).unwrap();
        assert!(state.spec_state().rows.iter().all(|row| row.mark.is_done()));
    }
    iterations
}

/// The differences between the journal and its replay.
fn differences(night: &Night, spec: &str) -> Vec<String> {
    let disk = CrashDisk::new(&night.shared, None);
    let (places, rules) = (places(spec), TaskRules::default());
    let no_git = Err(Fault::setup_fault("no repository", ""));
    let replay = Replay::new(&disk, &places, &rules, no_git);
    let found = replay.run_replay().unwrap().found;
    let differs = found
        .findings
        .into_iter()
        .filter(|found| found.kind == FindingGrade::Differs);
    differs.map(|found| found.what).collect()
}

/// The page of a task file in the morning.
fn page_of(night: &Night, spec: &str) -> String {
    let mut follow = Follow::new(places(spec), TaskRules::default());
    follow.keeps_story = true;
    follow
        .read_news(&CrashDisk::new(&night.shared, None))
        .unwrap();
    let board = follow.look_at_state(|state, spent| Board::new(state, spent, Beside::default()));
    let context = PageContext {
        workspace: "night",
        zone: None,
        commit_pages: &BTreeMap::new(),
        report_address: &|_| None,
    };
    let page = Page::new(&board, follow.story_so_far(), &context);
    page.render_html().unwrap()
}

#[test]
fn an_hour_of_a_night_ends_with_true_boxes_and_replays_equal() {
    let mut night = Night::new(2);
    night.run_all();
    let iterations = check(&night);
    assert!(iterations >= 20, "{iterations}");
    // The replay sees a word that changed.
    let progress = places(SPECS[1]).progress_file();
    let text = night.text(&progress).replacen("PASS", "FAIL", 1);
    night
        .shared
        .borrow_mut()
        .files
        .insert(progress, text.into_bytes());
    assert_eq!(differences(&night, SPECS[1]).len(), 1);
}

/// `RALPH_WRITE_DOCS=1` writes the page of the first task file.
#[test]
#[ignore = "deep tier"]
fn a_night_of_limits_outages_crashes_and_edits_ends_with_true_boxes() {
    let mut night = Night::new(22);
    night.run_all();
    let iterations = check(&night);
    let script = night.script.borrow();
    let hours = (script.now - EVENING) / 3_600;
    println!(
        "{iterations} iterations, {} processes, {hours} h",
        night.processes
    );
    assert!(iterations >= 200, "{iterations}");
    for trouble in [
        "boxes ticked by an agent",
        "crash",
        "edit of a person",
        "full disk",
        "gate that fails",
        "kill -9",
        "limit",
        "limit of another run",
        "limit with a time",
        "outage",
        "pause",
        "power failure",
        "review that fails",
        "share of the quota",
        "time limit",
    ] {
        assert!(script.troubles.contains(trouble), "{trouble}");
    }
    let boxes = SPECS.map(|spec| {
        night
            .text(&places(spec).tasks_file())
            .matches("[x]")
            .count()
    });
    assert_eq!(boxes.iter().sum::<usize>(), 3 * 3 * 22 + 1, "{boxes:?}");
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/examples/night.html");
    let page = page_of(&night, SPECS[0]);
    if std::env::var_os("RALPH_WRITE_DOCS").is_some() {
        fs_err::write(example, &page).unwrap();
    }
    let is_same = page == fs_err::read_to_string(example).unwrap();
    let command = "RALPH_WRITE_DOCS=1 cargo test --lib a_night_of_limits -- --ignored";
    assert!(is_same, "{example} is old; `{command}` writes it");
}
