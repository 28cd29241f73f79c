//! Output and input of any size.

use super::{Bench, PATIENCE, exited, processes_with_argument, supervisor, wait_for};
use ralph::machine::facts::ProcessEnd;
use ralph::sys::Spawn as _;
use ralph::sys::clock::Stopwatch;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

#[test]
fn bytes_are_kept_as_they_came() {
    let bench = Bench::new();
    bench.run(r"printf '\377\376\0\033[31m no end of line'; printf 'apart' >&2");
    assert_eq!(bench.out(), b"\xff\xfe\0\x1b[31m no end of line");
    assert_eq!(fs_err::read(bench.path("err")).unwrap(), b"apart");
    assert_eq!(
        fs_err::metadata(bench.path("out"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o600
    );
}

#[test]
fn both_streams_in_one_log_stand_in_order_of_arrival() {
    let bench = Bench::new();
    let mut spec = bench.script("for i in 1 2 3; do echo out $i; echo err $i >&2; done");
    spec.stderr = spec.stdout.clone();
    supervisor().run(&spec).unwrap();
    assert_eq!(bench.out(), b"out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n");
}

#[test]
fn a_huge_line_leaves_memory_and_log_small_and_the_last_bytes_readable() {
    let bench = Bench::new();
    let size = 200_000_000;
    let mut spec = bench.script(&format!(
        "mkfifo go; head -c {size} /dev/zero; echo RALPH-VERDICT: PASS; read go < go"
    ));
    spec.log_cap = 100_000;
    let running = supervisor().start(&spec).unwrap();
    let verdict = b"RALPH-VERDICT: PASS\n";
    wait_for("the last line in the log", || {
        bench
            .out()
            .windows(verdict.len())
            .any(|part| part == verdict)
    });
    let [pid] = processes_with_argument(&bench.tag)[..] else {
        panic!("one supervisor")
    };
    assert!(
        peak_kib(pid) < 32 * 1024,
        "the supervisor's memory stays small: {} KiB",
        peak_kib(pid)
    );
    fs_err::write(bench.path("go"), "\n").unwrap();
    assert_eq!(running.wait().unwrap().end, exited(0));
    let log = bench.out();
    let gap = format!(
        "\n[ralph: {} bytes left out]\n",
        size + verdict.len() - 100_000
    );
    assert_eq!(log.len(), 100_000 + gap.len());
    assert!(log[50_000..].starts_with(gap.as_bytes()));
    assert!(log.ends_with(verdict));
}

#[test]
fn a_chatty_process_ends_at_its_wall_limit_with_a_bounded_log() {
    let bench = Bench::new();
    let mut spec = bench.program(&["yes"]);
    spec.wall = Some(Duration::from_secs(1));
    spec.idle = Some(Duration::from_secs(1));
    spec.log_cap = 10_000;
    assert_eq!(
        supervisor().run(&spec).unwrap().end,
        ProcessEnd::TimedOut { seconds: 1 }
    );
    let length = bench.out().len();
    assert!((10_000..10_100).contains(&length), "{length}");
}

#[test]
fn a_large_input_does_not_wait_for_a_process_that_writes_first() {
    let bench = Bench::new();
    let mut spec = bench.script("head -c 1000000 /dev/zero; wc -c");
    spec.stdin = Some(bench.path("in").into());
    spec.log_cap = 2_000_000;
    fs_err::write(bench.path("in"), vec![b'p'; 1_000_000]).unwrap();
    assert_eq!(supervisor().run(&spec).unwrap().end, exited(0));
    assert_eq!(bench.out().len(), 1_000_000 + "1000000\n".len());
}

#[test]
fn no_input_is_an_empty_input() {
    let bench = Bench::new();
    assert_eq!(bench.run("wc -c").end, exited(0));
    assert_eq!(bench.out(), b"0\n");
}

#[test]
fn output_that_somebody_outside_the_tree_holds_open_is_not_waited_for() {
    let bench = Bench::new();
    let running = bench.start("mkfifo go; echo up; read go < go; echo down");
    wait_for("the process", || bench.out() == b"up\n");
    let held = fs_err::OpenOptions::new()
        .write(true)
        .open(format!("/proc/{}/fd/1", running.id().pid))
        .unwrap();
    fs_err::write(bench.path("go"), "\n").unwrap();
    let watch = Stopwatch::start();
    assert_eq!(running.wait().unwrap().end, exited(0));
    assert!(watch.elapsed() < PATIENCE, "{:?}", watch.elapsed());
    assert_eq!(bench.out(), b"up\ndown\n");
    drop(held);
}

fn peak_kib(pid: i32) -> u64 {
    let status = fs_err::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
