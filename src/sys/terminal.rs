//! The terminal that is read from.
//!
//! Owns: the wait for what a person types.
//!
//! Promises: a terminal that is gone is told apart from one where nothing is typed; nothing is read.
//!
//! Refuses to know: what a key means, what is drawn.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// What there is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Something was typed.
    Ready,
    /// Nothing came in this time, or a signal did.
    Quiet,
    /// Nobody will type any more: the window was closed, the connection ended.
    Gone,
}

/// Waits for standard input. `listen` is false where something is there that cannot be read yet: then only the
/// end of the terminal cuts the wait short.
pub fn wait(patience: Duration, listen: bool) -> io::Result<Input> {
    wait_for(io::stdin().as_fd(), patience, listen)
}

fn wait_for(fd: BorrowedFd<'_>, patience: Duration, listen: bool) -> io::Result<Input> {
    let wanted = if listen { PollFlags::POLLIN } else { PollFlags::empty() };
    let mut fds = [PollFd::new(fd, wanted)];
    let timeout = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
    match poll(&mut fds, timeout) {
        Ok(_) => {}
        Err(Errno::EINTR) => return Ok(Input::Quiet),
        Err(error) => return Err(error.into()),
    }
    let said = fds[0].revents().unwrap_or(PollFlags::empty());
    Ok(match said {
        said if said.intersects(PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL) => Input::Gone,
        said if said.contains(PollFlags::POLLIN) => Input::Ready,
        _ => Input::Quiet,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn what_is_typed_silence_and_the_end_are_three_things() {
        let (pipe, mut typist) = io::pipe().unwrap();
        let now = |listen| wait_for(pipe.as_fd(), Duration::ZERO, listen).unwrap();
        assert_eq!(now(true), Input::Quiet);
        typist.write_all(b"q").unwrap();
        assert_eq!((now(true), now(false)), (Input::Ready, Input::Quiet));
        drop(typist);
        assert_eq!(
            (now(true), now(false)),
            (Input::Gone, Input::Gone),
            "what was typed before counts no more"
        );
    }
}
