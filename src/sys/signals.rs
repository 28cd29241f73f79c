//! The signals that end ralph: the first orderly, the second quickly, the third by the system's default.
//!
//! Also the signal that stops it (Ctrl-Z), whose time is excluded from limits.
//!
//! Promises: a HUP that was ignored at the start (`nohup`) stays ignored. Writing past a file size limit or into a
//! closed pipe is an error and does not kill the process. Children start with the default handlers.

use super::clock;
use super::itself::is_ignored;
use super::poison::ignore_poison;
use nix::libc::{SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGXFSZ};
use signal_hook::iterator::Signals;
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::Instant;

/// The received signals. Clones share them.
#[derive(Clone, Debug)]
pub struct Interrupts {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    seen: Mutex<Received>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Received {
    signals: Vec<i32>,
    /// Pipes that receive a byte for each signal, as long as a subscription holds them.
    pipes: Vec<Weak<PipeWriter>>,
}

impl Interrupts {
    /// Catches INT, TERM, HUP and TSTP from now on. The program calls it once, early.
    pub fn install() -> io::Result<Self> {
        survive_file_limits()?;
        let mut signals =
            Signals::new(endings().chain([SIGTSTP].into_iter().filter(|it| !is_ignored(*it))))?;
        let interrupts = Self {
            shared: Arc::default(),
        };
        let shared = Arc::clone(&interrupts.shared);
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for signal in signals.forever() {
                    if signal == SIGTSTP {
                        let since = clock::monotonic();
                        // It returns when ralph continues. If it fails, nothing is stopped.
                        let _ = signal_hook::low_level::emulate_default_handler(signal);
                        clock::leave_out(since);
                    } else {
                        shared.note(signal);
                    }
                }
            })?;
        Ok(interrupts)
    }

    /// Returns interrupts without a signal handler, for [`Interrupts::interrupt`] in this process.
    pub fn by_hand() -> Self {
        Self {
            shared: Arc::default(),
        }
    }

    /// Acts as if a signal had arrived.
    pub fn interrupt(&self) {
        self.shared.note(SIGINT);
    }

    /// Returns the number of the first signal; `None` without one.
    pub fn first(&self) -> Option<i32> {
        self.shared.lock().signals.first().copied()
    }

    /// Returns the number of signals received.
    pub fn count(&self) -> usize {
        self.shared.lock().signals.len()
    }

    /// Waits for a signal (true) or the deadline (false).
    pub fn wait_until(&self, deadline: Instant) -> bool {
        let mut seen = self.shared.lock();
        loop {
            if !seen.signals.is_empty() {
                return true;
            }
            let left = deadline.saturating_duration_since(clock::monotonic());
            if left.is_zero() {
                return false;
            }
            let waited = self.shared.changed.wait_timeout(seen, left);
            seen = ignore_poison(waited).0;
        }
    }

    /// Returns a pipe from which one byte can be read for each signal, including earlier ones.
    pub(crate) fn subscribe(&self) -> io::Result<Subscription> {
        let (pipe, mut writer) = io::pipe()?;
        let mut seen = self.shared.lock();
        writer.write_all(&vec![b'!'; seen.signals.len()])?;
        let writer = Arc::new(writer);
        seen.pipes.retain(|pipe| pipe.strong_count() > 0);
        seen.pipes.push(Arc::downgrade(&writer));
        Ok(Subscription {
            pipe,
            _writer: writer,
        })
    }
}

/// The reading end of a pipe that receives one byte for each signal.
#[derive(Debug)]
pub(crate) struct Subscription {
    pipe: PipeReader,
    _writer: Arc<PipeWriter>,
}

impl Subscription {
    /// Returns the number of signals since the last call. Call it when the pipe is readable.
    pub(crate) fn take(&mut self) -> io::Result<usize> {
        self.pipe.read(&mut [0; 64])
    }
}

impl AsFd for Subscription {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Received> {
        ignore_poison(self.seen.lock())
    }

    fn note(&self, signal: i32) {
        let mut seen = self.lock();
        seen.signals.push(signal);
        for pipe in seen.pipes.iter().filter_map(Weak::upgrade) {
            // The subscription may end at this moment.
            let _ = (&*pipe).write_all(b"!");
        }
        let count = seen.signals.len();
        drop(seen);
        self.changed.notify_all();
        if count > 2 {
            // If it fails, the process continues. KILL still works.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    }
}

/// Makes a write past the file size limit an error (EFBIG) instead of killing the process.
pub(crate) fn survive_file_limits() -> io::Result<()> {
    catch_and_forget(SIGXFSZ)
}

/// Catches a signal without any effect. Unlike an ignored one, it has its default effect in children.
pub(crate) fn catch_and_forget(signal: i32) -> io::Result<()> {
    signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    Ok(())
}

/// Returns the signals that end a program, except a hang-up that the caller set to be ignored.
pub(crate) fn endings() -> impl Iterator<Item = i32> {
    [SIGINT, SIGTERM, SIGHUP]
        .into_iter()
        .filter(|signal| *signal != SIGHUP || !is_ignored(SIGHUP))
}
