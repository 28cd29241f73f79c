//! Waits for a terminal by `poll`.

use super::Input;
use crate::sys::poll;
use nix::poll::{PollFd, PollFlags};
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// Waits for input. The end of the terminal ends the wait also if `listen` is false.
pub(super) fn wait_for(fd: BorrowedFd<'_>, patience: Duration, listen: bool) -> io::Result<Input> {
    let wanted = if listen {
        PollFlags::POLLIN
    } else {
        PollFlags::empty()
    };
    let mut fds = [PollFd::new(fd, wanted)];
    poll::wait_for(&mut fds, Some(patience))?;
    let said = fds[0].revents().unwrap_or(PollFlags::empty());
    Ok(match said {
        said if said.intersects(PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL) => {
            Input::Gone
        }
        said if said.contains(PollFlags::POLLIN) => Input::Ready,
        _ => Input::Quiet,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::os::fd::AsFd as _;

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
