//! The operating system under ralph: kept data and killed processes.

mod client;
mod disk;
mod ends;
mod gone;
mod output;
mod reap;

use ralph::machine::budget::Most;
use ralph::machine::facts::ProcessEnd;
use ralph::sys::process::Supervisor;
use ralph::sys::{FinishedProcess, ProcessSpec, Running, Spawn as _};
use ralph::turn::TranscriptFormat;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// A directory, a tag and a word that no other test's processes have.
struct Bench {
    folder: TempDir,
    tag: String,
    /// An argument for `sleep` by which processes of this test are found in the process table.
    nap: String,
}

/// Time for a process to end by itself, longer than any wait of a test: a test that needs it fails.
const GRACE: Duration = Duration::from_secs(60);
/// Maximum wait of a test for an event, also on a busy machine.
const PATIENCE: Duration = Duration::from_secs(40);

impl Bench {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let me = std::process::id();
        let folder = tempfile::tempdir().unwrap();
        Self {
            folder,
            tag: format!("test-{me}-{number}"),
            nap: format!("1{me:07}{number:04}"),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a shell script, in which `NAP` is `sleep` with this test's own word.
    fn script(&self, text: &str) -> ProcessSpec {
        let text = text.replace("NAP", &format!("sleep {}", self.nap));
        self.program(&["sh", "-c", &text])
    }

    fn program(&self, argv: &[&str]) -> ProcessSpec {
        ProcessSpec {
            argv: argv.iter().map(|&word| word.to_owned()).collect(),
            env: vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())],
            cwd: self.folder.path().to_owned(),
            stdin: None,
            stdout: self.path("out"),
            stderr: self.path("err"),
            log_cap: 1 << 20,
            wall: Some(GRACE * 2),
            idle: None,
            after_result: None,
            transcript: TranscriptFormat::Text,
            most: Most::default(),
            grace: GRACE,
            tag: self.tag.clone(),
        }
    }

    fn run(&self, text: &str) -> FinishedProcess {
        supervisor().run(&self.script(text)).unwrap()
    }

    fn start(&self, text: &str) -> Box<dyn Running> {
        supervisor().start(&self.script(text)).unwrap()
    }

    fn out(&self) -> Vec<u8> {
        fs_err::read(self.path("out")).unwrap()
    }

    /// Returns the living processes with this test's word among their arguments.
    fn nappers(&self) -> Vec<i32> {
        processes_with_argument(&self.nap)
    }
}

impl Drop for Bench {
    /// Kills the processes of a failed test.
    fn drop(&mut self) {
        for pid in self.nappers() {
            let _ = kill(pid, "KILL");
        }
    }
}

fn supervisor() -> Supervisor {
    Supervisor::new(env!("CARGO_BIN_EXE_ralph").into(), None)
}

fn exited(code: i32) -> ProcessEnd {
    ProcessEnd::Exited { code }
}

/// Waits for a condition, or fails.
#[track_caller]
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let watch = ralph::sys::clock::Stopwatch::start();
    while !is_so() {
        assert!(watch.elapsed() < PATIENCE, "waited in vain: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests start programs outside the supervisor"
)]
fn command(program: impl AsRef<Path>) -> Command {
    Command::new(program.as_ref())
}

fn kill(pid: i32, signal: &str) -> bool {
    command("kill")
        .args([format!("-{signal}"), pid.to_string()])
        .status()
        .unwrap()
        .success()
}

/// Returns processes (no zombies: those have no arguments) with this word among their arguments.
fn processes_with_argument(word: &str) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir("/proc").unwrap() {
        let Ok(entry) = entry else { continue };
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let arguments = fs_err::read(entry.path().join("cmdline")).unwrap_or_default();
        if arguments
            .split(|byte| *byte == 0)
            .skip(1)
            .any(|argument| argument == word.as_bytes())
        {
            found.push(pid);
        }
    }
    found
}
