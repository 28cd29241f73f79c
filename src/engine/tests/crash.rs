//! Stop at every write, with torn lengths, and again during recovery: the same end each time.

use super::double::{CrashDisk, Death, Double, Pace, Shared};
use crate::engine::{Engine, Fault, Places};
use crate::machine::event::{Event, Mode};
use crate::machine::policy::Policy;
use crate::machine::state::Phase;
use crate::machine::stop::StopReason;
use crate::task::{Grammar, Placement, Stages, TaskRules};
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

const TASKS: &str =
    "# Tasks\r\n\n- [ ] 1.TEST-FIRST t\n- [ ] 1. do\n- [ ] 1.REQ-CHECK r\n- [ ] 1.PITEST g\n- [ ] 1.PRE-CR q";
const DONE: &str =
    "# Tasks\r\n\n- [x] 1.TEST-FIRST t\n- [x] 1. do\n- [x] 1.REQ-CHECK r\n- [x] 1.PITEST g\n- [x] 1.PRE-CR q";

/// The same with both reviews before the gate.
const GATE_LAST: &str =
    "# Tasks\r\n\n- [ ] 1.TEST-FIRST t\n- [ ] 1. do\n- [ ] 1.REQ-CHECK r\n- [ ] 1.PRE-CR q\n- [ ] 1.PITEST g";

/// A file that is left alone: its stages have no line.
const PLAIN: &str = "# Tasks\r\n\n- [ ] 1. do";

/// The grammar under which a file is run to its end.
fn grammar(shared: &Rc<RefCell<Shared>>) -> TaskRules {
    if String::from_utf8_lossy(&shared.borrow().files[&places().tasks()]).contains("PITEST") {
        return TaskRules::default();
    }
    let stages = Stages::Virtual { gates: vec![("PITEST".to_owned(), Placement::Each)] };
    TaskRules { grammar: Grammar::default(), stages }
}

fn places() -> Places {
    Places { workspace: PathBuf::from("/w"), spec: PathBuf::from("/w") }
}

fn fresh(tasks: &str) -> Rc<RefCell<Shared>> {
    let mut shared = Shared::default();
    shared.head = 1;
    shared.files.insert(places().tasks(), tasks.as_bytes().to_vec());
    let rc = Rc::new(RefCell::new(shared));
    // tasks.md was there before: it is on the disk.
    let disk = &mut CrashDisk::new(&rc, None);
    crate::sys::Disk::replace(disk, &places().tasks(), tasks.as_bytes()).unwrap();
    rc
}

/// One process of ralph: the lengths of the writes that it made, and its stop if it came that far.
fn process(
    shared: &Rc<RefCell<Shared>>,
    pace: Pace,
    death: Option<Death>,
) -> (Vec<usize>, Result<StopReason, Fault>) {
    let mut disk = CrashDisk::new(shared, death);
    let mut world =
        Double { shared: Rc::clone(shared), pace, tasks: places().tasks(), progress: places().progress() };
    let result = (|| {
        let mut engine = Engine::open(&mut disk, &mut world, places(), grammar(shared))?;
        let started = Event::RunStarted {
            spec: places().spec_name(),
            policy: Policy { attempts: 3, rework: 5, idle_iterations: 6, ..Policy::default() },
            mode: Mode::Loop,
            retry: vec![],
            version: "0".into(),
        };
        engine.drive(vec![started, Event::Resumed])?;
        match &engine.state().phase {
            Phase::Stopped(stop) => Ok(stop.clone()),
            phase => panic!("no stop: {phase:?}"),
        }
    })();
    (disk.writes, result)
}

