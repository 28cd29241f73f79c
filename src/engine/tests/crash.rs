//! Stop at every write, with torn lengths, and again during recovery: the same end each time.

use super::double::{CrashDisk, Death, Double, Fate, Lie, Pace, Replaced, Shared};
use crate::engine::{Engine, Fault, Places};
use crate::machine::event::{Event, Mode};
use crate::machine::policy::Policy;
use crate::machine::state::Phase;
use crate::machine::stop::StopReason;
use crate::task::{Grammar, Placement, Stages, TaskRules};
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

pub(super) const TASKS: &str = "# Tasks\r\n\n- [ ] 1.TEST-FIRST t\n- [ ] 1. do\n- [ ] 1.REQ-CHECK r\n- [ ] 1.PITEST g\n- [ ] 1.PRE-CR q";
const DONE: &str = "# Tasks\r\n\n- [x] 1.TEST-FIRST t\n- [x] 1. do\n- [x] 1.REQ-CHECK r\n- [x] 1.PITEST g\n- [x] 1.PRE-CR q";

/// The same with both reviews before the gate.
pub(super) const GATE_LAST: &str = "# Tasks\r\n\n- [ ] 1.TEST-FIRST t\n- [ ] 1. do\n- [ ] 1.REQ-CHECK r\n- [ ] 1.PRE-CR q\n- [ ] 1.PITEST g";

/// A file that is left alone: its stages have no line.
pub(super) const PLAIN: &str = "# Tasks\r\n\n- [ ] 1. do";

/// The grammar under which a file is run to its end.
fn grammar(shared: &Rc<RefCell<Shared>>) -> TaskRules {
    if shared.borrow().has_gate_line {
        return TaskRules::default();
    }
    let stages = Stages::Virtual {
        gates: vec![("PITEST".to_owned(), Placement::Each)],
    };
    TaskRules {
        grammar: Grammar::default(),
        stages,
    }
}

pub(super) fn places() -> Places {
    Places {
        workspace: PathBuf::from("/w"),
        spec: PathBuf::from("/w"),
    }
}

pub(super) fn fresh(tasks: &str) -> Rc<RefCell<Shared>> {
    let mut shared = Shared::default();
    shared.head = 1;
    shared.has_gate_line = tasks.contains("PITEST");
    shared
        .files
        .insert(places().tasks_file(), tasks.as_bytes().to_vec());
    let rc = Rc::new(RefCell::new(shared));
    // tasks.md was there before: it is on the disk.
    let disk = &mut CrashDisk::new(&rc, None);
    crate::sys::Disk::replace(disk, &places().tasks_file(), tasks.as_bytes()).unwrap();
    rc
}

/// One process of ralph: the lengths of the writes that it made, and its stop if it came that far.
pub(super) fn process(
    shared: &Rc<RefCell<Shared>>,
    pace: Pace,
    death: Option<Death>,
) -> (Vec<usize>, Result<StopReason, Fault>) {
    let mut disk = CrashDisk::new(shared, death);
    let mut world = Double {
        shared: Rc::clone(shared),
        pace,
        tasks: places().tasks_file(),
        progress: places().progress_file(),
    };
    let result = (|| {
        let mut engine = Engine::open_journal(&mut disk, &mut world, places(), grammar(shared))?;
        let started = Event::RunStarted {
            spec: places().spec_name(),
            policy: Policy {
                attempts: 3,
                rework: 5,
                idle_iterations: 6,
                ..Policy::default()
            },
            mode: Mode::Loop,
            retry: vec![],
            version: "0".into(),
        };
        engine.drive_effects(vec![started, Event::Resumed])?;
        match &engine.current_state().phase {
            Phase::Stopped(stop) => Ok(stop.clone()),
            phase => panic!("no stop: {phase:?}"),
        }
    })();
    (disk.writes, result)
}

/// Returns the first invariant that a run violates at its end, after any interruption.
fn broken(shared: &Rc<RefCell<Shared>>, stop: &StopReason) -> Option<String> {
    let shared = shared.borrow();
    let tasks = String::from_utf8_lossy(&shared.files[&places().tasks_file()]);
    let ends = [
        DONE.to_owned(),
        GATE_LAST.replace("[ ]", "[x]"),
        PLAIN.replace("[ ]", "[x]"),
    ];
    if *stop != StopReason::AllDone || !ends.contains(&tasks.to_string()) {
        return Some(format!("{stop:?}: {tasks}"));
    }
    let mut once = shared.started.clone();
    once.dedup();
    if once != shared.started {
        return Some(format!(
            "an agent ran twice in one iteration: {:?}",
            shared.started
        ));
    }
    let progress = String::from_utf8(shared.files[&places().progress_file()].clone()).unwrap();
    let headings = progress.lines().filter(|line| line.starts_with("## "));
    let numbers = headings.map(|line| {
        let number = line.split("iteration ").nth(1)?.split(' ').next()?;
        number.parse().ok()
    });
    let Some(iterations) = numbers.collect::<Option<Vec<u64>>>() else {
        return Some(format!("a heading is cut: {progress}"));
    };
    let is_whole = iterations
        .iter()
        .copied()
        .eq(1..=iterations.last().copied().unwrap_or(1));
    let is_right = is_whole && progress.matches("PITEST PASS").count() == 1;
    (!is_right).then(|| format!("not one entry for each iteration: {progress}"))
}

