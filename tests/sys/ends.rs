//! All ways in which a process ends.

use super::{Bench, exited, kill, supervisor};
use ralph::machine::facts::ProcessEnd;
use ralph::sys::clock::Stopwatch;
use ralph::sys::{ProcessId, ProcessSpec, Spawn as _};
use ralph::turn::TranscriptFormat;
use std::time::Duration;

#[test]
fn an_exit_code_is_reported_as_it_is() {
    let bench = Bench::new();
    let ended = bench.run("exit 7");
    assert_eq!((ended.end, ended.leftover_processes), (exited(7), 0));
    assert_eq!(bench.run("true").end, exited(0));
}

#[test]
fn death_by_a_signal_is_no_exit_code() {
    let bench = Bench::new();
    assert_eq!(
        bench.run("kill -KILL $$").end,
        ProcessEnd::Signalled { signal: 9 }
    );
}

#[test]
fn signals_have_their_default_effect_in_the_process() {
    for (name, number) in [
        ("INT", 2),
        ("TERM", 15),
        ("HUP", 1),
        ("PIPE", 13),
        ("XFSZ", 25),
    ] {
        let bench = Bench::new();
        let ended = bench.run(&format!("kill -{name} $$; echo survived"));
        assert_eq!(
            ended.end,
            ProcessEnd::Signalled { signal: number },
            "{name}"
        );
    }
}

#[test]
fn a_process_over_its_wall_limit_is_ended() {
    let bench = Bench::new();
    let mut spec = bench.script("trap 'echo asked; exit 3' TERM; echo up; NAP & wait");
    spec.wall = Some(Duration::from_millis(1500));
    let ended = supervisor().run(&spec).unwrap();
    assert_eq!(ended.end, ProcessEnd::TimedOut { seconds: 1 });
    assert_eq!(
        bench.out(),
        b"up\nasked\n",
        "it received TERM before it was killed"
    );
    assert_eq!(bench.nappers(), [0; 0]);
}

#[test]
fn a_silent_process_is_ended_and_a_talking_one_is_not() {
    let bench = Bench::new();
    let mut spec = bench.script("echo once; NAP");
    spec.idle = Some(Duration::from_secs(1));
    assert_eq!(
        supervisor().run(&spec).unwrap().end,
        ProcessEnd::Idle { seconds: 1 }
    );

    let mut spec = bench.script("for i in 1 2 3 4 5 6 7 8 9; do echo $i >&2; sleep 0.3; done");
    spec.idle = Some(Duration::from_secs(2));
    assert_eq!(
        supervisor().run(&spec).unwrap().end,
        exited(0),
        "bytes on either pipe count"
    );
}

#[test]
fn a_process_whose_tool_runs_is_not_silent_until_the_tool_has_ended() {
    let bench = Bench::new();
    let item = |kind: &str| {
        format!(
            r#"echo '{{"type":"item.{kind}","item":{{"id":"i1","type":"command_execution","command":"mvn test"}}}}';"#
        )
    };
    let (started, ended) = (item("started"), item("completed"));
    let run = |script: &str, transcript| {
        let spec = bench.script(script);
        let idle = Some(Duration::from_secs(1));
        supervisor()
            .run(&ProcessSpec {
                idle,
                transcript,
                ..spec
            })
            .unwrap()
            .end
    };
    let works = format!("{started} sleep 2; {ended} exit 7");
    assert_eq!(run(&works, TranscriptFormat::Codex), exited(7));
    assert_eq!(
        run(&works, TranscriptFormat::Text),
        ProcessEnd::Idle { seconds: 1 }
    );
    assert_eq!(
        run(&format!("{started} {ended} NAP"), TranscriptFormat::Codex),
        ProcessEnd::Idle { seconds: 1 }
    );
    assert_eq!(bench.nappers(), [0; 0]);
}

#[test]
fn a_process_that_hangs_after_its_result_is_ended_as_one_that_exited_well() {
    let bench = Bench::new();
    let result =
        r#"echo '{"type":"result","subtype":"success","is_error":false,"result":"Done."}'"#;
    let run = |script: &str, transcript| {
        let after_result = Some(Duration::from_millis(300));
        let spec = bench.script(script);
        let ended = supervisor()
            .run(&ProcessSpec {
                after_result,
                transcript,
                ..spec
            })
            .unwrap();
        (ended.end, ended.leftover_processes)
    };
    assert_eq!(
        run(&format!("NAP & {result}; NAP"), TranscriptFormat::Claude).0,
        exited(0)
    );
    assert_eq!(bench.nappers(), [0; 0], "what it started ends with it");
    assert_eq!(
        run(&format!("{result}; exit 3"), TranscriptFormat::Claude).0,
        exited(3),
        "its own end counts"
    );
    let noisy = format!("{result}; while :; do echo alive >&2; sleep 0.05; done");
    assert_eq!(
        run(&noisy, TranscriptFormat::Claude).0,
        exited(0),
        "noise is no work"
    );
    assert_eq!(
        run(
            &format!("{result}; sleep 0.5; exit 4"),
            TranscriptFormat::Text
        )
        .0,
        exited(4),
        "no transcript"
    );
}