/// What must hold once a run has come to its end, whatever happened before.
fn check_end(shared: &Rc<RefCell<Shared>>, stop: &StopReason, what: &str) {
    let shared = shared.borrow();
    assert_eq!(*stop, StopReason::AllDone, "{what}");
    let tasks = String::from_utf8_lossy(&shared.files[&places().tasks()]);
    let ends = [DONE.to_owned(), GATE_LAST.replace("[ ]", "[x]"), PLAIN.replace("[ ]", "[x]")];
    assert!(ends.contains(&tasks.to_string()), "{what}: {tasks}");
    let mut once = shared.started.clone();
    once.dedup();
    assert_eq!(once, shared.started, "{what}: an agent ran twice in one iteration");
    let progress = String::from_utf8(shared.files[&places().progress()].clone()).unwrap();
    let mut iterations: Vec<u64> = progress
        .lines()
        .filter(|line| line.starts_with("## "))
        .map(|line| line.split("iteration ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap())
        .collect();
    let entries = iterations.len();
    iterations.dedup();
    assert_eq!(iterations.len(), entries, "{what}: an iteration has two entries\n{progress}");
    let last = *iterations.last().unwrap();
    assert_eq!(iterations, (1..=last).collect::<Vec<u64>>(), "{what}: every iteration has its entry");
    assert_eq!(progress.matches("PITEST PASS").count(), 1, "{what}");
}

#[test]
fn an_undisturbed_run_ends_with_every_box_ticked() {
    for pace in [Pace::Slow, Pace::Fast] {
        let shared = fresh(TASKS);
        let (writes, result) = process(&shared, pace, None);
        check_end(&shared, &result.unwrap(), "undisturbed");
        assert!(writes.len() > 40, "{} writes", writes.len());
        assert_eq!(shared.borrow().started, [1, 2, 3, 5, 7]);

        let shared = fresh(GATE_LAST);
        let (_, result) = process(&shared, pace, None);
        check_end(&shared, &result.unwrap(), "undisturbed");
        assert_eq!(shared.borrow().started, [1, 2, 3, 4, 6]);
    }
}

#[test]
fn a_file_that_is_left_alone_goes_through_the_same_stages_and_one_final() {
    let shared = fresh(PLAIN);
    let (_, result) = process(&shared, Pace::Slow, None);
    check_end(&shared, &result.unwrap(), "undisturbed");
    assert_eq!(shared.borrow().started, [1, 2, 3, 5, 7, 8]);
}

/// Stops a run at every write, each time with another part of it done, and the next one in its recovery; `once` also
/// without that. How many ways there were.
fn stop_everywhere(tasks: &str, pace: Pace, once: bool) -> usize {
    let (writes, _) = process(&fresh(tasks), pace, None);
    let mut cases = 0;
    for (at, len) in writes.into_iter().enumerate() {
        let torn = Some(40).filter(|bytes| *bytes < len);
        for bytes in [0, usize::MAX].into_iter().chain(torn) {
            for power in [false, true] {
                // Where recovery is stopped again moves with the write: all places come up.
                let again = Some((at + bytes % 7) % 6);
                for again in [again].into_iter().chain(once.then_some(None)) {
                    let what = format!(
                        "{tasks}, {pace:?}, write {at}, {bytes} bytes, power {power}, again {again:?}"
                    );
                    let shared = fresh(tasks);
                    let first = process(&shared, pace, Some(Death { at, bytes, power })).1;
                    assert!(first.is_err(), "{what}: the disk died");
                    if let Some(at) = again {
                        let _ = process(&shared, pace, Some(Death { at, bytes, power }));
                    }
                    let stop =
                        process(&shared, pace, None).1.unwrap_or_else(|fault| panic!("{what}: {fault}"));
                    check_end(&shared, &stop, &what);
                    cases += 1;
                }
            }
        }
    }
    cases
}

#[test]
fn a_stop_at_any_write_ends_in_the_same_place() {
    let cases = stop_everywhere(TASKS, Pace::Slow, true);
    assert!(cases > 400, "{cases} cases");
}

#[test]
fn a_stop_at_any_write_with_the_work_done_ends_in_the_same_place() {
    let cases = stop_everywhere(TASKS, Pace::Fast, true);
    assert!(cases > 400, "{cases} cases");
}

#[test]
fn a_stop_with_the_gate_last_ends_in_the_same_place() {
    let cases = stop_everywhere(GATE_LAST, Pace::Slow, false) + stop_everywhere(GATE_LAST, Pace::Fast, false);
    assert!(cases > 400, "{cases} cases");
}

#[test]
fn a_stop_in_a_file_that_is_left_alone_ends_in_the_same_place() {
    let cases = stop_everywhere(PLAIN, Pace::Slow, false);
    assert!(cases > 200, "{cases} cases");
}
