//! No process is left at the end, even if processes try to stay.

use super::{Bench, GRACE, client, exited, kill, processes_with_argument, supervisor, wait_for};
use ralph::machine::facts::ProcessEnd;
use ralph::sys::Spawn as _;
use ralph::sys::clock::Stopwatch;
use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

/// Five processes, with four ways out of a process group, a session, a parent's sight and an environment.
const FOUR: &str = "NAP & setsid NAP & (setsid NAP &) ; (setsid env -i sh -c 'NAP & exec NAP' &)";

#[test]
fn descendants_that_outlive_the_process_are_killed_and_counted() {
    let bench = Bench::new();
    let running = bench.start(&format!("mkfifo go; {FOUR}; echo up; read go < go"));
    wait_for("the descendants", || {
        bench.path("out").exists() && bench.out() == b"up\n" && bench.nappers().len() == 5
    });
    fs_err::write(bench.path("go"), "\n").unwrap();
    let ended = running.wait().unwrap();
    assert_eq!((ended.end, ended.leftover_processes), (exited(0), 5));
    assert_eq!(bench.nappers(), [0; 0]);
}

#[test]
fn descendants_that_end_by_themselves_in_a_moment_are_no_leftovers() {
    let bench = Bench::new();
    let ended = bench.run("(sleep 0.02; echo late) & exit 0");
    assert_eq!((ended.end, ended.leftover_processes), (exited(0), 0));
    assert_eq!(bench.out(), b"late\n");
}

#[test]
fn a_time_out_takes_the_whole_tree() {
    let bench = Bench::new();
    let mut spec = bench.script(&format!("trap '' TERM; {FOUR}; echo up; NAP; NAP"));
    spec.idle = Some(Duration::from_millis(500));
    spec.grace = Duration::from_millis(200);
    assert_eq!(
        supervisor().run(&spec).unwrap().end,
        ProcessEnd::Idle { seconds: 0 }
    );
    assert_eq!(bench.nappers(), [0; 0]);
}

#[test]
fn a_forker_that_runs_from_its_killers_does_not_get_away() {
    let bench = Bench::new();
    let runner = "trap '' TERM; n=0; while [ $n -lt 4 ]; do n=$((n+1)); setsid sh \"$0\" & NAP & done; \
                  while :; do setsid NAP & sleep 0.05; done";
    let runner = runner.replace("NAP", &format!("sleep {}", bench.nap));
    // Three generations at most: 4 + 16 + 64 forkers.
    let limited =
        format!("[ \"${{D:-0}}\" -ge 3 ] && exit; D=$((${{D:-0}}+1)); export D; {runner}");
    fs_err::write(bench.path("bomb.sh"), limited).unwrap();
    let mut spec = bench.program(&["sh", "bomb.sh"]);
    spec.wall = Some(Duration::from_secs(1));
    spec.grace = Duration::ZERO;
    assert_eq!(
        supervisor().run(&spec).unwrap().end,
        ProcessEnd::TimedOut { seconds: 1 }
    );
    assert_eq!(bench.nappers(), [0; 0]);
    assert_eq!(processes_with_argument("bomb.sh"), [0; 0]);
}

#[test]
fn a_dropped_process_is_killed_at_once_and_its_siblings_live_on() {
    let benches: Vec<Bench> = (0..6).map(|_| Bench::new()).collect();
    std::thread::scope(|scope| {
        let start = |bench| {
            let (let_go, told) = std::sync::mpsc::channel::<()>();
            let body = move || {
                let running = Bench::start(bench, "NAP & setsid NAP & wait");
                told.recv().unwrap_err();
                drop(running);
            };
            (let_go, scope.spawn(body))
        };
        let mut threads: Vec<_> = benches.iter().map(start).collect();
        for bench in &benches {
            wait_for("two processes", || bench.nappers().len() == 2);
        }
        // With a lifeline inherited by a sibling, its end would not be seen.
        while let Some((let_go, thread)) = threads.pop() {
            drop(let_go);
            thread.join().unwrap();
            let living: Vec<usize> = benches.iter().map(|bench| bench.nappers().len()).collect();
            let expected: Vec<usize> = (0..6)
                .map(|index| if index < threads.len() { 2 } else { 0 })
                .collect();
            assert_eq!(living, expected);
        }
    });
}

#[test]
fn kill_9_of_ralph_takes_the_whole_tree_without_waiting_for_its_grace() {
    let bench = Bench::new();
    let mut ralph = client::run(&bench, &format!("trap '' TERM; {FOUR}; echo up; NAP; NAP"));
    wait_for("all processes", || bench.nappers().len() == 6);
    ralph.kill().unwrap();
    ralph.wait().unwrap();
    wait_for("the end of all processes", || bench.nappers().is_empty());
    wait_for("the end of the supervisor", || {
        processes_with_argument(&bench.tag).is_empty()
    });
}

#[test]
fn kill_9_of_ralph_takes_a_tree_that_holds_the_lifeline_open() {
    let bench = Bench::new();
    // Root may open the supervisor's pipes. Other users are refused, and the test shows nothing new.
    let hold = "if (: > /proc/$PPID/fd/0) 2> /dev/null; then exec 9> /proc/$PPID/fd/0; fi";
    let mut ralph = client::run(&bench, &format!("{hold}; NAP & NAP"));
    wait_for("both processes", || bench.nappers().len() == 2);
    ralph.kill().unwrap();
    ralph.wait().unwrap();
    wait_for("the end of all processes", || bench.nappers().is_empty());
}

