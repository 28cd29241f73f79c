//! Processes that take what others leave, and a part of the work that is ended by itself.

use super::{Bench, exited, kill, supervisor, wait_for};
use ralph::machine::facts::ProcessEnd;
use ralph::sys::process::Supervisor;
use ralph::sys::signals::Interrupts;
use ralph::sys::{Priority, Spawn as _, clock};

#[test]
fn a_process_of_low_priority_and_what_it_starts_are_nice() {
    let bench = Bench::new();
    let own = bench.run("nice; sh -c nice");
    assert_eq!(
        (own.end, bench.out()),
        (exited(0), b"0\n0\n".to_vec()),
        "these tests run at the usual niceness"
    );
    let mut spec = bench.script("nice; sh -c nice");
    spec.priority = Priority::Low;
    assert_eq!(supervisor().run(&spec).unwrap().end, exited(0));
    assert_eq!(bench.out(), b"10\n10\n");
}

#[test]
fn its_whole_session_is_nice_where_the_scheduler_shares_by_session() {
    if fs_err::read_to_string("/proc/self/autogroup").is_err() {
        return;
    }
    let bench = Bench::new();
    let mut spec = bench.script("until grep -q 'nice 10' /proc/self/autogroup; do :; done");
    spec.priority = Priority::Low;
    assert_eq!(supervisor().run(&spec).unwrap().end, exited(0));
}

#[test]
fn what_was_lowered_is_raised_again() {
    let shares = fs_err::read_to_string("/proc/self/autogroup").is_ok();
    let bench = Bench::new();
    let session = if shares { "grep -q 'nice 10' /proc/self/autogroup" } else { "true" };
    let raised = if shares { "grep -q 'nice 0' /proc/self/autogroup" } else { "[ $(nice) = 0 ]" };
    let mut spec =
        bench.script(&format!("until {session}; do :; done; touch low; until {raised}; do :; done"));
    spec.priority = Priority::Low;
    let running = supervisor().start(&spec).unwrap();
    wait_for("it is low", || bench.path("low").exists());
    if !shares && !nix::unistd::geteuid().is_root() {
        return; // nothing can be raised here
    }
    ralph::sys::process::raise(&bench.tag);
    assert_eq!(running.wait().unwrap().end, exited(0));
}

#[test]
fn a_branch_is_cancelled_by_itself_at_once_and_starts_nothing_any_more() {
    let interrupts = Interrupts::install().unwrap();
    let branch = interrupts.branch();
    let spawn = Supervisor::new(env!("CARGO_BIN_EXE_ralph").into(), Some(interrupts.clone()));
    let part = spawn.under(branch.clone());

    let bench = Bench::new();
    // TERM moves nothing, one of them is in a session of its own, and the grace is ten seconds.
    let running = part.start(&bench.script("trap '' TERM; setsid NAP & while :; do NAP; done")).unwrap();
    wait_for("both are there", || bench.nappers().len() == 2);
    let watch = clock::Stopwatch::start();
    branch.cancel();
    assert_eq!(running.wait().unwrap().end, ProcessEnd::Interrupted);
    assert!(watch.elapsed() < std::time::Duration::from_secs(5), "{:?}", watch.elapsed());
    assert_eq!(bench.nappers(), [0; 0]);
    let again = part.run(&bench.script("touch ran")).unwrap();
    assert_eq!((again.end, bench.path("ran").exists()), (ProcessEnd::Interrupted, false));

    assert_eq!(interrupts.first(), None, "the rest of the work goes on");
    assert_eq!(spawn.run(&bench.script("true")).unwrap().end, exited(0));

    // A signal reaches every branch, those made after it too.
    let living = interrupts.branch();
    assert!(kill(i32::try_from(std::process::id()).unwrap(), "TERM"));
    assert!(living.wait_until(clock::monotonic() + std::time::Duration::from_secs(20)));
    assert_eq!(living.first(), Some(15));
    assert_eq!(interrupts.branch().first(), Some(15));
}
