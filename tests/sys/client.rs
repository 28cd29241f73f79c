//! A small ralph in a process of its own, which tests can interrupt and kill.
//!
//! It is this test binary again, with the one test below.

use super::{Bench, command, supervisor};
use ralph::sys::Spawn as _;
use ralph::sys::process::Supervisor;
use ralph::sys::signals::Interrupts;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Stdio};

/// Starts a client that runs the script of the bench and prints its end.
pub(super) fn run(bench: &Bench, script: &str) -> Child {
    run_under(&[], bench, script)
}

/// Starts a client under another program that executes its arguments.
pub(super) fn run_under(wrapper: &[&str], bench: &Bench, script: &str) -> Child {
    let me = std::env::current_exe().unwrap();
    let mut words: Vec<&str> = wrapper.to_vec();
    words.push(me.to_str().unwrap());
    words.extend([
        "--exact",
        "sys::client::a_client_prints_how_its_process_ended",
        "--nocapture",
        "--test-threads=1",
    ]);
    let spec = bench.script(script);
    command(words[0])
        .args(&words[1..])
        .env("CLIENT_FOLDER", bench.folder.path())
        .env("CLIENT_TAG", &bench.tag)
        .env("CLIENT_SCRIPT", &spec.argv[2])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Returns the client's output about the end.
pub(super) fn result(mut client: Child) -> String {
    let mut text = String::new();
    client
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    client.wait().unwrap();
    text.lines()
        .find_map(|line| line.split_once("RESULT "))
        .map(|(_, result)| result.to_owned())
        .unwrap_or(text)
}

#[test]
fn a_client_prints_how_its_process_ended() {
    if let Some(folder) = std::env::var_os("CLIENT_FOLDER") {
        return be_a_client(Path::new(&folder));
    }
    let bench = Bench::new();
    assert_eq!(
        result(run(&bench, "exit 3")),
        "Exited { code: 3 } signal 0 of 0"
    );
}

fn be_a_client(folder: &Path) {
    let word = |name| std::env::var_os(name).unwrap().into_string().unwrap();
    let interrupts = Interrupts::install().unwrap();
    let mut bench = Bench::new();
    bench.tag = word("CLIENT_TAG");
    let mut spec = bench.program(&["sh", "-c", &word("CLIENT_SCRIPT")]);
    folder.clone_into(&mut spec.cwd);
    spec.stdout = folder.join("out");
    spec.stderr = folder.join("err");
    let program = env!("CARGO_BIN_EXE_ralph").into();
    let spawn = Supervisor::new(program, Some(interrupts.clone()));
    match spawn.run(&spec) {
        Ok(ended) => {
            let first = interrupts.first().unwrap_or(0);
            println!(
                "RESULT {:?} signal {first} of {}",
                ended.end,
                interrupts.count()
            );
        }
        Err(error) => println!("RESULT error {:?} {error}", error.kind()),
    }
    if interrupts.count() > 0 {
        let again = spawn.run(&supervised_again(&bench)).unwrap();
        assert_eq!(
            again.end,
            ralph::machine::facts::ProcessEnd::Interrupted,
            "nothing starts any more"
        );
        assert!(
            interrupts.wait_until(ralph::sys::clock::monotonic()),
            "waiting is over at once"
        );
    }
    drop(supervisor());
}

fn supervised_again(bench: &Bench) -> ralph::sys::ProcessSpec {
    bench.script("echo must not run > ran")
}