#[test]
fn an_interrupt_asks_the_process_to_end() {
    let bench = Bench::new();
    let ralph = client::run(
        &bench,
        "trap 'echo asked; exit 0' TERM; echo up; NAP & wait",
    );
    wait_for("the process", || {
        bench.path("out").exists() && bench.out() == b"up\n"
    });
    assert!(kill(i32::try_from(ralph.id()).unwrap(), "INT"));
    assert_eq!(client::result(ralph), "Interrupted signal 2 of 1");
    assert_eq!(bench.out(), b"up\nasked\n");
    assert_eq!(bench.nappers(), [0; 0]);
}

#[test]
fn a_second_interrupt_does_not_wait_for_the_grace() {
    let bench = Bench::new();
    let ralph = client::run(
        &bench,
        "trap 'echo asked' TERM; echo up; while :; do NAP; done",
    );
    let pid = i32::try_from(ralph.id()).unwrap();
    // A shell that receives TERM right before it starts the nap answers only after the nap.
    wait_for("the process", || {
        bench.path("out").exists() && bench.out() == b"up\n" && bench.nappers().len() == 1
    });
    assert!(kill(pid, "TERM"));
    wait_for("the answer to TERM", || bench.out() == b"up\nasked\n");
    let watch = Stopwatch::start();
    assert!(kill(pid, "HUP"));
    assert_eq!(client::result(ralph), "Interrupted signal 15 of 2");
    assert!(watch.elapsed() < GRACE, "{:?}", watch.elapsed());
    assert_eq!(bench.nappers(), [0; 0]);
}

#[test]
fn a_third_interrupt_ends_ralph_and_then_everything_else() {
    let bench = Bench::new();
    let mut ralph = client::run(&bench, "trap '' TERM; setsid NAP & NAP; NAP");
    wait_for("both processes", || bench.nappers().len() == 2);
    let [supervisor] = processes_with_argument(&bench.tag)[..] else {
        panic!("one supervisor")
    };
    // A supervisor that does not answer: nothing else would end the client.
    assert!(kill(supervisor, "STOP"));
    for signal in ["INT", "TERM", "HUP"] {
        assert!(kill(i32::try_from(ralph.id()).unwrap(), signal));
    }
    assert!(ralph.wait().unwrap().signal().is_some());
    assert!(kill(supervisor, "CONT"));
    wait_for("the end of all processes", || bench.nappers().is_empty());
}

#[test]
fn a_hangup_that_was_ignored_at_the_start_stays_ignored() {
    let bench = Bench::new();
    let ralph = client::run_under(
        &["nohup"],
        &bench,
        "mkfifo go; echo up; read go < go; exit 5",
    );
    wait_for("the process", || {
        bench.path("out").exists() && bench.out() == b"up\n"
    });
    assert!(kill(i32::try_from(ralph.id()).unwrap(), "HUP"));
    fs_err::write(bench.path("go"), "\n").unwrap();
    assert_eq!(client::result(ralph), "Exited { code: 5 } signal 0 of 0");
}

#[test]
fn a_log_that_the_disk_refuses_ends_the_process_with_an_error() {
    let bench = Bench::new();
    // 512-byte blocks. The supervisor writes only the logs.
    let ralph = client::run_under(
        &["sh", "-c", "ulimit -f 20; exec \"$@\"", "sh"],
        &bench,
        "head -c 100000 /dev/zero; NAP",
    );
    let result = client::result(ralph);
    assert!(result.starts_with("error FileTooLarge"), "{result}");
    assert_eq!(bench.nappers(), [0; 0]);
}

#[test]
fn a_supervisor_killed_before_it_could_report_a_start_is_how_the_process_ended() {
    let bench = Bench::new();
    let spec = bench.script("true");
    let starts = |supervisor: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/supervisors");
        let program = std::path::Path::new(folder).join(supervisor);
        ralph::sys::process::Supervisor::new(program, None).start(&spec)
    };
    let ended = starts("killed").unwrap().wait().unwrap_err();
    assert!(
        ended
            .to_string()
            .contains("ended without a report (signal: 9"),
        "{ended}"
    );
    let Err(error) = starts("gives-up") else {
        panic!("a supervisor that gives up starts nothing")
    };
    assert!(
        error
            .to_string()
            .contains("ended without a report (exit status: 3)"),
        "{error}"
    );
}

#[test]
fn a_killed_supervisor_is_an_error_and_what_it_watched_is_killed() {
    let bench = Bench::new();
    let running = bench.start("NAP & setsid NAP & env -i setsid NAP & (setsid NAP &) ; NAP");
    wait_for("all processes", || bench.nappers().len() == 5);
    let supervisors = processes_with_argument(&bench.tag);
    assert_eq!(supervisors.len(), 1);
    assert!(kill(supervisors[0], "KILL"));
    let error = running.wait().unwrap_err().to_string();
    assert!(
        error.contains("ended without a report") && error.contains("killed"),
        "{error}"
    );
    assert_eq!(bench.nappers(), [0; 0]);
}