pub(super) fn check_end(shared: &Rc<RefCell<Shared>>, stop: &StopReason, what: &str) {
    assert_eq!(broken(shared, stop), None, "{what}");
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

/// A way to stop a run, and perhaps its recovery.
#[derive(Clone, Copy, Debug)]
struct Stop {
    /// The number of the write.
    at: usize,
    /// The number of its bytes that are written.
    bytes: usize,
    /// The fate of unsynced data if the power fails.
    power: Option<Fate>,
    /// The write at which the next run stops.
    again: Option<usize>,
}

/// The ways to stop a run with writes of these lengths: at each write, with another part of it done, with and without
/// a power failure. Every second one stops the recovery too.
fn stops(writes: &[usize]) -> Vec<Stop> {
    let mut all = Vec::new();
    for (at, len) in writes.iter().enumerate() {
        let torn = Some(40).filter(|bytes| bytes < len);
        for bytes in [0, usize::MAX].into_iter().chain(torn) {
            for power in [None, Some(Fate::LOST)] {
                // The place in the recovery moves with the write, so that all places come up.
                let again = (at + all.len()).is_multiple_of(2);
                all.push(Stop {
                    at,
                    bytes,
                    power,
                    again: again.then_some((at + bytes % 7) % 6),
                });
            }
        }
    }
    all
}

/// Stops runs in every `step`-th of all ways, and returns how many runs there were. An odd step takes another way of each
/// next write.
fn stop_everywhere(tasks: &str, pace: Pace, step: usize) -> usize {
    let (writes, _) = process(&fresh(tasks), pace, None);
    let stops = stops(&writes);
    for stop in stops.iter().step_by(step) {
        let what = format!("{tasks}, {pace:?}, {stop:?}");
        let death = |at| {
            Some(Death {
                at,
                bytes: stop.bytes,
                power: stop.power,
                lies: None,
            })
        };
        let shared = fresh(tasks);
        let first = process(&shared, pace, death(stop.at)).1;
        assert!(first.is_err(), "{what}: the disk died");
        if let Some(at) = stop.again {
            let _ = process(&shared, pace, death(at));
        }
        let end = process(&shared, pace, None)
            .1
            .unwrap_or_else(|fault| panic!("{what}: {fault}"));
        check_end(&shared, &end, &what);
    }
    stops.len().div_ceil(step)
}

#[test]
fn stops_spread_over_all_writes_end_in_the_same_place() {
    let runs = [
        (TASKS, Pace::Slow),
        (TASKS, Pace::Fast),
        (GATE_LAST, Pace::Slow),
        (PLAIN, Pace::Fast),
    ];
    // A write has 4 or 6 ways.
    let cases: usize = runs
        .into_iter()
        .map(|(tasks, pace)| stop_everywhere(tasks, pace, 11))
        .sum();
    assert!(cases > 100, "{cases} cases");
}

#[test]
#[ignore = "deep tier"]
fn a_stop_at_any_write_ends_in_the_same_place() {
    let cases = stop_everywhere(TASKS, Pace::Slow, 1);
    assert!(cases > 300, "{cases} cases");
}

#[test]
#[ignore = "deep tier"]
fn stops_with_the_work_done_end_in_the_same_place() {
    let cases = stop_everywhere(TASKS, Pace::Fast, 3);
    assert!(cases > 100, "{cases} cases");
}

#[test]
#[ignore = "deep tier"]
fn a_stop_with_the_gate_last_ends_in_the_same_place() {
    let cases =
        stop_everywhere(GATE_LAST, Pace::Slow, 3) + stop_everywhere(GATE_LAST, Pace::Fast, 5);
    assert!(cases > 170, "{cases} cases");
}

#[test]
#[ignore = "deep tier"]
fn a_stop_in_a_file_that_is_left_alone_ends_in_the_same_place() {
    let cases = stop_everywhere(PLAIN, Pace::Slow, 3);
    assert!(cases > 100, "{cases} cases");
}

/// Returns the fates of unsynced data in a power failure: of a replaced file and of appended bytes, in all combinations.
pub(super) fn fates() -> Vec<Fate> {
    let replaced = [
        Replaced::Newest,
        Replaced::Before(1),
        Replaced::Before(2),
        Replaced::Before(usize::MAX),
        Replaced::Torn(0),
        Replaced::Torn(1),
        Replaced::Torn(31),
        Replaced::Torn(60),
        Replaced::Zeros(0),
        Replaced::Zeros(40),
        Replaced::Gone,
    ];
    let appended = [0, 20, usize::MAX];
    let both = |replaced| appended.map(|appended| Fate { replaced, appended });
    replaced.into_iter().flat_map(both).collect()
}

/// Data that a killed process found durable must be there after a power loss.
#[test]
#[ignore = "deep tier"]
fn a_kill_at_any_write_and_then_a_power_loss_end_in_the_same_place() {
    let (writes, _) = process(&fresh(PLAIN), Pace::Slow, None);
    for first in 0..writes.len() {
        for then in 1..4 {
            let shared = fresh(PLAIN);
            killed(
                &shared,
                Pace::Slow,
                Death {
                    at: first,
                    bytes: 1,
                    power: None,
                    lies: None,
                },
            );
            killed(
                &shared,
                Pace::Slow,
                Death {
                    at: then,
                    bytes: 0,
                    power: Some(Fate::LOST),
                    lies: None,
                },
            );
            let what = format!("write {first}, then {then}");
            let stop = process(&shared, Pace::Slow, None)
                .1
                .unwrap_or_else(|fault| panic!("{what}: {fault}"));
            check_end(&shared, &stop, &what);
        }
    }
}

/// Runs until this end of the machine.
fn killed(shared: &Rc<RefCell<Shared>>, pace: Pace, death: Death) -> bool {
    process(shared, pace, Some(death)).1.is_err()
}

#[test]
fn two_hundred_stops_at_random_writes_in_a_row_end_in_the_same_place() {
    stop_at_random(200);
}

/// `RALPH_STOPS` asks for so many.
#[test]
#[ignore = "deep tier"]
fn hundreds_of_stops_at_random_writes_in_a_row_end_in_the_same_place() {
    let asked = std::env::var_os("RALPH_STOPS");
    stop_at_random(asked.map_or(400, |asked| asked.to_str().unwrap().parse().unwrap()));
}

fn stop_at_random(wanted: usize) {
    let (mut seed, mut made) = (0x5DEE_CE66_u64, 0);
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed % below as u64).unwrap()
    };
    while made < wanted {
        let tasks = [TASKS, GATE_LAST, PLAIN][random(3)];
        let pace = [Pace::Slow, Pace::Fast][random(2)];
        let shared = fresh(tasks);
        let mut deaths = Vec::new();
        while deaths.len() < 30 {
            let bytes = [0, 1, 40, usize::MAX][random(4)];
            deaths.push(Death {
                at: random(60),
                bytes,
                power: (random(2) == 0).then(|| fates()[random(fates().len())]),
                lies: None,
            });
            if !killed(&shared, pace, deaths[deaths.len() - 1]) {
                break;
            }
            made += 1;
        }
        let what = format!("{tasks}, {pace:?}, {deaths:?}");
        let stop = process(&shared, pace, None)
            .1
            .unwrap_or_else(|fault| panic!("{what}: {fault}"));
        check_end(&shared, &stop, &what);
    }
}

#[test]
#[ignore = "deep tier"]
fn a_disk_that_only_says_that_it_synced_is_found_out_whichever_switch_is_off() {
    let (writes, _) = process(&fresh(TASKS), Pace::Slow, None);
    for lie in [
        Lie::Sync("journal.jsonl"),
        Lie::Sync("progress.txt"),
        Lie::Content,
        Lie::Folder,
    ] {
        let survives = |at: &usize| {
            let shared = fresh(TASKS);
            killed(
                &shared,
                Pace::Slow,
                Death {
                    at: *at,
                    bytes: 0,
                    power: Some(Fate::LOST),
                    lies: Some(lie),
                },
            );
            process(&shared, Pace::Slow, None)
                .1
                .is_ok_and(|stop| broken(&shared, &stop).is_none())
        };
        let lost = (0..writes.len()).filter(|at| !survives(at)).count();
        println!("{lie:?}: {lost} of {}", writes.len());
        if lie == Lie::Sync("progress.txt") {
            assert_eq!(lost, 0, "the entries are made again from the journal");
            continue;
        }
        assert!(
            lost > writes.len() / 4,
            "{lie:?}: {lost} of {}",
            writes.len()
        );
    }
}
