//! The processes of a mutation test, with what they printed last.
//!
//! Promises: each stream has a window of 256 KiB of its own; nothing of the folder itself comes in through variables.

use crate::gate::commands::read_text;
use crate::machine::facts::ProcessEnd;
use crate::source::text;
use crate::sys::poison::ignore_poison;
use crate::sys::{FinishedProcess, ProcessSpec, Running, Spawn};
use std::io;
use std::sync::Mutex;

/// Bytes that are kept of each stream: the first and the last half.
const WINDOW: u64 = 256 << 10;
/// Longest line for the size of the omitted part between the halves, in bytes.
const GAP: u64 = 100;

/// The logs of tests that run without the engine.
const TESTS_ALONE: [&str; 3] = ["pytest", "tests", "cargo-test"];

/// A process that ended.
#[derive(Clone, Debug)]
pub(super) struct ProcessOutput {
    pub(super) end: ProcessEnd,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Starts the processes of one call.
pub(super) struct Window<'a> {
    pub(super) inner: &'a dyn Spawn,
    /// The engine reads both streams as one, in the order in which they were printed.
    pub(super) is_joined: bool,
    /// Variables that replace those of an engine's environment.
    pub(super) env: &'a [(String, String)],
    pub(super) last: Mutex<Option<ProcessOutput>>,
    /// The engine and its version, from its own answer.
    pub(super) version: Mutex<String>,
}

impl Spawn for Window<'_> {
    fn start(&self, spec: &ProcessSpec) -> io::Result<Box<dyn Running>> {
        self.inner.start(spec)
    }

    fn run(&self, spec: &ProcessSpec) -> io::Result<FinishedProcess> {
        let mut spec = spec.clone();
        spec.env
            .retain(|(name, _)| name != "PWD" && !self.env.iter().any(|(own, _)| own == name));
        spec.env.extend(self.env.iter().cloned());
        spec.env
            .push(("PWD".to_owned(), spec.cwd.display().to_string()));
        let both = spec.stdout.clone();
        if !self.is_joined {
            spec.log_cap = WINDOW;
            spec.stderr = both.with_extension("err");
        }
        let ended = self.inner.run(&spec)?;
        let stdout = read_text(&both, spec.log_cap + GAP);
        let stderr = if self.is_joined {
            String::new()
        } else {
            read_text(&spec.stderr, spec.log_cap + GAP)
        };
        let name = both.file_stem().unwrap_or_default().to_string_lossy();
        if name.ends_with("version") {
            let version = stdout.lines().next().unwrap_or_default();
            *ignore_poison(self.version.lock()) = text::line(version, 60);
        }
        if !stderr.is_empty() {
            fs_err::write(&both, format!("{stdout}\n{stderr}"))?;
        }
        let printed = ProcessOutput {
            end: ended.end.clone(),
            stdout,
            stderr,
        };
        // The output of the engine is kept when tests alone pass after it.
        let is_control = TESTS_ALONE.iter().any(|own| name.ends_with(own))
            && printed.end == ProcessEnd::Exited { code: 0 };
        let mut last = ignore_poison(self.last.lock());
        if !is_control || last.is_none() {
            *last = Some(printed);
        }
        Ok(ended)
    }
}
