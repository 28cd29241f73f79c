//! A power failure that takes unsynced writes, and what people saved after it.

use super::crash::{GATE_LAST, PLAIN, TASKS, check_end, fates, fresh, places, process};
use super::double::{CrashDisk, Death, Pace, Shared};
use crate::engine::{FaultKind, read_journal};
use crate::machine::state::Phase;
use std::cell::RefCell;
use std::rc::Rc;

/// Seconds since 1970 of all records of the double.
const RECORDS: i64 = 1_795_305_600;

/// Stops runs by power failures with every `step`-th of all fates at each write, and each second recovery too.
fn lose_power_everywhere(tasks: &str, pace: Pace, step: usize) -> usize {
    let (writes, _) = process(&fresh(tasks), pace, None);
    let cases = (0..writes.len()).flat_map(|at| fates().into_iter().map(move |fate| (at, fate)));
    let mut made = 0;
    for (at, fate) in cases.step_by(step) {
        let death = |at| {
            Some(Death {
                at,
                bytes: usize::MAX,
                power: Some(fate),
                lies: None,
            })
        };
        let shared = fresh(tasks);
        assert!(process(&shared, pace, death(at)).1.is_err());
        if at % 2 == 0 {
            let _ = process(&shared, pace, death(at % 7));
        }
        let what = format!("{tasks}, {pace:?}, write {at}, {fate:?}");
        let end = process(&shared, pace, None)
            .1
            .unwrap_or_else(|fault| panic!("{what}: {fault}"));
        check_end(&shared, &end, &what);
        made += 1;
    }
    made
}

#[test]
fn a_power_failure_with_any_fate_of_unsynced_data_loses_no_transition() {
    let cases = lose_power_everywhere(TASKS, Pace::Slow, 113)
        + lose_power_everywhere(PLAIN, Pace::Fast, 127);
    assert!(cases > 20, "{cases} cases");
}

/// `RALPH_FATES=1` asks for each fate at each write.
#[test]
#[ignore = "deep tier"]
fn a_power_failure_at_each_write_loses_no_transition() {
    let asked = std::env::var_os("RALPH_FATES");
    let step = asked.map_or(37, |asked| asked.to_str().unwrap().parse().unwrap());
    let cases: usize = [
        (TASKS, Pace::Slow),
        (TASKS, Pace::Fast),
        (GATE_LAST, Pace::Fast),
        (PLAIN, Pace::Slow),
    ]
    .into_iter()
    .map(|(tasks, pace)| lose_power_everywhere(tasks, pace, step))
    .sum();
    assert!(cases > 100, "{cases} cases");
}

/// A run that is killed between iterations, with TEST-FIRST and the implementation ticked. The machine starts again.
fn interrupted() -> Rc<RefCell<Shared>> {
    let stopped = (1..).find_map(|at| {
        let shared = fresh(TASKS);
        let death = Death {
            at,
            bytes: usize::MAX,
            power: None,
            lies: None,
        };
        assert!(process(&shared, Pace::Slow, Some(death)).1.is_err());
        let state = read_journal(&CrashDisk::new(&shared, None), &places()).unwrap();
        (state.iteration == 2 && state.phase == Phase::Idle).then_some(shared)
    });
    let shared = stopped.unwrap();
    assert_eq!(text(&shared).matches("[x]").count(), 2);
    shared.borrow_mut().boots += 1;
    shared
}

fn text(shared: &Rc<RefCell<Shared>>) -> String {
    String::from_utf8(shared.borrow().files[&places().tasks_file()].clone()).unwrap()
}

fn save(shared: &Rc<RefCell<Shared>>, text: &str) {
    let mut shared = shared.borrow_mut();
    shared.files.insert(places().tasks_file(), text.into());
}

/// Runs to the end; the stages for which agents were started since the interruption.
fn go_on(shared: &Rc<RefCell<Shared>>) -> usize {
    let before = shared.borrow().started.len();
    process(shared, Pace::Slow, None).1.unwrap();
    let after = shared.borrow().started.len();
    after - before
}

#[test]
fn an_edit_of_a_person_after_a_power_failure_stays() {
    let more = "\r\n- [ ] 2. more\r\n";
    // With the ticks, and on a file that lost them: the boxes count as the person left them. The double has no work for
    // a stage that was done, so boxes that were reopened stay open.
    for (mark, end) in [("[x]", "[x]"), ("[ ]", "[ ]")] {
        let shared = interrupted();
        let edited = text(&shared).replace("[x]", mark) + more;
        save(&shared, &edited);
        go_on(&shared);
        assert_eq!(text(&shared), TASKS.replace("[ ]", end) + more);
    }
}

#[test]
fn a_box_that_a_person_unticked_after_ralphs_end_is_open_and_a_lost_tick_is_not() {
    let undisturbed = go_on(&interrupted());
    for (changed_at, reopened) in [(RECORDS + 1, 1), (RECORDS, 0)] {
        let shared = interrupted();
        let earlier = text(&shared).replace("[x] 1. do", "[ ] 1. do");
        save(&shared, &earlier);
        shared.borrow_mut().changed_at = Some(changed_at);
        assert_eq!(go_on(&shared), undisturbed + reopened, "{changed_at}");
    }
}

#[test]
fn without_another_boot_an_earlier_version_is_an_edit() {
    let undisturbed = go_on(&interrupted());
    let shared = interrupted();
    shared.borrow_mut().boots -= 1;
    let earlier = text(&shared).replace("[x] 1. do", "[ ] 1. do");
    save(&shared, &earlier);
    assert_eq!(go_on(&shared), undisturbed + 1);
}

#[test]
fn a_file_that_was_damaged_is_kept_and_named() {
    let shared = interrupted();
    save(&shared, "# Tasks\r\n\n- [x] 1.TE");
    go_on(&shared);
    assert_eq!(text(&shared), TASKS.replace("[ ]", "[x]"));
    let shared = shared.borrow();
    let progress = &shared.files[&places().progress_file()];
    let named = ".ralph/state/iter-2/tasks-after-power-failure.md";
    assert!(String::from_utf8_lossy(progress).contains(named));
    assert_eq!(
        shared.files[&places().workspace.join(named)],
        b"# Tasks\r\n\n- [x] 1.TE"
    );
}

#[test]
fn a_lost_file_whose_copy_is_changed_stops_the_run_and_is_left_alone() {
    let shared = interrupted();
    shared.borrow_mut().files.remove(&places().tasks_file());
    for (path, bytes) in &mut shared.borrow_mut().files {
        if path.extension().is_some_and(|extension| extension == "md") {
            bytes.extend(b"- [ ] 9. of an agent\n");
        }
    }
    let fault = process(&shared, Pace::Slow, None).1.unwrap_err();
    assert_eq!(fault.kind, FaultKind::Changed);
    assert!(fault.to_string().contains("copy of tasks.md"), "{fault}");
    assert!(!shared.borrow().files.contains_key(&places().tasks_file()));
}
