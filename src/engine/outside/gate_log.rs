//! The log of a gate's progress, for those that watch a run from another process.
//!
//! Promises: it has a line for each step, of at most [`LINES`] steps, and readers see it whole. A log that cannot be
//! written changes no verdict.

use crate::sys::Disk as _;
use crate::sys::disk::RealDisk;
use crate::sys::poison::ignore_poison;
use std::path::PathBuf;
use std::sync::Mutex;

/// Maximum number of steps that are kept; the first ones go.
const LINES: usize = 100;

/// A log file that is written again with each new text.
pub(super) struct GateLog {
    path: PathBuf,
    steps: Mutex<Vec<String>>,
}

impl GateLog {
    /// A log without a step. The file is written with the first one.
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
            steps: Mutex::default(),
        }
    }

    /// Adds a step (`Compiling p`), or replaces the last one with its new count (`Mutating p: 3 of 9 mutants`).
    pub(super) fn add_step(&self, text: &str) {
        let mut steps = ignore_poison(self.steps.lock());
        if steps
            .last()
            .is_some_and(|last| step_title(last) == step_title(text))
        {
            steps.pop();
        }
        if steps.len() == LINES {
            steps.remove(0);
        }
        steps.push(text.to_owned());
        let _ = RealDisk::new().write(&self.path, (steps.join("\n") + "\n").as_bytes());
    }
}

/// A step without its count.
fn step_title(step: &str) -> &str {
    step.split_once(": ").map_or(step, |(title, _)| title)
}

#[cfg(test)]
mod tests {
    use super::{GateLog, LINES};

    #[test]
    fn each_step_has_a_line_with_its_last_count_and_the_first_ones_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.log");
        let log = GateLog::new(path.clone());
        for text in [
            "Compiling p",
            "Mutating p",
            "Mutating p: 1 of 9 mutants",
            "Mutating p: 9 of 9 mutants",
            "Running the changed tests of p.",
        ] {
            log.add_step(text);
        }
        assert_eq!(
            fs_err::read_to_string(&path).unwrap(),
            "Compiling p\nMutating p: 9 of 9 mutants\nRunning the changed tests of p.\n"
        );
        for number in 0..=LINES {
            log.add_step(&format!("Step {number}"));
        }
        let text = fs_err::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), LINES);
        assert!(text.starts_with("Step 1\n"), "{text}");
        fs_err::remove_dir_all(folder.path()).unwrap();
        log.add_step("a log without a folder stops no gate");
    }
}
