//! `ralph demo` on real git, real Maven and real PIT, run once for all tests of this directory.
//!
//! Owns: the one run, and the queries that its workspace answers: boxes, progress.txt, journal.
//!
//! Promises: nothing is written outside a temporary directory and Maven's own repository.
//!
//! Refuses to know: the reasons of ralph's decisions. Tests read only the files that it wrote.

pub(crate) mod audit;
pub(crate) mod kill;
pub(crate) mod loop_test;
pub(crate) mod replay;
pub(crate) mod shell_loop;

use assert_cmd::Command;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// A finished run of the demo.
struct Demo {
    folder: TempDir,
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Demo {
    /// Returns the run that all tests share.
    fn get() -> &'static Self {
        static DEMO: OnceLock<Demo> = OnceLock::new();
        DEMO.get_or_init(Self::run)
    }

    fn run() -> Self {
        let folder = TempDir::new().unwrap();
        let into = folder.path().join("demo");
        let mut command = ralph();
        command
            .arg("demo")
            .arg("--into")
            .arg(&into)
            .current_dir(folder.path());
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        Self {
            folder,
            code: output.status.code(),
            stdout,
            stderr,
        }
    }

    /// Returns the workspace.
    fn path(&self) -> PathBuf {
        fs_err::canonicalize(self.folder.path())
            .unwrap()
            .join("demo")
    }

    fn text(&self, path: &str) -> String {
        fs_err::read_to_string(self.path().join(path)).unwrap()
    }

    fn entries(&self) -> Vec<Entry> {
        entries(&self.text("progress.txt"))
    }
}

/// Builds a call of the binary under test, with one cache for all tests of this directory.
fn ralph() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ralph"));
    command
        .env("XDG_CACHE_HOME", cache())
        .env("NO_COLOR", "1")
        .write_stdin("");
    command
}

fn cache() -> &'static Path {
    static CACHE: OnceLock<TempDir> = OnceLock::new();
    CACHE.get_or_init(|| TempDir::new().unwrap()).path()
}

/// Returns the directory of this repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// ralph's entry in progress.txt about one iteration.
#[derive(Debug)]
struct Entry {
    iteration: u64,
    task: String,
    /// First 8 digits of the hash of its record.
    tag: String,
    headline: String,
    lines: Vec<String>,
}

/// Reads progress.txt: `## <time> iteration <N> · <ID> · <tag>`, a headline, `- ` lines.
fn entries(progress: &str) -> Vec<Entry> {
    let mut found: Vec<Entry> = Vec::new();
    let mut lines = progress.lines();
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("## ") {
            let parts: Vec<&str> = heading.split(" · ").collect();
            let (_, number) = parts[0].rsplit_once(" iteration ").unwrap();
            found.push(Entry {
                iteration: number.parse().unwrap(),
                task: parts[1].to_owned(),
                tag: parts[2].to_owned(),
                headline: lines.next().unwrap().to_owned(),
                lines: Vec::new(),
            });
        } else if let Some(entry) = found.last_mut() {
            entry.lines.push(line.to_owned());
        }
    }
    found
}
