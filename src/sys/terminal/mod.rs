//! Waits for keyboard input, and notices changes of the terminal's size.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(target_os = "macos", path = "macos.rs")]
mod system;

use nix::libc::SIGWINCH;
use signal_hook::SigId;
use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The result of a wait for input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Input can be read.
    Ready,
    /// Nothing arrived in this time, or a signal did.
    Quiet,
    /// The window was closed or the connection ended.
    Gone,
}

/// Waits for standard input.
///
/// `listen` is false if there is input that cannot be read yet: then only the end of the terminal ends the wait
/// early.
pub fn wait(patience: Duration, listen: bool) -> io::Result<Input> {
    system::wait_for(io::stdin().as_fd(), patience, listen)
}

/// Watches for changes of the terminal's size until it is dropped.
#[derive(Debug)]
pub struct Resizes {
    changed: Arc<AtomicBool>,
    id: SigId,
}

impl Resizes {
    /// Starts to watch.
    pub fn noticed() -> io::Result<Self> {
        let changed = Arc::new(AtomicBool::new(false));
        let id = signal_hook::flag::register(SIGWINCH, Arc::clone(&changed))?;
        Ok(Self { changed, id })
    }

    /// True if there was one since the last call.
    pub fn taken(&self) -> bool {
        self.changed.swap(false, Ordering::Relaxed)
    }
}

impl Drop for Resizes {
    fn drop(&mut self) {
        signal_hook::low_level::unregister(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::signal::{Signal, raise};

    #[test]
    fn each_change_of_size_is_noticed_once_while_somebody_wants_to_know() {
        let resizes = Resizes::noticed().unwrap();
        assert!(!resizes.taken());
        raise(Signal::SIGWINCH).unwrap();
        raise(Signal::SIGWINCH).unwrap();
        assert_eq!((resizes.taken(), resizes.taken()), (true, false));
        let flag = Arc::clone(&resizes.changed);
        drop(resizes);
        raise(Signal::SIGWINCH).unwrap();
        assert!(!flag.load(Ordering::Relaxed));
    }
}
