//! Finding processes of an earlier run.

use super::{
    Bench, PATIENCE, command, exited, kill, processes_with_argument, supervisor, wait_for,
};
use ralph::sys::process::{is_inside_agent, reap};
use ralph::sys::{ProcessId, Spawn as _};
use std::io::ErrorKind;
use std::process::Child;
use std::time::Duration;

/// Starts a process outside any supervisor, reaped by a thread when it ends.
fn stray(bench: &Bench, tag: &str) -> (ProcessId, std::thread::JoinHandle<()>) {
    let script = format!("trap '' TERM; sleep {0} & sleep {0}; exit", bench.nap);
    let mut child: Child = command("setsid")
        .args(["sh", "-c", &script])
        .env("RALPH_TAG", tag)
        .spawn()
        .unwrap();
    wait_for("two naps", || bench.nappers().len() == 2);
    let id = ProcessId::of(i32::try_from(child.id()).unwrap())
        .unwrap()
        .unwrap();
    (id, std::thread::spawn(move || drop(child.wait())))
}

#[test]
fn processes_are_found_by_their_tag_and_killed() {
    let bench = Bench::new();
    let (_, ended) = stray(&bench, &bench.tag);
    assert_eq!(reap(None, "another-tag", PATIENCE).unwrap(), 0);
    assert_eq!(
        reap(None, &bench.tag[..bench.tag.len() - 1], PATIENCE).unwrap(),
        0,
        "a part is not the tag"
    );
    assert_eq!(bench.nappers().len(), 2);
    assert_eq!(reap(None, &bench.tag, PATIENCE).unwrap(), 3);
    assert_eq!(bench.nappers(), [0; 0]);
    ended.join().unwrap();
    assert_eq!(reap(None, &bench.tag, PATIENCE).unwrap(), 0);
}

#[test]
fn a_recorded_process_is_found_without_a_tag_but_not_under_another_start_time() {
    let bench = Bench::new();
    let (id, ended) = stray(&bench, "");
    let older = ProcessId {
        pid: id.pid,
        started: id.started - 1,
    };
    assert_eq!(reap(Some(&older), &bench.tag, PATIENCE).unwrap(), 0);
    assert_eq!(bench.nappers().len(), 2);
    assert_eq!(reap(Some(&id), &bench.tag, PATIENCE).unwrap(), 3);
    assert_eq!(bench.nappers(), [0; 0]);
    ended.join().unwrap();
}

#[test]
fn what_survives_the_patience_is_an_error_that_names_it() {
    let bench = Bench::new();
    let (id, ended) = stray(&bench, &bench.tag);
    // Without patience the processes are killed, but their end is not confirmed.
    let error = reap(None, &bench.tag, Duration::ZERO).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert!(error.to_string().contains(&id.pid.to_string()), "{error}");
    ended.join().unwrap();
}

#[test]
fn a_stopped_supervisor_and_its_tree_are_killed() {
    let bench = Bench::new();
    let running = bench.start("setsid env -i sh -c 'NAP & NAP' & NAP");
    wait_for("three naps", || bench.nappers().len() == 3);
    let [supervisor] = processes_with_argument(&bench.tag)[..] else {
        panic!("one supervisor")
    };
    assert!(kill(supervisor, "STOP"));
    // Half of the patience is for the supervisor, which will not use it.
    assert!(reap(Some(&running.id()), &bench.tag, Duration::from_secs(6)).unwrap() >= 5);
    assert_eq!(bench.nappers(), [0; 0]);
    assert!(running.wait().is_err());
}

#[test]
fn a_process_under_ralph_knows_that_it_is() {
    if std::env::var_os("IS_UNDER_RALPH").is_some() {
        return assert!(is_inside_agent().unwrap());
    }
    assert!(
        !is_inside_agent().unwrap(),
        "these tests are not run by ralph"
    );
    let bench = Bench::new();
    let me = std::env::current_exe().unwrap();
    let me = me.to_str().unwrap();
    let same = "--exact sys::reap::a_process_under_ralph_knows_that_it_is";
    for wrapper in ["", "setsid -w", "env -i PATH=/bin:/usr/bin setsid -w"] {
        let ended = supervisor()
            .run(&bench.script(&format!("{wrapper} env IS_UNDER_RALPH=1 {me} {same}")))
            .unwrap();
        let told = String::from_utf8(bench.out()).unwrap();
        assert!(
            ended.end == exited(0) && told.contains(" 1 passed;"),
            "{wrapper}: {told}"
        );
    }
}