#[test]
fn a_process_that_ignores_term_is_killed_after_the_grace() {
    let bench = Bench::new();
    let mut spec = bench.script("trap '' TERM; while :; do NAP; done");
    spec.wall = Some(Duration::from_millis(300));
    spec.grace = Duration::from_millis(300);
    let watch = Stopwatch::start();
    assert_eq!(
        supervisor().run(&spec).unwrap().end,
        ProcessEnd::TimedOut { seconds: 0 }
    );
    assert!(
        watch.elapsed() >= Duration::from_millis(600),
        "the grace was given"
    );
    assert_eq!(bench.nappers(), [0; 0]);
}

#[test]
fn a_stopped_process_gets_its_term_too() {
    let bench = Bench::new();
    let mut spec = bench.script("trap 'echo asked; exit' TERM; kill -STOP $$; NAP");
    spec.wall = Some(Duration::from_millis(1500));
    assert_eq!(
        supervisor().run(&spec).unwrap().end,
        ProcessEnd::TimedOut { seconds: 1 }
    );
    assert_eq!(bench.out(), b"asked\n");
}

#[test]
fn a_program_that_is_not_there_was_not_started() {
    let bench = Bench::new();
    for argv in [&["no-such-program-here", "x"][..], &["/etc/passwd"], &[]] {
        let running = supervisor().start(&bench.program(argv)).unwrap();
        assert_eq!(running.id(), ProcessId { pid: 0, started: 0 });
        let end = running.wait().unwrap().end;
        assert!(
            matches!(end, ProcessEnd::NotStarted { .. }),
            "{argv:?}: {end:?}"
        );
    }
}

#[test]
fn a_missing_working_folder_is_named_as_the_reason() {
    let bench = Bench::new();
    let mut spec = bench.script("true");
    spec.cwd = bench.path("absent");
    let ProcessEnd::NotStarted { why } = supervisor().run(&spec).unwrap().end else {
        panic!("it was started")
    };
    assert!(why.contains("absent"), "{why}");
}

#[test]
fn a_log_that_cannot_be_made_is_the_supervisions_own_failure() {
    let bench = Bench::new();
    fs_err::create_dir(bench.path("out")).unwrap();
    let error = supervisor().run(&bench.script("true")).unwrap_err();
    assert!(error.to_string().contains("out"), "{error}");
}

#[test]
fn a_supervisor_that_is_not_there_is_an_error_that_names_it() {
    let bench = Bench::new();
    let broken = ralph::sys::process::Supervisor::new("/no/such/ralph".into(), None);
    let error = broken.run(&bench.script("true")).unwrap_err();
    assert!(error.to_string().contains("/no/such/ralph"), "{error}");
}

#[test]
fn the_environment_is_exactly_what_was_asked_for() {
    let bench = Bench::new();
    let mut spec = bench.program(&["/usr/bin/env"]);
    spec.env = vec![("A".to_owned(), "b c\n=".to_owned())];
    assert_eq!(supervisor().run(&spec).unwrap().end, exited(0));
    assert_eq!(
        String::from_utf8(bench.out()).unwrap(),
        format!("A=b c\n=\nRALPH_TAG={}\n", bench.tag)
    );
}

#[test]
fn the_process_has_no_terminal_no_foreign_files_and_a_group_of_its_own() {
    let bench = Bench::new();
    let script = "ls /proc/self/fd; cat /proc/$PPID/environ | wc -c; \
                  set -- $(cat /proc/$$/stat); test $1 = $5 && test $7 = 0 && echo alone";
    assert_eq!(bench.run(script).end, exited(0));
    assert_eq!(
        String::from_utf8(bench.out()).unwrap(),
        "0\n1\n2\n3\n0\nalone\n"
    );
}

#[test]
fn the_running_process_is_named_with_its_start_time() {
    let bench = Bench::new();
    let running = bench.start("NAP");
    let id = running.id();
    assert!(id.is_alive());
    assert_eq!(ProcessId::of(id.pid).unwrap(), Some(id.clone()));
    assert!(kill(id.pid, "TERM"));
    assert_eq!(
        running.wait().unwrap().end,
        ProcessEnd::Signalled { signal: 15 }
    );
    assert!(!id.is_alive());
}
