//! Waits until a pipe, a socket or a terminal can be read.

use nix::errno::Errno;
use nix::poll::{PollFd, PollTimeout, poll};
use std::io;
use std::time::Duration;

/// Polls. A signal meanwhile is no error.
pub(super) fn wait_for(fds: &mut [PollFd<'_>], left: Option<Duration>) -> io::Result<()> {
    // Rounded up: a poll that ends too early would be repeated without any wait.
    let timeout = left.map_or(PollTimeout::NONE, |left| {
        PollTimeout::try_from(left + Duration::from_micros(999)).unwrap_or(PollTimeout::MAX)
    });
    match poll(fds, timeout) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
