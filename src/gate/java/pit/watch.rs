//! The progress of a running PIT.
//!
//! Only PIT's own lines count. It ends with the run, and nothing depends on it.

use super::plugin::TOTAL;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Time between two reads.
const PAUSE: Duration = Duration::from_secs(1);
/// The line for each mutant in the log of a verbose run (pitest `MutationTestWorker`).
const DONE: &str = "PIT >> FINE : processed mutation in ";
/// Bytes of one read.
const MOST: u64 = 8 << 20;

/// Runs `work` and reports to `progress` after each tenth how many mutants of how many are done.
pub(super) fn while_running<T>(
    log: &Path,
    progress: &(dyn Fn(u64, u64) + Sync),
    work: impl FnOnce() -> T,
) -> T {
    std::thread::scope(|threads| {
        let (over, ended) = channel::<()>();
        threads.spawn(move || {
            let (mut seen, mut last) = (LogProgress::default(), 0);
            while ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                seen.read_new_lines(log);
                // A terminal draws over its line, a log would grow by one a second.
                let tenth = 10 * seen.done / seen.total.max(1);
                if seen.total > 0 && tenth != last {
                    last = tenth;
                    progress(seen.done.min(seen.total), seen.total);
                }
            }
        });
        let result = work();
        drop(over);
        result
    })
}

#[derive(Debug, Default)]
struct LogProgress {
    /// The bytes of the whole lines that were read.
    read: u64,
    done: u64,
    total: u64,
}

impl LogProgress {
    /// Reads the lines that were added since the last read; a log that cannot be read adds nothing.
    fn read_new_lines(&mut self, log: &Path) {
        let mut bytes = Vec::new();
        if let Ok(mut log) = fs_err::File::open(log)
            && log.seek(SeekFrom::Start(self.read)).is_ok()
        {
            // The part that could be read counts.
            let _ = log.take(MOST).read_to_end(&mut bytes);
        }
        let whole = memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1);
        self.read += whole as u64;
        let lines = String::from_utf8_lossy(&bytes[..whole]);
        for line in lines.lines() {
            if let Some(total) = line
                .strip_prefix(TOTAL)
                .and_then(|text| text.trim().parse().ok())
            {
                self.total = total;
            } else if line.contains(DONE) {
                self.done += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LogProgress;

    #[test]
    fn mutants_are_counted_as_their_lines_are_completed() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let mut seen = LogProgress::default();
        seen.read_new_lines(&log);
        let mut text =
            "stdout  : ralph: mutants 9\nralph: mutants 3\nstderr  : 4:38:05 AM PIT >> FINE : proces"
                .to_owned();
        fs_err::write(&log, &text).unwrap();
        seen.read_new_lines(&log);
        assert_eq!(
            (seen.done, seen.total),
            (0, 3),
            "what a test prints stands behind a prefix"
        );
        text.push_str(
            "sed mutation in 74 ms.\nstderr  : 4:38:06 AM PIT >> FINE : processed mutation in 1 ms.\n",
        );
        fs_err::write(&log, &text).unwrap();
        seen.read_new_lines(&log);
        assert_eq!((seen.done, seen.total), (2, 3));
    }
}
